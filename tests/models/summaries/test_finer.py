"""Quantiles by cells that are finer than those of their column."""

from __future__ import annotations

from decimal import Decimal

import numpy as np
import pandas as pd
import pytest

from dpcore.data.building.ingest import frame_chunks, ingest
from dpcore.learning.learner import Run
from dpcore.models.summaries.learning.division import FINER
from dpcore.models.summaries.learning.summary_learner import SummaryLearner
from dpcore.models.summaries.learning.summary_queries import finer_counts, table_counts
from dpcore.models.summaries.released.finer import FinerTable, finer, finer_ends
from dpcore.models.summaries.released.reading import column_reading
from dpcore.models.summaries.released.summary_parameters import axes_of
from dpcore.privacy.randomness import SeededRandom
from tests.support.rows import for_each
from tests.support.tables.small_tables import ward

DELTA = "0.000001"
SCHEMA = ward(
    {"name": "pressure", "type": "real", "lower": 0, "upper": 100, "edges": [50]},
    {"name": "age", "type": "integer", "lower": 0, "upper": 100, "edges": [40, 44]},
    {"name": "sex", "type": "categorical", "categories": ["f", "m"]},
    max_rows=6000,
)
LEARNER = SummaryLearner()


def frame(rows: int = 5000) -> pd.DataFrame:
    draw = np.random.default_rng(0)
    pressure = np.where(draw.random(rows) < 0.1, np.nan, draw.normal(70, 8, rows).clip(0, 100))
    age, sex = draw.integers(30, 60, rows), draw.choice(["f", "m"], rows)
    return pd.DataFrame({"pressure": pressure, "age": age, "sex": sex})


@pytest.fixture(scope="module")
def table():
    return ingest(frame_chunks(frame()), SCHEMA, SeededRandom(0))


def looked(table, account="0", **parameters):
    plan = LEARNER.plan(SCHEMA, "", Decimal(1), parameters, Decimal(account))
    return plan, LEARNER.run(Run(table, plan, SeededRandom(1)))


def test_finer_cells_lie_in_those_of_the_column():
    for name in ("pressure", "age"):
        column = SCHEMA.column(name)
        ends, cells = finer_ends(column)
        assert (ends[0], ends[-1]) == (column.lower, column.upper)
        assert list(ends) == sorted(set(ends))
        assert set(column.inner_edges) <= set(ends)
        bounds = [column.lower, *column.inner_edges, column.upper]
        assert all(bounds[c] <= a < b <= bounds[c + 1] for a, b, c in zip(ends, ends[1:], cells, strict=False))
    assert [end for end in finer_ends(SCHEMA.column("age"))[0] if 40 <= end <= 44] == [40, 41, 42, 43, 44]


def test_every_row_is_counted_where_it_is(table):
    axes = axes_of(SCHEMA, None)
    for place, name in enumerate(("pressure", "age")):
        ends, cells = finer_ends(SCHEMA.column(name))
        counts = finer_counts(table, axes[place], ends)
        sizes = tuple(axis.size(SCHEMA) for axis in axes)
        (coarse,) = table_counts(table, axes, sizes, [(place,)])
        assert list(np.bincount(cells, counts)) == list(coarse[:-1])


def test_both_counts_are_made_one_by_least_squares():
    draw = np.random.default_rng(3)
    told = FinerTable(
        axis=0, ends=(0, 1, 2, 3, 4, 5), cells=(0, 0, 0, 1, 1), counts=tuple(draw.normal(50, 5, 5)), deviation=5.0
    )
    coarse, deviation = np.array([160.0, 90.0]), 3.0
    made = finer(told, coarse, deviation, coarse)
    asked = np.concatenate([np.eye(2)[list(told.cells)].T, np.eye(5)])
    weights = np.repeat([1 / deviation**2, 1 / 25], [2, 5])
    inverse = np.linalg.inv(asked.T @ (weights[:, None] * asked))
    assert made.counts == pytest.approx(inverse @ (asked.T @ (weights * [*coarse, *told.counts])))
    shares = draw.random(6)
    sums = np.tril(np.ones((6, 5)), -1) - shares[:, None]
    assert made.variances_below(shares) == pytest.approx(np.diag(sums @ inverse @ sums.T))
    away = draw.normal(size=5)
    assert made.variance(away) == pytest.approx(away @ inverse @ away)
    assert np.bincount(told.cells, made.values) == pytest.approx(coarse)


@for_each(("account", "own"), [("0", {}), (DELTA, {}), ("0", {"delta": DELTA})])
def test_quantiles_are_closer_than_cut_points_allow(table, account, own):
    plan, model = looked(table, account, finer=("pressure", "age"), **own)
    assert plan.split.parts[FINER] > 0
    assert sum(plan.split.parts.values()) == plan.epsilon
    for place, name in enumerate(("pressure", "age")):
        told, truth = column_reading(model, SCHEMA, place), frame()[name].dropna()
        for share, amount in told.quantiles.items():
            exact = float(np.quantile(truth, share, method="inverted_cdf"))
            assert amount.value == pytest.approx(exact, abs=3)
            assert amount.low - 3.2 <= exact <= amount.high + 3.2
            assert amount.high - amount.low < 12
        assert told.mean.value == pytest.approx(float(truth.mean()), abs=1)
    plain = column_reading(looked(table, account, **own)[1], SCHEMA, 0)
    assert abs(plain.quantiles[0.9].value - 80.3) > 5
