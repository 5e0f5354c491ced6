"""One step: a noisy Newton step under a prior, or a tree with random splits."""

import numpy as np
import pytest

from dpcore.models.ebm.learning.kernels import RESIDUAL_STEPS
from dpcore.models.ebm.learning.start import BoostingStart
from dpcore.models.ebm.learning.steps import AllBins, Feature, RandomSplits
from dpcore.privacy.mechanisms import FineGaussian
from dpcore.privacy.randomness import SeededRandom
from tests.oracles import ebm_oracle as oracle
from tests.support.ebm_cases import Quiet, watched

COUNTS = np.array([400.0, 30.0, 5.0, 200.0, 0.1])
MECHANISM = FineGaussian(RESIDUAL_STEPS, 0.05)
QUERIES = 60


def start_of(outputs=1, clip=1.0):
    share = np.linspace(0.2, 0.4, outputs)
    return BoostingStart(np.log(share), share * (1 - share), 1.0, clip, share * (1 - share), COUNTS.sum())


def all_bins(start, ordered, rate=0.5):
    return AllBins([Feature(COUNTS, ordered)], start, MECHANISM, rate, QUERIES)


@pytest.mark.parametrize("outputs", [1, 3])
@pytest.mark.parametrize("ordered", [0, 4, 5])
@pytest.mark.parametrize("clip", [1.0, 0.05])
def test_a_step_without_noise_is_the_newton_step_of_the_oracle(outputs, ordered, clip):
    draw = np.random.default_rng(4)
    start = start_of(outputs, clip)
    sums = (draw.normal(size=(5, outputs)) * COUNTS[:, None] * RESIDUAL_STEPS).astype(np.int64)
    shape = draw.normal(size=(5, outputs))
    change = all_bins(start, ordered).change(0, sums, shape, Quiet(0))
    for output in range(outputs):
        expected = oracle.newton_step(
            sums[:, output] / RESIDUAL_STEPS * clip,
            COUNTS,
            ordered,
            curvature=start.curvature[output],
            variance=start.variance[output],
            unit=1.0,
            noise=(MECHANISM.scale / RESIDUAL_STEPS * clip) ** 2 / QUERIES,
            present_shape=shape[:, output],
        )
        np.testing.assert_allclose(change[:, output], 0.5 * expected, rtol=1e-9, atol=1e-12)


def test_a_bin_without_records_stays_with_its_neighbours():
    """The last of five ordered bins is empty; where order means nothing it stays at 0."""
    sums = (np.array([[100.0], [8.0], [1.0], [60.0], [0.0]]) * RESIDUAL_STEPS).astype(np.int64)
    tied = all_bins(start_of(), 5).change(0, sums, np.zeros((5, 1)), Quiet(0))[:, 0]
    free = all_bins(start_of(), 0).change(0, sums, np.zeros((5, 1)), Quiet(0))[:, 0]
    assert tied[4] > 0.5 * tied[3] > 0
    assert abs(free[4]) < 1e-6


def test_noise_of_a_step_is_small_however_few_the_records():
    """Bins of hardly any record: sums of noise alone must not make large scores."""
    feature = Feature(np.full(8, 0.5), 8)
    step = AllBins([feature], start_of(), FineGaussian(RESIDUAL_STEPS, 1e-3), 0.5, 60)
    source = SeededRandom(1)
    changes = [step.change(0, np.zeros((8, 1), dtype=np.int64), np.zeros((8, 1)), source) for _ in range(50)]
    assert np.abs(changes).max() < 0.5


def test_every_release_of_a_step_goes_through_its_mechanism():
    sums = np.arange(10, dtype=np.int64).reshape(5, 2) * RESIDUAL_STEPS
    splits = RandomSplits([Feature(COUNTS, 5)], start_of(2), MECHANISM, 0.01, 3, 300)
    for step, shape in ((all_bins(start_of(2), 5), (5, 2)), (splits, (3, 2))):
        with watched() as answers:
            step.change(0, sums, np.zeros((5, 2)), SeededRandom(2))
        assert [(mechanism, exact.shape) for mechanism, exact, _ in answers] == [(MECHANISM, shape)]
        assert answers[0][1].sum() == sums.sum()


@pytest.mark.parametrize("leaves", [2, 3, 5, 16])
def test_random_splits_agree_with_the_paper(leaves):
    """A leaf is a run of bins; it moves by rate x sum / count (Nori et al. 2021, Algorithm 1)."""
    sums = (np.array([[7.0], [-3.0], [2.0], [0.5], [1.0]]) * RESIDUAL_STEPS).astype(np.int64)
    step = RandomSplits([Feature(COUNTS, 0)], start_of(clip=0.3), MECHANISM, 0.01, leaves, 300)
    seen = set()
    for seed in range(40):
        moves = step.change(0, sums, np.ones((5, 1)), Quiet(seed))[:, 0]
        firsts = [0, *(i for i in range(1, 5) if moves[i] != moves[i - 1])]
        assert len(firsts) == min(leaves, 5)
        seen.add(tuple(firsts))
        for first, end in zip(firsts, [*firsts[1:], 5], strict=True):
            share = sums[first:end].sum() / RESIDUAL_STEPS * 0.3 / COUNTS[first:end].sum()
            np.testing.assert_allclose(moves[first:end], 0.01 * share)
    assert len(seen) == {2: 4, 3: 6}.get(leaves, 1), "every cut comes up"
