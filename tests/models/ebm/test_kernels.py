"""The compiled loops against the oracle, and what one record may change."""

import math

import numpy as np
import pytest

from dpcore.models.ebm.learning.grid import (
    COUNT_STEPS,
    histogram_sensitivity,
    number_cells,
    pair_sensitivity,
    residual_sensitivity,
)
from dpcore.models.ebm.learning.kernels import (
    ABSENT,
    CLASS_STEPS,
    LARGEST_SCORE,
    NUMBER_STEPS,
    PAIR_STEPS,
    RESIDUAL_STEPS,
    add_up,
    add_up_pair,
    clipped_residuals,
    logistic_residuals,
    move,
    softmax_residuals,
)
from tests.oracles import ebm_oracle as oracle
from tests.support.rows import for_each

CELLS, REPLICATES = 5, 2
#: The powers of a softmax are of tables of 24 bits: grid steps per record.
ROUNDING = RESIDUAL_STEPS * 2.0**-21
#: The logistic function is a line between the points of a table: steps per record, at most.
INTERPOLATION = 3.2e-6 * RESIDUAL_STEPS
KINDS = [("binary", 1), ("classes", 3), ("classes", 50), ("numbers", 1)]


def make(kind, outputs, rows, seed, *, size=3.0):
    """Labels, scores of two replicates and cells of random places, about a tenth without a record."""
    draw = np.random.default_rng(seed)
    if kind == "numbers":
        labels = np.rint(draw.random(rows) * NUMBER_STEPS)
        labels[::7] = np.round(labels[::7] / NUMBER_STEPS) * NUMBER_STEPS  # at the bounds
    else:
        labels = draw.integers(0, max(2, outputs), rows)
    labels[draw.random(rows) < 0.1] = ABSENT
    steps = NUMBER_STEPS if kind == "numbers" else CLASS_STEPS
    scores = draw.normal(0, size * steps, (REPLICATES, outputs, rows))
    scores = np.clip(np.rint(scores), -LARGEST_SCORE, LARGEST_SCORE)
    return labels.astype(np.int32), scores.astype(np.int32), draw.integers(0, CELLS, rows).astype(np.uint8)


def residuals(kind, labels, scores, clip=1.0):
    out = np.full(scores.shape, -7, dtype=np.int32)
    if kind == "numbers":
        clipped_residuals(labels, scores, clip * NUMBER_STEPS, out)
    elif scores.shape[1] == 1:
        logistic_residuals(labels, scores, out)
    else:
        softmax_residuals(labels, scores, out)
    return out


def sums_of(kind, data, clip=1.0):
    """Residual sums: (REPLICATES, outputs, CELLS)."""
    labels, scores, codes = data
    sums = np.zeros((*scores.shape[:2], CELLS), dtype=np.int64)
    add_up(residuals(kind, labels, scores, clip), codes, sums)
    return sums


def length(vector):
    """L2 norm of integers, rounded up by less than its last place."""
    return math.sqrt(sum(int(entry) ** 2 for entry in np.ravel(vector)))


@for_each(("kind", "outputs"), KINDS)
@for_each("rows", [0, 1, 300])
def test_residuals_agree_with_the_oracle(kind, outputs, rows):
    for seed in range(5):
        labels, scores, _ = make(kind, outputs, rows, seed)
        clip = (1.0, 0.37, 1 / 128, 1e-9, 2.0 / 3)[seed] if kind == "numbers" else 1.0
        found = residuals(kind, labels, scores, clip)
        for own, mine in zip(scores, found, strict=True):
            expected = oracle.residuals(labels, own, kind == "numbers", clip) * (RESIDUAL_STEPS / clip)
            slack = {"numbers": 1, "binary": 1 + INTERPOLATION, "classes": 1 + ROUNDING}[kind]
            assert np.abs(mine - expected).max(initial=0) <= slack


@pytest.mark.parametrize("width", [np.uint8, np.uint16])
def test_sums_and_scores_agree_with_the_oracle(width):
    draw = np.random.default_rng(1)
    values = draw.integers(-(2**28), 2**28, (3, 2, 500)).astype(np.int32)
    codes = draw.integers(0, CELLS, 500).astype(width)
    sums, change = np.zeros((3, 2, CELLS), dtype=np.int64), draw.integers(-99, 99, (3, 2, CELLS)).astype(np.int32)
    add_up(values, codes, sums)
    moved = values.copy()
    move(moved, codes, change)
    for replicate in range(3):
        expected = oracle.sums(values[replicate], codes, CELLS)
        assert sums[replicate].tolist() == expected
        assert np.array_equal(moved[replicate], values[replicate] + change[replicate][:, codes])


@for_each(
    "edges",
    [
        [],
        [0.3],
        [0.0, 0.0 + 5e-324],
        np.arange(1, 240) / 240,
        [1, 10, 100, 1000, 1e6],
        [-8e307, 0, 8e307],
        [1e-30, 2e-30],
    ],
)
def test_numbers_find_their_cells(edges):
    """Evenly cut or not, at the edges, beyond them, and missing."""
    edges = np.asarray(edges, dtype=float)
    near = np.concatenate([edges, np.nextafter(edges, -np.inf), np.nextafter(edges, np.inf)])
    numbers = np.concatenate([near, [0, -1e308, 1e308, np.nan], np.random.default_rng(1).random(500) * 1000])
    expected = [len(edges) + 1 if math.isnan(x) else sum(edge < x for edge in edges) for x in numbers]
    assert number_cells(numbers, edges, len(edges) + 1).tolist() == expected


