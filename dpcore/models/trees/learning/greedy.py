"""Trees grown greedily from the root down by the exponential mechanism.

:func:`grow_adaptive` is ADiffP (Borhan 2018, Algorithm 1, corrected); :func:`grow_fixed` is
DiffP-ID3 / DiffP-C4.5 (Friedman, Schuster 2010, Algorithm 2). Proofs: ``docs/privacy/trees.md``.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from decimal import ROUND_DOWN, Decimal
from fractions import Fraction
from typing import Protocol

import numpy as np

from dpcore.arrays import Ints
from dpcore.domain.columns import Column
from dpcore.models.trees.learning.contingency import ColumnCandidates, NodeData, nth_split, widest
from dpcore.models.trees.learning.criteria import (
    SplitCriterion,
    delta_score,
    delta_threshold,
    losses,
    shared_criterion,
)
from dpcore.models.trees.learning.driver import Level, Place, grow, noisy_total
from dpcore.models.trees.learning.growth import Grown
from dpcore.models.trees.learning.path_form import PURE, PathForm
from dpcore.models.trees.released.splits import Split
from dpcore.models.trees.released.tree_parameters import Criterion
from dpcore.privacy.randomness import RandomSource

#: A clear winner among the candidates is worth this many times the smallest budget.
BOOST = 5
#: Steps that a node may need: the delta test, a count and a selection at the higher price, and
#: the class counts of its children; and without the test, at the lower price.
_TESTED, UNTESTED = 1 + 2 * BOOST + 1, 3
#: No path is longer.
MAX_DEPTH = 64
#: Draws the columns that a node may be split on, from those that it could be. Sees no record.
AttributeSampler = Callable[[Sequence[Column]], Sequence[Column]]


class AdaptiveParameters(Protocol):
    """What :func:`grow_adaptive` needs to know; tree and forest parameters both have it."""

    @property
    def criterion(self) -> Criterion:
        """Loss of a split."""
        ...

    @property
    def threshold(self) -> float:
        """T of Algorithm 1."""
        ...

    @property
    def spend_rest(self) -> bool:
        """Whether a leaf's counts take all that the path has left."""
        ...


def grow_adaptive(
    data: NodeData,
    budget: Decimal,
    parameters: AdaptiveParameters,
    randomness: RandomSource,
    attribute_sampler: AttributeSampler | None = None,
) -> Grown:
    """Grow an ADiffP tree (Borhan 2018, Algorithm 1), unpruned.

    Guarantee: ``budget`` is an upper bound on the row-level epsilon, or rho, of every path, whatever is
    drawn, hence of the tree. Cost: O(levels x columns x max_rows).

    Deviations from the thesis: the delta score has its true sensitivity; a node starts only if
    its path can still pay for all that it may need, the histograms of its children included;
    trees of too few steps to pay for a test do without; log2 of the public number of rows
    replaces that of the exact one; the exponential mechanism uses that losses are monotone;
    trees have at most ``MAX_NODES`` nodes.

    Parameters
    ----------
    data : NodeData
    budget : Decimal
        Row-level epsilon of the tree, or rho, as ``data.form`` says; at least one step of it.
    parameters : AdaptiveParameters
    randomness : RandomSource
    attribute_sampler : callable, optional
        For forests.
    """
    return grow(data, budget, _Adaptive(data, budget, parameters, randomness, attribute_sampler), randomness)


def smallest_step(budget: Decimal, n_features: int, n_classes: int, max_rows: int, form: PathForm = PURE) -> Decimal:
    """The eps_min of Borhan (2018), eq. 3.13, with the public N, rounded down; may be 0."""
    steps = Decimal(max(1, n_features)) / n_classes * Decimal(max(1.0, math.log2(max_rows)))
    return (budget / steps).quantize(form.step, rounding=ROUND_DOWN)


