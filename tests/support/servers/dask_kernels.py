"""Kernels that workers of a cluster can import."""

from __future__ import annotations

import os
import signal
import time
from pathlib import Path

import numpy as np

from dpcore.arrays import Ints
from dpcore.compiled import kernel
from dpcore.data.bits import count_bits
from dpcore.data.partition import Partition


def cell_counts(partition: Partition) -> Ints:
    """Records per cell of all columns."""
    return count_bits(partition.cells, partition.members("all")[None, :])[:, 0]


def cell_counts_slowly(partition: Partition, signs: str) -> Ints:
    """The same; each partition leaves a sign when it begins, and takes a moment."""
    (Path(signs) / f"{time.monotonic_ns()}").touch()
    time.sleep(0.2)
    return cell_counts(partition)


def cell_counts_or_death(partition: Partition, signs: str) -> Ints:
    """The same; the first worker to be asked is killed."""
    try:
        (Path(signs) / "killed").touch(exist_ok=False)
    except FileExistsError:
        return cell_counts(partition)
    os.kill(os.getpid(), signal.SIGKILL)
    return np.zeros(0, dtype=np.int64)


def written_counts(partition: Partition, folder: str) -> Ints:
    """The same, by way of a file."""
    file = Path(folder) / f"{time.monotonic_ns()}"
    file.write_bytes(cell_counts(partition).tobytes())
    return np.frombuffer(file.read_bytes(), dtype=np.int64)


@kernel
def _sum(numbers: Ints) -> int:
    total = 0
    for number in numbers:
        total += number
    return total


def compiled_sum(partition: Partition) -> Ints:
    """Records and cells that hold, added up by compiled code."""
    return np.array([_sum(cell_counts(partition).astype(np.int64))])


def failing(partition: Partition) -> Ints:
    """A defect of the program."""
    raise ZeroDivisionError(partition.schema.name)
