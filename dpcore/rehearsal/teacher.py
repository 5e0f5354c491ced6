"""How the target follows the other columns, by one release, made to agree with its evaluation."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from dpcore.arrays import Array, Floats, Ints
from dpcore.domain.columns import NumericColumn
from dpcore.rehearsal.knowledge import Knowledge
from dpcore.released.evaluation import Evaluation, Figure, counts_summed
from dpcore.released.evidence import Groups, Records, between, deviation, without_negatives

#: An accuracy whose noise alone moves it further than this is not followed.
_VAGUE = 0.1
#: Bounds of the power that sharpens or flattens probabilities, as logarithms, and bisections.
_POWERS, _HALVINGS = (-4.0, 4.0), 40
#: Rounds of fitting to the evaluation's table of true and predicted classes.
_ROUNDS = 20
#: Share of the target's variance that a machine explains, if nobody measured it.
_EXPLAINED = 0.5
_LEAST = 1e-9


def choose(known: Sequence[Knowledge], target: str, *, number: bool) -> Knowledge | None:
    """The release to learn the target from: best on people set aside, or else the first.

    Parameters
    ----------
    known : sequence of Knowledge
        Those that matter most first.
    number : bool
        Whether the target is to be predicted as a number.
    """
    about = [one for one in known if target and one.release.target == target]
    return max(about, key=lambda one: _rank(one, number), default=None)


def _rank(knowledge: Knowledge, number: bool) -> tuple[bool, float]:
    figure = quality(knowledge.model)
    if figure is None:
        return knowledge.evidence.number == number, -math.inf
    is_number = knowledge.evidence.number
    return is_number == number, -figure.value - figure.above if is_number else figure.value - figure.noise_margin


def quality(model: object) -> Figure | None:
    """Accuracy, or RMSE of a number, on people set aside; None if unknown."""
    evaluation = getattr(model, "evaluation", None)
    if evaluation is None:
        return None
    found = evaluation.accuracy if isinstance(evaluation, Evaluation) else evaluation.rmse
    return found if found is None or isinstance(found, Figure) else None


def measured_groups(knowledge: Knowledge) -> list[Groups]:
    """How many of the people set aside were predicted each class, if that is clear."""
    figure, evaluation = quality(knowledge.model), getattr(knowledge.model, "evaluation", None)
    if not isinstance(evaluation, Evaluation) or figure is None or figure.noise_margin > _VAGUE:
        return []
    counts = np.asarray(evaluation.noisy_confusion, dtype=np.float64).sum(axis=0)
    summed = counts_summed(knowledge.model)
    terms = len(counts) * (np.ones(len(counts)) if summed is None else summed)
    return [Groups(knowledge.evidence.predicted, counts, np.sqrt(terms) * deviation(evaluation.count_margin))]


@dataclass(frozen=True)
class Teacher:
    """What the target of each record of a pool may be."""

    knowledge: Knowledge
    column: Any
    expected: Floats
    """Probabilities of the classes, or predictions of a number: shape (n_records, n_classes)."""
    spread: float
    """Standard deviation of the number around its prediction."""
    ceiling: float
    """Accuracy or RMSE of the model itself on records of the pool."""
    groups: Ints
    """Predicted class of each record; of numbers, a fifth of their predictions: shape (n_records,)."""

    @property
    def number(self) -> bool:
        """Whether the target is a number here; else it is one of a list of classes."""
        return self.knowledge.evidence.number

    def values(self, chosen: Ints, generator: np.random.Generator) -> Any:
        """Values of the target of some records of the pool."""
        column = self.column
        if self.number:
            found = self.expected[chosen] + generator.normal(0.0, self.spread, len(chosen))
            return np.clip(found, column.lower, column.upper)
        limits = np.cumsum(self.expected, axis=1)[:, :-1]
        codes = (generator.random(len(chosen))[:, None] > limits[chosen]).sum(axis=1)
        if isinstance(column, NumericColumn):
            points = np.array([column.lower, *column.inner_edges, column.upper])
            return between(column, points, codes, generator)
        return np.asarray(column.classes, dtype=object)[codes]


def teach(knowledge: Knowledge, records: Records, weights: Floats) -> Teacher:
    """Follow a release so that its quality comes out as its evaluation says.

    Parameters
    ----------
    weights : array of shape (n_records,)
        Share of each record.
    """
    model = knowledge.model
    column = records.schema.column(knowledge.release.target)
    labels, figure = knowledge.evidence.predicted(records), quality(model)
    if knowledge.evidence.number:
        explained = float(weights @ (labels - weights @ labels) ** 2)
        guess = math.sqrt(explained * (1 - _EXPLAINED) / _EXPLAINED)
        spread = guess if figure is None else figure.value
        fifths = np.quantile(labels, (0.2, 0.4, 0.6, 0.8))
        groups = np.searchsorted(fifths, labels)
        return Teacher(knowledge, column, labels, spread, spread, groups)
    chances = knowledge.evidence.probabilities(records)
    if figure is not None and figure.noise_margin <= _VAGUE:
        chances = sharpened(chances, _power(chances, labels, weights, figure.value))
        chances = _as_measured(chances, labels, weights, model.evaluation)
    ceiling = float(weights @ chances[np.arange(len(labels)), labels])
    return Teacher(knowledge, column, chances, 0.0, ceiling, labels)


def sharpened(chances: Floats, power: float) -> Floats:
    """Probabilities to a power, summing to 1 again."""
    logs = power * np.log(np.maximum(chances, _LEAST))
    raised = np.exp(logs - logs.max(axis=1, keepdims=True))
    return np.asarray(raised / raised.sum(axis=1, keepdims=True))


def _power(chances: Floats, labels: Array, weights: Floats, accuracy: float) -> float:
    """The power with which the labels are right as often as was measured."""
    logs = np.log(np.maximum(chances, _LEAST)).T
    ahead = logs - logs[labels, np.arange(len(labels))]  # Of each class before the label's.
    low, high = _POWERS
    for _ in range(_HALVINGS):
        middle = (low + high) / 2
        with np.errstate(over="ignore"):
            right = float(weights @ (1 / np.exp(math.exp(middle) * ahead).sum(axis=0)))
        low, high = (middle, high) if right < accuracy else (low, middle)
    return math.exp((low + high) / 2)


def _as_measured(chances: Floats, labels: Array, weights: Floats, evaluation: Evaluation) -> Floats:
    """Probabilities with which each predicted class has the true classes that were measured."""
    counts = np.asarray(evaluation.noisy_confusion, dtype=np.float64)
    table = without_negatives(counts.ravel()).reshape(counts.shape).T
    for label in np.flatnonzero(table.sum(axis=1) > 0):
        own = labels == label
        share, weight = table[label] / table[label].sum(), weights[own]
        if weight.sum() <= 0:
            continue
        fitted = chances[own]
        for _ in range(_ROUNDS):
            now = weight @ fitted / weight.sum()
            fitted = fitted * ((share + _FAINT) / (now + _FAINT))
            fitted /= fitted.sum(axis=1, keepdims=True)
        chances = chances.copy()
        chances[own] = fitted
    return chances


#: Added to both shares of a comparison, so that none is divided by zero.
_FAINT = 1e-4
