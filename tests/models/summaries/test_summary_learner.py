"""Planning and running first looks: what is asked, how noise is shared, what is refused."""

from __future__ import annotations

import math
from decimal import Decimal

import numpy as np
import pandas as pd
import pytest

from dpcore.data.building.ingest import frame_chunks, ingest
from dpcore.domain.schemas.schema import Schema
from dpcore.errors import BudgetError, RequestError, SchemaError
from dpcore.learning.learner import Run
from dpcore.models.summaries.learning.accounting import expected, noise_of
from dpcore.models.summaries.learning.design import shares_of
from dpcore.models.summaries.learning.pairs import distance
from dpcore.models.summaries.learning.summary_queries import table_counts
from dpcore.models.summaries.released.estimates import Estimates, Measured
from dpcore.models.summaries.released.summary_family import CHOICE
from dpcore.models.summaries.released.summary_parameters import axes_of, row_ends
from dpcore.privacy.bounded_range import Selections
from dpcore.privacy.budgets import gaussian_delta
from dpcore.privacy.filters import largest_rho
from dpcore.privacy.losses import selection_rho
from dpcore.privacy.randomness import SeededRandom
from tests.support.results.first_looks import LEARNER, ROWS, people, plan, released, schema
from tests.support.rows import for_each


@for_each("parameters", [{}, {"by": "ill"}, {"pairs": 2}, {"crosstabs": ("age by ill",), "pairs": 1}])
def test_all_tables_together_keep_the_budget(parameters):
    pure = plan(**parameters)
    noise = noise_of(pure)
    own = [noise.first(axes) for axes in noise.parts]
    pairs = noise.division.candidates[: noise.division.pairs]
    own += list(noise.found(pairs).values())
    choices = noise.choice * noise.division.pairs
    assert sum(mechanism.epsilon for mechanism in own) + choices <= pure.epsilon
    composed = plan(delta="0.000001", **parameters)
    noise = noise_of(composed)
    own = [noise.first(axes) for axes in noise.parts] + list(noise.found(pairs).values())
    spent = sum(mechanism.mu**2 for mechanism in own) / 2
    assert spent <= float(composed.composed.counts) * (1 + 1e-12)
    whole = spent + noise.division.pairs * float(selection_rho(noise.choice))
    assert float(composed.rho) * (1 - 1e-5) < whole <= float(composed.rho) * (1 + 1e-12)
    assert composed.epsilon == 1
    assert composed.rho == largest_rho(composed.epsilon, composed.delta)


@for_each("parameters", [{}, {"by": "ill", "pairs": 1}, {"pairs": 2}])
def test_all_tables_together_keep_a_delta_of_their_own(parameters):
    asked = LEARNER.plan(schema(), "", Decimal(1), parameters | {"delta": "0.000001"}, Decimal(0))
    noise = noise_of(asked)
    pairs = noise.division.candidates[: noise.division.pairs]
    own = [noise.first(axes) for axes in noise.parts] + list(noise.found(pairs).values())
    mu, choices = math.sqrt(sum(mechanism.mu**2 for mechanism in own)), noise.division.pairs
    told = Selections(float(noise.choice), choices).delta(mu, 1.0) if choices else gaussian_delta(mu, 1.0)
    assert (asked.epsilon, asked.delta) == (1, Decimal("0.000001"))
    assert 0.9e-6 < told <= 1e-6
    assert mu**2 / 2 + choices * float(selection_rho(noise.choice)) <= float(asked.rho) * (1 + 1e-12)


def test_a_person_with_more_rows_gets_more_noise():
    one, five = schema(), schema(privacy_unit={"column": "who", "max_rows_per_person": 5})
    for delta in ("0", "0.000001"):
        first, second = (expected(noise_of(plan(delta=delta, of=own))).deviation((0,)) for own in (one, five))
        assert second == pytest.approx(5 * first, rel=0.02)


def test_counts_are_those_of_the_records():
    frame = people()
    model = released(plan(epsilon="1000", by="ill", crosstabs=("ward by sex",)), frame=frame)
    tables = {schema().entity: frame}
    for axes in [(0,), (2,), (0, 3), (1, 2)]:
        exact = model.exact_table(tables, schema(), axes)
        np.testing.assert_allclose(model.estimates.table(axes), exact, atol=1.5)
    assert model.estimates.total == pytest.approx(ROWS, abs=1)


def test_rows_in_further_tables_are_counted():
    own = schema(
        privacy_unit={"column": "who", "max_rows_per_person": 1},
        children=[{"name": "visits", "max_rows_per_person": 20, "columns": [{"name": "long", "type": "boolean"}]}],
    )
    frame = people(600).assign(who=range(600))
    visits = pd.DataFrame({"who": np.repeat(np.arange(600), np.arange(600) % 13), "long": "yes"})
    table = ingest(frame_chunks(frame), own, SeededRandom(0), {"visits": frame_chunks(visits)})
    planned = plan(epsilon="1000", of=own)
    model = LEARNER.run(Run(table, planned, SeededRandom(1)))
    place = len(model.axes) - 1
    assert model.axes[place].table == "visits"
    assert row_ends(own.children[0]) == (0, 1, 2, 3, 4, 5, 6, 7, 8, 16, 20)
    expected_counts = np.bincount(np.searchsorted(row_ends(own.children[0]), np.arange(600) % 13), minlength=11)
    np.testing.assert_allclose(model.estimates.table((place,)), expected_counts, atol=1.5)
    assert np.array_equal(model.exact_table(table.public_tables(), own, (place,)), expected_counts)


