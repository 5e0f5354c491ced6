"""Intervals of what cannot be negative hold the truth also at 0, and are never empty there."""

from __future__ import annotations

from functools import cache

import numpy as np
import pandas as pd
import pytest

from dpcore.data.building.ingest import frame_chunks, ingest
from dpcore.domain.schemas.schema import Schema
from dpcore.learning.learner import Run
from dpcore.models.summaries.released import table_one as table_one_module
from dpcore.models.summaries.released.association import associations, cramer_v, pooling, poolings
from dpcore.models.summaries.released.intervals import folded_interval
from dpcore.models.summaries.released.summary_model import SummaryModel
from dpcore.models.summaries.released.summary_parameters import axes_of
from dpcore.models.summaries.released.summary_reading import association_frame, table_one_table
from dpcore.models.summaries.released.summary_words import pooled_words
from dpcore.models.summaries.released.table_one import _gap_of_shares, differences, table_one
from dpcore.privacy.randomness import SeededRandom
from tests.support.learning.configurations import table_of
from tests.support.results.first_looks import LEARNER, look_at, plan, schema
from tests.support.rows import for_each

LOOKS = 200


def alike() -> pd.DataFrame:
    """People of whom no column tells anything of another."""
    place = np.arange(960)
    return pd.DataFrame(
        {
            "age": 20 + place % 80,
            "sex": np.where(place // 2 % 2, "f", "m"),
            "ward": [f"w{code}" for code in place // 4 % 12],
            "ill": np.where(place % 2, "no", "yes"),
            "by night": np.where(place // 48 % 2, "yes", "no"),
        }
    )


@cache
def looks(delta: str, *columns: str):
    planned = plan("1", delta, columns=(*columns, "ill"), by="ill")
    table = ingest(frame_chunks(alike()), planned.schema, SeededRandom(0))
    return [LEARNER.run(Run(table, planned, SeededRandom(seed))) for seed in range(LOOKS)]


@pytest.mark.crossed
@pytest.mark.parametrize("delta", ["0", "0.000001"])
@pytest.mark.parametrize("column", ["sex", "ward"])
def test_no_difference_is_held_by_its_interval(column, delta):
    # Each look with other redraws: one set of them would be off in one direction for all looks.
    found = [
        gap for seed, model in enumerate(looks(delta, column)) for gap in differences(model, schema(), seed).values()
    ]
    assert len(found) == LOOKS
    assert np.mean([gap.low == 0 for gap in found]) >= 0.9
    assert all(gap.low <= gap.value <= gap.high and gap.low < gap.high for gap in found)


@pytest.mark.parametrize("delta", ["0", "0.000001"])
def test_columns_that_have_nothing_to_do_with_each_other_are_held_by_their_intervals(delta):
    found = [
        one.strength for seed, model in enumerate(looks(delta, "sex", "ward")) for one in associations(model, seed)
    ]
    assert len(found) == 2 * LOOKS
    assert min(strength.value for strength in found) == 0
    assert np.mean([strength.low == 0 for strength in found]) >= 0.9
    assert all(strength.low <= strength.value <= strength.high <= 1 for strength in found)
    assert all(strength.low < strength.high for strength in found)


@cache
def by_ward(strength: float) -> pd.DataFrame:
    """People of whom a ward has one age more often, some wards more so."""
    draw = np.random.default_rng(3)
    ward, any_age = draw.integers(0, 12, 4000), draw.integers(0, 8, 4000)
    decade = np.where(draw.random(4000) < strength, ward % 8, any_age)
    frame = pd.DataFrame({"ward": [f"w{code}" for code in ward], "age": 21 + 10 * decade})
    return frame.assign(sex="f", ill="no", **{"by night": "no"})


def pooled_v(model: SummaryModel, axes: tuple[int, int], exact: np.ndarray) -> float:
    """Cramér's V of exact counts, of which the values are pooled that the look pools."""
    rows, columns = (pooling(model.estimates, axis).indicator(model.sizes[axis]) for axis in axes)
    return cramer_v(rows @ exact @ columns.T)


@pytest.mark.crossed
@pytest.mark.parametrize("delta", ["0", "0.000001"])
@pytest.mark.parametrize("strength", [0.15, 0.7])
@pytest.mark.parametrize("epsilon", ["0.04", "0.1"])
def test_associations_of_many_cells_are_held_by_their_intervals(delta, epsilon, strength):
    planned = plan(epsilon, delta, columns=("ward", "age"), crosstabs=("ward by age",))
    table = ingest(frame_chunks(by_ward(strength)), planned.schema, SeededRandom(0))
    found = []
    for seed in range(80):
        model = LEARNER.run(Run(table, planned, SeededRandom(seed)))
        exact = model.exact_table({planned.schema.entity: by_ward(strength)}, planned.schema, (0, 1))
        found.append((associations(model, seed)[0].strength, pooled_v(model, (0, 1), exact)))
    assert np.mean([one.low <= exact <= one.high for one, exact in found]) >= 0.9
    assert all(one.low < one.high for one, _ in found)


@cache
def with_rare_values() -> np.ndarray:
    """Counts of two columns: three common values of each, of which one tells of the other, and many rare ones."""
    common = np.array([[900, 300, 200], [250, 800, 350], [150, 200, 700]])
    exact = np.zeros((15, 15))
    exact[:3, :3] = common
    exact[np.arange(3, 15), np.arange(3, 15)] = 12  # Each rare value of one column goes with one of the other.
    return exact


@for_each("deviation", [2.0, 6.0, 15.0])
def test_rare_values_are_pooled_and_intervals_hold_the_association_of_the_pooled_table(deviation):
    exact, draw, held = with_rare_values(), np.random.default_rng(6), []
    for seed in range(200):
        model, _ = grouped(exact, deviation, draw)
        [found] = associations(model, seed)
        strength, told = found.strength, pooled_v(model, (0, 1), np.pad(exact, ((0, 2), (0, 2))))
        held.append(strength.low <= told <= strength.high)
    assert 0.9 <= np.mean(held) <= 0.995


def test_every_value_of_a_pair_is_compared_pooled_or_named_as_left_out():
    exact, draw = with_rare_values(), np.random.default_rng(7)
    for deviation in (0.2, 4.0, 15.0, 200.0):
        model, own = grouped(exact, deviation, draw)
        for pool in poolings(model).values():
            assert sorted([*(cell for cells in pool.groups for cell in cells), *pool.left_out]) == list(range(17))
            assert set(pool.pooled) <= set(range(3, 17)) or deviation > 15
        assert bool(pooled_words(model, own)) == (deviation > 0.2)
        row = association_frame(model, own).iloc[0]
        told = [row[f"{what} of {which}"] for which in ("first", "second") for what in ("pooled", "left out")]
        assert any(told)


def test_an_interval_that_reaches_0_has_the_upper_end_that_noise_may_hide():
    draws = np.linspace(0.0, 1.0, 1001)
    assert folded_interval(0.2, draws).high == pytest.approx(0.975)
    assert folded_interval(0.2, draws).low == 0
    far = folded_interval(5.0, 5 + draws)
    assert (far.low, far.high) == pytest.approx((4.025, 5.0))


def test_what_noise_alone_makes_of_nothing_is_no_difference():
    """A value that adds up noise on many counts is far above 0, and other noise on top takes it further."""
    noise = np.sqrt(np.random.default_rng(1).chisquare(50, 2000))
    more = np.sqrt(np.random.default_rng(2).noncentral_chisquare(50, 50, 2000))
    value = float(np.sqrt(50))
    assert folded_interval(value, more).low > 1
    assert folded_interval(value, more, alone=noise).low == 0
    assert folded_interval(value, more, alone=noise / 2).low > 1


def test_where_noise_hides_all_categories_anything_fits():
    planned = plan("0.1", by="ill")
    model = LEARNER.run(Run(table_of(schema(), []), planned, SeededRandom(0)))
    hidden = [one.strength for one in associations(model) if one.strength.value == 0]
    assert hidden
    assert all((strength.low, strength.high) == (0, 1) for strength in hidden)


def by_linear_algebra(one, other):
    """Standardised difference of two distributions by the covariance of all categories but one (Yang, Dalton 2012)."""
    away, mean = (one - other)[1:], (one + other)[1:] / 2
    common = np.diag(mean) - (np.outer(one[1:], one[1:]) + np.outer(other[1:], other[1:])) / 2
    return np.sqrt(away @ np.linalg.solve(common, away))


def test_distances_of_shares_are_those_of_linear_algebra():
    counts = np.random.default_rng(1).integers(20, 90, (5, 3, 12)).astype(float)
    shares = counts / counts.sum(axis=-1, keepdims=True)
    wanted = [max(by_linear_algebra(own[a], own[b]) for a in range(3) for b in range(a)) for own in shares]
    assert _gap_of_shares(counts, 0.0) == pytest.approx(wanted)
    apart = _gap_of_shares(np.array([[[5.0, 0.0], [0.0, 7.0]]]), 0.0)
    assert 100 < apart[0] < 1000


def grouped(exact, deviation, draw) -> tuple[SummaryModel, Schema]:
    """A look at people by a code in groups, with other noise each time."""
    cells, groups = exact.shape
    columns = [
        {"name": "code", "type": "categorical", "categories": [f"c{n}" for n in range(cells)]},
        {"name": "group", "type": "categorical", "categories": [f"g{n}" for n in range(groups)]},
    ]
    counts = np.pad(exact, ((0, 2), (0, 2))) + draw.normal(0, deviation, (cells + 2, groups + 2))
    own = Schema.from_mapping({"name": "ward", "max_rows": 4000, "columns": columns})
    return look_at(axes_of(own, None), counts, deviation, by=1), own


def test_differences_of_many_categories_are_held_by_their_intervals():
    draw = np.random.default_rng(4)
    base = np.array([draw.dirichlet(np.full(40, 4.0)) for _ in range(2)]).T
    mixed = 1316 * (0.6 * base + 0.4 * base.mean(axis=1, keepdims=True))
    exact = by_linear_algebra(*(mixed / 1316).T)
    found = []
    for seed in range(80):
        [gap] = differences(*grouped(mixed, 13.0, draw), seed).values()
        found.append(gap)
    assert 0.4 < exact < 0.7
    assert abs(np.mean([gap.value for gap in found]) - exact) < 0.12
    assert np.mean([gap.low <= exact <= gap.high for gap in found]) >= 0.9


def costs(rows: int) -> tuple[np.ndarray, float]:
    """Costs of two groups half a unit of their logarithm apart, most in the first of 20 cells; and their difference."""
    draw, ends = np.random.default_rng(0), np.linspace(0, 100_000, 21)
    drawn = (3000 * np.exp(draw.normal(0.5 * group, 1, rows // 2)) for group in range(2))
    exact = np.array([np.histogram(np.minimum(own, ends[-1]), ends)[0] for own in drawn], dtype=float)
    middle, shares = (ends[1:] + ends[:-1]) / 2, exact / exact.sum(axis=1, keepdims=True)
    means = shares @ middle
    variances = shares @ middle**2 - means**2
    return exact, float((means[1] - means[0]) / np.sqrt(variances.mean()))


def costs_looked_at(exact, deviation, draw) -> tuple[SummaryModel, Schema]:
    """A look at these costs, with other noise each time."""
    columns = [
        {"name": "cost", "type": "real", "lower": 0, "upper": 100_000, "bins": 20},
        {"name": "group", "type": "categorical", "categories": ["g0", "g1"]},
    ]
    own = Schema.from_mapping({"name": "ward", "max_rows": 20_000, "columns": columns})
    axes = axes_of(own, None)
    counts = draw.normal(0, deviation, [axis.size(own) for axis in axes])
    counts[:20, :2] += exact.T
    return look_at(axes, counts, deviation, by=1), own


@for_each(("rows", "deviation"), [(3000, 10.0), (10_000, 30.0), (10_000, 5.0)])
def test_differences_of_skewed_numbers_are_held_by_their_intervals(rows, deviation):
    """Noise in the many cells that hold hardly anybody neither hides the difference nor makes it sure."""
    (exact, difference), draw, found = costs(rows), np.random.default_rng(5), []
    for seed in range(150):
        [gap] = differences(*costs_looked_at(exact, deviation, draw), seed).values()
        found.append(gap)
    assert 0.3 < difference < 0.4
    assert np.mean([gap.value for gap in found]) == pytest.approx(difference, abs=0.04)
    assert np.mean([gap.low <= difference <= gap.high for gap in found]) >= 0.9
    assert all(gap.low <= gap.value <= gap.high for gap in found)


def test_a_ratio_reaches_as_far_as_other_noise_takes_it():
    draws = 5 + np.linspace(-1.0, 3.0, 1001)
    assert (folded_interval(5.0, draws).low, folded_interval(5.0, draws).high) == pytest.approx((2.1, 5.9))
    ratio = folded_interval(5.0, draws, ratio=True)
    assert (ratio.low, ratio.high) == pytest.approx((2.1, 7.9))
    hidden = folded_interval(5.0, draws, alone=np.array([6.0]), ratio=True)
    assert (hidden.low, hidden.high) == pytest.approx((0.0, 7.9))


def test_groups_and_categories_that_are_too_many_are_named_and_not_compared(monkeypatch):
    model, own = grouped(np.full((40, 3), 300.0), 1.0, np.random.default_rng(1))
    assert len(differences(model, own)) == 1
    monkeypatch.setattr(table_one_module, "_MOST_COMPARED", 3**2 * 40 - 1)
    assert differences(model, own) == {}
    table = table_one(model, own)
    assert table.uncompared == ("code",)
    caption = table_one_table(model, own, table).caption
    assert caption == (
        "Table 1: Columns by group. Too many groups and categories for a standardised difference: code; "
        "intervals are for the noise, 95%"
    )
