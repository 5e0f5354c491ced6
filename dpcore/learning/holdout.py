"""Noisy hold-out counts of a released partition, for an honest evaluation of classifiers."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Final

import numpy as np

from dpcore.arrays import Floats, Ints
from dpcore.data.counting import cells_between
from dpcore.data.queries import GROUPS, Groups, Vectors, capture_counts, group_counts
from dpcore.domain.schemas.schema import Schema
from dpcore.learning.learner import Run
from dpcore.privacy.budgets import geometric_tail
from dpcore.privacy.mechanisms import GeometricMechanism
from dpcore.released.evaluation import Evaluation, evaluate
from dpcore.released.plan import EVALUATION

_FEWEST_GROUPS: Final = 5
_MOST_GROUPS: Final = 30
#: Levels of certainty for each of several classes, at most.
_MOST_LEVELS: Final = 6
_TWO: Final = 2


def expected_rows(schema: Schema) -> float:
    """Most hold-out records to expect."""
    return schema.max_rows * schema.holdout_percent / 100


def group_count_for(signal: float) -> int:
    """Groups of chances of one class: more make the AUC finer, and put more noise on it.

    Parameters
    ----------
    signal : float
        Records times epsilon.
    """
    return int(np.clip(math.sqrt(max(0.0, signal)) / 2, _FEWEST_GROUPS, _MOST_GROUPS))


def level_count_for(signal: float, classes: int) -> int:
    """The same for levels of how likely the likeliest of several classes is."""
    return int(np.clip(math.sqrt(max(0.0, signal)) / (2 * classes), 1, _MOST_LEVELS))


def chance_groups(chances: Floats, cuts: Sequence[float] | Floats) -> Ints:
    """Group of each place by its chances: of two classes by that of the second, of more by the likeliest and its own.

    Parameters
    ----------
    chances : array of shape (n_places, n_classes)
    cuts : sequence or array of shape (n_levels - 1,)
        Between levels of the chance that tells, ascending.
    """
    limits = np.asarray(cuts, dtype=np.float64)
    if chances.shape[1] == _TWO:
        return cells_between(limits, chances[:, 1]).astype(np.int64)
    most, likeliest = chances[:, 0].copy(), np.zeros(len(chances), dtype=np.int64)
    for own in range(1, chances.shape[1]):
        likeliest += (chances[:, own] > most) * (own - likeliest)
        most = np.maximum(most, chances[:, own])
    return likeliest * (len(limits) + 1) + cells_between(limits, most)


def evaluate_groups(
    run: Run, groups: Groups, estimates: Floats, labels: Ints, limits: Sequence[float] = ()
) -> Evaluation:
    """Evaluate on the hold-out part with the whole budget: other people, parallel composition.

    Parameters
    ----------
    groups : callable
        Group of each place of a partition, as in :func:`dpcore.data.queries.group_counts`.
    estimates, labels : arrays of shape (n_groups, n_classes) and (n_groups,)
        Released class probabilities and predicted class of each group.
    limits : sequence of float
        Above which chance of the second of two classes each group begins, if groups are ranges of it.
    """
    counts = group_counts(run.table, run.target, "holdout", groups, len(labels))
    return _evaluated(run, counts, estimates, labels, limits)


def evaluate_rules(run: Run, rules: Vectors, estimates: Floats, labels: Ints | None = None) -> Evaluation | None:
    """The same for a list of rules, each for the people whom no earlier one captures.

    ``None`` if the plan has no evaluation.

    Parameters
    ----------
    rules : callable
        Bit vectors, as in :func:`dpcore.data.queries.capture_counts`, of the same sensitivity.
    estimates, labels : arrays of shape (n_rules + 1, n_classes) and (n_rules + 1,)
        As in :func:`evaluate_groups`; ``None`` predicts the most probable class.
    """
    if not run.plan.evaluated:
        return None
    counts = capture_counts(run.table, run.target, "holdout", rules)
    return _evaluated(run, counts, estimates, labels)


def _evaluated(
    run: Run, counts: Ints, estimates: Floats, labels: Ints | None, limits: Sequence[float] = ()
) -> Evaluation:
    """Quality from exact counts of a partition, of L1 sensitivity 1, after noise was added."""
    mechanism = GeometricMechanism(GROUPS.value, run.row_epsilon(EVALUATION))
    noisy = mechanism.release(counts, run.randomness)
    margin = geometric_tail(mechanism.scale, 0.95)
    rows = run.schema.privacy_unit.max_rows_per_person
    return evaluate(noisy, estimates, mechanism.scale, margin, labels, limits, rows)