def test_the_pair_that_goes_together_is_found():
    found = [released(plan(epsilon="2", pairs=1), seed).found for seed in range(10)]
    assert sum(pairs == ((0, 3),) for pairs in found) >= 9
    every = released(plan(epsilon="2", pairs=10))
    assert len(every.found) == 10
    assert CHOICE not in plan(epsilon="2", pairs=10).split.parts, "where all are taken there is nothing to choose"


def test_a_distance_moves_by_no_more_than_its_sensitivity():
    """One person more or less, anywhere: a search for one that moves it further."""
    draw = np.random.default_rng(5)
    for _ in range(200):
        margins = [Measured((axis,), draw.normal(50, 20, size), 5.0) for axis, size in enumerate((3, 4))]
        known = Estimates((3, 4), margins, gaussian=True)
        table = draw.integers(0, 30, (3, 4))
        before = distance(table, known, (0, 1))
        for cell in np.ndindex(3, 4):
            more = table.copy()
            more[cell] += 1
            assert abs(distance(more, known, (0, 1)) - before) <= 16


def test_one_person_changes_one_cell_of_each_table():
    frame = people(50)
    own = schema()
    axes = axes_of(own, None)
    sizes = tuple(axis.size(own) for axis in axes)
    tables = [(0,), (3,), (0, 3), (1, 2)]
    counts = [
        table_counts(ingest(frame_chunks(rows), own, SeededRandom(0)), axes, sizes, tables)
        for rows in (frame, frame.iloc[:-1])
    ]
    for more, fewer in zip(*counts, strict=True):
        assert (more - fewer).sum() == np.abs(more - fewer).sum() == 1


def test_noise_is_shared_where_it_disturbs_least():
    weighted, equal = (expected(noise_of(plan(method=how, delta="0.000001"))) for how in ("weighted", "equal"))
    cells = [8 + 1, 4, 14, 4, 4]
    errors = [sum(n * own.deviation((axis,)) for axis, n in enumerate(cells)) for own in (weighted, equal)]
    assert errors[0] < 0.98 * errors[1]
    assert weighted.deviation((2,)) < weighted.deviation((1,))


def test_shares_are_optimal():
    """No other division of the budget has a smaller error: tried on all divisions of a grid."""
    sizes, wanted = (2, 30), (((0,), 1.0), ((1,), 1.0))
    found = shares_of(sizes, wanted, gaussian=True)
    share = found[(0,)] / sum(found.values())

    def error(first):
        tables = [Measured((0,), np.zeros(2), first**-0.5), Measured((1,), np.zeros(30), (1 - first) ** -0.5)]
        own = Estimates(sizes, tables, gaussian=True)
        return 2 * own.deviation((0,)) + 30 * own.deviation((1,))

    best = min(np.linspace(0.01, 0.99, 99), key=error)
    assert share == pytest.approx(best, abs=0.02)


@for_each(
    ("parameters", "sentence"),
    [
        ({"by": "nothing"}, "no column 'nothing'"),
        ({"columns": ("age",), "by": "sex"}, "'sex' is not among the columns"),
        ({"crosstabs": ("age and sex",)}, "write two different columns as 'sex by died'"),
        ({"crosstabs": ("age by age",)}, "two different columns"),
        ({"crosstabs": ("age by sex", "sex by age")}, "named twice"),
        ({"columns": ("age", "age")}, "named twice"),
        ({"columns": ("age", "sex"), "pairs": 2}, "1 pairs of these columns left"),
    ],
)
def test_what_cannot_be_counted_is_refused_in_a_sentence(parameters, sentence):
    with pytest.raises((RequestError, SchemaError), match=sentence):
        plan(**parameters)


@for_each("pairs", [1, 2, 3, 45])
def test_whatever_pairs_are_found_there_is_enough_for_the_table_of_each(pairs):
    """A run that is planned must not fail once it has touched a record: the smallest may be found with the largest."""
    columns = [{"name": f"small {place}", "type": "boolean"} for place in range(8)]
    columns += [
        {"name": f"large {place}", "type": "integer", "lower": 0, "upper": 95, "bins": 96} for place in range(2)
    ]
    own, planned = Schema.from_mapping({"name": "uneven", "max_rows": 4000, "columns": columns}), 0
    steps = range(4, 4000, 80)
    for step in steps:
        try:
            noise = noise_of(plan(Decimal(step).scaleb(-9), of=own, pairs=pairs))
        except BudgetError:
            continue
        candidates = sorted(noise.division.candidates, key=noise.division.cells)
        noise.found([candidates[0], *candidates[::-1][: pairs - 1]])
        noise.found(candidates[:pairs])
        planned += 1
    assert 0 < planned < len(steps)
