"""Cyclic boosting over features, in independent replicates.

Replicates share the budget and start alike, but draw their own noise: their mean is the model,
and their spread shows what the noise did, with everything that features do to each other. They
take turns together: one question asks for the sums of all of them.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from functools import partial

import numpy as np

from dpcore.arrays import Floats, Ints
from dpcore.cores import core_count
from dpcore.data.table import PrivateTable
from dpcore.models.ebm.learning.histograms import count_deviation, noisy_histograms
from dpcore.models.ebm.learning.schedule import burn_in
from dpcore.models.ebm.learning.scores import Shapes, residual_sizes, residual_sums
from dpcore.models.ebm.learning.start import BoostingStart, narrow
from dpcore.models.ebm.learning.steps import Step
from dpcore.privacy.mechanisms import FineGaussian
from dpcore.privacy.randomness import RandomSource, public_generator

#: Shapes of one replicate: arrays of shape (n_bins, n_outputs).
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
        The first shape to learn: those before stay as they are.
    epochs : int
    averaged : bool
        Whether the result is the mean of the iterates after :func:`burn_in`, or the last one.
    step : callable
        (start) -> Step, for a start whose clip may have been narrowed.
    size_queries : mapping of epoch to FineGaussian
        Before which epochs the first replicate asks for the sizes of residuals.
    """

    table: PrivateTable
    shapes: Shapes
    first: int
    epochs: int
    averaged: bool
    step: Callable[[BoostingStart], Step]
    size_queries: dict[int, FineGaussian]


def boost(
    course: Course,
    start: BoostingStart,
    randomness: RandomSource,
    advance: Callable[[], None],
) -> tuple[list[Learned], Step]:
    """Run all replicates, each with a source of its own.

    The first one also learns how far residuals may be clipped; the others follow it.

    Parameters
    ----------
    advance : callable
        Told when an epoch is done.

    Returns
    -------
    list of list of arrays of shape (n_bins, n_outputs)
        Shapes per replicate and feature.
    Step
        The step of the last epoch.
    """
    replicates, outputs, _ = course.shapes.tables.shape
    sizes = [len(binning) for binning in course.shapes.layout.binnings[course.first :]]
    learned = [[np.zeros((size, outputs)) for size in sizes] for _ in range(replicates)]
    sums = [[np.zeros((size, outputs)) for size in sizes] for _ in range(replicates)]
    skipped = burn_in(course.epochs) if course.averaged else course.epochs - 1
    sources, step = randomness.parts(replicates), course.step(start)
    cores = core_count()
    shares = [range(core, replicates, cores) for core in range(cores)]
    with ThreadPoolExecutor(cores) as pool:
        for epoch in range(course.epochs):
            if epoch in course.size_queries:
                start = _narrowed(course, start, course.size_queries[epoch], sources[0])
                step = course.step(start)
            for feature in public_generator(epoch).permutation(len(sizes)):
                place = course.first + int(feature)
                exact = course.table.total(residual_sums, course.shapes, place, start.clip)
                turns = partial(_take_turns, step, feature, exact, learned, sources)
                list(pool.map(turns, shares))
                course.shapes.put(place, [shapes[feature] for shapes in learned])
            if epoch >= skipped:
                for total, shapes in zip(sums, learned, strict=True):
                    _add(total, shapes)
            advance()
    return [[total / (course.epochs - skipped) for total in own] for own in sums], step


def _take_turns(
    step: Step,
    feature: int,
    exact: Ints,
    learned: Sequence[Learned],
    sources: Sequence[RandomSource],
    replicates: Iterable[int],
) -> None:
    """Change the shape of one feature in some replicates."""
    for replicate in replicates:
        shape = learned[replicate][feature]
        shape += step.change(feature, exact[replicate], shape, sources[replicate])


def _add(totals: Learned, shapes: Learned) -> None:
    for total, shape in zip(totals, shapes, strict=True):
        total += shape


def _narrowed(course: Course, start: BoostingStart, mechanism: FineGaussian, randomness: RandomSource) -> BoostingStart:
    """A start whose clip and variance are what noisy sizes of residuals support."""
    exact = course.table.total(residual_sizes, course.shapes)
    (noisy,) = noisy_histograms(mechanism, [exact], randomness)
    return narrow(start, noisy, count_deviation(mechanism))
