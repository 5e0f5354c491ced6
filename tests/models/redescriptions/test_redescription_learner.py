"""Redescriptions end to end, for every method and as an estimator: what is spent, said and hidden."""

from __future__ import annotations

from decimal import Decimal
from itertools import pairwise, product

import numpy as np
import pandas as pd
import pytest

from dpcore.demo import DEMOS
from dpcore.domain.schemas.schema import Schema
from dpcore.errors import FrostglassError, RequestError, SchemaError
from dpcore.models.redescriptions.learning import redescription_learner as learner_module
from dpcore.models.redescriptions.learning.redescription_estimator import RedescriptionMiner
from dpcore.privacy.randomness import SeededRandom
from tests.support.learning.redescription_cases import (
    LEARNER,
    PLAIN,
    TOGETHER,
    Watched,
    fitting,
    rows_of,
    run,
    schema,
    way,
)
from tests.support.learning.redescription_cases import table as table_of
from tests.support.rows import for_each

SCHEMA = schema()
ROWS = rows_of(SCHEMA, 90)
TABLE = table_of(SCHEMA, ROWS)


def plan_of(epsilon="1", domain=SCHEMA, **parameters):
    return LEARNER.plan(domain, "", Decimal(epsilon), parameters)


# What is drawn does not depend on records, but for what is released


SMALL = schema(PLAIN)
CROWDS = {
    "nobody": [],
    "one": rows_of(SMALL, 1),
    "many": rows_of(SMALL, 120, 1),
    "one more": [*rows_of(SMALL, 120, 1), (1, 1, 1, 0, 0, 0)],
    "all alike": [(1, 0, 1, 1, 0, 1)] * 80,
    "all missing": [(3,) * 6] * 80,
    "all other": [(2,) * 6] * 80,
}


@pytest.mark.crossed
@pytest.mark.parametrize("rounds", [1, 3])
@way
def test_shapes_progress_and_draws_are_the_same_for_every_table(way, rounds):
    """Where a later search of ``exact_pairs`` may look follows from what the first released."""
    told, starts = [], 1 if way["method"] == "exact_pairs" else 2
    for people in CROWDS.values():
        source, calls = Watched(5), []
        table = table_of(SMALL, people)
        _, model = run(
            table,
            "2",
            source,
            lambda *call, calls=calls: calls.append(call),
            **fitting(**way, rounds=rounds, starts=starts, margins=True),
        )
        shapes = [
            (
                pair.start,
                pair.round,
                pair.left.depth,
                pair.right.depth,
                pair.count_scale,
                pair.left_scale,
                np.shape(pair.noisy_counts),
                np.shape(pair.noisy_left),
            )
            for pair in model.pairs
        ]
        told.append((source.calls, calls, shapes))
    assert all(one == told[0] for one in told)
    draws, calls, shapes = told[0]
    assert draws
    assert calls[-1][1] == calls[-1][2]
    for (step, one, _), (later, other, _) in pairwise(calls):
        assert one < other or step != later or other == 0
    turns = 1 if way["method"] in TOGETHER else rounds
    assert [shape[:2] for shape in shapes] == list(product(range(starts), range(turns)))


# What comes out is right


@pytest.mark.crossed
@way
@pytest.mark.parametrize("depth", [1, 2, 3, 4])
def test_tables_are_exact_but_for_their_noise(way, depth):
    """At a huge budget: leaves as the released trees say, left by right, everybody once."""
    plan, model = run(TABLE, "1000", **fitting(**way, depth=depth, starts=2, rounds=2, margins=True, tree_share=0.5))
    frame = TABLE.public_frame()
    for pair, exact in zip(model.pairs, model.exact_tables(frame, SCHEMA), strict=True):
        assert np.array(pair.noisy_counts).tolist() == exact.tolist()
        assert list(pair.noisy_left) == exact.sum(axis=1).tolist()
        assert exact.sum() == len(ROWS)
        expected = 2 if way["method"] == "exact_pairs" else depth
        assert pair.left.depth == pair.right.depth == expected
        for tree in (pair.left, pair.right):
            assert {split.column for split in tree.splits} <= set(SCHEMA.view(tree.view))
    assert model.left_columns == plan.parameters.left == SCHEMA.view("left")
    assert model.right_columns == plan.parameters.right == SCHEMA.view("right")


