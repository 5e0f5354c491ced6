"""What runs of the learner of redescriptions cost, and the noise that they pay for."""

from collections import Counter
from decimal import Decimal
from itertools import product

import numpy as np
import pytest

from dpcore.learning.learner import Run
from dpcore.models.redescriptions.learning import redescription_learner as learner_module
from dpcore.models.redescriptions.learning.plans import CallBudgets, per_block, tree_blocks
from dpcore.privacy.mechanisms import ExponentialMechanism, GeometricMechanism
from dpcore.privacy.randomness import SecureRandom
from tests.oracles.mechanisms_oracle import FALSE_ALARM, geometric_pmf, integer_p_value
from tests.support.learning.redescription_cases import LEARNER, TOGETHER, WAYS, fitting, rows_of, run, schema, way
from tests.support.learning.redescription_cases import table as table_of
from tests.support.rows import for_each

SCHEMA = schema()
ROWS = rows_of(SCHEMA, 90)
TABLE = table_of(SCHEMA, ROWS)
#: Settings that divide the budget in other ways.
SETTINGS = (
    {},
    {"starts": 1, "depth": 1},
    {"starts": 3, "depth": 2, "tree_share": 0.01, "margins": True},
    {"starts": 2, "depth": 3, "tree_share": 0.99, "margins": False, "reserved_splits": True},
)


def plan_of(epsilon="1", domain=SCHEMA, **parameters):
    return LEARNER.plan(domain, "", Decimal(epsilon), parameters)


# What a run costs


@pytest.mark.crossed
@way
@pytest.mark.parametrize("chosen", SETTINGS)
@pytest.mark.parametrize("rows_per_person", [1, 3, 7])
@pytest.mark.parametrize("epsilon", ["0.5", "1.000000001", "3"])
def test_a_plan_costs_exactly_its_epsilon(way, chosen, rows_per_person, epsilon):
    plan = plan_of(epsilon, schema(rows_per_person=rows_per_person), **fitting(**way, **chosen))
    assert sum(plan.split.parts.values()) == plan.epsilon == Decimal(epsilon)
    assert (plan.definition, plan.target, dict(plan.parallel)) == ("pure", "", {})
    calls, parameters = CallBudgets.of(plan), plan.parameters
    together = parameters.method in TOGETHER
    trees = parameters.starts * (1 if together else parameters.rounds + 1)
    counts = parameters.starts * parameters.rounds
    steps = {
        "starting points": (calls.start, parameters.starts),
        "trees": (calls.tree, trees),
        "pairs of leaves": (calls.pairs.amount, counts),
        "left leaves": (calls.leaves and calls.leaves.amount, counts),
    }
    for step, (share, times) in steps.items():
        if step not in plan.split.parts:
            assert share is None
            continue
        cost = rows_per_person * times * share
        assert cost <= plan.split[step]
        assert cost > plan.split[step] * Decimal("0.9999"), "and hardly anything is wasted"
    if not together:
        blocks = tree_blocks(SCHEMA, parameters)
        assert len(blocks) * per_block(calls.tree, blocks) <= calls.tree


@pytest.fixture
def spent(monkeypatch):
    """Row-level cost of everything that looks at records, in the order in which it does."""
    costs: list[tuple[str, Decimal]] = []

    def note(kind, cost):
        costs.append((kind, Decimal(cost)))

    def mechanism(owner, name, kind):
        inner = getattr(owner, name)

        def watched(self, values, randomness):
            note(kind, self.epsilon)
            return inner(self, values, randomness)

        monkeypatch.setattr(owner, name, watched)

    def sampler(name, cost):
        inner = getattr(learner_module, name)

        def watched(*arguments):
            note(name, cost(*arguments))
            return inner(*arguments)

        monkeypatch.setattr(learner_module, name, watched)

    mechanism(GeometricMechanism, "release", "count")
    mechanism(ExponentialMechanism, "select", "select")
    # table, literals, classes, blocks, epsilon of a level, max_rows, randomness
    sampler("draw_tree", lambda *given: len(given[3]) * given[4])
    # A weight w per record and a sensitivity of D records cost 2 w D: 1 for a tree, 1.5 for two.
    sampler("tree_chain", lambda *given: 2 * given[-2])
    sampler("pair_chain", lambda *given: 3 * given[-2])
    # A candidate of the exact pairs is drawn with a weight that was fitted to this budget.
    budgets = {}
    fit = learner_module.pair_weight

    def weighed(epsilon, *public):
        weight = fit(epsilon, *public)
        budgets[weight] = epsilon
        return weight

    draw = learner_module.ExactPairs.draw

    def drawn(self, weight, *rest):
        note("exact_pairs", budgets[weight])
        return draw(self, weight, *rest)

    monkeypatch.setattr(learner_module, "pair_weight", weighed)
    monkeypatch.setattr(learner_module.ExactPairs, "draw", drawn)
    return costs


