"""What follows if records with at least some estimate are flagged: free, from noisy hold-out counts."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Final

import numpy as np

from dpcore.arrays import Floats, Ints
from dpcore.released.evaluation import Evaluation, Figure, share_margin
from dpcore.released.noisy_counts import geometric_deviation, sum_tail

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
