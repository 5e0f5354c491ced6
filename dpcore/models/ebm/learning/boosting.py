"""Cyclic boosting over features, in independent replicates.

Replicates share the budget and start alike, but draw their own noise: their mean is the model,
and their spread shows what the noise did, with everything that features do to each other. They
take turns together: one question asks for the sums of all of them.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from dpcore.arrays import Floats
from dpcore.data.table import PrivateTable
from dpcore.models.ebm.learning.histograms import count_deviation, noisy_histograms
from dpcore.models.ebm.learning.schedule import burn_in
from dpcore.models.ebm.learning.scores import Shapes, residual_sizes, residual_sums
from dpcore.models.ebm.learning.start import BoostingStart, narrow
from dpcore.models.ebm.learning.steps import Step
from dpcore.models.ebm.learning.turns import Turns, apart, summed
from dpcore.privacy.mechanisms import FineGaussian
from dpcore.privacy.randomness import RandomSource, public_generator

#: Shapes of each feature: arrays of shape (n_replicates, n_bins, n_outputs).
Learned = list[Floats]


@dataclass(frozen=True)
class Course:
    """One boosting course of all replicates.

    Attributes
    ----------
    table : PrivateTable
    shapes : Shapes
        All shapes, those to learn still flat.
    first : int
        The first table of shapes to learn: those before stay as they are.
    turns : Turns
        Which features have their turn together.
    sizes : tuple of int
        Bins of each feature to learn.
    epochs : int
    averaged : bool
        Whether the result is the mean of the iterates after :func:`burn_in`, or the last one.
    step : callable
        (start) -> Step.
    size_queries : mapping of epoch to FineGaussian
        Before which epochs the first replicate asks for the sizes of residuals.
    """

    table: PrivateTable
    shapes: Shapes
    first: int
    turns: Turns
    sizes: tuple[int, ...]
    epochs: int
    averaged: bool
    step: Callable[[BoostingStart], Step]
    size_queries: dict[int, FineGaussian]


def boost(
    course: Course,
    start: BoostingStart,
    randomness: RandomSource,
    advance: Callable[[], None],
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
