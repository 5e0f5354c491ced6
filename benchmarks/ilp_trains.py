"""Generated trains: the concepts to be learned, records, and what one theory gets right."""

from __future__ import annotations

import zlib
from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache

import numpy as np
import pandas as pd

from benchmarks.ilp_methods import fitted
from dpcore.arrays import Words
from dpcore.data.building.ingest import frame_chunks, ingest
from dpcore.data.table import PrivateTable
from dpcore.demo.theories import PlantedTheory
from dpcore.demo.trains import clauses_theory, draw_trains, trains_schema, two_cars_theory
from dpcore.domain.schemas.schema import Schema
from dpcore.models.ilp.learning.coverage import clause_vector
from dpcore.models.ilp.released.ilp_model import ILPModel
from dpcore.privacy.randomness import SeededRandom

TEST_TRAINS = 10_000
#: Columns of a car, which make 12 conditions.
_COLUMNS = 4
#: Of the budget; the published methods spend all on their search.
_COUNT_SHARE = "0.05"


@dataclass(frozen=True)
class Concept:
    """What makes a train go east, and the clauses in which it is sought.

    Attributes
    ----------
    max_literals, max_variables, clauses : int
        Limits of every method, as many as the concept needs.
    """

    name: str
    theory: PlantedTheory
    max_literals: int
    max_variables: int
    clauses: int

    @property
    def settings(self) -> dict[str, int | str]:
        """Parameters that all methods share."""
        return {
            "max_literals": self.max_literals,
            "max_variables": self.max_variables,
            "clauses": self.clauses,
            "count_share": _COUNT_SHARE,
        }

    def schema(self, trains: int) -> Schema:
        """Language of 12 conditions on a car, for so many trains."""
        return trains_schema(self.theory, _COLUMNS, trains)


def _clauses(number: int) -> Concept:
    name = f"{number} clause{'' if number == 1 else 's'}"
    return Concept(name, clauses_theory(number), 3, 1, number)


THREE, SIX, TWO = "one clause of three", "one clause of six", "two clauses of three"
CONCEPTS = {
    THREE: Concept(THREE, clauses_theory(1), 3, 1, 1),
    SIX: Concept(SIX, two_cars_theory(), 6, 2, 1),
    TWO: Concept(TWO, clauses_theory(2), 3, 1, 2),
}
GROWING = {concept.name: concept for concept in map(_clauses, range(1, 7))}


@dataclass(frozen=True)
class Trains:
    """Encoded trains with their directions."""

    frame: pd.DataFrame
    children: dict[str, pd.DataFrame]
    table: PrivateTable


def draw(concept: Concept, trains: int, name: object) -> Trains:
    """Trains of which half satisfy the concept; ``name`` tells one drawing from another."""
    seed = zlib.crc32(f"{concept.name}, {trains} trains, {name}".encode())
    frame, children = draw_trains(concept.theory, trains, seed)
    chunks = {name: frame_chunks(rows) for name, rows in children.items()}
    table = ingest(frame_chunks(frame), concept.schema(trains), SeededRandom(seed), chunks)
    return Trains(frame, children, table)


@lru_cache(maxsize=16)
def fresh_trains(concept: Concept) -> PrivateTable:
    """Other trains than those of any training set."""
    return draw(concept, TEST_TRAINS, "test").table


def predicted(model: ILPModel, table: PrivateTable) -> Words:
    """Who is predicted positive, as a bit vector: those whose first clause is kept."""
    [partition] = table.partitions
    seen = np.zeros_like(partition.members("all"))
    positive = np.zeros_like(seen)
    for group in model.groups:
        if group.clause is not None:
            new = clause_vector(partition, group.clause) & ~seen
            seen |= new
            if group.kept:
                positive |= new
    return positive


def accuracy(model: ILPModel, table: PrivateTable) -> float:
    """Share of the trains whose direction is predicted rightly."""
    [target], [partition] = table.schema.targets, table.partitions
    west, east = partition.class_members(target, "all")
    chosen = predicted(model, table)
    right = np.bitwise_count(east & chosen).sum() + np.bitwise_count(west & ~chosen).sum()
    return float(right / np.bitwise_count(west | east).sum())


def guess(concept: Concept) -> float:
    """Accuracy of predicting east for every test train."""
    table = fresh_trains(concept)
    [partition] = table.partitions
    west, east = partition.class_members("direction", "all")
    return float(np.bitwise_count(east).sum() / np.bitwise_count(west | east).sum())


@dataclass(frozen=True)
class Score:
    """Accuracy of one theory on the test trains."""

    method: str
    trains: int
    number: int
    accuracy: float


def scores(concept: Concept, trains: int, number: int, methods: Sequence[str], fits: int) -> list[Score]:
    """Several fits of each method to one training set."""
    table, test = draw(concept, trains, number).table, fresh_trains(concept)
    return [
        Score(method, trains, number, accuracy(fitted(table, method, concept.settings), test))
        for method in methods
        for _ in range(fits)
    ]
