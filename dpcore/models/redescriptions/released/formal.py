"""Conditions in the schema's own names and values, to be read by programs as well."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Any

from dpcore.domain.amounts import amount
from dpcore.domain.columns import RESERVED, NumericColumn
from dpcore.models.redescriptions.released.regions import Box, Domain, codes

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


def _run(label: str, column: Any, first: int, last: int) -> str:
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


def _cell(column: Any, code: int) -> str:
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
