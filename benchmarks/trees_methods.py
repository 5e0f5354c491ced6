"""The methods that the tree suite compares, each behind one function: fit, then predict."""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from decimal import Decimal
from typing import Any

import numpy as np

from benchmarks.cross_validation import Fold, fold
from dpcore.arrays import Ints
from dpcore.errors import BudgetError, RequestError
from dpcore.learning.learner import Run
from dpcore.models.registry import get_learner
from dpcore.privacy.randomness import SecureRandom

HOUSE = "exact lookahead"
ADAPTIVE_FOREST, RANDOM_TREES = "RFDiffP split", "random trees (PRDT)"
#: Cost of complexity at which the tree that is not private is pruned: a hundredth of a per cent.
_PRUNING = 1e-4


@dataclass(frozen=True)
class Private:
    """One of our learners with its parameters; the rest stays at the house defaults."""

    learner: str
    parameters: Mapping[str, Any] = field(default_factory=dict)

    def fit(self, data: Fold, epsilon: float) -> tuple[Callable[[Fold], Ints], float]:
        """Fit on the training records: a predictor of class codes, and seconds.

        Raises
        ------
        RequestError, BudgetError
            If the method refuses this data set or epsilon.
        """
        learner, whole = get_learner(self.learner), data.encoded.data
        chosen = {**self.parameters, "evaluate": False}
        start = time.perf_counter()
        plan = learner.plan(whole.schema, whole.target, Decimal(str(epsilon)), chosen)
        model: Any = learner.run(Run(data.table, plan, SecureRandom()))
        seconds = time.perf_counter() - start
        return lambda other: np.asarray(model.predict(other.test, whole.schema)), seconds


@dataclass(frozen=True)
class Plain:
    """Without privacy: scikit-learn's tree on one column per cell, or the largest class."""

    constant: bool

    def fit(self, data: Fold, epsilon: float) -> tuple[Callable[[Fold], Ints], float]:  # noqa: ARG002
        """Fit on the training records: a predictor of class codes, and seconds."""
        from sklearn.dummy import DummyClassifier
        from sklearn.tree import DecisionTreeClassifier

        model = DummyClassifier() if self.constant else DecisionTreeClassifier(ccp_alpha=_PRUNING)
        cells, known = data.encoded.one_hot, data.training
        start = time.perf_counter()
        model.fit(cells[known], data.encoded.labels[known])
        seconds = time.perf_counter() - start
        return lambda other: np.asarray(model.predict(cells[~other.training])), seconds


def _tree(method: str, criterion: str) -> Private:
    return Private("tree", {"method": method, "criterion": criterion})


PRIVATE: dict[str, Private] = {
    HOUSE: _tree("lookahead", "error"),  # Judged by its mistakes here, so asked for few.
    "ADiffP error": _tree("adiffp", "error"),
    "ADiffP gini": _tree("adiffp", "gini"),
    "ADiffP information gain": _tree("adiffp", "information_gain"),
    "ADiffP Matsushita": _tree("adiffp", "matsushita"),
    "DiffP-ID3": _tree("diffp_id3", "error"),
    "DiffP-C4.5": _tree("diffp_c45", "error"),
    "SuLQ-ID3": _tree("sulq_id3", "information_gain"),
    ADAPTIVE_FOREST: Private("forest", {"method": "rfdiffp", "sharing": "split"}),
    "RFDiffP parts": Private("forest", {"method": "rfdiffp", "sharing": "parts"}),
    RANDOM_TREES: Private("forest", {"method": "random_trees", "sharing": "split"}),
}
#: These have no epsilon.
PLAIN: dict[str, Plain] = {"largest class": Plain(True), "not private": Plain(False)}


@dataclass(frozen=True)
class Score:
    """Accuracy of one fit on the test records of one fold.

    Attributes
    ----------
    refusal : str
        Why the method could not run; accuracy and seconds are then NaN.
    note : str
        How it ran, where there was a choice.
    """

    method: str
    epsilon: float | None
    repeat: int
    fold: int
    accuracy: float
    seconds: float
    refusal: str = ""
    note: str = ""


def score_fold(
    name: str,
    folds: int,
    repeat: int,
    number: int,
    methods: Sequence[str],
    epsilons: Sequence[float],
) -> list[Score]:
    """Fit every method at every epsilon on one fold."""
    data = fold(name, folds, repeat, number)
    scores = [
        _score(data, method, epsilon, repeat, number) for method in PRIVATE if method in methods for epsilon in epsilons
    ]
    return scores + [_score(data, m, None, repeat, number) for m in PLAIN if m in methods]


def _score(data: Fold, method: str, epsilon: float | None, repeat: int, number: int) -> Score:
    way: Private | Plain = PLAIN[method] if epsilon is None else PRIVATE[method]
    try:
        predict, seconds = way.fit(data, epsilon or 0.0)
    except (RequestError, BudgetError) as refusal:
        return Score(method, epsilon, repeat, number, np.nan, np.nan, str(refusal))
    accuracy = float((predict(data) == data.test_labels).mean())
    return Score(method, epsilon, repeat, number, accuracy, seconds)
