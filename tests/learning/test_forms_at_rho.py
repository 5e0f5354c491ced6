"""Runs that compose at a given rho: what they are charged is what their steps cost, and no more."""

from __future__ import annotations

import math
from contextlib import suppress
from decimal import Decimal
from fractions import Fraction
from itertools import product

import numpy as np
import pytest

from dpcore.audit.replay.methods import METHODS
from dpcore.audit.replay.probabilities import divergence_rho, softmax_logs
from dpcore.audit.replay.replayed_tables import random_schema
from dpcore.errors import BudgetError, RequestError
from dpcore.learning.count_budget import CountBudget
from dpcore.learning.exact_draws.lookahead import ExactWeight
from dpcore.learning.learner import Run
from dpcore.models.redescriptions.learning import exact_pairs, plans
from dpcore.models.redescriptions.learning.exact_pairs import ExactPairs, pair_weight
from dpcore.models.redescriptions.learning.plans import CallBudgets, per_block, tree_blocks
from dpcore.models.registry import get_learner
from dpcore.models.rules.learning import rule_list_learner
from dpcore.privacy.budgets import EPSILON_STEP
from dpcore.privacy.filters import largest_rho
from dpcore.privacy.losses import pure_epsilon, pure_rho, selection_rho
from dpcore.privacy.mechanisms import GaussianMechanism
from dpcore.privacy.randomness import SeededRandom
from dpcore.privacy.sensitivity import Sensitivity
from tests.support.learning.redescription_cases import PLAIN, WAYS, rows_of, schema, table, vectors
from tests.support.rows import for_each

DELTA = Decimal("1e-6")
#: Ways to learn of which nothing but a limit is known.
CHAINS = {"chain", "chain as published", "chain, given conditions", "alt_mcmc", "mcmc_tree_pair, chain"}
#: The families whose every other method composes.
FAMILIES = ("rule_list", "ebm", "redescriptions", "ilp", "summaries")
PURE = [method for method in METHODS if method.delta == "0" and method.family in FAMILIES]
#: What is planned at the rho that is given, with what noise on a count is compared.
MINED = {"antecedents": "dp_fim", "min_support": 0.01}
SCALING = (
    *(("redescriptions", "", way) for way in WAYS if "steps" not in way),
    ("rule_list", "treated", {**MINED, "sampler": "pool", "pool_size": 50}),
    ("rule_list", "treated", {**MINED, "sampler": "lookahead", "max_antecedent_length": 2}),
    ("ilp", "treated", {"method": "naive"}),
    ("ilp", "treated", {"method": "relevance_aware"}),
)


def _plan(family, target, parameters, epsilon="1", delta=DELTA, rows=1):
    domain = schema(max_rows=2000, rows_per_person=rows)
    return get_learner(family).plan(domain, target, Decimal(epsilon), parameters, delta)


@pytest.mark.parametrize("method", PURE, ids=lambda method: f"{method.family}: {method.name}")
def test_every_method_but_chains_has_a_form_that_composes(method):
    rng = np.random.default_rng(0)
    while True:
        domain = random_schema(rng, method.shape)
        chosen = {name: values[int(rng.integers(len(values)))] for name, values in method.choices.items()}
        target = domain.targets[0] if domain.targets else ""
        try:
            plan = get_learner(method.family).plan(domain, target, Decimal("0.5"), chosen, DELTA)
        except (BudgetError, RequestError):
            continue
        break
    assert (plan.delta > 0) == (plan.rho is not None) == (method.name not in CHAINS)


