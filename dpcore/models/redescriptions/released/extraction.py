"""Reading redescriptions off a released model: free, and as often as one likes.

Algorithm 6 (extractReds) of Mihelčić and Miettinen (2023), from the noisy tables on. Deviations:
all extensions are looked at together, so the result does not depend on their order; a redescription
is kept if no further disjunct improves it and none of its own can be spared; what is better is
judged by what the Jaccard index exceeds chance by; leaves that no record can reach take no part;
p-values allow for the noise.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final, Literal

import numpy as np
from pydantic import Field

from dpcore.arrays import Flags, Floats, Ints
from dpcore.models.redescriptions.released.consistent import Z95, PairCounts, standard_errors
from dpcore.models.redescriptions.released.significance import Independence, Sizes
from dpcore.models.redescriptions.released.tree_pair import unions
from dpcore.released.parameters import Parameters

#: Most candidates of one pair of trees that are looked at, best first.
_MOST: Final = 5000
#: Left unions that are paired with all right ones at a time.
_BLOCK: Final = 64
#: Scores that differ by less are the same: rounding.
_SAME: Final = 1e-6
#: Noise on the Jaccard index, with 95 % confidence, above which support counts as too small;
#: and the index for which that is worked out.
_CLEAR_MARGIN, _USUAL_JACCARD = 0.1, 0.6


#: What makes one redescription better than another.
Score = Literal["above chance", "jaccard"]


class Constraints(Parameters):
    """What a redescription must satisfy: the reader's choice, moved freely, at no cost."""

    min_support: float | None = Field(default=None, ge=0, title="Least noisy support")
    """Noisy number of people for whom both sides hold. Default: what noise on a single count exceeds in one of forty
    cases."""
    max_support: float = Field(default=0.8, gt=0, le=1, title="Largest noisy support")
    """The same as a share of the noisy number of all people."""
    max_p: float = Field(default=0.01, ge=0, le=1, title="Largest p-value")
    """How often, at most, two sides of these sizes would overlap as much if they had nothing to do with each other."""
    min_jaccard: float = Field(default=0.5, ge=0, le=1, title="Least noisy Jaccard index")
    """People for whom both sides hold, divided by people for whom at least one does: 1 means exactly the same people, 0
    means nobody in common."""
    min_above_chance: float = Field(default=0.05, ge=0, le=1, title="Least gain over chance")
    """Two conditions that hold for nearly everybody overlap without any connection. This asks for so much more than
    such an overlap."""
    disjuncts: int = Field(default=4, ge=1, le=4, title="Most groups joined by OR")
    """How many groups of a tree a condition may join by OR. More of them fit better and are harder to read."""
    min_gain: float = Field(default=0.01, ge=0, le=1, title="Least gain of a group")
    """What every group after the first that a condition joins must add to what is compared."""
    score: Score = Field(default="above chance", title="Best first by")
    """What makes one better than another: by how much its noisy Jaccard index exceeds chance; or the index itself, as
    published, which puts conditions first that hold for nearly everybody."""
    noise_aware: bool = Field(default=True, title="Allow for the noise")
    """The p-value also allows for the noise on the counts. As published, it does not."""


@dataclass(frozen=True)
class Candidates:
    """Redescriptions of one pair of trees, best first."""

    unions: Ints
    """Left and right union of leaves that a record can reach, see
    :func:`~dpcore.models.redescriptions.released.tree_pair.unions`: shape (n_candidates, 2)."""
    left: Flags
    right: Flags
    """``left``, ``right``: leaves that each side joins: shape (n_candidates, n_leaves)."""
    both: Floats
    left_only: Floats
    right_only: Floats
    """``both``, ``left_only``, ``right_only``: noisy numbers of people: shape (n_candidates,)."""
    jaccard: Floats
    """Noisy Jaccard index."""
    both_margin: Floats
    margin: Floats
    """``both_margin``, ``margin``: noise on ``both`` and on ``jaccard`` stays within plus or minus this, with 95 %
    confidence."""
    chance: Floats
    """Jaccard index of two independent sides of the same sizes."""
    score: Floats
    least_score: Floats
    """``score``, ``least_score``: what they are judged by; at the noisy Jaccard index and at the lower end of its 95 %
    interval."""

    def __len__(self) -> int:
        return len(self.both)

    def take(self, places: Ints | Flags) -> Candidates:
        """Some of the candidates."""
        return Candidates(**{name: values[places] for name, values in vars(self).items()})

    @classmethod
    def joined(cls, parts: Sequence[Candidates]) -> Candidates:
        """Candidates of the same pair of trees, one after another."""
        rows = [vars(part) for part in parts]
        return cls(**{name: np.concatenate([row[name] for row in rows]) for name in rows[0]})


