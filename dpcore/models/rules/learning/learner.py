"""The rule list learner: antecedents, a sampled list, noisy counts, a free evaluation."""

from __future__ import annotations

from decimal import Decimal
from typing import Any

from dpcore.arrays import Floats, Ints, Words
from dpcore.data.bits import word_count
from dpcore.data.queries import CAPTURES, LogLikelihood, capture_counts
from dpcore.data.table import PrivateTable
from dpcore.domain.schema import Part, Schema
from dpcore.errors import RequestError
from dpcore.learning.holdout import STEP as EVALUATION
from dpcore.learning.holdout import evaluate_rules
from dpcore.learning.learner import Learner, Progress
from dpcore.models.rules.learning.antecedents import (
    Antecedents,
    candidate_literals,
    given_antecedents,
    public_antecedents,
)
from dpcore.models.rules.learning.mining import Mined, check_levels, mine_antecedents
from dpcore.models.rules.learning.prior import ListPrior
from dpcore.models.rules.learning.samplers import CaptureProblem, run_chain, sample_from_pool
from dpcore.models.rules.released.family import RULE_LIST
from dpcore.models.rules.released.model import DEFAULT_TEXT, Rule, RuleListModel
from dpcore.models.rules.released.parameters import BudgetShares, RuleListParameters
from dpcore.privacy.budgets import BudgetSplit, part_below
from dpcore.privacy.mechanisms import GeometricMechanism
from dpcore.privacy.randomness import RandomSource
from dpcore.released.evaluation import Evaluation
from dpcore.released.noisy_counts import noise_intervals, point_estimates
from dpcore.released.plan import CountNoise, RunPlan, check_classes, training_part
from dpcore.validation import validated

#: Bytes that the bit vectors of all antecedents may take.
_MEMORY_LIMIT = 4 * 2**30
_PASSED_ON = (
    "the parts add up; what mining does not need of 'antecedents' goes to 'list' and 'estimates'"
)
#: Words that the sampler may visit: some tens of minutes.
_WORK_LIMIT = 4 * 10**12


class RuleListLearner(Learner):
    """Differentially private Bayesian rule lists (Belardo 2018, Algorithm 1, corrected).

    Guarantee: pure epsilon-DP per person, one person added or removed. The budget is split
    over antecedents (only if mined), list and estimates; the hold-out evaluation composes in
    parallel. Sensitivities are those of :mod:`dpcore.data.queries`. Cost of the pool sampler:
    O(pool size x list length x max_rows / 64). Deviations from the thesis: the public N
    replaces n; the utility is monotone, so the exponent is epsilon / Delta; the prior is not
    tempered; the default sampler is exact. Proof: ``docs/privacy/rule-list.md``.
    """

    family = RULE_LIST

    def plan(self, schema: Schema, target: str, epsilon: Decimal, parameters: Any) -> RunPlan:
        """Validate a request and say what it costs; sees no record.

        Raises
        ------
        RequestError
            If a parameter, the target or a given antecedent cannot be used.
        BudgetError
            If epsilon is too small to be split.
        """
        chosen = _validated(parameters)
        check_classes(schema, target)
        _check_alpha(schema, target, chosen)
        _check_effort(schema, chosen)
        if chosen.antecedents == "given":
            given_antecedents(schema, target, chosen.given)
        else:
            candidate_literals(schema, target, chosen)
        shares = chosen.shares or _house_shares(epsilon, schema)
        weights: dict[str, Decimal | int] = {
            "antecedents": shares.antecedents if chosen.antecedents == "dp_fim" else 0,
            "list": shares.list,
            "estimates": shares.estimates,
        }
        split = BudgetSplit.by_weights(epsilon, weights)
        part = training_part(schema, evaluated=chosen.evaluate)
        held_out = {EVALUATION: epsilon} if part == "train" else {}
        plan = RunPlan(
            schema=schema,
            target=target,
            epsilon=epsilon,
            split=split,
            parameters=chosen,
            guarantee="unconditional" if chosen.sampler == "pool" else "conditional on convergence",
            sampler=chosen.sampler,
            estimates_step="estimates",
            parallel=held_out,
            composition=_PASSED_ON if split["antecedents"] else "",
        )
        if chosen.antecedents == "dp_fim":
            check_levels(plan.row_epsilon("antecedents"), chosen)
        return plan

    def run(
        self, table: PrivateTable, plan: RunPlan, randomness: RandomSource, progress: Progress
    ) -> RuleListModel:
        """Spend the plan's budget on the table and return the released list."""
        parameters: RuleListParameters = plan.parameters
        part = training_part(plan.schema, evaluated=parameters.evaluate)
        progress("preparing conditions", 0, 1)
        antecedents, left = _antecedents(table, plan, part, randomness)
        vectors = antecedents.bit_vectors(table)
        progress("preparing conditions", 1, 1)
        selection, counting = _later_budgets(plan, left)
        chosen = _choose_list(
            table, plan, part, antecedents, vectors, selection, randomness, progress
        )
        progress("counting with noise", 0, 1)
        exact = capture_counts(table, plan.target, part, vectors[chosen])
        noisy = GeometricMechanism(CAPTURES.value, counting).release(exact, randomness)
        estimates = point_estimates(noisy, _alpha(plan))
        evaluation = _evaluate(table, plan, vectors[chosen], estimates, randomness)
        progress("counting with noise", 1, 1)
        noise = CountNoise("a count", counting)
        return _model(plan, antecedents, chosen, noisy, estimates, noise, evaluation)


