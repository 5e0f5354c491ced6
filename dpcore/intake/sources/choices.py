"""How files are to be read, where they do not say it themselves: what the custodian chose.

Choices hold for everything that is read while they are made: ``with choosing(Choices(sheet="Data")): ...``.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass
from typing import Literal


@dataclass(frozen=True)
class Choices:
    """What a custodian said about her files."""

    encoding: str | None = None
    """How letters are written, one of :data:`dpcore.intake.sources.encodings.ENCODINGS`; ``None`` for what a file shows
    by itself."""
    decimal: Literal[".", ","] = "."
    """What stands before the decimals of numbers in CSV files; beside a comma, points stand between thousands."""
    sheet: str | None = None
    """Which sheet of an Excel file holds the table; ``None`` for the first."""


_NONE = Choices()
_CHOSEN: ContextVar[Choices] = ContextVar("choices", default=_NONE)


def chosen() -> Choices:
    """The choices that hold now."""
    return _CHOSEN.get()


@contextmanager
def choosing(choices: Choices) -> Iterator[None]:
    """Let choices hold for what is read inside."""
    before = _CHOSEN.set(choices)
    try:
        yield
    finally:
        _CHOSEN.reset(before)
