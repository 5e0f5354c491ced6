"""Conditions of redescriptions: formal, in the names of the schema, and as phrases."""

from __future__ import annotations

import math
import re
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from dpcore.domain.columns import OTHER, RESERVED, BooleanColumn, Column, IntegerColumn, NumericColumn, format_number
from dpcore.domain.conditions import amount
from dpcore.models.redescriptions.released.tree_pair import Box, Domain, codes

EVERYONE = "everyone"
NOBODY = "nobody"
#: What would be taken for a part of a condition.
_RISKY = re.compile(r"[()\",<>=]|(?:^|\s)(?:and|or|is|neither|nor|none of)(?:\s|$)")


def formal(boxes: Sequence[Box], domain: Domain) -> str:
    """A union of boxes, such as ``(a > 3 and b = yes) or c = no``.

    "And" binds single conditions, "or" what is in brackets. Each condition is one that
    :func:`dpcore.domain.conditions.parse_condition` reads; or several values of one column, joined
    by "or"; or "is not", "is neither .. nor", "is none of" some values. Reserved cells lose their
    brackets. Names that would be misread stand in double quotes, those inside doubled.
    """
    if not boxes:
        return NOBODY
    if not all(boxes):
        return EVERYONE
    alternatives = [_all([_condition(*item, domain) for item in box.items()]) for box in boxes]
    return _bracketed(alternatives, " or ")


def _all(conditions: Sequence[tuple[str, bool]]) -> tuple[str, bool]:
    """Conditions that must all hold, and whether they need brackets within others."""
    if len(conditions) == 1:
        return conditions[0]
    return _bracketed(conditions, " and "), True


def _bracketed(texts: Sequence[tuple[str, bool]], link: str) -> str:
    if len(texts) == 1:
        return texts[0][0]
    return link.join(f"({text})" if several else text for text, several in texts)


def _condition(name: str, cells: int, domain: Domain) -> tuple[str, bool]:
    """A condition on one column, and whether it is made of several."""
    column, label = domain.column(name), _quoted(name)
    held, left_out = codes(cells), codes(domain.everything(name) & ~cells)
    reserved = {code for code, cell in enumerate(column.cells) if cell in RESERVED}
    shorter = not column.ordered and len(left_out) < len(held) and not reserved & {*left_out}
    if shorter or reserved.issuperset(left_out):
        return f"{label} {_is_not([_cell(column, code) for code in left_out])}", False
    known = [code for code in held if code not in reserved]
    runs = _runs(known) if column.ordered else [(code, code) for code in known]
    first, *more = [
        *(_run(label, column, *run) for run in runs),
        *(f"{label}{column.sign} {_cell(column, code)}" for code in held if code in reserved),
    ]
    texts = [first, *(text.removeprefix(f"{label}{column.sign} ") for text in more)]
    return " or ".join(texts), len(texts) > 1


def _is_not(names: Sequence[str]) -> str:
    if len(names) == 1:
        return f"is not {names[0]}"
    if len(names) == 2:
        return f"is neither {names[0]} nor {names[1]}"
    return f"is none of {', '.join(names)}"


def _run(label: str, column: Column, first: int, last: int) -> str:
    """Neighbouring cells of an ordered column, or one cell of another."""
    if isinstance(column, NumericColumn):
        unit = column.unit if column.for_people else ""
        ends = [amount(end, unit) for end in (*column.inner_edges, column.upper)]
    elif first == last:
        return f"{label}{column.sign} {_cell(column, first)}"
    else:
        ends = [_quoted(name) for name in column.classes]
    if first == 0:
        return f"{label} <= {ends[last]}"
    if last == len(column.classes) - 1:
        return f"{label} > {ends[first - 1]}"
    return f"{ends[first - 1]} < {label} <= {ends[last]}"


def _cell(column: Column, code: int) -> str:
    """A cell's name; reserved ones without brackets, unless a category has that name."""
    cell = str(column.cells[code])
    if cell not in RESERVED:
        return _quoted(cell)
    bare = cell.strip("()")
    return cell if bare in column.cells else bare


