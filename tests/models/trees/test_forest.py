"""The forest learner end to end, for both methods and both ways to share."""

from decimal import Decimal

import numpy as np
import pytest

from dpcore.domain.encoding import encode_columns
from dpcore.errors import BudgetError, RequestError
from dpcore.learning.learner import Run
from dpcore.models.trees.learning import forest_learner as learner_module
from dpcore.models.trees.learning.forest_learner import ForestLearner
from dpcore.models.trees.learning.growth import Grown, freeze
from dpcore.models.trees.learning.random_trees import GrownForest
from dpcore.models.trees.released.splits import split_by_category
from dpcore.privacy.randomness import SecureRandom, SeededRandom
from tests.support.rows import for_each
from tests.support.tables import toy_people
from tests.support.tables.small_tables import schema_of, table_of

LEARNER = ForestLearner()
KINDS = [(method, sharing) for method in ("rfdiffp", "random_trees") for sharing in ("parts", "split")]
SCHEMA = toy_people.schema()
TABLE = toy_people.table(SCHEMA)


def fit(method, sharing, target="ill", epsilon="2", table=TABLE, source=None, **more):
    parameters = {"method": method, "sharing": sharing, "trees": 5, "depth": 3, **more}
    plan = LEARNER.plan(table.schema, target, Decimal(epsilon), parameters)
    return plan, LEARNER.run(Run(table, plan, source or SecureRandom()))


def dearest(tree):
    return max(tree.path_spent(p) for p, node in enumerate(tree.nodes) if not node.children)


@pytest.mark.crossed
@pytest.mark.parametrize(("method", "sharing"), KINDS)
@pytest.mark.parametrize(
    ("rows_per_person", "spend_rest"),
    [(1, True), (3, False), *(pytest.param(*case, marks=pytest.mark.slow) for case in ((1, False), (3, True)))],
)
def test_a_forest_costs_exactly_its_plan_at_most(method, sharing, rows_per_person, spend_rest):
    domain = toy_people.schema(rows_per_person)
    content = toy_people.frame()
    content["person"] //= rows_per_person
    plan, model = fit(method, sharing, table=toy_people.table(domain, content), spend_rest=spend_rest)
    assert model.rows_per_person == model.evaluation.rows_per_person == rows_per_person
    assert sum(plan.split.parts.values()) == plan.epsilon == 2
    assert plan.parallel == {"evaluation": 2}
    costs = [dearest(tree) for tree in model.trees]
    assert (max(costs) if sharing == "parts" else sum(costs)) <= 2
    for tree, cost in zip(model.trees, costs, strict=True):
        assert cost <= tree.budget
    if sharing == "parts":
        assert {tree.budget for tree in model.trees} == {2 - 2 % (rows_per_person * Decimal("1e-9"))}


@pytest.mark.parametrize(
    ("method", "sharing", "target"),
    [
        ("rfdiffp", "parts", "ill"),
        ("rfdiffp", "split", "stage"),
        ("random_trees", "parts", "stage"),
        ("random_trees", "split", "ill"),
        pytest.param("rfdiffp", "parts", "stage", marks=pytest.mark.slow),
        pytest.param("rfdiffp", "split", "ill", marks=pytest.mark.slow),
        pytest.param("random_trees", "parts", "ill", marks=pytest.mark.slow),
        pytest.param("random_trees", "split", "stage", marks=pytest.mark.slow),
    ],
)
def test_no_count_is_noisier_than_the_plan_says(method, sharing, target):
    margins = []
    for seed, epsilon in enumerate(("0.05", "1", "20")):
        for spend_rest in (True, False):
            plan, model = fit(method, sharing, target, epsilon, source=SeededRandom(seed), spend_rest=spend_rest)
            promised = plan.count_noise[0]
            for tree in model.trees:
                for node in tree.nodes:
                    assert node.children or node.count_margin <= promised.margin()
        margins.append([noise.margin() for noise in plan.count_noise])
    for small, middle, large in zip(*margins, strict=True):
        assert small > middle > large >= 0


@pytest.mark.crossed
@pytest.mark.parametrize(("method", "sharing"), KINDS)
@pytest.mark.parametrize("target", ["ill", "stage"])
def test_hold_out_figures_are_exact_without_noise(method, sharing, target):
    _, model = fit(method, sharing, target, epsilon="1000", source=SeededRandom(2), trees=4)
    people = TABLE.public_frame("holdout")
    truth = encode_columns(people, SCHEMA, [target])[target]
    known = truth < len(model.classes)
    predicted = model.predict(people, SCHEMA)
    assert model.evaluation.accuracy.value == pytest.approx((predicted == truth)[known].mean())
    confusion = np.zeros((len(model.classes),) * 2, dtype=int)
    np.add.at(confusion, (truth[known], predicted[known]), 1)
    assert model.evaluation.noisy_confusion == tuple(map(tuple, confusion.tolist()))
    assert model.evaluation.accuracy.value > (0.7 if method == "rfdiffp" else 0.4)
    assert model.evaluation.auc is not None
    assert model.evaluation.group_limits == ((0.0, *model.cuts) if target == "ill" else ())


