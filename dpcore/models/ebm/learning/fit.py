"""One run: bins, shapes, pairs, and what they become as a released model."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import combinations
from typing import Literal

import numpy as np

from dpcore.arrays import Array, Floats, Floats32
from dpcore.domain.columns import NumericColumn
from dpcore.learning.learner import Run
from dpcore.models.ebm.learning.accounting import (
    CHOICE,
    SIZES,
    choice_epsilon,
    cost_of,
    histogram_mechanism,
    output_count,
    pair_count_mechanism,
    pair_residual_mechanism,
    residual_mechanism,
    size_epochs,
    size_mechanism,
)
from dpcore.models.ebm.learning.boosting import Course, Shapes, boost
from dpcore.models.ebm.learning.grid import Bins, feature_cells
from dpcore.models.ebm.learning.histograms import count_deviation, noisy_histograms
from dpcore.models.ebm.learning.pairs import Side, choose_pairs, coarsen, residuals
from dpcore.models.ebm.learning.records import BinnedRecords
from dpcore.models.ebm.learning.schedule import EBMSettings
from dpcore.models.ebm.learning.start import BoostingStart, start_classes, start_numbers, total_rows
from dpcore.models.ebm.learning.steps import PAIR_LEVEL, AllBins, Feature, RandomSplits, Step
from dpcore.models.ebm.released.axis import Axis
from dpcore.models.ebm.released.bands import Band
from dpcore.models.ebm.released.model import EBMModel, Term
from dpcore.privacy.mechanisms import FineGaussian

#: A numeric bin is not split below twice so many standard deviations of the noise on a cell.
_LEAST_COUNT = 4.0
#: A total of counts is known if it is this many standard deviations of its noise.
_KNOWN = 2.0


@dataclass(frozen=True)
class _Block:
    """Features that are boosted together, with what is known of their bins."""

    axes: tuple[tuple[Axis, ...], ...]
    features: tuple[Feature, ...]
    codes: tuple[Array, ...]
    noisy_counts: tuple[Floats, ...]
    errors: tuple[Floats, ...]


class EBMFit:
    """State of one run. Every attribute but the records is released or public."""

    def __init__(self, run: Run) -> None:
        plan = run.plan
        self._plan, self._randomness, self._progress = plan, run.randomness, run.progress
        self._parameters: EBMSettings = plan.parameters
        schema, target = plan.schema, plan.target
        self._cost = cost_of(schema, target, plan.epsilon, plan.delta, self._parameters)
        self._numbers = isinstance(schema.column(target), NumericColumn)
        self._outputs = output_count(schema, target)
        run.progress("finding bins", 0, 1)
        self._cells = feature_cells(schema, target)
        self._records = BinnedRecords(run.table, target, run.part, self._cells)
        self._bins, self._start = self._find_bins()
        self._records.merge(self._bins)
        run.progress("finding bins", 1, 1)

    def model(self) -> EBMModel:
        """Learn the shapes, then the pairs, and put the model together."""
        main = self._main_block()
        mechanism = residual_mechanism(self._cost, self._plan.schema, self._plan.target)
        replicates, step = self._boost(main, self._start.intercept, mechanism)
        terms, shifts = self._terms(main, replicates, step)
        if self._parameters.pairs:
            scores = self._scores(main, replicates)
            pairs = self._pair_block(scores)
            more, further = self._terms(pairs, *self._boost_pairs(pairs, scores))
            terms, shifts = terms + more, shifts + further
        return self._model(terms, shifts)

    def _find_bins(self) -> tuple[list[Bins], BoostingStart]:
        """Noisy histograms of all features and the target; bins and start are read off them."""
        mechanism = histogram_mechanism(self._cost, self._plan.schema)
        exact = self._records.histograms()
        if not self._numbers:
            exact[-1] = exact[-1][: len(self._plan.classes)]
        *noisy, target = noisy_histograms(mechanism, exact, self._randomness)
        deviation = count_deviation(mechanism)
        rows = total_rows([*noisy, target], deviation, self._plan.schema.max_rows)
        start = start_numbers(target, deviation, rows) if self._numbers else start_classes(target, rows)
        most, least = self._parameters.max_bins, _LEAST_COUNT * deviation
        return [
            Bins.merge(cells, counts, deviation, most, least) for cells, counts in zip(self._cells, noisy, strict=True)
        ], start

    def _main_block(self) -> _Block:
        return _Block(
            axes=tuple((bins.axis,) for bins in self._bins),
            features=tuple(Feature(self._start.counts(bins), bins.ordered) for bins in self._bins),
            codes=tuple(self._records.codes),
            noisy_counts=tuple(bins.noisy_counts for bins in self._bins),
            errors=tuple(bins.errors for bins in self._bins),
        )

    def _boost(
        self, block: _Block, scores: Array, mechanism: FineGaussian, step: str = "shapes"
    ) -> tuple[list[Shapes], Step]:
        parameters, total = self._parameters, self._cost.rounds
        done = 0

        def advance(epochs: int) -> None:
            nonlocal done
            done += epochs
            self._progress(f"learning {step}", done, total)

        self._progress(f"learning {step}", 0, total)
        course = Course(
            codes=block.codes,
            sizes=[len(feature.counts) for feature in block.features],
            labels=self._records.labels,
            scores=scores,
            epochs=parameters.epochs,
            averaged=parameters.method == "all_bins",
            step=lambda start: self._step(block, start, mechanism),
            size_queries=self._size_queries() if step == "shapes" else {},
        )
        return boost(course, self._start, parameters.replicates, self._randomness, advance)

    def _step(self, block: _Block, start: BoostingStart, mechanism: FineGaussian) -> Step:
        parameters = self._parameters
        rate, epochs = parameters.learning_rate, parameters.epochs
        if parameters.method == "random_splits":
            return RandomSplits(block.features, start, mechanism, rate, parameters.leaves, epochs)
        return AllBins(block.features, start, mechanism, rate, self._cost.rounds)

    def _size_queries(self) -> dict[int, FineGaussian]:
        if SIZES not in self._cost.split.parts:
            return {}
        return dict.fromkeys(size_epochs(self._parameters), size_mechanism(self._cost))

    def _scores(self, block: _Block, replicates: list[Shapes]) -> Floats32:
        """Scores of every place under the main model: shape (n_places, n_outputs)."""
        scores = np.tile(self._start.intercept.astype(np.float32), (len(self._records.labels), 1))
        for feature, codes in enumerate(block.codes):
            shape = np.mean([shapes[feature] for shapes in replicates], axis=0)
            scores += np.take(shape.astype(np.float32), codes, axis=0, mode="clip")
        return scores

    def _pair_block(self, scores: Floats32) -> _Block:
        """Choose pairs privately and count their cells with noise."""
        schema, records, start = self._plan.schema, self._records, self._start
        self._progress("choosing pairs", 0, 1)
        sides = [coarsen(schema, bins, start.counts(bins)) for bins in self._bins]
        chosen = self._chosen_pairs(sides, scores)
        self._progress("choosing pairs", 1, 1)
        axes = tuple((sides[first].axis, sides[second].axis) for first, second in chosen)
        codes = tuple(
            records.pair(one, two, sides[one].groups, sides[two].groups, len(sides[two].axis)) for one, two in chosen
        )
        sizes = [len(first) * len(second) for first, second in axes]
        mechanism = pair_count_mechanism(self._cost)
        counts = [records.count(own, size) for own, size in zip(codes, sizes, strict=True)]
        noisy = noisy_histograms(mechanism, counts, self._randomness)
        deviation = count_deviation(mechanism)
        return _Block(
            axes=axes,
            features=tuple(Feature(start.positive(own, deviation), 0, PAIR_LEVEL) for own in noisy),
            codes=codes,
            noisy_counts=tuple(noisy),
            errors=tuple(np.full(size, deviation) for size in sizes),
        )

    def _chosen_pairs(self, sides: Sequence[Side], scores: Floats32) -> list[tuple[int, int]]:
        """The pairs to learn. If that is every pair there is, no record is asked."""
        if CHOICE not in self._cost.split.parts:
            return list(combinations(range(len(sides)), 2))
        count, epsilon = self._parameters.pairs, choice_epsilon(self._cost)
        exact = residuals(self._records, scores, self._start.clip)
        return choose_pairs(self._records, sides, exact, self._start, count, epsilon, self._randomness)

    def _boost_pairs(self, block: _Block, scores: Floats32) -> tuple[list[Shapes], Step]:
        mechanism = pair_residual_mechanism(self._cost, self._plan.schema, self._plan.target)
        return self._boost(block, scores, mechanism, step="pairs")

    def _terms(self, block: _Block, replicates: list[Shapes], step: Step) -> tuple[list[Term], list[Floats]]:
        """Centred terms, and what centring moved to the intercept: shapes (n_replicates, k)."""
        terms, shifts = [], []
        for place, feature in enumerate(block.features):
            shapes = np.stack([own[place] for own in replicates]) * self._unit
            weights = feature.counts / feature.counts.sum()
            shift = np.einsum("b,rbk->rk", weights, shapes)
            shifts.append(shift)
            sampling = step.sampling_variance(place) * self._unit**2
            band = Band.of(shapes - shift[:, None, :], weights, sampling)
            terms.append(
                Term(
                    axes=block.axes[place],
                    scores=_table(band.mean),
                    errors=_table(band.errors),
                    noisy_counts=tuple(int(n) for n in np.rint(block.noisy_counts[place])),
                    count_errors=tuple(float(error) for error in block.errors[place]),
                    noise_size=band.size,
                    p_value=band.p_value if _counted(block, place) else 1.0,
                )
            )
        return terms, shifts

    @property
    def _unit(self) -> float:
        """What a score of 1 means in units of the target."""
        if not self._numbers:
            return 1.0
        column = self._plan.schema.column(self._plan.target)
        return float(column.upper - column.lower)

    def _model(self, terms: Sequence[Term], shifts: Sequence[Floats]) -> EBMModel:
        schema, target = self._plan.schema, self._plan.target
        column = schema.column(target)
        moved = np.sum(shifts, axis=0)
        base = self._start.intercept * self._unit + (column.lower if self._numbers else 0.0)
        task: Literal["binary", "multiclass", "regression"] = "regression"
        if not self._numbers:
            task = "binary" if self._outputs == 1 else "multiclass"
        band = Band.of(moved[:, None, :], np.ones(1))
        return EBMModel(
            task=task,
            classes=() if self._numbers else self._plan.classes,
            intercept=tuple(float(score) for score in base + band.mean[0]),
            intercept_error=tuple(float(error) for error in band.errors[0]),
            bounds=(column.lower, column.upper) if self._numbers else None,
            terms=tuple(terms),
        )


def _counted(block: _Block, place: int) -> bool:
    """Whether noise leaves a total of a term's counts; if not, scores may come of these alone.

    Every replicate divides by the same noisy counts, so that their spread cannot show it.
    """
    error = float(np.linalg.norm(block.errors[place]))
    return float(block.noisy_counts[place].sum()) > _KNOWN * error


def _table(values: Floats) -> tuple[tuple[float, ...], ...]:
    return tuple(tuple(float(value) for value in row) for row in values)
