"""What a first look tells of codes, from the coarsest groups down: only branches that stand out of the noise."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from statistics import NormalDist

import numpy as np

from dpcore.arrays import Flags, Ints
from dpcore.domain.columns import RESERVED
from dpcore.domain.schemas.schema import Schema
from dpcore.models.summaries.released.finer import Level
from dpcore.models.summaries.released.intervals import CONFIDENCE, Amount, Cells, around, intervals
from dpcore.models.summaries.released.summary_model import SummaryModel
from dpcore.models.summaries.released.summary_words import cell_words


@dataclass(frozen=True)
class Branch:
    """A group of codes, or a code, that stands out of the noise.

    Attributes
    ----------
    name : str
        For people.
    level : str
        What its level is called; empty of the cells of the column themselves.
    depth : int
        Levels above it that are shown.
    count : Amount
    share : float
        Of all records.
    folded : int
        How many of the groups or codes right below it the noise hides.
    """

    name: str
    level: str
    depth: int
    count: Amount
    share: float
    folded: int


def branches(model: SummaryModel, schema: Schema, place: int) -> list[Branch]:
    """Branches of one of the model's trees, each followed by those below it.

    A branch is shown if its count is above 0 beyond what noise would make of any of the empty cells of its level,
    in 19 of 20 cases; those below it only if it is itself.
    """
    tree, levels = model.trees[place], model.levels[place]
    names = [_words(level.cells) for level in tree.levels] + [cell_words(model.axes[tree.axis], schema)]
    titles = [level.name for level in tree.levels] + [""]
    return _View.of(names, titles, levels, gaussian=model.gaussian).branches()


def _words(cells: Sequence[str]) -> tuple[str, ...]:
    return tuple(cell.strip("()") if cell in RESERVED else cell for cell in cells)


def _cells(level: Level, *, gaussian: bool) -> Cells:
    scale = np.maximum(level.deviations, 1e-12)
    low, high = intervals(level.counts / scale, 1.0, gaussian=gaussian)
    return around(level.values, low * scale, high * scale)


def _clear(level: Level, cells: Cells, *, gaussian: bool) -> Flags:
    """Cells of a level that stand out of the noise, all of them together (Bonferroni)."""
    chance = (1 - CONFIDENCE) / len(level.counts)
    # Of geometric noise the tail is that of Laplace noise; sums of it have lighter ones.
    needed = NormalDist().inv_cdf(1 - chance) if gaussian else math.log(1 / (2 * chance)) / math.sqrt(2)
    return np.asarray((cells.low > 0) & (level.counts > needed * level.deviations))


@dataclass(frozen=True)
class _View:
    names: list[tuple[str, ...]]
    titles: list[str]
    levels: Sequence[Level]
    cells: list[Cells]
    clear: list[Flags]

    @classmethod
    def of(cls, names: list[tuple[str, ...]], titles: list[str], levels: Sequence[Level], *, gaussian: bool) -> _View:
        """View of all levels."""
        cells = [_cells(level, gaussian=gaussian) for level in levels]
        clear = [_clear(level, own, gaussian=gaussian) for level, own in zip(levels, cells, strict=True)]
        return cls(names, titles, levels, cells, clear)

    def branches(self) -> list[Branch]:
        """All that stand out."""
        return [branch for cell in range(len(self.names[0])) for branch in self.under(0, cell, 0)]

    def under(self, place: int, cell: int, depth: int) -> list[Branch]:
        """The branch of a cell and all below it; nothing, if the noise hides it."""
        if not self._stands_out(place, cell):
            return []
        name, below = self.names[place][cell], self._below(place, cell)
        title = self.titles[place]
        while len(below) == 1:  # A group with a single part is as large as that: both are one branch.
            place, cell = place + 1, int(below[0])
            only, below = self.names[place][cell], self._below(place, cell)
            name = name if only in name else f"{name.removesuffix(')').split(' (')[0]} ({only})"
        hidden = sum(not self._stands_out(place + 1, int(own)) for own in below)
        total = max(float(self.cells[0].values.sum()), 1.0)
        count = self.cells[place].amount(cell)
        own = Branch(name, title, depth, count, count.value / total, hidden)
        return [own, *(branch for child in below for branch in self.under(place + 1, int(child), depth + 1))]

    def _below(self, place: int, cell: int) -> Ints:
        if place + 1 == len(self.levels):
            return np.empty(0, dtype=np.int64)
        return np.flatnonzero(self.levels[place + 1].parents == cell)

    def _stands_out(self, place: int, cell: int) -> bool:
        return bool(self.clear[place][cell])
