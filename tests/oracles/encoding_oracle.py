"""Which interval a number falls in, and whether a condition holds, in plain Python."""

from __future__ import annotations

import math
from collections.abc import Sequence


def bin_of(value: float, lower: float, upper: float, edges: Sequence[float]) -> int:
    """Number of inner edges strictly below the clamped value; NaN is the bin after the last."""
    if math.isnan(value):
        return len(edges) + 1
    clamped = min(max(value, lower), upper)
    return sum(1 for edge in edges if edge < clamped)


def satisfies(text: str, column: str, value: object, order: Sequence[str] = ()) -> bool:
    """Evaluate a printed condition on one value: a number, a label, or None if missing."""
    if text == f"{column} = (missing)":
        return value is None
    if text == f"{column} = (other)":
        return value == "(other)"
    if value is None or value == "(other)":
        return False
    if not text.startswith(column):
        low, rest = text.split(f" < {column} <= ")
        return float(low) < value <= float(rest)
    sign, bound = text[len(column) :].strip().split(" ", 1)
    if isinstance(value, str):
        if sign == "=":
            return value == bound
        below = order.index(value) <= order.index(bound)
        return below if sign == "<=" else not below
    return value <= float(bound) if sign == "<=" else value > float(bound)
