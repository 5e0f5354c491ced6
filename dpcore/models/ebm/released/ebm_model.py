"""The released explainable boosting machine: what a reader sees and predicts with."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from itertools import product
from typing import Literal

import numpy as np
import pandas as pd

from dpcore.arrays import Array, Floats, Ints
from dpcore.domain.encoding import encode, given_values, is_given
from dpcore.domain.schemas.schema import Schema
from dpcore.frozen import FrozenModel
from dpcore.models.ebm.released.axis import Axis
from dpcore.models.ebm.released.bands import UNLIKELY
from dpcore.released.cases import NOT_KNOWN, is_known
from dpcore.released.evaluation import Z95, Evaluation
from dpcore.released.regression_evaluation import RegressionEvaluation

Task = Literal["binary", "multiclass", "regression"]


class Term(FrozenModel):
    """What one column, or a pair of columns, adds to the prediction."""

    axes: tuple[Axis, ...]
    """One axis, or two for a pairwise term."""
    scores: tuple[tuple[float, ...], ...]
    """Shape (n_bins, n_outputs). What each bin adds. Bins of a pair run through the second axis first. The mean over
    the noisy counts is about 0. Outputs: the log-odds of the second class; or one score per class; or units of a
    numeric target."""
    errors: tuple[tuple[float, ...], ...]
    """Standard error of each score for the noise alone: shape (n_bins, n_outputs)."""
    noisy_counts: tuple[int, ...]
    """Records per bin, with noise; may be negative: shape (n_bins,)."""
    count_errors: tuple[float, ...]
    """Standard deviation of that noise: shape (n_bins,)."""
    noise_size: float
    """Importance that the noise alone would give, on average."""
    p_value: float
    """Chance that noise and sampling alone give scores of this size (see :mod:`dpcore.models.ebm.released.bands`)."""
    threshold: float | None = None
    """Importance from which on the term stands out. ``None``: none would do, as nobody was counted, or the release is
    of a version that did not say."""

    @property
    def name(self) -> str:
        """Name of the column, or of both."""
        return " and ".join(axis.column for axis in self.axes)

    @property
    def labels(self) -> tuple[str, ...]:
        """Name of each bin, in the order of ``scores``."""
        if len(self.axes) == 1:
            return self.axes[0].labels
        first, second = self.axes
        return tuple(f"{a}; {b}" for a in first.labels for b in second.labels)

    @property
    def weights(self) -> Floats:
        """Share of the records in each bin, negative counts as none: shape (n_bins,)."""
        counts = np.maximum(np.asarray(self.noisy_counts, dtype=np.float64), 0.0)
        return counts / counts.sum() if counts.sum() > 0 else np.full(len(counts), 1 / len(counts))

    @property
    def importance(self) -> float:
        """Mean absolute score over the noisy counts, averaged over outputs."""
        return float(self.weights @ np.abs(self.scores).mean(axis=1))

    @property
    def clear(self) -> bool:
        """Whether the scores exceed what noise alone would give."""
        return self.p_value < UNLIKELY

    def bins(self, frame: pd.DataFrame, schema: Schema) -> Ints:
        """Bin of each row of a frame that holds the columns or what they are made of; others count as missing."""
        codes = np.zeros(len(frame), dtype=np.int64)
        for axis in self.axes:
            column = schema.column(axis.column)
            codes = codes * len(axis) + axis.codes(column, given_values(column, frame))
        return codes


@dataclass(frozen=True)
class Contribution:
    """What one term adds for one case."""

    name: str
    """Name of the term."""
    label: str
    """Bin that the case falls into, or ``NOT_KNOWN``."""
    score: tuple[float, ...]
    error: tuple[float, ...]
    """``score``, ``error``: what it adds, and the standard error for the noise alone: shape (n_outputs,)."""


class EBMModel(FrozenModel):
    """An additive model: intercept plus one term per column or pair."""

    task: Task
    """Scores go through the logistic function, the softmax, or are the prediction itself."""
    classes: tuple[str, ...]
    """Labels of the target; empty in regression."""
    intercept: tuple[float, ...]
    intercept_error: tuple[float, ...]
    """``intercept``, ``intercept_error``: score of an average record, and its standard error for the noise alone: shape
    (n_outputs,)."""
    bounds: tuple[float, float] | None
    """Public bounds of a numeric target; predictions are clipped to them."""
    terms: tuple[Term, ...]
    """Single columns first, in schema order, then pairs."""
    evaluation: Evaluation | RegressionEvaluation | None = None

    def worded(self, schema: Schema) -> EBMModel:
        """The same model, its bins called by the words of a schema."""
        terms = (
            term.model_copy(update={"axes": tuple(axis.worded(schema) for axis in term.axes)}) for term in self.terms
        )
        return self.model_copy(update={"terms": tuple(terms)})

    @property
    def outputs(self) -> tuple[str, ...]:
        """Name of each output: the second class, every class, or nothing for a number."""
        if self.task == "regression":
            return ("",)
        return self.classes[1:] if self.task == "binary" else self.classes

    @property
    def clear(self) -> bool:
        """Whether any term exceeds its noise, their number considered (Bonferroni)."""
        return any(term.p_value < UNLIKELY / len(self.terms) for term in self.terms)

    @property
    def count_margin(self) -> int:
        """Noise on a count stays within plus or minus this, with 95 % confidence."""
        largest = max((max(term.count_errors) for term in self.terms), default=0.0)
        return int(np.ceil(Z95 * largest))

    @property
    def _tells_thresholds(self) -> bool:
        return any(term.threshold is not None for term in self.terms)

    @property
    def mark_words(self) -> str:
        """What the marks of the terms are."""
        return "needed to stand out" if self._tells_thresholds else "what noise alone would give"

    def mark(self, term: Term) -> float | None:
        """Importance to compare a term's own with: from where on it stands out; of old releases, that of noise.

        ``None`` if no importance would do.
        """
        return term.threshold if self._tells_thresholds else term.noise_size

    def to_frame(self) -> pd.DataFrame:
        """Score table: one row per bin and output (see :func:`score_table`)."""
        return score_table(self)

    def columns(self) -> tuple[str, ...]:
        """Names of the columns that the model reads."""
        return tuple(dict.fromkeys(axis.column for term in self.terms for axis in term.axes))

    def ranked(self) -> tuple[Term, ...]:
        """Terms by importance, the largest first."""
        return tuple(sorted(self.terms, key=lambda term: -term.importance))

    def scores(self, frame: pd.DataFrame, schema: Schema) -> Floats:
        """Sum of intercept and terms: shape (n_rows, n_outputs)."""
        total = np.tile(np.asarray(self.intercept, dtype=np.float64), (len(frame), 1))
        for term in self.terms:
            total += np.asarray(term.scores)[term.bins(frame, schema)]
        return total

    def predict_proba(self, frame: pd.DataFrame, schema: Schema) -> Floats:
        """Class probabilities: shape (n_rows, n_classes)."""
        return self.probabilities(self.scores(frame, schema))

    def probabilities(self, scores: Floats) -> Floats:
        """Class probabilities from scores of shape (n_rows, n_outputs)."""
        if self.task == "binary":
            scores = np.hstack([np.zeros_like(scores), scores])
        powers = np.exp(scores - scores.max(axis=1, keepdims=True))
        return np.asarray(powers / powers.sum(axis=1, keepdims=True))

    def predict(self, frame: pd.DataFrame, schema: Schema) -> Array:
        """Position of the predicted class, or the predicted number: shape (n_rows,)."""
        scores = self.scores(frame, schema)
        if self.task == "regression":
            return self.clipped(scores[:, 0])
        return np.asarray(self.probabilities(scores).argmax(axis=1))

    def clipped(self, numbers: Floats) -> Floats:
        """Predicted numbers within the public bounds, if there are any."""
        return numbers if self.bounds is None else np.clip(numbers, *self.bounds)

    def explain(self, values: Mapping[str, object], schema: Schema) -> tuple[Contribution, ...]:
        """What each term adds for one case typed by a reader, in the order of the terms.

        A term adds nothing if a value that it needs is not known (absent, ``None`` or not a
        number): that is what it adds on average.
        """
        known = {name: value for name, value in values.items() if is_known(value)}
        return tuple(self._contributions(pd.DataFrame([known], dtype=object), schema))

    def _contributions(self, frame: pd.DataFrame, schema: Schema) -> Iterator[Contribution]:
        nothing = (0.0,) * len(self.outputs)
        for term in self.terms:
            if not all(is_given(schema.column(axis.column), frame) for axis in term.axes):
                yield Contribution(term.name, NOT_KNOWN, nothing, nothing)
                continue
            place = int(term.bins(frame, schema)[0])
            yield Contribution(term.name, term.labels[place], term.scores[place], term.errors[place])

    def count_records(self, frame: pd.DataFrame, schema: Schema, target: str) -> tuple[tuple[int, ...], ...]:
        """Exact records per bin of each term, for data that may be seen."""
        column = schema.column(target)
        codes, numbers = encode(column, given_values(column, frame))
        kept = frame[codes < len(self.classes) if numbers is None else ~np.isnan(numbers)]
        return tuple(
            tuple(np.bincount(term.bins(kept, schema), minlength=len(term.labels)).tolist()) for term in self.terms
        )


#: Columns of the table, in order.
COLUMNS = (
    "term",
    "bin",
    "lower",
    "upper",
    "category",
    "output",
    "score",
    "standard error for the noise",
    "noisy count",
    "standard deviation of the count",
)
_BETWEEN = "; "


def score_table(model: EBMModel) -> pd.DataFrame:
    """One row per bin and output, the intercept first; sums of its scores are predictions.

    Returns
    -------
    DataFrame of shape (n_rows, 10)
        ``lower`` and ``upper`` hold the ends of a bin of numbers, lower < value <= upper, the
        first one with its lower end. ``category`` names a bin of categories or of missing
        values. For a pair, both hold a value for each axis, parted by a semicolon. ``output``
        is the class that the score is added to; empty for a numeric target.
    """
    rows = [*_intercept(model), *(row for term in model.terms for row in _rows(model, term))]
    return pd.DataFrame(rows, columns=list(COLUMNS))


def _intercept(model: EBMModel) -> Iterator[tuple[object, ...]]:
    for output, score, error in zip(model.outputs, model.intercept, model.intercept_error, strict=True):
        yield ("intercept", "everyone", "", "", "", output, score, error, None, None)


def _rows(model: EBMModel, term: Term) -> Iterator[tuple[object, ...]]:
    places = list(product(*(range(len(axis)) for axis in term.axes)))
    for row, place in enumerate(places):
        ends = [_ends(axis, code) for axis, code in zip(term.axes, place, strict=True)]
        lower, upper, category = (_BETWEEN.join(part) for part in zip(*ends, strict=True))
        counts = (term.noisy_counts[row], term.count_errors[row])
        for code, output in enumerate(model.outputs):
            score, error = term.scores[row][code], term.errors[row][code]
            where = (term.name, term.labels[row], lower, upper, category)
            yield (*where, output, score, error, *counts)


def _ends(axis: Axis, code: int) -> tuple[str, str, str]:
    """Lower end, upper end and category of one bin of one axis."""
    if axis.edges is None or code == len(axis) - 1:
        return "", "", axis.labels[code]
    points = axis.points
    return f"{points[code]:.12g}", f"{points[code + 1]:.12g}", ""
