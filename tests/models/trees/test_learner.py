"""The tree learner end to end, for every method."""

from decimal import Decimal

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.stats import binom

from dpcore.domain.encoding import encode_columns
from dpcore.errors import BudgetError, RequestError, SchemaError
from dpcore.learning import holdout as holdout_module
from dpcore.learning.forms import plan_under
from dpcore.learning.learner import Run
from dpcore.models.released import parse_model
from dpcore.models.trees.learning.block_choice import choose_blocks, choose_leaf_share
from dpcore.models.trees.learning.methods import METHODS
from dpcore.models.trees.learning.tree_learner import TreeLearner
from dpcore.privacy.filters import PrivacyFilter
from dpcore.privacy.mechanisms import GeometricMechanism
from dpcore.privacy.randomness import SecureRandom, SeededRandom
from dpcore.released.evaluation import auc_of
from dpcore.released.release import Release, make_release
from tests.oracles.mechanisms_oracle import FALSE_ALARM
from tests.support.rows import for_each
from tests.support.tables import toy_people
from tests.support.tables.small_tables import schema_of, table_of

LEARNER = TreeLearner()
EVERY = [*METHODS]
SCHEMA = toy_people.schema()
TABLE = toy_people.table(SCHEMA)


def fit(method, target="ill", epsilon="2", table=TABLE, source=None, schema=None, **more):
    domain = schema or table.schema
    plan = LEARNER.plan(domain, target, Decimal(epsilon), {"method": method, **more})
    return plan, LEARNER.run(Run(table, plan, source or SecureRandom()))


def ends(model):
    return [place for place, node in enumerate(model.nodes) if not node.children]


def exact_shares(model, table, target):
    """Share predicted correctly, and confusion, of the people set aside: public toy data."""
    people = table.public_frame("holdout")
    codes = encode_columns(people, table.schema, [target])[target]
    known = codes < len(model.classes)
    predicted = model.predict(people, table.schema)
    confusion = np.zeros((len(model.classes),) * 2, dtype=int)
    np.add.at(confusion, (codes[known], predicted[known]), 1)
    return float((predicted == codes)[known].mean()), confusion


# Plans


@for_each("method", EVERY)
@for_each("rows_per_person", [1, 3])
@for_each("evaluate", [True, False])
def test_a_plan_costs_exactly_its_epsilon_and_evaluation_is_beside_it(method, rows_per_person, evaluate):
    domain = toy_people.schema(rows_per_person)
    for epsilon in ("0.5", "1.000000001"):
        plan = LEARNER.plan(domain, "ill", Decimal(epsilon), {"method": method, "evaluate": evaluate})
        assert sum(plan.split.parts.values()) == plan.epsilon == Decimal(epsilon)
        assert dict(plan.parallel) == ({"evaluation": Decimal(epsilon)} if evaluate else {})
        assert plan.guarantee == "unconditional"
        assert plan.definition == "pure"
        for step in plan.split.parts:
            assert plan.row_epsilon(step) * rows_per_person <= plan.split[step]
    nobody = toy_people.schema(rows_per_person, holdout_percent=0)
    assert not LEARNER.plan(nobody, "ill", Decimal(1), {"method": method}).parallel


@pytest.mark.crossed
@pytest.mark.parametrize("method", EVERY)
@pytest.mark.parametrize("spend_rest", [True, False])
@pytest.mark.parametrize(
    ("target", "columns"),
    [("ill", 5), ("stage", 2), *(pytest.param(*case, marks=pytest.mark.slow) for case in (("ill", 2), ("stage", 5)))],
)
def test_no_count_is_noisier_than_the_plan_says(method, target, spend_rest, columns):
    """A group's class counts cost at least the budget that the plan names first."""
    kept = [c for c in toy_people.COLUMNS if columns == 5 or c["name"] in {"age", target}]
    domain = toy_people.schema(columns=kept)
    table = toy_people.table(domain)
    for seed, epsilon in enumerate(("0.05", "1", "20")):
        plan, model = fit(method, target, epsilon, table, SeededRandom(seed), spend_rest=spend_rest)
        promised = plan.count_noise[0]
        for place in ends(model):
            assert model.nodes[place].count_margin <= promised.margin()


# Runs


