"""Honest quality of a released model on the hold-out part, from noisy counts per group."""

from __future__ import annotations

import math
from collections.abc import Callable
from functools import partial

import numpy as np

from dpcore.arrays import Floats, Ints
from dpcore.frozen import FrozenModel
from dpcore.privacy.randomness import SeededRandom

#: Draws of the public noise distribution used to state what noise does to a figure.
REDRAWS = 400


class Figure(FrozenModel):
    """A quality figure with the two errors it carries, each as half of a 95 % interval."""

    value: float
    noise_margin: float
    sampling_margin: float


class Evaluation(FrozenModel):
    """Quality on records that the model was not fitted to.

    Attributes
    ----------
    noisy_confusion : tuple of tuple of int
        Hold-out records by true class (row) and predicted class (column), with noise.
    accuracy : Figure or None
        Share predicted correctly; ``None`` if noise drowns the counts.
    auc : Figure or None
        Area under the ROC curve of the second class; ``None`` for more than two classes or
        if noise drowns the counts.
    count_margin : int
        Noise on each count of a group stays within plus or minus this, with 95 % confidence.
    """

    noisy_confusion: tuple[tuple[int, ...], ...]
    accuracy: Figure | None
    auc: Figure | None
    count_margin: int


def evaluate(
    noisy_counts: Ints,
    estimates: Floats,
    scale: float,
    count_margin: int,
    labels: Ints | None = None,
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
    """
    predicted = estimates.argmax(axis=1) if labels is None else labels
    confusion = confusion_of(noisy_counts, predicted)
    noise = SeededRandom(0).geometric_noise(scale, REDRAWS * noisy_counts.size)
    redraws = noisy_counts + noise.reshape(REDRAWS, *noisy_counts.shape)
    auc = None
    if noisy_counts.shape[1] == 2:
        auc = _figure(noisy_counts, redraws, partial(auc_of, scores=estimates[:, 1]), _auc_error)
    return Evaluation(
        noisy_confusion=tuple(tuple(int(n) for n in row) for row in confusion),
        accuracy=_figure(noisy_counts, redraws, partial(accuracy_of, labels=predicted), _accuracy_error),
        auc=auc,
        count_margin=count_margin,
    )


def confusion_of(counts: Ints, labels: Ints) -> Ints:
    """Sum the groups' counts by predicted class: shape (true class, predicted class)."""
    confusion = np.zeros((counts.shape[1], counts.shape[1]), dtype=np.int64)
    for group, label in enumerate(labels):
        confusion[:, label] += counts[group]
    return confusion


def accuracy_of(counts: Ints, labels: Ints) -> float:
    """Share of records whose class is the label of their group; NaN if there are none."""
    total = counts.sum()
    if total <= 0:
        return math.nan
    correct = counts[np.arange(len(counts)), labels].sum()
    return float(np.clip(correct / total, 0.0, 1.0))


def auc_of(counts: Ints, scores: Floats) -> float:
    """Area under the ROC curve from counts per group, ties counted half; NaN if undefined."""
    positive, negative = np.maximum(counts[:, 1], 0), np.maximum(counts[:, 0], 0)
    if positive.sum() == 0 or negative.sum() == 0:
        return math.nan
    wins = (scores[:, None] > scores[None, :]) + 0.5 * (scores[:, None] == scores[None, :])
    # As floats: noise for a tiny epsilon makes counts whose product leaves 64 bits.
    pairs = float(positive.sum()) * float(negative.sum())
    return float(positive @ wins @ negative / pairs)


def _figure(
    counts: Ints,
    redraws: Ints,
    measure: Callable[[Ints], float],
    sampling_error: Callable[[float, Ints], float],
) -> Figure | None:
    value = measure(counts)
    spread = np.array([measure(redraw) for redraw in redraws])
    defined = spread[~np.isnan(spread)]
    if math.isnan(value) or len(defined) < 0.9 * len(spread):
        return None
    return Figure(
        value=value,
        noise_margin=float(min(1.0, 1.96 * defined.std())),
        sampling_margin=float(min(1.0, 1.96 * sampling_error(value, counts))),
    )


def _accuracy_error(accuracy: float, counts: Ints) -> float:
    return math.sqrt(accuracy * (1 - accuracy) / max(1, int(counts.sum())))


def _auc_error(auc: float, counts: Ints) -> float:
    """Standard error of an AUC (Hanley and McNeil 1982)."""
    positives = max(1, int(np.maximum(counts[:, 1], 0).sum()))
    negatives = max(1, int(np.maximum(counts[:, 0], 0).sum()))
    q1, q2 = auc / (2 - auc), 2 * auc**2 / (1 + auc)
    variance = auc * (1 - auc) + (positives - 1) * (q1 - auc**2) + (negatives - 1) * (q2 - auc**2)
    return math.sqrt(max(0.0, variance) / (positives * negatives))
