"""The compiled loops against the oracle, and what one record may change."""

import math

import numpy as np
import pytest

from dpcore.models.ebm.learning.kernels import (
    ABSENT,
    absolute_table_sum,
    clipped_sums,
    logistic_sums,
    residual_sizes,
    softmax_sums,
)
from dpcore.models.ebm.learning.queries import (
    COUNT_STEPS,
    PAIR_STEPS,
    RESIDUAL_STEPS,
    histogram_sensitivity,
    pair_sensitivity,
    residual_sensitivity,
)
from dpcore.models.ebm.learning.start import SIZE_EDGES
from tests.oracles import ebm_oracle as oracle

BINS, CHANGED = 5, 3
#: What 32-bit arithmetic may change in the probability of one record, in grid steps.
ROUNDING = RESIDUAL_STEPS * 2.0**-22
#: The logistic function is a line between the points of a table: steps per record, at most.
INTERPOLATION = 3.2e-6 * RESIDUAL_STEPS
KINDS = [("binary", 1), ("classes", 3), ("classes", 50), ("numbers", 1)]


def make(kind, outputs, rows, seed, *, size=3.0):
    """Random places, about a tenth of them without a record."""
    draw = np.random.default_rng(seed)
    absent = draw.random(rows) < 0.1
    if kind == "numbers":
        labels = np.where(absent, np.nan, draw.random(rows)).astype(np.float32)
        labels[::7] = np.round(labels[::7])  # at the bounds
    else:
        classes = max(2, outputs)
        labels = np.where(absent, ABSENT, draw.integers(0, classes, rows)).astype(np.uint8)
    shape = (rows,) if outputs == 1 else (rows, outputs)
    change = draw.normal(0, size, (CHANGED, *shape[1:])).astype(np.float32)
    scores = draw.normal(0, size, shape).astype(np.float32)
    before = draw.integers(0, CHANGED, rows).astype(np.uint8)
    bins = draw.integers(0, BINS, rows).astype(np.uint8)
    return [labels, scores, before, change, bins]


def run(kind, outputs, data, clip=1.0):
    """Residual sums: (BINS, outputs). The scores in ``data`` are left as they were."""
    labels, scores, before, change, bins = data
    sums = np.zeros((BINS, outputs), dtype=np.int64)
    own = scores.copy()
    if kind == "numbers":
        clipped_sums(labels, own, before, change, bins, RESIDUAL_STEPS / clip, clip, sums[:, 0])
    elif outputs == 1:
        logistic_sums(labels, own, before, change, bins, float(RESIDUAL_STEPS), sums[:, 0])
    else:
        softmax_sums(labels, own, before, change, bins, float(RESIDUAL_STEPS), sums)
    np.testing.assert_array_equal(own, oracle.moved(scores, before, change))
    return sums


def without(data, place):
    """The same places, the record at ``place`` taken out."""
    labels = data[0].copy()
    labels[place] = np.nan if labels.dtype.kind == "f" else ABSENT
    return [labels, *data[1:]]


def length(vector):
    """L2 norm of integers, rounded up by less than its last place."""
    return math.sqrt(sum(int(entry) ** 2 for entry in np.ravel(vector)))


@pytest.mark.parametrize(("kind", "outputs"), KINDS)
@pytest.mark.parametrize("rows", [0, 1, 300])
def test_residual_sums_agree_with_the_oracle(kind, outputs, rows):
    for seed in range(5):
        data = make(kind, outputs, rows, seed)
        clip = (1.0, 0.37, 1 / 128, 1e-9, 2.0 / 3)[seed]
        labels, scores, before, change, bins = data
        values = oracle.residuals(labels, oracle.moved(scores, before, change), clip)
        if kind == "numbers":
            expected = oracle.grid_sums(values, bins, BINS, RESIDUAL_STEPS / clip)
            np.testing.assert_array_equal(run(kind, outputs, data, clip), expected)
            continue
        expected = oracle.grid_sums(values, bins, BINS, RESIDUAL_STEPS)
        slack = (INTERPOLATION if outputs == 1 else ROUNDING) * max(oracle.counts(bins, labels, BINS))
        assert np.abs(run(kind, outputs, data) - expected).max() <= slack


