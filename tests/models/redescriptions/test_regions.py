"""Unions of leaves as boxes: the same records, in fewer conditions."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from itertools import product

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from dpcore.domain.conditions import Condition
from dpcore.domain.schemas.schema import Schema
from dpcore.models.redescriptions.released.duplicates import query_overlap
from dpcore.models.redescriptions.released.simplify import Space, covered, simplified
from dpcore.models.redescriptions.released.tree_pair import Box, Domain, Tree, shared_cells
from tests.support.rows import for_each
from tests.support.tables.small_tables import ward

KINDS = [
    {"type": "boolean"},
    {"type": "categorical", "categories": ["x", "y", "z"]},
    {"type": "ordinal", "categories": ["low", "mid", "high"]},
    {"type": "real", "lower": 0, "upper": 9, "edges": [1, 3, 6]},
]
SCHEMAS = st.lists(st.sampled_from(KINDS), min_size=1, max_size=4).map(
    lambda kinds: ward(*[{"name": f"c{place}", **kind} for place, kind in enumerate(kinds)], name="small", max_rows=10)
)


@st.composite
def trees(draw: st.DrawFn, schema: Schema) -> Tree:
    """A tree with any splits, contradictory ones among them."""
    splits = []
    for _ in range(2 ** draw(st.integers(1, 3)) - 1):
        column = draw(st.sampled_from(schema.columns))
        first = draw(st.integers(0, len(column.cells) - 1))
        last = draw(st.integers(first, len(column.cells) - 1))
        splits.append(Condition(column=column.name, first=first, last=last))
    return Tree(view="left", splits=tuple(splits))


@st.composite
def unions_of_leaves(draw: st.DrawFn) -> tuple[Schema, Tree, list[int]]:
    schema = draw(SCHEMAS)
    tree = draw(trees(schema))
    leaves = draw(st.lists(st.integers(0, tree.leaf_count - 1), unique=True))
    return schema, tree, leaves


def records(schema: Schema) -> Iterator[dict[str, int]]:
    """Every combination of cells."""
    names = [column.name for column in schema]
    for cells in product(*(range(len(column.cells)) for column in schema)):
        yield dict(zip(names, cells, strict=True))


def holds(box: Mapping[str, int], record: Mapping[str, int]) -> bool:
    return all(cells >> record[name] & 1 for name, cells in box.items())


def leaf_of(tree: Tree, record: Mapping[str, int]) -> int:
    node = 0
    while node < len(tree.splits):
        split = tree.splits[node]
        node = 2 * node + (1 if split.first <= record[split.column] <= split.last else 2)
    return node - len(tree.splits)


def parts(tree: Tree, leaves: Iterable[int], schema: Schema) -> tuple[list[Box], list[Box]]:
    """Boxes of some leaves, and of all others."""
    chosen, boxes = set(leaves), list(enumerate(tree.boxes(schema)))
    inside = [box for leaf, box in boxes if leaf in chosen and box is not None]
    return inside, [box for leaf, box in boxes if leaf not in chosen and box is not None]


def conditions(boxes: Sequence[Box]) -> int:
    return sum(map(len, boxes))


@given(unions_of_leaves())
def test_the_very_same_records_in_no_more_conditions(made):
    schema, tree, leaves = made
    domain = Domain(schema)
    inside, outside = parts(tree, leaves, schema)
    found = simplified(inside, domain, outside)
    for record in records(schema):
        assert any(holds(box, record) for box in found) == (leaf_of(tree, record) in leaves)
    assert conditions(found) <= conditions(inside)
    assert len(found) <= max(len(inside), 1)
    assert simplified(found, domain, outside) == found


@given(unions_of_leaves(), st.randoms())
def test_neither_order_nor_what_is_known_of_the_rest_matters(made, random):
    schema, tree, leaves = made
    domain = Domain(schema)
    inside, outside = parts(tree, leaves, schema)
    found = simplified(inside, domain, outside)
    shuffled = [dict(random.sample(list(box.items()), len(box))) for box in inside]
    random.shuffle(shuffled)
    random.shuffle(outside)
    assert simplified(shuffled, domain, outside) == found
    assert simplified(shuffled, domain) == found
    assert simplified(found, domain) == found


@given(unions_of_leaves())
def test_boxes_of_leaves_hold_the_records_that_reach_them(made):
    schema, tree, _ = made
    boxes, reached = tree.boxes(schema), tree.reached(Domain(schema))
    found = {leaf_of(tree, record) for record in records(schema)}
    assert found == set(np.flatnonzero(reached).tolist())
    for record in records(schema):
        for leaf, box in enumerate(boxes):
            assert (box is not None and holds(box, record)) == (leaf_of(tree, record) == leaf)


@given(unions_of_leaves())
def test_covering_is_told_as_by_enumeration(made):
    schema, tree, leaves = made
    inside, outside = parts(tree, leaves, schema)
    space = Space({name for box in [*inside, *outside] for name in box}, Domain(schema))
    cubes = [space.cube(box) for box in inside]
    for box in [*inside, *outside, *(dict(list(box.items())[:1]) for box in inside)]:
        every = all(any(holds(other, record) for other in inside) for record in records(schema) if holds(box, record))
        assert covered(space.cube(box), cubes) == every


@given(unions_of_leaves(), st.data())
def test_overlap_is_that_of_the_public_combinations_of_cells(made, data):
    schema, one, _ = made
    other = data.draw(trees(schema))
    domain = Domain(schema)
    members = [
        data.draw(st.lists(st.booleans(), min_size=tree.leaf_count, max_size=tree.leaf_count)) for tree in (one, other)
    ]
    found = query_overlap(one, np.array([members[0]]), other, np.array([members[1]]), domain)
    every = list(records(schema))
    holding = [
        {i for i, record in enumerate(every) if own[leaf_of(tree, record)]}
        for tree, own in zip((one, other), members, strict=True)
    ]
    both, either = holding[0] & holding[1], holding[0] | holding[1]
    assert found[0, 0] == pytest.approx(len(both) / len(either) if either else 0)
    back = query_overlap(other, np.array([members[1]]), one, np.array([members[0]]), domain)
    assert back[0, 0] == pytest.approx(found[0, 0])
    whole = shared_cells(one.boxes(schema), one.boxes(schema), domain)
    assert np.trace(whole) == pytest.approx(1)


SCHEMA = ward(
    {"name": "a", "type": "boolean"},
    {"name": "b", "type": "boolean"},
    {"name": "age", "type": "integer", "lower": 0, "upper": 90, "edges": [30, 60]},
    {"name": "hue", "type": "categorical", "categories": ["red", "green", "blue"]},
    name="four",
    max_rows=10,
)
DOMAIN = Domain(SCHEMA)
YES, NOT_YES, YOUNG, MIDDLE, OLD = 0b0010, 0b1101, 0b0001, 0b0010, 0b1100


@for_each(
    ("boxes", "simple"),
    [
        ([{"a": YES, "b": YES}, {"a": YES, "b": NOT_YES}], [{"a": YES}]),
        ([{"a": YES}, {"a": NOT_YES, "b": YES}], [{"a": YES}, {"b": YES}]),
        ([{"a": YES}, {"a": NOT_YES}], [{}]),
        ([{"a": NOT_YES, "b": YES}, {"a": YES, "b": YES}, {"a": YES, "b": NOT_YES}], [{"a": YES}, {"b": YES}]),
        # Neither is wider than it has to be: "at most 60 or b" needs no hole.
        ([{"age": YOUNG}, {"age": MIDDLE, "a": YES}], [{"age": YOUNG}, {"a": YES, "age": YOUNG | MIDDLE}]),
        ([{"age": YOUNG}, {"age": OLD, "a": YES}], [{"age": YOUNG}, {"a": YES, "age": OLD}]),
        ([{"a": 0, "b": YES}], []),
        ([], []),
    ],
)
def test_some_unions_by_hand(boxes, simple):
    assert simplified(boxes, DOMAIN) == simple


def test_a_negated_leaf_is_a_list_of_single_conditions():
    """The longest union of the deepest tree, over columns of a thousand cells."""
    columns = [
        {"name": f"c{place}", "type": "categorical", "categories": [f"k{number}" for number in range(998)]}
        for place in range(15)
    ]
    schema = Schema.from_mapping({"name": "wide", "max_rows": 10, "columns": columns})
    splits = [Condition(column=f"c{place}", first=7 * place, last=500) for place in range(15)]
    tree = Tree(view="left", splits=tuple(splits))
    inside, outside = parts(tree, set(range(16)) - {5}, schema)
    found = simplified(inside, Domain(schema), outside)
    assert found == simplified(inside, Domain(schema))
    assert [len(box) for box in found] == [1] * 4
    everybody, nobody = parts(tree, range(16), schema)
    assert simplified(everybody, Domain(schema), nobody) == [{}]
