import numpy as np

from dpcore.models.summaries.released.intervals import Denominator, share_intervals
from tests.support.rows import for_each

PEOPLE, NOISE, DRAWS = 1000, 40.0, 20_000


def _held(shares, generator, *, gaussian=True, known=False):
    """How often intervals hold each share of noisy counts, of which the noisy sum is the whole."""
    exact = PEOPLE * np.asarray(shares)
    size = (DRAWS, len(shares))
    noise = generator.normal(0, NOISE, size) if gaussian else generator.laplace(0, NOISE / np.sqrt(2), size)
    counts = exact + noise
    whole = np.maximum(counts.sum(axis=1, keepdims=True), 1.0)
    variance = 0.0 if known else len(shares) * NOISE**2
    low, high = share_intervals(counts, NOISE**2, Denominator(whole, variance, len(shares)), gaussian=gaussian)
    assert ((low >= 0) & (low <= high) & (high <= 1)).all()
    return ((low <= np.asarray(shares) + 1e-9) & (np.asarray(shares) <= high + 1e-9)).mean(axis=0)


@for_each("gaussian", [True, False])
@for_each("shares", [(1.0, 0.0, 0.0, 0.0), (0.5, 0.3, 0.19, 0.01), (0.9, 0.1, 0.0)])
def test_every_share_is_held_as_often_as_is_said(shares, gaussian):
    # With 20,000 draws 95 % comes out within 0.8 points but once in a million times.
    held = _held(shares, np.random.default_rng(1), gaussian=gaussian)
    assert (held > 0.942).all()
    assert (held < 0.97).all()


def test_the_noise_on_the_whole_counts():
    held = _held((1.0, 0.0, 0.0, 0.0), np.random.default_rng(2), known=True)
    assert held[0] < 0.9


def test_of_what_may_be_nobody_every_share_is_possible():
    low, high = share_intervals(np.array([30.0, -5.0]), 400.0, Denominator(np.array(25.0), 800.0, 2), gaussian=True)
    assert (low == 0).all()
    assert (high == 1).all()
