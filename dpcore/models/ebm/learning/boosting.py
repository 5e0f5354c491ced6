"""Cyclic boosting over features, in independent replicates.

Replicates share the budget and start alike, but draw their own noise: their mean is the model,
and their spread shows what the noise did, with everything that features do to each other.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass

import numpy as np

from dpcore.arrays import Array, Floats, Ints
from dpcore.models.ebm.learning.histograms import count_deviation, noisy_histograms
from dpcore.models.ebm.learning.kernels import (
    clipped_sums,
    logistic_sums,
    residual_sizes,
    softmax_sums,
)
from dpcore.models.ebm.learning.queries import RESIDUAL_STEPS
from dpcore.models.ebm.learning.schedule import burn_in
from dpcore.models.ebm.learning.start import SIZE_EDGES, BoostingStart, narrow
from dpcore.models.ebm.learning.steps import Step
from dpcore.privacy.mechanisms import FineGaussian
from dpcore.privacy.randomness import RandomSource, public_generator

Shapes = list[Floats]


@dataclass(frozen=True)
class Course:
    """One boosting course, the same for every replicate.

    Attributes
    ----------
    codes : sequence of arrays of shape (n_places,)
        Bin of every place, per feature.
    sizes : sequence of int
        Bins of each feature.
    labels : array of shape (n_places,)
    scores : array of shape (n_outputs,) or (n_places, n_outputs)
        Scores to start from, for everybody or for each place.
    epochs : int
    averaged : bool
        Whether the result is the mean of the iterates after :func:`burn_in`, or the last one.
    step : callable
        (start) -> Step, for a start whose clip may have been narrowed.
    size_queries : mapping of epoch to FineGaussian
        Before which epochs the first replicate asks for the sizes of residuals.
    """

    codes: Sequence[Array]
    sizes: Sequence[int]
    labels: Array
    scores: Floats
    epochs: int
    averaged: bool
    step: Callable[[BoostingStart], Step]
    size_queries: dict[int, FineGaussian]


def boost(
    course: Course,
    start: BoostingStart,
    replicates: int,
    randomness: RandomSource,
    advance: Callable[[int], None],
) -> tuple[list[Shapes], Step]:
    """Run all replicates.

    The first one also learns how far residuals may be clipped; the others follow it.

    Parameters
    ----------
    advance : callable
        Told how many epochs have been done since the last call.

    Returns
    -------
    list of list of arrays of shape (n_bins, n_outputs)
        Shapes per replicate and feature.
    Step
        The step of the last epoch.
    """
    sources = randomness.parts(replicates)
    path: list[tuple[BoostingStart, Step]] = []
    first = _replicate(course, start, path, sources[0], advance)
    with ThreadPoolExecutor(os.cpu_count() or 1) as pool:
        others = []
        for shapes in pool.map(lambda source: _replicate(course, start, path, source), sources[1:]):
            others.append(shapes)
            advance(course.epochs)
    return [first, *others], path[-1][1]


def _replicate(
    course: Course,
    start: BoostingStart,
    path: list[tuple[BoostingStart, Step]],
    randomness: RandomSource,
    advance: Callable[[int], None] | None = None,
) -> Shapes:
    """One replicate; the one with ``advance`` writes ``path``, the others read it."""
    outputs = len(start.intercept)
    shapes = [np.zeros((size, outputs)) for size in course.sizes]
    sums = [np.zeros((size, outputs)) for size in course.sizes]
    skipped = burn_in(course.epochs) if course.averaged else course.epochs - 1
    sweep = _Sweep(course, outputs)
    for epoch in range(course.epochs):
        if advance is not None:
            path.append(_next(course, start, path, epoch, sweep, randomness))
            advance(1)
        now, step = path[epoch]
        for feature in public_generator(epoch).permutation(len(shapes)):
            exact = sweep.sums(feature, now.clip)
            change = step.change(feature, exact, shapes[feature], randomness)
            shapes[feature] += change
            sweep.move(feature, change)
        if epoch >= skipped:
            for total, shape in zip(sums, shapes, strict=True):
                total += shape
    return [total / (course.epochs - skipped) for total in sums]


def _next(
    course: Course,
    start: BoostingStart,
    path: list[tuple[BoostingStart, Step]],
    epoch: int,
    sweep: _Sweep,
    randomness: RandomSource,
) -> tuple[BoostingStart, Step]:
    """Clip and step of an epoch; they change only after a question about residual sizes."""
    if not path:
        return start, course.step(start)
    if epoch not in course.size_queries:
        return path[-1]
    mechanism = course.size_queries[epoch]
    (noisy,) = noisy_histograms(mechanism, [sweep.residual_sizes()], randomness)
    narrowed = narrow(path[-1][0], noisy, count_deviation(mechanism))
    return narrowed, course.step(narrowed)


class _Sweep:
    """Scores of every place; a change is applied during the next pass over the records."""

    def __init__(self, course: Course, outputs: int) -> None:
        self._course = course
        places = len(course.labels)
        scores = np.empty((places, outputs), dtype=np.float32)
        scores[:] = course.scores
        self._classes = course.labels.dtype == np.uint8
        self._scores = scores if outputs > 1 else scores[:, 0]
        self._before = 0
        self._change = np.zeros((course.sizes[0], outputs), dtype=np.float32)

    def move(self, feature: int, change: Floats) -> None:
        """Add a change to a feature's shape."""
        self._before, self._change = feature, change.astype(np.float32)

    def sums(self, feature: int, clip: float) -> Ints:
        """Exact residual sums of a feature's bins in grid steps: shape (n_bins, n_outputs)."""
        course = self._course
        sums = np.zeros((course.sizes[feature], self._change.shape[1]), dtype=np.int64)
        before, after = course.codes[self._before], course.codes[feature]
        if sums.shape[1] > 1:
            softmax_sums(
                course.labels,
                self._scores,
                before,
                self._change,
                after,
                float(RESIDUAL_STEPS),
                sums,
            )
            return sums
        change = self._change[:, 0].copy()
        pending = (course.labels, self._scores, before, change, after)
        if self._classes:
            logistic_sums(*pending, float(RESIDUAL_STEPS), sums[:, 0])
        else:
            clipped_sums(*pending, RESIDUAL_STEPS / clip, clip, sums[:, 0])
        return sums

    def residual_sizes(self) -> Ints:
        """Exact records per group of residual size."""
        course, counts = self._course, np.zeros(len(SIZE_EDGES), dtype=np.int64)
        before, change = course.codes[self._before], self._change[:, 0].copy()
        residual_sizes(course.labels, self._scores, before, change, SIZE_EDGES, counts)
        return counts
