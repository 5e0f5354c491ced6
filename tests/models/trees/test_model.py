"""The released tree and forest: texts, prediction, tables, groups of chances."""

from decimal import Decimal
from types import SimpleNamespace

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.stats import binom

from dpcore.domain.conditions import split_conditions
from dpcore.errors import BudgetError
from dpcore.models.trees.learning.growth import Grown, freeze
from dpcore.models.trees.released.chance_groups import chance_cuts
from dpcore.models.trees.released.column_use import columns_used
from dpcore.models.trees.released.forest_model import ForestModel
from dpcore.models.trees.released.splits import Split, split_by_category, split_on
from dpcore.models.trees.released.tree_model import TreeModel
from dpcore.models.trees.released.tree_reading import tree_groups
from dpcore.plots.trees.tree import tree_figure
from dpcore.privacy.budgets import geometric_tail
from dpcore.released.noisy_counts import sum_tail
from tests.support.results import small_trees
from tests.support.results.hand_made_trees import SCHEMA, inner, leaf, sample, split, tree
from tests.support.results.small_trees import small_forest
from tests.support.rows import for_each
from tests.support.tables.small_tables import schema_of


@for_each(
    ("chosen", "texts"),
    [
        (split("age", 0, 1), ["age <= 60", "age > 60 or missing"]),
        (split("age", 0, 0), ["age <= 30", "age > 30 or missing"]),
        (split("age", 3, 3), ["age = missing", "age is not missing"]),
        (split("dose", 0, 0), ["dose <= 1.5", "dose > 1.5 or missing"]),
        (split("odor", 0, 0), ["odor = foul", "odor is not foul"]),
        (split("odor", 3, 3), ["odor = other", "odor is not other"]),
        (split("odor", 4, 4), ["odor = missing", "odor is not missing"]),
        (split("size", 0, 0), ["size = low", "size > low or other or missing"]),
        (split("size", 0, 1), ["size <= mid", "size = high or other or missing"]),
        (split("size", 4, 4), ["size = missing", "size is not missing"]),
        (split("size", 3, 3), ["size = other", "size is not other"]),
        (split("smoker", 1, 1), ["smoker = yes", "smoker is not yes"]),
        (split("one", 0, 0), ["one = only", "one is not only"]),
        (
            split_by_category(SCHEMA.column("odor")),
            ["odor = foul", "odor = none", "odor = or so", "odor = other or missing"],
        ),
        (split_by_category(SCHEMA.column("one")), ["one = only", "one is not only"]),
        (Split(column="odor", branches=(0, 0, 1, 1, 1)), ["odor = foul or none", "odor is not foul or none"]),
    ],
)
def test_every_branch_reads_as_what_it_takes(chosen, texts):
    assert [chosen.text(branch, SCHEMA) for branch in range(chosen.branch_count)] == texts


def test_texts_do_not_speak_of_missing_values_where_there_are_none():
    columns = [
        {"name": "age", "type": "integer", "lower": 0, "upper": 100, "edges": [30, 60], "missing": "never"},
        {"name": "odor", "type": "categorical", "categories": ["foul", "none"], "missing": "never"},
        {"name": "ill", "type": "boolean", "target": True},
    ]
    whole = schema_of(columns, max_rows=500)
    texts = {
        split_on(asked, whole.column(asked.column)).text(branch, whole)
        for asked in split_conditions(whole, "ill", reserved=True)
        for branch in (0, 1)
    }
    assert {"age <= 60", "age > 60", "odor = foul", "odor is not other"} <= texts
    assert not [text for text in texts if "missing" in text]
    only_missing = Split(column="age", branches=(0, 0, 0, 1))
    assert only_missing.text(1, whole) == "age = missing"


def test_no_two_branches_of_the_offered_splits_read_alike():
    seen = set()
    for literal in split_conditions(SCHEMA, "ill", reserved=True):
        chosen = split_on(literal, SCHEMA.column(literal.column))
        texts = [chosen.text(branch, SCHEMA) for branch in (0, 1)]
        assert chosen.branch_count == 2
        assert not seen & set(texts)
        seen.update(texts)


