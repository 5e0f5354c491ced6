"""The boosting machines that the suite compares, and what one fit of each yields."""

from __future__ import annotations

import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from decimal import Decimal
from typing import Any

import numpy as np

from benchmarks.ebm_splits import Split
from dpcore.arrays import Floats
from dpcore.learning.learner import Run
from dpcore.models.registry import get_learner
from dpcore.privacy.randomness import SecureRandom

HOUSE, PAIRS, PAPER_MODE = "all bins", "all bins, 3 pairs", "random splits (paper)"
CONSTANT = "constant"
#: Delta of every private fit.
DELTA = Decimal("1e-5")
#: Parameters of our methods; the rest stays at the house defaults.
PRIVATE: dict[str, Mapping[str, Any]] = {
    HOUSE: {},
    PAIRS: {"pairs": 3},
    PAPER_MODE: {"method": "random_splits"},
}


@dataclass(frozen=True)
class Fit:
    """One fit on the training records of one split.

    Attributes
    ----------
    epsilon : float or None
        ``None`` without privacy.
    figure : float
        AUC or root mean squared error on the test records.
    seconds : float
        Of the fit alone.
    """

    method: str
    epsilon: float | None
    split: int
    figure: float
    seconds: float


def fit_split(data: Split, number: int, methods: Sequence[str], epsilons: Sequence[float]) -> list[Fit]:
    """Fit every one of our methods at every epsilon on one split, one after the other."""
    fits = [_fit(data, number, method, epsilon) for method in PRIVATE if method in methods for epsilon in epsilons]
    if CONSTANT in methods:
        fits.append(_constant(data, number))
    return fits


def predictions(data: Split, method: str, epsilon: float) -> tuple[Floats, float]:
    """Predictions of one of our methods on the test records, and seconds of the fit."""
    known = data.whole.data
    chosen = {**PRIVATE[method], "delta": DELTA, "evaluate": False}
    learner = get_learner("ebm")
    start = time.perf_counter()
    plan = learner.plan(known.schema, known.target, Decimal(str(epsilon)), chosen)
    model: Any = learner.run(Run(data.table, plan, SecureRandom()))
    seconds = time.perf_counter() - start
    if data.whole.bounds is None:
        return model.predict_proba(data.test_frame, known.schema)[:, 1], seconds
    return model.predict(data.test_frame, known.schema), seconds


def _fit(data: Split, number: int, method: str, epsilon: float) -> Fit:
    predicted, seconds = predictions(data, method, epsilon)
    return Fit(method, epsilon, number, data.score(predicted), seconds)


def _constant(data: Split, number: int) -> Fit:
    """Without privacy and without columns: the mean target of the training records."""
    mean = data.whole.truth[~data.test].mean()
    return Fit(CONSTANT, None, number, data.score(np.full(int(data.test.sum()), mean)), 0.0)
