"""Honest quality of a released model on the hold-out part, from noisy counts per group."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from functools import partial
from typing import Any, Final, Self

import numpy as np
from pydantic import Field, model_validator

from dpcore.arrays import Floats, Ints
from dpcore.frozen import FrozenModel
from dpcore.privacy.randomness import SeededRandom
from dpcore.released.noisy_counts import sum_tail

#: Draws of the public noise distribution used to state what noise does to a figure.
REDRAWS = 400
_CONFIDENCE = 0.95
#: Half of a 95 % interval, in standard errors.
Z95: Final = 1.96
_TWO = 2
#: Fewer records than this many standard deviations of their noise are taken for drowned in it.
CLEAR = 2.0
#: What fewer records tell, on one side of an AUC or in all, is nothing of others.
FEW = 5
#: Groups that an evaluation may have: as many as a rule list has candidates. Trees have a tenth of that.
MOST_GROUPS: Final = 5000


class Figure(FrozenModel):
    """A quality figure with the two errors it carries, each as half of a 95 % interval."""

    value: float
    noise_margin: float
    """For the noise; below the value only, if ``noise_above`` says how far it reaches above."""
    sampling_margin: float
    """For chance in who was set aside."""
    noise_above: float | None = None
    """``None``: as far as below. So in releases of earlier versions."""

    @property
    def above(self) -> float:
        """How far the noise may hide above the value."""
        return self.noise_margin if self.noise_above is None else self.noise_above


class Evaluation(FrozenModel):
    """Quality on records that the model was not fitted to."""

    noisy_confusion: tuple[tuple[int, ...], ...]
    """Hold-out records by true class (row) and predicted class (column), with noise."""
    accuracy: Figure | None
    """Share predicted correctly; ``None`` if noise drowns the counts."""
    auc: Figure | None
    """Area under the ROC curve of the second class; of more than two classes the mean over them, each against all
    others. ``None`` if noise drowns all records of a class, or all others."""
    count_margin: int
    """Noise on each count of a group stays within plus or minus this, with 95 % confidence."""
    group_estimates: tuple[tuple[float, ...], ...] = ()
    """Shape (n_groups, n_classes). Released class probabilities of the groups that all of this is worked out from:
    those of all records of a group, or typical ones where they differ; of earlier forests shares of the votes. Empty in
    releases of earlier versions, as is ``group_counts``."""
    group_counts: tuple[tuple[int, ...], ...] = ()
    """Hold-out records per group and true class, with noise: shape (n_groups, n_classes)."""
    scale: float = 0.0
    """Of the two-sided geometric noise on each of these counts."""
    group_limits: tuple[float, ...] = ()
    """Shape (n_groups,). If groups are ranges of the chance of the second of two classes: above which chance each
    begins, the first with everybody. Else empty, as in releases of earlier versions."""
    rows_per_person: int = Field(default=1, ge=1)
    """Most records of one person: so many count as one where chance in who was set aside is told. 1 in releases of
    earlier versions."""

    @model_validator(mode="after")
    def _of_the_same_groups(self) -> Self:
        counts, estimates, limits = self.group_counts, self.group_estimates, self.group_limits
        classes = {len(row) for row in (*self.noisy_confusion, *counts, *estimates)}
        if len(counts) != len(estimates) or len(limits) not in (0, len(counts)) or len(classes) > 1:
            raise ValueError("an evaluation needs an estimate and a count for each group and class")
        if len(counts) > MOST_GROUPS:
            raise ValueError(f"an evaluation has at most {MOST_GROUPS} groups")
        if counts and not 0 < self.scale < math.inf:
            raise ValueError("noise on counts has a scale above 0")
        return self

    @property
    def has_auc(self) -> bool:
        """Whether there is something to say of the AUC: earlier versions worked it out for two classes only."""
        return self.auc is not None or bool(self.group_counts) or len(self.noisy_confusion) == _TWO


def evaluate(
    noisy_counts: Ints,
    estimates: Floats,
    scale: float,
    count_margin: int,
    labels: Ints | None = None,
    limits: Sequence[float] = (),
    rows_per_person: int = 1,
) -> Evaluation:
    """Derive confusion, accuracy and AUC from noisy hold-out counts. Post-processing.

    Parameters
    ----------
    noisy_counts : array of shape (n_groups, n_classes)
        Hold-out records in each group of a released partition (rules of a list, leaves of a
        tree), per true class, with noise.
    estimates : array of shape (n_groups, n_classes)
        Released class probabilities of each group.
    labels : array of shape (n_groups,) or None
        Predicted class of each group; ``None`` takes the most probable one.
    limits : sequence of float
        ``group_limits`` of the evaluation.
    rows_per_person : int
        Most records of one person.
    """
    predicted = estimates.argmax(axis=1) if labels is None else labels
    confusion = confusion_of(noisy_counts, predicted)
    redraws = redrawn(noisy_counts, scale)
    several = np.concatenate([noisy_counts[None], redraws])
    ranked = _figure(noisy_counts, _aucs(several, estimates), partial(auc_margin, rows_per_person=rows_per_person))
    chance_of_share = partial(_accuracy_margin, rows_per_person=rows_per_person)
    return Evaluation(
        noisy_confusion=tuple(tuple(int(n) for n in row) for row in confusion),
        accuracy=_figure(noisy_counts, _accuracies(several, predicted), chance_of_share),
        auc=ranked if _classes_clear(noisy_counts, redraws) else None,
        count_margin=count_margin,
        group_estimates=tuple(tuple(float(share) for share in row) for row in estimates),
        group_counts=tuple(tuple(int(n) for n in row) for row in noisy_counts),
        scale=scale,
        group_limits=tuple(float(limit) for limit in limits),
        rows_per_person=rows_per_person,
    )


def counts_summed(model: Any) -> Ints | None:
    """How many noisy counts of groups each column of the confusion table adds up for every true class.

    Parameters
    ----------
    model : Any
        With an evaluation. Each group is predicted its most probable class, unless the model has ``labels``.

    Returns
    -------
    array of shape (n_classes,) or None
        Groups that are predicted each class; ``None`` for releases of earlier versions, which do not hold their counts.
    """
    evaluation: Evaluation = model.evaluation
    if not evaluation.group_counts:
        return None
    counts, estimates = np.asarray(evaluation.group_counts), np.asarray(evaluation.group_estimates)
    labels = np.asarray(getattr(model, "labels", estimates.argmax(axis=1)))
    if len(labels) != len(counts) or (confusion_of(counts, labels) != evaluation.noisy_confusion).any():
        return None
    return np.bincount(labels, minlength=counts.shape[1])


def confusion_margins(model: Any) -> tuple[int, ...] | None:
    """What the noise on each number in a column of the confusion table stays within, plus or minus, at 95 %.

    0 for a class that no group is predicted: nothing is added up there. ``None`` as for :func:`counts_summed`.
    """
    summed = counts_summed(model)
    if summed is None:
        return None
    scale = model.evaluation.scale
    return tuple(sum_tail(scale, int(terms), _CONFIDENCE) if terms else 0 for terms in summed)


def redrawn(noisy_counts: Ints, scale: float) -> Ints:
    """The counts with public noise of the same size on top: shape (REDRAWS, n_groups, n_classes)."""
    noise = SeededRandom(0).geometric_noise(scale, REDRAWS * noisy_counts.size)
    return noisy_counts + noise.reshape(REDRAWS, *noisy_counts.shape)


def confusion_of(counts: Ints, labels: Ints) -> Ints:
    """Sum the groups' counts by predicted class: shape (true class, predicted class)."""
    confusion = np.zeros((counts.shape[1], counts.shape[1]), dtype=np.int64)
    for group, label in enumerate(labels):
        confusion[:, label] += counts[group]
    return confusion