@pytest.mark.crossed
@way
@pytest.mark.parametrize("chosen", SETTINGS)
@pytest.mark.parametrize(
    ("rounds", "rows_per_person"),
    [(1, 3), (2, 1), *(pytest.param(*case, marks=pytest.mark.slow) for case in ((1, 1), (2, 3)))],
)
def test_a_run_never_spends_more_than_its_epsilon(way, chosen, rounds, rows_per_person, spent):
    domain = schema(rows_per_person=rows_per_person)
    table = table_of(domain, ROWS)
    plan, model = run(table, "1.3", **fitting(**way, **chosen, rounds=rounds))
    whole = sum(cost for _, cost in spent)
    limit = Decimal("1.3") / rows_per_person
    assert whole <= limit * Decimal("1.000000000001"), "weights of chains are rounded numbers"
    if way.get("sensitivity") != "published":
        assert whole > limit * Decimal("0.9999")
    kinds, parameters = Counter(kind for kind, _ in spent), plan.parameters
    pairs = parameters.starts * parameters.rounds
    assert len(model.pairs) == pairs
    assert kinds["count"] == pairs * (2 if parameters.margins else 1)
    linked, pool = way["method"] == "lookahead", way.get("sampler") == "pool"
    together = way["method"] in TOGETHER
    assert kinds["select"] == (parameters.starts if linked or pool else 0)
    trees = 0 if together else parameters.starts * (parameters.rounds + 1)
    assert kinds["draw_tree"] + kinds["tree_chain"] == trees
    drawn = parameters.starts if together and not pool else 0
    assert kinds["exact_pairs"] + kinds["pair_chain"] == drawn


@for_each(
    ("method", "depth", "starts", "rounds", "share", "margins"),
    [
        ("exact_pairs", 2, 1, 1, Decimal("0.4"), False),
        ("lookahead", 2, 1, 1, Decimal("0.5"), False),
        ("alt_expm", 4, 4, 1, Decimal(2) / 3, True),
        ("alt_mcmc", 4, 4, 1, Decimal(2) / 3, True),
        ("mcmc_tree_pair", 4, 4, 1, Decimal("0.1"), True),
    ],
)
def test_what_is_left_to_the_engine(method, depth, starts, rounds, share, margins):
    plan = plan_of(method=method)
    chosen = plan.parameters
    assert (chosen.depth, chosen.starts, chosen.rounds) == (depth, starts, rounds)
    assert chosen.margins == margins
    parts = plan.split.parts
    counted = parts["pairs of leaves"] + parts.get("left leaves", 0)
    assert float(counted) == pytest.approx(float(1 - share), abs=1e-6)
    if margins:
        assert float(parts["left leaves"]) == pytest.approx(float(counted / 2), abs=1e-6)


@pytest.mark.parametrize("rounds", [1, 3])
def test_published_alternation_spends_equally_on_every_tree_and_every_count(rounds):
    plan = plan_of(method="alt_mcmc", rounds=rounds, steps=1_000)
    calls = CallBudgets.of(plan)
    expected = 1 / (4 * (2 * rounds + 1))
    assert float(calls.tree) == pytest.approx(expected, abs=1e-8)
    assert float(calls.pairs.amount + calls.leaves.amount) == pytest.approx(expected, abs=1e-8)


@for_each("way", WAYS)
def test_guarantees_say_what_they_rest_on(way):
    plan = plan_of(**way)
    chain = way["method"] == "alt_mcmc" or (way["method"] == "mcmc_tree_pair" and way.get("sampler") != "pool")
    assert plan.guarantee == ("conditional on convergence" if chain else "unconditional")
    assert ("chain" in plan.sampler) == chain


@way
def test_expected_noise_is_the_noise_of_the_counts(way):
    for margins in (True, False):
        plan, model = run(TABLE, "2", margins=margins, **way)
        noises = plan.count_noise
        assert len(noises) == (2 if margins else 1)
        for pair in model.pairs:
            assert pair.count_scale == pytest.approx(noises[0].scale, rel=1e-9)
            assert (pair.noisy_left is not None) == margins
            if margins:
                assert pair.left_scale == pytest.approx(noises[1].scale, rel=1e-9)
        assert model.count_margin == plan.count_margin()


# Noise


def noises():
    """Noise on every table, and on every count of left leaves, of many runs."""
    frame, source = TABLE.public_frame(), SecureRandom()
    plan = plan_of("3", method="alt_expm", depth=2, starts=4)
    tables, alone = [], []
    for _ in range(150):
        model = LEARNER.run(Run(TABLE, plan, source))
        for pair, exact in zip(model.pairs, model.exact_tables(frame, SCHEMA), strict=True):
            tables.append(np.array(pair.noisy_counts) - exact)
            alone.append(np.array(pair.noisy_left) - exact.sum(axis=1))
    return plan, np.array(tables), np.array(alone)


def surprise(one, other):
    """How many standard errors the correlation of two samples is away from 0."""
    return abs(np.corrcoef(one.ravel(), other.ravel())[0, 1]) * np.sqrt(one.size)


def test_noise_has_its_scale_and_is_independent_everywhere():
    plan, tables, alone = noises()
    calls = CallBudgets.of(plan)
    for draws, budget in ((tables, calls.pairs), (alone, calls.leaves)):
        scale = 1 / float(budget.amount)

        def p_value(times, draws=draws, scale=scale):
            return integer_p_value(draws.ravel(), lambda k: geometric_pmf(times * scale, k), 30)

        assert p_value(1) > FALSE_ALARM
        assert p_value(0.7) < FALSE_ALARM, "the test can fail"
    limit = 5.0
    for i, j in product(range(4), repeat=2):
        if i != j:
            assert surprise(tables[:, i], tables[:, j]) < limit
            assert surprise(tables[:, :, i], tables[:, :, j]) < limit
            assert surprise(alone[:, i], alone[:, j]) < limit
    assert surprise(tables.sum(axis=2), alone) < limit, "left leaves have noise of their own"
    assert surprise(tables[1:], tables[:-1]) < limit
    assert surprise(tables.sum(axis=2), tables[:, :, 0]) > limit, "the test can fail"
    assert surprise(np.abs(tables[:, :, 0]), np.abs(tables[:, :, 1])) < limit
