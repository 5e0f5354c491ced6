"""Tables of how good a released model is on people who were set aside."""

from __future__ import annotations

from collections.abc import Callable
from itertools import pairwise
from typing import Any, Final

from dpcore.domain.columns import format_number
from dpcore.numerals import hundredths, measured, percent, whole, within
from dpcore.released.blocks import Noisy, Table
from dpcore.released.evaluation import Evaluation, Figure, confusion_margins
from dpcore.released.regression_evaluation import RegressionEvaluation, error_told, noise_told

_DROWNED: Final = ("not known: noise drowns the counts", "", "")


def quality_table(evaluation: Evaluation | RegressionEvaluation) -> Table:
    """Quality on people who were set aside."""
    rows: list[tuple[str, str, str, str]]
    if isinstance(evaluation, RegressionEvaluation):
        rows = [
            ("Noisy typical error (RMSE)", *_number(evaluation.rmse)),
            ("The same for one number for everyone", *_number(evaluation.constant_rmse)),
        ]
    else:
        rows = [("Noisy accuracy", *_score(evaluation.accuracy, percent, within))]
        if evaluation.has_auc:
            rows.append(("Noisy AUC", *_score(evaluation.auc, hundredths, lambda margin: f"±{hundredths(margin)}")))
    head = ("Measure", "Value", "Noise alone, 95%", "Sampling, 95%")
    return Table.of("Checked on people who were set aside", head, rows)


def _score(
    figure: Figure | None, words: Callable[[float], str], margin: Callable[[float], str]
) -> tuple[str, str, str]:
    if figure is None:
        return _DROWNED
    return words(figure.value), margin(figure.noise_margin), margin(figure.sampling_margin)


def _number(figure: Figure | None) -> tuple[str, str, str]:
    if figure is None:
        return _DROWNED
    return error_told(figure), noise_told(figure), f"±{measured(figure.sampling_margin)}"


def confusion_table(model: Any, target: str) -> Table:
    """Noisy counts by true and predicted class, each with the noise that it carries, if the release tells it."""
    evaluation, classes = model.evaluation, model.classes
    margins = confusion_margins(model)
    told = [""] * len(classes) if margins is None else [f"±{whole(margin)}" for margin in margins]
    rows = [
        [label, *(Noisy(whole(count), margin) for count, margin in zip(counts, told, strict=True))]
        for label, counts in zip(classes, evaluation.noisy_confusion, strict=True)
    ]
    head = [f"True {target}", *(f"Predicted {label}" for label in classes)]
    return Table.of(_confusion_caption(evaluation, margins), head, rows)


def _confusion_caption(evaluation: Evaluation, margins: tuple[int, ...] | None) -> str:
    opening = "Noisy counts of records that were set aside. Each adds up the counts of"
    if margins is None:
        each = f"and each of those carries noise of ±{whole(evaluation.count_margin)}, 95%."
        return f"{opening} several groups, {each}"
    never = " ±0: no group is predicted so." if 0 in margins and evaluation.count_margin else ""
    return f"{opening} all groups that are predicted so; ± is the noise on all of them together, 95%.{never}"


def errors_table(check: RegressionEvaluation, target: str, unit: str) -> Table:
    """Noisy records by the size of their error."""
    of = f" ({unit})" if unit else ""
    edges = pairwise(format_number(float(f"{edge:.4g}")) for edge in check.error_edges)
    margin = f"±{whole(check.count_margin)}"
    rows = [
        (f"{low} to {high}", Noisy(whole(count), margin))
        for (low, high), count in zip(edges, check.noisy_errors, strict=True)
    ]
    caption = f"Noisy counts of records that were set aside, by how far {target} was missed. ± is the noise, 95%"
    return Table.of(caption, (f"Missed by{of}", "Noisy records"), rows)
