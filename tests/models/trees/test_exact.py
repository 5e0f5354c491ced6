"""Exact lookahead trees: what a record moves, what a path costs, what is found."""

import itertools
import math
from decimal import Decimal

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.stats import binom

from dpcore.errors import BudgetError
from dpcore.learning.exact_draws.balance import (
    FULL_WEIGHT,
    divided,
    expected_shares,
    posterior_counts,
    pulled_shares,
    weigh_classes,
)
from dpcore.learning.exact_draws.joint_counts import joint_counts
from dpcore.learning.exact_draws.lookahead import ExactWeight, _Problem, draw_block
from dpcore.learning.exact_draws.pair_values import LEAF_UTILITIES
from dpcore.learning.exact_draws.pair_values import leaf_value as compiled_value
from dpcore.learning.learner import PlanRequest, Run, no_progress
from dpcore.models.trees.learning import exact_tree
from dpcore.models.trees.learning.exact_method import plan_exact, run_exact
from dpcore.models.trees.learning.exact_tree import STOP_PRIORS
from dpcore.models.trees.learning.growth import Grown, NodeTable, fold_alike, freeze
from dpcore.models.trees.learning.tree_learner import TreeLearner
from dpcore.models.trees.released.splits import Split
from dpcore.models.trees.released.tree_parameters import TreeParameters
from dpcore.privacy.filters import largest_rho
from dpcore.privacy.losses import pure_epsilon, pure_rho
from dpcore.privacy.randomness import SecureRandom, SeededRandom
from tests.oracles import lookahead_oracle
from tests.oracles.mechanisms_oracle import FALSE_ALARM
from tests.support.results.hand_made_trees import paths
from tests.support.rows import for_each
from tests.support.tables.small_tables import schema_of, table_of

UTILITIES = ("labelled", "correct", "purity")
COLUMNS = [
    {"name": "n", "type": "integer", "lower": 0, "upper": 50, "edges": [10, 20, 30, 40]},
    {"name": "c", "type": "categorical", "categories": ["a", "b", "d"]},
    {"name": "x", "type": "boolean"},
    {"name": "y", "type": "categorical", "categories": ["p", "q", "r"], "target": True},
    {"name": "o", "type": "ordinal", "categories": ["low", "mid", "high"]},
]


def problem_of(utility, classes=2, weight=0.25):
    """A problem without records, for its leaf values alone."""
    nobody = joint_counts(np.zeros((1, 1), dtype=np.uint64), np.zeros((classes, 1), dtype=np.uint64), 1)
    fixed = ExactWeight(round(weight * 2**20), 20, error=0.0, slack=0.0)
    return _Problem(nobody, np.zeros(1), 1, utility, fixed)


def leaf_value(utility, counts):
    """Utility of one leaf, an exact integer."""
    best, _ = problem_of(utility, len(counts))._leaves(np.array(counts))
    return int(best)


leaves = st.integers(2, 5).flatmap(
    lambda classes: st.tuples(
        st.lists(st.integers(0, 40) | st.integers(0, 10**7), min_size=classes, max_size=classes),
        st.integers(0, classes - 1),
    )
)


@given(leaves, st.integers(0, 100))
def test_one_record_moves_a_leaf_by_what_the_proof_says(leaf, pure):
    counts, label = leaf
    more = [n + (c == label) for c, n in enumerate(counts)]
    for utility in ("labelled", "correct"):
        assert leaf_value(utility, more) - leaf_value(utility, counts) in {0, 1}
    change = leaf_value("purity", more) - leaf_value("purity", counts)
    assert -256 <= change <= 256
    # What attains the bounds: a pure leaf grows by its own class, or by another.
    own, other = [pure, 0], [5000 + pure, 0]
    for utility in ("labelled", "correct"):
        assert leaf_value(utility, [pure + 1, 0]) - leaf_value(utility, own) == 1
        assert leaf_value(utility, [5000 + pure, 1]) == leaf_value(utility, other)
    assert leaf_value("purity", [pure + 1, 0]) - leaf_value("purity", own) == 256
    assert -256 <= leaf_value("purity", [5000 + pure, 1]) - leaf_value("purity", other) <= -254