def accuracy_of(counts: Ints, labels: Ints) -> float:
    """Share of records whose class is the label of their group; NaN if there are none.

    Of noisy counts it may lie below 0 or above 1: only so does it tell how far the noise reaches.
    """
    return float(_accuracies(counts[None], labels)[0])


def _accuracies(several: Ints, labels: Ints) -> Floats:
    """Of several tables of counts, each as :func:`accuracy_of` tells it."""
    totals = several.sum(axis=(1, 2))
    right = several[:, np.arange(several.shape[1]), labels].sum(axis=1)
    return np.asarray(np.divide(right, totals, out=np.full(len(several), math.nan), where=totals > 0))


def auc_of(counts: Ints, estimates: Floats) -> float:
    """Area under the ROC curve from counts per group, ties counted half; NaN if undefined.

    As :func:`accuracy_of` it may lie below 0 or above 1: counts that are cut at 0 would draw it to one half,
    and what noise does to it with them.

    Parameters
    ----------
    counts, estimates : arrays of shape (n_groups, n_classes)
        Of two classes, the second counts; of more, the mean over them, each against the others.
    """
    return float(_aucs(counts[None], estimates)[0])


def _aucs(several: Ints, estimates: Floats) -> Floats:
    """Of several tables of counts, each as :func:`auc_of` tells it: which group is above which is asked once."""
    people = several.astype(np.float64)  # Noise for a tiny epsilon: products leave 64 bits.
    everybody, found = people.sum(axis=2), []
    for one in _counted(estimates.shape[1]):
        scores, own = estimates[:, one], people[:, :, one]
        wins = (scores[:, None] > scores[None, :]) + 0.5 * (scores[:, None] == scores[None, :])
        found.append([_auc(*sides, wins) for sides in zip(own, everybody - own, strict=True)])
    return np.asarray(np.ascontiguousarray(np.transpose(found)).mean(axis=1))


