"""What a first look says: quantiles, means, groups, associations, each with an interval that holds."""

from __future__ import annotations

from decimal import Decimal

import numpy as np
import pytest

from dpcore.domain.schemas.schema import Schema
from dpcore.learning.learner import Run
from dpcore.models.summaries.released.association import associations, most_notable_first
from dpcore.models.summaries.released.intervals import Amount, intervals
from dpcore.models.summaries.released.reading import cells_of, column_reading, readings, shares_of, total_of
from dpcore.models.summaries.released.summary_parameters import Axis, axes_of
from dpcore.models.summaries.released.summary_reading import cell_frame, table_one_frame
from dpcore.models.summaries.released.summary_words import column_sentences
from dpcore.models.summaries.released.table_one import View, _lines, _means, deviations_below, differences, table_one
from dpcore.privacy.randomness import SeededRandom, public_generator
from tests.support.learning.configurations import table_of
from tests.support.results.first_looks import LEARNER, ROWS, look_at, looks, people, plan, schema


@pytest.mark.parametrize("delta", ["0", "0.000001"])
def test_shares_and_counts_are_held_by_their_intervals(delta):
    frame, own = people(), schema()
    held = []
    for model in looks(delta=delta):
        total = total_of(model)
        held.append(total.low <= ROWS <= total.high)
        for place, reading in enumerate(readings(model, own)):
            exact = model.exact_table({own.entity: frame}, own, (place,))
            held += ((reading.counts.low <= exact) & (exact <= reading.counts.high)).tolist()
            share = exact / ROWS
            held += ((reading.shares.low <= share + 1e-9) & (share <= reading.shares.high + 1e-9)).tolist()
            assert reading.shares.values.sum() == pytest.approx(1)
            assert (reading.shares.low <= reading.shares.high).all()
    assert 0.93 < np.mean(held) < 0.97


def middle_of(ages):
    """Middle of the cell of each age: 25 of 20 to 30, then 35.5 of 31 to 40 and so on."""
    cells = np.clip(np.ceil((ages - 20) / 10) - 1, 0, 7)
    return 25 + 10 * cells + 0.5 * (cells > 0)


def test_means_and_quantiles_are_held_by_their_intervals():
    ages = people()["age"].to_numpy()
    middles = middle_of(ages)
    held, quantiles = [], []
    for model in looks():
        reading = readings(model, schema())[0]
        held.append(reading.mean.low <= middles.mean() <= reading.mean.high)
        for share, amount in reading.quantiles.items():
            assert amount.low <= amount.value <= amount.high
            quantiles.append(amount.low <= np.quantile(ages, share) <= amount.high)
    assert np.mean(held) > 0.85
    assert np.mean(quantiles) > 0.95
    assert reading.mean.value == pytest.approx(middles.mean(), abs=2)


def test_groups_are_compared_as_table_1_does():
    frame = people()
    held, medians = [], []
    for model in looks()[:15]:
        table = table_one(model, schema())
        assert table.groups[:2] == ("no", "yes")
        lines = {(line.column, line.kind, line.label): line for line in table.lines}
        for place, group in enumerate(("no", "yes")):
            inside = frame[frame["ill"] == group]
            held.append(_holds(lines["", "count", "people"].groups[place], len(inside)))
            held.append(_holds(lines["sex", "share", "f"].groups[place], (inside["sex"] == "f").mean()))
            mean = middle_of(inside["age"].to_numpy()).mean()
            held.append(_holds(lines["age", "mean", "age"].groups[place], mean))
            median = lines["age", "median", "median"].groups[place]
            medians.append(_holds(median, inside["age"].median()))
            assert median.low <= median.value <= median.high
        gap = lines["age", "mean", "age"].difference
        assert gap.low <= gap.value <= gap.high
        assert gap.value > 1
        assert lines["sex", "", "sex"].difference.value < 0.3
    assert np.mean(held) > 0.88
    assert np.mean(medians) > 0.95