@given(leaves, st.data())
def test_one_record_moves_a_weighted_leaf_by_no_more_than_the_largest_weight(leaf, data):
    counts, label = np.array(leaf[0]), leaf[1]
    worth = np.array(data.draw(st.lists(st.integers(1, FULL_WEIGHT), min_size=len(counts), max_size=len(counts))))
    more = counts + (np.arange(len(counts)) == label)
    best = [int(compiled_value(own, worth, LEAF_UTILITIES.index("correct"), 1e-9)[0]) for own in (counts, more)]
    assert 0 <= best[1] - best[0] <= worth[label] <= FULL_WEIGHT
    assert best[0] == max(worth * counts)
    # What attains the bound: a pure leaf of the class that weighs most.
    pure = np.array([[n, 0] for n in (int(counts.sum()), int(counts.sum()) + 1)])
    assert np.ptp((pure * [FULL_WEIGHT, 1]).max(axis=1)) == FULL_WEIGHT


@given(leaves, st.floats(0.5, 10**6), st.booleans())
def test_classes_weigh_alike_and_never_more_than_the_bound(leaf, scale, above):
    shares = np.full(len(leaf[0]), 1 / len(leaf[0])) if above else None
    counts = posterior_counts(np.array(leaf[0]) - 20, scale, shares)
    worth = weigh_classes(counts)
    assert (counts > 0).all()
    assert worth.min() >= 1
    assert worth.max() == FULL_WEIGHT
    largest, second = sorted(counts)[:-3:-1]
    weighed = sorted(worth * counts)[-1]
    assert weighed <= FULL_WEIGHT * second + largest


def test_weights_come_from_the_noisy_counts_alone(monkeypatch):
    """Two tables far apart, of which the noise makes the same counts, are drawn from with the same weights."""
    seen = []
    monkeypatch.setattr(exact_tree, "draw_block", lambda *given: seen.append(given[-1]) or draw_block(*given))

    class Told:
        def __init__(self, sensitivity, epsilon):
            assert (sensitivity, epsilon > 0) == (1, True)
            self.epsilon = epsilon

        def release(self, exact, randomness):
            return np.zeros_like(exact) + np.arange(exact.size).reshape(exact.shape)

        release_each = release

    monkeypatch.setattr(exact_tree, "GeometricMechanism", Told)
    for rows in (20, 250):
        grown_tree((1,), "1", rows=rows)
    assert (seen[0] == seen[1]).all()
    assert len(set(seen[0].tolist())) > 1


def test_a_drawn_class_and_the_counts_make_the_chances():
    """Without noise the counts alone count, with much noise what the draw lets expect."""
    expected = expected_shares(np.array([900.0, 100.0]), 1)
    assert expected.tolist() == pytest.approx([9 / 11, 2 / 11])
    exact = pulled_shares(np.array([[50_000, 50_000]]), expected, 1.0)
    assert exact[0].tolist() == pytest.approx([0.5, 0.5], abs=1e-3)
    assert pulled_shares(np.array([[3, 5]]), expected, 1e5)[0].tolist() == pytest.approx(expected.tolist(), abs=1e-3)
    shares = pulled_shares(np.array([[-7, -9], [0, 0], [1000, -50]]), expected, np.array([50.0, 50.0, 50.0]))
    assert shares.sum(axis=1).tolist() == pytest.approx([1, 1, 1])
    assert (shares > 0).all()


@pytest.mark.parametrize("utility", UTILITIES)
@settings(deadline=None)
@given(data=st.data())
def test_one_record_moves_a_block_by_what_it_moves_one_leaf(utility, data):
    """A record is in one leaf of any block, so the leaf's bound is the block's."""
    seed, depth = data.draw(st.integers(0, 10**6)), data.draw(st.integers(1, 3))
    generator = np.random.default_rng(seed)
    features, labels = generator.random((20, 4)) < 0.5, generator.integers(0, 3, 20)
    splits = tuple(generator.integers(0, 4, 2**depth - 1).tolist())

    def value(rows):
        counts = lookahead_oracle.leaf_counts(features[:rows], labels[:rows], 3, splits, depth)
        return sum(leaf_value(utility, leaf) for leaf in counts)

    changes = np.diff([value(rows) for rows in range(21)])
    low, high = (-256, 256) if utility == "purity" else (0, 1)
    assert low <= min(changes)
    assert max(changes) <= high


