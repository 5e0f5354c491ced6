"""Exact draws from the exponential mechanism over every binary tree of a small depth.

A block of depth L puts a split, any of the public ones, at each of its 2^L - 1 inner nodes.
Its utility is a sum over its leaves, so the sum of exp(weight x utility) over all blocks
factors over subtrees, and a block is drawn from the root down:

    Z(node, 0) = mean over labels c of exp(weight x count_c), or exp(weight x utility),
    Z(node, d) = sum over splits s of prior(s) Z(node and s, d - 1) Z(node and not s, d - 1).

Every node is a conjunction of at most three signed literals, whose class counts follow from
those of the unsigned conjunctions by inclusion and exclusion. A conjunction does not depend
on the order of its literals, so each is counted once and each pair is summed once.

Z is kept as exp(weight x best) exp(rest): ``best`` an exact integer, the largest utility
below the node, and ``rest`` a small float. Scores of splits are integers, exact but for the
rounding of ``rest``; what this can add to the privacy loss is bounded in :class:`ExactWeight`
and taken from the budget. Proof: ``docs/privacy/trees.md``.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from decimal import Decimal
from fractions import Fraction
from typing import Final

import numpy as np

from dpcore.arrays import Floats, Ints
from dpcore.cores import in_threads
from dpcore.errors import BudgetError
from dpcore.learning.exact_draws.joint_counts import JointCounts, triple_starts
from dpcore.learning.exact_draws.pair_values import GRID, LEAF_UTILITIES, LEAST_EXPONENT, LeafUtility, fill_pairs
from dpcore.privacy.losses import selection_rho
from dpcore.privacy.mechanisms import weighted_draws
from dpcore.privacy.randomness import RandomSource

#: Deepest block.
MAX_DEPTH: Final = 3
#: Fractional bits of a score, unless large scores leave room for fewer.
_BITS: Final = 36
#: A node of a block: each literal above it, and whether it does not hold (0 holds, 1 not).
Path = tuple[tuple[int, int], ...]


@dataclass(frozen=True)
class ExactWeight:
    """Weight of one step of utility, numerator / 2^bits, such that a draw costs ``epsilon``.

    The exact mechanism with this weight costs weight x reach, where reach is how far one
    record can move the utilities of two blocks apart: the largest worth of a record for ``labelled``
    and ``correct`` (monotone), and 2 for ``purity`` (sensitivity 1, either direction). Each of
    the ``choices`` splits of a block is drawn with scores that are off by at most ``error``,
    so with a log-probability that is off by at most 2 error, on each of two neighbours: the
    draw costs at most 4 x choices x error more, ``slack``. The weight is lowered by that. The
    logarithms of its probability ratios lie in a range of length epsilon + ``slack``.
    """

    numerator: int
    bits: int
    error: float
    slack: float

    @classmethod
    def fit(
        cls,
        utility: LeafUtility,
        depth: int,
        epsilon: Decimal,
        max_rows: int,
        splits: int,
        classes: int,
        largest: int = 1,
    ) -> ExactWeight:
        """Largest weight whose draw costs at most ``epsilon``.

        Parameters
        ----------
        largest : int
            Largest worth of a record, in ``labelled`` and ``correct``.

        Raises
        ------
        BudgetError
            If no positive weight does.
        """
        reach = 2 * GRID if utility == "purity" else largest
        rest = float_error(depth, splits, classes)
        return cls.within(epsilon, reach, 2**depth - 1, rest, max_rows)

    @classmethod
    def within(cls, epsilon: Decimal, reach: int, choices: int, rest_error: float, max_rows: int) -> ExactWeight:
        """Largest weight such that ``choices`` choices together cost at most ``epsilon``.

        Parameters
        ----------
        reach : int
            How far one record can move two utilities apart, in steps.
        rest_error : float
            Bound on the error of what is added to weight x utility.

        Raises
        ------
        BudgetError
            If no positive weight does.
        """
        largest = float(epsilon) * max_rows + 128
        bits = min(_BITS, 61 - math.ceil(math.log2(largest)))
        error = 2.0 ** -(bits + 1) + rest_error
        slack = 4 * choices * Fraction(error)
        numerator = math.floor((Fraction(epsilon) - slack) * 2**bits / reach)
        if numerator < 1:
            raise BudgetError("This epsilon is too small to choose by: use a larger one.")
        return cls(numerator, bits, error, float(slack))

    @property
    def value(self) -> float:
        """The weight as a number."""
        return math.ldexp(self.numerator, -self.bits)

    def rho(self, epsilon: Decimal) -> Decimal:
        """Zero-concentrated loss of a person by a draw that costs them ``epsilon``."""
        return selection_rho(epsilon + Decimal(2 * self.slack))

    def scores(self, bests: Ints, rests: Floats) -> Ints:
        """Integer scores, in steps of 2^-bits, of candidates exp(weight best + rest)."""
        rounded = np.rint(np.ldexp(rests, self.bits)).astype(np.int64)
        return np.asarray(self.numerator * (bests - bests.max()) + rounded)


def float_error(depth: int, splits: int, classes: int) -> float:
    """Bound on the error of ``rest`` at the root's splits; see the proof.

    A level takes the log of a sum of positive terms exp(x), |x| at most 128 where it matters,
    and adds two values of the level below.
    """
    unit = 2.0**-52
    error = 4 * (classes + 130) * unit
    for _ in range(depth):
        error = 2 * error + 4 * (splits + 130) * unit
    return error


@dataclass(frozen=True)
class Block:
    """A drawn block.

    Attributes
    ----------
    splits : tuple of int
        Split of each inner node in heap order: the records that satisfy the split of node i
        go to node 2i + 1, the others to node 2i + 2.
    labels : tuple of int or None
        Class of each leaf, left to right; ``None`` unless the utility is ``labelled``.
    """

    splits: tuple[int, ...]
    labels: tuple[int, ...] | None


def draw_block(
    joint: JointCounts,
    log_prior: Floats,
    depth: int,
    utility: LeafUtility,
    weight: ExactWeight,
    randomness: RandomSource,
    class_weights: Ints | None = None,
) -> Block:
    """Draw a block with probability proportional to prior x exp(weight x utility).

    Sensitivity 1, or the largest weight (``labelled``, ``correct``: monotone): a record is in one leaf of a block.

    Parameters
    ----------
    joint : JointCounts
        Of the splits to choose from, counted to ``depth``.
    log_prior : array of shape (n_literals,)
        Public log-probability of each split; a block's prior is the product over its nodes.
        Labels have a uniform prior.
    depth : int
        1 to 3.
    class_weights : array of shape (n_classes,), optional
        Weight of the records of each class in ``labelled`` and ``correct``, at most that for which ``weight``
        was fitted. Default: 1 each.
    """
    problem = _Problem(joint, log_prior, depth, utility, weight, class_weights)
    draw = weighted_draws(2.0**weight.bits, randomness)
    splits, nodes = list[int](), [(Path(), joint.none)]  # The nodes in heap order, with their records per class.
    for place in range(2**depth - 1):
        path, here = nodes[place]
        holds = beside(joint, path)
        (chosen,) = draw(weight.scores(*problem.candidates(path, here, holds))[None]).tolist()
        splits.append(chosen)
        nodes += [((*path, (chosen, 0)), holds[chosen]), ((*path, (chosen, 1)), here - holds[chosen])]
    if utility != "labelled":
        return Block(tuple(splits), None)
    values = problem.class_weights * np.array([counts for _, counts in nodes[-(2**depth) :]])
    labels = draw(weight.numerator * (values - values.max(axis=1, keepdims=True)))
    return Block(tuple(splits), tuple(labels.tolist()))


def beside(joint: JointCounts, path: Path, held: frozenset[int] = frozenset()) -> Ints:
    """Records per class at a node that satisfy each literal too: shape (n_literals, n_classes).

    By inclusion and exclusion of what does not hold on the path, of two literals at most.

    Parameters
    ----------
    held : set of int
        Further literals that hold.
    """
    if not path:
        return _all_of(joint, held)
    (literal, side), *rest = path
    both = beside(joint, tuple(rest), held | {literal})
    return beside(joint, tuple(rest), held) - both if side else both


def _all_of(joint: JointCounts, literals: frozenset[int]) -> Ints:
    """Records per class that satisfy up to two literals and each one more."""
    if not literals:
        return joint.ones
    first, *more = sorted(literals)
    if not more:
        return np.asarray(joint.twos[first])
    (second,), size = more, len(joint.ones)
    counts = np.broadcast_to(joint.twos[first, second], joint.ones.shape).copy()
    others = np.setdiff1d(np.arange(size), (first, second))
    triples = np.stack([np.full(len(others), first), np.full(len(others), second), others])
    low, middle, high = np.sort(triples, axis=0)
    counts[others] = joint.threes[triple_starts(size)[low, middle] + high - middle - 1]
    return counts


def _weighed(exponents: Floats) -> Floats:
    """Exp of numbers that are not positive, as :func:`~dpcore.learning.exact_draws.pair_values.weighed`."""
    return np.asarray(np.exp(np.maximum(exponents, LEAST_EXPONENT)))


class _Problem:
    """Values of all nodes of all blocks over one set of records."""

    def __init__(
        self,
        joint: JointCounts,
        log_prior: Floats,
        depth: int,
        utility: LeafUtility,
        weight: ExactWeight,
        class_weights: Ints | None = None,
    ) -> None:
        self._joint, self._prior = joint, log_prior
        self.class_weights = np.ones(len(joint.none), dtype=np.int64) if class_weights is None else class_weights
        self._depth, self._kind, self._weight = depth, LEAF_UTILITIES.index(utility), weight.value
        if depth == MAX_DEPTH:
            self._pairs = self._pair_values()
        if depth > 1:
            self._singles = self._single_values()

    def candidates(self, path: Path, here: Ints, holds: Ints) -> tuple[Ints, Floats]:
        """Best utility and rest of each split at a node: two arrays of shape (n_literals,).

        Parameters
        ----------
        here, holds : arrays of shape (n_classes,) and (n_literals, n_classes)
            Records per class at the node, and of those that satisfy each literal too.
        """
        if self._depth - len(path) == 1:
            return self._split(holds, here - holds)
        bests, rests = self._singles
        if path:
            literal, side = path[0]
            bests, rests = self._pairs[0][literal, :, side], self._pairs[1][literal, :, side]
        return bests.sum(axis=1), rests.sum(axis=1) + self._prior

    def _split(self, holds: Ints, fails: Ints) -> tuple[Ints, Floats]:
        """Values of splits, along the axis before the classes, into two leaves each."""
        (best, rest), (other_best, other_rest) = self._leaves(holds), self._leaves(fails)
        return best + other_best, rest + other_rest + self._prior

    def _leaves(self, counts: Ints) -> tuple[Ints, Floats]:
        """Values of leaves with these class counts, classes last."""
        if LEAF_UTILITIES[self._kind] == "purity":
            whole = counts.sum(axis=-1)
            return GRID * (counts**2).sum(axis=-1) // np.maximum(whole, 1), np.zeros(whole.shape)
        values = counts * self.class_weights
        best = values.max(axis=-1)
        if LEAF_UTILITIES[self._kind] == "correct":
            return best, np.zeros(best.shape)
        return best, np.log(_weighed(self._weight * (values - best[..., None])).mean(axis=-1))

    def _fold(self, values: tuple[Ints, Floats]) -> tuple[Ints, Floats]:
        """Sum over splits, along the last axis."""
        bests, rests = values
        best = bests.max(axis=-1)
        terms = _weighed(self._weight * (bests - best[..., None]) + rests)
        return best, np.log(terms.sum(axis=-1))

    def _single_values(self) -> tuple[Ints, Floats]:
        """Z of nodes one split deep: two arrays of shape (n_literals, 2)."""
        if self._depth == MAX_DEPTH:
            bests, rests = (values.sum(axis=3).swapaxes(1, 2) for values in self._pairs)
            return self._fold((bests, rests + self._prior))
        sides = [self._fold(self._last_splits_of_all(side)) for side in (0, 1)]
        return np.stack([s[0] for s in sides], axis=1), np.stack([s[1] for s in sides], axis=1)

    def _last_splits_of_all(self, side: int) -> tuple[Ints, Floats]:
        """Splits, along the last axis, of every node one split deep, to leaves."""
        joint = self._joint
        node = joint.none - joint.ones if side else joint.ones
        holds = joint.ones[None] - joint.twos if side else joint.twos
        return self._split(holds, node[:, None] - holds)

    def _pair_values(self) -> tuple[Ints, Floats]:
        """Z of nodes two splits deep: two arrays of shape (n_literals, n_literals, 2, 2)."""
        joint, size = self._joint, len(self._prior)
        bests, rests = np.zeros((size, size, 2, 2), dtype=np.int64), np.zeros((size, size, 2, 2))
        counts = joint.none, joint.ones, joint.twos, joint.threes, triple_starts(size)
        prior, weights, kind, weight = self._prior, self.class_weights, self._kind, self._weight
        in_threads(lambda firsts: fill_pairs(*counts, firsts, prior, weights, kind, weight, bests, rests), size)
        same = np.arange(size)
        empty = np.zeros((size, len(joint.none)), dtype=np.int64)
        nothing = self._fold(self._split(empty, empty))
        for side in (0, 1):
            again = self._fold(self._last_splits_of_all(side))
            bests[same, same, side, side], rests[same, same, side, side] = again
            bests[same, same, side, 1 - side], rests[same, same, side, 1 - side] = nothing
        return bests, rests
