"""Random schemas, tables and neighbours for replays: small, and as odd as the domain allows."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, Final

import numpy as np

from dpcore.arrays import Array, Flags, Floats, Ints
from dpcore.data.partition import ChildRecords
from dpcore.data.table import PrivateTable
from dpcore.domain.columns import Column, NumericColumn
from dpcore.domain.encoding import bin_numbers
from dpcore.domain.schemas.schema import ChildTable, Schema

Generator = np.random.Generator


@dataclass(frozen=True)
class SchemaShape:
    """What a method asks of a schema."""

    target: str = "classes"
    """{"classes", "two classes", "numbers", ""}. Empty: no column is predicted, and every column is on a side."""
    features: tuple[int, int] = (1, 4)
    """Fewest and most columns beside the target, or on either side."""
    children: bool = False
    """Whether there may be child tables."""
    nested: bool = False
    """Whether rows of one of them may belong to rows of the other."""
    levels: bool = False
    """Whether there are a column of codes, with levels of groups above them, and one of numbers."""


#: A column of codes with two levels above them, and one of numbers.
LEVELS: Final[tuple[dict[str, object], ...]] = (
    {
        "name": "codes",
        "type": "categorical",
        "categories": ["C07A", "C09A", "N02A", "N02B"],
        "derive": {"code": "codes", "system": "atc", "level": "3"},
        "view": "left",
    },
    {"name": "number", "type": "real", "lower": -1, "upper": 1, "edges": [0], "view": "right"},
)


#: Of two child tables, how often one belongs to the other where it may.
_NESTED: Final = 0.7


def random_schema(rng: Generator, shape: SchemaShape) -> Schema:
    """A schema of a few columns, a few hundred rows at most and one to five rows a person."""
    rows = int(rng.choice([20, 50, 100, 300]))
    children = [_child(rng, number) for number in range(int(rng.integers(0, 3)))]
    if not shape.children:
        children = []
    if shape.nested and len(children) > 1 and rng.random() < _NESTED:
        children[0] |= {"row_key": "number"}
        children[1] |= {"parent": "child0", "parent_key": "of"}
    return Schema.from_mapping(
        {
            "name": "replay",
            "max_rows": rows,
            "holdout_percent": int(rng.choice([0, 20, 50])),
            "privacy_unit": {
                "column": "person",
                "max_rows_per_person": 1 if children else int(rng.choice([1, 1, 2, 3, 5])),
            },
            "columns": _columns(rng, shape),
            "children": children,
        }
    )


def _columns(rng: Generator, shape: SchemaShape) -> list[dict[str, object]]:
    count = int(rng.integers(*shape.features, endpoint=True))
    if shape.target:
        return [*(_column(rng, f"x{i}") for i in range(count)), _target(rng, shape.target)]
    sides = [("left", count), ("right", int(rng.integers(*shape.features, endpoint=True)))]
    further = LEVELS if shape.levels else ()
    return [{**_column(rng, f"{view}{i}"), "view": view} for view, size in sides for i in range(size)] + list(further)


def _target(rng: Generator, target: str) -> dict[str, object]:
    if target == "numbers":
        return {"name": "y", "type": "real", "lower": -3, "upper": 5, "bins": 4, "target": True}
    classes = 2 if target == "two classes" else int(rng.integers(2, 4, endpoint=True))
    labels = [f"class {number}" for number in range(classes)]
    return {"name": "y", "type": "categorical", "categories": labels, "target": True}


def _column(rng: Generator, name: str) -> dict[str, object]:
    kinds: list[dict[str, object]] = [
        {"type": "boolean"},
        {"type": "categorical", "categories": ["a", "b", "c"][: int(rng.integers(1, 4))]},
        {"type": "ordinal", "categories": ["low", "middle", "high"]},
        {"type": "integer", "lower": 0, "upper": 10, "edges": [2, 7]},
        {"type": "real", "lower": -1.5, "upper": 2, "bins": int(rng.integers(1, 5))},
    ]
    return {"name": name, **kinds[int(rng.integers(len(kinds)))]}


def _child(rng: Generator, number: int) -> dict[str, object]:
    columns = [_column(rng, f"c{i}") for i in range(int(rng.integers(1, 3)))]
    return {
        "name": f"child{number}",
        "max_rows_per_person": int(rng.integers(1, 5)),
        "keep": ("last", "first")[number % 2],
        "order_by": "when",
        "columns": columns,
    }


@dataclass(frozen=True)
class Rows:
    """Encoded rows, as ingestion leaves them."""

    codes: list[Ints]
    """Cell of each row, by column of the schema: shape (n_rows,)."""
    numbers: list[Floats]
    """Value of each row, by numeric column: shape (n_rows,)."""
    numeric: list[int]
    """Position of each numeric column among all."""
    holdout: Flags
    """Shape (n_rows,)."""
    slots: Mapping[str, Ints]
    """Cells of the rows of each child table; -1 where there is none: shape (n_child_columns, n_slots, n_rows)."""
    links: Mapping[str, Ints] = field(default_factory=dict)
    """Shape (n_slots, n_rows). For a table whose rows belong to those of another: the slot of each row's parent."""

    def beside(self, others: Rows) -> Rows:
        """These rows and then others."""
        return Rows(
            _joined(self.codes, others.codes),
            _joined(self.numbers, others.numbers),
            self.numeric,
            np.concatenate([self.holdout, others.holdout]),
            {name: np.concatenate([own, others.slots[name]], axis=2) for name, own in self.slots.items()},
            {name: np.concatenate([own, others.links[name]], axis=1) for name, own in self.links.items()},
        )

    def resembling(self, others: Rows, row: int, rng: Generator) -> Rows:
        """These rows, with about half of their columns taken from one of some other rows.

        Numbers are taken with their cells, or not at all.
        """
        same = rng.random(len(self.codes)) < 0.5
        return replace(
            self,
            codes=[
                np.full_like(own, other[row]) if alike else own
                for alike, own, other in zip(same, self.codes, others.codes, strict=True)
            ],
            numbers=[
                np.full_like(own, other[row]) if alike else own
                for alike, own, other in zip(same[self.numeric], self.numbers, others.numbers, strict=True)
            ],
        )

    def table(self, schema: Schema) -> PrivateTable:
        """The table that ingestion makes of these rows."""
        codes = [own.astype(np.uint16) for own in self.codes]
        children = [
            _records(child, schema, self.slots[child.name], self.links.get(child.name)) for child in schema.children
        ]
        return PrivateTable.build(schema, codes, self.numbers, self.holdout, children)


