from decimal import Decimal

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from dpcore.models.trees.learning.growth import CONFIDENCE, Grown, consistent, predicted_errors, prune
from dpcore.models.trees.released.splits import Split
from tests.oracles import trees_oracle
from tests.support.rows import for_each


def leaf(*counts, total=None):
    return Grown(noisy_counts=np.array(counts), count_epsilon=Decimal(1), noisy_total=total)


def inner(*children, total=None):
    split = Split(column="x", branches=tuple(range(len(children))))
    return Grown(split=split, children=list(children), noisy_total=total)


@st.composite
def trees(draw, depth=3):
    total = draw(st.none() | st.integers(-30, 200))
    if depth == 0 or draw(st.booleans()):
        return leaf(*draw(st.lists(st.integers(-20, 90), min_size=3, max_size=3)), total=total)
    children = draw(st.lists(trees(depth=depth - 1), min_size=2, max_size=4))
    return inner(*children, total=total)


def everyone(node):
    yield node
    for child in node.children:
        yield from everyone(child)


@given(trees())
def test_the_two_passes_make_all_counts_agree(root):
    for node in everyone(consistent(root)):
        assert node.total >= 0
        assert np.all(node.counts >= 0)
        assert node.counts.sum() == pytest.approx(node.total, abs=1e-6)
        if node.children:
            assert sum(child.total for child in node.children) == pytest.approx(node.total)
            below = np.sum([child.counts for child in node.children], axis=0)
            np.testing.assert_allclose(below, node.counts, atol=1e-6)


@given(trees())
def test_pruning_keeps_noisy_counts_and_needs_no_noise(root):
    before = [(g.noisy_total, g.noisy_counts) for g in everyone(root)]
    prune(root)
    after = [(g.noisy_total, g.noisy_counts) for g in everyone(root)]
    assert all(a[0] == b[0] and a[1] is b[1] for a, b in zip(before, after, strict=True))
    assert not any(node.collapsed for node in everyone(root) if not node.children)


def test_quinlans_examples_of_the_upper_limit():
    """C4.5, chapter 4: U25%(0, 6) = 0.206, U25%(0, 9) = 0.143, U25%(0, 1) = 0.750."""
    for total, rate in [(6, 0.206), (9, 0.143), (1, 0.750)]:
        assert predicted_errors(total, 0) / total == pytest.approx(rate, abs=5e-4)


@for_each(("total", "errors"), [(16, 1), (7, 3), (168, 4), (1000, 0), (20, 19)])
def test_the_limit_is_the_exact_binomial_one(total, errors):
    expected = trees_oracle.upper_error_rate(total, errors, CONFIDENCE)
    assert predicted_errors(total, errors) == pytest.approx(total * expected, rel=1e-9)


@for_each(("total", "errors"), [(0.0, 0.0), (3.0, 3.0), (2.0, 2.5)])
def test_nothing_left_to_be_right_about(total, errors):
    assert predicted_errors(total, errors) == total


def test_quinlans_subtree_becomes_a_leaf():
    """C4.5, chapter 4: leaves (6 democrats), (9), (1 republican): 3.273 errors; as a leaf 2.6.

    With the exact limit the leaf of 16 records and 1 error is predicted 16 x 0.157 = 2.5.
    """
    subtree = inner(leaf(6, 0), leaf(9, 0), leaf(0, 1))
    below = sum(predicted_errors(n, 0) for n in (6, 9, 1))
    assert below == pytest.approx(6 * 0.206 + 9 * 0.143 + 1 * 0.750, abs=0.01)
    assert predicted_errors(16, 1) == pytest.approx(16 * 0.157, abs=0.15)
    prune(subtree)
    assert subtree.collapsed