@for_each("epsilon", ["0.05", "0.5", "3"])
@for_each("rows", [1, 3])
@for_each(("family", "target", "parameters"), SCALING)
def test_a_run_costs_what_its_promise_allows(family, target, parameters, rows, epsilon):
    plan = _plan(family, target, parameters, epsilon, rows=rows)
    assert plan.loss.rho == plan.rho == largest_rho(Decimal(epsilon), DELTA)
    assert (plan.definition, plan.delta, plan.epsilon) == ("approximate", DELTA, Decimal(epsilon))
    assert plan.epsilon == sum(plan.split.parts.values())
    assert all(pure_rho(share) <= plan.rho for share in plan.parallel.values())
    counting = [step for step in plan.split.parts if step not in plan.composed.selections and plan.split[step]]
    counts = sum(Fraction(CountBudget.of(plan, step).amount) for step in counting) * rows**2
    assert counts <= Fraction(plan.composed.counts)
    spent = float(counts) + _drawn(plan, rows)
    assert float(plan.rho) * 0.999 < spent <= float(plan.rho) * (1 + 1e-9)


def _drawn(plan, rows):
    """Rho of all that a run draws, counted anew."""
    if not plan.target:
        calls, chosen = CallBudgets.of(plan), plan.parameters
        levels = tree_blocks(plan.schema, chosen) if chosen.draws_blocks else (0,)
        each = per_block(calls.tree, levels) if chosen.draws_blocks else calls.tree
        slack = plans._slack(plan.schema, chosen, rows * each)
        draws = chosen.trees * len(levels) * float(rows * each + 2 * Decimal(slack)) ** 2 / 8
        return draws + (chosen.starts * float(rows * calls.start) ** 2 / 8 if calls.start else 0.0)
    if "list" not in plan.composed.selections:
        return 0.0
    if plan.parameters.sampler == "lookahead":
        return float(rule_list_learner._blocks_rho(plan, plan.composed.selections["list"]))
    return float(selection_rho(plan.composed.selections["list"]))


@for_each(("family", "target", "parameters"), SCALING)
def test_noise_is_narrower_than_that_of_a_pure_run_of_the_same_rho(family, target, parameters):
    made = _plan(family, target, parameters, "5")
    alone = _plan(family, target, parameters, str(pure_epsilon(made.rho)), delta=Decimal(0))
    assert made.count_noise[0].margin() < 0.8 * alone.count_noise[0].margin()
    assert all(made.composed.selections[step] > 2 * alone.split[step] for step in made.composed.selections)


@for_each("method", ["alt_mcmc", "mcmc_tree_pair"])
def test_chains_stay_pure_whatever_is_given(method):
    asked = {"method": method, "steps": 1000}
    plans_made = [_plan("redescriptions", "", asked, delta=delta) for delta in (DELTA, Decimal(0))]
    assert plans_made[0] == plans_made[1]
    assert plans_made[0].loss.without_rho == 1


@for_each(("family", "target", "parameters"), SCALING)
def test_so_little_rho_is_refused_before_a_record_is_read(family, target, parameters):
    with pytest.raises(BudgetError, match="too small"):
        _plan(family, target, parameters, "0.0000001")


# Counts


@for_each("rows", [1, 2, 5])
@for_each("moved", [1, 2, 3, 50, 1001])
@for_each("rho", ["0.3", "0.0123456789", "7"])
def test_gaussian_counts_of_a_vector_cost_a_person_their_rho(rho, moved, rows):
    """A person's rows may all be alike: then each of so many counts moves by their number."""
    amount = Decimal(rho) / rows**2
    noise = CountBudget(amount, gaussian=True).mechanism(Sensitivity(moved, "L1", monotone=True))
    assert isinstance(noise, GaussianMechanism)
    cost = moved * Fraction(rows) ** 2 / (2 * Fraction(noise.scale) ** 2)
    assert cost <= Fraction(rho), "exactly"
    assert cost > Fraction(rho) * Fraction(999_999, 1_000_000)


@for_each("scale_rho", [0.02, 0.5, 3.0])
def test_the_divergence_of_moved_counts_is_within_their_rho_at_every_order(scale_rho):
    """Two counts that move by one, noise listed value by value; noise for one of them would be too little."""
    noise = CountBudget(Decimal(str(scale_rho)), gaussian=True).mechanism(Sensitivity(2, "L1", monotone=True))
    for times, within in ((1.0, True), (math.sqrt(0.5), False)):
        scale = times * noise.scale
        support = np.arange(-math.ceil(12 * scale) - 60, math.ceil(12 * scale) + 61, dtype=float)
        logs = [-((support - shift) ** 2) / (2 * scale**2) for shift in (0, 1)]
        logs = [own - np.log(np.exp(own).sum()) for own in logs]
        one = divergence_rho([(*logs, 0)])
        assert (2 * one <= scale_rho * (1 + 1e-9)) == within


