"""Both sides of a redescription drawn together and exactly, from two conditions a side.

The candidates are all pairs of two literals on the left and two on the right. Their utility is
the best agreement of a union on the left and one on the right, and the exponential mechanism
over all of them is sampled exactly: first the left literals, with the weights of all right ones
added up, then the right literals. The counts behind all candidates are made once and serve every
search. Compare Algorithm 5 of Mihelčić and Miettinen (2023), which walks over pairs of trees at
random.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from decimal import Decimal
from typing import Final, NamedTuple

import numpy as np

from dpcore.arrays import Flags, Floats, Ints, Ints32, Words
from dpcore.compiled import kernel
from dpcore.cores import in_threads
from dpcore.data.bits import count_bits, count_both, intersect
from dpcore.data.partition import Partition
from dpcore.data.table import PrivateTable
from dpcore.models.redescriptions.learning.queries import AGREEMENT
from dpcore.models.redescriptions.learning.views import Sets
from dpcore.models.trees.learning.lookahead import ExactWeight, float_error
from dpcore.privacy.mechanisms import weighted_index
from dpcore.privacy.randomness import RandomSource, uniforms

#: Most candidates, for memory; and most words visited, some minutes.
_MOST: Final = 30_000_000
_MOST_WORDS: Final = 2 * 10**11
#: What a candidate costs beside its words, in words. As measured.
_OVERHEAD: Final = 150
#: Choices of a draw: the left literals, then the right ones.
_CHOICES: Final = 2
#: Parts in which the candidates are compared, for progress.
PARTS: Final = 10
#: Unions of the cells (both, first only, second only, neither) of two literals, as bit sets:
#: "and", "or" and single literals with all signs. Of two complements one is enough on the left.
_LEFT_UNIONS = np.array([1, 2, 4, 8, 3, 5])
_RIGHT_UNIONS = np.array([1, 2, 4, 8, 3, 5, 14, 13, 11, 7, 12, 10])


def candidate_counts(left: int, right: int, words: int) -> tuple[int, int]:
    """How many pairs of literals of each view are candidates, from their numbers of literals.

    All of them if time and memory allow, else about as many on both sides.
    """
    most = min(_MOST, _MOST_WORDS // (words + _OVERHEAD))
    pairs = [size * (size + 1) // 2 for size in (left, right)]
    first = max(left, min(pairs[0], math.isqrt(most)))
    second = max(right, min(pairs[1], most // first))
    first = max(left, min(pairs[0], most // second))
    return first, second


def candidate_pairs(literals: int, count: int, randomness: RandomSource) -> Ints:
    """Pairs of literals, each single one (twice the same) among them: shape (count, 2).

    All pairs, or a public random choice of them.
    """
    first, second = np.triu_indices(literals, 1)
    room = count - literals
    if room < len(first):
        kept = np.sort(np.argsort(uniforms(randomness, len(first)), kind="stable")[:room])
        first, second = first[kept], second[kept]
    single = np.arange(literals)
    pairs = np.stack([np.concatenate([single, first]), np.concatenate([single, second])], axis=1)
    return pairs[np.lexsort((pairs[:, 1], pairs[:, 0]))].astype(np.int64)


def pair_weight(epsilon: Decimal, max_rows: int, right: int) -> ExactWeight:
    """Weight of one step of agreement such that a draw costs at most ``epsilon``.

    Agreements of two candidates move apart by at most 2 records
    (:data:`dpcore.models.redescriptions.learning.queries.AGREEMENT`, either way).

    Parameters
    ----------
    right : int
        Number of right candidates, whose weights are added up.

    Raises
    ------
    BudgetError
        If no positive weight does.
    """
    return ExactWeight.within(epsilon, 2 * AGREEMENT.value, _CHOICES, float_error(1, right, 1), max_rows)


@dataclass(frozen=True)
class ExactPairs:
    """Agreement of every candidate. Exact, so it must not leave the learner.

    Attributes
    ----------
    left, right : arrays of shape (n_left, 2) and (n_right, 2)
        Candidates: two literals each.
    agreements : array of shape (n_left, n_right), int32
    """

    left: Ints
    right: Ints
    agreements: Ints32

    @classmethod
    def compare(
        cls,
        table: PrivateTable,
        left_literals: Sets,
        right_literals: Sets,
        left: Ints,
        right: Ints,
        told: Callable[[int], None],
    ) -> ExactPairs:
        """Work out the agreement of every left candidate with every right one, on all cores.

        Parameters
        ----------
        left_literals, right_literals : Sets
        told : callable
            Told how many of :data:`PARTS` parts are done.
        """
        agreements = np.empty((len(left), len(right)), dtype=np.int32)
        few = table.total(_few_literals, left_literals, right_literals, right)
        single = np.flatnonzero(right[:, 0] == right[:, 1])
        parts = zip(np.array_split(left, PARTS), np.array_split(agreements, PARTS), strict=True)
        for part, (rows, own) in enumerate(parts):
            fours = table.total(_together, left_literals, right_literals, rows, right)
            in_threads(lambda which: _agree(*few, fours, rows, right, single, which, own), len(rows))  # noqa: B023
            told(part + 1)
        return cls(left, right, agreements)

    def draw(
        self,
        weight: ExactWeight,
        free_left: Flags,
        free_right: Flags,
        randomness: RandomSource,
    ) -> tuple[int, int]:
        """Draw a candidate with probability proportional to exp(weight x agreement).

        Parameters
        ----------
        free_left, free_right : bool arrays of shape (n_left,) and (n_right,)
            Candidates to draw from: a function of what was released.

        Returns
        -------
        (int, int)
            Positions in ``left`` and ``right``.
        """
        rows, columns = np.flatnonzero(free_left), np.flatnonzero(free_right)
        bests, rests = np.empty(len(rows), dtype=np.int64), np.empty(len(rows))
        in_threads(
            lambda which: _fold(self.agreements, rows, columns, which, weight.value, bests, rests),
            len(rows),
        )
        scale = 2.0**weight.bits
        left = rows[weighted_index(weight.scores(bests, rests), scale, randomness)]
        values = self.agreements[left, columns].astype(np.int64)
        chosen = weighted_index(weight.numerator * (values - values.max()), scale, randomness)
        return int(left), int(columns[chosen])


@kernel
def _fold(
    agreements: Ints32,
    rows: Ints,
    columns: Ints,
    which: Ints,
    weight: float,
    bests: Ints,
    rests: Floats,
) -> None:
    """Log of the summed weights of some rows, as weight x best + rest."""
    for place in which:
        row = rows[place]
        best = agreements[row, columns[0]]
        for column in columns:
            best = max(best, agreements[row, column])
        total = 0.0
        for column in columns:
            total += math.exp(weight * (agreements[row, column] - best))
        bests[place], rests[place] = best, math.log(total)


class _Few(NamedTuple):
    """Records that satisfy up to two literals of a view, and one of the left with two of the right.

    Attributes
    ----------
    people : array of shape (1, 1)
        All records.
    left, right : arrays of shape (n_left, n_left) and (n_right, n_right)
    threes : array of shape (n_left, n_right_candidates), int32
    """

    people: Ints
    left: Ints
    right: Ints
    threes: Ints32


def _few_literals(partition: Partition, left_literals: Sets, right_literals: Sets, right: Ints) -> _Few:
    """Kernel: what all parts of the candidates need."""
    ours, theirs, everyone = left_literals(partition), right_literals(partition), partition.members("all")[None]
    single = np.repeat(np.arange(len(ours))[:, None], 2, axis=1)
    threes = _together(partition, left_literals, right_literals, single, right)
    return _Few(count_bits(everyone, everyone), count_bits(ours, ours), count_bits(theirs, theirs), threes)


def _together(partition: Partition, left_literals: Sets, right_literals: Sets, left: Ints, right: Ints) -> Ints32:
    """Kernel: records that satisfy all literals of two candidates: shape (n_left, n_right)."""
    ours, theirs = left_literals(partition), right_literals(partition)
    counts = np.empty((len(left), len(right)), dtype=np.int32)
    in_threads(lambda which: _count_candidates(ours, theirs, left, right, which, counts), len(left))
    return counts


@kernel
def _count_candidates(
    left_literals: Words, right_literals: Words, left: Ints, right: Ints, which: Ints, counts: Ints32
) -> None:
    """Count some left candidates with all right ones, sorted by their first literal."""
    mine = np.empty(right_literals.shape[1], dtype=np.uint64)
    for p in which:
        i, j = left[p, 0], left[p, 1]
        current = np.int64(-1)
        for q in range(right.shape[0]):
            a, b = right[q, 0], right[q, 1]
            if a != current:
                current = a
                intersect(left_literals[i], left_literals[j], right_literals[a], mine)
            counts[p, q] = count_both(mine, right_literals[b])


@kernel
def _agree(
    people: Ints,
    left_pairs: Ints,
    right_pairs: Ints,
    threes: Ints32,
    fours: Ints32,
    left: Ints,
    right: Ints,
    single: Ints,
    which: Ints,
    agreements: Ints32,
) -> None:
    """Agreements of some left candidates with all right ones.

    All 16 cells of four literals follow from counts of literals that hold together. Those with one
    literal on the right are the counts of ``single`` candidates, the same literal twice.
    """
    size = right_pairs.shape[0]
    totals, alone = np.empty(4, dtype=np.int64), np.empty((4, size), dtype=np.int64)
    table = np.empty((4, 4), dtype=np.int64)
    for p in which:
        i, j = left[p, 0], left[p, 1]
        totals[0] = left_pairs[i, j]
        totals[1], totals[2] = left_pairs[i, i] - totals[0], left_pairs[j, j] - totals[0]
        totals[3] = people[0, 0] - totals[0] - totals[1] - totals[2]
        for a in range(size):
            alone[0, a] = fours[p, single[a]]
            alone[1, a] = threes[i, single[a]] - alone[0, a]
            alone[2, a] = threes[j, single[a]] - alone[0, a]
            alone[3, a] = right_pairs[a, a] - alone[0, a] - alone[1, a] - alone[2, a]
        for q in range(right.shape[0]):
            a, b = right[q, 0], right[q, 1]
            table[0, 0] = fours[p, q]
            table[1, 0] = threes[i, q] - table[0, 0]
            table[2, 0] = threes[j, q] - table[0, 0]
            table[3, 0] = right_pairs[a, b] - table[0, 0] - table[1, 0] - table[2, 0]
            for m in range(4):
                table[m, 1] = alone[m, a] - table[m, 0]
                table[m, 2] = alone[m, b] - table[m, 0]
                table[m, 3] = totals[m] - alone[m, a] - alone[m, b] + table[m, 0]
            agreements[p, q] = best_agreement(table)


@kernel
def best_agreement(table: Ints) -> np.int64:
    """Best agreement of a union of rows and a union of columns of a table of shape (4, 4).

    The agreement of two sets is min(both, neither) - left only - right only, so a set and its
    complement on either side count the same. Sensitivity
    :data:`dpcore.models.redescriptions.learning.queries.AGREEMENT`.
    """
    best = np.int64(-(2**62))
    for k in range(len(_LEFT_UNIONS)):
        # Records of each column inside and outside of the left union; spelled out, as an array
        # here would take most of the time.
        in0 = in1 = in2 = in3 = np.int64(0)
        out0 = out1 = out2 = out3 = np.int64(0)
        for m in range(4):
            if (_LEFT_UNIONS[k] >> m) & 1:
                in0, in1 = in0 + table[m, 0], in1 + table[m, 1]
                in2, in3 = in2 + table[m, 2], in3 + table[m, 3]
            else:
                out0, out1 = out0 + table[m, 0], out1 + table[m, 1]
                out2, out3 = out2 + table[m, 2], out3 + table[m, 3]
        inside, outside = in0 + in1 + in2 + in3, out0 + out1 + out2 + out3
        for r in range(len(_RIGHT_UNIONS)):
            union = _RIGHT_UNIONS[r]
            both = right_only = np.int64(0)
            if union & 1:
                both, right_only = both + in0, right_only + out0
            if union & 2:
                both, right_only = both + in1, right_only + out1
            if union & 4:
                both, right_only = both + in2, right_only + out2
            if union & 8:
                both, right_only = both + in3, right_only + out3
            agreed = min(both, outside - right_only)
            best = max(best, agreed - (inside - both) - right_only)
    return best
