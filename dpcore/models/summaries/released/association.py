"""Cramér's V of two columns from a noisy table of both, with an interval for the noise.

Values that are too rare for the noise are pooled: V divides by the expected count of every cell, which
noise alone would decide. The interval inverts a test: it holds each V under which the noise makes a table
like the released one. Proof and derivation: ``docs/privacy/summaries.md``.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Final

import numpy as np

from dpcore.arrays import Floats
from dpcore.domain.columns import RESERVED
from dpcore.models.summaries.released.estimates import Axes, Estimates
from dpcore.models.summaries.released.intervals import Amount
from dpcore.models.summaries.released.reading import ColumnReading
from dpcore.models.summaries.released.summary_model import SummaryModel

#: A value, or a pool of values, needs a count above so many deviations of the noise on it.
_CLEAR: Final = 5.0
_TAIL: Final = 0.025
#: Halvings by which an end of an interval is found.
_HALVINGS: Final = 40


@dataclass(frozen=True)
class Association:
    """Two axes and Cramér's V: 0 if they are independent, 1 if one determines the other."""

    axes: Axes
    strength: Amount


@dataclass(frozen=True)
class Pooling:
    """Which cells of an axis Cramér's V compares."""

    groups: tuple[tuple[int, ...], ...]
    """Cells that count as one value, the pool last."""
    pooled: tuple[int, ...]
    left_out: tuple[int, ...]
    """``pooled``, ``left_out``: rare cells: in the pool, or left out as even their pool is too rare for the noise."""

    def indicator(self, size: int) -> Floats:
        """Matrix of shape (n_groups, size) that adds up the cells of each group."""
        found = np.zeros((len(self.groups), size))
        for row, cells in enumerate(self.groups):
            found[row, list(cells)] = 1.0
        return found


def pooling(own: Estimates, axis: int) -> Pooling:
    """Pool the rare cells of an axis; of what was released alone."""
    counts, margin = own.table((axis,)), _CLEAR * own.deviation((axis,))
    clear = tuple((cell,) for cell in range(len(counts)) if counts[cell] > margin)
    rare = tuple(cell for cell in range(len(counts)) if counts[cell] <= margin)
    if rare and counts[list(rare)].sum() > margin * math.sqrt(len(rare)):
        return Pooling((*clear, rare), rare, ())
    return Pooling(clear, (), rare)


def poolings(model: SummaryModel) -> dict[int, Pooling]:
    """Of every axis that is in a pair, in order."""
    return {axis: pooling(model.estimates, axis) for axis in sorted({axis for pair in model.pairs for axis in pair})}


def associations(model: SummaryModel, seed: int = 1) -> list[Association]:
    """Cramér's V of all pairs that were counted, the largest first.

    Where noise hides all but one value of a column V may be anything from 0 to 1.
    """
    own, pairs, pools = model.estimates, model.pairs, poolings(model)
    clear = [pair for pair in pairs if all(len(pools[axis].groups) > 1 for axis in pair)]
    tables = {pair: _PooledTable(own, pair, [pools[axis] for axis in pair]) for pair in clear}
    for again in own.redraws(seed) if tables else ():
        for table in tables.values():
            table.add(again)
    found = [Association(pair, tables[pair].strength() if pair in tables else Amount(0.0, 0.0, 1.0)) for pair in pairs]
    return sorted(found, key=lambda one: -one.strength.value)


