"""One step: gathered noisy sums, smoothed as far as is known of a shape; or a tree with random splits."""

from __future__ import annotations

from itertools import pairwise

import numpy as np
import pytest

from dpcore.models.ebm.learning.kernels import RESIDUAL_STEPS
from dpcore.models.ebm.learning.random_splits import RandomSplits
from dpcore.models.ebm.learning.start import BoostingStart
from dpcore.models.ebm.learning.steps import (
    AllBins,
    Feature,
    Prior,
    Runs,
    best_runs,
    distances,
    monotone,
    possible_runs,
)
from dpcore.privacy.mechanisms import FineGaussian
from dpcore.privacy.randomness import SeededRandom
from tests.oracles import ebm_oracle as oracle
from tests.support.learning.ebm_cases import Quiet, watched
from tests.support.rows import for_each

COUNTS = np.array([400.0, 300.0, 250.0, 200.0, 90.0, 0.1])
MECHANISM = FineGaussian(RESIDUAL_STEPS, 0.02)
REPLICATES = 3


def start_of(outputs=1, clip=1.0):
    share = np.linspace(0.2, 0.4, outputs)
    return BoostingStart(np.log(share / (1 - share)), share * (1 - share), 1.0, clip, share * (1 - share), 1240.0, 0.1)


def feature(ordered=5, direction=0, counts=COUNTS):
    return Feature(counts, distances(len(counts), ordered), ordered, direction=direction)


def all_bins(start, own, rate=0.02, *, classes=True, mechanism=MECHANISM):
    return AllBins([own], start, mechanism, rate, REPLICATES, classes=classes)


def turned(step, sums, shapes, source):
    """The shapes of a single feature, after its turn."""
    (found,) = step.change([0], [sums], [shapes], source)
    return found


def sums_of(outputs=1, seed=4):
    draw = np.random.default_rng(seed)
    return (draw.normal(size=(REPLICATES, 6, outputs)) * COUNTS[:, None] * 0.1 * RESIDUAL_STEPS).astype(np.int64)


@for_each("ordered", [0, 5])
@for_each("clip", [1.0, 0.05])
@for_each("classes", [True, False])
def test_the_first_answers_give_the_posterior_means_of_the_oracle(ordered, clip, classes):
    start, sums, flat = start_of(1, clip), sums_of(), np.zeros((REPLICATES, 6, 1))
    with watched() as answers:
        found = turned(all_bins(start, feature(ordered), classes=classes), sums, flat, SeededRandom(1))
    ((_, exact, noisy),) = answers
    # Which runs were asked for shows in the exact sums.
    ends = np.flatnonzero(np.isin(np.cumsum(sums[0, :, 0]), np.cumsum(exact[0, :, 0])))
    runs = np.searchsorted(ends, np.arange(6))
    np.testing.assert_array_equal(exact[:, :, 0], [np.bincount(runs, own[:, 0]).astype(np.int64) for own in sums])
    hessian = start.curvature[0] * COUNTS
    expected = oracle.smoothed(
        noisy[:, :, 0] / RESIDUAL_STEPS * clip,
        COUNTS,
        ordered,
        runs=runs,
        hessian=hessian,
        sampling=start.variance[0] * COUNTS,
        noise=(MECHANISM.scale / RESIDUAL_STEPS * clip) ** 2,
        unit=1.0,
        doubt=0.1,
    )
    np.testing.assert_allclose(found[:, :, 0], expected, rtol=1e-6, atol=1e-9)


def gathered(step, truth, noisy, turns=8, seed=2):
    """A step that hears of a quadratic loss with its minimum at ``truth``; counts are the curvature."""
    shapes, source = np.zeros((REPLICATES, len(truth), 1)), SeededRandom(seed) if noisy else Quiet(seed)
    for _ in range(turns):
        lacking = COUNTS[:, None] * (truth[:, None] - shapes)
        shapes = turned(step, np.rint(lacking * RESIDUAL_STEPS).astype(np.int64), shapes, source)
    return shapes[:, :, 0]


def test_noise_is_smoothed_away_where_bins_are_in_order():
    """A steady rise under much noise: neighbours help where there are any."""
    truth, errors = np.array([-1.0, -0.5, 0.0, 0.5, 1.0, 0.0]), {5: [], 0: []}
    for ordered, found in errors.items():
        for seed in range(40):
            own, loud = feature(ordered), FineGaussian(RESIDUAL_STEPS, 0.01)
            mean = gathered(all_bins(start_of(), own, classes=False, mechanism=loud), truth, noisy=True, seed=seed)
            found.append(np.mean((mean.mean(axis=0) - truth)[:5] ** 2))
    assert np.mean(errors[5]) < 0.85 * np.mean(errors[0])


def test_a_bin_without_records_stays_with_its_neighbours():
    """The last of six ordered bins is empty; where order means nothing it stays at 0."""
    sums = np.tile(np.array([[10.0], [10.0], [9.0], [9.0], [5.0], [0.0]]) * 6, (REPLICATES, 1, 1))
    exact, flat = (sums * RESIDUAL_STEPS).astype(np.int64), np.zeros((REPLICATES, 6, 1))
    sharp = FineGaussian(RESIDUAL_STEPS, 1.0)
    tied = turned(all_bins(start_of(), feature(6), mechanism=sharp), exact, flat, Quiet(0))[0, :, 0]
    free = turned(all_bins(start_of(), feature(0), mechanism=sharp), exact, flat, Quiet(0))[0, :, 0]
    assert tied[5] > 0.5 * tied[4] > 0
    assert abs(free[5]) < 0.1 * free[4]


