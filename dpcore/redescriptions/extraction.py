"""Reading redescriptions off a released model: free, and as often as one likes.

Paper 003, Algorithm 6 (extractReds), from the noisy tables on. Deviations: all extensions are
looked at together, so the result does not depend on their order; a redescription is kept if no
further disjunct improves it and none of its own can be spared; p-values allow for the noise;
near-duplicates are merged.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from statistics import NormalDist

import numpy as np
from numpy.typing import NDArray
from pydantic import BaseModel, ConfigDict, Field
from scipy.stats import binom, norm

from dpcore.redescriptions.consistent import PairCounts
from dpcore.redescriptions.families import Unions, unions

Floats = NDArray[np.float64]
Places = NDArray[np.int64]
_Z95 = NormalDist().inv_cdf(0.975)
#: Most candidates of one pair of trees that are looked at, best first.
_MOST = 5000
#: Noise on the Jaccard index, with 95 % confidence, above which support counts as too small;
#: and the index for which that is worked out.
_CLEAR_MARGIN, _USUAL_JACCARD = 0.1, 0.6


class Constraints(BaseModel):
    """What a redescription must satisfy: the reader's choice, moved freely, at no cost.

    Attributes
    ----------
    min_support : float or None
        Least noisy number of people for whom both sides hold. ``None``: what noise on a single
        count exceeds in one of forty cases.
    max_support : float
        Most of them, as a share of the noisy number of people.
    max_p : float
        Largest p-value.
    min_jaccard : float
        Least noisy Jaccard index.
    min_above_chance : float
        Least by which the noisy Jaccard index exceeds that of two independent sides of the same
        sizes. Two conditions that hold for nearly everybody overlap without any connection.
    disjuncts : int
        Most leaves that a side joins by "or" (1 and up to 3 more).
    min_gain : float
        What every disjunct after the first must add to the noisy Jaccard index.
    noise_aware : bool
        The p-value also allows for the noise on the counts. As published, it does not.
    """

    model_config = ConfigDict(frozen=True, extra="forbid", allow_inf_nan=False)

    min_support: float | None = Field(default=None, ge=0)
    max_support: float = Field(default=0.8, gt=0, le=1)
    max_p: float = Field(default=0.01, ge=0, le=1)
    min_jaccard: float = Field(default=0.5, ge=0, le=1)
    min_above_chance: float = Field(default=0.05, ge=0, le=1)
    disjuncts: int = Field(default=4, ge=1, le=4)
    min_gain: float = Field(default=0.01, ge=0, le=1)
    noise_aware: bool = True


@dataclass(frozen=True)
class Candidates:
    """Redescriptions of one pair of trees, best first: arrays of shape (n_candidates,).

    Attributes
    ----------
    left, right : arrays of int
        Positions in :func:`~dpcore.redescriptions.families.unions` of the left and right leaves.
    both, left_only, right_only : arrays of float
        Noisy numbers of people.
    error : array of float
        Standard error of ``jaccard`` for the noise alone.
    both_error : array of float
        Standard error of ``both`` for the noise alone.
    chance : array of float
        Jaccard index of two independent sides of the same sizes.
    """

    left: Places
    right: Places
    both: Floats
    left_only: Floats
    right_only: Floats
    jaccard: Floats
    error: Floats
    both_error: Floats
    chance: Floats
    p_value: Floats

    def __len__(self) -> int:
        return len(self.left)

    def take(self, places: Places | NDArray[np.bool_]) -> Candidates:
        """Some of the candidates."""
        return Candidates(**{name: values[places] for name, values in vars(self).items()})


def find_candidates(counts: PairCounts, constraints: Constraints) -> Candidates:
    """All redescriptions of one pair of trees that satisfy the constraints, best first."""
    found = _Search(counts, constraints).found()
    order = np.argsort(-found.jaccard, kind="stable")[:_MOST]
    return found.take(order)


def single_count_margin(variance: float) -> float:
    """What the noise on a single count stays within, with 95 % confidence."""
    return _Z95 * math.sqrt(variance)


def suggested_support(variance: float, left_leaves: int, right_leaves: int) -> int:
    """Support from which the noisy Jaccard index is within 0.1 of the exact one, about.

    Worked out from the noise alone, for a redescription of half of the leaves on both sides and
    a Jaccard index of 0.6, with 95 % confidence; rounded up to two digits.
    """
    both = left_leaves * right_leaves / 4
    error = math.sqrt(variance * both * ((1 - _USUAL_JACCARD) ** 2 + 2 * _USUAL_JACCARD**2))
    support = _USUAL_JACCARD * _Z95 * error / _CLEAR_MARGIN
    unit = int(10 ** max(0, math.floor(math.log10(max(support, 1.0))) - 1))
    return max(1, unit * math.ceil(support / unit))


class _Search:
    """Every pair of unions of one table, as matrices (left unions x right unions)."""

    def __init__(self, counts: PairCounts, constraints: Constraints) -> None:
        self._counts, self._constraints = counts, constraints
        left, right = counts.counts.shape
        self._left, self._right = (unions(n, constraints.disjuncts) for n in (left, right))
        table = counts.counts
        self._n = counts.people
        self._sizes = (
            self._left.members @ table.sum(axis=1), self._right.members @ table.sum(axis=0)
        )  # fmt: skip
        self._both = self._left.members @ table @ self._right.members.T
        either = self._sizes[0][:, None] + self._sizes[1][None, :] - self._both
        self._jaccard = _ratio(self._both, either)
        expected = self._sizes[0][:, None] * self._sizes[1][None, :] / self._n
        self._chance = _ratio(expected, either + self._both - expected)

    def found(self) -> Candidates:
        """What satisfies the constraints and cannot be improved by one disjunct."""
        first = self._allowed()
        candidates = self._described(*first)
        significant = candidates.p_value <= self._constraints.max_p
        self._good = np.zeros_like(self._jaccard)
        self._good[first[0][significant], first[1][significant]] = candidates.jaccard[significant]
        kept = candidates.take(significant)
        return kept.take(self._settled(kept))

    def _allowed(self) -> tuple[Places, Places]:
        """Places of what satisfies all constraints but the p-value."""
        wanted, counts = self._constraints, self._counts
        least = wanted.min_support
        if least is None:
            least = single_count_margin(counts.variance)
        allowed = (self._jaccard >= wanted.min_jaccard) & (self._both >= max(least, 1e-9))
        allowed &= self._both <= wanted.max_support * self._n
        allowed &= self._jaccard >= self._chance + wanted.min_above_chance
        for axis, side in enumerate((self._left, self._right)):
            reached = np.asarray(counts.live.any(axis=1 - axis))
            allowed &= np.expand_dims(_plain(side, reached), 1 - axis)
        left, right = np.nonzero(allowed)
        return left.astype(np.int64), right.astype(np.int64)

    def _described(self, left: Places, right: Places) -> Candidates:
        """Numbers of some pairs of unions."""
        both, index = self._both[left, right], self._jaccard[left, right]
        sizes = self._sizes[0][left], self._sizes[1][right]
        live, members = self._counts.live, (self._left.members, self._right.members)
        cells = _cells(live, members[0][left], members[1][right])
        outside = (
            _cells(live, members[0][left], ~members[1][right])
            + _cells(live, ~members[0][left], members[1][right])
        )  # fmt: skip
        variance, either = self._counts.variance, sizes[0] + sizes[1] - both
        error = np.sqrt(variance * (cells * (1 - index) ** 2 + outside * index**2)) / either
        return Candidates(
            left=left,
            right=right,
            both=both,
            left_only=sizes[0] - both,
            right_only=sizes[1] - both,
            jaccard=index,
            error=error,
            both_error=np.sqrt(variance * cells),
            chance=self._chance[left, right],
            p_value=self._p_values(both, sizes, left, right),
        )

    def _p_values(
        self, both: Floats, sizes: tuple[Floats, Floats], left: Places, right: Places
    ) -> Floats:
        """Chance that so many people satisfy both sides if the sides were independent.

        Binomial, as published. If noise-aware, at least that of a normal variable with the
        variance of sampling and noise: the noise on both - left x right / people is, to first
        order, a sum over cells weighted by (member - share) of either side.
        """
        n = self._n
        shares = [np.clip(size / n, 0.0, 1.0) for size in sizes]
        expected = shares[0] * shares[1]
        chance = binom.sf(np.rint(both) - 1, max(1, round(n)), expected)
        if not self._constraints.noise_aware:
            return np.asarray(chance)
        noise = self._counts.variance
        for unions_, places, share in zip(
            (self._left, self._right), (left, right), shares, strict=True
        ):
            inside = unions_.members.sum(axis=1)[places]
            leaves = unions_.members.shape[1]
            noise = noise * (inside * (1 - share) ** 2 + (leaves - inside) * share**2)
        spread = np.sqrt(n * expected * (1 - expected) + noise)
        surprise = np.divide(
            both - n * expected, spread, out=np.zeros_like(spread), where=spread > 0
        )
        return np.asarray(np.maximum(chance, norm.sf(surprise)))

    def _settled(self, kept: Candidates) -> NDArray[np.bool_]:
        """Whether no allowed extension gains enough, and every disjunct is worth its words."""
        gain = self._constraints.min_gain
        index, settled = kept.jaccard, np.ones(len(kept), dtype=bool)
        for axis, side in enumerate((self._left, self._right)):
            own, other = (kept.left, kept.right) if axis == 0 else (kept.right, kept.left)
            for leaf in range(side.members.shape[1]):
                for steps, limit, above in ((side.more, gain, True), (side.fewer, -gain, False)):
                    there = steps[own, leaf]
                    places = (there, other) if axis == 0 else (other, there)
                    near = np.where(there >= 0, self._good[places], 0.0)
                    settled &= near < index + limit if above else near <= index + limit
        return settled


def _ratio(some: Floats, whole: Floats) -> Floats:
    return np.divide(some, whole, out=np.zeros_like(whole), where=whole > 1e-9)


def _plain(side: Unions, reached: NDArray[np.bool_]) -> NDArray[np.bool_]:
    """Unions without a leaf that no record can reach, unless they negate a single leaf."""
    dead = (side.members & ~reached).any(axis=1)
    negations = side.members.sum(axis=1) == len(reached) - 1
    return np.asarray(~dead | negations)


def _cells(
    live: NDArray[np.bool_], left: NDArray[np.bool_], right: NDArray[np.bool_]
) -> NDArray[np.float64]:
    """Noisy counts that are summed: live pairs of leaves, one of ``left`` and one of ``right``."""
    return np.asarray(((left @ live.astype(np.float64)) * right).sum(axis=1))
