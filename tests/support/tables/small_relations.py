"""Small relational data: a schema, people with rows, and clauses in the form of the oracle."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import pandas as pd
from hypothesis import strategies as st

from dpcore.arrays import Ints
from dpcore.data.building.ingest import ingest
from dpcore.data.table import PrivateTable
from dpcore.domain.schemas.schema import Schema
from dpcore.models.ilp.language.atoms import Atom
from dpcore.models.ilp.language.clause import Clause
from dpcore.models.ilp.language.lattice import Lattice
from dpcore.models.ilp.learning.coverage import count_clauses, fold_factors
from dpcore.privacy.randomness import SeededRandom
from tests.oracles.clauses import Body, Row, Wanted

TARGET = "ill"
SCHEMA: dict[str, Any] = {
    "name": "small",
    "entity": "patient",
    "max_rows": 70,
    "holdout_percent": 0,
    "privacy_unit": {"column": "id"},
    "columns": [
        {"name": "sex", "type": "categorical", "categories": ["f", "m"]},
        {"name": "age", "type": "integer", "lower": 0, "upper": 90, "edges": [30, 60]},
        {"name": TARGET, "type": "boolean", "target": True},
    ],
    "children": [
        {
            "name": "drug",
            "max_rows_per_person": 4,
            "columns": [
                {"name": "kind", "type": "categorical", "categories": ["a", "b", "c"], "groups": {"ab": ["a", "b"]}},
                {"name": "dose", "type": "ordinal", "categories": ["low", "mid", "high"]},
            ],
        },
        {
            "name": "test",
            "key": "patient_id",
            "max_rows_per_person": 3,
            "columns": [
                {"name": "value", "type": "real", "lower": 0, "upper": 10, "edges": [2.5, 5]},
                {"name": "ward", "type": "boolean"},
            ],
        },
    ],
}
#: A value of every cell, in the order of the cells, missing ones left out.
VALUES: dict[str, Sequence[Any]] = {
    "sex": ("f", "m"),
    "age": (12, 45, 77),
    TARGET: ("no", "yes"),
    "kind": ("a", "b", "c"),
    "dose": ("low", "mid", "high"),
    "value": (1.0, 4.0, 9.5),
    "ward": ("no", "yes"),
}


#: Everything that may be said of rows.
EVERYTHING_OF_ROWS = ("exists", "counts", "order", "alike")


def small_schema(**changes: Any) -> Schema:
    """The schema, some of its fields changed."""
    return Schema.from_mapping(SCHEMA | changes)


def ordered_schema(**changes: Any) -> Schema:
    """The schema with the last drugs and the first tests of a patient kept, by a column that is not stored."""
    drug, test = SCHEMA["children"]
    return small_schema(
        children=[drug | {"keep": "last", "order_by": "day"}, test | {"keep": "first", "order_by": "day"}], **changes
    )


@dataclass
class People:
    """People and their rows, values as a file has them.

    Attributes
    ----------
    people : list of dict
        One for each person.
    rows : list of dict of str to list of dict
        Rows of each table about each person, in the order of time.
    """

    people: list[Row]
    rows: list[dict[str, list[Row]]]

    def __len__(self) -> int:
        return len(self.people)

    def without(self, place: int) -> People:
        """Everybody but one, who leaves with all rows."""
        return People(
            self.people[:place] + self.people[place + 1 :],
            self.rows[:place] + self.rows[place + 1 :],
        )

    def frames(self, schema: Schema) -> dict[str, pd.DataFrame]:
        """The tables as a custodian would upload them."""
        main = pd.DataFrame(
            [{"id": number, **person} for number, person in enumerate(self.people)],
            columns=["id", *(column.name for column in schema.columns)],
        )
        frames = {schema.entity: main}
        for child in schema.children:
            key = schema.key_of(child)
            content = [
                {key: number, "day": day, **row}
                for number, tables in enumerate(self.rows)
                for day, row in enumerate(tables[child.name])
            ]
            order = [child.order_by] if child.order_by else []
            columns = list(dict.fromkeys([key, *order, *(column.name for column in child.columns)]))
            frames[child.name] = pd.DataFrame(content, columns=columns)
        return frames

    def table(self, schema: Schema, seed: int = 1) -> PrivateTable:
        """The ingested table."""
        main, *others = self.frames(schema).items()
        return ingest([main[1]], schema, SeededRandom(seed), {name: [frame] for name, frame in others})


def draw_people(count: int, seed: int, schema: Schema | None = None) -> People:
    """People at random; no table is empty, as no file may be."""
    generator = np.random.default_rng(seed)
    domain = schema or small_schema()

    def row(columns: Sequence[Any]) -> Row:
        return {column.name: VALUES[column.name][generator.integers(len(VALUES[column.name]))] for column in columns}

    people = [row(domain.columns) for _ in range(count)]
    rows = [
        {
            child.name: [
                row(child.columns)
                for _ in range(max(int(number == 0), int(generator.integers(child.max_rows_per_person + 1))))
            ]
            for child in domain.children
        }
        for number in range(count)
    ]
    return People(people, rows)


def people(least: int = 1, most: int = 12) -> st.SearchStrategy[People]:
    """Random people for a property test."""
    return st.builds(draw_people, st.integers(least, most), st.integers(0, 2**32 - 1))


def counts_of(crowd: People, lattice: Lattice, schema: Schema | None = None) -> Ints:
    """Negatives and positives that each clause of a lattice covers, as the learner counts them."""
    [partition] = crowd.table(schema or small_schema()).partitions
    return count_clauses(lattice, fold_factors(partition, lattice), partition.class_members(TARGET, "all"))


def body_of(clause: Clause, schema: Schema) -> Body:
    """A clause in the form of the oracle, by the values that stand for its cells."""

    def condition(atom: Atom) -> tuple[str, frozenset[Any]]:
        cells = [cell for cell in atom.cells if cell < len(VALUES[atom.column])]
        return atom.column, frozenset(VALUES[atom.column][cell] for cell in cells)

    return Body(
        tuple(condition(atom) for atom in clause.atoms),
        tuple(
            Wanted(
                item.table,
                tuple(condition(atom) for atom in item.atoms),
                item.negated,
                item.least,
                item.row,
                item.alike,
                tuple(condition(atom) for atom in item.later),
            )
            for item in clause.variables
        ),
    )