def test_the_offered_splits():
    """Ordered columns at each inner edge; a category each, of two only the first."""
    plain = split_conditions(SCHEMA, "ill", reserved=False)
    names = [item.column for item in plain]
    assert {name: names.count(name) for name in dict.fromkeys(names)} == {
        "age": 2,
        "dose": 1,
        "odor": 3,
        "size": 2,
        "one": 1,
        "smoker": 1,
        "stage": 3,
    }
    every = split_conditions(SCHEMA, "ill", reserved=True)
    # (missing) of all seven, and (other) of the five that are not numbers.
    assert len(every) == len(plain) + 7 + 5
    assert len({(item.column, item.first, item.last) for item in every}) == len(every)


def test_conditions_bracket_what_holds_an_or():
    model = sample()
    conditions = [model.condition(position) for position in range(len(model.nodes))]
    assert conditions == [
        "everyone",
        "age <= 60",
        "(age > 60 or missing)",
        "age <= 60 and odor = foul",
        "age <= 60 and odor = none",
        "age <= 60 and (odor = or so)",
        "age <= 60 and (odor = other or missing)",
        "age <= 60 and (odor = other or missing) and smoker = yes",
        "age <= 60 and (odor = other or missing) and smoker is not yes",
    ]
    assert model.finals == (2, 3, 4, 5, 6)
    assert model.columns() == ("age", "odor"), "a folded column is not looked at"
    assert [model.depth(p) for p in (0, 2, 6, 8)] == [0, 1, 2, 3]
    assert model.path(8) == (0, 1, 6, 8)
    assert model.path_spent(8) == Decimal("1.25")
    assert model.count_margin == max(model.nodes[p].count_margin for p in model.finals)


def test_missing_and_unknown_values_of_a_case():
    model = sample()

    def stops(**values):
        return model.possible_finals(values, SCHEMA)

    assert stops(age=20, odor="foul") == (3,)
    assert stops(age=60, odor="none") == (4,)
    assert stops(age=61, odor="none") == stops(age=61) == (2,)
    assert stops(age=20, odor="sweet") == (6,), "another category than those of the schema"
    assert stops(age=20, odor="") == (6,), "known to be missing"
    assert stops(age="", odor="foul") == (2,)
    assert stops(age="old", odor="foul") == (2,), "what is no number is missing"
    assert stops(age=-5, odor="foul") == (3,), "clamped"
    assert stops(age=None, odor="foul") == stops(odor="foul", age=float("nan")) == (2, 3)
    assert stops(age=20) == stops(age=20, smoker="yes") == (3, 4, 5, 6), "a folded split is not followed"
    assert stops() == model.finals


def test_a_value_that_is_asked_for_twice_is_the_same_both_times():
    inside = inner(split("odor", 0, 1), leaf(1, 2), leaf(3, 4))
    model = tree(inner(split("odor", 0, 1), inside, inside))
    assert model.possible_finals({}, SCHEMA) == tuple(
        end for end in model.finals if len({model.nodes[p].text for p in model.path(end)[1:]}) == 1
    )


def test_reading_and_table_tell_the_same():
    model = sample()
    sentences = model.reading("ill")
    assert len(sentences) == len(model.finals)
    node = model.nodes[2]
    share = (40 + 1) / (40 + 2 + 2)
    assert node.estimates[1] == pytest.approx(share)
    assert sentences[0].startswith("If (age > 60 or missing): predicted ill = yes. ")
    assert f"The chance of yes is about {100 * share:.0f}%" in sentences[0]
    frame = model.to_frame()
    assert len(frame) == len(model.nodes)
    assert frame["stops here"].tolist() == [node.final for node in model.nodes]
    assert frame["condition"].tolist() == [model.condition(p) for p in range(len(frame))]
    assert frame.loc[2, "noisy count: yes"] == 40
    assert frame.loc[2, "epsilon on path"] == "0.75"
    for code, label in enumerate(model.classes):
        low, estimate, high = (frame[f"{word}: {label}"].to_numpy() for word in ("from", "noisy estimate", "to"))
        assert np.all((low <= estimate) & (estimate <= high))
        assert frame[f"noisy count: {label}"].tolist() == [n.noisy_counts[code] for n in model.nodes]


