"""How good a released model is on people who were set aside: one sentence, and tables."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import Any, Final

import numpy as np

from dpcore.arrays import Floats, Ints
from dpcore.domain.columns import format_number
from dpcore.numerals import hundredths, measured, percent, whole, within
from dpcore.released.blocks import Grade, Headline, Noisy, Table
from dpcore.released.evaluation import FEW, Evaluation, Figure, confusion_margins, share_margin
from dpcore.released.noisy_counts import geometric_deviation, sum_tail
from dpcore.released.regression_evaluation import RegressionEvaluation, error_told, noise_told

_CHANCE = 0.5
#: An AUC from which on a model is said to separate so well (the ranges of Hosmer and Lemeshow 2000, section 5.2.4).
_SEPARATES = ((0.9, "very well"), (0.8, "well"), (0.7, "fairly well"), (0.0, "only a little"))
_GOOD = 0.8
#: A share of right labels that may be off by more is not told.
_VAGUE = 0.1


def verdict(evaluation: Evaluation | RegressionEvaluation | None, target: str, classes: Sequence[str]) -> Headline:
    """Verdict on a model of classes or of a number; ``target`` is what it predicts."""
    if evaluation is None:
        return Headline(
            "unknown",
            "Not checked",
            "No people were set aside, so nothing tells how well this predicts.",
        )
    if isinstance(evaluation, RegressionEvaluation):
        return _of_a_number(evaluation, target)
    return _of_classes(evaluation, target, classes)


def auc_words(figure: Figure) -> str:
    """An AUC with the interval for noise and chance together, such as ``AUC 0.81 (0.78 to 0.84)``."""
    low, high = both_ends(figure)
    return f"AUC {hundredths(figure.value)} ({hundredths(low)} to {hundredths(min(1.0, high))})"


def both_ends(figure: Figure) -> tuple[float, float]:
    """Interval for the noise and for chance in who was set aside, together, at 95 %."""
    reach = (figure.noise_margin**2 + figure.sampling_margin**2) ** 0.5
    return max(0.0, figure.value - reach), figure.value + reach


def baseline(evaluation: Evaluation) -> tuple[int, float] | None:
    """The commonest class of the people set aside and its noisy share; ``None`` if nobody is left after the noise."""
    sizes = [max(0, sum(row)) for row in evaluation.noisy_confusion]
    if not sum(sizes):
        return None
    largest = max(range(len(sizes)), key=sizes.__getitem__)
    return largest, sizes[largest] / sum(sizes)


def _of_classes(evaluation: Evaluation, target: str, classes: Sequence[str]) -> Headline:
    one = f"{target} = {classes[1]}" if len(classes) == len(("no", "yes")) else f"the values of {target}"
    labels = _labels(evaluation, classes)
    if evaluation.auc is None:
        if not evaluation.has_auc:
            return Headline("unknown", "Checked by its labels only", labels)
        return Headline(
            "unknown",
            "Noise hides how good it is",
            f"The noise on the people set aside is larger than what there is to see. {labels}".strip(),
        )
    low, _ = both_ends(evaluation.auc)
    told = auc_words(evaluation.auc)
    if low <= _CHANCE:
        return Headline(
            "none",
            "Not shown to be better than chance",
            f"{told} for {one}, and 0.5 is a coin: read nothing into the picture. {labels}".strip(),
        )
    least, likely = (_how_well(float(hundredths(value))) for value in (low, evaluation.auc.value))  # As they are read.
    grade: Grade = "good" if float(hundredths(low)) >= _GOOD else "fair"
    headline = f"Separates {least}" if least == likely else f"Separates at least {least.removeprefix('only ')}"
    return Headline(grade, headline, f"{told} for {one}. {labels}".strip())


def _how_well(auc: float) -> str:
    return next(words for least, words in _SEPARATES if auc >= least)


def _labels(evaluation: Evaluation, classes: Sequence[str]) -> str:
    """Whether the predicted label does better than always saying the commonest class; empty if noise hides it."""
    common = baseline(evaluation)
    if evaluation.accuracy is None or common is None:
        return ""
    (code, share), right = common, evaluation.accuracy
    always = f"always saying '{classes[code]}'"
    reach = (right.noise_margin**2 + right.sampling_margin**2) ** 0.5
    if reach > _VAGUE:
        return ""
    if right.value - reach > share:
        return f"Its label is right for {percent(right.value)}; {always} would be right for {percent(share)}."
    compared = "no more often than" if right.value <= share else "not clearly more often than"
    return f"Its label is right for {percent(right.value)}, {compared} {always} ({percent(share)})."


def _of_a_number(evaluation: RegressionEvaluation, target: str) -> Headline:
    error, constant = evaluation.rmse, evaluation.constant_rmse
    if error is None or constant is None:
        return Headline("unknown", "Noise hides how good it is", "Noise drowns the errors on people set aside.")
    gain = 1 - error.value / constant.value if constant.value > 0 else 0.0
    told = f"typical error {error_told(error)}; one number for everyone: {error_told(constant)}"
    if sum(evaluation.noisy_errors) < FEW:
        return Headline(
            "unknown", "Too few people set aside to tell", f"Their errors say nothing of other people ({told})."
        )
    if constant.value - error.value <= _paired_margin(error, constant):
        return Headline(
            "none",
            "Not shown to be better than one number for everyone",
            f"It may tell nothing of {target} ({told}): read nothing into the picture.",
        )
    grade: Grade = "good" if gain >= _CHANCE / 2 else "fair"
    return Headline(
        grade, f"Errors are {percent(gain)} smaller", f"It predicts {target} better than one number does ({told})."
    )


def _paired_margin(one: Figure, other: Figure) -> float:
    """Half of the interval of a difference between two errors of the same people.

    Noise moves each by its own, but what it hides of a few huge errors is left out of both: they are of the same
    people, whom neither foresees. Chance in who was set aside moves both alike: only so much of it is left
    as if they had a correlation of three quarters.
    """
    noise = one.noise_margin**2 + other.noise_margin**2
    chance = one.sampling_margin**2 + other.sampling_margin**2
    return float((noise + chance / 4) ** 0.5)


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


SENSITIVITY, SPECIFICITY = "sensitivity", "specificity"
POSITIVE_VALUE, NEGATIVE_VALUE = "positive predictive value", "negative predictive value"
FLAGGED = "flagged"
#: Records that a share is of are told of if they exceed so many standard deviations of their noise.
_CLEAR: Final = 3.0
#: Both sides of a share stay within their margins at once: each has half of what is left of 95 %.
_EACH: Final = 0.975
#: Sums of more counts are taken for sums of up to an eighth more, so that few margins are worked out.
_FEW_TERMS: Final = 16
_MEASURES = (SENSITIVITY, SPECIFICITY, POSITIVE_VALUE, NEGATIVE_VALUE, FLAGGED)


@dataclass(frozen=True)
class OperatingPoint:
    """Shares that follow from one threshold."""

    threshold: float
    """Records whose estimate of the class is at least this are flagged; above it, if the evaluation holds the limits of
    its groups."""
    figures: Mapping[str, Figure | None]
    """By measure; ``None`` where noise drowns the records that it is a share of."""

    @property
    def number_needed_to_examine(self) -> tuple[float, float, float] | None:
        """Flagged records for each one with the class: 1 / positive predictive value, and both ends for the noise."""
        value = self.figures[POSITIVE_VALUE]
        if value is None or value.value - value.noise_margin <= 0:
            return None
        return 1 / value.value, 1 / min(1.0, value.value + value.noise_margin), 1 / (value.value - value.noise_margin)


@dataclass(frozen=True)
class GroupShare:
    """Chance of a class that a group was told, and its noisy share among people set aside."""

    told: float
    seen: Figure


def operating_points(evaluation: Evaluation, code: int) -> tuple[OperatingPoint, ...]:
    """One point for each distinct estimate of a class, or for each limit of its groups, the highest first.

    Empty for releases of earlier versions, which do not hold the counts of groups.
    """
    if not evaluation.group_counts:
        return ()
    estimates = np.asarray(evaluation.group_estimates)[:, code]
    counts = np.asarray(evaluation.group_counts, dtype=np.int64)
    ranked = np.asarray(evaluation.group_limits) if evaluation.group_limits and code == 1 else estimates
    order = np.argsort(-ranked, kind="stable")
    thresholds, sizes = np.unique(-ranked, return_counts=True)
    flagged = np.cumsum(sizes)
    sides = _sides(counts[order], code, flagged)
    return tuple(
        OperatingPoint(
            float(-threshold),
            {measure: _figure(evaluation, *(side[t] for side in sides[measure])) for measure in _MEASURES},
        )
        for t, threshold in enumerate(thresholds)
    )


def roc_curve(points: tuple[OperatingPoint, ...]) -> tuple[Floats, Floats]:
    """Share of others flagged, and of those with the class, from nobody to all; both never fall.

    Returns
    -------
    two arrays of shape (n_points + 2,)
        Points without a figure are left out.
    """
    both = [(point.figures[SPECIFICITY], point.figures[SENSITIVITY]) for point in points]
    known = [(1 - others.value, own.value) for others, own in both if others is not None and own is not None]
    x, y = np.array([(0.0, 0.0), *known, (1.0, 1.0)]).T
    return np.maximum.accumulate(x), np.maximum.accumulate(y)


def group_shares(evaluation: Evaluation, code: int) -> tuple[GroupShare, ...]:
    """The groups in which noise leaves something to see, by the chance they were told."""
    if not evaluation.group_counts:
        return ()
    told = np.asarray(evaluation.group_estimates)[:, code]
    counts = np.asarray(evaluation.group_counts, dtype=np.int64)
    own = counts[:, code]
    figures = [
        _figure(evaluation, part, rest, 1, counts.shape[1] - 1)
        for part, rest in zip(own, counts.sum(axis=1) - own, strict=True)
    ]
    both = [(float(told[g]), figures[g]) for g in np.argsort(told).tolist()]
    return tuple(GroupShare(chance, seen) for chance, seen in both if seen is not None)


def _sides(counts: Ints, code: int, flagged: Ints) -> dict[str, tuple[Floats, Floats, Ints, Ints]]:
    """Records that each measure is the share of, and the others that it is a share among, with counts in either sum.

    Parameters
    ----------
    counts : array of shape (n_groups, n_classes)
        Of groups in the order in which they are flagged.
    flagged : array of shape (n_thresholds,)
        How many groups are.

    Returns
    -------
    dict of four arrays of shape (n_thresholds,)
        By measure.
    """
    people = counts.astype(np.float64)  # Noise for a tiny epsilon: sums leave 64 bits.
    own, others = people[:, code], people.sum(axis=1) - people[:, code]
    hit, false = (np.cumsum(side)[flagged - 1] for side in (own, others))
    missed, cleared = own.sum() - hit, others.sum() - false
    left, rest = len(counts) - flagged, counts.shape[1] - 1
    return {
        SENSITIVITY: (hit, missed, flagged, left),
        SPECIFICITY: (cleared, false, rest * left, rest * flagged),
        POSITIVE_VALUE: (hit, false, flagged, rest * flagged),
        NEGATIVE_VALUE: (cleared, missed, rest * left, left),
        FLAGGED: (hit + false, missed + cleared, (rest + 1) * flagged, (rest + 1) * left),
    }


def _figure(evaluation: Evaluation, part: float, rest: float, part_terms: int, rest_terms: int) -> Figure | None:
    """Share of a sum of noisy counts in it and the rest; ``None`` where noise drowns both together."""
    people, scale = float(part + rest), evaluation.scale
    if people <= _CLEAR * geometric_deviation(scale) * math.sqrt(part_terms + rest_terms) or people < 1:
        return None
    share = min(max(float(part) / people, 0.0), 1.0)
    own, other = _margin(scale, int(part_terms)), _margin(scale, int(rest_terms))
    low, high = _share(part - own, rest + other, 0.0), _share(part + own, rest - other, 1.0)
    return Figure(
        value=share,
        noise_margin=max(share - low, high - share),
        sampling_margin=share_margin(share, people / evaluation.rows_per_person),
    )


def _margin(scale: float, terms: int) -> int:
    """What noise on a sum of so many counts stays within."""
    step = 1 << max(0, terms.bit_length() - _FEW_TERMS.bit_length() + 1)
    return sum_tail(scale, -(-terms // step) * step, _EACH) if terms else 0


def _share(part: float, rest: float, nobody: float) -> float:
    part, rest = max(float(part), 0.0), max(float(rest), 0.0)
    return part / (part + rest) if part + rest > 0 else nobody
