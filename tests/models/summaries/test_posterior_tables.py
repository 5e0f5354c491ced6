"""Tables behind noise, and weights of records that follow many of them."""

from __future__ import annotations

from itertools import combinations

import numpy as np
import pytest

from dpcore.arrays import Floats
from dpcore.models.summaries.released.estimates import Estimates, Measured
from dpcore.models.summaries.released.posterior_tables import chosen, posterior_column, posterior_pair, raked
from dpcore.models.summaries.released.summary_parameters import axes_of
from tests.support.rows import for_each
from tests.support.tables.small_tables import ward


def column(counts, deviation: float, seed: int = 0) -> Estimates:
    counts = np.asarray(counts, dtype=float)
    noisy = counts + np.random.default_rng(seed).normal(0, deviation, counts.shape)
    return Estimates(counts.shape, [Measured(tuple(range(counts.ndim)), noisy, deviation)], gaussian=True)


def test_cells_without_a_value_are_in_no_order():
    months = [f"2024-{month:02}" for month in range(1, 13)]
    derived = {"part": "year-month", "of": "admitted", "earliest": "2024-01-01", "latest": "2024-12-31"}
    own = ward(
        {"name": "month", "type": "ordinal", "categories": months, "derive": derived},
        {"name": "age", "type": "integer", "lower": 0, "upper": 100, "bins": 5},
        {"name": "sex", "type": "categorical", "categories": ["f", "m"]},
    )
    assert [axis.in_order(axis.size(own)) for axis in axes_of(own, None)] == [12, 5, 0]


@for_each("deviation", [1.0, 30.0, 1e4])
def test_a_column_keeps_its_total_and_has_no_negative_counts(deviation):
    own = column([400, 0, 0, 100], deviation)
    counts = posterior_column(own, 0)
    assert counts.min() >= 0
    assert counts.sum() == pytest.approx(max(own.total, 1.0))


def test_large_counts_are_as_precise_as_their_noise():
    exact = np.array([40_000, 8_000, 800, 60, 0, 0])
    away = [np.abs(posterior_column(column(exact, 10.0, seed), 0) - exact).mean() for seed in range(20)]
    assert np.mean(away) < 10


def test_in_wide_noise_a_column_is_nearer_than_what_is_cut_off():
    exact = np.array([600, 200, 100, 50, 30, 20, 0, 0, 0, 0, 0, 0])
    away = {"likely": 0.0, "cut": 0.0}
    for seed in range(30):
        own = column(exact, 120.0, seed)
        for name, told in (("likely", posterior_column(own, 0)), ("cut", own.consistent((0,)))):
            away[name] += np.abs(told / told.sum() - exact / exact.sum()).sum()
    assert away["likely"] < away["cut"]


def test_a_pair_is_followed_where_it_stands_out_and_is_independent_where_noise_explains_it():
    rows, columns = np.array([500.0, 500.0]), np.array([500.0, 500.0])
    clear = posterior_pair(column([[450, 50], [50, 450]], 5.0), (0, 1), rows, columns)
    np.testing.assert_allclose(clear.table, [[450, 50], [50, 450]], atol=20)
    hidden = [
        posterior_pair(column([[250, 250], [250, 250]], 200.0, seed), (0, 1), rows, columns) for seed in range(20)
    ]
    assert np.mean([np.abs(one.table - 250).mean() for one in hidden]) < 100
    assert sum(one.nats == 0 for one in hidden) >= 10


def smooth(cells: int = 20) -> Floats:
    """Counts of two numbers that rise together."""
    places = np.arange(cells) / (cells - 1)
    shares = 0.02 + np.exp(-8 * (places[:, None] - places) ** 2)
    return 20_000 * shares / shares.sum()


def told_of(noisy: Estimates, exact: Floats, in_order=(0, 0)) -> Floats:
    return posterior_pair(noisy, (0, 1), exact.sum(axis=1), exact.sum(axis=0), in_order).table


def structure(table: Floats) -> float:
    """How much the axes tell of each other, in nats."""
    shares = table / table.sum()
    alone = np.outer(shares.sum(axis=1), shares.sum(axis=0))
    held = shares > 0
    return float((shares[held] * np.log(shares[held] / alone[held])).sum())