def _joined(first: Sequence[Array], second: Sequence[Array]) -> list[Array]:
    return [np.concatenate(pair) for pair in zip(first, second, strict=True)]


def _records(child: ChildTable, schema: Schema, slots: Ints, links: Ints | None) -> ChildRecords:
    places, records = held = np.nonzero(slots[0] >= 0)
    codes = [own[held].astype(np.uint16) for own in slots]
    linked = None if links is None else links[held]
    return ChildRecords.build(child, schema.max_rows, codes, places, records, linked)


def random_rows(rng: Generator, schema: Schema, count: int, *, alike: bool = False, kinds: bool = False) -> Rows:
    """Rows with any cells, the reserved ones among them, and numbers at their bounds.

    Parameters
    ----------
    alike : bool
        Make all rows the same.
    kinds : bool
        Make them of three kinds that mostly differ in every column.
    """
    drawn = min(count, 1) if alike else count
    codes, numbers = [], []
    kind, typical = rng.integers(3, size=drawn), 0.9 if kinds else 0.0
    for column in schema:
        follows = rng.random(drawn) < typical
        if isinstance(column, NumericColumn):
            middles = column.lower + np.floor((column.upper - column.lower) * (kind + 0.5) / 3)
            numbers.append(np.where(follows, middles, _values(rng, column, drawn)))
            codes.append(bin_numbers(column, numbers[-1]).astype(np.int64))
        else:
            usual = kind % len(column.classes)
            codes.append(np.where(follows, usual, _cells(rng, column, drawn)))
    slots = {child.name: _slots(rng, child, drawn) for child in schema.children}
    links = {child.name: _linked(rng, child, slots) for child in schema.children if child.parent is not None}
    places = np.zeros(count, dtype=np.int64) if alike else np.arange(count)
    holdout = rng.random(count) * 100 < schema.holdout_percent
    return Rows(
        [own[places] for own in codes],
        [own[places] for own in numbers],
        [place for place, column in enumerate(schema) if isinstance(column, NumericColumn)],
        holdout,
        {name: own[:, :, places] for name, own in slots.items()},
        {name: own[:, places] for name, own in links.items()},
    )


def _cells(rng: Generator, column: Column, count: int) -> Ints:
    """Mostly declared categories."""
    declared, all_cells = len(column.classes), len(column.cells)
    odd = rng.random(count) < 0.1
    return np.where(odd, rng.integers(all_cells, size=count), rng.integers(declared, size=count))


def _values(rng: Generator, column: Any, count: int) -> Floats:
    inside = rng.uniform(column.lower, column.upper, count)
    if column.type == "integer":
        inside = np.rint(inside)
    ends = np.array([column.lower, column.upper, np.nan])[rng.integers(3, size=count)]
    return np.where(rng.random(count) < 0.3, ends, inside)


def _slots(rng: Generator, child: ChildTable, count: int) -> Ints:
    shape = (child.max_rows_per_person, count)
    held = rng.random(shape) < rng.random()
    codes = [rng.integers(len(column.cells), size=shape, dtype=np.int64) for column in child.columns]
    return np.where(held, np.stack(codes), -1)


def _linked(rng: Generator, child: ChildTable, slots: dict[str, Ints]) -> Ints:
    """Links of rows to slots of the parent's table; rows that belong to no row are taken out."""
    own, parents = slots[child.name], slots[str(child.parent)][0]
    links = rng.integers(len(parents), size=own.shape[1:])
    slots[child.name] = np.where(np.take_along_axis(parents, links, axis=0) >= 0, own, -1)
    return links


def random_neighbours(rng: Generator, schema: Schema) -> tuple[Rows, Rows]:
    """Rows of some people, and the same with one person more, whose rows come last.

    The place of a row means nothing: tables are put in random order when data are taken in.
    """
    most = schema.privacy_unit.max_rows_per_person
    room = schema.max_rows - most
    others = room if rng.random() < 0.3 else int(rng.integers(0, room, endpoint=True))
    order = int(rng.integers(3))
    without = random_rows(rng, schema, others, alike=order == 0, kinds=order == 1)
    count = int(rng.integers(1, most, endpoint=True))
    person = random_rows(rng, schema, count, alike=bool(rng.random() < 0.8))
    if others and rng.random() < 0.5:
        person = person.resembling(without, int(rng.integers(others)), rng)
    person.holdout[:] = person.holdout[0]
    return without, without.beside(person)
