"""A figure in words together with its interval for the noise, so that two can be compared."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import combinations


@dataclass(frozen=True)
class IntervalText:
    """A figure as it is printed, and the ends of its interval."""

    words: str
    low: float
    high: float


def compared(sides: Sequence[str | IntervalText | None]) -> tuple[list[str], str]:
    """One line of a comparison: what is printed for each side, and how the sides compare.

    ``None`` is a side to which the line does not apply. Figures with intervals differ only where two of these do not
    overlap.
    """
    told = [_words(side) for side in sides]
    if any(side is None for side in sides):
        return told, ""
    if len(set(told)) == 1:
        return told, "same"
    ranged = [side for side in sides if isinstance(side, IntervalText)]
    if len(ranged) == len(sides) and all(a.low <= b.high and b.low <= a.high for a, b in combinations(ranged, 2)):
        return told, "intervals overlap"
    return told, "≠ differs"


def _words(side: str | IntervalText | None) -> str:
    if side is None:
        return "does not apply"
    return side.words if isinstance(side, IntervalText) else side
