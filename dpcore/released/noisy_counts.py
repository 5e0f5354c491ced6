"""From noisy counts to point estimates with intervals. Post-processing: costs nothing."""

from __future__ import annotations

import heapq
import math
from collections.abc import Sequence
from functools import lru_cache
from typing import Protocol

import numpy as np

from dpcore.arrays import Floats, Ints
from dpcore.numerals import percent
from dpcore.privacy.budgets import gaussian_tail, geometric_tail

#: Scales above this are not tabulated: a tiny epsilon must not ask for a huge table.
_WIDEST = 1000.0
#: In place of a share, where the noisy counts add up to nobody.
TOO_FEW = "too few to tell"
#: Of a share that the noise hides.
TOO_NOISY = "too noisy to tell"
#: An interval of a share that is wider than this tells nothing.
_WIDE = 0.5
#: What the interval of a share is for, in sentences.
NOISE_ALONE = "noise alone: "
#: A chance that is further from the share of its counts than this seems to contradict them; so does one by which
#: another class is the most likely one.
_APART = 0.05
#: Sums of more terms are not tabulated either, unless the scale is so small that whole numbers
#: are coarse: a sum of 16 may then be almost surely 0, and one of 200 not.
_MOST_TERMS = 16
_COARSE = 3.0


def point_estimates(noisy_counts: Ints, alpha: Sequence[float]) -> Floats:
    """Class probabilities per rule: (max(count, 0) + alpha) normalised (Belardo 2018, Alg. 4).

    Parameters
    ----------
    noisy_counts : array of shape (n_rules, n_classes)

    Returns
    -------
    array of shape (n_rules, n_classes), rows summing to 1
    """
    weights = np.maximum(noisy_counts, 0) + np.asarray(alpha)
    return np.asarray(weights / weights.sum(axis=1, keepdims=True))


def sum_tail(scale: float, terms: int, confidence: float, *, gaussian: bool = False) -> int:
    """A t with P(|sum of the noise on ``terms`` counts| <= t) >= confidence.

    Parameters
    ----------
    scale : float
        Of two-sided geometric noise; of Gaussian noise its standard deviation.
    """
    return gaussian_tail(scale * math.sqrt(terms), confidence) if gaussian else _geometric_sum(scale, terms, confidence)


def sum_tails(scales: Floats, terms: Ints | int, confidence: float, *, gaussian: bool = False) -> Ints:
    """The same for each of several scales and numbers of terms: integers in the shape of both together."""
    each = np.broadcast(scales, terms)
    tails = [sum_tail(float(scale), int(many), confidence, gaussian=gaussian) for scale, many in each]
    return np.array(tails, dtype=np.int64).reshape(each.shape)


def geometric_deviation(scale: float) -> float:
    """Standard deviation of two-sided geometric noise."""
    return math.sqrt(2 * math.exp(-1 / scale)) / -math.expm1(-1 / scale)


@lru_cache(maxsize=4096)
def _geometric_sum(scale: float, terms: int, confidence: float) -> int:
    """A t with P(|sum of ``terms`` two-sided geometric variables| <= t) >= confidence.

    The smallest one, unless scale or terms are many: then one a little larger.
    """
    if terms == 1:
        return geometric_tail(scale, confidence)
    if terms > _MOST_TERMS and scale > _COARSE:
        # Per standard deviation, the tails of a sum only get lighter with more terms. A whole
        # number t stands for all below t + 1.
        reach = _geometric_sum(scale, _MOST_TERMS, confidence) + 1
        return math.ceil(reach * math.sqrt(terms / _MOST_TERMS)) - 1
    if scale > _WIDEST:
        # Far above 1 the distribution does nothing but stretch with its scale.
        return math.ceil((_geometric_sum(_WIDEST, terms, confidence) + terms) * scale / _WIDEST)
    from scipy.fft import next_fast_len  # Not before it is needed: commands that load no more start faster.

    reach = geometric_tail(scale, 1 - (1 - confidence) / (100 * terms))
    support = np.arange(-reach, reach + 1)
    decay = math.exp(-1.0 / scale)
    # The mass beyond reach is left out, not spread: sums fall short, never the tail.
    one = np.exp(-np.abs(support) / scale) * (1.0 - decay) / (1.0 + decay)
    size, middle = next_fast_len(2 * reach * terms + 1, real=True), reach * terms
    total = np.maximum(np.fft.irfft(np.fft.rfft(one, size) ** terms, size), 0.0)
    within = np.cumsum(np.concatenate([[total[middle]], 2 * total[middle + 1 :]]))
    return int(np.searchsorted(within, confidence + 1e-9))


