"""Near-duplicates, and which redescriptions missing values alone may explain."""

from __future__ import annotations

from itertools import product

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from dpcore.domain.conditions import Condition
from dpcore.domain.counted import PEOPLE
from dpcore.domain.schemas.schema import Schema
from dpcore.models.redescriptions.released.duplicates import (
    OVERLAP,
    SHORT,
    groups_across,
    groups_in_pair,
    holding_missing,
    in_full,
    jaccard_without,
    only_asks_for_missing,
)
from dpcore.models.redescriptions.released.extraction import Constraints
from dpcore.models.redescriptions.released.reading import sentence, sentences
from dpcore.models.redescriptions.released.redescription_model import RedescriptionModel
from dpcore.models.redescriptions.released.tree_pair import Domain, Tree
from tests.support.results.small_redescriptions import literal, tree, tree_pair
from tests.support.rows import for_each
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


def schema(missing="possible"):
    number = {"type": "integer", "lower": 0, "upper": 10, "edges": [5], "missing": missing}
    columns = [
        {"name": name, "view": view, **number}
        for name, view in zip("abxy", ("left", "left", "right", "right"), strict=True)
    ]
    return Schema.from_mapping({"name": "questions", "max_rows": 5000, "columns": columns})


QUESTIONS = Domain(schema())
#: Cells of every column: at most 5, above 5, other, missing.
CELLS = QUESTIONS.cells("a")
GONE = CELLS.index("(missing)")


def found(left, right, counts, domain=None, **wanted):
    pair = tree_pair(left, right, counts)
    model = RedescriptionModel(left_columns=("a", "b"), right_columns=("x", "y"), pairs=(pair,))
    return model.extract(domain or schema(), Constraints(max_p=1.0, **wanted)).found


def marks(*asked, domain=None, **wanted):
    return {(item.left_query, item.right_query): item.missing for item in found(*asked, domain=domain, **wanted)}


STRONG = [[900, 40], [50, 3000]]


def test_sides_that_only_ask_whether_a_value_is_there_say_nothing_else():
    """A branching questionnaire: who was asked one question was asked the other."""
    both = marks(tree("left", literal("a", GONE)), tree("right", literal("x", GONE)), STRONG)
    assert set(both.values()) == {"both"}
    one = marks(tree("left", literal("a", GONE)), tree("right", literal("x", 0)), [[40, 900], [3000, 50]])
    assert set(one.values()) == {"one"}


def test_sides_that_hold_for_missing_values_may_be_explained_by_them():
    """``a > 5`` counts missing values where it denies ``a <= 5``; the noisy table cannot tell them apart."""
    split = marks(tree("left", literal("a", 0)), tree("right", literal("x", 0)), STRONG)
    held = {words: mark for words, mark in split.items() if "missing" in words[0] and "missing" in words[1]}
    assert held
    assert set(held.values()) == {"may"}
    assert {split[words] for words in split.keys() - held.keys()} <= {""}
    assert ("a <= 5", "x <= 5") in split


def test_a_schema_that_says_never_missing_ends_the_matter():
    counts = tree("left", literal("a", 0)), tree("right", literal("x", 0)), STRONG
    assert set(marks(*counts, domain=schema("never")).values()) == {""}
    assert "may" in marks(*counts).values()


@for_each(
    ("table", "least", "mark"),
    [
        ([[30, 0, 5, 250], [0, 0, 0, 0], [5, 0, 2900, 20], [250, 0, 20, 600]], 0.5, ""),
        ([[900, 0, 5, 200], [0, 0, 0, 0], [5, 0, 2900, 60], [200, 0, 90, 30]], 0.5, ""),
        ([[900, 0, 5, 200], [0, 0, 0, 0], [5, 0, 2900, 60], [200, 0, 90, 30]], 0.8, "may"),
    ],
)
def test_what_holds_for_enough_people_without_missing_values_is_not_explained_by_them(table, least, mark):
    """Leaves tell apart who has a value: taken away are those who may have none on either side."""
    left = tree("left", literal("a", GONE), literal("b", 0), literal("a", 0))
    right = tree("right", literal("x", GONE), literal("y", 0), literal("x", 0))
    wide = [
        item
        for item in found(left, right, table, min_jaccard=least)
        if {0, 3} <= {*item.left_leaves} and {0, 3} <= {*item.right_leaves}
    ]
    assert [item.missing for item in wide] == [mark]