def test_words_diagram_and_plain_text_agree_on_what_noise_hides():
    clear = tree(leaf(2, 40))
    node = clear.nodes[0].model_copy(update={"intervals": ((0.53, 1.0), (0.0, 0.47)), "count_margin": 42})
    hidden = clear.model_copy(update={"nodes": (node,)})
    assert hidden.reading("ill")[0].endswith("The chance of yes is too noisy to tell: anything from 0.0% to 47% fits.")
    assert "too noisy to tell" not in clear.reading("ill")[0]
    assert ["≈" in _chance_drawn(model) for model in (clear, hidden)] == [False, True]
    written = [tree_groups(SimpleNamespace(target="ill"), model).table.texts[0][1] for model in (clear, hidden)]
    assert ["too noisy to tell" in text for text in written] == [False, True]


def _chance_drawn(model: TreeModel) -> str:
    (drawn,) = (trace for trace in tree_figure(model, "ill").data if trace.name == "chances")
    return str(drawn.text)


def test_a_drawn_label_is_never_printed_as_the_less_likely_one():
    for counts, label in (((50, 10, 40), 1), ((50, 10, 10), 2), ((-5, -9, -1), 0), ((3, 3, 3), 2)):
        node = tree(leaf(*counts, label=label), "stage").nodes[0]
        assert node.label == label
        assert node.estimates[label] == pytest.approx(max(node.estimates))
        assert sum(node.estimates) == pytest.approx(1)
        assert node.noisy_counts == counts, "what was bought is printed as it was bought"
        for share, (low, high) in zip(node.estimates, node.intervals, strict=True):
            assert 0 <= low <= share <= high <= 1


# Prediction against a walk node by node


@st.composite
def random_trees(draw, depth=3):
    columns = [column for column in SCHEMA if column.name != "stage"]

    def node(left):
        if left == 0 or draw(st.integers(0, 4)) == 0:
            counts = draw(st.lists(st.integers(-5, 40), min_size=3, max_size=3))
            return leaf(*counts, cost="0.1")
        column = columns[draw(st.integers(0, len(columns) - 1))]
        if column.ordered:
            chosen = split(column.name, 0, draw(st.integers(0, len(column.classes) - 2)))
        else:
            chosen = split_by_category(column)
        children = [node(left - 1) for _ in range(chosen.branch_count)]
        return Grown(split=chosen, children=children, spent=Decimal("0.1"), collapsed=draw(st.booleans()))

    return node(depth)


def walk(grown, row, names):
    """The node where one row stops, by recursion on the growing tree."""
    if grown.collapsed or not grown.children:
        return grown
    branch = grown.split.branches[row[names.index(grown.split.column)]]
    return walk(grown.children[branch], row, names)


def in_order(root):
    """Nodes level by level, the order in which a released tree numbers them."""
    waiting = [root]
    for node in waiting:
        waiting.extend(node.children)
    return waiting


@settings(max_examples=80, deadline=None)
@given(random_trees(), st.integers(0, 10**6))
def test_prediction_agrees_with_a_walk_node_by_node(root, seed):
    model, generator = tree(root, "stage"), np.random.default_rng(seed)
    names = [column.name for column in SCHEMA]
    rows = np.stack([generator.integers(0, len(column.cells), 40) for column in SCHEMA])
    order = {id(node): place for place, node in enumerate(in_order(root))}
    expected = [order[id(walk(root, row, names))] for row in rows.T]
    codes = {name: rows[i].astype(np.uint8) for i, name in enumerate(names)}
    assert model.apply_codes(codes, 40).tolist() == expected
    assert set(expected) <= set(model.finals)
    assert TreeModel.model_validate_json(model.model_dump_json()) == model
    for position, node in enumerate(model.nodes):
        assert all(child > position for child in node.children)
        assert all(model.nodes[child].parent == position for child in node.children)
        below = [model.nodes[child].noisy_counts for child in node.children]
        assert not below or tuple(np.sum(below, axis=0)) == node.noisy_counts
    assert sum(model.path_spent(p) <= model.budget for p in model.finals) == len(model.finals)


@settings(max_examples=30, deadline=None)
@given(random_trees(), st.integers(0, 10**6))
def test_exact_counts_add_up_over_the_tree(root, seed):
    model, generator = tree(root, "stage"), np.random.default_rng(seed)
    frame = pd.DataFrame(
        {
            "age": generator.choice([5, 45, 90, None], 60),
            "odor": generator.choice(["foul", "none", "sweet", ""], 60),
            "stage": generator.choice(["i", "ii", "iii", "iv", ""], 60),
        }
    )
    counts = np.array(model.count_records(frame, SCHEMA, "stage"))
    known = frame["stage"].isin(["i", "ii", "iii"])
    assert counts[0].sum() == known.sum()
    assert counts[0].tolist() == [(frame["stage"] == label).sum() for label in ("i", "ii", "iii")]
    for position, node in enumerate(model.nodes):
        if not node.final:
            assert counts[list(node.children)].sum(axis=0).tolist() == counts[position].tolist()
    stops = model.apply(frame, SCHEMA)
    for position in model.finals:
        assert counts[position].sum() == (known & (stops == position)).sum()


