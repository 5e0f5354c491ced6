import math
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from dpcore.models.trees.learning.criteria import (
    DELTA_GRID,
    delta_score,
    integer_sqrt,
    losses,
    make_criterion,
    real_losses,
)
from tests.oracles import trees_oracle
from tests.support.rows import for_each

NAMES = ["error", "gini", "information_gain", "matsushita"]
#: Largest change in units of loss, from the thesis or its correction, at N rows.
BOUNDS = {
    "error": lambda n: 1.0,
    "gini": lambda n: 2 * (n - 1) / n,
    "information_gain": lambda n: math.log2(n) + 1 / math.log(2),
    "matsushita": lambda n: 4 * math.sqrt(n - 1),
}


@st.composite
def cases(draw, largest=60):
    """A branch's class counts, the class that gets one more record, and a public N above both."""
    classes = draw(st.integers(2, 5))
    size = draw(st.sampled_from([3, largest, 10**6]))
    counts = [draw(st.integers(0, size)) for _ in range(classes)]
    rows = sum(counts) + 1 + draw(st.sampled_from([0, 1, 1000]))
    return counts, draw(st.integers(0, classes - 1)), rows


@pytest.mark.parametrize("name", NAMES)
@given(case=cases())
def test_one_record_never_lowers_a_loss_nor_raises_it_beyond_its_sensitivity(name, case):
    counts, label, rows = case
    criterion = make_criterion(name, rows, len(counts))
    after = np.array(counts)
    after[label] += 1
    before, later = criterion.branch_losses(np.array([counts, after]))
    assert criterion.sensitivity.monotone
    assert 0 <= int(later) - int(before) <= criterion.sensitivity.value


@for_each("name", NAMES)
@for_each("rows", [1, 2, 5, 9])
def test_every_pair_of_small_neighbours_obeys_the_sensitivity(name, rows):
    """Exhaustive over three classes."""
    criterion = make_criterion(name, rows, 3)
    grid = np.array(list(np.ndindex(rows, rows, rows)))
    grid = grid[grid.sum(axis=1) < rows]
    for label in range(3):
        change = criterion.branch_losses(grid + np.eye(3, dtype=int)[label])
        change = change - criterion.branch_losses(grid)
        assert change.min() >= 0
        assert change.max() <= criterion.sensitivity.value


@pytest.mark.crossed
@pytest.mark.parametrize("name", NAMES)
@pytest.mark.parametrize("rows", [2, 10, 1000, 50_000, 10_000_000, 100_000_000])
def test_witness_nearly_attains_the_sensitivity_at_every_size(name, rows):
    """N - 1 records of one class, then one of the other: where a criterion bends most."""
    criterion = make_criterion(name, rows, 2)
    before, after = criterion.branch_losses(np.array([[rows - 1, 0], [rows - 1, 1]]))
    change = int(after) - int(before)
    rounding = {"error": 0, "gini": 1, "information_gain": 0, "matsushita": 4}[name]
    assert criterion.sensitivity.value - rounding <= change <= criterion.sensitivity.value
    assert min(before, after) >= 0, "an overflow would show as a negative loss"


@for_each("name", ["gini", "information_gain", "matsushita"])
def test_the_sensitivity_of_the_error_would_be_caught(name):
    criterion = make_criterion(name, 1000, 2)
    before, after = criterion.branch_losses(np.array([[999, 0], [999, 1]]))
    assert after - before > 1.5 * criterion.unit


@for_each("name", NAMES)
@for_each("rows", [100, 50_000, 4_000_000])
def test_sensitivity_is_the_published_one_with_the_public_n(name, rows):
    """For two classes; error and Gini are half of the thesis's, which changes no ranking."""
    criterion = make_criterion(name, rows, 2)
    bound = BOUNDS[name](rows) / (2 if name == "matsushita" else 1)
    assert criterion.sensitivity.value / criterion.unit == pytest.approx(bound, rel=0.01)


tables = st.lists(
    st.lists(st.lists(st.integers(0, 400), min_size=3, max_size=3), min_size=2, max_size=4), min_size=1, max_size=5
)


@pytest.mark.parametrize("name", NAMES)
@given(tables=tables)
def test_losses_agree_with_the_oracle_up_to_the_grid(name, tables):
    widest = max(len(table) for table in tables)
    padded = np.array([table + [[0] * 3] * (widest - len(table)) for table in tables])
    criterion = make_criterion(name, 5000, 3)
    found = losses(criterion, padded) / criterion.unit
    expected = [trees_oracle.loss(name, table) for table in tables]
    # Each branch is rounded down: entropy by one unit per record, square roots by one per class.
    np.testing.assert_allclose(found, expected, atol=5e-3 if name != "gini" else 4 / 256)
    real = real_losses(name, padded.astype(float)).sum(axis=-1)
    np.testing.assert_allclose(real, expected, atol=1e-6)


@pytest.mark.parametrize("rows", [5_000_000, 100_000_000])
def test_a_table_with_runs_stays_close_to_entropy(rows):
    criterion = make_criterion("information_gain", rows, 2)
    counts = [rows // 3, rows // 5]
    found = int(criterion.branch_losses(np.array(counts))) / criterion.unit
    assert found == pytest.approx(trees_oracle.information_gain(counts), rel=1e-4)


@given(st.integers(0, 2**62 - 1))
def test_integer_sqrt_is_exact(square):
    assert int(integer_sqrt(np.array([square]))[0]) == math.isqrt(square)


@for_each("root", [1, 2, 3, 94_906_265, 94_906_266, 2**31 - 1])
def test_integer_sqrt_is_exact_around_squares(root):
    squares = [root * root - 1, root * root, root * root + 1]
    assert integer_sqrt(np.array(squares)).tolist() == [root - 1, root, root]


scores = st.lists(st.integers(0, 10**7) | st.just(0), min_size=2, max_size=20)


@given(scores, st.sampled_from([1, 256]))
def test_the_delta_score_lies_within_its_sensitivity(values, unit):
    """So that no two data sets whatever differ by more."""
    ahead, sensitivity = delta_score(values, unit)
    assert 0 <= ahead <= sensitivity.value == DELTA_GRID // (len(values) - 1)
    exact = trees_oracle.delta_score([Fraction(value, unit) for value in values])
    assert ahead == math.floor(exact * DELTA_GRID)


@for_each("candidates", [2, 3, 10])
def test_neighbours_come_close_to_the_sensitivity_of_the_delta_score(candidates):
    """A large node of one class gets a record of the other, which only the first split isolates.

    Among m others that record alone costs the Matsushita loss 2 sqrt(m) in all other splits.
    """
    rows = 1_000_000
    criterion = make_criterion("matsushita", rows, 2)
    mixed, pure = [[rows - 1, 1], [0, 0]], [[rows - 1, 0], [0, 1]]
    after = losses(criterion, np.array([pure] + [mixed] * (candidates - 1)))
    same = [[rows - 1, 0], [0, 0]]
    before = losses(criterion, np.array([same] * candidates))
    values = [delta_score(scores.tolist(), criterion.unit)[0] for scores in (before, after)]
    change, sensitivity = values[1] - values[0], DELTA_GRID // (candidates - 1)
    assert 0.99 * sensitivity < change <= sensitivity