@for_each("seed", range(20))
def test_nobody_without_missing_values_on_a_side_is_taken_away(seed):
    """Against every possible record: what is left is a bound from below, whoever the people are."""
    draw = np.random.default_rng(seed)
    splits = [
        literal(name, *sorted(draw.integers(0, len(CELLS), 2).tolist())) for name in ("a", "b", "b", "x", "y", "y")
    ]
    trees = tree("left", *splits[:3]), tree("right", *splits[3:])
    boxes = [own.leaf_boxes(QUESTIONS) for own in trees]
    members = [draw.choice(4, draw.integers(1, 4), replace=False).tolist() for _ in trees]
    names = [{"a", "b"}, {"x", "y"}]
    held = [holding_missing(*own, QUESTIONS) for own in zip(boxes, members, names, strict=True)]
    records = list(product(range(len(CELLS)), repeat=2))

    def leaf_of(box, record, columns):
        known = dict(zip(columns, record, strict=True))
        return next(
            place
            for place, own in enumerate(box)
            if own is not None and all(own.get(name, -1) >> cell & 1 for name, cell in known.items())
        )

    for side, columns in enumerate(("ab", "xy")):
        for record in records:
            leaf = leaf_of(boxes[side], record, columns)
            if leaf in members[side] and GONE in record:
                assert held[side][leaf], "may hold by a missing value"
        for leaf in np.flatnonzero(held[side]):
            assert leaf in members[side]
            assert any(leaf_of(boxes[side], record, columns) == leaf and GONE in record for record in records)
    table = draw.integers(0, 50, (4, 4)).astype(float)
    inside = [np.isin(np.arange(4), own) for own in members]
    least = jaccard_without(table, *inside, (held[0], held[1]))
    both, either = table[np.ix_(*inside)].sum(), table[inside[0]].sum() + table[~inside[0]][:, inside[1]].sum()
    away = table[np.ix_(*held)].sum()
    for share in (0.0, 0.3, 1.0):
        left = either - share * away
        assert least <= (both - share * away) / left + 1e-12 if left > 0 else least == 0


def test_conditions_on_missing_values_and_on_others():
    missing, rest = 1 << GONE, QUESTIONS.everything("a") & ~(1 << GONE)
    assert only_asks_for_missing([{"a": missing}, {"b": rest}], QUESTIONS)
    assert not only_asks_for_missing([{"a": missing}, {"b": 1}], QUESTIONS)
    assert not only_asks_for_missing([{"a": missing | 1}], QUESTIONS)
    assert not only_asks_for_missing([], QUESTIONS)
    assert not only_asks_for_missing([{}], QUESTIONS)
    never = Domain(schema("never"))
    assert not only_asks_for_missing([{"a": missing}], never)


def test_every_form_tells_of_it():
    model = RedescriptionModel(
        left_columns=("a",),
        right_columns=("x",),
        pairs=(tree_pair(tree("left", literal("a", GONE)), tree("right", literal("x", GONE)), STRONG),),
    )
    said = model.extract(schema(), Constraints(max_p=1.0))
    assert set(said.to_frame()["missing values"]) == {SHORT["both"]}
    told = in_full("both", PEOPLE)
    assert "missing for the same people, as" in told
    assert any(told in one for one in sentences(said, said.found, 20).sentences)
    assert all(told in sentence(item, said.counted) for item in said.found)