@pytest.mark.parametrize("delta", ["0", "0.000001"])
def test_groups_that_noise_invents_let_no_column_stand_out(delta):
    """Nobody's group is missing; where noise says that somebody's is, any column would seem to differ there."""
    for model in looks(delta=delta):
        told, age = readings(model, schema()), model.place("age")
        gaps = differences(model, schema())
        assert most_notable_first(model.by, gaps, told)[:2] == [model.by, age]
        assert most_notable_first(model.by, {}, told)[0] == model.by
        assert all(gap.low < 0.2 for place, gap in gaps.items() if place != age)
        assert gaps[age] == next(line for line in table_one(model, schema()).lines if line.column == "age").difference


@pytest.mark.parametrize("delta", ["0", "0.000001"])
def test_medians_of_groups_allow_for_the_noise_that_there_is(delta):
    """What noise does to the people of a group up to each cell, less half of them, is worked out exactly."""
    model = looks(delta=delta)[0]
    age = model.place("age")
    filled = len(model.axes[age].ends(schema())) - 1
    view = View(model, schema(), model.estimates)
    counts = View(model, schema(), model.estimates.redrawn(public_generator(1), 4000)).counts(age)[..., :filled]
    below = np.concatenate([np.zeros_like(counts[..., :1]), np.cumsum(counts, axis=-1)], axis=-1)
    seen = (below - 0.5 * below[..., -1:]).std(axis=0)
    told = deviations_below(view, age, filled, np.full(filled + 1, 0.5))
    assert seen == pytest.approx(np.broadcast_to(told, seen.shape), rel=0.06)


def _holds(amount, truth):
    return amount.low - 1e-9 <= truth <= amount.high + 1e-9


def test_what_goes_together_comes_first():
    model = looks()[0]
    first, *others = associations(model)
    assert {model.axes[axis].name for axis in first.axes} == {"age", "ill"}
    assert first.strength.value > 0.5
    assert max(one.strength.value for one in others) < 0.2
    assert all(0 <= one.strength.low <= one.strength.value <= one.strength.high <= 1 for one in [first, *others])


def test_nobody_at_all_is_told_too():
    planned = plan("0.1", by="ill", pairs=1)
    model = LEARNER.run(Run(table_of(schema(), []), planned, SeededRandom(0)))
    assert np.isfinite(cell_frame(model, schema()).select_dtypes("number").to_numpy()).all()
    assert np.isfinite(table_one_frame(model, schema()).select_dtypes("number").fillna(0).to_numpy()).all()
    assert total_of(model).value >= 0
    assert Decimal(model.count_margin) > 0


@pytest.mark.parametrize("more", [{}, {"finer": ("age",)}])
def test_of_nobody_a_mean_may_be_anything(more):
    """Many looks at nobody: no figure is ever beyond the bounds of its column, or outside of its own interval."""
    planned = plan("0.01", by="ill", **more)
    table, untold = table_of(schema(), []), 0
    for seed in range(10):
        model = LEARNER.run(Run(table, planned, SeededRandom(seed)))
        age = readings(model, schema())[0]
        lines = [line for line in table_one(model, schema()).lines if line.kind in {"mean", "median"}]
        figures = [age.mean, *age.quantiles.values(), *(amount for line in lines for amount in line.groups)]
        assert all(20 <= amount.low <= amount.value <= amount.high <= 100 for amount in figures)
        if age.untold:
            untold += 1
            assert set(figures[:6]) == {Amount(60, 20, 100)}
            assert column_sentences(age, schema())[0] == (
                "Too few people stand out from the noise to tell a mean or quantiles: these may be anything from "
                "20 to 100."
            )
    assert untold


def test_a_group_without_a_number_may_have_any():
    counts = np.zeros((9, 4))
    counts[4] = 300, -2, 0, 0  # Ages from 61 to 70 of those who are not ill.
    model = look_at(axes_of(schema(), ("age", "ill")), counts, 0.5, by=1)
    told = View(model, schema(), model.estimates)
    told.shown = (0, 1)
    mean, median = _lines(told, None, 0)[:2]
    assert mean.groups[0].value == pytest.approx(65.5, abs=0.5)
    assert mean.groups[1] == Amount(60, 20, 100)
    assert median.groups[1] == Amount(60, 20, 100)


