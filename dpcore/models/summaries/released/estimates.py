"""From noisy tables to the best estimates of all counts, which agree with each other.

Every table on one axis or two is a sum of an overall mean, of what each axis adds, and of what two
add together. These parts are orthogonal, so with independent noise of one scale within each table
the least-squares estimate of a part is the mean of what the tables that hold it tell of it,
weighted by their precision; and its variance is known in closed form. Sums of the parts are
estimates of all tables that agree on every total, without bias (the same parts as in Xiao, He,
Zhang, Kifer 2023, "An optimal and scalable matrix mechanism for noisy marginals"). Post-processing:
costs nothing. Proof: ``docs/privacy/summaries.md``.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import combinations

import numpy as np

from dpcore.arrays import Floats
from dpcore.privacy.randomness import public_generator
from dpcore.released.noisy_counts import nearest

#: Places of axes, ascending: of a table, or of a part of one.
Axes = tuple[int, ...]
#: Places of two axes, ascending.
Pair = tuple[int, int]


@dataclass(frozen=True)
class Measured:
    """One noisy table."""

    axes: Axes
    counts: Floats
    """Shape (..., the sizes of the axes)."""
    deviation: float
    """Standard deviation of the noise on each count."""


def parts_of(axes: Axes) -> list[Axes]:
    """The parts that a table is a sum of: one for every subset of its axes."""
    return [own for count in range(len(axes) + 1) for own in combinations(axes, count)]


def cells_beside(sizes: Sequence[int], axes: Axes, part: Axes) -> int:
    """Cells of a table over which a part of it is spread evenly."""
    return math.prod(sizes[axis] for axis in axes if axis not in part)


def spread(sizes: Sequence[int], axes: Axes, part: Axes) -> float:
    """Variance of a cell of a table for each unit of variance of a part."""
    own = math.prod(1 - 1 / sizes[axis] for axis in part)
    return own / cells_beside(sizes, axes, part) ** 2


class Estimates:
    """Least-squares estimates of tables, from all that were measured.

    Parameters
    ----------
    sizes : sequence of int
        Cells of each axis.
    measured : iterable of Measured
    gaussian : bool
        Whether the noise is Gaussian.
    """

    def __init__(self, sizes: Sequence[int], measured: Iterable[Measured], *, gaussian: bool) -> None:
        self.sizes, self.gaussian = tuple(sizes), gaussian
        self.measured = tuple(measured)
        self._parts: dict[Axes, Floats] = {}
        self._variances: dict[Axes, float] = {}
        weighted: dict[Axes, Floats] = {}
        precision: dict[Axes, float] = {}
        for table in self.measured:
            for part in parts_of(table.axes):
                weight = 1 / (table.deviation**2 * cells_beside(self.sizes, table.axes, part))
                told = weight * _part(table, part)
                weighted[part] = weighted[part] + told if part in weighted else told
                precision[part] = precision.get(part, 0.0) + weight
        for part, sums in weighted.items():
            self._parts[part], self._variances[part] = sums / precision[part], 1 / precision[part]

    def __contains__(self, axes: Axes) -> bool:
        """Whether a table can be told: each of its parts was measured."""
        return all(part in self._parts for part in parts_of(axes))

    def table(self, axes: Axes) -> Floats:
        """Estimate of a table, without bias; may be negative. Raises ``KeyError`` if it was not measured."""
        total = np.zeros([1] * len(axes))
        for part in parts_of(axes):
            own = [self.sizes[axis] if axis in part else 1 for axis in axes]
            told = self._parts[part]
            before = told.shape[: told.ndim - len(part)]
            total = total + told.reshape(*before, *own) / cells_beside(self.sizes, axes, part)
        return np.asarray(total)

    def deviation(self, axes: Axes) -> float:
        """Standard deviation of every cell of :meth:`table`."""
        return math.sqrt(sum(self._variances[part] * spread(self.sizes, axes, part) for part in parts_of(axes)))

    def follow(self, axis: int, counts: Floats, values: Floats) -> None:
        """Tell an axis by better estimates with the same total, and by these without negative counts.

        Its deviations stay what they are: they are no smaller than those of the better ones.
        """
        self._parts[(axis,)] = counts - counts.mean()
        for axes in [axes for axes in self._consistent if axis in axes]:
            del self._consistent[axes]
        self._consistent[(axis,)] = values

    def variance(self, part: Axes) -> float:
        """Variance of the noise on what is known of a part, before means are taken off."""
        return self._variances[part]

    @property
    def total(self) -> float:
        """Estimated number of records."""
        return float(self._parts[()])

    @property
    def total_deviation(self) -> float:
        """Standard deviation of :attr:`total`."""
        return math.sqrt(self._variances[()])

    def below_deviation(self, axis: int) -> Floats:
        """Standard deviation of the number of records in the first j cells of an axis, j from 0 to all."""
        size, total, own = self.sizes[axis], self._variances[()], self._variances[(axis,)]
        share = np.arange(size + 1) / size
        return np.asarray(np.sqrt(share**2 * total + size * share * (1 - share) * own))

    def consistent(self, axes: Axes) -> Floats:
        """Estimate of a table without negative counts; all tables on an axis agree on it.

        Those on one axis are the nearest to :meth:`table` with the same total. A table on two is made
        to fit both of them by alternate scaling, from its own counts without the negative ones.
        """
        if axes not in self._consistent:
            self._consistent[axes] = self._single(axes[0]) if len(axes) == 1 else self._double(axes)
        return self._consistent[axes]

    @cached_property
    def _consistent(self) -> dict[Axes, Floats]:
        return {}

    def _single(self, axis: int) -> Floats:
        return nearest(self.table((axis,)), max(self.total, 0.0))

    def _double(self, axes: Axes) -> Floats:
        rows, columns = (self.consistent((axis,)) for axis in axes)
        total = rows.sum()
        if total <= 0:
            return np.zeros([self.sizes[axis] for axis in axes])
        table = nearest(self.table(axes), total)
        return scaled(table, rows, columns)

    def redraws(self, seed: int) -> Iterator[Estimates]:
        """:meth:`redrawn` many times over, a few at once, as those of large tables would not fit into memory together.

        Of the largest tables there are fewer of them, as each takes longer.
        """
        generator, cells = public_generator(seed), sum(own.counts.size for own in self.measured)
        left, at_once = min(max(_FEWEST, _NUMBERS // cells), _DRAWS), max(1, _AT_ONCE // cells)
        while left:
            yield self.redrawn(generator, min(left, at_once))
            left -= min(left, at_once)

    def redrawn(self, generator: np.random.Generator, draws: int) -> Estimates:
        """Estimates as other noise might have made them, around these: how much noise alone moves what is told.

        Their tables have the shape (draws, the sizes of the axes); nothing but tables is told of them.
        """
        again = [
            Measured(own.axes, self.table(own.axes) + self._noise(generator, draws, own), own.deviation)
            for own in self.measured
        ]
        return Estimates(self.sizes, again, gaussian=self.gaussian)

    def _noise(self, generator: np.random.Generator, draws: int, table: Measured) -> Floats:
        shape = (draws, *table.counts.shape)
        if self.gaussian:
            return generator.normal(0.0, table.deviation, shape)
        return generator.laplace(0.0, table.deviation / math.sqrt(2), shape)


#: Redraws, at most and at least; numbers that all of them take, if that is not more, and numbers drawn at once.
_DRAWS, _FEWEST, _NUMBERS, _AT_ONCE = 200, 60, 100_000_000, 2_000_000
#: Share of independence in a table on two axes, and how often it is scaled to its margins.
_SLIGHT, _ROUNDS = 1e-3, 60


def _part(table: Measured, part: Axes) -> Floats:
    """What a table tells of a part: its margin on the axes of the part, without what fewer axes tell."""
    count = len(table.axes)
    away = tuple(place - count for place, axis in enumerate(table.axes) if axis not in part)
    margin = np.asarray(table.counts.sum(axis=away))
    for place in range(-len(part), 0):
        margin = margin - margin.mean(axis=place, keepdims=True)
    return margin


def scaled(table: Floats, rows: Floats, columns: Floats) -> Floats:
    """A table without negative counts, made to fit the sums of its rows and columns by alternate scaling."""
    # Where a margin asks for more than noise has left, a little of independence lets it grow.
    table = table + _SLIGHT * np.outer(rows, columns) / rows.sum()
    for _ in range(_ROUNDS):
        table *= _ratio(rows, table.sum(axis=1))[:, None]
        table *= _ratio(columns, table.sum(axis=0))[None, :]
    return np.asarray(table)


def _ratio(wanted: Floats, found: Floats) -> Floats:
    return np.divide(wanted, found, out=np.zeros_like(wanted), where=found > 0)


class Links:
    """Axes in groups: two of a group are linked by pairs, directly or one after another.

    Parameters
    ----------
    axes : int
        How many there are.
    tables : iterable of axes
        What is counted; only tables of two axes link.
    """

    def __init__(self, axes: int, tables: Iterable[Axes]) -> None:
        self._group = list(range(axes))
        for own in tables:
            if len(own) > 1:
                self.add((own[0], own[1]))

    def add(self, pair: Pair) -> None:
        """Link two axes."""
        kept, gone = (self._group[axis] for axis in pair)
        self._group = [kept if group == gone else group for group in self._group]

    def linked(self, pair: Pair) -> bool:
        """Whether two axes are linked already."""
        return self._group[pair[0]] == self._group[pair[1]]

    def missing(self, candidates: Iterable[Pair]) -> int:
        """How many further links of some that could be made are no circle; all of them are made."""
        made = 0
        for pair in candidates:
            if not self.linked(pair):
                self.add(pair)
                made += 1
        return made
