"""RMSE from noisy counts of errors."""

from __future__ import annotations

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from dpcore.models.ebm.learning.holdout import count_errors
from dpcore.numerals import measured
from dpcore.privacy.randomness import SeededRandom
from dpcore.released import regression_evaluation
from dpcore.released.evaluation import Figure
from dpcore.released.regression_evaluation import (
    RegressionEvaluation,
    error_edges,
    error_told,
    evaluate_errors,
    noise_told,
    smooth_tail,
)
from tests.support.rows import for_each

DRAWS = {
    "normal": lambda source, n: source.normal(size=n),
    "laplace": lambda source, n: source.laplace(size=n) / math.sqrt(2),
    "skewed": lambda source, n: source.exponential(size=n) - 1,
    "heavy tails": lambda source, n: source.standard_t(4, size=n) / math.sqrt(2),
    "uniform": lambda source, n: source.uniform(-1, 1, n) * math.sqrt(3),
    "two groups": lambda source, n: source.choice([-1, 1], n) + 0.2 * source.normal(size=n),
}


def errors_of(kind: str, rows: int, ratio: float, seed: int = 0) -> np.ndarray:
    """Errors with standard deviation 1 of a target with range ``ratio``."""
    drawn = DRAWS[kind](np.random.default_rng(seed), rows)
    return np.clip(drawn, -ratio, ratio)


def rmse(errors: np.ndarray) -> float:
    return float(np.sqrt(np.mean(errors**2)))


def evaluated(errors, constant, ratio, epsilon, seed=0, rows=1) -> RegressionEvaluation:
    edges, noise = error_edges((0, ratio)), SeededRandom(seed)
    noisy = [
        count_errors(one, edges) + noise.geometric_noise(1 / epsilon, len(edges) - 1) for one in (errors, constant)
    ]
    return evaluate_errors(edges, *noisy, 1 / epsilon, 3, rows)


def test_edges_depend_on_the_range_alone():
    edges = error_edges((-5, 15))
    assert edges[0] == 0
    assert edges[-1] == 20
    assert np.all(np.diff(edges) > 0)
    assert np.allclose(edges[2:] / edges[1:-1], 2**0.25)
    assert edges[1] < 20 / 100_000


@given(st.lists(st.floats(0, 7), max_size=60))
def test_a_record_is_in_exactly_one_group(values):
    edges = error_edges((0, 7))
    errors = np.array([*values, math.nan])
    counts = count_errors(errors, edges)
    assert counts.sum() == len(values)
    expected = np.histogram(values, edges)[0]  # its last group holds its upper end too
    assert counts.tolist() == expected.tolist()
    assert count_errors(-errors, edges).tolist() == counts.tolist()
    more = count_errors(np.append(errors, 3.0), edges)
    assert np.abs(more - counts).sum() == 1


@pytest.mark.crossed
@pytest.mark.parametrize("kind", DRAWS)
@pytest.mark.parametrize("ratio", [4, 8, 20])
def test_rmse_without_noise_is_within_two_percent(kind, ratio):
    errors = errors_of(kind, 10_000, ratio)
    result = evaluated(errors, errors * 2, ratio, 1000.0)
    assert result.rmse.value == pytest.approx(rmse(errors), rel=0.02)
    assert result.rmse.noise_margin < 0.001
    # Half of a 95 % interval of the exact RMSE, by the delta method.
    exact = 1.96 * np.std(errors**2) / math.sqrt(10_000) / (2 * rmse(errors))
    assert result.rmse.sampling_margin == pytest.approx(exact, rel=0.15)


@pytest.mark.crossed
@pytest.mark.parametrize("kind", DRAWS)
@pytest.mark.parametrize("ratio", [4, 20])
@pytest.mark.parametrize(("rows", "epsilon"), [(200, 4.0), (1000, 1.0), (10_000, 0.1)])
def test_noise_does_not_blow_up_the_rmse(kind, ratio, rows, epsilon, monkeypatch):
    """A unit of noise in the last group counts as much as ``ratio`` squared usual records."""
    monkeypatch.setattr(regression_evaluation, "REDRAWS", 2)  # The margin is not looked at.
    off = []
    for seed in range(30):
        errors = errors_of(kind, rows, ratio, seed)
        figure = evaluated(errors, errors, ratio, epsilon, seed).rmse
        if figure is not None:
            off.append(figure.value / rmse(errors) - 1)
    assert len(off) >= 24
    assert np.sqrt(np.mean(np.square(off))) < 0.13
    assert abs(np.median(off)) < 0.06