@for_each("calls", [1, 3, 7])
@for_each("gaussian", [True, False])
def test_parts_of_a_budget_never_exceed_it(calls, gaussian):
    whole = CountBudget(Decimal("0.100000001"), gaussian=gaussian)
    part = whole.one_of(calls)
    assert part.gaussian == gaussian
    assert Fraction(calls) * Fraction(part.amount) <= Fraction(whole.amount)
    with pytest.raises(BudgetError, match="too small for so many counts"):
        CountBudget(Decimal("1e-9")).one_of(2)


# Draws


def _log_chances(rows, domain, weight: ExactWeight, places):
    """Exact log-probabilities of all candidates of a draw, and of a heavier one."""
    sides = [vectors(np.array(rows, dtype=bool).reshape(-1, 4)[:, own], domain.max_rows) for own in ((0, 1), (2, 3))]
    people = table(domain, rows)
    compared = ExactPairs.compare(people, *(lambda _, own=own: own for own in sides), *places, lambda _: None)
    utilities = compared.agreements.astype(np.int64).ravel()
    return [softmax_logs(times * weight.numerator * utilities / 2.0**weight.bits) for times in (1, 2)]


@for_each("epsilon", ["0.2", "2"])
def test_a_draw_of_exact_pairs_costs_its_bounded_range_between_all_small_neighbours(epsilon, monkeypatch):
    """All tables of four kinds of people, and all neighbours: the Rényi divergence of the whole draw, listed."""
    monkeypatch.setattr(exact_pairs, "in_threads", lambda work, size: work(np.arange(size)))
    columns = [dict(own) for own in (*PLAIN[:2], *PLAIN[3:5])]
    domain, single = schema(columns, max_rows=12), np.array([[0, 0], [0, 1], [1, 1]])
    weight = pair_weight(Decimal(epsilon), domain.max_rows, len(single))
    allowed = float(selection_rho(Decimal(epsilon)))
    kinds = [(0, 0, 0, 0), (1, 1, 1, 1), (1, 0, 0, 1), (0, 1, 1, 1)]
    largest = [0.0, 0.0]
    for counts in product((0, 4), repeat=4):
        rows = [kind for kind, many in zip(kinds, counts, strict=True) for _ in range(many)][: domain.max_rows - 1]
        before = _log_chances(rows, domain, weight, (single, single))
        for person in ((0, 0, 1, 1), (1, 0, 1, 0), (0, 1, 0, 0)):
            after = _log_chances([*rows, person], domain, weight, (single, single))
            for place in (0, 1):
                rho = divergence_rho([(before[place], after[place], 0)])
                largest[place] = max(largest[place], rho)
    assert largest[0] <= allowed
    assert largest[1] > allowed, "twice the weight would be caught"


# The smallest budgets


@for_each("rows", [1, 3])
@for_each(("family", "target", "parameters"), SCALING)
def test_the_smallest_budget_that_is_planned_can_be_run(family, target, parameters, rows):
    """What a step cannot use is refused before a record is read."""

    def planned(steps):
        with suppress(BudgetError):
            return _plan(family, target, parameters, str(steps * EPSILON_STEP), rows=rows)
        return None

    refused, taken = 1, 10**9
    while taken - refused > 1:
        middle = (refused + taken) // 2
        refused, taken = (refused, middle) if planned(middle) else (middle, taken)
    people = table(planned(taken).schema, rows_of(planned(taken).schema, 40))
    for steps in (taken, taken + 1, 2 * taken):
        get_learner(family).run(Run(people, planned(steps), SeededRandom(0)))
