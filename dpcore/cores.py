"""How many cores a computation may use, and work shared among them or done ahead of time."""

from __future__ import annotations

import os
import threading
from collections.abc import Callable, Generator, Iterable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from contextvars import copy_context
from typing import TypeVar, cast

import numpy as np

from dpcore.arrays import Ints

#: Fewer pieces of work than this are not worth another core.
_SMALL = 8
_own = threading.local()


def core_count() -> int:
    """Cores that this thread may use: those of the machine, or its share of them."""
    share: int = getattr(_own, "share", 0)
    return share or os.cpu_count() or 1


@contextmanager
def share_of_cores(cores: int) -> Iterator[None]:
    """Let this thread use so many cores only."""
    before = getattr(_own, "share", 0)
    _own.share = max(1, cores)
    try:
        yield
    finally:
        _own.share = before


def in_threads(work: Callable[[Ints], None], size: int, small: int = _SMALL) -> None:
    """Share the numbers below ``size`` among the cores, dealt in turn, and wait.

    Parameters
    ----------
    small : int
        A further core is worth it for so many numbers.
    """
    cores = min(core_count(), max(1, size // small))
    if cores == 1:
        work(np.arange(size))
        return
    shares = [np.arange(core, size, cores) for core in range(cores)]
    with ThreadPoolExecutor(cores) as pool:
        list(pool.map(work, shares))


_Item = TypeVar("_Item")


def ahead(items: Iterable[_Item]) -> Iterator[_Item]:
    """The items in their order, each made in a second thread while the one before is used.

    One item more than before is held in memory. What making an item raises is raised when it is asked for.
    Context variables are in the thread as they were when the first item was asked for.
    """
    made, nothing, context = iter(items), object(), copy_context()

    def following() -> object:
        return next(made, nothing)

    with ThreadPoolExecutor(1, thread_name_prefix="ahead") as other:
        coming = other.submit(context.run, following)
        try:
            while (item := coming.result()) is not nothing:
                coming = other.submit(context.run, following)
                yield cast("_Item", item)
        finally:  # Also where the rest is not wanted: what was opened in a thread is closed in it.
            if isinstance(made, Generator):
                other.submit(context.run, made.close).result()