def test_without_smoothing_noise_would_blow_it_up():
    """Positive control of the test above."""
    edges, off = error_edges((0, 20)), []
    squares = edges[:-1] * edges[1:]
    for seed in range(30):
        errors = errors_of("normal", 1000, 20, seed)
        noise = SeededRandom(seed).geometric_noise(1.0, len(edges) - 1)
        counts = count_errors(errors, edges) + noise
        off.append(squares @ counts / counts.sum() - 1)
    assert np.sqrt(np.mean(np.square(off))) > 0.3


@pytest.mark.parametrize("ratio", [4, 20])
def test_noise_margin_covers_the_noise(ratio, monkeypatch):
    inside = []
    for seed in range(60):
        errors = errors_of("normal", 1000, ratio, seed)
        monkeypatch.setattr(regression_evaluation, "REDRAWS", 50)
        figure = evaluated(errors, errors, ratio, 0.5, seed).rmse
        monkeypatch.setattr(regression_evaluation, "REDRAWS", 2)  # The margin is not looked at.
        without = evaluated(errors, errors, ratio, 1000.0).rmse
        if figure is not None:
            inside.append(abs(figure.value - without.value) <= figure.noise_margin)
    assert len(inside) >= 50
    assert np.mean(inside) > 0.75  # 95 % would fall below 0.75 with probability under 1e-6


def skewed_errors(rows: int, ratio: float, seed: int) -> np.ndarray:
    """Errors of a constant for log-normal costs with the median 1, in bounds from 0 to ``ratio``."""
    costs = np.exp(np.random.default_rng(seed).normal(size=rows))
    return np.minimum(costs, ratio) - math.exp(0.5)


@for_each("ratio", [30, 1500])
@for_each(("rows", "epsilon"), [(200, 1.0), (200, 0.5), (1000, 0.5), (4000, 0.25)])
def test_what_noise_hides_in_a_tail_is_in_the_interval(rows, epsilon, ratio):
    """A few people have most of the squares: their errors must not be taken for noise, nor for surely nobody's."""
    held = []
    for seed in range(100):
        errors = skewed_errors(rows, ratio, seed)
        figure = evaluated(errors, errors, ratio, epsilon, seed).rmse
        if figure is not None:
            held.append(figure.value - figure.noise_margin <= rmse(errors) <= figure.value + figure.above)
    assert len(held) >= 80 if rows * epsilon > 100 else len(held) >= 20
    assert np.mean(held) >= 0.93


def test_errors_below_the_first_group_are_told_as_below_something():
    errors = np.full(4000, 1e-7)
    figure = evaluated(errors, errors, 1, 1000.0).rmse
    assert error_told(figure) == f"below {measured(float(error_edges((0, 1))[1]))}"
    noisy = evaluated(errors, errors, 1, 1.0).rmse
    assert noisy is None or (error_told(noisy).startswith("below") and noisy.value > figure.value)
    zeros = np.append(np.zeros(3000), errors_of("normal", 1000, 8))
    known = evaluated(zeros, zeros, 8, 4.0).rmse
    assert known.value == pytest.approx(0.5, rel=0.1)
    assert known.noise_margin < 0.1


def test_errors_are_told_with_what_noise_leaves_of_them():
    close = Figure(value=6.2, noise_margin=0.3, sampling_margin=0.5, noise_above=0.9)
    assert (error_told(close, "years"), noise_told(close)) == ("6.2 years", "5.9 to 7.1")
    far = close.model_copy(update={"noise_above": 40.0})
    assert (error_told(far, "years"), noise_told(far)) == ("at least 5.9 years", "5.9 to 46.2")
    below = Figure(value=6.2, noise_margin=6.2, sampling_margin=0.5, noise_above=0.0)
    assert (error_told(below), noise_told(below)) == ("below 6.2", "0 to 6.2")