def test_noise_of_a_step_is_small_however_few_the_records():
    """Bins of hardly any record: sums of noise alone must not make large scores."""
    own = feature(8, counts=np.full(8, 0.5))
    source, flat = SeededRandom(1), np.zeros((REPLICATES, 8, 1))
    nothing = np.zeros((REPLICATES, 8, 1), dtype=np.int64)
    for _ in range(20):
        step = all_bins(start_of(), own, mechanism=FineGaussian(RESIDUAL_STEPS, 1e-3))
        assert np.abs(turned(step, nothing, flat, source)).max() < 0.5


@for_each("direction", [1, -1])
@for_each("classes", [True, False])
def test_a_shape_that_may_only_rise_never_falls(direction, classes):
    step, shapes, source = (
        all_bins(start_of(), feature(5, direction), classes=classes),
        np.zeros((3, 6, 1)),
        SeededRandom(3),
    )
    for turn in range(6):
        shapes = turned(step, sums_of(seed=turn), shapes, source)
        assert (direction * np.diff(shapes[:, :5, 0]) >= 0).all()
    free = turned(all_bins(start_of(), feature(5), classes=classes), sums_of(), np.zeros((3, 6, 1)), source)
    assert (direction * np.diff(free[:, :5, 0]) < 0).any(), "the control is not held"


@for_each("leaves", [2, 3, 5, 16])
def test_random_splits_agree_with_the_paper(leaves):
    """A leaf is a run of bins; it moves by rate x sum / count (Nori et al. 2021, Algorithm 1)."""
    one = np.array([[7.0], [-3.0], [2.0], [0.5], [1.0], [0.2]]) * RESIDUAL_STEPS
    sums = np.tile(one, (REPLICATES, 1, 1)).astype(np.int64)
    step = RandomSplits([feature(0)], start_of(clip=0.3), lambda _: MECHANISM, 0.01, leaves, 300)
    seen = set()
    for seed in range(40):
        for moves in turned(step, sums, np.ones((REPLICATES, 6, 1)), Quiet(seed))[:, :, 0] - 1:
            firsts = [0, *(i for i in range(1, 6) if not np.isclose(moves[i], moves[i - 1], rtol=1e-6, atol=0))]
            assert len(firsts) == min(leaves, 6)
            seen.add(tuple(firsts))
            for first, end in zip(firsts, [*firsts[1:], 6], strict=True):
                share = one[first:end].sum() / RESIDUAL_STEPS * 0.3 / COUNTS[first:end].sum()
                np.testing.assert_allclose(moves[first:end], 0.01 * share, rtol=1e-6, atol=1e-12)
    assert len(seen) == {2: 5, 3: 10, 5: 5}.get(leaves, 1), "every cut comes up"


def test_columns_that_have_their_turn_together_move_as_they_would_alone():
    """Each by the sums of its own leaves, whatever the sizes of the others."""
    draw, sizes = np.random.default_rng(5), (6, 2, 1, 9)
    counts = [draw.uniform(5, 90, size) for size in sizes]
    sums = [draw.integers(-(2**30), 2**30, (REPLICATES, size, 2)) for size in sizes]
    shapes = [draw.normal(size=(REPLICATES, size, 2)) for size in sizes]
    step = RandomSplits([feature(0, counts=own) for own in counts], start_of(2), lambda _: MECHANISM, 0.1, 3, 10)
    with watched() as answers:
        found = step.change([3, 1, 2, 0], *([own[i] for i in (3, 1, 2, 0)] for own in (sums, shapes)), Quiet(4))
    ((_, exact, _),) = answers
    assert len(exact) == REPLICATES * (3 + 3 + 2 + 1), "no leaf is asked for twice, or in vain"
    for place, own in zip((3, 1, 2, 0), found, strict=True):
        moves = (own - shapes[place]) * 10 * RESIDUAL_STEPS
        for of_replicate, asked in zip(moves, sums[place], strict=True):
            ends = [0, *np.flatnonzero(np.abs(np.diff(of_replicate[:, 0])) > 1) + 1, sizes[place]]
            assert len(ends) - 1 == min(3, sizes[place])
            for first, end in pairwise(ends):
                share = asked[first:end].sum(axis=0) / counts[place][first:end].sum()
                np.testing.assert_allclose(of_replicate[first:end] - share, 0, atol=1.0)


def test_every_column_of_a_turn_has_its_part_of_the_noise():
    """The question is for as many columns as have their turn: the mechanism is told how many."""
    told = []

    def mechanism(columns):
        told.append(columns)
        return MECHANISM

    step = RandomSplits([feature(), feature(), feature()], start_of(), mechanism, 0.01, 3, 10)
    flat = np.zeros((REPLICATES, 6, 1))
    step.change([0, 1, 2], [sums_of()] * 3, [flat] * 3, SeededRandom(1))
    step.change([2], [sums_of()], [flat], SeededRandom(1))
    assert told == [3, 1]


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
