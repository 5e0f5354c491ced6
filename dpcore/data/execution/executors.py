"""Where kernels run: an executor asks every partition and adds up what they find."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable, Sequence
from concurrent.futures import ThreadPoolExecutor
from typing import TYPE_CHECKING, Any, Concatenate, ParamSpec, Protocol, TypeVar

import numpy as np

from dpcore.arrays import Array
from dpcore.cores import share_of_cores

if TYPE_CHECKING:
    from dpcore.data.partition import Partition  # Loads the engine, which no page waits for.

#: Arguments of a kernel beside the partition.
Public = ParamSpec("Public")
#: What a kernel finds: integers, in one array or in several.
Sums = TypeVar("Sums", bound=Array | tuple[object, ...])


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

    def check(self, partitions: Sequence[Partition]) -> None:
        """See that a question to these partitions can be answered, before anything is spent.

        Raises
        ------
        ClusterError
            If not, with what to do.
        """
        ...

    def status(self) -> str:
        """What answers questions, for the operator. Raises ``ClusterError`` if nothing does."""
        ...


class LocalExecutor:
    """Partitions in this process, side by side on its cores.

    Parameters
    ----------
    cores : int, optional
        All of the machine by default.
    """

    def __init__(self, cores: int | None = None) -> None:
        self._cores = cores or os.cpu_count() or 1
        self._pool: ThreadPoolExecutor | None = None

    def total(
        self,
        kernel: Callable[Concatenate[Partition, Public], Sums],
        partitions: Sequence[Partition],
        *public: Public.args,
        **named: Public.kwargs,
    ) -> Sums:
        """The sum of ``kernel(partition, *public, **named)`` over all partitions."""
        share = max(1, self._cores // len(partitions))

        def ask(partition: Partition) -> Sums:
            with share_of_cores(share):
                return kernel(partition, *public, **named)

        if len(partitions) == 1 or self._cores == 1:
            return added(map(ask, partitions))
        if self._pool is None:
            self._pool = ThreadPoolExecutor(self._cores, thread_name_prefix="partition")
        return added(self._pool.map(ask, partitions))

    def check(self, partitions: Sequence[Partition]) -> None:
        """Nothing can be missing here."""

    def status(self) -> str:
        """The cores of this machine."""
        return f"no cluster: this machine answers, with {self._cores} cores"


def added(found: Iterable[Sums]) -> Sums:
    """The sum of what partitions found: arrays of integers, entry by entry.

    Raises
    ------
    TypeError
        If they are not integers, whose sum does not depend on the order.
    """
    total: Any = None
    own = False
    for each in found:
        several = isinstance(each, tuple)
        arrays = [np.asarray(array) for array in (each if several else (each,))]
        if any(array.dtype.kind not in "iu" for array in arrays):
            raise TypeError("a kernel may find nothing but integers")
        if total is None:
            total = arrays
            continue
        if not own:  # The first may be kept by its partition.
            total, own = [array.copy() for array in total], True
        for sums, more in zip(total, arrays, strict=True):
            sums += more
    made: Any = type(each)
    whole: Sums = made(*total) if hasattr(each, "_fields") else made(total) if several else total[0]
    return whole


#: The executor of this process.
LOCAL = LocalExecutor()
#: Setting of the operator: where the scheduler of a Dask cluster listens.
CLUSTER = "FROSTGLASS_DASK"
