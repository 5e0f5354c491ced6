"""Table 1: all columns by the groups of one, as clinical papers open."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Final

import numpy as np

from dpcore.arrays import Floats
from dpcore.domain.columns import RESERVED
from dpcore.domain.schemas.schema import Schema
from dpcore.models.summaries.released.estimates import Estimates
from dpcore.models.summaries.released.intervals import Amount, Denominator, folded_interval, intervals, share_intervals
from dpcore.models.summaries.released.reading import anything, margin_of, mean_of, quantiles_in_band
from dpcore.models.summaries.released.summary_model import SummaryModel
from dpcore.models.summaries.released.summary_parameters import middles
from dpcore.released.noisy_counts import nearest_rows

#: A group is told if its estimated count is above so many deviations of the noise on it.
_SEEN: Final = 3.0
#: It is compared with others if it is above so many deviations of the noise on all of its cells together.
_COMPARED: Final = 8.0
#: Groups are compared if their number squared, times that of the categories, is no more than this: it takes long.
_MOST_COMPARED: Final = 200_000
#: Shares are at most so far apart, of 4 that are as far apart as can be: their standardised difference is infinite.
_APART: Final = 4 * (1 - 1e-4)
#: A variance is at least so much of that of counts that are not negative, which noise in empty cells makes too large.
_LEAST_VARIANCE: Final = 0.5
#: Largest share of a cell for no value that has no line.
_RARE: Final = 0.005


@dataclass(frozen=True)
class Line:
    """One line of the table."""

    column: str
    label: str
    """The column, or one of its categories below it."""
    kind: str
    """``share`` of a category, ``mean`` or ``median`` of a number, ``count`` of everybody."""
    groups: tuple[Amount, ...]
    """Of each group."""
    difference: Amount | None = None
    """Standardised difference between two groups, or the largest between any two; of the column as a whole, so on its
    first line. Groups so small that noise decides their shares are left out of it, and there is none if fewer than two
    remain, or too many to compare."""


@dataclass(frozen=True)
class TableOne:
    """Columns by groups."""

    by: str
    """What people call the column of the groups."""
    groups: tuple[str, ...]
    lines: tuple[Line, ...]
    """The first one counts people."""
    uncompared: tuple[str, ...] = ()
    """What people call the columns of which groups and categories are too many to compare."""


def table_one(model: SummaryModel, schema: Schema, seed: int = 1) -> TableOne:
    """The table of a first look with groups.

    Raises
    ------
    ValueError
        If it was made without groups.
    """
    if model.by is None:
        raise ValueError("this first look compares no groups")
    view = View(model, schema, model.estimates)
    columns = _compared(view)
    gaps = _differences(columns, view, seed)
    axis = model.axes[model.by]
    cells = axis.cells(schema)
    lines = [Line("", "people", "count", _sizes(view))]
    for one in columns:
        lines += _lines(view, gaps.get(one.place), one.place)
    uncompared = tuple(model.axes[one.place].label(schema) for one in columns if one.too_many)
    return TableOne(axis.label(schema), tuple(cells[group] for group in view.shown), tuple(lines), uncompared)


class View:
    """The groups as estimates have them: one set of these, or many that other noise would have made."""

    def __init__(self, model: SummaryModel, schema: Schema, estimates: Estimates) -> None:
        assert model.by is not None
        self.model, self.schema, self.own, self.by = model, schema, estimates, model.by

    @cached_property
    def shown(self) -> tuple[int, ...]:
        """Groups that noise does not hide."""
        cells = self.model.axes[self.by].cells(self.schema)
        counts, deviation = self.model.estimates.table((self.by,)), self.model.estimates.deviation((self.by,))
        enough = [place for place, count in enumerate(counts) if count > _SEEN * deviation]
        return tuple(enough) or tuple(place for place, cell in enumerate(cells) if cell not in RESERVED)

    def pair(self, place: int) -> tuple[int, int]:
        """Axes of the table of an axis in the groups."""
        return min(place, self.by), max(place, self.by)

    def counts(self, place: int) -> Floats:
        """Counts without bias, of each cell of an axis in each group: shape (..., n_groups, n_cells)."""
        table = self.own.table(self.pair(place))
        table = table if place > self.by else np.swapaxes(table, -1, -2)
        return np.asarray(table[..., list(self.shown), :])

    def whole(self, place: int) -> bool:
        """Whether the numbers of an axis are whole."""
        return self.model.axes[place].whole(self.schema)

    def known(self, place: int, filled: int) -> list[bool]:
        """Of each group, whether anybody seems to be in the first cells of an axis, those of its numbers."""
        return [bool(count >= 1) for count in self.counts(place)[:, :filled].sum(axis=-1)]

    def compared(self, place: int, cells: int) -> list[int]:
        """Which of the shown groups have enough people for their shares of so many cells to be compared."""
        counts = self.model.estimates.table((self.by,))[list(self.shown)]
        deviation = self.model.estimates.deviation(self.pair(place)) * math.sqrt(cells)
        return [group for group, count in enumerate(counts) if count > _COMPARED * deviation]

    @cached_property
    def sizes(self) -> Floats:
        """People in each group: shape (..., n_groups)."""
        return np.maximum(self.own.table((self.by,))[..., list(self.shown)], 1.0)

    def shares(self, place: int, cells: list[int]) -> Floats:
        """Shares within each group among some cells of an axis: not negative, each group summing to 1."""
        return _shares_of(self.counts(place)[..., cells])


def _shares_of(counts: Floats) -> Floats:
    """Shares of the cells in each group: not negative, each group summing to 1."""
    near = nearest_rows(counts, np.maximum(counts.sum(axis=-1), 1.0))
    return np.asarray(near / near.sum(axis=-1, keepdims=True))


def _alike(counts: Floats, again: Floats) -> Floats:
    """Counts as noise alone would make them of groups that are alike: shares of all groups together, with its noise.

    Parameters
    ----------
    counts : array of shape (n_groups, n_cells)
    again : array of shape (n_draws, n_groups, n_cells)
        The same with other noise on top.
    """
    sizes = np.maximum(counts.sum(axis=-1, keepdims=True), 1.0)
    together = sizes * (_shares_of(counts) * sizes).sum(axis=0) / sizes.sum()
    return np.asarray(together + again - counts)


def _lines(view: View, gap: Amount | None, place: int) -> list[Line]:
    axis, schema = view.model.axes[place], view.schema
    label, ends, cells = axis.label(schema), axis.ends(schema), axis.cells(schema)
    shares = _shares(view, place)
    if ends is None:
        told = [number for number in range(len(cells)) if _worth_a_line(cells[number], shares[number])]
        return [
            Line(axis.name, label, "", (), gap),
            *(Line(axis.name, cells[own], "share", shares[own]) for own in told),
        ]
    middle = middles(ends, whole=view.whole(place))
    inside = view.shares(place, list(range(len(middle))))
    lines = [
        Line(axis.name, label, "mean", _means(view, place, ends), gap),
        Line(axis.name, "median", "median", _medians(view, place, inside, ends)),
    ]
    rest = range(len(middle), len(cells))
    return lines + [
        Line(axis.name, cells[own], "share", shares[own]) for own in rest if _worth_a_line(cells[own], shares[own])
    ]


class _Compared:
    """A column of which the groups are compared: those with enough people, in the cells that stand for a value."""

    def __init__(self, view: View, place: int) -> None:
        axis, schema = view.model.axes[place], view.schema
        ends = axis.ends(schema)
        self.place, self.variance = place, view.own.deviation(view.pair(place)) ** 2
        self.middle = None if ends is None else middles(ends, whole=view.whole(place))
        self.known = [number for number, cell in enumerate(axis.cells(schema)) if cell not in RESERVED]
        self.groups = view.compared(place, len(self.known))
        self.counts = self._of(view)

    @property
    def too_many(self) -> bool:
        """Whether comparing all groups with each other would take too long."""
        return len(self.groups) ** 2 * len(self.known) > _MOST_COMPARED

    @property
    def told(self) -> bool:
        """Whether there is something to compare."""
        return len(self.groups) > 1 and not self.too_many

    def moved(self, view: View) -> tuple[Floats, Floats]:
        """What other noise makes of the difference, and of one of 0: shape (n_draws,) each."""
        again = self._of(view)
        # What is drawn carries the noise of the release, and its own on top.
        return self._gap(again, 2 * self.variance), self._gap(_alike(self.counts, again), self.variance)

    def difference(self, drawn: list[tuple[Floats, Floats]]) -> Amount:
        """The largest standardised difference between two groups."""
        again, alone = (np.concatenate(one) for one in zip(*drawn, strict=True))
        value, ratio = float(self._gap(self.counts, self.variance)), self.middle is not None
        return folded_interval(value, again, alone=alone, ratio=ratio)

    def _of(self, view: View) -> Floats:
        return np.asarray(view.counts(self.place)[..., self.groups, :][..., self.known])

    def _gap(self, counts: Floats, variance: float) -> Floats:
        if self.middle is None:
            return _gap_of_shares(counts, variance)
        return _gap_of_means(counts, self.middle, variance)


def _compared(view: View) -> list[_Compared]:
    """Every column but that of the groups."""
    return [_Compared(view, place) for place in range(len(view.model.axes)) if place != view.by]


def _differences(columns: Sequence[_Compared], view: View, seed: int) -> dict[int, Amount]:
    """Standardised difference of each column that has one, by its place."""
    drawn: dict[int, list[tuple[Floats, Floats]]] = {one.place: [] for one in columns if one.told}
    for again in view.own.redraws(seed) if drawn else ():
        other = View(view.model, view.schema, again)
        for one in columns:
            if one.told:
                drawn[one.place].append(one.moved(other))
    return {one.place: one.difference(drawn[one.place]) for one in columns if one.told}


def _worth_a_line(cell: str, shares: tuple[Amount, ...]) -> bool:
    """Cells that stand for no value have one only if somebody seems to be in them."""
    return cell not in RESERVED or any(own.low > 0 or own.value > _RARE for own in shares)


def _shares(view: View, place: int) -> list[tuple[Amount, ...]]:
    """Share of each cell within each group, cell by cell."""
    own, counts = view.own, view.counts(place)
    values = view.shares(place, list(range(counts.shape[1])))
    denominator = Denominator(view.sizes[:, None], own.deviation((view.by,)) ** 2, counts.shape[1])
    low, high = share_intervals(counts, own.deviation(view.pair(place)) ** 2, denominator, gaussian=own.gaussian)
    low, high = np.minimum(low, values), np.maximum(high, values)
    return [
        tuple(Amount(float(v), float(a), float(b)) for v, a, b in zip(values[:, c], low[:, c], high[:, c], strict=True))
        for c in range(counts.shape[1])
    ]


def _means(view: View, place: int, ends: tuple[float, ...]) -> tuple[Amount, ...]:
    """Mean of each group, made as a column's own mean is."""
    filled, whole, margin = len(ends) - 1, view.whole(place), margin_of(view.own)
    alike, apart = _row_variances(view, place)

    def variance(weights: Floats) -> float:
        total = float(weights.sum())
        return alike * total**2 + apart * max(float(weights @ weights) - total**2 / view.own.sizes[place], 0.0)

    nothing = anything(ends, (), whole=whole)[1]
    return tuple(
        mean_of(counts, ends, variance, margin, whole=whole) if known else nothing
        for counts, known in zip(view.counts(place)[:, :filled], view.known(place, filled), strict=True)
    )