def suggested_support(variance: float, left_leaves: int, right_leaves: int) -> int:
    """Support from which the noisy Jaccard index is within 0.1 of the exact one, about.

    Worked out from the noise alone, for a redescription of half of the leaves on both sides and
    a Jaccard index of 0.6, with 95 % confidence; rounded up to two digits.
    """
    both = left_leaves * right_leaves / 4
    error = math.sqrt(variance * both * ((1 - _USUAL_JACCARD) ** 2 + 2 * _USUAL_JACCARD**2))
    support = _USUAL_JACCARD * Z95 * error / _CLEAR_MARGIN
    unit = int(10 ** max(0, math.floor(math.log10(max(support, 1.0))) - 1))
    return max(1, unit * math.ceil(support / unit))


class Search:
    """Every pair of unions of one table: left unions x right unions.

    Most pairs fail a constraint, so only those that satisfy them are ever listed.
    """

    def __init__(self, counts: PairCounts, constraints: Constraints) -> None:
        self._counts, self._constraints = counts, constraints
        table, self._n = counts.table, counts.people
        self._sides = tuple(unions(size, constraints.disjuncts) for size in table.shape)
        members = [side.members.astype(np.float64) for side in self._sides]
        self._sizes = members[0] @ table.sum(axis=1), members[1] @ table.sum(axis=0)
        self._rows, self._columns = members[0], table @ members[1].T
        scale = counts.scale if constraints.noise_aware else 0.0
        self._test = Independence(self._n, table.shape, scale, counts.rows_per_person, counts.gaussian)

    def found(self) -> Candidates:
        """What satisfies the constraints and cannot be improved by one disjunct, best first."""
        blocks = [self._block(first) for first in range(0, max(1, len(self._sides[0])), _BLOCK)]
        places, both = (np.concatenate(parts) for parts in zip(*blocks, strict=True))
        places, both = self._fitting(places, both)
        score = self._score(self._jaccard(places, both), self._chance(places))
        kept = self._settled(places, score)
        kept = kept[np.argsort(-score[kept], kind="stable")][:_MOST]
        found = self._described(places[kept], both[kept])
        return found.take(np.argsort(-found.least_score, kind="stable"))

    def as_good(self, best: Candidates, axis: int) -> Candidates:
        """One redescription, and others that differ from it in one or two leaves of a side.

        All satisfy the constraints and are about as good: they score less by no more than a
        disjunct has to gain, or than the standard error of the difference.
        """
        near = self._sides[axis].near(int(best.unions[0, axis]))
        places = np.repeat(best.unions, len(near), axis=0)
        places[:, axis] = near
        both = (self._rows[places[:, 0]] * self._columns.T[places[:, 1]]).sum(axis=1)
        score = self._score(self._jaccard(places, both), self._chance(places))
        slack = np.maximum(self._constraints.min_gain, self._step_error(best, places, axis))
        good = score >= best.score[0] - slack
        return self._described(*self._fitting(places[good], both[good]))

    def p_values(self, candidates: Candidates) -> Floats:
        """P-values of some candidates."""
        return self._test.p_values(self._of(candidates.unions, candidates.both))

    def _step_error(self, best: Candidates, places: Ints, axis: int) -> Floats:
        """Standard error of the difference in score between one redescription and others."""
        own, other = best.unions[0, axis], best.unions[0, 1 - axis]
        members = self._sides[axis].members
        steps = (members[places[:, axis]] != members[own]).sum(axis=1)
        within = self._sides[1 - axis].sizes[other]
        beside = self._counts.table.shape[1 - axis] - within
        index, either = best.jaccard[0], best.both[0] + best.left_only[0] + best.right_only[0]
        spread = np.sqrt(steps * (within * (1 - index) ** 2 + beside * index**2))
        return np.asarray(math.sqrt(self._counts.variance) * spread / max(either, 1.0))

    def _block(self, first: int) -> tuple[Ints, Floats]:
        """Places and support of what has enough support and overlap, in one block of rows."""
        rows = slice(first, first + _BLOCK)
        both = self._rows[rows] @ self._columns
        # both / (left + right - both) >= least, put so that nothing is divided.
        least = self._constraints.min_jaccard * (1 - _SAME)
        part = least / (1 + least)
        needed = part * self._sizes[0][rows, None] + part * self._sizes[1][None, :]
        np.maximum(needed, self._least_support, out=needed)
        left, right = np.nonzero(both >= needed)
        return np.stack([left + first, right], axis=1), both[left, right]

    @property
    def _least_support(self) -> float:
        least = self._constraints.min_support
        return max(float(self._counts.margin_of(np.ones(()))) if least is None else least, 1e-9)

    def _fitting(self, places: Ints, both: Floats) -> tuple[Ints, Floats]:
        """Those that satisfy all constraints."""
        wanted, index = self._constraints, self._jaccard(places, both)
        kept = (both >= self._least_support) & (both <= wanted.max_support * self._n)
        kept &= index >= wanted.min_jaccard
        kept &= index >= self._chance(places) + wanted.min_above_chance
        places, both = places[kept], both[kept]
        significant = self._test.significant(self._of(places, both), wanted.max_p)
        return places[significant], both[significant]

    def _sizes_of(self, places: Ints) -> tuple[Floats, Floats]:
        return self._sizes[0][places[:, 0]], self._sizes[1][places[:, 1]]

    def _jaccard(self, places: Ints, both: Floats) -> Floats:
        left, right = self._sizes_of(places)
        return _ratio(both, left + right - both)

    def _chance(self, places: Ints) -> Floats:
        left, right = self._sizes_of(places)
        expected = left * right / self._n
        return _ratio(expected, left + right - expected)

    def _score(self, jaccard: Floats, chance: Floats) -> Floats:
        if self._constraints.score == "jaccard":
            return jaccard
        return jaccard - chance

    def _of(self, places: Ints, both: Floats) -> Sizes:
        left, right = (np.minimum(size / self._n, 1.0) for size in self._sizes_of(places))
        joined = [side.sizes[own] for side, own in zip(self._sides, places.T, strict=True)]
        return Sizes(both, (left, right), (joined[0], joined[1]))

    def _settled(self, places: Ints, score: Floats) -> Ints:
        """Which of the allowed ones no step by one disjunct improves.

        A step to more disjuncts has to gain ``min_gain``; one to fewer may lose less than that.
        """
        gain = max(self._constraints.min_gain, _SAME)
        good = np.full((len(self._sides[0]), len(self._sides[1])), -np.inf, dtype=np.float32)
        good[places[:, 0], places[:, 1]] = score
        kept, own = np.arange(len(places)), score.astype(np.float32)
        for axis, side in enumerate(self._sides):
            for leaf in range(side.members.shape[1]):
                for steps, worth in ((side.more, gain), (side.fewer, -gain)):
                    there = places[kept]
                    there[:, axis] = steps[there[:, axis], leaf]
                    near = np.where(there[:, axis] >= 0, good[there[:, 0], there[:, 1]], -np.inf)
                    better = near - own[kept] >= worth if worth > 0 else near - own[kept] > worth
                    kept = kept[~better]
        return kept

    def _described(self, places: Ints, both: Floats) -> Candidates:
        """Numbers of some pairs of unions.

        Margins are those of the noise, and what the limit at zero moved: counts without it are
        expected to be right.
        """
        index, chance = self._jaccard(places, both), self._chance(places)
        left, right = self._sizes_of(places)
        free_both, free_index = self._free(places)
        cells, spread, alike = self._spread(places, index)
        error = math.sqrt(self._counts.variance) * standard_errors(alike, gaussian=self._counts.gaussian)
        margin = error * spread / np.maximum(left + right - both, 1e-9) + np.abs(free_index - index)
        return Candidates(
            unions=places,
            left=self._leaves(0, places[:, 0]),
            right=self._leaves(1, places[:, 1]),
            both=both,
            both_margin=self._counts.margin_of(cells) + np.abs(free_both - both),
            left_only=np.maximum(left - both, 0.0),
            right_only=np.maximum(right - both, 0.0),
            jaccard=index,
            margin=margin,
            chance=chance,
            score=self._score(index, chance),
            least_score=self._score(index - margin, chance),
        )

    def _free(self, places: Ints) -> tuple[Floats, Floats]:
        """Support and Jaccard index by counts without the limit at zero."""
        table = self._counts.free
        left, right = (side.members[own].astype(np.float64) for side, own in zip(self._sides, places.T, strict=True))
        both = np.einsum("ij,ij->i", left @ table, right)
        either = left @ table.sum(axis=1) + right @ table.sum(axis=0) - both
        return both, _ratio(both, either)

    def _spread(self, places: Ints, index: Floats) -> tuple[Floats, Floats, Floats]:
        """Counts in both sides; by how much noise moves the index, times those in either; how many alike would.

        A count in both moves it by (1 - index) / either, one in a single side by -index / either.
        """
        height, width = self._counts.table.shape
        joined = [side.sizes[own] for side, own in zip(self._sides, places.T, strict=True)]
        cells = joined[0] * joined[1]
        outside = joined[0] * width + joined[1] * height - 2 * cells
        moved = cells * (1 - index) ** 2 + outside * index**2
        fourth = cells * (1 - index) ** 4 + outside * index**4
        return cells, np.sqrt(moved), moved**2 / np.maximum(fourth, 1e-300)

    def _leaves(self, axis: int, own: Ints) -> Flags:
        reached = (self._counts.left, self._counts.right)[axis]
        members = np.zeros((len(own), self._counts.leaves[axis]), dtype=bool)
        members[:, reached] = self._sides[axis].members[own]
        return members


def _ratio(some: Floats, whole: Floats) -> Floats:
    return np.divide(some, whole, out=np.zeros_like(whole), where=whole > 1e-9)
