"""Conditions of a redescription in words: formal, in the schema's names, and plain."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from typing import Any

from dpcore.redescriptions.regions import Box
from dpcore.schema import MISSING, OTHER, BooleanColumn, NumericColumn, Schema, format_number
from dpcore.trees.splits import Split

EVERYONE = "everyone"
#: A name that ends in a year: what is said of several years is said once.
_YEAR = re.compile(r"^(?P<stem>.+)[_ ](?P<year>(?:19|20)\d\d)$")


def formal(boxes: Sequence[Box], schema: Schema) -> str:
    """A union of boxes in the schema's names, such as ``(a > 3 and b = yes) or c = no``."""
    parts = [
        [_formal_condition(column, cells, schema) for column, cells in box.items()] for box in boxes
    ]
    return _joined(parts)


def plain(boxes: Sequence[Box], schema: Schema) -> str:
    """A union of boxes as a clinician would say it, such as ``diabetes in 2008 or 2009``."""
    single = [box for box in boxes if len(box) == 1]
    if (
        single
        and len(single) == len(boxes)
        and len({next(iter(box)) for box in boxes}) == len(boxes)
    ):
        merged = {column: cells for box in boxes for column, cells in box.items()}
        phrases = _phrases(merged, schema, " or ")
        return " or ".join(phrases) or EVERYONE
    return _joined([_phrases(box, schema) for box in boxes])


def condition_count(boxes: Sequence[Box]) -> int:
    """Number of conditions on single columns."""
    return sum(len(box) for box in boxes)


def _joined(parts: Sequence[Sequence[str]]) -> str:
    if any(not part for part in parts):
        return EVERYONE
    texts = [" and ".join(map(_bracketed, part) if len(part) > 1 else part) for part in parts]
    if len(texts) > 1:
        texts = [f"({text})" if " and " in text or " or " in text else text for text in texts]
    return " or ".join(texts)


def _bracketed(text: str) -> str:
    return f"({text})" if " or " in text else text


def _formal_condition(name: str, cells: frozenset[int], schema: Schema) -> str:
    column = schema.column(name)
    branches = tuple(0 if code in cells else 1 for code in range(len(column.cells)))
    return Split(column=name, branches=branches).text(0, schema)


def _phrases(box: Mapping[str, frozenset[int]], schema: Schema, link: str = " and ") -> list[str]:
    """One phrase per condition; conditions that differ only in the year share one."""
    groups: dict[tuple[str, str, str], list[str]] = {}
    for name, cells in box.items():
        column = schema.column(name)
        before, after = _saying(column, cells)
        # "no illness in 2008 or 2009" would be read as "in neither year".
        match = None if before else _YEAR.match(name)
        stem, year = (match["stem"], match["year"]) if match else (name, "")
        groups.setdefault((before, stem, after), []).append(year)
    phrases = []
    for (before, stem, after), years in groups.items():
        when = f" in {_listed(sorted(years), link)}" if years != [""] else ""
        phrases.append(f"{before}{_spoken(stem)}{when}{after}")
    return phrases


def _spoken(name: str) -> str:
    match = _YEAR.match(name)
    text = name if match is None else f"{match['stem']} in {match['year']}"
    return text.replace("_", " ")


def _listed(items: Sequence[str], link: str) -> str:
    *some, last = items
    return f"{', '.join(some)}{link}{last}" if some else last


def _saying(column: Any, cells: frozenset[int]) -> tuple[str, str]:
    """What stands before and after the name of a column."""
    everything = frozenset(range(len(column.cells)))
    reserved = {column.cells.index(cell) for cell in (OTHER, MISSING) if cell in column.cells}
    if isinstance(column, BooleanColumn):
        yes = frozenset({column.cells.index("yes")})
        if cells == yes:
            return "", ""
        if cells == everything - yes:
            return "no ", " on record"
    known = sorted(cells - reserved)
    unknown = [column.cells[code].strip("()") for code in sorted(cells & reserved)]
    absent = sorted(everything - reserved - cells)
    if not known:
        return "", " " + " or ".join(unknown)
    tail = "".join(f" or {word}" for word in unknown)
    if not absent:
        return "", " known" + tail
    if isinstance(column, NumericColumn):
        return "", f" {_number_text(column, known)}{tail}"
    if column.ordered and known == list(range(known[0], known[-1] + 1)) and len(known) > 1:
        return "", f" {_order_text(column, known)}{tail}"
    if len(absent) < len(known) and not reserved - cells:
        return "", " not " + " or ".join(column.cells[code] for code in absent)
    return "", " " + " or ".join(column.cells[code] for code in known) + tail


def _number_text(column: Any, known: Sequence[int]) -> str:
    points = [column.lower, *column.inner_edges, column.upper]
    unit = f" {column.unit}" if column.unit else ""
    runs: list[list[int]] = []
    for code in known:
        if runs and code == runs[-1][-1] + 1:
            runs[-1].append(code)
        else:
            runs.append([code])
    texts = []
    for run in runs:
        low, high = format_number(points[run[0]]), format_number(points[run[-1] + 1])
        if run[0] == 0:
            texts.append(f"at most {high}{unit}")
        elif run[-1] == len(points) - 2:
            texts.append(f"above {low}{unit}")
        else:
            texts.append(f"above {low} up to {high}{unit}")
    return " or ".join(texts)


def _order_text(column: Any, known: Sequence[int]) -> str:
    if known[0] == 0:
        return f"up to {column.cells[known[-1]]}"
    if known[-1] == len(column.classes) - 1:
        return f"from {column.cells[known[0]]}"
    return f"from {column.cells[known[0]]} to {column.cells[known[-1]]}"
