"""Near-duplicates: the same people, or nearly the same conditions."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from dpcore.domain.conditions import Condition
from dpcore.models.redescriptions.released.duplicates import OVERLAP, groups_across, groups_in_pair
from dpcore.models.redescriptions.released.tree_pair import Domain, Tree
from tests.support.tables.small_tables import ward

SCHEMA = ward(
    {"name": "age", "type": "integer", "lower": 0, "upper": 100, "bins": 20},
    {"name": "ill", "type": "boolean"},
    {"name": "sugar", "type": "real", "lower": 0, "upper": 40, "bins": 20},
    name="two sides",
    max_rows=10,
)
DOMAIN = Domain(SCHEMA)


def cut(column: str, last: int, view: str) -> Tree:
    """A tree with one split: at most, above or missing."""
    return Tree(view=view, splits=(Condition(column=column, first=0, last=last),))  # type: ignore[arg-type]


@given(st.integers(0, 2**32 - 1), st.integers(1, 40))
@settings(deadline=None)
def test_a_group_is_what_overlaps_its_best_one_and_no_better_group(seed, count):
    draw = np.random.default_rng(seed)
    table = draw.gamma(0.5, 50, (4, 8))
    left, right = draw.random((count, 4)) < 0.6, draw.random((count, 8)) < 0.6
    owner = groups_in_pair(table, left, right)

    def overlap(one: int, other: int) -> float:
        both = table[np.ix_(left[one] & left[other], right[one] & right[other])].sum()
        sizes = [table[np.ix_(left[i], right[i])].sum() for i in (one, other)]
        return float(both / max(sum(sizes) - both, 1e-9))

    best: list[int] = []
    for place in range(count):
        like = [other for other in best if overlap(other, place) > OVERLAP + 1e-6]
        assert owner[place] == (like[0] if like else place)
        if owner[place] == place:
            best.append(place)


def test_the_same_conditions_of_different_trees_are_one_group():
    low, high = (0,), (1,)
    trees = [
        (cut("age", 9, "left"), cut("sugar", 9, "right")),
        (cut("age", 10, "left"), cut("sugar", 9, "right")),  # Nearly the same.
        (cut("age", 9, "left"), cut("sugar", 14, "right")),  # Another threshold.
        (cut("ill", 1, "left"), cut("sugar", 9, "right")),  # Another column.
    ]
    items = [(0, low, low), (1, low, low), (2, low, low), (3, low, low), (1, high, high)]
    assert groups_across(trees, items, DOMAIN).tolist() == [0, 0, 2, 3, 4]
    # Whichever is better stands for both.
    assert groups_across(trees, items[1::-1], DOMAIN).tolist() == [0, 0]


@pytest.mark.parametrize("pairs", [1, 3])
def test_every_item_belongs_to_a_group_that_a_better_one_leads(pairs):
    draw = np.random.default_rng(0)
    trees = [(cut("age", int(draw.integers(5, 12)), "left"), cut("sugar", 9, "right")) for _ in range(pairs)]
    items = [(int(draw.integers(pairs)), (int(draw.integers(2)),), (0,)) for _ in range(30)]
    owner = groups_across(trees, items, DOMAIN)
    assert np.all(owner <= np.arange(30))
    assert np.array_equal(owner[owner], owner)
