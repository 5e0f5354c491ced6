"""How large and how smooth a shape is, learned from what is known of it."""

import numpy as np
import pytest

from dpcore.models.ebm.learning.smoothing import Prior, distances


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