@way
def test_a_large_budget_finds_what_the_views_share(way):
    """Column 1 on both sides tells of the same people; the others are noise."""
    draw = np.random.default_rng(4)
    cells = draw.integers(0, 2, (150, 6))
    cells[:, 4] = cells[:, 1]
    table = table_of(SMALL, [tuple(map(int, row)) for row in cells])
    more = {"steps": 1_000} if "steps" in way else {}
    if way.get("sampler") == "pool":
        more = {"pool_size": 3000}
    house = way["method"] in {"exact_pairs", "lookahead"}
    shares = []
    for epsilon in ("20", "0.01"):
        hits, searches = 0, 1 if house else 4
        for seed in range(12 // searches):
            chosen = fitting(**way | more, depth=1, starts=searches, tree_share=0.9)
            _, model = run(table, epsilon, SeededRandom(seed), **chosen)
            hits += sum(
                all(name in {split.column for split in tree.splits} for tree, name in sides)
                for sides in (((p.left, "left1"), (p.right, "right1")) for p in model.pairs)
            )
        shares.append(hits / 12)
    if way.get("sensitivity") == "published":
        assert shares[0] < 0.5, "it asks for a hundred times more"
    else:
        # The published methods begin with a column at random.
        assert shares[0] > (0.8 if house else 0.3)
    assert shares[1] < 0.7, "a small budget tells little"


def test_later_trees_are_grown_for_the_tree_before(monkeypatch):
    """Classes of every tree after the first are the leaves of the last tree of the other view."""
    grown, inner = [], learner_module.draw_tree

    def watched(table, literals, classes, *rest):
        tree = inner(table, literals, classes, *rest)
        grown.append((classes(table.partitions[0]), tree))
        return tree

    monkeypatch.setattr(learner_module, "draw_tree", watched)
    _, model = run(TABLE, "5", method="alt_expm", depth=2, starts=3, rounds=3)
    assert len(grown) == 12
    frame = TABLE.public_frame()
    for search in range(3):
        pairs = model.pairs[3 * search : 3 * search + 3]
        trees = grown[4 * search : 4 * search + 4]
        for turn, pair in enumerate(pairs):
            left, right = pair.left.apply(frame, SCHEMA), pair.right.apply(frame, SCHEMA)
            sizes = [int(np.bitwise_count(words).sum()) for words in trees[turn + 1][0]]
            groups = [np.bincount(leaves, minlength=4).tolist() for leaves in (left, right)]
            assert sizes in groups
        assert all(one.left == two.left or one.right == two.right for one, two in pairwise(pairs))


# Views


LONE = {"name": "lone", "type": "real", "lower": 0, "upper": 1, "bins": 1}
EMPTY_LEFT = schema(PLAIN[3:])
UNSPLIT = schema([*PLAIN, LONE])


#: Nearly all of its time goes into comparing single conditions.
LINKED = {"method": "lookahead", "depth": 1, "starts": 20}


def wide(columns, bins, max_rows):
    return schema(
        [
            {"name": f"{view}{i}", "type": "real", "lower": 0, "upper": 1, "bins": bins, "view": view}
            for view in ("left", "right")
            for i in range(columns)
        ],
        max_rows,
    )


#: Hardly any pairs of conditions, one of each side, but millions of pairs on the right side.
LOPSIDED = schema(
    [
        {"name": "one", "type": "boolean", "view": "left"},
        *(column.model_dump() for column in wide(40, 150, 1000) if column.view == "right"),
    ],
    max_rows=1000,
)


@for_each(
    ("domain", "parameters", "sentence"),
    [
        (SCHEMA, {"left": ("old", "old")}, "name each column of a view once"),
        (SCHEMA, {"left": ("old",), "right": ("old",)}, "'old' cannot be in both views"),
        (SCHEMA, {"left": ("sugar", "old")}, "'sugar' cannot be in both views: take it out"),
        (SCHEMA, {"left": ("unheard of",)}, "no column 'unheard of'"),
        (SCHEMA, {"left": ("person",)}, "no column 'person'"),
        (SCHEMA, {"left": ()}, "left"),
        (SCHEMA, {"left": ("",)}, "left"),
        (EMPTY_LEFT, {}, "puts no column on the left side: choose"),
        (UNSPLIT, {"left": ("lone",)}, "nothing to split on the left side: add"),
        (UNSPLIT, {"right": ("lone",)}, "nothing to split on the right side: add"),
        (SCHEMA, {"depth": 2.5}, "depth"),
        (SCHEMA, {"depth": 3}, "'exact_pairs' has trees of depth 2: leave the depth out"),
        (SCHEMA, {"rounds": 2}, "'exact_pairs' has no rounds: leave them at 1"),
        (SCHEMA, {"method": "mcmc_tree_pair", "rounds": 2}, "has no rounds: leave them at 1"),
        (SCHEMA, {"tree_share": float("nan")}, "tree_share"),
        (SCHEMA, {"sensitivity": 0.5}, "sensitivity"),
        (wide(9, 256, 1000), {}, "too many conditions to pair: choose fewer columns"),
        (LOPSIDED, {}, "too many conditions to pair: choose fewer columns"),
        (wide(20, 16, 10**8), {"method": "alt_mcmc", "steps": 1_000}, "more memory than a run may use"),
        (wide(2, 5, 10**8), {"method": "alt_mcmc"}, "would take hours: choose fewer"),
        (wide(2, 5, 10**8), {"method": "mcmc_tree_pair", "sampler": "pool"}, "would take hours"),
        (wide(5, 40, 4_000_000), {"method": "lookahead", "depth": 3}, "would take hours"),
        (wide(8, 226, 4_500_000), LINKED, "would take hours"),
    ],
)
def test_a_request_that_cannot_be_honoured_is_refused(domain, parameters, sentence):
    with pytest.raises((RequestError, SchemaError), match=sentence) as caught:
        plan_of("1", domain, **parameters)
    assert str(caught.value).endswith(".")
    assert isinstance(caught.value, FrostglassError)


WARD = Schema.from_text(
    """
name: two sides
max_rows: 1000
columns:
  - {name: diabetes, type: boolean, view: left}
  - {name: age, type: integer, lower: 20, upper: 100, bins: 4, view: left}
  - {name: sugar, type: real, lower: 0, upper: 20, edges: [5, 7], view: right}
  - {name: insulin, type: boolean, view: right}
  - {name: ward, type: categorical, categories: [a, b]}
"""
)


def people(rows=900):
    draw = np.random.default_rng(2)
    ill = draw.random(rows) < 0.4
    return pd.DataFrame(
        {
            "diabetes": ill,
            "age": draw.integers(20, 100, rows),
            "sugar": np.where(ill ^ (draw.random(rows) < 0.05), 9.0, 4.0),
            "insulin": draw.random(rows) < 0.5,
            "ward": draw.choice(["a", "b"], rows),
        }
    )


def miner(**changes):
    return RedescriptionMiner(**{"epsilon": 4, "schema": WARD, "random_state": 1, **changes})


def test_what_goes_together_is_found_and_told():
    fitted = miner().fit(people())
    best = fitted.redescriptions_.found[0]
    assert best.columns == {"diabetes", "sugar"}
    assert best.jaccard > 0.8
    assert fitted.n_features_in_ == 5
    assert fitted.release_.target == ""
    assert fitted.release_.certificate.epsilon == 4


def test_rows_are_told_by_both_sides():
    frame = people()
    fitted = miner().fit(frame)
    rows = fitted.transform(frame)
    assert rows.shape == (900, len(fitted.redescriptions_.found))
    ill = frame["diabetes"] & (frame["sugar"] > 7)
    well = ~frame["diabetes"] & (frame["sugar"] <= 7)
    first = rows[:, 0]
    assert (first == ill).all() or (first == well).all()


def test_two_frames_are_the_two_views():
    frame = people()
    bare = Schema.from_mapping(
        WARD.model_dump(mode="json") | {"columns": [c.model_dump(mode="json") | {"view": None} for c in WARD.columns]}
    )
    fitted = miner(schema=bare).fit(frame[["diabetes", "age", "ward"]], frame[["sugar", "insulin"]])
    assert fitted.model_.left_columns == ("diabetes", "age", "ward")
    assert fitted.model_.right_columns == ("sugar", "insulin")
    with pytest.raises(RequestError, match="left side"):
        miner(schema=bare).fit(frame)


def test_planted_redescriptions_come_back():
    """All five, at epsilon 1 with 12,000 people; seeded, so chance plays no part."""
    demo = DEMOS["checkups"]()
    fitted = RedescriptionMiner(epsilon=1, schema=demo.schema, random_state=0).fit(demo.frame)
    found = fitted.redescriptions_
    kept = found.pruned(found.suggested_support)
    masks = []
    for item in kept:
        pair = fitted.model_.pairs[item.pair]
        masks.append(
            (
                np.isin(pair.left.apply(demo.frame, demo.schema), item.left_leaves),
                np.isin(pair.right.apply(demo.frame, demo.schema), item.right_leaves),
            )
        )
    for planted in demo.planted:
        assert max(planted.agreement(demo.frame, *sides) for sides in masks) >= 0.8, planted.name