def _variances(shares: Floats, middle: Floats) -> Floats:
    return np.maximum(shares @ middle**2 - (shares @ middle) ** 2, 0.0)


def _medians(view: View, place: int, inside: Floats, ends: tuple[float, ...]) -> tuple[Amount, ...]:
    """Median of each group, with the interval that a column's own median has."""
    filled, margin = len(ends) - 1, margin_of(view.own)

    def spread(below: Floats) -> Floats:
        return margin * deviations_below(view, place, filled, below)

    counts, whole = view.counts(place)[:, :filled], view.whole(place)
    found = (quantiles_in_band(ends, *one, spread, (0.5,), whole=whole) for one in zip(inside, counts, strict=True))
    nothing = anything(ends, (0.5,), whole=whole)[0]
    known = view.known(place, filled)
    return tuple((own if told else nothing)[0.5] for own, told in zip(found, known, strict=True))


def deviations_below(view: View, place: int, filled: int, below: Floats) -> Floats:
    """Deviation of the number of people of one group up to each cell, less a share of all with a number."""
    cells = view.own.sizes[place]
    alike, apart = _row_variances(view, place)
    first = np.arange(filled + 1)
    sums = first - below * filled
    squares = first * (1 - below) ** 2 + (filled - first) * below**2
    return np.asarray(np.sqrt(np.maximum(alike * sums**2 + apart * (squares - sums**2 / cells), 0.0)))