@pytest.mark.crossed
@pytest.mark.parametrize("method", EVERY)
@pytest.mark.parametrize(
    "target", ["stage", "age", *(pytest.param(target, marks=pytest.mark.slow) for target in ("ill", "smoker"))]
)
def test_a_release_can_be_read_back_and_keeps_its_budget(method, target):
    plan, model = fit(method, target)
    release = make_release("tree", plan, model, secure=True)
    again = Release.from_json(release.to_json())
    assert parse_model(again) == model
    certificate = again.certificate
    assert certificate.private
    assert certificate.epsilon == 2
    assert certificate.guarantee == "unconditional"
    assert sum(certificate.budget_split.values()) == 2
    assert certificate.parallel_split == {"evaluation": 2}
    assert model.classes == SCHEMA.column(target).classes
    assert model.budget == 2
    assert all(model.path_spent(place) <= 2 for place in ends(model))
    assert (method == "lookahead") == bool(model.blocks)
    assert target not in model.columns()
    for node in model.nodes:
        assert sum(node.estimates) == pytest.approx(1)
        assert all(0 <= low <= high <= 1 for low, high in node.intervals)
        if target != "smoker":
            assert node.estimates[node.label] == pytest.approx(max(node.estimates), abs=0.02)


@for_each("method", EVERY)
def test_a_large_budget_finds_the_rule_of_the_toy_people(method):
    _, model = fit(method, epsilon="200", source=SeededRandom(2))
    share, _ = exact_shares(model, TABLE, "ill")
    assert share > 0.85
    empty = LEARNER.plan(SCHEMA, "ill", Decimal("0.01"), {"method": method})
    shares = (exact_shares(LEARNER.run(Run(TABLE, empty, SeededRandom(s))), TABLE, "ill")[0] for s in range(6))
    assert any(share < 0.8 for share in shares), "with hardly any budget it is not always found"


@pytest.mark.crossed
@pytest.mark.parametrize("method", EVERY)
@pytest.mark.parametrize("target", ["ill", "stage"])
def test_hold_out_figures_are_exact_up_to_their_noise(method, target):
    """At epsilon 1000 noise vanishes; at 1 it stays within what the counts' noise explains."""
    _, model = fit(method, target, epsilon="1000", depth=2)
    share, confusion = exact_shares(model, TABLE, target)
    assert model.evaluation.noisy_confusion == tuple(map(tuple, confusion.tolist()))
    assert model.evaluation.accuracy.value == pytest.approx(share)
    assert model.evaluation.auc is not None
    _, noisy = fit(method, target, epsilon="1", depth=2)
    share, confusion = exact_shares(noisy, TABLE, target)
    # Each count of a group is off by more than 14 + ln(cells) with a chance of at most 1e-6.
    cells = len(noisy.finals) * len(noisy.classes)
    off = np.abs(np.array(noisy.evaluation.noisy_confusion) - confusion)
    assert off.max() <= (14 + np.log(cells)) * len(noisy.finals)


def test_only_groups_where_records_stop_are_counted(monkeypatch):
    """Noise on a node that nobody stops at would only blur the figures."""
    sizes = []
    release = GeometricMechanism.release
    monkeypatch.setattr(
        holdout_module.GeometricMechanism,
        "release",
        lambda self, counts, source: sizes.append(counts.shape) or release(self, counts, source),
    )
    _, model = fit("adiffp", epsilon="20")
    assert len(model.nodes) > len(model.finals) > 1
    assert sizes[-1] == (len(model.finals), 2)


@for_each("method", EVERY)
def test_counts_are_those_of_the_training_people(method):
    """At a huge budget the class counts of the groups are exact, targets unknown left out."""
    for evaluate, part in ((True, "train"), (False, "all")):
        _, model = fit(method, "stage", epsilon="1000", evaluate=evaluate, depth=2, prune=False)
        exact = model.count_records(TABLE.public_frame(part), SCHEMA, "stage")
        # The leaves of an adaptive tree share what is left: a count may still be off by one.
        for place in ends(model):
            off = np.subtract(model.nodes[place].noisy_counts, exact[place])
            assert np.abs(off).max() <= 3 * model.nodes[place].count_margin + 1
        total = np.sum([model.nodes[place].noisy_counts for place in ends(model)])
        assert abs(total - np.sum(exact[0])) <= len(ends(model))


@pytest.mark.crossed
@pytest.mark.parametrize("method", EVERY)
@pytest.mark.parametrize("rows", [[], [(0, 0, 0, 0, 0)], [(1, 1, 3, 3, 3)]])
def test_a_table_of_no_or_one_record_is_fitted(method, rows):
    """An empty training part is an ordinary data set; so is one whose targets are missing."""
    domain = toy_people.schema()
    for target, source in (("ill", SecureRandom()), ("stage", SeededRandom(1))):
        _, model = fit(method, target, "0.5", table_of(domain, rows), source)
        assert len(model.nodes) >= 1
        assert model.evaluation is not None


