"""A case with values that are not known: the cells that it may lie in."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

import pandas as pd

from dpcore.domain.conditions import Condition
from dpcore.domain.encoding import encode_columns
from dpcore.domain.schemas.schema import ChildTable, Schema

#: In place of a value or of its bin.
NOT_KNOWN = "not known"
#: The cell codes that each column may have: a box of cases.
Box = Mapping[str, frozenset[int]]
#: Beyond, what is left after a rule is no longer followed exactly.
_MOST_BOXES = 2000


def possible_cells(values: Mapping[Any, object], schema: Schema | ChildTable, columns: Iterable[str]) -> Box:
    """Cells of a case: one in a column whose value is known, any in another.

    Parameters
    ----------
    values : mapping of str to object
        By column. What is absent, ``None`` or not a number is not known.
    """
    known = {name: value for name, value in values.items() if is_known(value)}
    case = pd.DataFrame({name: pd.Series([value], dtype=object) for name, value in known.items()}, index=[0])
    used = tuple(dict.fromkeys(columns))
    codes = encode_columns(case, schema, [name for name in used if name in known])
    everything = {name: range(len(schema.column(name).cells)) for name in used}
    return {name: frozenset([int(codes[name][0])] if name in known else everything[name]) for name in used}


def first_possible(cells: Box, rules: Sequence[Sequence[Condition]]) -> tuple[int, ...]:
    """Positions of the rules that are the first to hold for some case in a box.

    A rule without conditions holds for every case. Exact, unless what the first rules leave has
    very many parts: then later rules may be told too that never come first.
    """
    boxes, found = [dict(cells)], []
    for position, conditions in enumerate(rules):
        parts = [_parted(box, conditions) for box in boxes]
        if any(inside for inside, _ in parts):
            found.append(position)
        left = [box for _, outside in parts for box in outside]
        if len(left) <= _MOST_BOXES:
            boxes = left
    return tuple(found)


def _parted(box: Box, conditions: Sequence[Condition]) -> tuple[bool, list[dict[str, frozenset[int]]]]:
    """Whether the conditions hold for a part of a box, and the parts for which they do not."""
    inside, outside = dict(box), []
    for condition in conditions:
        here = inside[condition.column]
        held = frozenset(cell for cell in here if condition.holds(cell))
        if here - held:
            outside.append({**inside, condition.column: here - held})
        if not held:
            return False, outside
        inside[condition.column] = held
    return True, outside


def is_known(value: object) -> bool:
    """Whether a value of a case is told at all; an empty text tells that it is missing in the records."""
    return value is not None and value == value