def _quoted(name: str) -> str:
    doubled = name.replace('"', '""')
    return f'"{doubled}"' if _RISKY.search(name) else name


def _runs(known: Sequence[int]) -> list[tuple[int, int]]:
    """First and last of each stretch of neighbouring codes."""
    runs: list[tuple[int, int]] = []
    for code in known:
        if runs and code == runs[-1][1] + 1:
            runs[-1] = (runs[-1][0], code)
        else:
            runs.append((code, code))
    return runs


#: A name that ends in a year: what is said of several years is said once.
_YEAR = re.compile(r"^(?P<stem>.*[^\W_])[_ ](?P<year>(?:19|20)\d\d)$")
#: What would be taken for a part of the sentence.
_RISKY_PHRASE = re.compile(
    r"[()“”\",;]|(?:^|\s)(?:and|or|nor|neither|both|in)(?:\s|$)|^(?:no|not|none)\s", re.IGNORECASE
)


@dataclass(frozen=True)
class Saying:
    """What is said of one column."""

    kind: str
    """"yes" or "no" for the two halves of a yes/no column, else "value"."""
    stem: str
    year: str
    """``stem``, ``year``: name of the column as it is spoken, and the year that it ends in; or no year."""
    value: str = ""
    """What follows the name."""
    several: bool = False
    """Whether the value joins alternatives by "or"."""
    unknown: str = ""
    """Reserved cells that count as well, such as "other or missing"; empty if there are none, or if the value makes it
    plain."""
    high: bool = True
    low: bool = True
    """``high``, ``low``: whether unknown values count just where the highest, or the lowest, known value does."""


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
        return Saying("value", stem, year, _not_recorded([_cell_phrase(column, c) for c in absent]))
    value, several = _one_of([_cell_phrase(column, code) for code in known])
    if isinstance(column, BooleanColumn):
        value = "" if known == [1] else f"recorded as {value}"
    return Saying("value", stem, year, value, several, unknown, not unknown, not unknown)


def _spoken(name: str) -> tuple[str, str]:
    match = _YEAR.match(name)
    stem, year = (match["stem"], match["year"]) if match else (name, "")
    return quoted(stem.replace("_", " ")), year


def quoted(name: str) -> str:
    """A name, between quotation marks if a reader could lose the thread without."""
    return f"“{name}”" if _RISKY_PHRASE.search(name) else name


def listed(items: Sequence[str], link: str) -> str:
    """Items in a row, with commas and a last ``and`` or ``or``."""
    *some, last = items
    return f"{', '.join(some)} {link} {last}" if some else last


def _cell_phrase(column: Column, code: int) -> str:
    return quoted(column.cells[code])


def _one_of(names: Sequence[str]) -> tuple[str, bool]:
    return listed(names, "or"), len(names) > 1


def _not_recorded(names: Sequence[str]) -> str:
    if len(names) == 1:
        return f"not recorded as {names[0]}"
    if len(names) == 2:
        return f"recorded as neither {names[0]} nor {names[1]}"
    return f"recorded as none of {listed(names, 'and')}"


def _ordered(column: Column, known: Sequence[int]) -> tuple[str, bool]:
    runs: list[list[int]] = []
    for code in known:
        if runs and code == runs[-1][-1] + 1:
            runs[-1].append(code)
        else:
            runs.append([code])
    numeric = isinstance(column, NumericColumn)
    if not numeric and len(known) <= 2:
        return _one_of([_cell_phrase(column, code) for code in known])
    said = _numbers if numeric else _ranks
    return " or ".join(said(column, run[0], run[-1]) for run in runs), len(runs) > 1


def _ranks(column: Column, first: int, last: int) -> str:
    if first == last:
        return _cell_phrase(column, first)
    if first == 0:
        return f"at most {_cell_phrase(column, last)}"
    if last == len(column.classes) - 1:
        return f"at least {_cell_phrase(column, first)}"
    return f"from {_cell_phrase(column, first)} to {_cell_phrase(column, last)}"


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