@pytest.mark.crossed
@pytest.mark.parametrize("method", EVERY)
@pytest.mark.parametrize("rows_per_person", [2, 7])
def test_several_rows_of_a_person(method, rows_per_person):
    domain = toy_people.schema(rows_per_person)
    content = toy_people.frame()
    content["person"] //= rows_per_person
    table = toy_people.table(domain, content)
    plan, model = fit(method, epsilon="3", table=table)
    spent = {model.path_spent(place) for place in ends(model)}
    assert max(spent) <= 3
    assert all(share % rows_per_person == 0 for share in (s * 10**9 for s in spent))
    assert plan.row_epsilon("evaluation") <= Decimal(3) / rows_per_person


@for_each("method", EVERY)
def test_a_tiny_budget_that_is_accepted_can_be_run(method):
    """A run that is planned must not fail after it has touched a record."""
    planned = 0
    for steps in (1, 2, 5, 11, 30, 1000, 10_000):
        for more in ({}, {"criterion": "gini"}, {"spend_rest": False, "evaluate": False}):
            parameters = {"method": method, **more}
            try:
                plan = LEARNER.plan(SCHEMA, "ill", Decimal(steps) / 10**9, parameters)
            except BudgetError:
                continue
            planned += 1
            LEARNER.run(Run(TABLE, plan, SeededRandom(steps)))
    assert planned >= 3


# Nothing private in plans, progress and refusals


def calls_of(method, table, seed):
    calls = []
    plan = LEARNER.plan(SCHEMA, "ill", Decimal(1), {"method": method, "blocks": (2, 1)})
    LEARNER.run(Run(table, plan, SeededRandom(seed), lambda *call: calls.append(call)))
    return calls


@for_each("method", EVERY)
def test_progress_tells_steps_that_are_the_same_for_any_records(method):
    empty = table_of(SCHEMA, [])
    tables = [TABLE, empty, toy_people.table(SCHEMA, toy_people.frame(30))]
    told = [calls_of(method, table, seed) for seed, table in enumerate(tables)]
    for calls in told:
        assert calls[0] == ("growing the tree", 0, 1)
        assert calls[-1] == ("checking on people set aside", 1, 1)
        assert all(0 <= done <= total for _, done, total in calls)
        steps = [step for step, _, _ in calls]
        assert steps == sorted(steps, reverse=True), "one step after the other"
        growing = [call for call in calls if call[0] == "growing the tree"]
        assert growing[-1][1] == growing[-1][2]
    assert told[0] == told[1] == told[2]
    assert {total for _, _, total in told[0]} <= {1, 1000}


def test_without_evaluation_nothing_of_the_hold_out_part_is_used():
    """With evaluation, training and evaluation see different people."""
    plan = LEARNER.plan(SCHEMA, "ill", Decimal(1000), {"method": "diffp_id3", "depth": 1})
    model = LEARNER.run(Run(TABLE, plan, SeededRandom(1)))
    trained, held = np.sum(model.nodes[0].noisy_counts), np.sum(model.evaluation.noisy_confusion)
    known = TABLE.public_frame()["ill"].isin(["yes", "no"]).sum()
    assert abs(trained + held - known) <= 3
    assert 0.1 * known < held < 0.3 * known


# Refusals


WIDE = [{"name": f"c{i}", "type": "categorical", "categories": [f"v{j}" for j in range(600)]} for i in range(12)]
ILL = {"name": "ill", "type": "boolean"}


@for_each(
    ("schema", "target", "parameters", "sentence"),
    [
        (schema_of([ILL]), "ill", {}, "nothing to split on"),
        (SCHEMA, "ill", {"criterion": "matsushita"}, "supports the criteria 'balanced', 'error' and 'gini'"),
        (SCHEMA, "ill", {"blocks": ()}, "at least one block"),
        (SCHEMA, "ill", {"blocks": (4,)}, "blocks"),
        (SCHEMA, "ill", {"blocks": (0,)}, "blocks"),
        (SCHEMA, "ill", {"blocks": (1, 1, 1, 1)}, "blocks"),
        (schema_of([*WIDE, ILL], 1000), "ill", {"blocks": (3,)}, "depth 3 over 7200 splits needs"),
        (schema_of([*WIDE, ILL], 1000), "ill", {"blocks": (2, 1)}, "choose blocks of depth 1"),
        (schema_of([*WIDE[:1], ILL], 10**8), "ill", {"blocks": (3,)}, "would take hours"),
    ],
)
def test_a_request_that_cannot_be_honoured_is_refused(schema, target, parameters, sentence):
    with pytest.raises((RequestError, SchemaError), match=sentence) as caught:
        LEARNER.plan(schema, target, Decimal(1), parameters)
    assert str(caught.value).endswith(".")