class _PooledTable:
    """A table of two axes, and what other noise would do to its distance from independence.

    Let D be the table less that of independence, and n what a redraw adds to D. A table whose interaction is s D
    has, with that noise, the mean square contingency s² (D, D) + 2 s (D, n) + (n, n), in the metric of the expected
    counts of the redraw.
    """

    def __init__(self, own: Estimates, pair: Axes, pools: Sequence[Pooling]) -> None:
        self._pair = pair
        self._rows, self._columns = (pool.indicator(own.sizes[axis]) for pool, axis in zip(pools, pair, strict=True))
        table = self._pooled(own)
        self._apart, self._most = table - _independent(table), min(table.shape) - 1
        self._released = float((self._apart**2 * _metric(table)).sum())
        self._squares: list[Floats] = []

    def add(self, drawn: Estimates) -> None:
        """Take in some redraws."""
        table = self._pooled(drawn)
        noise, metric = table - _independent(table) - self._apart, _metric(table)
        products = (self._apart**2, 2 * self._apart * noise, noise**2)
        self._squares.append(np.stack([(one * metric).sum(axis=(-1, -2)) for one in products]))

    def strength(self) -> Amount:
        """Cramér's V, less what noise adds to its square on average, with its 95 % interval."""
        released, (apart, cross, noise) = self._released, np.concatenate(self._squares, axis=1)
        added = float(noise.mean())

        def v(square: float) -> float:
            return min(1.0, math.sqrt(max(square, 0.0) / self._most))

        def end(share: float, target: float) -> float:
            """The V under which a share of the tables has at most this mean square contingency."""
            low, high = 0.0, math.sqrt(self._most / max(released, 1e-12))
            for _ in range(_HALVINGS):
                middle = (low + high) / 2
                reached = np.quantile(middle**2 * apart + middle * cross + noise, share)
                low, high = (middle, high) if reached < target else (low, middle)
            return v(high**2 * released)

        value = v(released - added)
        # A value below what noise makes on average leaves as much room as that: no interval is empty.
        low, high = end(1 - _TAIL, released), end(_TAIL, max(released, added))
        hidden = bool(np.quantile(noise, 1 - _TAIL) >= released)
        return Amount(value, 0.0 if hidden else min(low, value), max(high, value))

    def _pooled(self, estimates: Estimates) -> Floats:
        return np.asarray(self._rows @ estimates.table(self._pair) @ self._columns.T)


def cramer_v(table: Floats) -> float:
    """Cramér's V of a table without noise; 0 where fewer than two rows or columns hold anybody."""
    table = table[table.sum(axis=1) > 0][:, table.sum(axis=0) > 0]
    if min(table.shape) < 2:
        return 0.0
    expected = _independent(table)
    return math.sqrt(float(((table - expected) ** 2 / expected).sum() / table.sum()) / (min(table.shape) - 1))


def _metric(table: Floats) -> Floats:
    """What the square of each cell counts: one divided by its expected count and by all records."""
    return np.asarray(
        1 / (np.maximum(_independent(table), 1.0) * np.maximum(table.sum(axis=(-1, -2), keepdims=True), 1.0))
    )


def _independent(table: Floats) -> Floats:
    """The table of the same margins in which rows and columns are independent."""
    rows, columns = (np.maximum(table.sum(axis=axis, keepdims=True), 1.0) for axis in (-1, -2))
    return np.asarray(rows * columns / np.maximum(table.sum(axis=(-1, -2), keepdims=True), 1.0))


def most_notable_first(groups: int | None, gaps: Mapping[int, Amount], readings: Sequence[ColumnReading]) -> list[int]:
    """Places of all columns, the most remarkable first.

    With groups, those that surely differ most between them (low end of the standardised
    difference); where noise hides the differences, and without groups, those that are far from
    even or have much missing. The column of the groups comes first.

    Parameters
    ----------
    groups : int or None
        Place of the column of the groups.
    gaps : mapping
        Standardised difference of columns, by place.
    """
    surely = {place: gap.low for place, gap in gaps.items()}
    return sorted(
        range(len(readings)), key=lambda place: (place != groups, -surely.get(place, 0.0), -uneven(readings[place]))
    )


def uneven(reading: ColumnReading) -> float:
    """From 0, if every cell has as many people, to 1, if one has all; missing values come on top."""
    known = [
        float(share) for cell, share in zip(reading.cells, reading.shares.values, strict=True) if cell not in RESERVED
    ]
    total = sum(known)
    gone = 0.0 if reading.missing is None else reading.missing.value
    if total <= 0 or len(known) < 2:
        return gone
    spread = -sum(share / total * math.log(share / total) for share in known if share > 0)
    return 1 - spread / math.log(len(known)) + gone
