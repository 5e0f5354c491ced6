"""Where kernels run: an executor asks every partition and adds up what they find."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable, Sequence
from concurrent.futures import ThreadPoolExecutor
from functools import lru_cache
from typing import Any, Concatenate, ParamSpec, Protocol, TypeVar

import numpy as np

from dpcore.arrays import Array
from dpcore.cores import share_of_cores
from dpcore.data.partition import Partition

#: Arguments of a kernel beside the partition.
Public = ParamSpec("Public")
#: What a kernel finds: integers, in one array or in several.
Sums = TypeVar("Sums", bound=Array | tuple[Any, ...])


class Executor(Protocol):
    """A way to ask all partitions of a table."""

    def total(
        self,
        kernel: Callable[Concatenate[Partition, Public], Sums],
        partitions: Sequence[Partition],
        *public: Public.args,
        **named: Public.kwargs,
    ) -> Sums:
        """The sum of ``kernel(partition, *public, **named)`` over all partitions."""
        ...


class LocalExecutor:
    """Partitions in this process: on as many threads as there are cores, or one after another."""

    def total(
        self,
        kernel: Callable[Concatenate[Partition, Public], Sums],
        partitions: Sequence[Partition],
        *public: Public.args,
        **named: Public.kwargs,
    ) -> Sums:
        """The sum of ``kernel(partition, *public, **named)`` over all partitions."""
        if len(partitions) == 1:
            return added([kernel(partitions[0], *public, **named)])
        cores = os.cpu_count() or 1
        share = cores // min(cores, len(partitions))

        def ask(partition: Partition) -> Sums:
            with share_of_cores(share):
                return kernel(partition, *public, **named)

        return added(_pool().map(ask, partitions))


@lru_cache(maxsize=1)
def _pool() -> ThreadPoolExecutor:
    return ThreadPoolExecutor(os.cpu_count() or 1, thread_name_prefix="partition")


def added(found: Iterable[Sums]) -> Sums:
    """The sum of what partitions found: arrays of integers, entry by entry.

    Raises
    ------
    TypeError
        If they are not integers, whose sum does not depend on the order.
    """
    total: Any = None
    for each in found:
        several = isinstance(each, tuple)
        arrays = [np.asarray(array) for array in (each if several else (each,))]
        if any(array.dtype.kind not in "iu" for array in arrays):
            raise TypeError("a kernel may find nothing but integers")
        if total is None:
            total = [array.copy() for array in arrays]  # It may be kept by its partition.
            continue
        for sums, more in zip(total, arrays, strict=True):
            sums += more
    made: Any = type(each)
    whole: Sums = made(*total) if hasattr(each, "_fields") else made(total) if several else total[0]
    return whole


#: The executor of this process.
LOCAL = LocalExecutor()
