"""Hidden levels that make columns agree with each other, as those of real people do.

A boosting machine adds up one column after the other. Were the columns independent, the sums would
lie closer together than those of real people, and the machine's accuracy would come out
too low. So each invented record has a hidden level (a class, or a step of a number) that every
column follows, the more the larger its scores. How closely is chosen so that the machine is as
accurate on invented records as it was on people set aside.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass
from statistics import NormalDist

import numpy as np

from dpcore.arrays import Floats, Ints
from dpcore.models.ebm.released.ebm_model import EBMModel, Term
from dpcore.privacy.randomness import public_generator
from dpcore.rehearsal.marginals import Marginal, drawn, tilted
from dpcore.released.evaluation import Evaluation
from dpcore.released.evidence import without_negatives
from dpcore.released.regression_evaluation import RegressionEvaluation

#: Steps of a numeric target, records of one trial, and bisections.
_STEPS, _TRIAL, _HALVINGS = 7, 8_000, 12
#: Closest following, and the one that is consistent with scores of independent evidence.
_CLOSEST, _USUAL = 8.0, 1.0
_LEAST = 0.01


@dataclass(frozen=True)
class Hidden:
    """Levels and what each column's values are at them."""

    shares: Floats
    tilts: dict[str, Floats]

    def levels(self, rows: int, generator: np.random.Generator) -> Ints:
        """A level for each of some records."""
        return generator.choice(len(self.shares), rows, p=self.shares)


def nothing_hidden() -> Hidden:
    """Independent columns."""
    return Hidden(np.ones(1), {})


def hidden_levels(model: EBMModel, each: Mapping[str, Marginal]) -> Hidden:
    """Levels with which a machine is as accurate as its evaluation says."""
    single = {t.axes[0].column: t for t in model.terms if len(t.axes) == 1}
    pulls = {name: _pull(term, each[name], model) for name, term in single.items() if name in each}
    shares = _level_shares(model)
    wanted = _wanted(model)
    if wanted is None:
        return _at(_USUAL, shares, pulls, each)
    low, high = 0.0, _CLOSEST
    for _ in range(_HALVINGS):
        middle = (low + high) / 2
        reached = _reached(_at(middle, shares, pulls, each), model, pulls, each)
        low, high = (middle, high) if reached < wanted else (low, middle)
    return _at((low + high) / 2, shares, pulls, each)


def _at(closeness: float, shares: Floats, pulls: Mapping[str, Floats], each: Mapping[str, Marginal]) -> Hidden:
    values = _values(len(shares), pulls)
    return Hidden(
        shares, {name: tilted(each[name], shares, closeness * values @ pull.T) for name, pull in pulls.items()}
    )


def _values(levels: int, pulls: Mapping[str, Floats]) -> Floats:
    """What each level multiplies the scores by: shape (n_levels, n_outputs)."""
    outputs = next(iter(pulls.values())).shape[1]
    if outputs == levels:
        return np.eye(levels)
    if levels == 2:
        return np.array([[0.0], [1.0]])
    normal = NormalDist()
    return np.array([[normal.inv_cdf((i + 0.5) / levels)] for i in range(levels)])


def _pull(term: Term, marginal: Marginal, model: EBMModel) -> Floats:
    """Scores of each code of a column: shape (n_codes, n_outputs)."""
    scores, axis = np.asarray(term.scores), term.axes[0]
    if axis.edges is None:
        found = scores[np.asarray(axis.groups)]
    elif axis.edges == marginal.edges:
        found = scores
    else:
        points = np.array([marginal.column.lower, *marginal.edges, marginal.column.upper])
        middles = np.append((points[1:] + points[:-1]) / 2, np.nan)
        found = scores[axis.codes_of_numbers(middles)]
    if model.task == "regression":
        found = found / _unit(model)
    return np.asarray(found, dtype=np.float64)


def _unit(model: EBMModel) -> float:
    """A usual difference of a numeric prediction."""
    variance = sum(float(t.weights @ np.asarray(t.scores)[:, 0] ** 2) for t in model.terms)
    return math.sqrt(variance) or 1.0


def _level_shares(model: EBMModel) -> Floats:
    if model.task == "regression":
        return np.full(_STEPS, 1 / _STEPS)
    if isinstance(model.evaluation, Evaluation) and model.evaluation.accuracy is not None:
        counts = np.asarray(model.evaluation.noisy_confusion, dtype=np.float64).sum(axis=1)
        shares = np.maximum(without_negatives(counts), _LEAST)
        return np.asarray(shares / shares.sum())
    return np.asarray(model.probabilities(np.array([model.intercept]))[0])


def _wanted(model: EBMModel) -> float | None:
    """Accuracy; or variance of the predictions of a number."""
    evaluation = model.evaluation
    if isinstance(evaluation, Evaluation):
        return None if evaluation.accuracy is None else evaluation.accuracy.value
    if isinstance(evaluation, RegressionEvaluation):
        if evaluation.rmse is None or evaluation.constant_rmse is None:
            return None
        return max(0.0, evaluation.constant_rmse.value**2 - evaluation.rmse.value**2)
    return None


def _reached(hidden: Hidden, model: EBMModel, pulls: Mapping[str, Floats], each: Mapping[str, Marginal]) -> float:
    """The same on records that follow the levels."""
    generator = public_generator(0)
    codes = drawn(each, hidden.levels(_TRIAL, generator), hidden.tilts, generator)
    total = np.tile(np.asarray(model.intercept, dtype=np.float64), (_TRIAL, 1))
    unit = _unit(model) if model.task == "regression" else 1.0
    for name, pull in pulls.items():
        total += unit * pull[codes[name]]
    if model.task == "regression":
        return float(total[:, 0].var())
    return float(model.probabilities(total).max(axis=1).mean())
