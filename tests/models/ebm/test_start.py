"""What boosting starts from: read off noisy histograms, sane whatever the noise."""

import math

import numpy as np
import pytest

from dpcore.models.ebm.learning.start import SIZE_EDGES, BoostingStart, narrow, start_classes, start_numbers, total_rows
from tests.oracles import ebm_oracle as oracle
from tests.support.rows import for_each

CELLS = 128
ROWS = 10_000.0


def spread_over(mean, spread, rows=ROWS):
    """Histogram of a normal variable over [0, 1]."""
    middles = (np.arange(CELLS) + 0.5) / CELLS
    weights = np.exp(-((middles - mean) ** 2) / (2 * spread**2))
    return rows * weights / weights.sum()


def sizes_of(residuals):
    labels = np.rint(np.asarray(residuals) * oracle.NUMBER_STEPS)
    return np.array(oracle.size_groups(labels, np.zeros(len(labels)), SIZE_EDGES), dtype=float)


def test_two_classes_start_from_log_odds():
    start = start_classes(np.array([750.0, 250.0]), 1.0, 1000.0)
    assert start.intercept.tolist() == pytest.approx([math.log(1 / 3)])
    assert start.curvature.tolist() == pytest.approx([0.25 * 0.75])
    assert (start.unit, start.clip, start.rows) == (1.0, 1.0, 1000.0)


def test_several_classes_start_from_log_shares():
    start = start_classes(np.array([500.0, 300.0, 200.0]), 1.0, 1000.0)
    np.testing.assert_allclose(np.exp(start.intercept), [0.5, 0.3, 0.2])
    np.testing.assert_allclose(start.curvature, [0.25, 0.21, 0.16])


@for_each("classes", [2, 3, 50])
def test_classes_start_sanely_from_noise(classes):
    for seed in range(200):
        draw = np.random.default_rng(seed)
        counts = draw.normal(0, 10.0 ** draw.integers(0, 9), classes)
        start = start_classes(counts, 1.0, 10.0)
        assert np.all(np.isfinite(start.intercept))
        assert np.abs(start.intercept).max() <= 25
        assert np.all(start.curvature > 0)
        assert np.all(start.curvature <= 0.25)


def test_numbers_start_from_mean_and_spread():
    start = start_numbers(spread_over(0.3, 0.05), 1.0, ROWS)
    assert start.intercept[0] == pytest.approx(0.3, abs=0.005)
    assert start.unit == pytest.approx(0.05, rel=0.05)
    assert start.clip == pytest.approx(2.576 * 0.05, rel=0.1)
    assert start.variance[0] == pytest.approx(start.unit**2)
    assert start.curvature.tolist() == [1.0]


def test_a_few_outliers_do_not_widen_the_clip():
    counts = spread_over(0.3, 0.02)
    counts[-1] += 0.005 * ROWS
    assert start_numbers(counts, 1.0, ROWS).clip < 0.1
    counts[-1] += 0.05 * ROWS
    assert start_numbers(counts, 1.0, ROWS).clip > 0.6


def test_everybody_alike_is_clipped_within_one_cell():
    counts = np.zeros(CELLS)
    counts[40] = ROWS
    start = start_numbers(counts, 1.0, ROWS)
    assert 1 / (2 * CELLS) <= start.clip <= 1 / CELLS
    assert 0 < start.unit < 1 / CELLS


def test_numbers_start_sanely_from_noise():
    for seed in range(200):
        draw = np.random.default_rng(seed)
        deviation = 10.0 ** draw.integers(0, 9)
        start = start_numbers(draw.normal(0, deviation, CELLS), deviation, 10.0)
        assert 0 <= start.intercept[0] <= 1
        assert 1 / (2 * CELLS) <= start.clip <= 1
        assert 0 < start.unit <= 0.6
        assert np.all(np.isfinite(start.variance))


def test_rows_are_known_from_all_histograms_and_stay_within_public_limits():
    histograms = [np.full(4, 25.0), np.full(200, 0.5)]
    assert total_rows(histograms, 1.0, 1000) == pytest.approx(100)
    assert total_rows([np.full(4, 1e9)], 1.0, 1000) == 1000
    assert total_rows([np.full(4, -1e9)], 1.0, 1000) == 10
    assert total_rows([np.full(4, -1e9)], 50.0, 1000) == 25
    assert total_rows([np.full(4, -1e9)], 1e9, 3) == 10


def test_shorter_histograms_weigh_more():
    """Their totals carry less noise."""
    draw, deviation, errors = np.random.default_rng(1), 10.0, []
    for _ in range(300):
        noisy = [np.full(n, 300 / n) + draw.normal(0, deviation, n) for n in (3, 240)]
        errors.append([total_rows(noisy, deviation, 1000) - 300, noisy[1].sum() - 300])
    joint, longer = np.std(errors, axis=0)
    assert joint < longer / 3


def wide(rows=ROWS):
    return BoostingStart(np.array([0.5]), np.ones(1), 0.2, 0.7, np.array([0.04]), rows, 0.02)


def test_small_residuals_narrow_the_clip_and_the_variance():
    residuals = np.abs(np.random.default_rng(2).normal(0, 0.02, int(ROWS)))
    after = narrow(wide(), sizes_of(residuals), 1.0)
    beyond = np.quantile(residuals, 0.99)
    assert beyond / 1.3 <= after.clip <= beyond * 1.3
    assert after.variance[0] == pytest.approx(0.0004, rel=0.15)
    assert (after.intercept, after.unit, after.rows) == (wide().intercept, 0.2, ROWS)


def test_narrowing_never_widens():
    large = sizes_of(np.full(int(ROWS), 0.9))
    assert narrow(wide(), large, 1.0).clip == 0.7
    assert narrow(wide(), large, 1.0).variance[0] == 0.04
    for seed in range(200):
        draw = np.random.default_rng(seed)
        deviation = 10.0 ** draw.integers(0, 6)
        after = narrow(wide(), draw.normal(0, deviation, len(SIZE_EDGES)), deviation)
        assert SIZE_EDGES[0] <= after.clip <= 0.7
        assert 0 < after.variance[0] <= 0.04
