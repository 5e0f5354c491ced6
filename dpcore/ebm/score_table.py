"""The score table: everything that a released machine predicts with, as a long table."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import product
from typing import TYPE_CHECKING, Any

import pandas as pd

from dpcore.ebm.axis import Axis

if TYPE_CHECKING:
    from dpcore.ebm.model import EBMModel, Term

#: Columns of the table, in order.
COLUMNS = (
    "term", "bin", "lower", "upper", "category", "output", "score", "standard error for the noise",
    "noisy count", "standard deviation of the count",
)  # fmt: skip
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


def _intercept(model: EBMModel) -> Iterator[tuple[Any, ...]]:
    for output, score, error in zip(
        model.outputs, model.intercept, model.intercept_error, strict=True
    ):
        yield ("intercept", "everyone", "", "", "", output, score, error, None, None)


def _rows(model: EBMModel, term: Term) -> Iterator[tuple[Any, ...]]:
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
