"""The rule list learner: antecedents, a sampled list, noisy counts, a free evaluation."""

from __future__ import annotations

import math
from dataclasses import replace
from decimal import Decimal
from functools import partial

import numpy as np

from dpcore.arrays import Floats, Ints
from dpcore.data.packing import word_count
from dpcore.data.queries import CAPTURES, LogLikelihood, capture_counts
from dpcore.domain.schemas.schema import Schema
from dpcore.errors import BudgetError, RequestError
from dpcore.learning.count_budget import CountBudget
from dpcore.learning.exact_draws.balance import divided, pulled_shares
from dpcore.learning.exact_draws.joint_counts import block_work, fits_memory
from dpcore.learning.exact_draws.lookahead import ExactWeight
from dpcore.learning.holdout import evaluate_rules
from dpcore.learning.learner import Learner, PlanRequest, Run, composed_form
from dpcore.models.rules.learning.antecedents import (
    Antecedents,
    candidate_literals,
    given_antecedents,
    public_antecedents,
)
from dpcore.models.rules.learning.block_choice import (
    are_even,
    choose_blocks,
    choose_conditions,
    choose_length,
    choose_parts,
)
from dpcore.models.rules.learning.blocks import RULES, Block, BlockDrawer, DrawnList, block_count, block_weight
from dpcore.models.rules.learning.following import Following
from dpcore.models.rules.learning.mining import MiningResult, check_levels, mine_antecedents
from dpcore.models.rules.learning.prior import ListPrior
from dpcore.models.rules.learning.rule_list_workload import rule_list_workload
from dpcore.models.rules.learning.samplers import CaptureProblem, list_bytes, run_chain, sample_from_pool
from dpcore.models.rules.released.rule_list_derived import PASSED_ON
from dpcore.models.rules.released.rule_list_family import RULE_LIST
from dpcore.models.rules.released.rule_list_model import Rule, RuleListModel, rule_text
from dpcore.models.rules.released.rule_list_parameters import BudgetShares, RuleListParameters
from dpcore.privacy.budgets import BudgetSplit, part_below, row_epsilon
from dpcore.privacy.losses import largest_epsilon, pure_rho, selection_epsilon, selection_rho
from dpcore.released.evaluation import Evaluation
from dpcore.released.noisy_counts import holding, noise_intervals, point_estimates
from dpcore.released.plan import CountNoise, RunPlan
from dpcore.released.workload import Workload

#: Bytes that the bit vectors of all antecedents may take, and what is kept to compare whole lists.
_MEMORY_LIMIT = 4 * 2**30
#: Most people that noise may hide, as a share of all, for a group without noisy people to be nobody.
_HIDDEN = 0.05
#: Words that the sampler may visit: some tens of minutes.
_WORK_LIMIT = 4 * 10**12


class RuleListLearner(Learner):
    """Differentially private Bayesian rule lists (Belardo 2018, Algorithm 1, corrected).

    Guarantee: pure epsilon-DP per person, one person added or removed, or within an account that
    composes (epsilon, delta)-DP by the same rho. The budget is split
    over antecedents (only if mined), list and estimates; the hold-out evaluation composes in
    parallel. Sensitivities are those of :mod:`dpcore.data.queries`. Cost of the pool sampler:
    O(pool size x list length x max_rows / 64). Deviations from the thesis: the public N
    replaces n; the utility is monotone, so the exponent is epsilon / Delta; the prior is not
    tempered; the default sampler is exact. Proof: ``docs/privacy/rule-list.md``.
    """

    family = RULE_LIST

    def _plan(self, plan_request: PlanRequest) -> RunPlan:
        asked, composes = plan_request, plan_request.parameters.sampler != "mcmc"
        plan_request = asked.pure(composes=composes)
        schema, target, chosen = plan_request.schema, plan_request.target, _settled(plan_request)
        _check_alpha(plan_request)
        _check_effort(schema, chosen, plan_request.classes)
        if chosen.antecedents == "given":
            given_antecedents(schema, target, chosen.given)
        else:
            candidate_literals(schema, target, chosen)
        shares = chosen.shares or _house_shares(plan_request, chosen.sampler, composed=composes and asked.delta > 0)
        weights = {
            "antecedents": shares.antecedents if chosen.antecedents == "dp_fim" else Decimal(0),
            "list": shares.list,
            "estimates": shares.estimates,
        }
        split = BudgetSplit.by_weights(plan_request.epsilon, weights)
        plan = plan_request.plan(
            split,
            parameters=chosen,
            guarantee="conditional on convergence" if chosen.sampler == "mcmc" else "unconditional",
            sampler=chosen.sampler,
            estimates_step="estimates",
            composition=PASSED_ON if split["antecedents"] else "",
        )
        if chosen.antecedents != "dp_fim":
            plan = _in_its_form(asked, plan) if composes else plan
        else:
            if asked.delta and composes:
                plan = asked.composed(plan, weights, {"list"}, partial(_selecting, plan))
                plan = replace(plan, noise=(CountBudget.of(plan, "estimates").noise("a count"),))
            check_levels(CountBudget.of(plan, "antecedents"), chosen)
        if chosen.sampler == "lookahead":
            _blocks(plan, plan.row_epsilon("list"))  # Refuses an epsilon that is too small, in the form that is run.
        return plan

    def workload(self, plan: RunPlan) -> Workload:
        """How much a run of a plan has to do."""
        return rule_list_workload(plan)

    def run(self, run: Run) -> RuleListModel:
        """Spend the plan's budget on the table and return the released list."""
        run.progress("preparing conditions", 0, 1)
        antecedents, left = _antecedents(run)
        run.progress("preparing conditions", 1, 1)
        selection, counting = _later_budgets(run.plan, left)
        noise = counting.noise("a count")
        drawn = _choose_list(run, antecedents, selection)
        run.progress("counting with noise", 0, 1)
        exact = capture_counts(run.table, run.target, run.part, antecedents.only(drawn.members).vectors)
        noisy = counting.mechanism(CAPTURES).release(exact, run.randomness)
        groups = reported_groups(noisy, noise.margin(), (run.plan.parameters.rules or 1) - 1)
        chosen, noisy, expected = drawn.members[groups[:-1]], noisy[groups], drawn.expected_of(groups)
        rules = antecedents.only(chosen).vectors
        estimates = _estimates(run.plan, noisy, noise, expected)
        evaluation = evaluate_rules(run, rules, estimates)
        run.progress("counting with noise", 1, 1)
        return _model(run.plan, antecedents, chosen, noisy, estimates, noise, evaluation)