def noise_intervals(
    noisy_counts: Ints,
    alpha: Sequence[float],
    scale: Floats | float,
    confidence: float = 0.95,
    *,
    gaussian: bool = False,
) -> Floats:
    """Intervals for the shares that the records have, and for their estimates without noise.

    For each class, its count and the sum of the others are moved apart by their noise
    margins, each at half the failure probability, so that coverage is at least
    ``confidence``, also of shares that are 0 or 1. Sampling error is not included. For ``scale``,
    one for all or one for each rule, and ``gaussian`` see :func:`sum_tail`.

    Returns
    -------
    array of shape (n_rules, n_classes, 2), lower and upper ends in [0, 1]
    """
    half = 1 - (1 - confidence) / 2
    scales = np.asarray(scale).reshape(-1, 1)
    own, others = (sum_tails(scales, terms, half, gaussian=gaussian) for terms in (1, noisy_counts.shape[1] - 1))
    rest = noisy_counts.sum(axis=1, keepdims=True) - noisy_counts
    prior = np.asarray(alpha, dtype=float)
    # A prior draws an estimate towards its own share, away from that of the records.
    pulls = ((0.0, 0.0), (prior, prior.sum() - prior))
    lows = [_share(noisy_counts - own, rest + others, *pull, nobody=0.0) for pull in pulls]
    highs = [_share(noisy_counts + own, rest - others, *pull, nobody=1.0) for pull in pulls]
    return np.stack([np.minimum(*lows), np.maximum(*highs)], axis=-1)


def holding(intervals: Floats, estimates: Floats) -> Floats:
    """The same intervals, widened where a prior has drawn an estimate out of one: they cover no less than before."""
    return np.stack([np.minimum(intervals[..., 0], estimates), np.maximum(intervals[..., 1], estimates)], axis=-1)


def _share(one: Ints, rest: Ints, prior: Floats | float, rest_prior: Floats | float, *, nobody: float) -> Floats:
    """Share of ``one`` in both, each with its prior; ``nobody`` if there is nobody."""
    first, second = np.maximum(one, 0) + prior, np.maximum(rest, 0) + rest_prior
    total = np.asarray(first + second, dtype=np.float64)
    return np.asarray(np.divide(first, total, out=np.full_like(total, nobody), where=total > 0))


class Numbers(Protocol):
    """What is told of the people of a rule, a node or a clause, for each class."""

    @property
    def noisy_counts(self) -> Sequence[int]:
        """Noisy counts."""

    @property
    def estimates(self) -> Sequence[float]:
        """Shares made of them."""

    @property
    def intervals(self) -> Sequence[tuple[float, float]]:
        """For the noise of each share."""


def are_nobody(noisy_counts: Sequence[int]) -> bool:
    """Whether noisy counts add up to nobody: shares made of them tell of the noise alone."""
    return sum(noisy_counts) <= 0


def is_told(numbers: Numbers, code: int, margin: int) -> bool:
    """Whether the noise leaves something to say of the share of a class.

    Neither counts that add up to no more than ``margin``, that of the noise on each, tell anything, nor does a wide
    interval.
    """
    low, high = numbers.intervals[code]
    return high - low <= _WIDE and sum(numbers.noisy_counts) > max(margin, 0)


