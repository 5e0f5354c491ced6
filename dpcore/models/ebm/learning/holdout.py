"""Honest evaluation of a machine on the hold-out part, by noisy counts. Always for free."""

from __future__ import annotations

from decimal import Decimal
from functools import partial

import numpy as np

from dpcore.arrays import Array, Floats, Ints
from dpcore.cores import in_threads
from dpcore.data.counting import cells_between, counts_between
from dpcore.data.packing import unpack
from dpcore.data.partition import Partition
from dpcore.learning.holdout import chance_groups, evaluate_groups, expected_rows, group_count_for, level_count_for
from dpcore.learning.learner import Run
from dpcore.models.ebm.learning.grid import number_cells
from dpcore.models.ebm.released.axis import Axis
from dpcore.models.ebm.released.ebm_model import EBMModel
from dpcore.privacy.budgets import BudgetSplit, geometric_tail
from dpcore.privacy.mechanisms import GeometricMechanism
from dpcore.privacy.randomness import SeededRandom, uniforms
from dpcore.privacy.sensitivity import Sensitivity
from dpcore.released.evaluation import Evaluation
from dpcore.released.plan import EVALUATION, RunPlan
from dpcore.released.regression_evaluation import RegressionEvaluation, error_edges, evaluate_errors

#: A record is in one group of errors.
ERRORS = Sensitivity(1, "L1", monotone=True)
#: Places whose scores are computed at once: bounds the memory.
_BLOCK = 2**14
#: Cases drawn from a released model to see which scores it gives.
_DRAWS = 10_000


def evaluate(run: Run, model: EBMModel) -> Evaluation | RegressionEvaluation:
    """Evaluate on the hold-out part with the whole budget: other people, parallel composition.

    Classification counts records per group of scores and class. Regression counts records
    per group of absolute errors, of the model and of the intercept alone, half of the budget
    each. Groups follow from public values and the released model, and a record is in one of
    them. Cost: O(max_rows x n_terms).
    """
    plan = run.plan
    if model.bounds is not None:
        return _evaluate_numbers(run, model, error_edges(model.bounds))
    signal = expected_rows(plan.schema) * float(plan.row_epsilon(EVALUATION))
    if model.task == "binary":
        cuts = score_cuts(model, signal)
        estimates, limits = chances_between(model, cuts)
        labels = (np.concatenate([[-np.inf], cuts]) >= 0).astype(np.int64)
    else:
        limits = np.zeros(0)
        cuts, estimates = certainty_groups(model, signal)
        labels = np.repeat(np.arange(len(model.classes)), len(cuts) + 1)
    groups = partial(score_groups, model=model, cuts=cuts)
    return evaluate_groups(run, groups, estimates, labels, limits.tolist())


def score_cuts(model: EBMModel, signal: float) -> Floats:
    """Cut points between groups of scores of the second class, 0 among them, ascending.

    Quantiles of the scores that a binary model gives to cases drawn from its own noisy counts:
    a function of the released model alone. The more groups the finer the AUC, and the more
    noise on it: ``signal``, records times epsilon, tells how many are worth it.
    """
    groups = group_count_for(signal)
    quantiles = np.quantile(_drawn_scores(model)[:, 0], np.arange(1, groups) / groups)
    return np.unique(np.concatenate([[0.0], quantiles]))


def chances_between(model: EBMModel, cuts: Floats) -> tuple[Floats, Floats]:
    """Chances in the groups of :func:`score_cuts`, of the released model as they are.

    Returns
    -------
    estimates : array of shape (n_groups, 2)
        Mean probabilities of the drawn cases in each group.
    limits : array of shape (n_groups,)
        Chance of the second class above which each group begins; of the first, 0.
    """
    ends = np.concatenate([[0.0], model.probabilities(cuts[:, None])[:, 1], [1.0]])
    middles = (ends[:-1] + ends[1:]) / 2
    sums = 1e-3 * np.stack([1 - middles, middles], axis=1)  # As if a case were in its middle: no group is empty.
    scores = _drawn_scores(model)
    np.add.at(sums, np.searchsorted(cuts, scores[:, 0], side="left"), model.probabilities(scores))
    return sums / sums.sum(axis=1, keepdims=True), ends[:-1]


