"""Work on the next item while this one is used."""

from __future__ import annotations

from collections.abc import Generator, Iterable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextvars import copy_context
from typing import TypeVar, cast

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
