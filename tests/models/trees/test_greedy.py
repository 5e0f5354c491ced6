import itertools
from decimal import Decimal

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from dpcore.data.partition import Partition
from dpcore.errors import BudgetError
from dpcore.models.trees.learning import contingency
from dpcore.models.trees.learning.contingency import NodeData, Region, Routes, Share
from dpcore.models.trees.learning.criteria import losses, make_criterion
from dpcore.models.trees.learning.driver import MAX_NODES
from dpcore.models.trees.learning.greedy import grow_adaptive, grow_fixed, smallest_step
from dpcore.models.trees.learning.growth import Grown, freeze
from dpcore.models.trees.learning.random_trees import (
    column_sampler,
    grow_adaptive_forest,
    grow_random,
    grow_random_forest,
)
from dpcore.models.trees.learning.sulq import grow_sulq
from dpcore.models.trees.released.tree_parameters import ForestParameters, TreeParameters
from dpcore.privacy.budgets import EPSILON_STEP
from dpcore.privacy.randomness import SeededRandom
from tests.oracles import trees_oracle
from tests.oracles.mechanisms_oracle import FALSE_ALARM, chi_square
from tests.support.learning.partitioned import divided
from tests.support.results.hand_made_trees import paths
from tests.support.rows import for_each
from tests.support.tables.small_tables import schema_of, table_of

COLUMNS = [
    {"name": "x", "type": "boolean"},
    {"name": "c", "type": "categorical", "categories": ["a", "b", "d"]},
    {"name": "y", "type": "categorical", "categories": ["p", "q", "r"], "target": True},
    {"name": "n", "type": "integer", "lower": 0, "upper": 50, "edges": [10, 20, 30, 40]},
    {"name": "o", "type": "ordinal", "categories": ["low", "mid", "high"]},
]
#: Large enough for 20 steps of the adaptive learner on a path, two levels at the lower price.
SCHEMA = schema_of(COLUMNS, max_rows=2**15)
CELLS = [len(column.cells) for column in SCHEMA]
CRITERIA = ["error", "gini", "information_gain", "matsushita"]
rows = st.lists(st.tuples(*(st.integers(0, cells - 1) for cells in CELLS)), max_size=60)


def data_of(content, schema=SCHEMA):
    return NodeData(table_of(schema, content), "y", "all")


def root_counts(data):
    root = Grown()
    return data.cell_counts(Routes.to([root], root, data.schema))[0]


def class_counts(content, region):
    """Records per class in a region, one by one."""
    codes = {SCHEMA.index(name): cells for name, cells in region.cells.items()}
    inside = [row for row in content if all(row[place] in cells for place, cells in codes.items())]
    return [sum(row[2] == label for row in inside) for label in range(3)]


def random_rows(count, seed=0):
    generator = np.random.default_rng(seed)
    return [tuple(int(generator.integers(cells)) for cells in CELLS) for _ in range(count)]


def nodes_of(grown, region=Region()):  # noqa: B008
    yield grown, region
    for branch, child in enumerate(grown.children):
        yield from nodes_of(child, region.narrowed(grown.split, branch))


def structure(grown):
    return grown.split, [structure(child) for child in grown.children]


@given(rows)
def test_candidate_tables_agree_with_the_oracle(content):
    data = data_of(content)
    candidates = data.candidates(Region())
    labels = [row[2] for row in content]
    assert [len(item) for item in candidates] == [1, 1, 4, 2]
    for item in candidates:
        counts = data.of_column(root_counts(data), item.column)
        for place, table in enumerate(item.tables(counts)):
            split = item.split(place, SCHEMA)
            expected = trees_oracle.branch_table(content, labels, SCHEMA.index(split.column), split.branches, 3)
            assert table.tolist() == expected
            assert item.branches == split.branch_count