@for_each(("method", "sharing"), KINDS)
def test_people_train_one_tree_or_all(method, sharing):
    """Without noise, counts over the trees are those of the training people, once or five times."""
    for evaluate, part in ((True, "train"), (False, "all")):
        _, model = fit(method, sharing, epsilon="1000", evaluate=evaluate, source=SeededRandom(1))
        assert (model.evaluation is not None) == evaluate
        known = TABLE.public_frame(part)["ill"].isin(["yes", "no"]).sum()
        totals = [sum(tree.nodes[0].noisy_counts) for tree in model.trees]
        leaves = sum(1 for tree in model.trees for node in tree.nodes if not node.children)
        # Leaves of late nodes may have noise of one.
        assert abs(sum(totals) - known * (1 if sharing == "parts" else 5)) <= leaves
        if sharing == "parts":
            assert max(totals) < 0.3 * known


def test_too_much_work_is_refused_with_a_number_that_is_not():
    wide = [{"name": f"n{i}", "type": "integer", "lower": 0, "upper": 999, "bins": 100} for i in range(100)]
    domain = schema_of([*wide, {"name": "ill", "type": "boolean"}], 10**7)
    with pytest.raises(RequestError, match=r"choose at most \d+\.") as caught:
        LEARNER.plan(domain, "ill", Decimal(1), {"trees": 100})
    most = int(str(caught.value).rstrip(".").split()[-1])
    assert 1 <= most < 100
    LEARNER.plan(domain, "ill", Decimal(1), {"trees": most})


@pytest.mark.parametrize("sharing", ["parts", "split"])
def test_trees_that_spend_too_much_together_are_not_released(sharing, monkeypatch):
    """A fault in the growing is caught before anything is released."""

    def leaf(cost):
        return Grown(spent=Decimal(cost), noisy_counts=np.array([1, 2]), count_epsilon=Decimal(cost))

    def grow(data, budget, parameters, randomness, done):
        costs = ("0.5", "0.500000001") if sharing == "split" else ("1", "1.000000001")
        return GrownForest([leaf(cost) for cost in costs], [Decimal(9), Decimal(9)])

    monkeypatch.setattr(learner_module, "grow_adaptive_forest", grow)
    plan = LEARNER.plan(SCHEMA, "ill", Decimal(1), {"method": "rfdiffp", "trees": 2, "sharing": sharing})
    with pytest.raises(BudgetError, match="more than they were given"):
        LEARNER.run(Run(TABLE, plan, SecureRandom()))


@for_each("sharing", ["parts", "split"])
@for_each(("cost", "told"), [("0.005", 0.25), ("50", 0.9)])
def test_a_leaf_is_told_the_chance_of_all_people_as_far_as_it_is_noise(sharing, cost, told):
    def grown(*leaves):
        below = [
            Grown(spent=Decimal(cost), noisy_counts=np.array(counts), count_epsilon=Decimal(cost)) for counts in leaves
        ]
        return Grown(split=split_by_category(SCHEMA.column("smoker")), children=below)

    trees = [grown((30_000, 10_000), (20, 180), (0, 0)), grown((30_000, 9_990), (20, 170), (0, 0))]
    learner_module._expect(GrownForest(trees, [Decimal(cost)] * 2), sharing)
    model = freeze(trees[0], SCHEMA, ("no", "yes"), Decimal(cost))
    _, large, small, nobody = model.nodes
    assert large.estimates[1] == pytest.approx(0.25, abs=0.01)
    assert small.estimates[1] == pytest.approx(told, abs=0.05)
    assert nobody.estimates[1] == pytest.approx(0.25, abs=0.02), "not one half"
    assert small.noisy_counts == (20, 180), "what was bought is printed as it was bought"
    assert small.intervals[1][0] <= small.estimates[1] <= small.intervals[1][1]


def test_chances_on_average_are_those_of_all_people():
    people = TABLE.public_frame("all")
    known = people["ill"].isin(["yes", "no"])
    share = (people["ill"] == "yes")[known].mean()
    for seed in range(3):
        _, model = fit("random_trees", "split", source=SeededRandom(seed), evaluate=False, trees=10)
        assert model.predict_proba(people, SCHEMA)[known, 1].mean() == pytest.approx(share, abs=0.08)


@for_each(
    ("epsilon", "max_rows", "trees"),
    [("0.1", 240, 2), ("0.4", 300, 4), ("1", 300, 10), ("0.000001", 64, 2), ("10", 1_000_000, 10)],
)
def test_the_more_people_and_epsilon_the_more_trees_share(epsilon, max_rows, trees):
    plan = LEARNER.plan(schema_of([*toy_people.COLUMNS], max_rows), "ill", Decimal(epsilon), {})
    assert plan.parameters.trees == trees
    asked = LEARNER.plan(plan.schema, "ill", Decimal(epsilon), {"trees": 7})
    assert asked.parameters.trees == 7


def test_how_many_trees_share_does_not_follow_from_records():
    plan = LEARNER.plan(SCHEMA, "ill", Decimal(1), {})
    for content in (TABLE, table_of(SCHEMA, [])):
        assert len(LEARNER.run(Run(content, plan, SeededRandom(1))).trees) == plan.parameters.trees