class _Adaptive:
    """One visit of Algorithm 1."""

    def __init__(
        self,
        data: NodeData,
        budget: Decimal,
        parameters: AdaptiveParameters,
        randomness: RandomSource,
        sampler: AttributeSampler | None,
    ) -> None:
        n_classes, rows = data.n_classes, data.schema.max_rows
        self._data, self._randomness, self._sampler = data, randomness, sampler
        self._step = smallest_step(budget, len(data.features), n_classes, rows, data.form)
        self._criterion = shared_criterion(parameters.criterion, rows, n_classes)
        self._tests = budget >= _TESTED * self._step
        self._threshold, self._spend_rest = parameters.threshold, parameters.spend_rest

    def __call__(self, place: Place, room: int, level: Level) -> Split | Decimal:
        candidates = self._candidates(place)
        if not candidates or not self._affordable(place, candidates, room):
            at_most = place.left if self._step == 0 else min(place.left, BOOST * self._step)
            return place.left if self._spend_rest else at_most
        scores = _scores(self._data, self._criterion, candidates, level.cell_counts(place))
        price = self._price(place, scores)
        total = noisy_total(place, price, level, self._randomness)
        if self._stops(total, price, candidates):
            return place.left if self._spend_rest else price
        if len(scores) > 1:
            place.pay(price)
        return _select(self._data, self._criterion, candidates, scores, price, self._randomness)

    def _candidates(self, place: Place) -> list[ColumnCandidates]:
        candidates = self._data.candidates(place.region)
        if self._sampler is None or not candidates:
            return candidates
        chosen = {column.name for column in self._sampler([item.column for item in candidates])}
        return [item for item in candidates if item.column.name in chosen]

    def _affordable(self, place: Place, candidates: list[ColumnCandidates], room: int) -> bool:
        """All that the node may still need on its path, the counts of its children included."""
        return (
            self._step > 0
            and place.left >= (_TESTED if self._tests else UNTESTED) * self._step
            and place.depth < MAX_DEPTH
            and widest(candidates) <= room
        )

    def _price(self, place: Place, scores: Ints) -> Decimal:
        """Lines 6 to 9. A single candidate needs no test: there is nothing to choose."""
        if len(scores) < 2 or not self._tests:
            return self._step
        ahead, sensitivity = delta_score(scores.tolist(), self._criterion.unit)
        mechanism = self._data.form.noise(place.pay(self._step), sensitivity.value)
        noisy = int(mechanism.release(np.array([ahead]), self._randomness)[0])
        alike = noisy <= delta_threshold(self._threshold, Fraction(self._data.form.signal(self._step)))
        return self._step if alike else BOOST * self._step

    def _stops(self, total: int, price: Decimal, candidates: list[ColumnCandidates]) -> bool:
        """Line 11: too few records per branch and class for the noise."""
        cells = self._data.n_classes * widest(candidates)
        return Fraction(total) * Fraction(self._data.form.signal(price)) < Fraction(self._threshold) * cells


def grow_fixed(data: NodeData, budget: Decimal, criterion: Criterion, depth: int, randomness: RandomSource) -> Grown:
    """Grow a DiffP-ID3 tree of a fixed depth (Friedman, Schuster 2010, Algorithm 2), unpruned.

    Each level has budget / (depth + 1): half for a count, half for the selection. Deviations:
    the class counts of a leaf take all that its path has left, and a node that is a leaf for
    want of candidates buys no count; ordered columns are cut at public edges, so no budget goes
    into finding cut points; the exponential mechanism uses that losses are monotone.

    Raises
    ------
    BudgetError
        If the budget is too small for so many queries.
    """
    share = data.form.part(budget, 2 * (depth + 1))
    loss = shared_criterion(criterion, data.schema.max_rows, data.n_classes)

    def visit(place: Place, room: int, level: Level) -> Split | Decimal:
        candidates = data.candidates(place.region) if place.depth < depth else []
        if stops(place, share, candidates, room, level, data.n_classes, randomness):
            return place.left
        scores = _scores(data, loss, candidates, level.cell_counts(place))
        if len(scores) > 1:
            place.pay(share)
        return _select(data, loss, candidates, scores, share, randomness)

    return grow(data, budget, visit, randomness)


def stops(
    place: Place,
    price: Decimal,
    candidates: list[ColumnCandidates],
    room: int,
    level: Level,
    n_classes: int,
    randomness: RandomSource,
) -> bool:
    """Whether a node of a tree of fixed depth is a leaf; a count is bought only if it decides.

    Stop rule of Friedman and Schuster: fewer records per cell than the noise of a count.
    """
    if not candidates or widest(candidates) > room:
        return True
    total = noisy_total(place, price, level, randomness)
    return total * float(level.form.signal(price)) < math.sqrt(2) * n_classes * widest(candidates)


def _scores(data: NodeData, criterion: SplitCriterion, candidates: list[ColumnCandidates], counts: Ints) -> Ints:
    """Loss of every candidate, columns in order."""
    return np.concatenate([losses(criterion, item.tables(data.of_column(counts, item.column))) for item in candidates])


def _select(
    data: NodeData,
    criterion: SplitCriterion,
    candidates: list[ColumnCandidates],
    scores: Ints,
    price: Decimal,
    randomness: RandomSource,
) -> Split:
    index = 0
    if len(scores) > 1:
        mechanism = data.form.selection(price, criterion.sensitivity.value)
        index = mechanism.select(-scores, randomness)
    return nth_split(data.schema, candidates, index)