def test_codes_of_many_cells_do_as_well():
    """Columns of more than 256 cells have 16-bit codes."""
    data = make("binary", 1, 200, 3)
    wide = [data[0], data[1], data[2].astype(np.uint16), data[3], data[4].astype(np.uint16)]
    np.testing.assert_array_equal(run("binary", 1, wide), run("binary", 1, data))


@pytest.mark.parametrize(("kind", "outputs"), KINDS)
def test_a_place_without_a_record_adds_nothing(kind, outputs):
    data = make(kind, outputs, 50, 1)
    data[0][:] = np.nan if kind == "numbers" else ABSENT
    assert not run(kind, outputs, data).any()


def test_sums_of_many_records_are_exact():
    """Truncated residuals are added as integers, so that the order does not matter."""
    for kind, outputs in KINDS:
        data = make(kind, outputs, 20_000, 2)
        order = np.random.default_rng(3).permutation(20_000)
        mixed = [data[0][order], data[1][order], data[2][order], data[3], data[4][order]]
        np.testing.assert_array_equal(run(kind, outputs, data), run(kind, outputs, mixed))


@pytest.mark.parametrize(("kind", "outputs"), KINDS)
@pytest.mark.parametrize("size", [0.0, 1.0, 40.0, 1e4, 1e30])
def test_one_record_changes_residual_sums_by_their_sensitivity_at_most(kind, outputs, size):
    """Random records under random scores, from even chances to absurd ones."""
    for seed in range(3):
        data = make(kind, outputs, 40, seed, size=size)
        for clip in (1.0, 1 / 3, 1e-3, 1e-30) if kind == "numbers" else (1.0,):
            whole = run(kind, outputs, data, clip)
            for place in range(40):
                change = whole - run(kind, outputs, without(data, place), clip)
                assert length(change) <= residual_sensitivity(outputs)
                assert np.count_nonzero(change.any(axis=1)) <= 1


@pytest.mark.parametrize("outputs", [1, 2, 3, 50])
def test_witness_of_classes(outputs):
    """A record of a class that is all but impossible changes sums by nearly the sensitivity."""
    scores = np.full((1, outputs) if outputs > 1 else (1,), -60, dtype=np.float32)
    if outputs > 1:
        scores[0, -1] = 60
    change = np.zeros((CHANGED, *scores.shape[1:]), dtype=np.float32)
    place = np.zeros(1, dtype=np.uint8)
    label = np.array([1 if outputs == 1 else 0], dtype=np.uint8)
    moved = run("classes" if outputs > 1 else "binary", outputs, [label, scores, place, change, place])
    assert length(moved) > (1 - 2e-7) * residual_sensitivity(outputs)
    assert length(moved) <= residual_sensitivity(outputs)


@pytest.mark.parametrize("clip", [1.0, 1 / 3, 0.1, 1e-3, 1e-30])
@pytest.mark.parametrize(("label", "score"), [(1.0, -1e30), (0.0, 1e30), (1.0, -0.5), (0.0, 5.0)])
def test_witness_of_numbers(clip, label, score):
    """An outlier at a bound of the target counts as much as a clip and no more."""
    place = np.zeros(1, dtype=np.uint8)
    change = np.zeros(CHANGED, dtype=np.float32)
    data = [np.float32([label]), np.float32([score]), place, change, place]
    moved = abs(int(run("numbers", 1, data, clip)[0, 0]))
    assert RESIDUAL_STEPS - 1 <= moved <= residual_sensitivity(1)


def test_without_the_clip_the_outlier_would_be_caught():
    """The kernel that an audit must find out: the same, with the clip taken out."""
    place, change = np.zeros(1, dtype=np.uint8), np.zeros(CHANGED, dtype=np.float32)
    sums = np.zeros(BINS, dtype=np.int64)
    steps = RESIDUAL_STEPS / 0.1
    clipped_sums(np.float32([1]), np.float32([0]), place, change, place, steps, 1.0, sums)
    assert abs(sums[0]) > 9 * residual_sensitivity(1)