# Forests


def test_what_a_column_tells_is_the_spread_that_its_questions_take_away():
    people = split("first", 1, 1, small_trees.SCHEMA)
    one = Grown(split=people, children=[leaf(10, 30), leaf(30, 10)], spent=Decimal("0.1"))
    other = Grown(split=split("second", 1, 1, small_trees.SCHEMA), children=[leaf(20, 20), leaf(20, 20)])
    trees = tuple(freeze(root, small_trees.SCHEMA, ("no", "yes"), Decimal(1)) for root in (one, other))
    forest = ForestModel(classes=("no", "yes"), trees=trees, sharing="split", budget=Decimal(2))
    first, second = forest.columns_used()
    # In the first tree variance falls from 1/2 to 3/8: a quarter, in one of two trees.
    assert (first.column, first.told) == ("first", pytest.approx(1 / 8))
    assert (second.column, second.told) == ("second", pytest.approx(0))
    assert 0 < second.by_chance < first.told
    assert first.clear
    assert not second.clear
    assert forest.columns() == ("first", "second")
    assert "more than noise alone would: first" in forest.reading("ill")[1]
    lone = ForestModel(classes=("no", "yes"), trees=(tree(leaf(3, 4)),), sharing="split", budget=Decimal(1))
    assert lone.columns_used() == ()
    assert "No tree splits" in lone.reading("ill")[1]
    chances = lone.predict_proba(pd.DataFrame({"age": [1, 2]}), SCHEMA)
    np.testing.assert_allclose(chances, [lone.trees[0].nodes[0].estimates] * 2)


@pytest.mark.parametrize(("rows", "gaussian"), [(1, False), (5, False), (1, True)])
def test_columns_that_tell_nothing_reach_chance_as_often_as_it_says(rows, gaussian):
    """Made-up counts of people without any association: 1 in 20 columns is above its mark; false alarm 1e-6.

    All rows of a person are alike. Positive control: as if they were people.
    """
    draw, above, alone, trials = np.random.default_rng(5), 0, 0, 150
    for _ in range(trials):
        noise = np.rint(draw.normal(0, 8, (2, 2))) if gaussian else np.subtract(*draw.geometric(0.4, (2, 2, 2)))
        leaves = [
            leaf(*(rows * people + own).astype(int), cost="0.5")
            for people, own in zip(draw.multinomial(100, [0.7, 0.3], size=2), noise, strict=True)
        ]
        for own in leaves if gaussian else ():
            own.count_epsilon, own.count_deviation = None, 8.0
        root = Grown(split=split("first", 1, 1, small_trees.SCHEMA), children=leaves)
        frozen = freeze(root, small_trees.SCHEMA, ("no", "yes"), Decimal(1))
        [use] = columns_used((frozen,), rows, gaussian=gaussian)
        above += use.clear
        alone += columns_used((frozen,), gaussian=gaussian)[0].clear
    assert binom.sf(above - 1, trials, 0.15) > 1e-6
    assert (alone == above) if rows == 1 else binom.sf(alone - 1, trials, 0.15) < 1e-6
    assert columns_used((associated(),))[0].clear, "what tells something is seen"


def associated():
    root = Grown(split=split("first", 1, 1, small_trees.SCHEMA), children=[leaf(90, 10), leaf(40, 60)])
    return freeze(root, small_trees.SCHEMA, ("no", "yes"), Decimal(1))


