"""Cyclic boosting over features, in independent replicates.

Replicates share the budget and start alike, but draw their own noise: their mean is the model,
and their spread shows what the noise did, with everything that features do to each other. They
take turns together: one question asks for the sums of all of them. A question that asks for many columns at
once looks at scores and residuals once, and columns of few bins share one code of every place, so that it is
looked at once for all of them.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np

from dpcore.arrays import Floats, Ints
from dpcore.data.table import PrivateTable
from dpcore.models.ebm.learning.accounting import burn_in
from dpcore.models.ebm.learning.grid import count_deviation, noisy_histograms
from dpcore.models.ebm.learning.records import Binning
from dpcore.models.ebm.learning.scores import Shapes, residual_sizes, residual_sums
from dpcore.models.ebm.learning.start import BoostingStart, narrow
from dpcore.models.ebm.learning.steps import Step
from dpcore.privacy.mechanisms import FineGaussian
from dpcore.privacy.randomness import RandomSource, public_generator

#: Shapes of each feature: arrays of shape (n_replicates, n_bins, n_outputs).
Learned = list[Floats]


@dataclass(frozen=True)
class Course:
    """One boosting course of all replicates."""

    table: PrivateTable
    shapes: Shapes
    """All shapes, those to learn still flat."""
    first: int
    """The first table of shapes to learn: those before stay as they are."""
    turns: FeatureTables
    """Which features have their turn together."""
    sizes: tuple[int, ...]
    """Bins of each feature to learn."""
    epochs: int
    averaged: bool
    """Whether the result is the mean of the iterates after :func:`burn_in`, or the last one."""
    step: Callable[[BoostingStart], Step]
    """(start) -> Step."""
    size_queries: dict[int, FineGaussian]
    """Before which epochs the first replicate asks for the sizes of residuals."""


def boost(
    course: Course, start: BoostingStart, randomness: RandomSource, advance: Callable[[], None]
) -> tuple[Learned, Step]:
    """Run all replicates, with noise of its own for each.

    The first one also learns how far residuals may be clipped; the others follow it.

    Parameters
    ----------
    advance : callable
        Told when an epoch is done.

    Returns
    -------
    list of arrays of shape (n_replicates, n_bins, n_outputs)
        Shapes of each feature.
    Step
        With all that it has learned.
    """
    replicates, outputs, _ = course.shapes.tables.shape
    learned = [np.zeros((replicates, size, outputs)) for size in course.sizes]
    sums = [np.zeros_like(shapes) for shapes in learned]
    skipped = burn_in(course.epochs) if course.averaged else course.epochs - 1
    (source,), step = randomness.parts(1), course.step(start)
    for epoch in range(course.epochs):
        if epoch in course.size_queries:
            start = _narrowed(course, start, course.size_queries[epoch], source)
            step.narrowed(start)
        for turn in public_generator(epoch).permutation(len(course.turns.turns)):
            _take_turn(course, int(turn), start.clip, learned, step, source)
        if epoch >= skipped:
            for total, shapes in zip(sums, learned, strict=True):
                total += shapes
        advance()
    return [total / (course.epochs - skipped) for total in sums], step


def _take_turn(course: Course, turn: int, clip: float, learned: Learned, step: Step, randomness: RandomSource) -> None:
    """Change the shapes of the features that have this turn."""
    own, features = course.turns.turns[turn], course.turns.features(turn)
    exact = course.table.total(residual_sums, course.shapes, [course.first + table for table in own], clip)
    sums = [
        part
        for table, joint in zip(own, exact, strict=True)
        for part in apart(joint, [course.sizes[feature] for feature in course.turns.tables[table]])
    ]
    changed = step.change(features, sums, [learned[feature] for feature in features], randomness)
    for feature, shapes in zip(features, changed, strict=True):
        learned[feature] = shapes
    for table in own:
        together = summed([learned[feature] for feature in course.turns.tables[table]])
        course.shapes.put(course.first + table, list(together))


def _narrowed(course: Course, start: BoostingStart, mechanism: FineGaussian, randomness: RandomSource) -> BoostingStart:
    """A start whose clip and variance are what noisy sizes of residuals support."""
    exact = course.table.total(residual_sizes, course.shapes)
    (noisy,) = noisy_histograms(mechanism, [exact], randomness)
    return narrow(start, noisy, count_deviation(mechanism))


#: Most joint bins of columns that share a table: it stays in the fastest memory.
_MOST_JOINT = 1024
#: Rate times columns that move under the same residuals, at most: with more, columns that tell the same
#: story would overshoot together.
_MOST_RATE = 0.25


@dataclass(frozen=True)
class FeatureTables:
    """Which tables hold which features, and which tables have their turn together."""

    tables: tuple[tuple[int, ...], ...]
    """Features of each table, by their places among the features to learn."""
    turns: tuple[tuple[int, ...], ...]
    """Tables of each turn."""

    @classmethod
    def single(cls, features: int) -> FeatureTables:
        """Every feature for itself."""
        alone = tuple((feature,) for feature in range(features))
        return cls(alone, alone)

    @classmethod
    def together(cls, sizes: Sequence[int], rate: float) -> FeatureTables:
        """As many features in a turn as the rate allows, and as few tables as will hold them.

        Parameters
        ----------
        sizes : sequence of int
            Bins of each feature.
        """
        count = -(-len(sizes) // max(1, int(_MOST_RATE / rate)))
        tables: list[tuple[int, ...]] = []
        turns: list[tuple[int, ...]] = []
        for members in np.array_split(np.arange(len(sizes)), count):
            own = _shared([int(member) for member in members], sizes)
            turns.append(tuple(range(len(tables), len(tables) + len(own))))
            tables += own
        return cls(tuple(tables), tuple(turns))

    def features(self, turn: int) -> list[int]:
        """Features that have this turn, table by table."""
        return [feature for table in self.turns[turn] for feature in self.tables[table]]

    def binnings(self, own: Sequence[Binning]) -> list[Binning]:
        """Of the tables, from those of the features."""
        return [_joint([own[feature] for feature in members]) for members in self.tables]


def _shared(members: Sequence[int], sizes: Sequence[int]) -> list[tuple[int, ...]]:
    """Features in tables: each, the largest first, in the first table that has room for it."""
    tables: list[tuple[int, list[int]]] = []
    for member in sorted(members, key=lambda own: -sizes[own]):
        for place, (joint, held) in enumerate(tables):
            if joint * sizes[member] <= _MOST_JOINT:
                tables[place] = joint * sizes[member], [*held, member]
                break
        else:
            tables.append((sizes[member], [member]))
    return [tuple(sorted(held)) for _, held in tables]


def _joint(binnings: Sequence[Binning]) -> Binning:
    if len(binnings) == 1:
        return binnings[0]
    sides = [(own.columns[0], own.groups[0]) for own in binnings]
    return Binning.of(*((column, groups.astype(np.int64)) for column, groups in sides))


def apart(sums: Ints, sizes: Sequence[int]) -> list[Ints]:
    """Sums over the bins of each feature of a table, from those over its joint bins.

    Parameters
    ----------
    sums : array of shape (n_replicates, n_joint_bins, n_outputs)
    """
    joint = sums.reshape(len(sums), *sizes, sums.shape[2])
    axes = range(1, len(sizes) + 1)
    return [joint.sum(axis=tuple(other for other in axes if other != own)) for own in axes]


def summed(shapes: Sequence[Floats]) -> Floats:
    """Sum of the shapes of a table's features over its joint bins: (n_replicates, n_joint_bins, n_outputs)."""
    total = shapes[0]
    for own in shapes[1:]:
        total = (total[:, :, None, :] + own[:, None, :, :]).reshape(len(own), -1, own.shape[2])
    return total