def _counted(classes: int) -> Sequence[int]:
    """Classes whose records are told from all others."""
    return [1] if classes == _TWO else range(classes)


def _auc(positive: Floats, negative: Floats, wins: Floats) -> float:
    positives, negatives = positive.sum(), negative.sum()
    if positives <= 0 or negatives <= 0:
        return math.nan
    return float(positive @ wins @ negative / (positives * negatives))


def _classes_clear(counts: Ints, redraws: Ints) -> bool:
    """Whether noise leaves something to see of every class, and of the others beside it."""
    own, noisy = counts.sum(axis=0), redraws.sum(axis=1)
    sides = np.concatenate([own, own.sum() - own])
    noise = np.concatenate([noisy, noisy.sum(axis=1, keepdims=True) - noisy], axis=1).std(axis=0)
    return bool(np.all(sides > CLEAR * noise))


def _figure(counts: Ints, values: Floats, sampling_margin: Callable[[float, Ints], float]) -> Figure | None:
    """Of counts; the first of the values is theirs, the others are those of its redraws."""
    value, spread = float(values[0]), values[1:]
    defined = spread[~np.isnan(spread)]
    if math.isnan(value) or len(defined) < 0.9 * len(spread):
        return None
    value = float(np.clip(value, 0.0, 1.0))
    return Figure(
        value=value,
        noise_margin=float(min(1.0, Z95 * defined.std())),
        sampling_margin=sampling_margin(value, counts),
    )


def share_margin(share: float, people: float) -> float:
    """How far the farther end of Wilson's interval is from a share: also where all or none of the records count."""
    spread = Z95 * math.sqrt(share * (1 - share) / people + (Z95 / (2 * people)) ** 2)
    off = abs(share - 0.5) * Z95**2 / people
    return min(1.0, (off + spread) / (1 + Z95**2 / people))


def _accuracy_margin(accuracy: float, counts: Ints, rows_per_person: int) -> float:
    return share_margin(accuracy, max(1, int(counts.sum())) / rows_per_person)


def auc_margin(auc: float, counts: Ints, rows_per_person: int = 1) -> float:
    """Half of the interval of an AUC (Hanley and McNeil 1982); of a mean of several, at most the mean of theirs.

    As many people are counted on as the records may be of at least: those of one person may be all alike.
    An AUC of 1 is taken for one half of a record below it, and an AUC of 0 for as much above: they have no spread.
    """
    margins, people = [], counts.astype(np.float64) / rows_per_person
    for one in _counted(counts.shape[1]):
        positives, negatives = float(people[:, one].sum()), float((people.sum(axis=1) - people[:, one]).sum())
        least = min(positives, negatives)
        if least < FEW:
            margins.append(1.0)
            continue
        drawn = float(np.clip(auc, 0.5 / least, 1 - 0.5 / least))
        q1, q2 = drawn / (2 - drawn), 2 * drawn**2 / (1 + drawn)
        variance = drawn * (1 - drawn) + (positives - 1) * (q1 - drawn**2) + (negatives - 1) * (q2 - drawn**2)
        margins.append(min(1.0, Z95 * math.sqrt(max(0.0, variance) / (positives * negatives))))
    return float(np.mean(margins))