@given(rows, st.integers(0, 2**32), st.integers(1, 7))
@settings(max_examples=settings.default.max_examples // 2)
def test_nodes_hold_the_records_of_their_path(content, seed, partitions):
    """Every cell of every node of a random tree, in any order, whole levels and single nodes."""
    table = divided(table_of(SCHEMA, content), partitions, seed)
    data, root = NodeData(table, "y", "all"), grow_random(data_of([]), Decimal(1), 3, SeededRandom(seed))
    nodes = [(grown, region) for grown, region in nodes_of(root) if not grown.children]
    order = np.random.default_rng(seed).permutation(len(nodes))[: 1 + seed % len(nodes)]
    asked = [nodes[place] for place in order]
    routes = Routes.to([grown for grown, _ in asked], root, SCHEMA)
    cells = data.cell_counts(routes)
    for (_, region), counts, classes in zip(asked, cells, data.class_counts(routes), strict=True):
        assert classes.tolist() == class_counts(content, region)
        for column in data.features:
            known = region.cells.get(column.name, range(len(column.cells)))
            expected = [
                class_counts(content, Region({**region.cells, column.name: (code,) if code in known else ()}))
                for code in range(len(column.cells))
            ]
            assert data.of_column(counts, column).tolist() == expected


record = st.tuples(*(st.integers(0, cells - 1) for cells in CELLS))


@pytest.mark.parametrize("name", CRITERIA)
@given(content=rows, more=record)
def test_one_row_moves_the_losses_of_all_candidates_alike(name, content, more):
    """What the exponential mechanism is told, on bit vectors of neighbouring tables."""
    criterion = make_criterion(name, SCHEMA.max_rows, 3)
    before, after = (_all_losses(data_of(part), criterion) for part in (content, [*content, more]))
    change = after - before
    assert len(change) == 8
    assert change.min() >= 0
    assert change.max() <= criterion.sensitivity.value


def _all_losses(data, criterion):
    counts = root_counts(data)
    return np.concatenate(
        [losses(criterion, item.tables(data.of_column(counts, item.column))) for item in data.candidates(Region())]
    )


@given(rows, record)
def test_one_row_moves_one_cell_of_each_column(content, more):
    """The noisy table of SuLQ: L1 sensitivity is the number of columns, attained."""
    data = [data_of(part) for part in (content, [*content, more])]
    columns = data[0].features
    change = np.abs(np.subtract(*(root_counts(one) for one in data)))
    assert change.sum() == (len(columns) if more[2] < 3 else 0)


def test_candidates_below_a_split():
    """A category column is used up; an ordered one keeps the edges inside what is possible."""
    data = data_of([])
    by_name = {item.column.name: item for item in data.candidates(Region())}
    used = Region().narrowed(by_name["c"].split(0, SCHEMA), 3)
    assert [i.column.name for i in data.candidates(used)] == ["x", "n", "o"]
    cut = by_name["n"].split(1, SCHEMA)
    edges = [
        next(i for i in data.candidates(Region().narrowed(cut, side)) if i.column.name == "n").edges for side in (0, 1)
    ]
    assert [list(e) for e in edges] == [[0], [2, 3]]
    last = by_name["o"].split(1, SCHEMA)
    narrow = Region().narrowed(last, 1)
    assert narrow.cells["o"] == (2, 3, 4), "the reserved cells stay on the far side"
    assert "o" not in [i.column.name for i in data.candidates(narrow)]


METHODS = {
    "adaptive": lambda data, budget, r, c: [
        grow_adaptive(data, budget, TreeParameters(method="adiffp", criterion=c), r)
    ],
    "adaptive, thrifty": lambda data, budget, r, c: [
        grow_adaptive(data, budget, TreeParameters(method="adiffp", criterion=c, spend_rest=False), r)
    ],
    "fixed": lambda data, budget, r, c: [grow_fixed(data, budget, c, 3, r)],
    "sulq": lambda data, budget, r, c: [grow_sulq(data, budget, c, 3, r)],
    "random": lambda data, budget, r, c: [grow_random(data, budget, 3, r)],
}


@pytest.mark.parametrize("method", METHODS)
@given(
    rows,
    st.integers(8, 10**12).map(lambda steps: steps * EPSILON_STEP),
    st.integers(0, 2**32),
    st.sampled_from(CRITERIA),
)
@settings(max_examples=settings.default.max_examples // 2)
def test_no_path_spends_more_than_it_was_given(method, content, budget, seed, criterion):
    (root,) = METHODS[method](data_of(content), budget, SeededRandom(seed), criterion)
    for path in paths(root):
        assert sum((node.spent for node in path), Decimal(0)) <= budget
        assert all(node.spent >= 0 for node in path)
        leaf = path[-1]
        assert 0 < leaf.count_epsilon <= leaf.spent
        assert leaf.noisy_counts.shape == (3,)
    assert sum(1 for _ in nodes_of(root)) <= MAX_NODES
    assert freeze(root, SCHEMA, "pqr", budget).budget == budget


@pytest.mark.crossed
@pytest.mark.parametrize("method", ["adaptive", "fixed", "sulq", "random"])
@pytest.mark.parametrize("budget", ["0.000000008", "0.1", "0.777777777", "3", "1000"])
def test_every_path_spends_all_that_it_was_given(method, budget):
    for seed in range(5):
        data = data_of(random_rows(300, seed))
        (root,) = METHODS[method](data, Decimal(budget), SeededRandom(seed), "gini")
        for path in paths(root):
            assert sum((node.spent for node in path), Decimal(0)) == Decimal(budget)


@pytest.mark.parametrize("grow", [grow_fixed, grow_sulq])
def test_nothing_is_bought_that_decides_nothing(grow):
    """One split to choose from, then none: the root's count, and the counts of its leaves."""
    schema = schema_of([COLUMNS[0], COLUMNS[2]], max_rows=1000)
    data = NodeData(table_of(schema, [(0, 0), (1, 1)] * 100), "y", "all")
    root = grow(data, Decimal(8), "gini", 3, SeededRandom(1))
    assert root.spent == 1
    assert [child.spent for child in root.children] == [7, 7, 7][: len(root.children)]
    assert all(child.count_epsilon == 7 and child.noisy_total is None for child in root.children)
    assert root.noisy_total is not None
    deep = grow(data_of(random_rows(2000)), Decimal(800), "gini", 1, SeededRandom(1))
    assert deep.spent == 400, "a count and a choice"
    assert all(child.count_epsilon == 400 for child in deep.children), "and no count besides"


@for_each("steps", [1, 2, 7])
def test_a_budget_of_a_few_steps_still_buys_a_leaf_or_a_plain_refusal(steps):
    budget, data = steps * EPSILON_STEP, data_of(random_rows(20))
    root = grow_adaptive(data, budget, TreeParameters(), SeededRandom(1))
    assert not root.children
    assert root.spent == root.count_epsilon == budget
    for grow in (grow_fixed, grow_sulq):
        with pytest.raises(BudgetError, match="too small"):
            grow(data, budget, "error", 3, SeededRandom(1))


@for_each("method", ["adaptive", "fixed", "sulq", "random"])
def test_a_leaf_counts_its_records(method):
    """With a budget that makes noise vanish, leaves hold the exact counts of their region."""
    content = random_rows(300)
    (root,) = METHODS[method](data_of(content), Decimal(10**6), SeededRandom(2), "gini")
    leaves = [(g, region) for g, region in nodes_of(root) if not g.children]
    assert len(leaves) > 1
    for grown, region in leaves:
        assert grown.noisy_counts.tolist() == class_counts(content, region)


@pytest.mark.parametrize("method", ["fixed", "sulq"])
def test_levels_that_are_counted_in_batches_grow_the_same_tree(method, monkeypatch):
    data = data_of(random_rows(2000))
    whole, pieces = (
        METHODS[method](data, Decimal(3000), SeededRandom(4), "gini")[0]
        for most in (contingency._AT_ONCE, 1)
        if not monkeypatch.setattr(contingency, "_AT_ONCE", most)
    )
    assert sum(1 for _ in nodes_of(whole)) > 20
    assert structure(pieces) == structure(whole)
    assert pieces.counts().tolist() == whole.counts().tolist()


PLANTED = [
    {"name": "noise", "type": "categorical", "categories": ["a", "b", "d", "e"]},
    {"name": "n", "type": "integer", "lower": 0, "upper": 50, "edges": [10, 20, 30, 40]},
    {"name": "c", "type": "categorical", "categories": ["u", "v", "w"]},
    {"name": "y", "type": "categorical", "categories": ["p", "q"], "target": True},
    {"name": "more", "type": "ordinal", "categories": ["l", "m", "h"]},
]


def planted():
    """The class is q above 20, and below 20 for category v."""
    schema = schema_of(PLANTED, max_rows=5000)
    content = [
        (noise, n, c, int(n > 1 or c == 1), more)
        for noise, n, c, more in itertools.product(range(4), range(5), range(3), range(3))
        for _ in range(10)
    ]
    return NodeData(table_of(schema, content), "y", "all"), schema


@for_each("criterion", CRITERIA)
@for_each("method", ["adaptive", "fixed", "sulq"])
def test_a_huge_budget_finds_the_planted_splits(method, criterion):
    data, _ = planted()
    (root,) = METHODS[method](data, Decimal(100_000), SeededRandom(3), criterion)
    assert (root.split.column, root.split.branches) == ("n", (0, 0, 1, 1, 1, 1))
    assert root.children[0].split.column == "c", "the planted split below the first"
    labels = [int(np.argmax(child.counts())) for child in root.children[0].children[:3]]
    assert labels == [0, 1, 0]
    assert int(np.argmax(root.children[1].counts())) == 1


def test_more_is_spent_where_a_winner_is_clear():
    """Threshold 0 and hardly any noise: only equal candidates keep the small step."""
    data, schema = planted()
    budget = Decimal(100_000)
    step = smallest_step(budget, 4, 2, schema.max_rows)
    root = grow_adaptive(data, budget, TreeParameters(threshold=0), SeededRandom(1))
    assert root.spent == step + 2 * 5 * step
    lazy = grow_adaptive(data, budget, TreeParameters(threshold=1000), SeededRandom(1))
    assert lazy.spent == step + 2 * step
    empty = NodeData(table_of(schema, []), "y", "all")
    stopped = grow_adaptive(empty, budget, TreeParameters(threshold=1000), SeededRandom(1))
    assert stopped.spent == budget, "an empty node stops and its leaf takes the rest"
    assert stopped.count_epsilon == budget - 2 * step


def test_the_smallest_step_is_the_published_one_with_public_n():
    # d = 14, |Y| = 2, log2 N = 10: 70 steps.
    assert smallest_step(Decimal(1), 14, 2, 1024) == Decimal("0.014285714")
    assert smallest_step(EPSILON_STEP, 14, 2, 1024) == 0


def test_one_candidate_needs_no_test_and_no_selection():
    schema = schema_of(
        [{"name": "y", "type": "boolean"}, {"name": "x", "type": "boolean"}]
        + [{"name": f"z{i}", "type": "integer", "lower": 0, "upper": 1, "bins": 1} for i in range(9)],
        max_rows=4000,
    )
    data = NodeData(table_of(schema, [(0, 0) + (0,) * 9] * 3000), "y", "all")
    budget = Decimal(100)
    root = grow_adaptive(data, budget, TreeParameters(), SeededRandom(1))
    assert root.split.column == "x"
    assert root.spent == smallest_step(budget, 10, 2, 4000), "for its count alone"


FORESTS = [
    ForestParameters(method=method, sharing=sharing, trees=4, depth=3, spend_rest=rest)
    for method in ("rfdiffp", "random_trees")
    for sharing in ("split", "parts")
    for rest in (False, True)
]


@pytest.mark.crossed
@pytest.mark.parametrize("parameters", FORESTS)
@pytest.mark.parametrize("budget", ["0.00000001", "0.013", "7.000000003", "1000"])
def test_a_forest_spends_no_more_than_its_budget(parameters, budget):
    grow = grow_random_forest if parameters.method == "random_trees" else grow_adaptive_forest
    budget = Decimal(budget)
    for seed in range(3):
        forest = grow(data_of(random_rows(200)), budget, parameters, SeededRandom(seed))
        spent = [tree.most_spent() for tree in forest.trees]
        assert len(spent) == len(forest.budgets) == 4
        assert all(cost <= given for cost, given in zip(spent, forest.budgets, strict=True))
        together = max(spent) if parameters.sharing == "parts" else sum(spent)
        assert together <= budget
        if parameters.sharing == "parts":
            assert set(forest.budgets) == {budget}


def test_trees_pass_on_what_they_leave():
    parameters = ForestParameters(trees=5, sharing="split", spend_rest=False)
    budget = Decimal(1)
    forest = grow_adaptive_forest(data_of(random_rows(200)), budget, parameters, SeededRandom(1))
    for i, offer in enumerate(forest.budgets):
        before = sum((tree.most_spent() for tree in forest.trees[:i]), Decimal(0))
        assert offer == Decimal("0.2") * (i + 1) - before
    assert max(forest.budgets) > Decimal("0.2")


@pytest.mark.parametrize("sharing", ["split", "parts"])
def test_random_trees_do_not_look_at_records_to_split(sharing):
    parameters = ForestParameters(method="random_trees", sharing=sharing, trees=6, depth=4)
    forests = [
        grow_random_forest(data_of(content), Decimal(1), parameters, SeededRandom(9))
        for content in ([], random_rows(300, 1), [(0, 0, 0, 0, 0)] * 400)
    ]
    shapes = [[structure(tree) for tree in forest.trees] for forest in forests]
    assert shapes[0] == shapes[1] == shapes[2]
    assert len({str(shape) for shape in shapes[0]}) > 1, "trees differ from each other"


def test_random_trees_use_a_category_once_on_a_path():
    parameters = ForestParameters(method="random_trees", trees=20, depth=8)
    forest = grow_random_forest(data_of([]), Decimal(1), parameters, SeededRandom(4))
    for path in itertools.chain.from_iterable(paths(tree) for tree in forest.trees):
        used = [node.split.column for node in path if node.split is not None]
        assert max(used.count("c"), used.count("x")) <= 1
        assert len(used) <= 8


def part_sizes(ids, parts, keys=(1, 2)):
    """Records in each part, each in exactly one."""
    columns = [{"name": "x", "type": "boolean"}]
    schema = schema_of(columns, max_rows=len(ids))
    codes, aside = [np.zeros(len(ids), dtype=np.uint8)], np.zeros(len(ids), dtype=bool)
    partition = Partition.build(schema, codes, [], aside, ids=ids)
    held = np.array([Share(keys, parts, number).holds(partition) for number in range(parts)])
    assert np.all(held.sum(axis=0) == 1)
    return held


@for_each("numbers", ["in turn", "multiples", "random"])
@for_each("parts", [1, 2, 3, 7, 100])
def test_every_record_is_in_one_of_even_parts(parts, numbers):
    ids = {
        "in turn": np.arange(40_000, dtype=np.uint64),
        "multiples": np.arange(40_000, dtype=np.uint64) << np.uint64(44),
        "random": SeededRandom(5).words(40_000),
    }[numbers]
    sizes = part_sizes(ids, parts).sum(axis=1)
    assert chi_square(sizes, [40_000 / parts] * parts) > FALSE_ALARM if parts > 1 else sizes == [40_000]


def test_other_keys_make_other_parts():
    """Parts of two keys are independent: as many records in each pair of parts."""
    ids = np.arange(40_000, dtype=np.uint64)
    first, *others = (part_sizes(ids, 4, keys) for keys in ((1, 2), (1, 3), (2, 2), (2, 1)))
    for other in others:
        together = [(one & two).sum() for one in first for two in other]
        assert chi_square(together, [40_000 / 16] * 16) > FALSE_ALARM
    assert chi_square([(one & two).sum() for one in first for two in first], [40_000 / 16] * 16) < FALSE_ALARM


def test_sampled_columns_are_a_random_number_of_different_columns():
    sample = column_sampler(16, None, SeededRandom(3))
    draws = [tuple(sample(range(16))) for _ in range(2000)]
    assert {len(draw) for draw in draws} == {1, 2, 3, 4, 5}
    assert all(len(set(draw)) == len(draw) for draw in draws)
    assert set(itertools.chain.from_iterable(draws)) == set(range(16))
    few = column_sampler(16, 2, SeededRandom(3))
    assert {len(few(range(16))) for _ in range(200)} == {1, 2}