def _in_its_form(plan_request: PlanRequest, plan: RunPlan) -> RunPlan:
    """A pure plan with its rho, or the one that composes: draws of the exponential mechanism, and noisy counts."""
    counts = pure_rho(plan.split["estimates"])
    if plan.parameters.sampler != "lookahead":
        return composed_form(plan_request, replace(plan, rho=selection_rho(plan.split["list"]) + counts))
    cost = _blocks_rho(plan, plan.split["list"]) + counts
    return composed_form(plan_request, replace(plan, rho=cost), partial(_selecting, plan))


def _selecting(plan: RunPlan, _: str, rho: Decimal) -> Decimal:
    """Epsilon of the choice of a list for which rho pays."""
    if plan.parameters.sampler != "lookahead":
        return selection_epsilon(rho)

    def cost(epsilon: Decimal) -> Decimal:
        try:
            return _blocks_rho(plan, epsilon)
        except BudgetError:  # So little that some block would get nothing.
            return Decimal(0)

    return largest_epsilon(cost, rho)


def _blocks_rho(plan: RunPlan, epsilon: Decimal) -> Decimal:
    """Rho of all blocks of a list that costs a person epsilon."""
    rows = plan.schema.privacy_unit.max_rows_per_person
    return sum(
        (
            pure_rho(rows * own.counts) + selection_rho(rows * own.draw + 2 * Decimal(own.weight.slack))
            for own in _blocks(plan, row_epsilon(epsilon, rows))
        ),
        Decimal(0),
    )


def _weight(plan: RunPlan, epsilon: Decimal) -> ExactWeight:
    """Of the draw of a block that costs a row epsilon."""
    chosen: RuleListParameters = plan.parameters
    return block_weight(epsilon, chosen.conditions, len(plan.classes), plan.schema.max_rows)


def _blocks(plan: RunPlan, epsilon: Decimal) -> tuple[Block, ...]:
    """Blocks of a list that costs a row epsilon."""
    public = row_epsilon(plan.strength, plan.schema.privacy_unit.max_rows_per_person), plan.schema.max_rows
    parts, blocks = choose_parts(*public, block_count(plan.parameters.rules)), list[Block]()
    left = epsilon
    for place in range(len(parts)):
        own = part_below(left, parts[place:])
        left -= own
        counts, draw = divided(own)
        further = place < len(parts) - 1 and are_even(*public)
        blocks.append(Block(counts, draw, _weight(plan, draw), divided=further))
    return tuple(blocks)


