"""A condition on one column as a clinician would say it."""

from __future__ import annotations

import math
import re
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from dpcore.domain.amounts import amount
from dpcore.domain.columns import (
    OTHER,
    RESERVED,
    BooleanColumn,
    IntegerColumn,
    NumericColumn,
    format_number,
)
from dpcore.models.redescriptions.released.regions import Domain, codes

#: A name that ends in a year: what is said of several years is said once.
_YEAR = re.compile(r"^(?P<stem>.*[^\W_])[_ ](?P<year>(?:19|20)\d\d)$")
#: What would be taken for a part of the sentence.
_RISKY = re.compile(r"[()“”\",;]|(?:^|\s)(?:and|or|nor|neither|both|in)(?:\s|$)|^(?:no|not|none)\s", re.IGNORECASE)


@dataclass(frozen=True)
class Saying:
    """What is said of one column.

    Attributes
    ----------
    kind : str
        "yes" or "no" for the two halves of a yes/no column, else "value".
    stem, year : str
        Name of the column as it is spoken, and the year that it ends in; or no year.
    value : str
        What follows the name.
    several : bool
        Whether the value joins alternatives by "or".
    unknown : str
        Reserved cells that count as well, such as "other or missing"; empty if there are none,
        or if the value makes it plain.
    high, low : bool
        Whether unknown values count just where the highest, or the lowest, known value does.
    """

    kind: str
    stem: str
    year: str
    value: str = ""
    several: bool = False
    unknown: str = ""
    high: bool = True
    low: bool = True


def saying(name: str, cells: int, domain: Domain) -> Saying:
    """Say that a column has one of some cells."""
    column, (stem, year) = domain.column(name), _spoken(name)
    held = [code for code in codes(cells) if code not in column.unsaid] or codes(cells)
    reserved = [code for code, cell in enumerate(column.cells) if cell in RESERVED and code not in column.unsaid]
    if isinstance(column, BooleanColumn):
        if held == [1]:
            return Saying("yes", stem, year)
        if held == [0, *reserved]:
            return Saying("no", stem, year)
    known = [code for code in held if column.cells[code] not in RESERVED]
    counted = [code for code in held if column.cells[code] in RESERVED]
    unknown = " or ".join(column.cells[code].strip("()") for code in counted)
    absent = [code for code in codes(domain.everything(name) & ~cells) if column.cells[code] not in RESERVED]
    if not known:
        return Saying("value", stem, year, unknown, len(counted) > 1, "", False, False)
    if not absent:
        only_missing = unknown == OTHER.strip("()")
        value, tail = ("not missing", "") if only_missing else ("known", unknown)
        return Saying("value", stem, year, value, False, tail, False, False)
    if column.ordered:
        top, whole = len(column.classes) - 1, counted in ([], reserved)
        high, low = (whole and (end in known) == bool(counted) for end in (top, 0))
        value, several = _ordered(column, known)
        return Saying("value", stem, year, value, several, unknown, high, low)
    if counted == reserved and len(absent) <= len(known):
        return Saying("value", stem, year, _not_recorded([_cell(column, c) for c in absent]))
    value, several = _one_of([_cell(column, code) for code in known])
    if isinstance(column, BooleanColumn):
        value = "" if known == [1] else f"recorded as {value}"
    return Saying("value", stem, year, value, several, unknown, not unknown, not unknown)


def _spoken(name: str) -> tuple[str, str]:
    match = _YEAR.match(name)
    stem, year = (match["stem"], match["year"]) if match else (name, "")
    return quoted(stem.replace("_", " ")), year


def quoted(name: str) -> str:
    """A name, between quotation marks if a reader could lose the thread without."""
    return f"“{name}”" if _RISKY.search(name) else name


def listed(items: Sequence[str], link: str) -> str:
    """Items in a row, with commas and a last ``and`` or ``or``."""
    *some, last = items
    return f"{', '.join(some)} {link} {last}" if some else last


def _cell(column: Any, code: int) -> str:
    return quoted(column.cells[code])


def _one_of(names: Sequence[str]) -> tuple[str, bool]:
    return listed(names, "or"), len(names) > 1


def _not_recorded(names: Sequence[str]) -> str:
    if len(names) == 1:
        return f"not recorded as {names[0]}"
    if len(names) == 2:
        return f"recorded as neither {names[0]} nor {names[1]}"
    return f"recorded as none of {listed(names, 'and')}"


def _ordered(column: Any, known: Sequence[int]) -> tuple[str, bool]:
    runs: list[list[int]] = []
    for code in known:
        if runs and code == runs[-1][-1] + 1:
            runs[-1].append(code)
        else:
            runs.append([code])
    numeric = isinstance(column, NumericColumn)
    if not numeric and len(known) <= 2:
        return _one_of([_cell(column, code) for code in known])
    said = _numbers if numeric else _ranks
    return " or ".join(said(column, run[0], run[-1]) for run in runs), len(runs) > 1


def _ranks(column: Any, first: int, last: int) -> str:
    if first == last:
        return _cell(column, first)
    if first == 0:
        return f"at most {_cell(column, last)}"
    if last == len(column.classes) - 1:
        return f"at least {_cell(column, first)}"
    return f"from {_cell(column, first)} to {_cell(column, last)}"


def _numbers(column: Any, first: int, last: int) -> str:
    points = (column.lower, *column.inner_edges, column.upper)
    low, high = points[first], points[last + 1]
    if first == 0:
        words = "exactly" if high == column.lower else "at most"
        return f"{words} {amount(high, column.unit)}"
    if last == len(points) - 2:
        return f"above {amount(low, column.unit)}"
    if isinstance(column, IntegerColumn):
        least, most = math.floor(low) + 1, math.floor(high)
        if least >= most:
            return f"exactly {amount(most, column.unit)}"
        return f"{format_number(least)} to {amount(most, column.unit)}"
    return f"above {amount(low, column.unit, once=True)} up to {amount(high, column.unit)}"
