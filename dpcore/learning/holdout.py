"""Noisy hold-out counts of a released partition, for an honest evaluation of classifiers."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import TypeVar

import numpy as np
from pydantic import BaseModel

from dpcore.arrays import Floats, Ints, Words
from dpcore.data.bits import unpack
from dpcore.data.queries import capture_counts
from dpcore.data.table import PrivateTable
from dpcore.domain.schema import Part
from dpcore.learning.learner import Run
from dpcore.privacy.budgets import geometric_tail
from dpcore.privacy.mechanisms import GeometricMechanism
from dpcore.privacy.sensitivity import Sensitivity
from dpcore.released.evaluation import Evaluation, evaluate
from dpcore.released.plan import EVALUATION

Model = TypeVar("Model", bound=BaseModel)
#: A row is in one group of a partition and has one class.
GROUPS = Sensitivity(1, "L1", monotone=True)


def cell_codes(table: PrivateTable, columns: Iterable[str]) -> dict[str, Ints]:
    """Cell codes of some columns, places without a record included."""
    return {name: table.codes[table.schema.index(name)] for name in columns}


def group_counts(table: PrivateTable, target: str, part: Part, groups: Ints, group_count: int) -> Ints:
    """Rows of a part per group and class. Sensitivity :data:`GROUPS`.

    Parameters
    ----------
    groups : array of shape (max_rows,)
        Group of each place, below ``group_count``: a function of the record there.

    Returns
    -------
    array of shape (group_count, n_classes)
        Records whose target is ``(other)`` or ``(missing)`` are in none.
    """
    classes = len(table.schema.column(target).classes)
    present = unpack(table.members(part), table.schema.max_rows)
    codes = table.codes[table.schema.index(target)].astype(np.int64)
    kept = present & (codes < classes)
    places = np.where(kept, groups * classes + codes, group_count * classes)
    counts = np.bincount(places, minlength=group_count * classes + 1)
    return counts[:-1].reshape(group_count, classes).astype(np.int64)


def with_evaluation(run: Run, model: Model, evaluate: Callable[[Run, Model], object]) -> Model:
    """The model with its evaluation on people set aside, if the plan has one."""
    run.progress("checking on people set aside", 0, 1)
    evaluation = evaluate(run, model) if run.plan.evaluated else None
    run.progress("checking on people set aside", 1, 1)
    return model.model_copy(update={"evaluation": evaluation})


def evaluate_groups(run: Run, groups: Ints, estimates: Floats, labels: Ints) -> Evaluation:
    """Evaluate on the hold-out part with the whole budget: other people, parallel composition.

    Parameters
    ----------
    groups : array of shape (max_rows,)
        Group of each place.
    estimates, labels : arrays of shape (n_groups, n_classes) and (n_groups,)
        Released class probabilities and predicted class of each group.
    """
    counts = group_counts(run.table, run.target, "holdout", groups, len(labels))
    return _evaluated(run, counts, estimates, labels)


def evaluate_rules(run: Run, rules: Words, estimates: Floats, labels: Ints | None = None) -> Evaluation | None:
    """The same for a list of rules, each for the people whom no earlier one captures.

    ``None`` if the plan has no evaluation.

    Parameters
    ----------
    rules : array of shape (n_rules, n_words)
        Bit vectors, as in :func:`dpcore.data.queries.capture_counts`, of the same sensitivity.
    estimates, labels : arrays of shape (n_rules + 1, n_classes) and (n_rules + 1,)
        As in :func:`evaluate_groups`; ``None`` predicts the most probable class.
    """
    if not run.plan.evaluated:
        return None
    counts = capture_counts(run.table, run.target, "holdout", rules)
    return _evaluated(run, counts, estimates, labels)


def _evaluated(run: Run, counts: Ints, estimates: Floats, labels: Ints | None) -> Evaluation:
    """Quality from exact counts of a partition, of L1 sensitivity 1, after noise was added."""
    mechanism = GeometricMechanism(GROUPS.value, run.row_epsilon(EVALUATION))
    noisy = mechanism.release(counts, run.randomness)
    margin = geometric_tail(mechanism.scale, 0.95)
    return evaluate(noisy, estimates, mechanism.scale, margin, labels)
