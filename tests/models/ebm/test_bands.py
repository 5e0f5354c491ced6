"""Bands from few replicates: how often they hold, and how often nothing looks like something."""

import numpy as np
import pytest
from scipy.stats import binom

from dpcore.models.ebm.released.bands import Band
from dpcore.models.ebm.released.ebm_model import Term
from tests.oracles.mechanisms_oracle import FALSE_ALARM
from tests.support.results.small_ebm import small_ebm
from tests.support.rows import for_each

BINS = 12
WEIGHTS = np.linspace(1, 3, BINS) / np.linspace(1, 3, BINS).sum()


def replicates(draw, count, *, outputs=1, smooth=False, signal=0.0):
    """Replicates of a shape; ``smooth``: all bins move together, so that they tell one thing."""
    noise = draw.normal(size=(count, 1 if smooth else BINS, outputs)) * np.ones((1, BINS, 1))
    return noise + signal * np.linspace(-1, 1, BINS)[None, :, None]


@for_each("count", [3, 5, 10])
def test_bands_hold_in_95_percent_of_cases(count):
    draw, hits, bins = np.random.default_rng(count), 0, 0
    for _ in range(1000):
        band = Band.of(replicates(draw, count), WEIGHTS)
        hits += int((np.abs(band.mean) <= 1.96 * band.errors).sum())
        bins += BINS
    low, high = binom.ppf([FALSE_ALARM / 2, 1 - FALSE_ALARM / 2], bins, 0.95)
    assert low <= hits <= high


@pytest.mark.crossed
@pytest.mark.parametrize("count", [3, 5, 10])
@pytest.mark.parametrize("smooth", [True, False])
@pytest.mark.parametrize("outputs", [1, 3])
def test_nothing_seldom_looks_like_something(count, smooth, outputs):
    """P-values of noise are no smaller than they should be."""
    draw = np.random.default_rng(count)
    values = np.array(
        [Band.of(replicates(draw, count, outputs=outputs, smooth=smooth), WEIGHTS).p_value for _ in range(1000)]
    )
    for level in (0.01, 0.05, 0.2):
        assert (values < level).sum() <= binom.ppf(1 - FALSE_ALARM, 1000, level)


def test_something_looks_like_something():
    draw = np.random.default_rng(1)
    for smooth in (True, False):
        strong = [Band.of(replicates(draw, 5, smooth=smooth, signal=20.0), WEIGHTS).p_value for _ in range(50)]
        assert max(strong) < 0.01


def test_who_is_in_the_data_counts_as_noise_in_the_test_only():
    shapes = replicates(np.random.default_rng(2), 5, signal=5.0)
    plain = Band.of(shapes, WEIGHTS)
    unsure = Band.of(shapes, WEIGHTS, 25.0 * np.eye(BINS)[None])
    assert plain.p_value < 0.001 < 0.2 < unsure.p_value
    np.testing.assert_array_equal(plain.errors, unsure.errors)
    assert plain.size == unsure.size


def test_a_trend_is_seen_that_free_bins_hide():
    """A weak steady rise in rough noise: with the order of the bins known, it stands out more often."""
    draw, found = np.random.default_rng(5), {0: 0, BINS: 0}
    for _ in range(200):
        shapes = replicates(draw, 5, signal=1.0)
        shapes -= np.einsum("b,rbk->rk", WEIGHTS, shapes)[:, None, :]
        for ordered in found:
            found[ordered] += Band.of(shapes, WEIGHTS, ordered=ordered).p_value < 0.05
    assert found[BINS] > found[0] + 20


def test_noise_has_no_trend():
    draw = np.random.default_rng(6)
    values = np.array([Band.of(replicates(draw, 5), WEIGHTS, ordered=BINS).p_value for _ in range(1000)])
    assert (values < 0.05).sum() <= binom.ppf(1 - FALSE_ALARM, 1000, 0.05)


@pytest.mark.parametrize("ordered", [0, BINS])
def test_a_term_is_clear_if_it_is_beyond_its_threshold(ordered):
    draw = np.random.default_rng(7)
    clear = []
    for _ in range(200):
        band = Band.of(replicates(draw, 5, signal=1.5), WEIGHTS, np.eye(BINS)[None] / 9, ordered=ordered)
        importance = WEIGHTS @ np.abs(band.mean[:, 0])
        clear.append(band.p_value < 0.05)
        assert clear[-1] == (importance > band.threshold)
    assert 0 < sum(clear) < 200


def test_a_part_of_what_smoothing_hides_is_in_the_errors_only():
    shapes = replicates(np.random.default_rng(8), 5)
    plain, smooth = Band.of(shapes, WEIGHTS), Band.of(shapes, WEIGHTS, shrinkage=np.eye(BINS)[None])
    assert (smooth.errors > plain.errors).all()
    assert (smooth.p_value, smooth.threshold) == (plain.p_value, plain.threshold)
    level = Band.of(shapes, WEIGHTS, shrinkage=np.ones((1, BINS, BINS)))
    np.testing.assert_allclose(level.errors, plain.errors), "a level common to all bins is centred away"


def test_a_term_without_a_threshold_as_releases_had_them_is_marked_by_its_noise():
    known = small_ebm().terms[0]
    told = known.model_dump(mode="json")
    told.pop("threshold")
    old = Term.model_validate(told)
    model = small_ebm().model_copy(update={"terms": (old,)})
    assert model.mark(old) == old.noise_size
    known = old.model_copy(update={"threshold": 0.7})
    newer = model.model_copy(update={"terms": (known, old)})
    assert [newer.mark(one) for one in newer.terms] == [0.7, None], "nothing would do, and noise is no mark for it"


@pytest.mark.parametrize("smooth", [False, True])
def test_one_fit_whose_noise_is_known_has_a_band_that_holds_and_a_test_that_does_not_find_what_is_not_there(smooth):
    draw, step = np.random.default_rng(12), np.subtract.outer(np.arange(BINS), np.arange(BINS))
    covariance = 0.04 * (np.exp(-((step / 3.0) ** 2)) if smooth else np.eye(BINS))
    held, chances = [], []
    for _ in range(2000):
        scores = draw.multivariate_normal(np.zeros(BINS), covariance, method="svd")
        band = Band.of((scores - WEIGHTS @ scores)[None, :, None], WEIGHTS, ordered=BINS, noise=covariance)
        held.append(np.abs(band.mean) <= 1.96 * band.errors)
        chances.append(band.p_value)
    assert np.mean(held) == pytest.approx(0.95, abs=0.01)
    assert np.mean(np.array(chances) < 0.05) < 0.07
    strong = np.linspace(-2, 2, BINS)
    found = Band.of((strong - WEIGHTS @ strong)[None, :, None], WEIGHTS, ordered=BINS, noise=covariance)
    assert found.p_value < 1e-6