def test_neighbours_in_an_order_help_each_other():
    exact, away = smooth(), {"in order": 0.0, "not": 0.0}
    for seed in range(10):
        noisy = column(exact, 60.0, seed)
        away["in order"] += np.abs(told_of(noisy, exact, (20, 20)) - exact).sum()
        away["not"] += np.abs(told_of(noisy, exact) - exact).sum()
    assert away["in order"] < 0.7 * away["not"]


def test_no_order_is_seen_where_there_is_none():
    """An order that is said but not there costs next to nothing."""
    exact = np.random.default_rng(5).gamma(0.5, 100.0, (12, 12))
    away = {"said": 0.0, "not": 0.0}
    for seed in range(10):
        noisy = column(exact, 20.0, seed)
        away["said"] += np.abs(told_of(noisy, exact, (12, 12)) - exact).sum()
        away["not"] += np.abs(told_of(noisy, exact) - exact).sum()
    assert away["said"] < 1.05 * away["not"]


def test_the_cell_of_missing_ones_is_no_neighbour():
    exact = smooth()
    exact[-1] = exact[:-1].sum(axis=0)[::-1] / 10  # Who is missing there has the least elsewhere.
    away = {"with it": 0.0, "without": 0.0}
    for seed in range(10):
        noisy = column(exact, 60.0, seed)
        away["with it"] += np.abs(told_of(noisy, exact, (20, 20)) - exact)[-2:].sum()
        away["without"] += np.abs(told_of(noisy, exact, (19, 20)) - exact)[-2:].sum()
    assert away["without"] < away["with it"]


def test_what_is_likely_is_nearer_to_the_true_table_and_has_less_structure_than_the_estimates():
    exact, found, away = smooth(), {"likely": [], "estimates": []}, {"likely": 0.0, "estimates": 0.0}
    for seed in range(10):
        noisy = column(exact, 60.0, seed)
        for name, table in (("likely", told_of(noisy, exact, (20, 20))), ("estimates", noisy.consistent((0, 1)))):
            found[name].append(structure(table))
            away[name] += np.abs(table - exact).sum()
    assert away["likely"] < away["estimates"]
    assert np.mean(found["likely"]) < structure(exact) < np.mean(found["estimates"])


def test_weights_follow_a_circle_of_pairs_that_no_forest_can():
    """Three columns, each pair of them alike in 80 of 100 records."""
    draw = np.random.default_rng(0)
    codes = {axis: draw.integers(0, 2, 20_000) for axis in range(3)}
    wanted = np.array([[0.4, 0.1], [0.1, 0.4]])
    weights = raked(codes, dict.fromkeys(combinations(range(3), 2), 1000 * wanted))
    assert weights.mean() == pytest.approx(1)
    places = chosen(weights, 5000, draw)
    for first, second in combinations(range(3), 2):
        found = np.zeros((2, 2))
        np.add.at(found, (codes[first][places], codes[second][places]), 1 / 5000)
        np.testing.assert_allclose(found, wanted, atol=0.01)


@for_each(
    ("counts", "in_order"),
    [([[0, 0], [0, 0]], (0, 0)), ([[7.0]], (1, 1)), ([[500, 0, 0]], (1, 2)), ([[1e7, 0], [0, 0], [0, 3]], (3, 2))],
)
@for_each("deviation", [1e-6, 1.0, 1e6])
def test_however_few_cells_or_people_tables_have_numbers(counts, in_order, deviation) -> None:
    counts = np.asarray(counts, dtype=float)
    generator = np.random.default_rng(3)
    measured = [
        Measured(axes, table + generator.normal(0, deviation, table.shape), deviation)
        for axes, table in (((0,), counts.sum(axis=1)), ((1,), counts.sum(axis=0)), ((0, 1), counts))
    ]
    own = Estimates(counts.shape, measured, gaussian=True)
    found = posterior_pair(own, (0, 1), posterior_column(own, 0), posterior_column(own, 1), in_order)
    assert np.isfinite(found.table).all()
    assert found.table.min() >= 0
    assert 0 <= found.nats < np.inf
