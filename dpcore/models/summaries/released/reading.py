"""What a first look says of each column: shares, quantiles, means, each with an interval for noise."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from typing import Final

import numpy as np

from dpcore.arrays import Floats
from dpcore.domain.columns import MISSING, OTHER, NumericColumn
from dpcore.domain.conditions import cut_text
from dpcore.domain.schemas.schema import Schema
from dpcore.models.summaries.released.estimates import Axes, Estimates
from dpcore.models.summaries.released.finer import FinerTable, finer
from dpcore.models.summaries.released.intervals import (
    NORMAL,
    Amount,
    Cells,
    Denominator,
    around,
    intervals,
    share_intervals,
)
from dpcore.models.summaries.released.summary_model import SummaryModel
from dpcore.models.summaries.released.summary_parameters import Axis, limits, middles, whole_ends
from dpcore.released.noisy_counts import even_cuts

QUANTILES: Final = (0.1, 0.25, 0.5, 0.75, 0.9)
#: The same for geometric noise as NORMAL is for normal noise.
GEOMETRIC: Final = 2.12


@dataclass(frozen=True)
class ColumnReading:
    """One column, or the numbers of rows of a further table."""

    axis: Axis
    label: str
    """What people call it."""
    cells: tuple[str, ...]
    counts: Cells
    shares: Cells
    """``counts``, ``shares``: of all cells, ``(missing)`` and ``(other)`` among them."""
    ends: tuple[float, ...] | None
    """Ends of the cells of a number."""
    quantiles: dict[float, Amount]
    """Of a number, among those who have one; empty of categories."""
    mean: Amount | None
    """The same, by the middles of the cells; its interval is for numbers anywhere in these."""

    @property
    def missing(self) -> Amount | None:
        """Share of people without a value; ``None`` where there always is one."""
        return self.shares.amount(self.cells.index(MISSING)) if MISSING in self.cells else None

    @property
    def other(self) -> Amount | None:
        """Share of people whose value is in no cell of its own."""
        return self.shares.amount(self.cells.index(OTHER)) if OTHER in self.cells else None

    @property
    def untold(self) -> bool:
        """Whether the noise leaves nobody with a number: mean and quantiles may then be anything."""
        return self.ends is not None and _nobody(self.counts.values, self.ends)


def total_of(model: SummaryModel) -> Amount:
    """How many records there are."""
    own = model.estimates
    low, high = intervals(np.array([own.total]), own.total_deviation, gaussian=own.gaussian)
    return Amount(max(own.total, 0.0), float(low[0]), float(high[0]))


def cells_of(estimates: Estimates, axes: Axes) -> Cells:
    """Counts of all cells of a table."""
    low, high = intervals(estimates.table(axes), estimates.deviation(axes), gaussian=estimates.gaussian)
    return around(estimates.consistent(axes), low, high)


def shares_of(estimates: Estimates, axes: Axes) -> Cells:
    """Shares of all records in the cells of a table. The noise on their number counts too."""
    table, consistent = estimates.table(axes), estimates.consistent(axes)
    denominator = Denominator(np.array(max(estimates.total, 1.0)), estimates.total_deviation**2, table.size)
    low, high = share_intervals(table, estimates.deviation(axes) ** 2, denominator, gaussian=estimates.gaussian)
    return around(consistent / max(consistent.sum(), 1e-12), low, high)


def column_reading(model: SummaryModel, schema: Schema, place: int) -> ColumnReading:
    """What is told of one axis."""
    axis, own = model.axes[place], model.estimates
    ends, counts = axis.ends(schema), cells_of(own, (place,))
    quantiles: dict[float, Amount] = {}
    mean = None
    if ends is not None:
        whole = axis.whole(schema)
        quantiles, mean = _numbers(own, place, ends, whole=whole)
        for table in (table for table in model.finer if table.axis == place):
            quantiles, mean = _finer_numbers(own, place, table, whole=whole)
        if _nobody(counts.values, ends):
            quantiles, mean = anything(ends, QUANTILES, whole=whole)
    return ColumnReading(
        axis, axis.label(schema), axis.cells(schema), counts, shares_of(own, (place,)), ends, quantiles, mean
    )


def _nobody(counts: Floats, ends: Sequence[float]) -> bool:
    return bool(counts[: len(ends) - 1].sum() < 1)


def anything(ends: Sequence[float], shares: Iterable[float], *, whole: bool) -> tuple[dict[float, Amount], Amount]:
    """Quantiles and mean of a number that nobody seems to have: the middle of its bounds, with all between them."""
    middle, low, high = (ends[0] + ends[-1]) / 2, ends[0], ends[-1]
    quantile = Amount(float(math.ceil(middle)) if whole else middle, low, high)
    return dict.fromkeys(shares, quantile), Amount(middle, low, high)


def readings(model: SummaryModel, schema: Schema) -> list[ColumnReading]:
    """All columns, in the order of the schema."""
    return [column_reading(model, schema, place) for place in range(len(model.axes))]


def quantiles_in_band(
    ends: Sequence[float],
    values: Floats,
    raw: Floats,
    spread: Callable[[Floats], Floats],
    shares: Iterable[float],
    *,
    whole: bool,
) -> dict[float, Amount]:
    """Quantiles of a number among those who have one, even within a cell, all by one kind of interval.

    It goes from end of cell to end of cell: all that lies between two of which noise may have made the quantile.

    Parameters
    ----------
    values, raw : array of shape (n_cells,)
        Counts that are not negative, and those without bias.
    spread : callable
        How far noise may take the number of people up to each end, less a share of all of them, of shape
        (n_cells + 1,); given these shares.
    whole : bool
        Whether numbers are whole; then a quantile is one of them.
    """
    points = whole_ends(ends) if whole else np.asarray(ends, dtype=np.float64)
    below = np.concatenate([[0.0], np.cumsum(values)]) / max(values.sum(), 1e-12)
    sums, last, found = np.concatenate([[0.0], np.cumsum(raw)]), len(points) - 1, {}
    for share in shares:
        value = _reached(below, points, share)
        away, reach = sums - share * sums[-1], spread(np.full(last + 1, share))
        # From the first cell at whose end so many may have come, to the last end at which they may not have.
        first = np.flatnonzero(away[1:] + reach[1:] >= 0)
        after = np.flatnonzero(away < reach)
        low = float(points[first[0] if len(first) else last - 1])
        high = float(points[min(after[-1] + 1, last) if len(after) else 0])
        if whole:
            value, low = float(math.ceil(value)), low + 1
        found[share] = Amount(value, min(low, value), max(high, value))
    return found


def mean_of(
    raw: Floats, ends: Sequence[float], variance: Callable[[Floats], float], margin: float, *, whole: bool
) -> Amount:
    """Mean of a number among those who have one, by the middles of its cells.

    It is that of counts without bias: without the negative ones it would be drawn to the middle of the bounds. Its
    interval goes from the lower end of that for the smallest numbers of the cells to the upper end of that for the
    largest ones, so it holds the mean wherever in their cells the numbers lie.

    Parameters
    ----------
    raw : array of shape (n_cells,)
        Counts without bias.
    variance : callable
        Of the sum of these counts with weights of shape (n_cells,).
    margin : float
        Deviations within which 95 % of noise is.
    whole : bool
        Whether numbers are whole.
    """
    told, least, most = (
        _mean_at(raw, points, (ends[0], ends[-1]), variance, margin)
        for points in (middles(ends, whole=whole), *limits(ends, whole=whole))
    )
    return Amount(told.value, min(least.low, told.value), max(most.high, told.value))


def _mean_at(
    raw: Floats, points: Floats, bounds: tuple[float, float], variance: Callable[[Floats], float], margin: float
) -> Amount:
    """Mean if all numbers of a cell were at one point of it.

    Like a share (:mod:`share_intervals`) a mean is held if noise explains what the numbers add up to beyond it.
    """
    unit = 2.0 ** max(0, math.frexp(float(np.abs(points).max()))[1] - 300)  # Else a square may leave the range.
    start, ones = float((points / unit).mean()), np.ones(len(raw))
    away, people = points / unit - start, float(raw.sum())
    total, of_total, of_people = float(raw @ away), variance(away), variance(ones)
    both = (variance(away + ones) - of_total - of_people) / 2
    value = min(max(unit * (start + total / max(people, 1.0)), bounds[0]), bounds[1])
    square = people**2 - margin**2 * of_people
    if people < 1 or square <= 0:
        return Amount(value, *bounds)
    centre = people * total - margin**2 * both
    reach = math.sqrt(max(centre**2 - square * (total**2 - margin**2 * of_total), 0.0))
    low, high = (unit * (start + (centre + side) / square) for side in (-reach, reach))
    return Amount(value, min(max(low, bounds[0]), value), max(min(high, bounds[1]), value))


def margin_of(own: Estimates) -> float:
    """Standard deviations within which 95 % of the noise on a sum is."""
    return NORMAL if own.gaussian else GEOMETRIC


def _numbers(own: Estimates, place: int, ends: tuple[float, ...], *, whole: bool) -> tuple[dict[float, Amount], Amount]:
    """Quantiles and mean among the people with a number."""
    filled, margin = len(ends) - 1, margin_of(own)
    counts, raw = own.consistent((place,))[:filled], own.table((place,))[:filled]

    def spread(below: Floats) -> Floats:
        return margin * _share_deviation(own, place, filled, below)

    quantiles = quantiles_in_band(ends, counts, raw, spread, QUANTILES, whole=whole)

    def variance(weights: Floats) -> float:
        return _variance_of(own, place, weights)

    return quantiles, mean_of(raw, ends, variance, margin, whole=whole)


def _finer_numbers(own: Estimates, place: int, table: FinerTable, *, whole: bool) -> tuple[dict[float, Amount], Amount]:
    """The same by finer cells."""
    filled, margin = max(table.cells) + 1, margin_of(own)
    counts, values = own.table((place,))[:filled], own.consistent((place,))[:filled]
    told = finer(table, counts, own.deviation((place,)), values)
    ends = tuple(told.ends.tolist())

    def spread(below: Floats) -> Floats:
        return np.asarray(margin * np.sqrt(told.variances_below(below)))

    quantiles = quantiles_in_band(ends, told.values, told.counts, spread, QUANTILES, whole=whole)
    return quantiles, mean_of(told.counts, ends, told.variance, margin, whole=whole)


def _share_deviation(own: Estimates, place: int, filled: int, below: Floats) -> Floats:
    """Deviation, in records, of cumulative counts less their share of all with a number."""
    counts = own.below_deviation(place)[: filled + 1] ** 2
    last = counts[-1]
    size = own.sizes[place]
    deviation_total, cell = own.total_deviation**2, own.deviation((place,)) ** 2
    each = (cell - deviation_total / size**2) / (1 - 1 / size) if size > 1 else 0.0
    first = np.arange(filled + 1)
    # Covariance of two cumulative counts, of which the first is part of the second.
    shared = first * filled / size**2 * deviation_total + each * (first - first * filled / size)
    return np.asarray(np.sqrt(np.maximum(counts + below**2 * last - 2 * below * shared, 0.0)))


def _reached(below: Floats, ends: Floats, share: float) -> float:
    """Where a share of the people is below: even within a cell."""
    place = min(int(np.searchsorted(below, share, side="left")), len(ends) - 1)
    if place == 0:
        return float(ends[0])
    inside = below[place] - below[place - 1]
    part = (share - below[place - 1]) / inside if inside > 0 else 0.5
    return float(ends[place - 1] + part * (ends[place] - ends[place - 1]))


def _variance_of(own: Estimates, place: int, weights: Floats) -> float:
    """Of the sum of the first cells of an axis with these weights: shape (n_cells,) or fewer."""
    size, alike = own.sizes[place], float(weights.sum())
    apart = float(weights @ weights) - alike**2 / size
    return own.variance((place,)) * max(apart, 0.0) + own.variance(()) * (alike / size) ** 2


#: Groups that a column is divided into, at most.
_GROUPS: Final = 8
#: A group is not divided if its halves would have fewer people than so many deviations of the noise on a cell.
_LEAST: Final = 2.0


def cut_points(model: SummaryModel, schema: Schema) -> tuple[str, ...]:
    """The parameter ``cut_points`` of a later run: a text for each column of numbers, such as ``age: 40, 60``.

    Columns that the noise hides, or that have no cut point inside their bounds, are left out: they keep all of theirs.
    """
    found = []
    for place, axis in enumerate(model.axes):
        column = None if axis.rows else schema.column(axis.column)
        if isinstance(column, NumericColumn):
            counts = model.estimates.consistent((place,))[: len(column.classes)]
            firsts = even_cuts(counts, _GROUPS, _LEAST * model.estimates.deviation((place,)))
            if firsts:
                found.append(cut_text(column, (first - 1 for first in firsts)))
    return tuple(found)