@pytest.mark.parametrize("utility", UTILITIES)
@given(leaves, st.floats(2**-20, 20))
def test_compiled_leaves_are_worth_what_plain_ones_are(utility, leaf, weight):
    counts = np.array(leaf[0])
    problem = problem_of(utility, len(counts), weight)
    best, rest = problem._leaves(counts)
    compiled = compiled_value(
        counts, np.ones(len(counts), dtype=np.int64), LEAF_UTILITIES.index(utility), problem._weight
    )
    assert int(best) == int(compiled[0])
    assert float(rest) == pytest.approx(compiled[1], abs=1e-13)
    scores = [math.exp(max(-700.0, problem._weight * (n - max(counts)))) for n in counts.tolist()]
    exact = math.log(sum(scores) / len(counts)) if utility == "labelled" else 0.0
    assert float(rest) == pytest.approx(exact, abs=1e-13)


def test_a_leaf_of_the_largest_data_set_stays_inside_64_bits():
    largest = 10**8
    assert leaf_value("purity", [largest, 0]) == 256 * largest
    assert leaf_value("purity", [largest // 2] * 2) == 128 * largest


# Whole trees


def random_rows(count, seed=0):
    cells = [len(column.cells) for column in schema_of(COLUMNS)]
    generator = np.random.default_rng(seed)
    return [tuple(int(generator.integers(c)) for c in cells) for _ in range(count)]


def grown_tree(blocks=(2, 2), epsilon="1", rows=200, seed=0, progress=no_progress, **more):
    """An unpruned tree and its plan; several rows of a person if ``rows_per_person`` is given."""
    unit = {"column": "person", "max_rows_per_person": more.pop("rows_per_person", 1)}
    schema, delta = schema_of(COLUMNS, max_rows=300, privacy_unit=unit), Decimal(more.pop("delta", 0))
    parameters = TreeParameters(blocks=blocks, prune=False, evaluate=False, **more)
    plan = plan_exact(PlanRequest(schema, "y", Decimal(epsilon), parameters, delta))
    table = table_of(schema, random_rows(rows, seed))
    return run_exact(Run(table, plan, SeededRandom(seed), progress)), plan


@pytest.mark.crossed
@pytest.mark.parametrize("rows_per_person", [1, 3])
@pytest.mark.parametrize("blocks", [(1,), (2,), (3,), (2, 2), (1, 2, 1)])
@pytest.mark.parametrize("criterion", ["error", "gini", "balanced"])
def test_every_path_spends_exactly_what_was_planned(rows_per_person, blocks, criterion):
    for seed, epsilon in enumerate(("0.1", "1", "7.000000001")):
        root, plan = grown_tree(blocks, epsilon, seed=seed, criterion=criterion, rows_per_person=rows_per_person)
        steps = [f"block {level + 1}" for level in range(len(blocks))]
        whole = sum((plan.row_epsilon(step) for step in [*steps, "leaves"]), Decimal(0))
        assert set(plan.split.parts) == {*steps, "leaves"}
        for path in paths(root):
            assert sum((node.spent for node in path), Decimal(0)) == whole
            assert path[-1].count_epsilon == plan.row_epsilon("leaves")
            assert (path[-1].label is not None) == (criterion != "gini")
        model = freeze(root, plan.schema, plan.classes, plan.epsilon)
        ends = [i for i, node in enumerate(model.nodes) if not node.children]
        assert {model.path_spent(end) for end in ends} == {whole * rows_per_person}
        assert plan.epsilon - Decimal("1e-7") < whole * rows_per_person <= plan.epsilon


@pytest.mark.crossed
@pytest.mark.parametrize("rows_per_person", [1, 3])
@pytest.mark.parametrize("blocks", [(1,), (3,), (2, 2), (1, 2, 1)])
@pytest.mark.parametrize("criterion", ["error", "gini", "balanced"])
def test_every_path_spends_its_rho_where_runs_compose(monkeypatch, rows_per_person, blocks, criterion):
    weights, reach = [], {"gini": 512, "balanced": FULL_WEIGHT, "error": 1}[criterion]

    def spy(*given):
        weights.append(given[4])
        return draw_block(*given)

    monkeypatch.setattr(exact_tree, "draw_block", spy)
    chosen = {"criterion": criterion, "rows_per_person": rows_per_person}
    for seed, epsilon in enumerate(("0.1", "1")):
        weights.clear()
        root, plan = grown_tree(blocks, epsilon, seed=seed, delta="1e-7", **chosen)
        level = max(rows_per_person * weight.value * reach + 2 * weight.slack for weight in weights)
        counted = sum(
            float(pure_rho(rows_per_person * divided(plan.row_epsilon(step))[0]))
            for step in plan.split.parts
            if "block" in step
        )
        rho = (
            (counted if criterion == "balanced" else 0)
            + len(blocks) * level**2 / 8
            + (rows_per_person / plan.count_noise[0].deviation) ** 2 / 2
        )
        assert plan.rho == largest_rho(plan.epsilon, plan.delta)
        assert float(plan.rho) * (1 - 1e-5) < rho <= float(plan.rho) * (1 + 1e-6), "and leaves nothing"
        for path in paths(root):
            shares = sum((node.spent for node in path), Decimal(0)) * rows_per_person
            assert plan.epsilon - Decimal("1e-7") < shares <= plan.epsilon
            assert (path[-1].count_epsilon, path[-1].count_deviation) == (None, plan.count_noise[0].deviation)
        model = freeze(root, plan.schema, plan.classes, plan.epsilon)
        (single,) = {node.count_margin for node in model.nodes if not node.children}
        _, alone = grown_tree(blocks, pure_epsilon(plan.rho), seed=seed, **chosen)
        assert single == plan.count_margin() <= alone.count_margin()


@pytest.mark.parametrize("rows_per_person", [2, pytest.param(3, marks=pytest.mark.slow), 7])
def test_the_smallest_budget_that_is_accepted_lets_blocks_be_drawn(rows_per_person, monkeypatch):
    """Among nearly a thousand splits, where errors of floating-point numbers take most of it."""
    columns = [{"name": f"n{i}", "type": "integer", "lower": 0, "upper": 250, "bins": 250} for i in range(4)]
    unit = {"column": "person", "max_rows_per_person": rows_per_person}
    schema = schema_of([*columns, COLUMNS[2]], max_rows=300, privacy_unit=unit)
    parameters = TreeParameters(blocks=(3,), prune=False, evaluate=False)

    def accepted(step):
        try:
            return plan_exact(PlanRequest(schema, "x", step * Decimal("1e-9"), parameters))
        except BudgetError:
            return None

    def built(tree):
        sizes = tree.run.schema.max_rows, len(tree.questions) + 1, len(tree.run.plan.classes)
        weights = [block.weight(*sizes) for block in tree.blocks]
        assert all(weight.numerator > 0 for weight in weights)
        return Grown()

    monkeypatch.setattr(exact_tree.ExactTree, "grow", built)
    plan = next(plan for plan in map(accepted, range(60 * rows_per_person, 200 * rows_per_person)) if plan)
    run_exact(Run(None, plan, SeededRandom(0)))


@pytest.mark.parametrize("reserved", [False, True])
def test_a_split_that_the_path_has_decided_is_left_out(reserved):
    """At a small epsilon splits are drawn at random, so that repeats would be common."""
    columns = {column.name: column for column in schema_of(COLUMNS)}
    splits = 0
    for seed in range(30):
        root, _ = grown_tree((3, 2), "0.001", seed=seed, reserved_splits=reserved)

        def check(node, region):
            nonlocal splits
            if node.split is None:
                return
            splits += 1
            before = region.get(node.split.column, range(len(columns[node.split.column].cells)))
            sides = [[c for c in before if node.split.branches[c] == side] for side in (0, 1)]
            assert all(sides), "a branch that nobody can reach"
            assert len(node.children) == 2
            for child, kept in zip(node.children, sides, strict=True):
                check(child, {**region, node.split.column: kept})

        check(root, {})
    assert splits > 60


@for_each("blocks", [(1,), (3,), (2, 2), (1, 2, 1), (2, 1, 2)])
def test_progress_tells_of_whole_levels_of_blocks(blocks):
    """Within a level, the time of a block would tell how many records its node has."""
    for seed in range(6):
        calls = []
        grown_tree(blocks, "0.05", seed=seed, progress=lambda *call, to=calls: to.append(call))
        done = [call[1] for call in calls]
        assert len(calls) == len(blocks)
        assert {(step, total) for step, _, total in calls} == {("growing the tree", 1000)}
        assert done == sorted(set(done)), "by the work of each level"
        assert done[-1] == 1000


@for_each("criterion", ["error", "gini", "balanced"])
def test_chances_are_separated_though_no_group_has_another_label(criterion):
    """One class is the likeliest in every group, so that no question leaves fewer mistakes than none."""
    schema = schema_of([{"name": "x", "type": "boolean"}, {"name": "y", "type": "boolean", "target": True}], 2000)
    table = table_of(schema, [(x, (number % 50) < (20 if x else 1)) for x in (0, 1) for number in range(1000)])
    parameters = TreeParameters(criterion=criterion, blocks=(1,), evaluate=False)
    plan = plan_exact(PlanRequest(schema, "y", Decimal(4), parameters, Decimal(0)))
    found = [run_exact(Run(table, plan, SeededRandom(seed), no_progress)).split is not None for seed in range(20)]
    assert not all(found) if criterion == "error" else all(found)


def factorial(columns, target):
    """Every combination of boolean columns once, with the class that a function gives."""
    combinations = list(itertools.product((0, 1), repeat=columns))
    rows = [(*bits, label) for bits in combinations for label in target(bits)]
    schema = schema_of(
        [{"name": f"b{i}", "type": "boolean"} for i in range(columns)]
        + [{"name": "y", "type": "boolean", "target": True}],
        max_rows=len(rows),
    )
    return schema, table_of(schema, rows), rows


def accuracy(schema, table, rows, blocks, epsilon, seed):
    learner = TreeLearner()
    plan = learner.plan(schema, "y", Decimal(epsilon), {"blocks": blocks, "criterion": "error"})
    model = learner.run(Run(table, plan, SeededRandom(seed)))
    codes = np.array(rows).T
    named = {column.name: codes[i] for i, column in enumerate(schema)}
    labels = np.array([node.label for node in model.nodes])
    return float((labels[model.apply_codes(named, len(rows))] == codes[-1]).mean())


@pytest.mark.parametrize("depth", [2, 3])
def test_a_block_finds_what_no_single_split_shows(depth):
    """The parity of two or three columns: every split on its own is worth nothing."""
    data = factorial(9, lambda bits: [sum(bits[:depth]) % 2])
    together = [accuracy(*data, (depth,), "0.5", seed) for seed in range(8)]
    assert together == [1.0] * 8
    one_by_one = [accuracy(*data, (1,) * depth, "0.5", seed) for seed in range(8)]
    assert np.mean(one_by_one) < 0.8


def test_labels_agree_with_the_majority_at_a_huge_epsilon():
    for blocks in ((2,), (1, 2), (3,)):
        root, _ = grown_tree(blocks, "900", rows=300, seed=3, criterion="error")
        ends = [path[-1] for path in paths(root)]
        assert len(ends) > 1
        for leaf in ends:
            counts = sorted(leaf.noisy_counts)
            if counts[-1] > counts[-2]:
                assert leaf.label == np.argmax(leaf.noisy_counts)


def test_not_to_split_keeps_its_prior_odds_where_there_is_nothing_to_gain():
    """Every split sees the same classes on both sides: only the prior and the labels decide.

    One leaf that holds all has weight 1/4 x 1/2, two halves of it 3/4 x 1/2 x 1/2.
    """
    schema, table, _ = factorial(4, lambda bits: [0, 0, 0, 1])
    learner, draws = TreeLearner(), 400
    plan = learner.plan(schema, "y", Decimal(900), {"blocks": (1,), "criterion": "error"})
    source = SecureRandom()
    models = [learner.run(Run(table, plan, source)) for _ in range(draws)]
    stops = sum(len(model.nodes) == 1 for model in models)
    stay = STOP_PRIORS[0] / 2
    odds = stay / (stay + (1 - STOP_PRIORS[0]) / 4)
    assert 0.39 < odds < 0.41
    assert binom.cdf(stops, draws, odds) > FALSE_ALARM
    assert binom.sf(stops - 1, draws, odds) > FALSE_ALARM
    # And where a split was drawn, it is folded: both sides are alike.
    assert all(model.finals == (0,) for model in models)
    assert {node.label for model in models for node in model.nodes} == {0}


# Folding


@st.composite
def grown_trees(draw, depth=3):
    labelled = draw(st.booleans())

    def node(left):
        if left == 0 or draw(st.integers(0, 3)) == 0:
            counts = draw(st.lists(st.integers(-10, 60), min_size=2, max_size=2))
            cost = Decimal(draw(st.sampled_from(["0.05", "0.5", "5"])))
            label = draw(st.integers(0, 1)) if labelled else None
            return Grown(spent=cost, noisy_counts=np.array(counts), count_epsilon=cost, label=label)
        split = Split(column=f"b{left}", branches=(0, 1, 1, 1))
        return Grown(split=split, children=[node(left - 1), node(left - 1)])

    return node(depth)


def stops(node, above=()):
    """Label with which each leaf's records leave: that of the first collapsed node above."""
    here = (*above, node)
    if not node.children:
        final = next((n for n in here if n.collapsed), node)
        yield NodeTable.of(final).labels[0]
    for child in node.children:
        yield from stops(child, here)


def everyone(node):
    yield node
    for child in node.children:
        yield from everyone(child)


@given(grown_trees())
def test_folding_changes_no_prediction_and_folds_only_what_is_alike(root):
    before = list(stops(root))
    fold_alike(root)
    assert list(stops(root)) == before
    for node in everyone(root):
        below = [child for child in node.children if child.children and not child.collapsed]
        if not node.children:
            assert not node.collapsed
            continue
        sides = [NodeTable.of(child) for child in node.children]
        ends = [side.intervals()[0] for side in sides]
        overlap = all(max(end[c][0] for end in ends) <= min(end[c][1] for end in ends) for c in range(2))
        same = len({side.labels[0] for side in sides}) == 1
        assert node.collapsed == (not below and same and overlap)


def test_sides_that_differ_by_more_than_noise_stay():
    def leaf(*counts):
        return Grown(spent=Decimal(1), noisy_counts=np.array(counts), count_epsilon=Decimal(1), label=0)

    split = Split(column="b", branches=(0, 1))
    alike = Grown(split=split, children=[leaf(60, 40), leaf(65, 35)])
    apart = Grown(split=split, children=[leaf(990, 10), leaf(600, 400)])
    fold_alike(alike)
    fold_alike(apart)
    assert alike.collapsed
    assert alike.label == 0
    assert not apart.collapsed


def test_records_without_a_class_count_nowhere():
    """A target that is missing, or no declared class: neither drawn for nor counted."""
    schema = schema_of(COLUMNS, max_rows=300)
    rows = [(0, 0, 0, code, 0) for code in (3, 4) for _ in range(100)]
    parameters = TreeParameters(blocks=(2,), evaluate=False)
    plan = plan_exact(PlanRequest(schema, "y", Decimal(900), parameters))
    root = run_exact(Run(table_of(schema, rows), plan, SeededRandom(1)))
    assert root.counts().tolist() == [0, 0, 0]


def test_rows_of_the_other_part_count_nowhere():
    """Nor do places without a record, though the choice not to split holds everywhere."""
    schema = schema_of(COLUMNS, max_rows=300, holdout_percent=50)
    held_out = [i % 2 == 0 for i in range(100)]
    table = table_of(schema, [(0, 0, 0, 1, 0)] * 100, held_out)
    for evaluate, expected in ((True, 50), (False, 100)):
        parameters = TreeParameters(blocks=(2, 1), evaluate=evaluate)
        plan = plan_exact(PlanRequest(schema, "y", Decimal(900), parameters))
        root = run_exact(Run(table, plan, SeededRandom(1)))
        assert root.counts().tolist() == [0, expected, 0]
