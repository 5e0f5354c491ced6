"""Numbers with their units, as they are usually written."""

from __future__ import annotations

import unicodedata

from dpcore.domain.columns import format_number


def amount(value: float, unit: str, *, once: bool = False) -> str:
    """A number with its unit: $100, 5.6%, 69/min, 11 mmol/L.

    A unit that follows the number is left to the second of two if it is said ``once``.
    """
    number = format_number(value)
    if unit and unicodedata.category(unit[-1]) == "Sc":
        return f"-{unit}{number[1:]}" if number.startswith("-") else f"{unit}{number}"
    if once:
        return number
    if unit.startswith("1/") and len(unit) > 2:
        return f"{number}{unit[1:]}"
    return f"{number}{unit}" if unit.startswith("%") else f"{number} {unit}".strip()
