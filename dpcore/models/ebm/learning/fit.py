"""One run: bins, shapes, pairs, and what they become as a released model."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import Literal

import numpy as np

from dpcore.arrays import Floats
from dpcore.domain.columns import NumericColumn
from dpcore.learning.learner import Run
from dpcore.models.ebm.learning.accounting import (
    SIZES,
    EBMSettings,
    averaged,
    choice_epsilon,
    cost_of,
    even_share,
    histogram_mechanism,
    most_cells,
    output_count,
    pair_count_mechanism,
    pair_residual_mechanism,
    possible_pairs,
    residual_mechanism,
    size_epochs,
    size_mechanism,
)
from dpcore.models.ebm.learning.boosting import Course, FeatureTables, Learned, boost
from dpcore.models.ebm.learning.grid import Bins, count_deviation, feature_cells, noisy_histograms
from dpcore.models.ebm.learning.pairs import Side, choose_pairs, coarsen
from dpcore.models.ebm.learning.random_splits import RandomSplits
from dpcore.models.ebm.learning.records import Binning, Layout, bin_counts, histograms
from dpcore.models.ebm.learning.scores import Shapes, pair_tables
from dpcore.models.ebm.learning.start import BoostingStart, start_classes, start_numbers, total_rows
from dpcore.models.ebm.learning.steps import PAIR_LEVEL, AllBins, Feature, Step, distances
from dpcore.models.ebm.released.axis import Axis
from dpcore.models.ebm.released.bands import SMOOTHED, Band
from dpcore.models.ebm.released.ebm_derived import CHOICE, KNOWN
from dpcore.models.ebm.released.ebm_model import EBMModel, Term
from dpcore.privacy.mechanisms import FineGaussian

#: A numeric bin is not split below twice so many standard deviations of the noise on a cell.
_LEAST_COUNT = {"all_bins": 1.5, "random_splits": 4.0}
#: Residual sums of pairs that one question asks for: 64 for each pair and output.
_MOST_SUMS = 2**17


@dataclass(frozen=True)
class _Block:
    """Features that are boosted together, with what is known of their bins."""

    axes: tuple[tuple[Axis, ...], ...]
    features: tuple[Feature, ...]
    binnings: tuple[Binning, ...]
    noisy_counts: tuple[Floats, ...]
    errors: tuple[Floats, ...]


class EBMFit:
    """State of one run. Every attribute but the table is released or public."""

    def __init__(self, run: Run) -> None:
        plan = run.plan
        self._table, self._part = run.table, run.part
        self._plan, self._randomness, self._progress = plan, run.randomness, run.progress
        self._parameters: EBMSettings = plan.parameters
        schema, target = plan.schema, plan.target
        self._cost = cost_of(
            schema, target, plan.epsilon, plan.delta, self._parameters, plan.rho if plan.composed else None
        )
        self._numbers = isinstance(schema.column(target), NumericColumn)
        self._outputs = output_count(schema, target)
        self._shifted = 0.0  # Variance that noise gives to the intercept of a single fit.
        run.progress("finding bins", 0, 1)
        most = most_cells(self._parameters.max_bins)
        self._cells = [own.merged(most) for own in feature_cells(schema, target)]
        self._bins, self._start = self._find_bins()
        run.progress("finding bins", 1, 1)

    def model(self) -> EBMModel:
        """Learn the shapes, then the pairs, and put the model together."""
        main = self._main_block()
        feature_tables = self._turns(main)
        shapes = self._shapes(feature_tables.binnings(main.binnings), self._parameters.replicates)
        replicates, step = self._boost(main, feature_tables, shapes, self._mechanism)
        terms, shifts = self._terms(main, replicates, step)
        if self._parameters.pairs:
            means = [own.mean(axis=0) for own in replicates]
            pairs = self._pair_block(main, means)
            more, further = self._terms(pairs, *self._boost_pairs(main, means, pairs))
            terms, shifts = terms + more, shifts + further
        return self._model(terms, shifts)

    def _turns(self, block: _Block) -> FeatureTables:
        sizes, own = [len(binning) for binning in block.binnings], self._parameters
        if own.method == "random_splits":
            return FeatureTables.together(sizes, own.learning_rate)
        return FeatureTables.single(len(sizes))

    def _mechanism(self, features: int) -> FineGaussian:
        return residual_mechanism(self._cost, self._plan.schema, self._plan.target, features)

    def _find_bins(self) -> tuple[list[Bins], BoostingStart]:
        """Noisy histograms of all features and the target; bins and start are read off them."""
        mechanism = histogram_mechanism(self._cost, self._plan.schema)
        exact = self._table.total(histograms, self._plan.target, self._part)
        *counts, of_target = exact
        merged = [np.bincount(runs, own).astype(np.int64) for (_, runs), own in zip(self._cells, counts, strict=True)]
        *noisy, target = noisy_histograms(mechanism, [*merged, of_target], self._randomness)
        deviation = count_deviation(mechanism)
        rows = total_rows([*noisy, target], deviation, self._plan.schema.max_rows)
        start = (start_numbers if self._numbers else start_classes)(target, deviation, rows)
        most, least = self._parameters.max_bins, _LEAST_COUNT[self._parameters.method] * deviation
        even = even_share(self._parameters)
        bins = [
            Bins.merge(cells, own, deviation, most, least, even)
            for (cells, _), own in zip(self._cells, noisy, strict=True)
        ]
        whole = [replace(own, groups=own.groups[runs]) for own, (_, runs) in zip(bins, self._cells, strict=True)]
        return whole, start

    def _main_block(self) -> _Block:
        return _Block(
            axes=tuple((bins.axis,) for bins in self._bins),
            features=tuple(self._feature(bins) for bins in self._bins),
            binnings=tuple(Binning.of((place, bins.groups)) for place, bins in enumerate(self._bins)),
            noisy_counts=tuple(bins.noisy_counts for bins in self._bins),
            errors=tuple(bins.errors for bins in self._bins),
        )

    def _feature(self, bins: Bins) -> Feature:
        counts, name = self._start.counts(bins), bins.axis.column
        direction = (name in self._parameters.increasing) - (name in self._parameters.decreasing)
        return Feature(counts, distances(len(counts), bins.ordered), bins.ordered, direction=direction)

    def _shapes(self, binnings: Sequence[Binning], replicates: int, known: Sequence[Floats] = ()) -> Shapes:
        """Shapes of all replicates, the first ones as they are known and the others flat."""
        layout = Layout(self._plan.target, self._part, tuple(binnings))
        shapes = Shapes(self._plan.schema, layout, self._start.intercept, replicates)
        for feature, shape in enumerate(known):
            shapes.put(feature, [shape] * replicates)
        return shapes

    def _boost(
        self,
        block: _Block,
        feature_tables: FeatureTables,
        shapes: Shapes,
        mechanism: Callable[[int], FineGaussian],
        step: str = "shapes",
    ) -> tuple[Learned, Step]:
        parameters, total = self._parameters, self._cost.parameters.epochs
        done = 0

        def advance() -> None:
            nonlocal done
            done += 1
            self._progress(f"learning {step}", done, total)

        self._progress(f"learning {step}", 0, total)
        course = Course(
            table=self._table,
            shapes=shapes,
            first=len(shapes.layout.binnings) - len(feature_tables.tables),
            turns=feature_tables,
            sizes=tuple(len(binning) for binning in block.binnings),
            epochs=parameters.epochs,
            averaged=averaged(parameters),
            step=lambda start: self._step(block, start, mechanism),
            size_queries=self._size_queries() if step == "shapes" else {},
        )
        return boost(course, self._start, self._randomness, advance)

    def _step(self, block: _Block, start: BoostingStart, mechanism: Callable[[int], FineGaussian]) -> Step:
        parameters = self._parameters
        rate, epochs = parameters.learning_rate, parameters.epochs
        if parameters.method == "random_splits":
            return RandomSplits(block.features, start, mechanism, rate, parameters.leaves, epochs)
        classes = not self._numbers
        return AllBins(block.features, start, mechanism(1), rate, parameters.replicates, classes=classes)

    def _size_queries(self) -> dict[int, FineGaussian]:
        if SIZES not in self._cost.split.parts:
            return {}
        return dict.fromkeys(size_epochs(self._parameters), size_mechanism(self._cost))

    def _pair_block(self, main: _Block, means: Sequence[Floats]) -> _Block:
        """Choose pairs privately and count their cells with noise."""
        start = self._start
        self._progress("choosing pairs", 0, 1)
        sides = [coarsen(self._plan.schema, bins, start.counts(bins)) for bins in self._bins]
        between = [own.distances(bins) for own, bins in zip(sides, self._bins, strict=True)]
        cells = [
            (place, side.groups[bins.groups]) for place, (side, bins) in enumerate(zip(sides, self._bins, strict=True))
        ]
        chosen = self._chosen_pairs(sides, [Binning.of(own) for own in cells], self._shapes(main.binnings, 1, means))
        self._progress("choosing pairs", 1, 1)
        axes = tuple((sides[first].axis, sides[second].axis) for first, second in chosen)
        binnings = tuple(Binning.of(cells[first], cells[second]) for first, second in chosen)
        mechanism = pair_count_mechanism(self._cost)
        counts = self._table.total(bin_counts, Layout(self._plan.target, self._part, binnings))
        noisy = noisy_histograms(mechanism, counts, self._randomness)
        deviation = count_deviation(mechanism)
        return _Block(
            axes=axes,
            features=tuple(
                Feature(start.positive(own, deviation), _both(between[first], between[second]), 0, PAIR_LEVEL)
                for own, (first, second) in zip(noisy, chosen, strict=True)
            ),
            binnings=binnings,
            noisy_counts=tuple(noisy),
            errors=tuple(np.full(len(own), deviation) for own in noisy),
        )

    def _chosen_pairs(
        self, sides: Sequence[Side], binnings: Sequence[Binning], shapes: Shapes
    ) -> list[tuple[int, int]]:
        """The pairs to learn. If that is every pair there may be, no record is asked."""
        pairs = possible_pairs(self._plan.schema, self._plan.target, self._parameters)
        if CHOICE not in self._cost.split.parts:
            return pairs
        many = max(1, _MOST_SUMS // (64 * self._outputs))
        asked = (pairs[first : first + many] for first in range(0, len(pairs), many))
        clip = self._start.clip
        exact = np.concatenate([self._table.total(pair_tables, shapes, binnings, own, clip) for own in asked])
        count, epsilon = self._parameters.pairs, choice_epsilon(self._cost)
        return choose_pairs(exact, sides, pairs, self._start, count, epsilon, self._randomness)

    def _boost_pairs(self, main: _Block, means: Sequence[Floats], block: _Block) -> tuple[Learned, Step]:
        mechanism = pair_residual_mechanism(self._cost, self._plan.schema, self._plan.target)
        shapes = self._shapes([*main.binnings, *block.binnings], self._parameters.replicates, means)
        return self._boost(block, FeatureTables.single(len(block.binnings)), shapes, lambda _: mechanism, step="pairs")

    def _terms(self, block: _Block, replicates: Learned, step: Step) -> tuple[list[Term], list[Floats]]:
        """Centred terms, and what centring moved to the intercept: shapes (n_replicates, k)."""
        terms, shifts = [], []
        for place, feature in enumerate(block.features):
            shapes, doubt = replicates[place] * self._unit, step.unknown(place)
            weights = feature.counts / feature.counts.sum()
            shift = np.einsum("b,rbk->rk", weights, shapes)
            shifts.append(shift)
            # Records of one person may be all alike: chance in who is in the data is then that of so many fewer.
            sampling = self._plan.schema.privacy_unit.max_rows_per_person * doubt.sampling
            covariances = (sampling * self._unit**2, SMOOTHED * doubt.shrinkage * self._unit**2)
            noise = None if doubt.noise is None else doubt.noise * self._unit**2
            self._shifted += 0.0 if noise is None else float(weights @ noise @ weights)
            band = Band.of(shapes - shift[:, None, :], weights, *covariances, feature.ordered, noise)
            counted = _counted(block, place)
            terms.append(
                Term(
                    axes=block.axes[place],
                    scores=_table(band.mean),
                    errors=_table(band.errors),
                    noisy_counts=tuple(int(n) for n in np.rint(block.noisy_counts[place])),
                    count_errors=tuple(float(error) for error in block.errors[place]),
                    noise_size=band.size,
                    p_value=band.p_value if counted else 1.0,
                    threshold=band.threshold if counted else None,
                )
            )
        return terms, shifts

    @property
    def _unit(self) -> float:
        """What a score of 1 means in units of the target."""
        column = self._plan.schema.column(self._plan.target)
        return column.upper - column.lower if isinstance(column, NumericColumn) else 1.0

    def _model(self, terms: Sequence[Term], shifts: Sequence[Floats]) -> EBMModel:
        schema, target = self._plan.schema, self._plan.target
        column = schema.column(target)
        moved = np.sum(shifts, axis=0)
        bounds = (column.lower, column.upper) if isinstance(column, NumericColumn) else None
        base = self._start.intercept * self._unit + (bounds[0] if bounds else 0.0)
        task: Literal["binary", "multiclass", "regression"] = "regression"
        if not self._numbers:
            task = "binary" if self._outputs == 1 else "multiclass"
        band = Band.of(moved[:, None, :], np.ones(1), noise=np.full((1, 1), self._shifted))
        return EBMModel(
            task=task,
            classes=() if self._numbers else self._plan.classes,
            intercept=tuple(float(score) for score in base + band.mean[0]),
            intercept_error=tuple(float(error) for error in band.errors[0]),
            bounds=bounds,
            terms=tuple(terms),
        )


def _both(first: Floats, second: Floats) -> Floats:
    """How far cells of a pair are apart, by both sides."""
    whole = first[:, None, :, None] + second[None, :, None, :]
    return np.asarray(whole.reshape(len(first) * len(second), -1))


def _counted(block: _Block, place: int) -> bool:
    """Whether noise leaves a total of a term's counts; if not, scores may come of these alone.

    Every replicate divides by the same noisy counts, so that their spread cannot show it.
    """
    error = float(np.linalg.norm(block.errors[place]))
    return float(block.noisy_counts[place].sum()) > KNOWN * error


def _table(values: Floats) -> tuple[tuple[float, ...], ...]:
    return tuple(tuple(float(value) for value in row) for row in values)