@for_each(("kind", "outputs"), KINDS)
def test_a_place_without_a_record_adds_nothing(kind, outputs):
    labels, scores, codes = make(kind, outputs, 50, 1)
    assert not sums_of(kind, (np.full_like(labels, ABSENT), scores, codes)).any()


@pytest.mark.crossed
@pytest.mark.parametrize(("kind", "outputs"), KINDS)
@pytest.mark.parametrize("size", [0.0, 1.0, 40.0, 1e4, 1e30])
def test_one_record_changes_residual_sums_by_their_sensitivity_at_most(kind, outputs, size):
    """Random records under random scores, from even chances to the largest there are."""
    for seed in range(3):
        labels, scores, codes = make(kind, outputs, 40, seed, size=size)
        for clip in (1.0, 1 / 3, 1e-3, 1e-30) if kind == "numbers" else (1.0,):
            whole = sums_of(kind, (labels, scores, codes), clip)
            for place in range(40):
                without = labels.copy()
                without[place] = ABSENT
                change = whole - sums_of(kind, (without, scores, codes), clip)
                for own in change:
                    assert length(own) <= residual_sensitivity(outputs, 1)
                    assert np.count_nonzero(own.any(axis=0)) <= 1


@for_each("outputs", [1, 2, 3, 50])
def test_witness_of_classes(outputs):
    """A record of a class that is all but impossible changes sums by nearly the sensitivity."""
    scores = np.full((1, outputs, 1), -60 * CLASS_STEPS, dtype=np.int32)
    if outputs > 1:
        scores[0, -1] = 60 * CLASS_STEPS
    label = np.array([1 if outputs == 1 else 0], dtype=np.int32)
    moved = sums_of("classes" if outputs > 1 else "binary", (label, scores, np.zeros(1, dtype=np.uint8)))
    assert length(moved) > (1 - 2e-7) * residual_sensitivity(outputs, 1)
    assert length(moved) <= residual_sensitivity(outputs, 1)


@for_each("clip", [1.0, 1 / 3, 0.1, 1e-3, 1e-30])
@for_each(("label", "score"), [(1.0, -100), (0.0, 100), (1.0, -0.5), (0.0, 5.0)])
def test_witness_of_numbers(clip, label, score):
    """An outlier at a bound of the target counts as much as a clip and no more."""
    labels = np.array([label * NUMBER_STEPS], dtype=np.int32)
    scores = np.array([[[score * NUMBER_STEPS]]]).astype(np.int32)
    moved = abs(int(residuals("numbers", labels, scores, clip)[0, 0, 0]))
    assert RESIDUAL_STEPS - 1 <= moved <= residual_sensitivity(1, 1)


def test_without_the_clip_the_outlier_would_be_caught():
    """What an audit must find out: a clip that is wider than the noise supposes."""
    labels, scores = np.array([NUMBER_STEPS], dtype=np.int32), np.zeros((1, 1, 1), dtype=np.int32)
    moved = residuals("numbers", labels, scores, 0.7) * (0.7 / 0.1)
    assert moved[0, 0, 0] > 6 * residual_sensitivity(1, 1)


@pytest.mark.parametrize("outputs", [1, 3])
def test_pair_tables_agree_with_the_oracle_and_move_by_their_sensitivity_at_most(outputs):
    draw = np.random.default_rng(outputs)
    kind = "binary" if outputs == 1 else "classes"
    for seed in range(5):
        labels, scores, _ = make(kind, outputs, 50, seed, size=5.0)
        values = residuals(kind, labels, scores)[0]
        cells = [draw.integers(0, 4, 50).astype(np.uint8) for _ in range(2)]

        def utility(kept, values=values, cells=cells):
            table = np.zeros((outputs, 4, 4), dtype=np.int64)
            add_up_pair(values * kept, *cells, table)
            coarse = np.trunc(values * kept / (RESIDUAL_STEPS / PAIR_STEPS)).astype(int)
            assert np.abs(table).sum() == oracle.pair_utility(coarse.T, *cells)
            return int(np.abs(table).sum())

        everybody = np.ones(50, dtype=np.int32)
        for place in range(50):
            one_less = everybody.copy()
            one_less[place] = 0
            assert abs(utility(everybody) - utility(one_less)) <= pair_sensitivity(outputs)


def test_sensitivities_by_hand():
    assert histogram_sensitivity(1) == COUNT_STEPS
    assert histogram_sensitivity(4) == 2 * COUNT_STEPS
    assert 0 <= histogram_sensitivity(11) - math.sqrt(11) * COUNT_STEPS < 1
    assert residual_sensitivity(1, 1) == RESIDUAL_STEPS
    assert residual_sensitivity(1, 4) == 2 * RESIDUAL_STEPS
    assert 2 <= residual_sensitivity(3, 1) - math.sqrt(2) * RESIDUAL_STEPS < 3
    assert pair_sensitivity(1) == PAIR_STEPS
    assert 0 <= pair_sensitivity(5) - 2 * PAIR_STEPS <= 2