def _settled(plan_request: PlanRequest) -> RuleListParameters:
    """What was asked for, with what the house rules make of the rest."""
    parameters: RuleListParameters = plan_request.parameters
    if parameters.sampler == "lookahead":
        public = plan_request.row_epsilon, plan_request.schema.max_rows
        rules = parameters.rules or RULES * choose_blocks(*public)
        blocks = block_count(rules)
        longest = parameters.max_antecedent_length or choose_length(*public)
        most = parameters.max_antecedents or choose_conditions(
            blocks, plan_request.schema.max_rows, plan_request.classes
        )
        house = {"rules": rules, "max_antecedent_length": longest, "max_antecedents": most}
        parameters = parameters.model_copy(update=house)
    if parameters.tempered_prior:
        return parameters.model_copy(update={"selection_alpha": "same"})
    return parameters


def _check_effort(schema: Schema, parameters: RuleListParameters, classes: int) -> None:
    """Refuse, from public inputs, what this engine could not finish: it would cost its budget."""
    words = word_count(schema.max_rows)
    conditions = parameters.conditions
    if conditions * words * 8 > _MEMORY_LIMIT:
        most = max(1, _MEMORY_LIMIT // (8 * words))
        raise RequestError(
            f"{conditions} conditions on up to {schema.max_rows} rows need more "
            f"memory than a run may use: choose at most {most}."
        )
    if parameters.sampler == "lookahead":
        _check_blocks(parameters, words, classes)
        return
    _check_memory(parameters, schema.max_rows, classes)
    rules = min(parameters.max_rules, round(2 * parameters.list_length) + 1)
    lists = parameters.pool_size if parameters.sampler == "pool" else parameters.mcmc_steps
    if lists * rules * words > _WORK_LIMIT:
        most = max(1, _WORK_LIMIT // (rules * words))
        raise RequestError(f"{lists} lists on up to {schema.max_rows} rows would take hours: choose at most {most}.")


def _check_memory(parameters: RuleListParameters, rows: int, classes: int) -> None:
    """Refuse what tables of likelihoods, and a pool beside them, have no room for."""
    left = _MEMORY_LIMIT - LogLikelihood.room(classes, rows)
    if left < 0:
        raise RequestError(
            f"Tables of {classes} classes on up to {rows} rows, by which whole lists are compared, need more "
            "memory than a run may use: choose lookahead, which needs none."
        )
    lists, most = parameters.pool_size, left // list_bytes(parameters.most_rules)
    if parameters.sampler == "pool" and lists > most:
        raise RequestError(f"{lists} lists need more memory than a run may use: choose at most {max(1, most)}.")


def _check_blocks(parameters: RuleListParameters, words: int, classes: int) -> None:
    conditions, blocks = parameters.conditions, block_count(parameters.rules)
    if not fits_memory(conditions, classes, RULES):
        raise RequestError(f"Pairs of {conditions} conditions need more memory than a run may use: choose fewer.")
    if blocks * block_work(conditions, classes, words, RULES) > _WORK_LIMIT:
        raise RequestError(f"{blocks} pairs among {conditions} conditions would take hours: choose fewer.")


def _check_alpha(plan_request: PlanRequest) -> None:
    alpha = plan_request.parameters.alpha
    if alpha is not None and len(alpha) != plan_request.classes:
        raise RequestError(
            f"Prior weight of each class (alpha): give {plan_request.classes} numbers, "
            f"one for each class of '{plan_request.target}'."
        )


def _house_shares(plan_request: PlanRequest, sampler: str, *, composed: bool) -> BudgetShares:
    """Shares of epsilon or, composed, of rho, of which Gaussian counts need more to be as sharp."""
    hopeless = plan_request.row_epsilon * plan_request.schema.max_rows < 50
    if hopeless:
        return BudgetShares(estimates=Decimal(4))
    if sampler != "lookahead":
        return BudgetShares()
    return BudgetShares(list=Decimal(7), estimates=Decimal(3)) if composed else BudgetShares(list=Decimal(4))


def _alpha(plan: RunPlan) -> tuple[float, ...]:
    alpha: tuple[float, ...] | None = plan.parameters.alpha
    return alpha if alpha is not None else (1.0,) * len(plan.classes)


def _selection_alpha(plan: RunPlan, epsilon: Decimal) -> tuple[float, ...]:
    """Dirichlet weights of the selecting likelihood, from public inputs only.

    The house rule puts five noise scales of a count on each class, at least the ``alpha`` of
    the estimates and at most a sixth of ``max_rows``. Deviation from the thesis, which has 1:
    at two classes it lowers the sensitivity from log(N + 1) to log((N - 1 + 2a) / a).
    """
    alpha = _alpha(plan)
    if plan.parameters.selection_alpha == "same":
        return alpha
    weight = min(5.0 / float(epsilon), plan.schema.max_rows / 6.0)
    return tuple(max(weight, own) for own in alpha)


def _antecedents(run: Run) -> MiningResult:
    parameters: RuleListParameters = run.plan.parameters
    if parameters.antecedents == "given":
        return MiningResult(given_antecedents(run.schema, run.target, parameters.given), Decimal(0))
    if parameters.antecedents == "public":
        public = public_antecedents(run.schema, run.target, parameters, run.randomness)
        return MiningResult(public, Decimal(0))
    budget = CountBudget.of(run.plan, "antecedents")
    return mine_antecedents(run.table, run.target, run.part, parameters, budget, run.randomness)


def _later_budgets(plan: RunPlan, left: Decimal) -> tuple[Decimal, CountBudget]:
    """Row-level budgets of the list and its counts, with what mining left: of epsilon for both, of rho for counts."""
    selection, counting = plan.row_epsilon("list"), CountBudget.of(plan, "estimates")
    if counting.gaussian:
        return selection, replace(counting, amount=counting.amount + left)
    more = part_below(left, [float(share) for share in (selection, counting.amount)])
    return selection + more, replace(counting, amount=counting.amount + left - more)


def _choose_list(run: Run, antecedents: Antecedents, epsilon: Decimal) -> DrawnList:
    parameters: RuleListParameters = run.plan.parameters
    if parameters.sampler == "lookahead":
        assert parameters.rules is not None
        prior = ListPrior.of_number(antecedents, parameters.rules, parameters.rule_length)
        blocks = _blocks(run.plan, epsilon)
        drawer = BlockDrawer(run.table, run.target, run.part, antecedents, prior, blocks)
        return drawer.draw(run.randomness, run.progress)
    prior = ListPrior.build(antecedents, parameters.list_length, parameters.rule_length, parameters.max_rules)
    alpha, sources = _selection_alpha(run.plan, epsilon), (run.randomness, run.progress)
    likelihood = LogLikelihood.tabulate(alpha, run.schema.max_rows)
    problem = CaptureProblem(run.table, run.target, run.part, antecedents, likelihood)
    if parameters.sampler == "pool":
        members = sample_from_pool(problem, prior, parameters.pool_size, epsilon, *sources)
    else:
        steps, tempered = parameters.mcmc_steps, parameters.tempered_prior
        members = run_chain(problem, prior, steps, epsilon, *sources, tempered_prior=tempered).final
    return DrawnList(Following.of(antecedents, run.schema).kept(members), None)


def reported_groups(noisy: Ints, margin: int, least: int = 0) -> Ints:
    """Groups that a release tells of: all but those with nobody by their noisy counts, and last everybody else.

    Where nobody else is left by these counts, the last rule with people takes everybody else. All stay where
    noise could hide many: more than :data:`_HIDDEN` of all people told of.

    Parameters
    ----------
    noisy : array of shape (n_rules + 1, n_classes)
    margin : int
        What noise on a count hardly exceeds.
    least : int
        So many rules stay, if there are: then those with the most noisy people.

    Returns
    -------
    array of shape (n_kept + 1,)
        Rows of ``noisy``, in order. Post-processing of noisy counts.
    """
    people = noisy.sum(axis=1)
    if people.sum() <= 0 or margin > _HIDDEN * people.sum():
        return np.arange(len(noisy))
    told = max(int((people > 0).sum()), min(least + 1, len(people)))
    return np.sort(np.argsort(-people, kind="stable")[:told])


def _estimates(plan: RunPlan, noisy: Ints, noise: CountNoise, expected: Floats | None) -> Floats:
    """Class shares of each rule, from its noisy counts and, unless alpha is given, from what the draw lets expect."""
    if expected is None or plan.parameters.alpha is not None:
        return point_estimates(noisy, _alpha(plan))
    deviation = noise.scale * (1.0 if noise.gaussian else math.sqrt(2))
    return pulled_shares(noisy, expected, deviation)


def _model(
    plan: RunPlan,
    antecedents: Antecedents,
    chosen: Ints,
    noisy: Ints,
    estimates: Floats,
    noise: CountNoise,
    evaluation: Evaluation | None,
) -> RuleListModel:
    intervals = holding(noise_intervals(noisy, _alpha(plan), noise.scale, gaussian=noise.gaussian), estimates)
    conditions = [antecedents.conditions(int(position)) for position in chosen] + [()]
    rules = tuple(
        Rule(
            conditions=items,
            text=rule_text(items, plan.schema, row),
            noisy_counts=tuple(int(count) for count in noisy[row]),
            estimates=tuple(float(share) for share in estimates[row]),
            intervals=tuple((float(low), float(high)) for low, high in intervals[row]),
        )
        for row, items in enumerate(conditions)
    )
    return RuleListModel(
        classes=plan.classes,
        rules=rules,
        count_margin=noise.margin(),
        antecedent_count=len(antecedents),
        evaluation=evaluation,
    )