@for_each("target", ["died", "ward"])
@for_each("trees", [1, 4, 5])
def test_chances_groups_and_predictions_agree(target, trees):
    schema, forest = small_trees.SCHEMA, small_forest(trees, target)
    generator = np.random.default_rng(3)
    frame = pd.DataFrame({name: generator.choice(["yes", "no", "?", ""], 200) for name in small_trees.COLUMNS})
    labels = list(forest.classes)
    frame[target] = generator.choice([*labels, ""], 200)
    chances = forest.predict_proba(frame, schema)
    np.testing.assert_allclose(chances, np.mean([own.predict_proba(frame, schema) for own in forest.trees], axis=0))
    np.testing.assert_allclose(chances.sum(axis=1), 1)
    assert forest.predict(frame, schema).tolist() == chances.argmax(axis=1).tolist()
    forest = forest.model_copy(update={"cuts": chance_cuts(forest.trees, 4)})
    assert list(forest.cuts) == sorted(set(forest.cuts))
    estimates, predicted = forest.group_estimates()
    groups = forest.groups(chances)
    assert len(predicted) == len(estimates) == (len(forest.cuts) + 1) * (1 if len(labels) == 2 else len(labels))
    assert predicted[groups].tolist() == chances.argmax(axis=1).tolist()
    np.testing.assert_allclose(estimates.sum(axis=1), 1)
    ends = np.array([0, *forest.cuts, 1])
    told = chances[:, 1] if len(labels) == 2 else chances.max(axis=1)
    level = groups % (len(forest.cuts) + 1)
    assert (ends[level] <= told + 1e-12).all()
    assert (told <= ends[level + 1] + 1e-12).all()
    counts = np.array(forest.count_records(frame, schema, target))
    assert counts.sum() == frame[target].isin(labels).sum()
    for group in range(len(predicted)):
        inside = frame.loc[groups == group, target]
        assert counts[group].tolist() == [(inside == label).sum() for label in labels]
    known = frame.dropna(how="any").iloc[0]
    ballots = np.stack([own.predict(frame, schema) for own in forest.trees])
    chosen = forest.possible_ballots(dict(known), schema)
    assert chosen == tuple((int(ballot),) for ballot in ballots[:, known.name])
    np.testing.assert_allclose(forest.possible_chances(dict(known), schema), [chances[known.name]] * 2)
    unknown = forest.possible_ballots({}, schema)
    assert unknown == tuple(tuple(sorted({t.nodes[p].label for p in t.finals})) for t in forest.trees)
    low, high = forest.possible_chances({}, schema)
    assert (low <= chances.min(axis=0) + 1e-12).all()
    assert (high >= chances.max(axis=0) - 1e-12).all()


def test_a_path_that_overspends_is_not_released():
    root = inner(split("age", 0, 1), leaf(1, 2, cost="1.75"), leaf(1, 2, cost="1.750000001"))
    with pytest.raises(BudgetError, match="more than it was given"):
        tree(root)
    root.children[1].spent = Decimal("1.75")
    assert tree(root).path_spent(1) == 2
    people = schema_of(
        [column.model_dump() for column in SCHEMA], privacy_unit={"column": "person", "max_rows_per_person": 2}
    )
    with pytest.raises(BudgetError, match="more than it was given"):
        freeze(root, people, ("no", "yes"), Decimal("3.999999999"))
    assert freeze(root, people, ("no", "yes"), Decimal(4)).path_spent(1) == 4


@for_each("scale", [0.05, 0.12, 0.15, 0.3, 0.4, 0.7, 1.5, 10.0])
@for_each("leaves", [2, 16, 17, 64, 250])
def test_margins_and_intervals_cover_the_noise_of_many_leaves(scale, leaves):
    """The exact distribution of a sum of so many noises; for little noise too, where most are 0."""
    reach = max(2, int(40 * scale) + 3)
    one = np.exp(-np.abs(np.arange(-reach, reach + 1)) / scale)
    size = 2 * reach * leaves + 1
    total = np.fft.irfft(np.fft.rfft(one / one.sum(), 2 * size) ** leaves, 2 * size)[:size]

    def coverage(margin):
        middle = reach * leaves
        return total[max(0, middle - margin) : middle + margin + 1].sum()

    margin = sum_tail(scale, leaves, 0.95)
    assert coverage(margin) >= 0.95 - 1e-9
    spread = np.sqrt(leaves / (2 * np.sinh(0.5 / scale) ** 2))
    assert margin <= 2.2 * spread + 2, "no wider than it must be"
    if scale < 3 and margin > 0:
        assert coverage(margin - 1) < 0.95
    # Intervals use one noise of sqrt(n) times the scale, at half of the failure probability.
    assert coverage(geometric_tail(scale * np.sqrt(leaves), 0.975)) >= 0.975 - 1e-9