def _row_variances(view: View, place: int) -> tuple[float, float]:
    """Variances of a weighted sum of the cells of a group, by the square of the sum of its weights and by what is left.

    The count of a cell of the group is a sum of four orthogonal parts; weights w on the cells of its row move
    those that no cell tells apart by the sum of w, and the others by what of w is left without its mean.
    """
    own, groups, cells = view.own, view.own.sizes[view.by], view.own.sizes[place]
    alike = own.variance(()) / (groups * cells) ** 2 + own.variance((view.by,)) * (1 - 1 / groups) / cells**2
    apart = own.variance((place,)) / groups**2 + own.variance(view.pair(place)) * (1 - 1 / groups)
    return alike, apart


def _gap_of_means(counts: Floats, middle: Floats, variance: float) -> Floats:
    """Largest standardised difference of two means: shape (...).

    Means and variances are those of counts without bias. Without the negative ones, noise in empty cells of large
    numbers would make a variance far too large: such counts only tell how small it may be.

    Parameters
    ----------
    counts : array of shape (..., n_groups, n_cells)
        Without bias.
    variance : float
        Of the noise on each.
    """
    size, away = np.maximum(counts.sum(axis=-1), 1.0), middle - middle.mean()
    means = counts @ away / size
    squares = counts @ away**2 / size - means**2 + variance * _spread_of(away, means) / size**2
    least = _LEAST_VARIANCE * _variances(_shares_of(counts), away) + 1e-12
    widest = np.zeros(means.shape[:-1])
    for first in range(1, means.shape[-1]):
        apart = np.abs(means[..., first, None] - means[..., :first])
        common, floor = ((own[..., first, None] + own[..., :first]) / 2 for own in (squares, least))
        widest = np.maximum(widest, (apart / np.sqrt(np.maximum(common, floor))).max(axis=-1))
    return widest


