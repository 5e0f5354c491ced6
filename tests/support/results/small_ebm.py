"""Explainable boosting machines made by hand, for what shows and reads them."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from dpcore.models.ebm.released.axis import Axis
from dpcore.models.ebm.released.ebm_model import EBMModel, Term
from dpcore.released.evaluation import Evaluation, Figure
from dpcore.released.regression_evaluation import RegressionEvaluation
from tests.support.tables.small_tables import ward

SCHEMA = ward(
    {"name": "age", "type": "integer", "lower": 20, "upper": 100, "bins": 4, "unit": "years"},
    {"name": "glucose", "type": "real", "lower": 2, "upper": 30, "edges": [5.5, 7, 11], "unit": "mmol/L"},
    {"name": "<i>ward</i>", "type": "categorical", "categories": ["<b>A</b>", "B & C", "D"]},
    {"name": "died", "type": "boolean", "target": True},
    {"name": "goes", "type": "categorical", "target": True, "categories": ["home", "care", "<b>died</b>"]},
    {"name": "stay", "type": "integer", "lower": 0, "upper": 60, "bins": 6, "unit": "days", "target": True},
    name="shapes",
    max_rows=5000,
)
AGE = Axis.numeric(SCHEMA.column("age"), (40, 60, 80))
GLUCOSE = Axis.numeric(SCHEMA.column("glucose"), (5.5, 7, 11))
WARD = Axis.categories(SCHEMA.column("<i>ward</i>"))
#: Target of each task.
TARGETS = {"binary": "died", "multiclass": "goes", "regression": "stay"}
_OUTPUTS = {"binary": 1, "multiclass": 3, "regression": 1}


def term(axes: Sequence[Axis], outputs: int = 1, *, size: float = 1.0, error: float = 0.1, seed: int = 0) -> Term:
    """A term with scores of about ``size``; its last two bins have noisy counts below zero."""
    draw = np.random.default_rng(seed)
    bins = int(np.prod([len(axis) for axis in axes]))
    scores = size * np.round(draw.normal(size=(bins, outputs)), 3)
    counts = [*draw.integers(50, 500, bins - 2).tolist(), -4, -7]
    return Term(
        axes=tuple(axes),
        scores=tuple(map(tuple, scores.tolist())),
        errors=((error,) * outputs,) * bins,
        noisy_counts=tuple(counts),
        count_errors=(6.0,) * bins,
        noise_size=float(np.sqrt(2 / np.pi)) * error,
        p_value=1e-6 if np.sqrt(np.mean(np.square(scores))) > 1.5 * error else 0.5,
    )


def small_ebm(task: str = "binary", *, flat: bool = False, pair: bool = True) -> EBMModel:
    """Three columns and a pair. ``flat``: nothing stands out from the noise."""
    outputs = _OUTPUTS[task]
    size = 0.01 if flat else 1.0
    terms = [
        term([AGE], outputs, size=size, seed=1),
        term([GLUCOSE], outputs, size=size / 2, seed=2),
        term([WARD], outputs, size=0.01, seed=3),
    ]
    if pair:
        terms.append(term([AGE, WARD], outputs, size=size / 3, seed=4))
    classes = () if task == "regression" else SCHEMA.column(TARGETS[task]).classes
    return EBMModel(
        task=task,  # type: ignore[arg-type]
        classes=classes,
        intercept=(12.5,) if task == "regression" else (-0.8,) * outputs,
        intercept_error=(0.05,) * outputs,
        bounds=(0, 60) if task == "regression" else None,
        terms=tuple(terms),
        evaluation=_evaluation(task, len(classes)),
    )


def _evaluation(task: str, classes: int) -> Evaluation | RegressionEvaluation:
    if task == "regression":
        return RegressionEvaluation(
            error_edges=(0, 5, 10, 60),
            noisy_errors=(120, 40, -3),
            rmse=Figure(value=6.2, noise_margin=0.3, sampling_margin=0.5),
            constant_rmse=Figure(value=9.1, noise_margin=0.4, sampling_margin=0.6),
            count_margin=9,
        )
    quality = Figure(value=0.81, noise_margin=0.02, sampling_margin=0.03)
    return Evaluation(
        noisy_confusion=((90, -2, 3),) * 3 if classes == 3 else ((90, -2), (20, 40)),
        accuracy=quality,
        auc=quality if classes == 2 else None,
        count_margin=9,
    )
