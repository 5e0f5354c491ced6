"""What of a released boosting machine follows from its bins, shapes and noisy counts."""

from __future__ import annotations

from collections import Counter
from itertools import pairwise
from typing import Final

import numpy as np

from dpcore.arrays import Floats, Ints
from dpcore.domain.columns import NumericColumn
from dpcore.models.ebm.released.axis import Axis
from dpcore.models.ebm.released.ebm_model import EBMModel, Term
from dpcore.models.ebm.released.ebm_parameters import EBMParameters
from dpcore.released.derived import (
    agree,
    check_certificate,
    check_classes,
    check_counts,
    demand,
    rebuilt_errors,
    rebuilt_evaluation,
    stated_mu,
)
from dpcore.released.evaluation import Z95, Evaluation, confusion_of
from dpcore.released.plan import gaussian_words
from dpcore.released.regression_evaluation import RegressionEvaluation
from dpcore.released.release import Release

#: Step of the budget that chooses pairs.
CHOICE: Final = "choice of pairs"
#: Deviations of its noise that the total of a term's counts must exceed.
KNOWN: Final = 2.0
#: Scores are smaller than so many units of the target, or of log-odds.
_BEYOND: Final = 1e9
_TWO, _HALF, _CLOSE = 2, 0.5, 1e-9


def composition_words(mu: float | str, *, chooses: bool) -> str:
    """How the parts of a run compose."""
    shares = gaussian_words(mu, "row")
    if not chooses:
        return shares
    return (
        f"'{CHOICE}' is the sum of the epsilons of its selections (exponential mechanism); the rest is {shares}. Both "
        "compose by their privacy loss, for which less than their sum is needed"
    )


def rebuilt_machine(release: Release, model: EBMModel) -> EBMModel:
    """The machine with every text and number that follows from the rest."""
    chosen = EBMParameters.model_validate(release.parameters)
    column = release.domain.column(release.target)
    card = release.certificate
    demand(chosen.delta is None or chosen.delta == card.delta)
    check_certificate(release, chosen.method, composition_words(stated_mu(card), chooses=CHOICE in card.budget_split))
    demand((model.task == "regression") == isinstance(column, NumericColumn))
    if isinstance(column, NumericColumn):
        demand(not model.classes and model.bounds == (column.lower, column.upper))
    else:
        check_classes(release, model.classes)
        demand(model.bounds is None and (model.task == "binary") == (len(model.classes) == _TWO))
    demand(len(model.intercept) == len(model.intercept_error) == len(model.outputs))
    demand(all(error >= 0 for error in model.intercept_error))
    _check_terms(release, model, chosen)
    unit = column.upper - column.lower if isinstance(column, NumericColumn) else 1.0
    ends = (0.0, 0.0) if model.bounds is None else model.bounds
    demand(all(min(ends) - _BEYOND * unit <= score <= max(ends) + _BEYOND * unit for score in model.intercept))
    demand(all(error <= _BEYOND * unit for error in model.intercept_error))
    terms = tuple(_rebuilt(release, model, term, unit) for term in model.terms)
    return model.model_copy(update={"terms": terms, "evaluation": _evaluation(release, model)})


def _check_terms(release: Release, model: EBMModel, chosen: EBMParameters) -> None:
    """Demand one term for each column, and as many pairs as were asked for."""
    names = Counter(tuple(axis.column for axis in term.axes) for term in model.terms)
    demand(all(count == 1 for count in names.values()))
    known = [column.name for column in release.domain if column.name != release.target]
    singles = [name for name in names if len(name) == 1]
    demand(singles == [(name,) for name in known])
    demand(len(names) - len(singles) <= chosen.pairs)
    demand(all(len(set(name)) == len(name) <= _TWO and set(name) <= set(known) for name in names))


def _rebuilt(release: Release, model: EBMModel, term: Term, unit: float) -> Term:
    bins = len(term.noisy_counts)
    axes = tuple(_axis(release, axis) for axis in term.axes)
    demand(bins == np.prod([len(axis) for axis in axes]))
    demand(len(term.scores) == len(term.errors) == len(term.count_errors) == bins)
    demand({len(row) for row in (*term.scores, *term.errors)} == {len(model.outputs)})
    demand(all(error >= 0 for row in term.errors for error in row) and all(error > 0 for error in term.count_errors))
    for count, error in zip(term.noisy_counts, term.count_errors, strict=True):
        check_counts([count], Z95 * error, release.domain.max_rows)
    demand(0 <= term.p_value <= 1)
    # Errors are the noise's standard errors and more, whose mean absolute value is smaller.
    demand(0 <= term.noise_size <= max(error for row in term.errors for error in row) * (1 + _CLOSE))
    demand(all(abs(score) <= _BEYOND * unit for row in (*term.scores, *term.errors) for score in row))
    demand(term.threshold is None or term.threshold >= 0)
    if any(other.threshold is not None for other in model.terms):  # Earlier versions did not say.
        beyond = sum(term.noisy_counts) - KNOWN * float(np.linalg.norm(term.count_errors))
        demand(abs(beyond) < bins or (term.threshold is not None) == (beyond > 0))
        demand(term.threshold is not None or term.p_value == 1)
    return term.model_copy(update={"axes": axes})


def _axis(release: Release, axis: Axis) -> Axis:
    """The bins of a column, called as the schema calls them."""
    column = release.domain.column(axis.column)
    if axis.edges is None or not isinstance(column, NumericColumn):
        demand(axis.edges is None and not isinstance(column, NumericColumn))
        demand(len(axis.groups) == len(column.cells))
        demand(sorted(set(axis.groups)) == list(range(len(set(axis.groups)))))
        return Axis.categories(column, axis.groups)
    demand(all(low < high for low, high in pairwise(axis.edges)))
    demand(all(column.lower <= edge <= column.upper for edge in axis.edges))  # Of integers, one may be the bound.
    return Axis.numeric(column, axis.edges)


def _evaluation(release: Release, model: EBMModel) -> Evaluation | RegressionEvaluation | None:
    given = model.evaluation
    if model.bounds is not None:
        demand(given is None or isinstance(given, RegressionEvaluation))
        return rebuilt_errors(release, given if isinstance(given, RegressionEvaluation) else None, model.bounds)
    demand(not isinstance(given, RegressionEvaluation))
    if not isinstance(given, Evaluation) or not given.group_counts:
        return rebuilt_evaluation(release, given if isinstance(given, Evaluation) else None)
    if not given.group_limits and model.task == "binary":
        return rebuilt_evaluation(release, given)
    return rebuilt_evaluation(release, given, labels=_labels(model, given))


def _labels(model: EBMModel, given: Evaluation) -> Ints:
    """Class that each group is predicted."""
    groups, classes, counts = len(given.group_counts), len(model.classes), np.array(given.group_counts)
    if model.task == "binary":
        limits = np.asarray(given.group_limits)
        demand(limits[0] == 0 and bool(np.all(np.diff(limits) >= 0)) and limits[-1] <= 1)
        found = [(np.arange(groups) >= first).astype(np.int64) for first in _firsts(limits)]
        # Scores around 0 that no chance tells from one half are predicted as their sign says.
        fitting = [own for own in found if agree(confusion_of(counts, own).tolist(), list(given.noisy_confusion))]
        return (fitting or found)[0]
    demand(groups % classes == 0)
    return np.repeat(np.arange(classes), groups // classes)


def _firsts(limits: Floats) -> list[int]:
    """Groups that may be the first whose scores are not below 0."""
    even = np.flatnonzero(limits == _HALF).tolist()
    return even or [int(np.searchsorted(limits, _HALF))]