def _validated(parameters: Any) -> RuleListParameters:
    chosen = validated(RuleListParameters, parameters)
    if chosen.tempered_prior:
        return chosen.model_copy(update={"selection_alpha": "same"})
    return chosen


def _check_effort(schema: Schema, parameters: RuleListParameters) -> None:
    """Refuse, from public inputs, what this engine could not finish: it would cost its budget."""
    words = word_count(schema.max_rows)
    conditions = max(parameters.max_antecedents, len(parameters.given))
    if conditions * words * 8 > _MEMORY_LIMIT:
        most = max(1, _MEMORY_LIMIT // (8 * words))
        raise RequestError(
            f"{conditions} conditions on up to {schema.max_rows} rows need more "
            f"memory than a run may use: choose at most {most}."
        )
    rules = min(parameters.max_rules, round(2 * parameters.list_length) + 1)
    lists = parameters.pool_size if parameters.sampler == "pool" else parameters.mcmc_steps
    if lists * rules * words > _WORK_LIMIT:
        most = max(1, _WORK_LIMIT // (rules * words))
        raise RequestError(
            f"{lists} lists on up to {schema.max_rows} rows would take hours: "
            f"choose at most {most}."
        )


def _check_alpha(schema: Schema, target: str, parameters: RuleListParameters) -> None:
    classes = len(schema.column(target).classes)
    if parameters.alpha is not None and len(parameters.alpha) != classes:
        raise RequestError(f"Give one alpha per class: '{target}' has {classes} classes.")


def _house_shares(epsilon: Decimal, schema: Schema) -> BudgetShares:
    row_level = epsilon / schema.privacy_unit.max_rows_per_person
    hopeless = row_level * schema.max_rows < 50
    return BudgetShares(estimates=Decimal(4)) if hopeless else BudgetShares()


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


def _antecedents(table: PrivateTable, plan: RunPlan, part: Part, randomness: RandomSource) -> Mined:
    parameters: RuleListParameters = plan.parameters
    if parameters.antecedents == "given":
        return Mined(given_antecedents(plan.schema, plan.target, parameters.given), Decimal(0))
    if parameters.antecedents == "public":
        public = public_antecedents(plan.schema, plan.target, parameters, randomness)
        return Mined(public, Decimal(0))
    epsilon = plan.row_epsilon("antecedents")
    return mine_antecedents(table, plan.target, part, parameters, epsilon, randomness)


def _later_budgets(plan: RunPlan, left: Decimal) -> tuple[Decimal, Decimal]:
    """Row-level budgets of the list and of its counts, with what mining left, shared alike."""
    shares = [plan.row_epsilon(step) for step in ("list", "estimates")]
    more = part_below(left, [float(share) for share in shares])
    return shares[0] + more, shares[1] + left - more


def _choose_list(
    table: PrivateTable,
    plan: RunPlan,
    part: Part,
    antecedents: Antecedents,
    vectors: Words,
    epsilon: Decimal,
    randomness: RandomSource,
    progress: Progress,
) -> Ints:
    parameters: RuleListParameters = plan.parameters
    likelihood = LogLikelihood.tabulate(_selection_alpha(plan, epsilon), plan.schema.max_rows)
    problem = CaptureProblem(vectors, table.class_members(plan.target, part), likelihood)
    prior = ListPrior.build(
        antecedents, parameters.list_length, parameters.rule_length, parameters.max_rules
    )
    if parameters.sampler == "pool":
        return sample_from_pool(problem, prior, parameters.pool_size, epsilon, randomness, progress)
    chain = run_chain(
        problem, prior, parameters.mcmc_steps, epsilon, randomness, progress,
        tempered_prior=parameters.tempered_prior,
    )  # fmt: skip
    return chain.final


def _evaluate(
    table: PrivateTable,
    plan: RunPlan,
    rules: Words,
    estimates: Floats,
    randomness: RandomSource,
) -> Evaluation | None:
    """Count on the hold-out part with the whole budget: other people, parallel composition."""
    if EVALUATION not in plan.parallel:
        return None
    return evaluate_rules(table, plan, rules, estimates, None, randomness)


def _model(
    plan: RunPlan,
    antecedents: Antecedents,
    chosen: Ints,
    noisy: Ints,
    estimates: Floats,
    noise: CountNoise,
    evaluation: Evaluation | None,
) -> RuleListModel:
    intervals = noise_intervals(noisy, _alpha(plan), noise.scale)
    conditions = [antecedents.conditions(int(position)) for position in chosen] + [()]
    rules = tuple(
        Rule(
            conditions=items,
            text=" and ".join(item.text(plan.schema) for item in items) or DEFAULT_TEXT,
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