def certainty_groups(model: EBMModel, signal: float) -> tuple[Floats, Floats]:
    """Groups of several classes: the most probable one, and how probable that is.

    As in :func:`score_cuts`, all of it follows from the released model.

    Returns
    -------
    cuts : array of shape (n_levels - 1,)
        Between levels of the largest probability, ascending.
    estimates : array of shape (n_classes * n_levels, n_classes)
        Mean probabilities of the drawn cases in each group, lowest level of a class first.
    """
    classes = len(model.classes)
    levels = level_count_for(signal, classes)
    probabilities = model.probabilities(_drawn_scores(model))
    cuts = np.unique(np.quantile(probabilities.max(axis=1), np.arange(1, levels) / levels))
    sums = np.repeat(np.eye(classes), len(cuts) + 1, axis=0)  # As if one case were sure: no group is empty.
    np.add.at(sums, chance_groups(probabilities, cuts), probabilities)
    return cuts, sums / sums.sum(axis=1, keepdims=True)


def _drawn_scores(model: EBMModel) -> Floats:
    """Scores of cases whose columns are drawn one by one from the noisy counts."""
    source, scores = SeededRandom(0), np.tile(np.asarray(model.intercept, dtype=np.float64), (_DRAWS, 1))
    for term in model.terms:
        ends = np.cumsum(term.weights)
        bins = np.searchsorted(ends, ends[-1] * uniforms(source, _DRAWS), side="right")
        scores += np.asarray(term.scores)[bins]
    return scores


def score_groups(partition: Partition, model: EBMModel, cuts: Floats) -> Ints:
    """Group of every place by its score, or for several classes by the most probable one."""
    scores = model_scores(partition, model)
    if model.task == "binary":
        return cells_between(cuts, scores[:, 0]).astype(np.int64)
    return chance_groups(model.probabilities(scores), cuts)


def _evaluate_numbers(run: Run, model: EBMModel, edges: Floats) -> RegressionEvaluation:
    exact = run.table.total(errors, run.target, model, edges)
    mechanism = GeometricMechanism(ERRORS.value, error_share(run.plan))
    noisy, noisy_constant = (mechanism.release(counts, run.randomness) for counts in exact)
    margin = geometric_tail(mechanism.scale, 0.95)
    rows = run.schema.privacy_unit.max_rows_per_person
    return evaluate_errors(edges, noisy, noisy_constant, mechanism.scale, margin, rows)


def errors(partition: Partition, target: str, model: EBMModel, edges: Floats) -> tuple[Ints, Ints]:
    """Hold-out records per group of errors, of a model and of its intercept. Sensitivity of each: :data:`ERRORS`."""
    present = unpack(partition.members("holdout"), partition.rows)
    truth = partition.numbers_of(target) + np.array([np.nan, 0.0])[present.view(np.uint8)]
    predicted = model.clipped(model_scores(partition, model)[:, 0])
    constant = model.clipped(np.asarray(model.intercept[0]))
    return count_errors(truth - predicted, edges), count_errors(truth - constant, edges)


def count_errors(errors: Floats, edges: Floats) -> Ints:
    """Records per group of absolute errors; NaN is not a record. A record is in one group."""
    return counts_between(edges[1:-1], np.abs(errors), ~np.isnan(errors), "right")


def error_share(plan: RunPlan) -> Decimal:
    """Row-level budget of the errors of the model, and of those of the intercept alone.

    Raises
    ------
    BudgetError
        If it is too small to be halved.
    """
    halves = {"model": 1, "constant": 1}
    return BudgetSplit.by_weights(plan.row_epsilon(EVALUATION), halves)["model"]


def model_scores(partition: Partition, model: EBMModel) -> Floats:
    """Scores of all places, without a record too: shape (rows, n_outputs)."""
    rows = partition.rows
    total = np.tile(np.asarray(model.intercept), (rows, 1))
    tables = [np.asarray(term.scores) for term in model.terms]

    def score(blocks: Ints) -> None:
        for start in blocks * _BLOCK:
            block = slice(start, start + _BLOCK)
            for term, table in zip(model.terms, tables, strict=True):
                bins: Array = np.zeros(1, dtype=np.int64)
                for axis in term.axes:
                    bins = bins * len(axis) + _axis_codes(partition, axis, block)
                total[block] += table[bins]

    in_threads(score, -(-rows // _BLOCK))
    return total


def _axis_codes(partition: Partition, axis: Axis, block: slice) -> Array:
    """Bins of the places of a block."""
    if axis.edges is not None:
        return number_cells(partition.numbers_of(axis.column)[block], np.asarray(axis.edges), len(axis) - 1)
    return np.asarray(axis.groups, dtype=np.int64)[partition.codes_of(axis.column)[block]]
