"""Sets of records described by cells: boxes, their unions, and their simplest form."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from dpcore.literals import Literal
from dpcore.schema import Schema

#: Cells that each column may have; a column that is not named may have any.
Box = Mapping[str, frozenset[int]]


def all_cells(column: str, schema: Schema) -> frozenset[int]:
    """Every cell of a column."""
    return frozenset(range(len(schema.column(column).cells)))


def narrowed(box: Box | None, literal: Literal, holds: bool, schema: Schema) -> Box | None:
    """Part of a box where a literal holds, or does not; ``None`` if there is none."""
    if box is None:
        return None
    known = box.get(literal.column, all_cells(literal.column, schema))
    kept = frozenset(cell for cell in known if literal.holds(cell) == holds)
    return {**box, literal.column: kept} if kept else None


def share(box: Box | None, schema: Schema) -> float:
    """Share of the public domain in a box, every combination of cells counting the same."""
    if box is None:
        return 0.0
    product = 1.0
    for column, cells in box.items():
        product *= len(cells) / len(schema.column(column).cells)
    return product


def intersection(one: Box | None, other: Box | None) -> Box | None:
    """Cells in both boxes; ``None`` if a column is left without any."""
    if one is None or other is None:
        return None
    both = dict(one)
    for column, cells in other.items():
        both[column] = both.get(column, cells) & cells
        if not both[column]:
            return None
    return both


def covered(box: Box, boxes: Sequence[Box], schema: Schema) -> bool:
    """Whether every combination of cells in ``box`` is in at least one of ``boxes``."""
    for place, other in enumerate(boxes):
        common = intersection(box, other)
        if common is None:
            continue
        rest, later = dict(box), boxes[place + 1 :]
        for column, cells in other.items():
            known = rest.get(column, all_cells(column, schema))
            outside = known - cells
            if outside and not covered({**rest, column: outside}, later, schema):
                return False
            rest[column] = known & cells
        return True
    return False


def simplified(boxes: Sequence[Box], schema: Schema) -> list[Box]:
    """A union of boxes as fewer and wider boxes that hold the very same records.

    Every box is widened, column by column, as far as the union allows; boxes that the others
    then cover are left out. A union that is everything becomes a single box without columns.
    """
    wide = [_widened(box, boxes, schema) for box in boxes]
    wide.sort(key=lambda box: (-len(box), sorted(box)))
    kept = list(wide)
    for box in wide:
        others = [other for other in kept if other is not box]
        if covered(box, others, schema):
            kept = others
    return sorted(kept, key=lambda box: (len(box), sorted(box)))


def _widened(box: Box, boxes: Sequence[Box], schema: Schema) -> Box:
    wide = dict(box)
    # Columns split last are dropped first: those near the root say more.
    for column in reversed(list(box)):
        everything = all_cells(column, schema)
        more = {
            cell
            for cell in everything - wide[column]
            if covered({**wide, column: frozenset({cell})}, boxes, schema)
        }
        wide[column] = wide[column] | more
        if wide[column] == everything:
            del wide[column]
    return wide
