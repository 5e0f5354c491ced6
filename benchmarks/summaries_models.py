"""Models trained on invented records, beside models learned privately from the real ones at the same epsilon.

A fifth of the records is set aside. Everything else is learned from the others: a first look with the pairs of
the target counted and as many others as pay, records drawn from it and a logistic regression trained on these; a
tree and shape functions with privacy; and the same regression on the real records, without privacy. All are tried
on the fifth.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Final

import numpy as np
from sklearn.linear_model import LogisticRegression
from sklearn.metrics import roc_auc_score
from sklearn.preprocessing import OneHotEncoder

from benchmarks.records import Record, summarise
from benchmarks.summaries import DELTA, EPSILONS, SUITE, Truth
from dpcore import DPEBMClassifier, DPSummary, DPTreeClassifier
from dpcore.arrays import Floats, Ints
from dpcore.models.summaries.released.synthesis import Source, draw_codes
from dpcore.privacy.randomness import public_generator

DATA: Final = ("adult", "telco_churn")
METRIC: Final = "AUC on real records set aside"
_APART: Final = 5
INVENTED, PLAIN = "logistic regression on invented records", "logistic regression on real records, not private"


def run(
    data: list[str] | None, epsilons: list[float] | None, only: list[str] | None = None, *, quick: bool
) -> Iterator[Record]:
    """The area under the ROC curve of every way, or of some ``only``."""
    times = 2 if quick else 3
    if only and not set(only) & set(METHODS):
        return
    for name in [own for own in data or DATA if own in DATA]:
        truth = Truth.of(name)
        splits = [_split(truth, seed) for seed in range(times)]
        if not only or PLAIN in only:
            yield _record(name, PLAIN, None, [_plain(truth, apart) for apart in splits])
        for epsilon in epsilons or ((1.0,) if quick else EPSILONS):
            for method, area in _WAYS.items():
                if not only or method in only:
                    yield _record(name, method, epsilon, [area(truth, apart, epsilon) for apart in splits])


def _record(name: str, method: str, epsilon: float | None, found: list[float]) -> Record:
    mean, error = summarise(found)
    return Record(SUITE, name, method, epsilon, METRIC, mean, error, len(found), None, "")


def _split(truth: Truth, seed: int) -> np.ndarray:
    rows = len(truth.data.frame)
    return public_generator(seed).permutation(rows) < rows // _APART


def _places(truth: Truth) -> tuple[int, list[int]]:
    """Axis of the target, and those of all other columns."""
    names = [axis.column for axis in truth.axes]
    target = names.index(truth.data.target)
    return target, [place for place in range(len(names)) if place != target]


def _codes(truth: Truth) -> Ints:
    return np.stack([truth.codes[axis.column] for axis in truth.axes], axis=1)


def _area(truth: Truth, training: Ints, apart: np.ndarray) -> float:
    """Of a regression on cells: trained on some records, tried on real ones."""
    target, others = _places(truth)
    test = _codes(truth)[apart]
    wanted = truth.axes[target].cells(truth.data.schema).index(truth.data.schema.column(truth.data.target).classes[1])
    cells = [np.arange(truth.axes[place].size(truth.data.schema)) for place in others]
    encoder = OneHotEncoder(categories=cells)
    model = LogisticRegression(max_iter=500)
    model.fit(encoder.fit_transform(training[:, others]), training[:, target] == wanted)
    scores = model.predict_proba(encoder.transform(test[:, others]))[:, 1]
    return float(roc_auc_score(test[:, target] == wanted, scores))


def _plain(truth: Truth, apart: np.ndarray) -> float:
    return _area(truth, _codes(truth)[~apart], apart)


def _invented(truth: Truth, apart: np.ndarray, epsilon: float) -> float:
    look = DPSummary(epsilon=epsilon, schema=truth.data.schema, delta=DELTA, by=truth.data.target, records=True)
    model = look.fit(truth.data.frame[~apart]).model_
    codes = draw_codes(Source(model), int((~apart).sum()), np.random.default_rng())
    return _area(truth, np.stack([codes[place] for place in range(len(truth.axes))], axis=1), apart)


def _learned(kind: type, **chosen: object) -> Callable[[Truth, np.ndarray, float], float]:
    """Of a private model of the house, learned from the real records."""

    def area(truth: Truth, apart: np.ndarray, epsilon: float) -> float:
        frame, target = truth.data.frame, truth.data.target
        records, classes = frame.drop(columns=target), frame[target].astype(str)
        model = kind(epsilon=epsilon, schema=truth.data.schema, **chosen).fit(records[~apart], classes[~apart])
        wanted = truth.data.schema.column(target).classes[1]
        scores: Floats = model.predict_proba(records[apart])[:, list(model.classes_).index(wanted)]
        return float(roc_auc_score(classes[apart] == wanted, scores))

    return area


_WAYS: Final[dict[str, Callable[[Truth, np.ndarray, float], float]]] = {
    INVENTED: _invented,
    "tree learned privately": _learned(DPTreeClassifier),
    "shape functions learned privately": _learned(DPEBMClassifier, delta=DELTA),
}
METHODS: Final = (PLAIN, *_WAYS)
