"""What a first look reveals of the records, for rehearsals: distributions, and how one column follows all others."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import cached_property, partial
from typing import Any, Final

import numpy as np

from dpcore.arrays import Floats, Ints
from dpcore.domain.schemas.schema import Schema
from dpcore.models.summaries.released.estimates import Pair
from dpcore.models.summaries.released.summary_parameters import Axis
from dpcore.models.summaries.released.synthesis import Source, draw_codes, values_of
from dpcore.privacy.randomness import public_generator
from dpcore.released.evidence import Evidence, Groups
from dpcore.released.invented import Records

_ROUNDS: Final = 20
_LEAST: Final = 1e-9


def outcomes(
    codes: Mapping[int, Ints], axis: int, tables: Mapping[Pair, Floats], generator: np.random.Generator
) -> Ints:
    """Cells of one axis for records whose other cells are known; those that they have, if no pair tells of it.

    Parameters
    ----------
    codes : mapping of int to array of shape (n_records,)
    tables : mapping of (int, int) to array
        Counts of two axes.
    """
    told = [
        (codes[pair[1] if pair[0] == axis else pair[0]], table.T if pair[0] == axis else table)
        for pair, table in tables.items()
        if axis in pair
    ]
    if not told:
        return codes[axis]
    classes = told[0][1].shape[1]
    even = np.full((classes, len(codes[axis])), 1 / classes)
    chances = _fitted(even, told)
    part = sure(chances)
    likeliest = np.eye(classes)[:, chances.argmax(axis=0)]
    chances = _fitted((1 - part) * chances + part * likeliest, told)
    limits = np.cumsum(chances, axis=0)[:-1]
    return np.asarray((generator.random(chances.shape[1]) > limits).sum(axis=0))


def sure(chances: Floats) -> float:
    """Share of the records that follow the most likely value: of guesses wrong without the pairs, that right with them.

    Parameters
    ----------
    chances : array of shape (n_classes, n_records)

    Returns
    -------
    float
        From 0, if the pairs tell nothing, to 1, if they leave nothing open.
    """
    least, most = chances.mean(axis=1).max(), chances.max(axis=0).mean()
    return float((most - least) / max(1 - least, _LEAST))


def _fitted(chances: Floats, told: list[tuple[Ints, Floats]]) -> Floats:
    """Chances with which the records have the pairs, by alternate scaling.

    Parameters
    ----------
    chances : array of shape (n_classes, n_records)
        One class after the other, as sums and counts are quickest.
    told : list of (array of shape (n_records,), array of shape (n_cells, n_classes))
        Cells of another axis, and the counts of both.
    """
    shares = [(cells, (table / np.maximum(table.sum(axis=1, keepdims=True), _LEAST)).T) for cells, table in told]
    for _ in range(_ROUNDS):
        for cells, wanted in shares:
            now = np.stack([np.bincount(cells, own, wanted.shape[1]) for own in chances])
            found = now / np.maximum(now.sum(axis=0), _LEAST)
            chances = chances * ((wanted + _LEAST) / (found + _LEAST))[:, cells]
            chances /= chances.sum(axis=0)
    return chances


@dataclass(frozen=True)
class CellBins:
    """Every cell of a column is a bin of its own."""

    column: str
    edges: tuple[float, ...] | None
    groups: tuple[int, ...]
    cells: int

    def __len__(self) -> int:
        """Cells."""
        return self.cells


class SummaryEvidence(Evidence):
    """How many records are in each cell of each column, and of each pair."""

    def groups(self) -> Iterator[Groups]:
        """Records by their cells, column by column, and by the pairs that tell more than noise would.

        Counts are the estimates: what noise adds to their structure stands in for what no pair tells.
        """
        own, source = self.model.estimates, self._source
        for place, axis in enumerate(self.model.axes):
            if not axis.rows:
                counts, error = source.columns[place], own.deviation((place,))
                yield Groups(partial(_cells, axis.name), counts, error, self._bins(axis, len(counts)), (axis.name,))
        for (first, second), table in source.pairs.items():
            one, other = self.model.axes[first], self.model.axes[second]
            if not (one.rows or other.rows):
                error, names = own.deviation((first, second)), (one.name, other.name)
                yield Groups(partial(_pairs, *names, self.model.sizes[second]), table.ravel(), error, columns=names)

    @cached_property
    def _source(self) -> Source:
        return Source(self.model, likely=False)

    def _bins(self, axis: Axis, cells: int) -> CellBins:
        return CellBins(axis.column, axis.edges, () if axis.edges is not None else tuple(range(cells)), cells)

    def invented(self, schema: Schema, target: str, rows: int, seed: int) -> dict[str, Any]:
        """Values of all columns, if pairs were counted, the target among them."""
        counted = {self.model.axes[axis].name for pair in self.model.pairs for axis in pair}
        if not counted or (target and target not in counted):
            return {}
        generator = public_generator(seed)
        codes = draw_codes(self._source, rows, generator)
        if target:
            place = self.model.place(target)
            codes[place] = outcomes(codes, place, self._source.pairs, generator)
        return {
            axis.column: values_of(axis, schema, codes[place], generator)
            for place, axis in enumerate(self.model.axes)
            if not axis.rows
        }


def _cells(name: str, records: Records) -> Ints:
    return records.cells(name)


def _pairs(first: str, second: str, width: int, records: Records) -> Ints:
    return np.asarray(records.cells(first) * width + records.cells(second))