@for_each(("rows", "epsilon"), [(0, 1.0), (40, 0.05), (200, 0.02)])
def test_no_figure_if_noise_drowns_the_counts(rows, epsilon):
    for seed in range(20):
        errors = errors_of("normal", rows, 8, seed)
        result = evaluated(errors, errors, 8, epsilon, seed)
        assert result.rmse is None
        assert len(result.noisy_errors) == len(result.error_edges) - 1


@for_each("rows", range(1, 8))
def test_a_handful_of_people_tells_nothing_or_how_little_it_tells(rows):
    """However alike their errors are: of five people in one group nothing else differs."""
    figure = evaluated(np.full(rows, 1.1), np.full(rows, 1.1), 4, 1000.0).rmse
    assert (figure is None) == (rows < 5)
    assert figure is None or figure.sampling_margin > 0


@pytest.mark.parametrize(("kind", "margin"), [("normal", 0.31), ("uniform", 0.20)])
def test_the_sampling_margin_of_few_people_is_that_of_their_squares(kind, margin, monkeypatch):
    """Twenty people: 1.96 deviations of the square of an error over 2 and the root of their number."""
    monkeypatch.setattr(regression_evaluation, "REDRAWS", 2)  # The margin of the noise is not looked at.
    figures = [evaluated(errors, errors, 4, 1000.0).rmse for errors in (errors_of(kind, 20, 4, i) for i in range(20))]
    assert np.mean([own.sampling_margin / own.value for own in figures]) == pytest.approx(margin, rel=0.2)


def test_a_person_with_several_rows_counts_as_one_where_chance_is_told(monkeypatch):
    """Five equal errors each: the margin is that of the people, and four people tell nothing."""
    monkeypatch.setattr(regression_evaluation, "REDRAWS", 2)  # The margin of the noise is not looked at.
    errors = errors_of("normal", 200, 4)
    alone = evaluated(errors, errors, 4, 1000.0).rmse
    all_alike = evaluated(np.repeat(errors, 5), errors, 4, 1000.0, rows=5).rmse
    assert all_alike.sampling_margin == pytest.approx(alone.sampling_margin, rel=0.01)
    assert evaluated(np.repeat(errors[:4], 5), errors, 4, 1000.0, rows=5).rmse is None


def test_hardly_any_noise_leaves_a_figure_in_most_cases():
    """At epsilon 4 a group has noise once in thirty times; that must not drown the figure."""
    for seed in range(10):
        errors = errors_of("normal", 400, 40, seed)
        figure = evaluated(errors, errors, 40, 4.0, seed).rmse
        assert figure.value == pytest.approx(rmse(errors), rel=0.2)
        assert figure.noise_margin < 0.2 * figure.value


def test_the_two_figures_are_those_of_the_model_and_of_the_constant():
    errors = errors_of("normal", 5000, 10)
    result = evaluated(errors, 3 * errors, 10, 2.0)
    assert result.rmse.value == pytest.approx(1, rel=0.1)
    assert result.constant_rmse.value == pytest.approx(rmse(np.clip(3 * errors, -10, 10)), rel=0.1)
    assert RegressionEvaluation.model_validate_json(result.model_dump_json()) == result


@given(st.lists(st.integers(-300, 3000), min_size=2, max_size=30), st.floats(0.1, 100))
def test_smoothing_changes_the_tail_only(counts, scale):
    noisy = np.array(counts)
    squares = 2.0 ** np.arange(len(noisy))
    smooth = smooth_tail(noisy, squares, scale)
    changed = np.flatnonzero(smooth != noisy)
    if len(changed):
        tail = smooth[changed[0] :] * squares[changed[0] :]
        assert np.all(tail >= 0)
        assert np.all(np.diff(tail) <= 1e-6 * tail.max())


def test_counts_that_stand_out_are_kept():
    noisy = np.array([500, 400, -3, 300, 2, -1, 2])
    smooth = smooth_tail(noisy, 2.0 ** np.arange(7), 0.7)
    assert smooth[:4].tolist() == [500, 400, -3, 300]
    assert np.all(smooth[4:] >= 0)
    assert smooth[4:].sum() < 3
