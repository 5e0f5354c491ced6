"""Items made in a second thread: in order, with what the first thread knows."""

from __future__ import annotations

from collections.abc import Iterator
from contextvars import ContextVar

import pytest

from dpcore.cores import ahead

_KNOWN: ContextVar[str] = ContextVar("known", default="nothing")


def test_items_come_in_their_order_and_know_the_context() -> None:
    def items() -> Iterator[str]:
        for number in range(5):
            yield f"{_KNOWN.get()} {number}"

    mark = _KNOWN.set("all")
    try:
        assert list(ahead(items())) == [f"all {number}" for number in range(5)]
    finally:
        _KNOWN.reset(mark)


def test_a_mistake_is_raised_where_its_item_is_asked_for() -> None:
    def items() -> Iterator[int]:
        yield 1
        raise ValueError("no second")

    found = ahead(items())
    assert next(found) == 1
    with pytest.raises(ValueError, match="no second"):
        next(found)


def test_what_is_not_wanted_any_more_is_closed() -> None:
    closed = []

    def items() -> Iterator[int]:
        try:
            yield from range(100)
        finally:
            closed.append(True)

    found = ahead(items())
    next(found)
    found.close()  # type: ignore[attr-defined]
    assert closed == [True]