def test_what_is_shown_lies_in_its_own_interval():
    """Among a thousand cells of which most are empty, that no count is negative takes many from the full one."""
    draw = np.random.default_rng(1)
    model = look_at((Axis(column="code"),), draw.normal(0, 10, 1000) + 500 * np.eye(1000)[0], 10)
    low, _ = intervals(model.estimates.table((0,)), 10.0, gaussian=True)
    assert model.estimates.consistent((0,))[0] < low[0]
    for cells in (cells_of(model.estimates, (0,)), shares_of(model.estimates, (0,))):
        assert (cells.low <= cells.values).all()
        assert (cells.values <= cells.high).all()


@pytest.mark.crossed
@pytest.mark.parametrize("gaussian", [True, False])
@pytest.mark.parametrize("rows", [500, 3000])
def test_means_and_quantiles_are_held_where_most_cells_are_empty(rows, gaussian):
    """What noise leaves in empty cells takes a mean without negative counts to the middle of the bounds."""
    number = {"name": "x", "type": "real", "lower": 0, "upper": 1000, "bins": 100}
    own, draw = Schema.from_mapping({"name": "ward", "max_rows": 4000, "columns": [number]}), np.random.default_rng(1)
    axes, middles = axes_of(own, None), np.arange(5.0, 1000, 10)
    exact = np.append(np.round(rows * np.exp(-middles / 30) / np.exp(-middles / 30).sum()), 0)
    mean = exact[:-1] @ middles / exact.sum()
    means, shown, quantiles = [], [], []
    for _ in range(200):
        noise = draw.normal(0, 10, 101) if gaussian else draw.laplace(0, 10 / 2**0.5, 101)
        told = column_reading(look_at(axes, exact + noise, 10, gaussian=gaussian), own, 0)
        assert 0 <= told.mean.low <= told.mean.value <= told.mean.high <= 1000
        means.append(_holds(told.mean, mean))
        shown.append(told.mean.value)
        quantiles.append(
            [
                _holds(one, np.repeat(middles, exact[:-1].astype(int))[int(share * rows)])
                for share, one in told.quantiles.items()
            ]
        )
    assert np.mean(means) >= 0.93
    assert abs(np.mean(shown) - mean) < 30
    assert np.mean(quantiles, axis=0).min() >= 0.93


def test_means_of_groups_are_held_where_most_cells_are_empty():
    number = {"name": "x", "type": "real", "lower": 0, "upper": 1000, "bins": 100}
    groups = {"name": "g", "type": "categorical", "categories": ["a", "b"]}
    own = Schema.from_mapping({"name": "ward", "max_rows": 4000, "columns": [number, groups]})
    middles, draw, held = np.arange(5.0, 1000, 10), np.random.default_rng(1), []
    exact = np.zeros((101, 4))
    exact[:-1, 0], exact[:-1, 1] = 400 * np.exp(-middles / 30), 200 * np.exp(-middles / 60)
    wanted = middles @ exact[:-1, :2] / exact[:, :2].sum(axis=0)
    for _ in range(150):
        model = look_at(axes_of(own, None), exact + draw.normal(0, 10, exact.shape), 10, by=1)
        view = View(model, own, model.estimates)
        view.shown = (0, 1)
        told = _means(view, 0, model.axes[0].ends(own))
        held.append([_holds(one, truth) for one, truth in zip(told, wanted, strict=True)])
    assert np.mean(held, axis=0).min() >= 0.92


def test_groups_of_any_name_have_columns_of_their_own():
    names = ["medium", "medium low", "line", "standardised difference", "low of medium"]
    columns = [
        {"name": "g", "type": "categorical", "categories": names},
        {"name": "sex", "type": "categorical", "categories": ["f", "m"]},
    ]
    own = Schema.from_mapping({"name": "ward", "max_rows": 4000, "columns": columns})
    counts = np.zeros((7, 4))
    counts[:5, 0] = 100, 200, 300, 400, 500
    model = look_at(axes_of(own, None), counts, 0.5, by=0)
    people = table_one_frame(model, own).iloc[0]
    assert people["line"] == "people"
    assert [round(people[f"value of {name}"]) for name in names] == [100, 200, 300, 400, 500]
    assert all(people[f"low of {name}"] <= people[f"value of {name}"] <= people[f"high of {name}"] for name in names)