def _spread_of(numbers: Floats, means: Floats) -> Floats:
    """Sum of the squares by which numbers are off each mean: what a unit of noise on every count adds to its square."""
    return np.asarray((numbers**2).sum() - 2 * means * numbers.sum() + len(numbers) * means**2)


def _gap_of_shares(counts: Floats, variance: float) -> Floats:
    """Largest standardised difference of two distributions over categories: shape (...) (Yang, Dalton 2012).

    With a for the differences of the shares and m for their means, the covariance of all categories but one is
    diag(m) - m m' - a a' / 4, so that the squared distance is q / (1 - q / 4) for q, the sum of a^2 / m (proof:
    ``docs/privacy/summaries.md``). What noise adds to q on average is taken off.

    Parameters
    ----------
    counts : array of shape (..., n_groups, n_cells)
        Without bias.
    variance : float
        Of the noise on each.
    """
    size, cells = np.maximum(counts.sum(axis=-1, keepdims=True), 1.0), counts.shape[-1]
    shares, near = counts / size, _shares_of(counts)
    noise = variance * (1 - 2 * near + cells * near**2) / size**2
    widest = np.zeros(counts.shape[:-2])
    for first in range(1, counts.shape[-2]):
        away = shares[..., first, None, :] - shares[..., :first, :]
        by_noise = noise[..., first, None, :] + noise[..., :first, :]
        # A mean is no smaller than the noise on it: smaller ones would make much of little.
        mean = np.maximum((near[..., first, None, :] + near[..., :first, :]) / 2, np.sqrt(by_noise) / 2 + 1e-12)
        widest = np.maximum(widest, ((away**2 - by_noise) / mean).sum(axis=-1).max(axis=-1))
    square = np.minimum(widest, _APART)
    return np.asarray(np.sqrt(square / (1 - square / 4)))


def _sizes(view: View) -> tuple[Amount, ...]:
    counts = view.own.table((view.by,))[list(view.shown)]
    low, high = intervals(counts, view.own.deviation((view.by,)), gaussian=view.own.gaussian)
    return tuple(Amount(float(max(v, 0.0)), float(a), float(b)) for v, a, b in zip(counts, low, high, strict=True))


def differences(model: SummaryModel, schema: Schema, seed: int = 1) -> dict[int, Amount]:
    """Standardised difference of each column that has one, by its place: those of :func:`table_one`."""
    view = View(model, schema, model.estimates)
    return _differences(_compared(view), view, seed)
