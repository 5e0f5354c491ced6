"""Redescriptions as they are read off a model: round trips, order, groups, exact tables."""

from __future__ import annotations

import dataclasses
from collections import Counter

import numpy as np
import pandas as pd
import pytest
from pydantic import ValidationError

from dpcore.domain.schemas.schema import Schema
from dpcore.models.redescriptions.released.consistent import consistent_counts
from dpcore.models.redescriptions.released.duplicates import SHORT
from dpcore.models.redescriptions.released.extraction import Constraints, Search
from dpcore.models.redescriptions.released.redescription_model import RedescriptionModel
from dpcore.models.redescriptions.released.redescription_set import read_pairs
from dpcore.models.redescriptions.released.tree_pair import Domain, Tree, TreePair
from tests.support.learning.redescription_tables import geometric, pair_of, wide_schema
from tests.support.results.small_redescriptions import (
    ILL,
    INSULIN,
    SCHEMA,
    TREATED,
    literal,
    many_pairs,
    nothing_in_common,
    small_pairs,
    tree,
    tree_pair,
    two_sided_people,
)
from tests.support.rows import for_each

MODEL = small_pairs()
FOUND = MODEL.extract(SCHEMA)


def test_the_best_come_first():
    model, schema = many_pairs(4)
    for score in ("above chance", "jaccard"):
        found = model.extract(schema, Constraints(score=score)).found
        assert len(found) > 10
        least = [item.interval[0] - (item.chance if score == "above chance" else 0) for item in found]
        assert least == sorted(least, reverse=True)


def test_constraints_hold_for_what_is_found():
    model, schema = many_pairs(3)
    people = [consistent_counts(pair, Domain(schema)).people for pair in model.pairs]
    for chosen in (
        Constraints(),
        Constraints(min_jaccard=0.7, max_support=0.3),
        Constraints(min_support=5000, min_above_chance=0.4),
        Constraints(disjuncts=1),
    ):
        for item in model.extract(schema, chosen).found:
            assert item.jaccard >= chosen.min_jaccard
            assert item.support <= chosen.max_support * people[item.pair]
            assert item.support >= (chosen.min_support or 0)
            assert item.jaccard >= item.chance + chosen.min_above_chance
            assert item.p_value <= chosen.max_p
            leaves = len(item.left_leaves), len(item.right_leaves)
            assert all(size <= chosen.disjuncts or size == 7 for size in leaves)


def test_numbers_fit_together():
    for item in FOUND.found:
        either = item.support + item.left_only + item.right_only
        assert item.jaccard == pytest.approx(item.support / either)
        assert item.interval[0] <= item.jaccard <= item.interval[1]
        counts = np.array(MODEL.pairs[item.pair].noisy_counts)
        noisy = counts[np.ix_(item.left_leaves, item.right_leaves)].sum()
        assert abs(noisy - item.support) <= item.support_margin
        assert item.text == f"{item.left}  ⇔  {item.right}"
        assert item.conditions >= 2
        assert item.columns <= {column.name for column in SCHEMA}
    assert FOUND.people == pytest.approx(4000)
    assert FOUND.suggested_support > 0


def test_the_frame_holds_one_row_each():
    frame = FOUND.to_frame()
    assert len(frame) == len(FOUND.found)
    for row, item in zip(frame.to_dict("records"), FOUND.found, strict=True):
        assert (row["left"], row["right"]) == (item.left_query, item.right_query)
        assert row["noisy Jaccard index"] == item.jaccard
        assert (row["from"], row["to"]) == item.interval
        assert (row["noisy support"], row["support margin"]) == (item.support, item.support_margin)
        assert (row["similar"], row["pair of trees"]) == (item.similar, item.pair)
        assert row["missing values"] == SHORT[item.missing]
    empty = nothing_in_common().extract(SCHEMA).to_frame()
    assert empty.empty
    assert list(empty.columns) == list(frame.columns)


def test_similar_ones_are_counted():
    """What the searches found is either shown or counted with something that is."""
    model, schema = many_pairs(3)
    chosen, domain = Constraints(), Domain(schema)
    settled = sum(len(Search(consistent_counts(pair, domain), chosen).found()) for pair in model.pairs)
    found = model.extract(schema, chosen).found
    assert sum(item.similar + 1 for item in found) == settled
    assert any(item.similar for item in found)
    assert all(item.similar >= 0 for item in found)


def test_a_pair_that_was_drawn_twice_is_shown_once():
    twice = RedescriptionModel(
        left_columns=MODEL.left_columns,
        right_columns=MODEL.right_columns,
        pairs=(MODEL.pairs[0], MODEL.pairs[0].model_copy(update={"start": 1})),
    )
    once = RedescriptionModel(left_columns=MODEL.left_columns, right_columns=MODEL.right_columns, pairs=MODEL.pairs[:1])
    found = twice.extract(SCHEMA).found
    assert [item.text for item in found] == [item.text for item in once.extract(SCHEMA).found]
    assert all(item.similar % 2 for item in found)