def what_fits(numbers: Numbers, code: int) -> str:
    """What is said of a share that the noise hides."""
    low, high = (percent(end) for end in numbers.intervals[code])
    return f"{TOO_NOISY}: anything from {low} to {high} fits"


def told_share(numbers: Numbers, code: int, margin: int, noise: str = "") -> str:
    """Share of a class with its interval, which ``noise`` may name, marked if noise hides it; no share of nobody."""
    if are_nobody(numbers.noisy_counts):
        return TOO_FEW
    low, high = (percent(end) for end in numbers.intervals[code])
    share = f"{percent(numbers.estimates[code])} ({noise}{low} to {high})"
    return share if is_told(numbers, code, margin) else f"{share}, {TOO_NOISY}"


def told_chance(numbers: Numbers, code: int, margin: int) -> str:
    """How a sentence about a chance ends: the share, or why none can be told."""
    if are_nobody(numbers.noisy_counts):
        return "not estimated: too few records, as the noisy counts add up to none"
    if not is_told(numbers, code, margin):
        return what_fits(numbers, code)
    return f"about {told_share(numbers, code, margin, NOISE_ALONE)}"


def why_apart(numbers: Numbers, code: int) -> str:
    """Why a chance is not the share of its noisy counts; empty where it is, or nearly."""
    if are_nobody(numbers.noisy_counts):
        return ""
    known = [max(count, 0) for count in numbers.noisy_counts]
    share, told = known[code] / sum(known), numbers.estimates[code]
    likeliest, most = int(np.argmax(numbers.estimates)), int(np.argmax(known))
    swapped = code in (likeliest, most) and known[likeliest] < known[most]
    if percent(share) == percent(told) or (abs(share - told) <= _APART and not swapped):
        return ""
    return (
        f"The counts alone say {percent(share)}. They are few for the noise, or for what was expected before, so the "
        "chance leans on more than them."
    )


def nearest(counts: Floats, total: float) -> Floats:
    """The nearest counts that are not negative and have this total: all are lowered alike, and cut off at 0."""
    if total <= 0:
        return np.zeros_like(counts)
    return nearest_rows(counts.reshape(1, -1), np.array([total])).reshape(counts.shape)


def nearest_rows(counts: Floats, totals: Floats) -> Floats:
    """The same for the last axis of many counts, each with its own positive total."""
    falling = -np.sort(-counts, axis=-1)
    excess = (np.cumsum(falling, axis=-1) - totals[..., None]) / np.arange(1, counts.shape[-1] + 1)
    last = np.maximum((falling > excess).sum(axis=-1, keepdims=True) - 1, 0)
    return np.asarray(np.maximum(counts - np.take_along_axis(excess, last, axis=-1), 0.0))


def even_cuts(counts: Floats, most: int, least: float) -> list[int]:
    """Cut cells in order into runs of about equal counts: the heaviest is cut near its middle, again and again.

    Parameters
    ----------
    counts : array of shape (n_cells,)
        With noise.
    most : int
        Most runs.
    least : float
        A run with a smaller count than twice this is not cut.

    Returns
    -------
    list of int
        The first cell of every run but the first, ascending.
    """
    sums = np.concatenate([[0.0], np.cumsum(counts)])
    runs, closed = [(-float(sums[-1]), 0, len(counts))], [0]
    while runs and len(runs) + len(closed) - 1 < most:
        weight, start, stop = heapq.heappop(runs)
        if stop - start < 2 or -weight < 2 * least:
            closed.append(start)
            continue
        middle = sums[start] - weight / 2
        cut = start + 1 + int(np.argmin(np.abs(sums[start + 1 : stop] - middle)))
        for one, other in ((start, cut), (cut, stop)):
            heapq.heappush(runs, (-float(sums[other] - sums[one]), one, other))
    return sorted({*closed, *(start for _, start, _ in runs)} - {0})
