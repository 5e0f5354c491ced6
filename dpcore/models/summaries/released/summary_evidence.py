"""What a first look reveals of the records."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property, partial
from typing import Any

import numpy as np

from dpcore.arrays import Ints
from dpcore.domain.schemas.schema import Schema
from dpcore.models.summaries.released.axes import Axis
from dpcore.models.summaries.released.outcomes import outcomes
from dpcore.models.summaries.released.synthesis import Source, draw_codes, values_of
from dpcore.privacy.randomness import public_generator
from dpcore.released.evidence import Evidence, Groups
from dpcore.released.invented import Records


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
