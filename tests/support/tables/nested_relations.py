"""Small relational data in which rows belong to rows: patients, their stays, and values and drugs of a stay."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
import pandas as pd

from dpcore.arrays import Ints
from dpcore.data.building.ingest import ingest
from dpcore.data.table import PrivateTable
from dpcore.domain.schemas.schema import Schema
from dpcore.models.ilp.language.clause import Clause
from dpcore.models.ilp.language.lattice import Lattice
from dpcore.models.ilp.language.nested_conditions import NestedCondition, RowAtom
from dpcore.models.ilp.learning.coverage import count_clauses, fold_factors
from dpcore.privacy.randomness import SeededRandom
from tests.oracles.clauses import Below, Body, Condition, Row, Wanted

TARGET = "ill"
EVERYTHING = ("exists", "within", "counts", "order", "alike")
SCHEMA: dict[str, Any] = {
    "name": "clinic",
    "entity": "patient",
    "max_rows": 70,
    "holdout_percent": 0,
    "privacy_unit": {"column": "id"},
    "columns": [
        {"name": "sex", "type": "categorical", "categories": ["f", "m"]},
        {"name": TARGET, "type": "boolean", "target": True},
    ],
    "children": [
        # What belongs to stays is declared first: order does not matter.
        {
            "name": "lab",
            "parent": "stay",
            "parent_key": "of",
            "max_rows_per_person": 6,
            "columns": [
                {"name": "test", "type": "categorical", "categories": ["k", "na"]},
                {"name": "value", "type": "integer", "lower": 0, "upper": 9, "edges": [4]},
            ],
        },
        {
            "name": "stay",
            "row_key": "stay_id",
            "max_rows_per_person": 3,
            "keep": "first",
            "order_by": "day",
            "columns": [{"name": "kind", "type": "categorical", "categories": ["planned", "urgent", "moved"]}],
        },
        {
            "name": "drug",
            "parent": "stay",
            "parent_key": "of",
            "max_rows_per_person": 3,
            "columns": [{"name": "dose", "type": "categorical", "categories": ["low", "high"]}],
        },
    ],
}
VALUES: dict[str, tuple[Any, ...]] = {
    "sex": ("f", "m"),
    TARGET: ("no", "yes"),
    "kind": ("planned", "urgent", "moved"),
    "test": ("k", "na"),
    "value": (2, 7),
    "dose": ("low", "high"),
}
BELOW = ("lab", "drug")


def nested_schema(**changes: Any) -> Schema:
    """The schema, some of its fields changed."""
    return Schema.from_mapping(SCHEMA | changes)


@dataclass
class Patients:
    """People and their stays in the order of time, each with the rows that belong to it.

    Attributes
    ----------
    people : list of dict
    stays : list of list of dict
        Of each person; a stay holds its values and drugs under ``lab`` and ``drug``.
    """

    people: list[Row]
    stays: list[list[Row]]

    def __len__(self) -> int:
        return len(self.people)

    def without(self, place: int) -> Patients:
        """Everybody but one, who leaves with all rows."""
        return Patients(
            self.people[:place] + self.people[place + 1 :],
            self.stays[:place] + self.stays[place + 1 :],
        )

    @property
    def rows(self) -> list[dict[str, list[Row]]]:
        """Rows of each table about each person, as the oracle takes them."""
        return [
            {"stay": stays, **{name: [row for stay in stays for row in stay[name]] for name in BELOW}}
            for stays in self.stays
        ]

    def frames(self, schema: Schema) -> dict[str, pd.DataFrame]:
        """The tables as a custodian would upload them: stays are numbered within each person."""
        main = pd.DataFrame(
            [{"id": number, **person} for number, person in enumerate(self.people)], columns=["id", "sex", TARGET]
        )
        content: dict[str, list[Row]] = {"stay": [], "lab": [], "drug": []}
        for number, stays in enumerate(self.stays):
            for place, stay in enumerate(stays):
                content["stay"].append({"id": number, "stay_id": place, "day": place, "kind": stay["kind"]})
                for name in BELOW:
                    content[name] += [{"id": number, "of": place, **row} for row in stay[name]]
        columns = {child.name: ["id", *child.file_columns] for child in schema.children}
        return {
            schema.entity: main,
            **{name: pd.DataFrame(rows, columns=columns[name]) for name, rows in content.items()},
        }

    def table(self, schema: Schema, seed: int = 1) -> PrivateTable:
        """The ingested table."""
        main, *others = self.frames(schema).items()
        return ingest([main[1]], schema, SeededRandom(seed), {name: [frame] for name, frame in others})


def draw_patients(count: int, seed: int, stays: int = 3, labs: int = 2, drugs: int = 1) -> Patients:
    """Patients at random, with at most so many rows of each kind; no table is empty, as no file may be."""
    generator = np.random.default_rng(seed)

    def row(*columns: str) -> Row:
        return {name: VALUES[name][generator.integers(len(VALUES[name]))] for name in columns}

    def rows(least: int, most: int, *columns: str) -> list[Row]:
        return [row(*columns) for _ in range(int(generator.integers(least, most + 1)))]

    people, found = [], []
    for number in range(count):
        people.append(row("sex", TARGET))
        own = rows(int(number == 0), stays, "kind")
        for place, stay in enumerate(own):
            first = int(number == place == 0)
            stay["lab"], stay["drug"] = rows(first, labs, "test", "value"), rows(first, drugs, "dose")
        found.append(own)
    return Patients(people, found)


def counts_of(crowd: Patients, lattice: Lattice, schema: Schema | None = None) -> Ints:
    """Negatives and positives that each clause of a lattice covers, as the learner counts them."""
    [partition] = crowd.table(schema or nested_schema()).partitions
    return count_clauses(lattice, fold_factors(partition, lattice), partition.class_members(TARGET, "all"))


def body_of(clause: Clause) -> Body:
    """A clause in the form of the oracle, by the values that stand for its cells."""

    def conditions(atoms: tuple[RowAtom, ...]) -> tuple[Condition, ...]:
        return tuple(condition(atom) for atom in atoms)

    def condition(atom: RowAtom) -> Condition:
        if isinstance(atom, NestedCondition):
            return Below(atom.inner, conditions(atom.atoms), atom.least)  # type: ignore[arg-type]
        cells = [cell for cell in atom.cells if cell < len(VALUES[atom.column])]
        return atom.column, frozenset(VALUES[atom.column][cell] for cell in cells)

    return Body(
        conditions(clause.atoms),
        tuple(
            Wanted(
                item.table,
                conditions(item.atoms),
                item.negated,
                item.least,
                item.row,
                item.alike,
                conditions(item.later),
            )
            for item in clause.variables
        ),
    )