def test_a_nearly_empty_leaf_does_not_make_a_condition_longer():
    """Nobody has both: "either but not both" says no more than "either"."""
    left = tree("left", ILL, literal("diabetes_2009", 1), literal("diabetes_2009", 1))
    right = tree("right", TREATED, INSULIN, INSULIN)
    counts = [[2, -1, 1, 0], [0, 500, 300, 20], [3, 200, 400, 30], [1, 15, 25, 2500]]
    model = RedescriptionModel(
        left_columns=MODEL.left_columns, right_columns=MODEL.right_columns, pairs=(tree_pair(left, right, counts),)
    )
    best = model.extract(SCHEMA).found
    assert "diabetes in 2008 or 2009  ⇔  metformin or insulin" in [item.text for item in best]
    assert not any("(" in item.text for item in best)


def naive_table(pair: TreePair, frame: pd.DataFrame, schema: Schema) -> np.ndarray:
    """Record by record, from values to cells to leaves."""
    table = np.zeros((pair.left.leaf_count, pair.right.leaf_count), dtype=int)

    def holds(split, record) -> bool:
        column, value = schema.column(split.column), record.get(split.column)
        missing = value is None or (isinstance(value, float) and np.isnan(value)) or value == ""
        if missing:
            cell = len(column.cells) - 1
        elif hasattr(column, "lower"):
            cell = sum(min(max(value, column.lower), column.upper) > e for e in column.inner_edges)
        else:
            cell = column.cells.index(value) if value in column.cells else len(column.cells) - 2
        return split.first <= cell <= split.last

    def leaf(tree: Tree, record) -> int:
        node = 0
        while node < len(tree.splits):
            node = 2 * node + (1 if holds(tree.splits[node], record) else 2)
        return node - len(tree.splits)

    for record in frame.to_dict("records"):
        table[leaf(pair.left, record), leaf(pair.right, record)] += 1
    return table


def test_exact_tables_are_those_of_record_by_record():
    frame = two_sided_people(400)
    frame.loc[::7, "glucose"] = np.nan
    frame.loc[::5, "<i>ward</i>"] = "E"
    frame.loc[::11, "metformin"] = ""
    for number, table in enumerate(MODEL.exact_tables(frame, SCHEMA)):
        np.testing.assert_array_equal(table, naive_table(MODEL.pairs[number], frame, SCHEMA))
        assert table.sum() == 400
    missing = MODEL.exact_tables(frame.drop(columns="age"), SCHEMA)[1]
    absent = frame.assign(age=np.nan)
    np.testing.assert_array_equal(missing, naive_table(MODEL.pairs[1], absent, SCHEMA))
    assert MODEL.exact_tables(frame.iloc[:0], SCHEMA)[0].sum() == 0


def test_noise_alone_says_nothing():
    """Independent sides: 5 readings of 4 pairs of trees with 64 counts each."""
    schema = wide_schema(3)
    draw = np.random.default_rng(0)
    for seed in range(5):
        exact = [draw.multinomial(3000, np.full(64, 1 / 64)).reshape(8, 8) for _ in range(4)]
        pairs = [pair_of(t + geometric(8.0, (8, 8), 10 * seed + i), 8.0) for i, t in enumerate(exact)]
        assert read_pairs(pairs, schema, Constraints()).found == ()


@for_each(
    "changes",
    [
        {"noisy_counts": ((1, 2), (3, 4))},
        {"noisy_counts": ((1, 2, 3, 4),) * 3},
        {"noisy_left": (1, 2, 3, 4)},
        {"noisy_left": (1, 2, 3), "left_scale": 1.0},
        {"count_scale": -1.0},
        {"count_scale": float("nan")},
        {"left": MODEL.pairs[0].right},
    ],
)
def test_a_pair_that_does_not_fit_together_is_refused(changes):
    content = MODEL.pairs[0].model_dump() | {
        name: value.model_dump() if isinstance(value, Tree) else value for name, value in changes.items()
    }
    with pytest.raises(ValidationError):
        TreePair.model_validate(content)


@for_each("splits", [0, 2, 4, 31])
def test_a_tree_has_one_to_four_whole_levels(splits):
    with pytest.raises(ValidationError, match="1, 3, 7 or 15 splits"):
        Tree(view="left", splits=(ILL,) * splits)


def test_every_redescription_is_shown_once():
    model, schema = many_pairs(6)
    found = model.extract(schema, Constraints(min_jaccard=0.3)).found
    shown = Counter((item.pair, item.left_leaves, item.right_leaves) for item in found)
    assert max(shown.values()) == 1
    assert len({dataclasses.replace(item, similar=0) for item in found}) == len(found)
