"""Small tables with two views, their neighbours, and sources of randomness that are watched."""

from __future__ import annotations

from decimal import Decimal
from functools import lru_cache
from itertools import count

import numpy as np
import pandas as pd
import pytest
from hypothesis import strategies as st

from dpcore.data.packing import pack, word_count
from dpcore.data.table import PrivateTable
from dpcore.domain.columns import NumericColumn
from dpcore.learning.learner import Run, no_progress
from dpcore.models.redescriptions.learning.redescription_learner import RedescriptionLearner
from dpcore.models.redescriptions.learning.views import Sets
from dpcore.privacy.randomness import SecureRandom, SeededRandom
from tests.support.tables.small_tables import schema_of

#: Of sets that tests make: no two are the same.
_NUMBERS = count()
LEARNER = RedescriptionLearner()
METHODS = ("exact_pairs", "lookahead", "alt_expm", "alt_mcmc", "mcmc_tree_pair")
#: Methods that draw both trees of a pair at once, and so do not alternate.
TOGETHER = ("exact_pairs", "mcmc_tree_pair")
#: Every way to draw trees, quick enough for many runs.
WAYS = (
    {"method": "exact_pairs"},
    {"method": "lookahead"},
    {"method": "alt_expm"},
    {"method": "alt_mcmc", "steps": 1_000},
    {"method": "mcmc_tree_pair", "steps": 1_000},
    {"method": "mcmc_tree_pair", "sampler": "pool", "pool_size": 60},
    {"method": "mcmc_tree_pair", "steps": 1_000, "sensitivity": "published"},
)
way = pytest.mark.parametrize("way", WAYS, ids=lambda way: "-".join(map(str, way.values())))
COLUMNS = (
    {"name": "old", "type": "boolean", "view": "left"},
    {"name": "ward", "type": "categorical", "categories": ["a", "b", "c"], "view": "left"},
    {"name": "stage", "type": "ordinal", "categories": ["i", "ii", "iii"], "view": "left"},
    {"name": "treated", "type": "boolean", "view": "right"},
    {"name": "sugar", "type": "real", "lower": 0, "upper": 30, "bins": 5, "view": "right"},
    {"name": "note", "type": "boolean"},
)
#: Nothing but yes and no, so that all columns have as many splits as each other.
PLAIN = tuple(
    {"name": f"{view}{place}", "type": "boolean", "view": view} for view in ("left", "right") for place in range(3)
)


def schema(columns=COLUMNS, max_rows=200, rows_per_person=1, **more):
    unit = {"column": "person", "max_rows_per_person": rows_per_person}
    return schema_of(list(columns), max_rows, privacy_unit=unit, **more)


def rows_of(domain, people, seed=0, linked=True):
    """Cell codes of so many people; if linked, the views follow one hidden level."""
    draw = np.random.default_rng(seed)
    hidden = draw.random(people)
    columns = []
    for column in domain:
        sizes = len(column.cells)
        level = hidden if linked else draw.random(people)
        blurred = np.where(draw.random(people) < 0.8, level, draw.random(people))
        columns.append((blurred * sizes).astype(int))
    return [tuple(int(code) for code in row) for row in zip(*columns, strict=True)]


def frame_of(people, seed=0):
    draw = np.random.default_rng(seed)
    return pd.DataFrame(
        {
            "person": np.arange(people),
            "old": draw.choice(["yes", "no"], people),
            "ward": draw.choice(["a", "b", "c"], people),
            "stage": draw.choice(["i", "ii", "iii"], people),
            "treated": draw.choice(["yes", "no"], people),
            "sugar": draw.uniform(0, 30, people),
            "note": draw.choice(["yes", "no"], people),
        }
    )


def table(domain, rows):
    """Table of such people; numbers lie in the middle of their cells."""
    codes = np.array(rows, dtype=np.uint16).reshape(len(rows), len(domain.columns)).T
    numbers = []
    for column, cells in zip(domain, codes, strict=True):
        if isinstance(column, NumericColumn):
            ends = np.array([column.lower, *column.inner_edges, column.upper])
            middles = np.append((ends[:-1] + ends[1:]) / 2, np.nan)
            numbers.append(middles[cells])
    return PrivateTable.build(domain, list(codes), numbers, np.zeros(len(rows), dtype=bool))


def fitting(method, **parameters):
    """Parameters without those that a method has no choice of."""
    if method == "exact_pairs":
        parameters.pop("depth", None)
    if method in TOGETHER:
        parameters.pop("rounds", None)
    return {"method": method, **parameters}


def run(people, epsilon="1", source=None, progress=no_progress, domain=None, **parameters):
    """Plan of a run and its model."""
    plan = LEARNER.plan(domain or people.schema, "", Decimal(epsilon), parameters)
    return plan, LEARNER.run(Run(people, plan, source or SeededRandom(0), progress))


def vectors(flags, max_rows=None):
    """Bit vectors of the columns of a matrix of truth values."""
    flags = np.asarray(flags, dtype=bool)
    words = max(1, word_count(max_rows or len(flags)))
    return np.stack([pack(flags[:, place], words) for place in range(flags.shape[1])])


def class_vectors(labels, classes, max_rows=None):
    """Bit vectors of the records of each class."""
    labels = np.asarray(labels, dtype=int)
    return vectors(labels[:, None] == np.arange(classes)[None, :], max_rows)


def everyone(people, max_rows=None):
    """Bit vector of all records."""
    return vectors(np.ones((people, 1), dtype=bool), max_rows)[0]


def crowd(people, max_rows=None):
    """A table of so many records, for questions about :func:`given` sets of them."""
    return table(_anybody(max_rows or max(1, people)), [(0,)] * people)


@lru_cache
def _anybody(max_rows):
    return schema([{"name": "here", "type": "boolean"}], max_rows)


def given(vectors):
    """Sets of records with these bit vectors, whatever the table."""
    return Sets(_given, (next(_NUMBERS), vectors), len(vectors))


def _given(partition, number, vectors):
    return vectors


@st.composite
def neighbours(draw, splits=(2, 2), classes=3, most=14):
    """Records (truth values of two views, class) and one more: two lists of records."""
    record = st.tuples(
        st.tuples(*[st.booleans()] * splits[0]),
        st.tuples(*[st.booleans()] * splits[1]),
        st.integers(0, classes - 1),
    )
    rows = draw(st.lists(record, max_size=most))
    return rows, [*rows, draw(record)]


def sides_of(rows, splits=(2, 2)):
    """Matrices of both views and the classes of such records."""
    left = np.array([row[0] for row in rows], dtype=bool).reshape(len(rows), splits[0])
    right = np.array([row[1] for row in rows], dtype=bool).reshape(len(rows), splits[1])
    return left, right, np.array([row[2] for row in rows], dtype=int)


class Watched(SeededRandom):
    """A seeded source that notes what is drawn from it, in order."""

    def __init__(self, seed: int) -> None:
        super().__init__(seed)
        self.calls: list[tuple[str, int]] = []

    def words(self, count):
        self.calls.append(("words", count))
        return super().words(count)

    def geometric_noise(self, scale, count):
        self.calls.append((f"geometric {scale:.9g}", count))
        return super().geometric_noise(scale, count)

    def choose(self, choice, scores):
        self.calls += [(choice.law, len(own)) for own in scores]
        return super().choose(choice, scores)


class FixedWords(SecureRandom):
    """Public draws repeat themselves, while mechanisms draw from the secure source."""

    def __init__(self, seed: int) -> None:
        self._seed = seed

    def words(self, count):
        return SeededRandom(self._seed).words(count)
