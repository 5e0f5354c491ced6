"""How large and how smooth a shape is, learned from what is known of it."""

from __future__ import annotations

import numpy as np
import pytest

from dpcore.models.ebm.learning.steps import Prior, Runs, best_runs, distances, monotone, possible_runs
from tests.support.rows import for_each


def test_distances_by_hand():
    apart = distances(4, 2)
    assert apart[0, 1] == 0.5
    assert np.isinf(apart[2:, :2]).all()
    assert np.isinf(apart[2, 3])
    assert not apart.diagonal().any()


def learned(shape, precision=400.0, ordered=None):
    prior = Prior(distances(len(shape), len(shape) if ordered is None else ordered), 1.0, 0.1)
    known = np.eye(len(shape)) * precision
    prior.learn(known[None], (known @ shape)[None])
    return prior, known


def test_large_shapes_are_held_less_than_small_ones():
    draw = np.random.default_rng(1)
    loose, tight = (
        [np.diag(learned(size * draw.normal(size=20))[0].covariance(np.zeros((20, 20)))).mean()][0]
        for size in (2.0, 0.05)
    )
    assert loose > 20 * tight


def test_smooth_shapes_are_smoothed_and_rough_ones_are_not():
    steady, rough = np.linspace(-1, 1, 20), np.tile([-1.0, 1.0], 10)
    far = [learned(shape)[0].covariance(np.zeros((20, 20))) for shape in (steady, rough)]
    steady_tie, rough_tie = (own[9, 10] / own[9, 9] for own in far)
    assert steady_tie > 0.8
    assert rough_tie < 0.5


@pytest.mark.parametrize("ordered", [0, 6])
def test_the_posterior_is_no_wider_than_prior_and_likelihood(ordered):
    prior, known = learned(np.arange(6.0) / 6, 25.0, ordered)
    assert np.linalg.eigvalsh(prior.covariance(known)).max() <= 1 / 25 + 1e-12
    assert np.linalg.eigvalsh(prior.covariance(np.zeros((6, 6))) - prior.covariance(known)).min() >= -1e-9


def test_by_hand():
    shapes = np.array([0.0, 3.0, 1.0, 5.0, -9.0])[None, :, None]
    weights = np.array([1.0, 1.0, 3.0, 1.0, 1.0])
    assert monotone(shapes, weights, 4, 1)[0, :, 0].tolist() == [0.0, 1.5, 1.5, 5.0, -9.0]
    assert monotone(shapes, weights, 4, -1)[0, :3, 0].tolist() == pytest.approx([11 / 6] * 3)
    assert monotone(shapes, weights, 4, 0) is shapes


def test_what_is_monotone_stays():
    rising = np.sort(np.random.default_rng(0).normal(size=(3, 8, 1)), axis=1)
    np.testing.assert_allclose(monotone(rising, np.ones(8), 8, 1), rising)


MASS = np.array([9.0, 1.0, 4.0, 4.0, 2.0, 7.0, 3.0, 2.0, 0.5])


@for_each("ordered", [0, 2, 8])
@for_each("whole", [True, False])
def test_every_bin_is_in_one_run_of_neighbours_and_what_has_no_order_is_alone(ordered, whole):
    for turn in range(20):
        ways = possible_runs(MASS, ordered, turn, whole=whole)
        assert len(ways) == 1 + whole + (2 if ordered == 8 else 0)
        for way in ways:
            assert np.array_equal(way.matrix.sum(axis=0), np.ones(9))
            assert set(np.diff(way.of_bins)) <= {0, 1}
            assert len(way) == 1 or (np.diff(way.of_bins)[max(ordered, 1) - 1 :] == 1).all()


def test_sums_of_runs_by_hand():
    values = np.arange(12).reshape(2, 3, 2)
    assert Runs(np.array([0, 0, 1])).sums(values).tolist() == [[[2, 4], [4, 5]], [[14, 16], [10, 11]]]


def test_one_row_is_in_one_run_of_every_replicate():
    """The most that a row moves: Lemma 2."""
    for way in possible_runs(MASS, 8, 3, whole=True):
        for place in range(9):
            moved = np.zeros((4, 9, 1), dtype=np.int64)
            moved[:, place] = 100
            assert np.linalg.norm(way.sums(moved)) == 2 * 100


def test_much_noise_asks_for_long_runs_and_little_noise_for_every_bin():
    prior, hessian = Prior(distances(9, 8), 1.0, 0.1), 10 * MASS
    covariance = prior.covariance(np.zeros((9, 9)))[None]
    ways, noises = possible_runs(MASS, 8, 0, whole=False), (1e-6, 1e2, 1e8)
    sizes = [len(best_runs(ways, covariance, hessian[None], noise, centred=True)) for noise in noises]
    assert sizes[0] == 9
    assert sizes == sorted(sizes, reverse=True)
    assert sizes[-1] == 3, "halves, and the missing bin"