def test_no_score_that_is_a_number_makes_a_sum_that_is_none():
    """Scores of 1e30 of either sign: chances are 0 or 1, and sums are whole clips."""
    for kind, outputs in KINDS:
        for sign in (-1, 1):
            shape = (4,) if outputs == 1 else (4, outputs)
            scores = np.full(shape, sign * 1e30, dtype=np.float32)
            change = np.full((CHANGED, *shape[1:]), sign * 1e30, dtype=np.float32)
            labels = np.array([0, 1, 1, ABSENT], dtype=np.uint8)
            if kind == "numbers":
                labels = np.float32([0, 1, 1, np.nan])
            bins = np.arange(4, dtype=np.uint8)
            sums = run(kind, outputs, [labels, scores, bins % 3, change, bins])
            assert np.abs(sums).max() <= RESIDUAL_STEPS
            assert not sums[3:].any()


@pytest.mark.parametrize("seed", range(4))
def test_residual_sizes_agree_with_the_oracle(seed):
    labels, scores, before, change, _ = make("numbers", 1, 300, seed, size=0.3)
    counts, own = np.zeros(len(SIZE_EDGES), dtype=np.int64), scores.copy()
    residual_sizes(labels, own, before, change, SIZE_EDGES, counts)
    np.testing.assert_array_equal(own, scores)
    expected = oracle.size_groups(labels, oracle.moved(scores, before, change), SIZE_EDGES)
    assert counts.tolist() == expected
    assert counts.sum() == oracle.present(labels).sum()


def test_residual_sizes_put_each_edge_into_its_own_group():
    edges = np.array([0.25, 0.5, 1.0])
    for label, score, group in [(0.25, 0, 0), (0.5, 0, 1), (0, 0.5, 1), (0.75, 0, 2), (1, -1e30, 2), (0, 0, 0)]:
        counts = np.zeros(3, dtype=np.int64)
        place, change = np.zeros(1, dtype=np.uint8), np.zeros(CHANGED, dtype=np.float32)
        residual_sizes(np.float32([label]), np.float32([score]), place, change, edges, counts)
        assert counts.tolist() == [i == group for i in range(3)]


def test_one_record_is_in_one_group_of_residual_sizes():
    data = make("numbers", 1, 60, 5, size=1e4)

    def sizes(labels):
        counts = np.zeros(len(SIZE_EDGES), dtype=np.int64)
        residual_sizes(labels, data[1], data[2], data[3], SIZE_EDGES, counts)
        return counts * COUNT_STEPS

    for place in range(60):
        change = sizes(data[0]) - sizes(without(data, place)[0])
        expected = COUNT_STEPS if oracle.present(data[0])[place] else 0
        assert length(change) == expected <= histogram_sensitivity(1)


@pytest.mark.parametrize("outputs", [1, 3])
def test_pair_utilities_agree_with_the_oracle_and_move_by_their_sensitivity_at_most(outputs):
    draw = np.random.default_rng(outputs)
    for _ in range(20):
        raw = draw.normal(size=(50, outputs))
        reach = pair_sensitivity(outputs) * draw.choice([1.0, 0.3], (50, 1))
        values = np.trunc(raw / np.abs(raw).sum(axis=1, keepdims=True) * reach).astype(np.int64)
        cells = [draw.integers(0, 4, 50).astype(np.uint8) for _ in range(2)]

        def utility(kept, values=values, cells=cells):
            table = np.zeros((4, 4, outputs), dtype=np.int64)
            total = absolute_table_sum(values * kept[:, None], *cells, table)
            assert total == oracle.pair_utility(values * kept[:, None], *cells)
            return total

        everybody = np.ones(50, dtype=np.int64)
        for place in range(50):
            one_less = everybody.copy()
            one_less[place] = 0
            assert abs(utility(everybody) - utility(one_less)) <= pair_sensitivity(outputs)


def test_sensitivities_by_hand():
    assert histogram_sensitivity(1) == COUNT_STEPS
    assert histogram_sensitivity(4) == 2 * COUNT_STEPS
    assert 0 <= histogram_sensitivity(11) - math.sqrt(11) * COUNT_STEPS < 1
    assert residual_sensitivity(1) == RESIDUAL_STEPS
    assert 2 <= residual_sensitivity(3) - math.sqrt(2) * RESIDUAL_STEPS < 3
    assert pair_sensitivity(1) == PAIR_STEPS
    assert 0 <= pair_sensitivity(5) - 2 * PAIR_STEPS <= 2
