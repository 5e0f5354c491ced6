"""Both sides of a redescription drawn together and exactly, from two conditions a side.

The candidates are all pairs of two literals on the left and two on the right. Their utility is
the best agreement of a union on the left and one on the right, as it is or beyond chance, and the
exponential mechanism over all of them is sampled exactly: first the left literals, with the
weights of all right ones added up, then the right literals. The counts behind all candidates are
made once and serve every search. Compare Algorithm 5 of Mihelčić and Miettinen (2023), which
walks over pairs of trees at random.
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
from dpcore.learning.exact_draws.lookahead import ExactWeight, float_error
from dpcore.learning.exact_draws.pair_values import weighed
from dpcore.models.redescriptions.learning.redescription_queries import AGREEMENT
from dpcore.models.redescriptions.learning.views import Sets
from dpcore.privacy.mechanisms import weighted_draws
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
#: Unions of the cells (both, first only, second only, neither) of two literals: "and", "or" and
#: single literals with all signs. Of two complements one is enough. A second cell of 0 is none.
_UNIONS = np.array([[0, 0], [1, 0], [2, 0], [3, 0], [0, 1], [0, 2]])
#: Candidates that are compared at a time.
_BLOCK = 128
#: Steps in which a record is weighed are at most 2 to the first; and bits of what is kept for a candidate.
_FINEST_BITS: Final = 8
_KEPT_BITS: Final = 31


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


def agreement_steps(max_rows: int) -> int:
    """Steps in which a record is weighed: utilities are at most half of all records, and fit into 32 bits."""
    return 1 << min(_FINEST_BITS, _KEPT_BITS + 1 - max_rows.bit_length())


def pair_weight(epsilon: Decimal, max_rows: int, right: int) -> ExactWeight:
    """Weight of one step of either utility such that a draw costs at most ``epsilon``.

    Utilities of two candidates move apart by at most 2 records
    (:data:`dpcore.models.redescriptions.learning.redescription_queries.AGREEMENT`, either way), each of
    :func:`agreement_steps` steps.

    Parameters
    ----------
    right : int
        Number of right candidates, whose weights are added up.

    Raises
    ------
    BudgetError
        If no positive weight does.
    """
    reach = 2 * AGREEMENT.value * agreement_steps(max_rows)
    return ExactWeight.within(epsilon, reach, _CHOICES, float_error(1, right, 1), max_rows)


@dataclass(frozen=True)
class ExactPairs:
    """Both utilities of every candidate. Exact, so they must not leave the learner.

    Attributes
    ----------
    left, right : arrays of shape (n_left, 2) and (n_right, 2)
        Candidates: two literals each.
    agreements, excesses : arrays of shape (n_left, n_right), int32
        As :func:`best_utilities` has them, in steps.
    """

    left: Ints
    right: Ints
    agreements: Ints32
    excesses: Ints32

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
        """Work out the utilities of every left candidate with every right one, on all cores.

        Parameters
        ----------
        left_literals, right_literals : Sets
        told : callable
            Told how many of :data:`PARTS` parts are done.
        """
        agreements, excesses = (np.empty((len(left), len(right)), dtype=np.int32) for _ in range(2))
        steps = agreement_steps(table.schema.max_rows)
        few = table.total(_few_literals, left_literals, right_literals, right)
        single = np.flatnonzero(right[:, 0] == right[:, 1])
        parts = zip(*(np.array_split(each, PARTS) for each in (left, agreements, excesses)), strict=True)
        for part, (rows, *own) in enumerate(parts):
            fours = table.total(_together, left_literals, right_literals, rows, right)
            in_threads(lambda which: _agree(*few, fours, rows, right, single, which, steps, *own), len(rows))  # noqa: B023
            told(part + 1)
        return cls(left, right, agreements, excesses)

    def draw(
        self,
        weight: ExactWeight,
        beyond_chance: bool,
        free_left: Flags,
        free_right: Flags,
        randomness: RandomSource,
    ) -> tuple[int, int]:
        """Draw a candidate with probability proportional to exp(weight x utility).

        Parameters
        ----------
        beyond_chance : bool
            Whether the utility is the excess, and not the agreement: a function of what was released.
        free_left, free_right : bool arrays of shape (n_left,) and (n_right,)
            Candidates to draw from: a function of what was released.

        Returns
        -------
        (int, int)
            Positions in ``left`` and ``right``.
        """
        utilities = self.excesses if beyond_chance else self.agreements
        rows, columns = np.flatnonzero(free_left), np.flatnonzero(free_right)
        bests, rests = np.empty(len(rows), dtype=np.int64), np.empty(len(rows))
        in_threads(
            lambda which: _fold(utilities, rows, columns, which, weight.value, bests, rests),
            len(rows),
        )
        draw = weighted_draws(2.0**weight.bits, randomness)
        left = rows[draw(weight.scores(bests, rests)[None])[0]]
        values = utilities[left, columns].astype(np.int64)
        (chosen,) = draw(weight.numerator * (values - values.max())[None])
        return int(left), int(columns[chosen])


@kernel
def _fold(
    utilities: Ints32,
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
        best = np.int64(utilities[row, columns[0]])
        for column in columns:
            best = max(best, np.int64(utilities[row, column]))
        total = 0.0
        for column in columns:
            total += weighed(weight * (utilities[row, column] - best))
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
    steps: int,
    agreements: Ints32,
    excesses: Ints32,
) -> None:
    """Both utilities of some left candidates with all right ones: shapes (n_left, n_right).

    All 16 cells of four literals follow from counts of literals that hold together. Those with one
    literal on the right are the counts of ``single`` candidates, the same literal twice.
    """
    size = right_pairs.shape[0]
    totals, alone = np.empty(4), np.empty((4, size))
    cells = np.zeros((4, 4, _BLOCK))
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
        for first in range(0, right.shape[0], _BLOCK):
            many = min(_BLOCK, right.shape[0] - first)
            for place in range(many):
                q = first + place
                a, b = right[q, 0], right[q, 1]
                cells[0, 0, place] = fours[p, q]
                cells[1, 0, place] = threes[i, q] - fours[p, q]
                cells[2, 0, place] = threes[j, q] - fours[p, q]
                cells[3, 0, place] = right_pairs[a, b] - threes[i, q] - threes[j, q] + fours[p, q]
                for m in range(4):
                    cells[m, 1, place] = alone[m, a] - cells[m, 0, place]
                    cells[m, 2, place] = alone[m, b] - cells[m, 0, place]
                    cells[m, 3, place] = totals[m] - alone[m, a] - alone[m, b] + cells[m, 0, place]
            best = best_utilities(cells, steps)
            agreements[p, first : first + many] = best[0, :many]
            excesses[p, first : first + many] = best[1, :many]


@kernel
def best_utilities(cells: Floats, steps: int) -> Ints32:
    """Best agreement, and best excess, of a union of rows and a union of columns of tables, in steps.

    With b records in both sets, l and r in one of them only and t in neither, the agreement is
    min(b, t) - l - r. The excess is what they agree beyond chance: the smaller of
    (b t - l r) / max(b, l, r, t), which is 0 for independent sets, and max(b, t) - l - r, but at
    least 0. Complements are compared alike. Sensitivity of both
    :data:`dpcore.models.redescriptions.learning.redescription_queries.AGREEMENT`; the excess is counted in
    steps of 1 / (steps - 1/2) records and rounded down, so that it moves by whole ``steps`` at most.

    Parameters
    ----------
    cells : array of shape (4, 4, n)
        Counts of records of n tables.
    steps : int
        Of a record.

    Returns
    -------
    array of shape (2, n)
        Agreements and excesses.
    """
    size = cells.shape[2]
    inside, outside = np.empty((4, size)), np.empty((4, size))
    best, most = np.full(size, -np.inf), np.zeros(size)
    for k in range(len(_UNIONS)):
        inside[:], outside[:] = 0.0, 0.0
        for m in range(4):
            if m == _UNIONS[k, 0] or (m == _UNIONS[k, 1] and m > 0):
                inside += cells[m]
            else:
                outside += cells[m]
        for n in range(len(_UNIONS)):
            # A single cell of the right side, or the first one with another. Written as one loop
            # over tables without a branch, which the machine's vector units take many at a time.
            first, second = _UNIONS[n]
            with_second = 1.0 if second > 0 else 0.0
            for q in range(size):
                both = inside[first, q] + with_second * inside[second, q]
                right_only = outside[first, q] + with_second * outside[second, q]
                left_only = inside[0, q] + inside[1, q] + inside[2, q] + inside[3, q] - both
                neither = outside[0, q] + outside[1, q] + outside[2, q] + outside[3, q] - right_only
                alike, apart = both + neither, left_only + right_only
                more, larger = max(both, neither), max(left_only, right_only)
                # As they are, and the right set with its complement in its place.
                agreed = max(alike - more - apart, apart - larger - alike)
                best[q] = agreed if agreed > best[q] else best[q]
                excess = both * neither - left_only * right_only
                overlap = more - apart if excess > 0 else larger - alike
                beyond = min(overlap, abs(excess) / max(more, larger, 1.0))
                most[q] = beyond if beyond > most[q] else most[q]
    utilities = np.empty((2, size), dtype=np.int32)
    for q in range(size):
        utilities[0, q] = np.int32(steps * best[q])
        utilities[1, q] = np.int32((steps - 0.5) * most[q])
    return utilities