@for_each("method", EVERY)
def test_nothing_but_the_target_still_makes_a_tree_or_is_refused(method):
    domain = schema_of([ILL], max_rows=20)
    if method == "lookahead":
        with pytest.raises(RequestError, match="another column"):
            LEARNER.plan(domain, "ill", Decimal(1), {"method": method})
        return
    plan = LEARNER.plan(domain, "ill", Decimal(1), {"method": method})
    model = LEARNER.run(Run(table_of(domain, [(1,)] * 9), plan, SecureRandom()))
    assert len(model.nodes) == 1


# The house rule


@given(
    st.integers(1, 10**12), st.integers(1, 10**12), st.integers(1, 10**8), st.integers(1, 20_000), st.integers(2, 50)
)
def test_more_budget_never_makes_the_house_rule_shallower(one, other, rows, splits, classes):
    low, high = (Decimal(e) / 10**9 for e in sorted((one, other)))
    blocks = [choose_blocks(e, rows, splits, classes) for e in (low, high)]
    assert sum(blocks[0]) <= sum(blocks[1])
    assert len(blocks[0]) <= len(blocks[1])
    assert choose_leaf_share(low, rows, splits) >= choose_leaf_share(high, rows, splits)


@pytest.mark.crossed
@pytest.mark.parametrize("columns", [1, 20, 200, 999])
@pytest.mark.parametrize("rows", [64, 5000, 300_000, 100_000_000])
@pytest.mark.parametrize("epsilon", ["0.1", "10"])
def test_what_the_house_rule_decides_is_never_refused(columns, rows, epsilon):
    names = [{"name": f"n{i}", "type": "integer", "lower": 0, "upper": 99, "bins": 10} for i in range(columns)]
    domain = schema_of([*names, ILL], rows)
    plan = LEARNER.plan(domain, "ill", Decimal(epsilon), {})
    assert plan.parameters.blocks is not None
    assert plan.parameters.leaf_share is not None


# Noise is what it is said to be


def test_the_count_of_a_lone_leaf_has_the_noise_of_its_budget():
    """Draws of one leaf's count: within the margin as often as stated, and not much more."""
    domain = schema_of([ILL, {"name": "z", "type": "boolean"}], max_rows=2)
    table, draws, inside = table_of(domain, []), 600, 0
    plan = LEARNER.plan(domain, "ill", Decimal("0.2"), {"method": "adiffp"})
    source = SecureRandom()
    for _ in range(draws):
        model = LEARNER.run(Run(table, plan, source))
        assert len(model.nodes) == 1
        inside += sum(abs(n) <= plan.count_margin() for n in model.nodes[0].noisy_counts)
    assert binom.cdf(inside, 2 * draws, 0.95) > FALSE_ALARM
    assert binom.cdf(inside, 2 * draws, 0.999) < FALSE_ALARM, "it can be told from less noise"


def test_figures_survive_noise_that_dwarfs_every_count():
    """Counts of a tiny epsilon are in the billions; the pairs of an AUC leave 64 bits."""
    counts = np.array([[9 * 10**9, 10**9], [10**9, 9 * 10**9]])
    estimates = np.array([[0.8, 0.2], [0.2, 0.8]])
    assert auc_of(counts, estimates) == pytest.approx(0.9)
    assert auc_of(counts // 10**9, estimates) == pytest.approx(0.9)


@for_each("criterion", ["balanced", "error", "gini"])
@for_each("leaf_share", [0.01, 0.1, 0.5])
def test_what_is_accepted_for_persons_of_very_many_rows_can_be_run(criterion, leaf_share):
    """In the form that composes, the share of a leaf may be too small to be stated for one row."""
    unit = {"column": "person", "max_rows_per_person": 1000}
    schema = schema_of([{"name": "x", "type": "boolean"}, {"name": "ill", "type": "boolean"}], privacy_unit=unit)
    cap, chosen = PrivacyFilter(Decimal(1), Decimal("1e-6")), {"criterion": criterion, "leaf_share": leaf_share}
    ran = set()
    for epsilon in ("0.001", "0.01", "0.1"):
        plan = plan_under(
            cap,
            lambda delta, _=None, e=epsilon: LEARNER.plan(
                schema, "ill", Decimal(e), {"method": "lookahead", "blocks": [1], **chosen}, delta
            ),
        )
        ran.add(plan.definition)
        assert LEARNER.run(Run(table_of(schema, [(0, 1)] * 9), plan, SeededRandom(1))).nodes
    assert "approximate" in ran
