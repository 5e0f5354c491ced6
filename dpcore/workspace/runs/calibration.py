"""Timing the kernels that count, on invented records.

Times are of the processor, not of a clock on the wall, and the fastest of several: so what else
the machine does meanwhile hardly matters.
"""

from __future__ import annotations

import time
from collections.abc import Callable
from decimal import Decimal
from pathlib import Path
from typing import Final

import numpy as np

from dpcore.arrays import Array, Ints, Ints32
from dpcore.compiled import kernel
from dpcore.data.bits import count_bits
from dpcore.privacy.mechanisms import GeometricMechanism
from dpcore.privacy.randomness import SecureRandom, public_generator
from dpcore.workspace.runs.machine import Machine, keep, kept_machine

_REPEATS: Final = 12
#: Bit vectors and classes, of so many words: they stay in the caches of a core.
_VECTORS, _CLASSES, _WORDS = 400, 20, 256
_CELLS, _PLACES = 64, 2**18
_DRAWS, _CALLS = 2000, 50


def calibrate(home: Path, *, again: bool = False) -> Machine:
    """Measure this machine, in a second or two, unless that was done before; keep what was found."""
    kept = None if again else kept_machine(home)
    if kept is not None:
        return kept
    found = measured()
    keep(home, found)
    return found


def measured() -> Machine:
    """Figures of this machine."""
    source = public_generator(0)
    vectors = source.integers(0, 2**63, (_VECTORS, _WORDS), dtype=np.uint64)
    codes = source.integers(0, _CELLS, _PLACES).astype(np.uint8)
    values, sums = source.integers(0, 2**20, _PLACES).astype(np.int32), np.zeros(_CELLS, dtype=np.int64)
    noise, counts, secure = GeometricMechanism(1, Decimal(1)), np.zeros(_DRAWS, dtype=np.int64), SecureRandom()
    return Machine(
        word=_fastest(lambda: count_bits(vectors, vectors[:_CLASSES])) / (_VECTORS * _CLASSES * _WORDS),
        place=_fastest(lambda: _scatter(codes, values, sums)) / _PLACES,
        draw=_fastest(lambda: noise.release(counts, secure)) / _DRAWS,
        call=_fastest(lambda: [noise.release(counts[:1], secure) for _ in range(_CALLS)]) / _CALLS,
    )


def _fastest(work: Callable[[], object]) -> float:
    """Seconds of the fastest of several times, the first of which also compiles."""
    taken = []
    for _ in range(_REPEATS):
        start = time.thread_time()
        work()
        taken.append(time.thread_time() - start)
    return max(min(taken), 1e-9)


@kernel
def _scatter(codes: Array, values: Ints32, sums: Ints) -> None:
    for i in range(len(codes)):
        sums[codes[i]] += values[i]
