"""Best estimates of tables: what least squares gives, without bias, as noisy as they say, agreeing with each other."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from dpcore.models.summaries.released.estimates import Estimates, Measured
from dpcore.models.summaries.released.intervals import intervals
from dpcore.privacy.randomness import public_generator
from dpcore.released.noisy_counts import nearest

SIZES = (2, 3, 4)
TABLES = [(0,), (2,), (0, 1), (1, 2)]


def true_tables(seed: int = 0, rows: int = 500):
    draw = np.random.default_rng(seed)
    codes = [draw.integers(0, size, rows) for size in SIZES]
    codes[1] = np.where(draw.random(rows) < 0.7, codes[0], codes[1])

    def table(axes):
        counts = np.zeros([SIZES[axis] for axis in axes])
        np.add.at(counts, tuple(codes[axis] for axis in axes), 1)
        return counts

    return table


def noisy(table, draw, deviations, law="normal"):
    return [
        Measured(
            axes,
            table(axes)
            + (draw.normal if law == "normal" else draw.laplace)(
                0, deviations[axes] / (1 if law == "normal" else 2**0.5), table(axes).shape
            ),
            deviations[axes],
        )
        for axes in TABLES
    ]


def by_least_squares(measured, axes):
    """Least squares over the whole joint table, solved as a linear system."""
    cells = np.indices(SIZES).reshape(3, -1)

    def rows_of(which):
        shape = [SIZES[axis] for axis in which]
        places = np.ravel_multi_index([cells[axis] for axis in which], shape)
        return (np.arange(int(np.prod(shape)))[:, None] == places[None, :]).astype(float)

    design = np.concatenate([rows_of(own.axes) / own.deviation for own in measured])
    told = np.concatenate([own.counts.ravel() / own.deviation for own in measured])
    joint = np.linalg.lstsq(design, told, rcond=None)[0]
    spread = rows_of(axes) @ np.linalg.pinv(design.T @ design) @ rows_of(axes).T
    return (rows_of(axes) @ joint).reshape([SIZES[axis] for axis in axes]), np.sqrt(np.diag(spread))


@settings(max_examples=25, deadline=None)
@given(seed=st.integers(0, 10**6), scale=st.lists(st.floats(0.5, 50), min_size=4, max_size=4))
def test_they_are_what_least_squares_gives(seed, scale):
    deviations = dict(zip(TABLES, scale, strict=True))
    measured = noisy(true_tables(seed), np.random.default_rng(seed), deviations)
    estimates = Estimates(SIZES, measured, gaussian=True)
    for axes in [(0,), (1,), (2,), (0, 1), (1, 2)]:
        table, spread = by_least_squares(measured, axes)
        np.testing.assert_allclose(estimates.table(axes), table, atol=1e-6)
        np.testing.assert_allclose(spread, estimates.deviation(axes), rtol=1e-6)


def test_all_tables_agree_on_every_margin():
    measured = noisy(true_tables(), np.random.default_rng(1), dict.fromkeys(TABLES, 9.0))
    estimates = Estimates(SIZES, measured, gaussian=True)
    np.testing.assert_allclose(estimates.table((0, 1)).sum(axis=0), estimates.table((1,)))
    np.testing.assert_allclose(estimates.table((1, 2)).sum(axis=1), estimates.table((1,)))
    assert estimates.table((2,)).sum() == pytest.approx(estimates.total)
    assert (0, 2) not in estimates
    assert (0, 1) in estimates
    single = estimates.consistent((1,))
    assert single.min() >= 0
    both = estimates.consistent((0, 1))
    assert both.min() >= 0
    np.testing.assert_allclose(both.sum(axis=0), single, atol=0.5)


@pytest.mark.parametrize("law", ["normal", "geometric"])
def test_intervals_hold_as_often_as_they_say(law):
    """Also of counts that are 0 and of cells that hold everybody, before and after tables agree."""
    draw = np.random.default_rng(3)
    sizes, rows = (3, 8), 900
    codes = [np.zeros(rows, dtype=int), draw.choice(8, rows, p=[0.6, 0.3, 0.1, 0, 0, 0, 0, 0])]
    tables = [(0,), (1,), (0, 1)]
    truth = {}
    for axes in tables:
        truth[axes] = np.zeros([sizes[axis] for axis in axes])
        np.add.at(truth[axes], tuple(codes[axis] for axis in axes), 1)
    held, zeros = [], []
    for _ in range(1500):
        measured = []
        for axes in tables:
            noise = draw.normal(0, 12, truth[axes].shape) if law == "normal" else draw.laplace(0, 8, truth[axes].shape)
            measured.append(Measured(axes, truth[axes] + noise, 12.0 if law == "normal" else 8 * 2**0.5))
        estimates = Estimates(sizes, measured, gaussian=law == "normal")
        for axes in tables:
            low, high = intervals(estimates.table(axes), estimates.deviation(axes), gaussian=law == "normal")
            inside = (low <= truth[axes] + 1e-9) & (truth[axes] <= high + 1e-9)
            held += inside[truth[axes] > 0].tolist()
            zeros += inside[truth[axes] == 0].tolist()
    assert 0.935 < np.mean(held) < 0.968
    assert 0.935 < np.mean(zeros) < 0.968


def test_intervals_are_never_empty_nor_negative():
    counts = np.linspace(-100, 200, 601)
    low, high = intervals(counts, 10.0, gaussian=True)
    assert (low >= 0).all()
    assert (high > low).all()
    assert (np.diff(low) >= -1e-9).all()
    assert (np.diff(high) >= -1e-9).all()
    np.testing.assert_allclose(high[counts > 60], counts[counts > 60] + 19.6, rtol=1e-3)


@given(counts=st.lists(st.floats(-100, 1000), min_size=1, max_size=20), total=st.floats(0, 2000))
def test_the_nearest_counts_have_the_total_and_are_not_negative(counts, total):
    found = nearest(np.array(counts), total)
    assert found.min() >= 0
    assert found.sum() == pytest.approx(total, abs=1e-6)


def test_redrawn_estimates_vary_as_noise_does():
    deviations = dict.fromkeys(TABLES, 20.0)
    estimates = Estimates(SIZES, noisy(true_tables(), np.random.default_rng(1), deviations), gaussian=True)
    again = estimates.redrawn(public_generator(2), 600).table((0,))
    assert again.shape == (600, 2)
    np.testing.assert_allclose(again.mean(axis=0), estimates.table((0,)), atol=3)
    np.testing.assert_allclose(again.std(axis=0), estimates.deviation((0,)), rtol=0.12)
