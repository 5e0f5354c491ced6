"""Tables in one test: every row is tried, and a failure says in which of them."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from functools import wraps
from inspect import signature
from pathlib import Path
from typing import Any

import pytest

#: What ``pytest.param`` makes.
_PARAM = type(pytest.param())


def for_each(names: str | tuple[str, ...], rows: Iterable[Any]) -> Callable[[Callable[..., None]], Callable[..., None]]:
    """Like ``pytest.mark.parametrize``, for rows that cost next to nothing: one test tries them all.

    Each row has a folder and patches of its own, where the test asks for ``tmp_path`` or ``monkeypatch``.
    """
    names = tuple(name.strip() for name in names.split(",")) if isinstance(names, str) else names
    table = [_values(row, len(names)) for row in rows]

    def over(test: Callable[..., None]) -> Callable[..., None]:
        asked = [own for name, own in signature(test).parameters.items() if name not in names]

        @wraps(test)
        def every_row(**given: Any) -> None:
            for number, row in enumerate(table):
                try:
                    _one(test, number, given | dict(zip(names, row, strict=True)))
                except BaseException as fault:
                    fault.add_note(f"In row {number} of {', '.join(names)}: {', '.join(map(repr, row))}")
                    raise

        every_row.__signature__ = signature(test).replace(parameters=asked)  # type: ignore[attr-defined]
        return every_row

    return over


def _values(row: Any, count: int) -> tuple[Any, ...]:
    if not isinstance(row, _PARAM):
        return tuple(row) if count > 1 else (row,)
    assert not row.marks, "a row with a mark is a test of its own"
    return tuple(row.values)


def _one(test: Callable[..., None], number: int, given: dict[str, Any]) -> None:
    if isinstance(folder := given.get("tmp_path"), Path):
        given["tmp_path"] = folder / f"row{number}"
        given["tmp_path"].mkdir()
    if "monkeypatch" not in given:
        return test(**given)
    with pytest.MonkeyPatch.context() as patch:
        return test(**given | {"monkeypatch": patch})
