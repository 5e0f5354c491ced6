"""What follows if records with at least some estimate are flagged: free, from noisy hold-out counts."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np

from dpcore.arrays import Floats, Ints
from dpcore.released.evaluation import CLEAR, Z95, Evaluation, Figure, redrawn, share_margin

SENSITIVITY, SPECIFICITY = "sensitivity", "specificity"
POSITIVE_VALUE, NEGATIVE_VALUE = "positive predictive value", "negative predictive value"
FLAGGED = "flagged"
_MEASURES = (SENSITIVITY, SPECIFICITY, POSITIVE_VALUE, NEGATIVE_VALUE, FLAGGED)


@dataclass(frozen=True)
class OperatingPoint:
    """Shares that follow from one threshold.

    Attributes
    ----------
    threshold : float
        Records whose estimate of the class is at least this are flagged; above it, if the evaluation
        holds the limits of its groups.
    figures : mapping of str to Figure or None
        By measure; ``None`` where noise drowns the records that it is a share of.
    """

    threshold: float
    figures: Mapping[str, Figure | None]

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
    thresholds, ends = -thresholds, np.cumsum(sizes) - 1
    told = _cells(counts[None, order], code, ends)
    noisy = _cells(redrawn(counts, evaluation.scale)[:, order], code, ends)
    shares, spread = _shares(*told)[..., 0, :], _shares(*noisy).std(axis=1)
    people = _people(*told)[..., 0, :]
    noise = _people(*noisy).std(axis=1)
    return tuple(
        OperatingPoint(
            float(threshold),
            {
                measure: _figure(shares[m, t], spread[m, t], people[m, t], noise[m, t], evaluation.rows_per_person)
                for m, measure in enumerate(_MEASURES)
            },
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
    redraws = redrawn(counts, evaluation.scale)
    people, noise = counts.sum(axis=1), redraws.sum(axis=2).std(axis=0)
    spread = _part(redraws[..., code], redraws.sum(axis=2)).std(axis=0)
    shares = _part(counts[:, code], people)
    each = evaluation.rows_per_person
    both = [
        (float(told[g]), _figure(shares[g], spread[g], float(people[g]), noise[g], each))
        for g in np.argsort(told).tolist()
    ]
    return tuple(GroupShare(chance, seen) for chance, seen in both if seen is not None)


def _part(part: Ints, whole: Ints) -> Floats:
    return np.asarray(np.clip(part / np.maximum(whole, 1), 0.0, 1.0))


def _cells(counts: Ints, code: int, ends: Ints) -> tuple[Floats, Floats, Floats, Floats]:
    """Records flagged and not, with the class and without: each of shape (n_draws, n_thresholds).

    Parameters
    ----------
    counts : array of shape (n_draws, n_groups, n_classes)
        Of groups in the order in which they are flagged.
    ends : array of shape (n_thresholds,)
        The last group that is flagged.
    """
    people = counts.astype(np.float64)  # Noise for a tiny epsilon: sums leave 64 bits.
    own, others = people[..., code], people.sum(axis=-1) - people[..., code]
    hit, false = (np.cumsum(side, axis=-1)[:, ends] for side in (own, others))
    return hit, own.sum(axis=-1, keepdims=True) - hit, false, others.sum(axis=-1, keepdims=True) - false


def _people(hit: Floats, missed: Floats, false: Floats, cleared: Floats) -> Floats:
    """Records that each measure is a share of: shape (n_measures, n_draws, n_thresholds)."""
    whole = hit + missed + false + cleared
    return np.stack([hit + missed, false + cleared, hit + false, missed + cleared, whole])


def _shares(hit: Floats, missed: Floats, false: Floats, cleared: Floats) -> Floats:
    parts = np.stack([hit, cleared, hit, cleared, hit + false])
    return np.asarray(np.clip(parts / np.maximum(_people(hit, missed, false, cleared), 1.0), 0.0, 1.0))


def _figure(share: float, spread: float, people: float, noise: float, rows_per_person: int) -> Figure | None:
    if people <= CLEAR * noise or people < 1:
        return None
    return Figure(
        value=float(share),
        noise_margin=float(min(1.0, Z95 * spread)),
        sampling_margin=share_margin(float(share), float(people) / rows_per_person),
    )
