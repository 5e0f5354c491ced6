"""What a released model reveals about the records, and invented records to compare it on: post-processing, for free."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Protocol

import numpy as np
import pandas as pd

from dpcore.arrays import Array, Floats, Ints
from dpcore.domain.columns import Column, IntegerColumn, NumericColumn
from dpcore.domain.encoding import encode
from dpcore.domain.schemas.schema import Schema
from dpcore.released.noisy_counts import Numbers, nearest


@dataclass
class Records:
    """Tables of invented records."""

    schema: Schema
    tables: Mapping[str, pd.DataFrame]
    """The main table under the name of its entity, and every further one."""
    known: dict[str, Ints] = field(default_factory=dict)
    """Cell codes of columns of the main table, as far as they were needed."""
    _found: dict[int, tuple[object, Ints]] = field(default_factory=dict)

    @property
    def main(self) -> pd.DataFrame:
        """The main table."""
        return self.tables[self.schema.entity]

    @property
    def rows(self) -> int:
        """Records of the main table."""
        return len(self.main)

    def cells(self, name: str) -> Ints:
        """Cell of each record in a column."""
        if name not in self.known:
            column = self.schema.column(name)
            self.known[name] = encode(column, self.main[name])[0].astype(np.int64)
        return self.known[name]

    def once(self, model: object, find: Callable[[], Ints]) -> Ints:
        """Codes that a model gives the records, found the first time they are asked for."""
        if id(model) not in self._found:
            self._found[id(model)] = model, find()  # While it is kept, no other has its id.
        return self._found[id(model)][1]

    def exchanged(self, columns: Mapping[str, object], codes: Mapping[str, Ints]) -> Records:
        """The same records with other values in some columns, of cells that may be known."""
        main = pd.DataFrame({str(name): columns.get(str(name), values) for name, values in self.main.items()})
        kept = {name: known for name, known in self.known.items() if name not in columns}
        tables = {**self.tables, self.schema.entity: main}
        return Records(self.schema, tables, {**kept, **codes})


def is_category(schema: Schema, name: str) -> bool:
    """Whether the values of a column are its cells."""
    return not isinstance(schema.column(name), NumericColumn)


def between(column: Column, points: Floats, cells: Ints, generator: np.random.Generator) -> Floats:
    """A number of each of some cells between points, the first of which holds its lower end too; NaN beyond them."""
    low, high = points[cells], np.append(points[1:], np.nan)[cells]
    part = generator.random(len(low))
    if isinstance(column, IntegerColumn):
        first = np.where(cells == 0, low, np.floor(low) + 1)
        steps = np.maximum(np.floor(high) - first + 1, 1)
        return np.asarray(np.minimum(first + np.floor(part * steps), high))
    return np.asarray(high - part * (high - low))


#: A 95 % margin of two-sided geometric noise, in standard deviations.
_MARGIN = 2.1


class Bins(Protocol):
    """How the values of one column fall into bins: cut points, or the bin of each of its cells."""

    @property
    def column(self) -> str:
        """Name of the column."""
        ...

    @property
    def edges(self) -> tuple[float, ...] | None:
        """Numeric column: ascending cut points. The last bin holds missing values."""
        ...

    @property
    def groups(self) -> tuple[int, ...]:
        """Column of categories: bin of each of its cells."""
        ...

    def __len__(self) -> int:
        """Bins, the last of a numeric column for missing values."""
        ...


@dataclass(frozen=True)
class Groups:
    """Groups that divide the records among them, and noisy numbers of those in each."""

    place: Callable[[Records], Ints]
    """Group of each of some records: shape (n_rows,)."""
    counts: Floats
    """May be negative: shape (n_groups,)."""
    error: float | Floats
    """Standard deviation of the noise on each of them: shape (n_groups,)."""
    bins: Bins | None = None
    """The bins of one column, if the groups are just those."""
    columns: tuple[str, ...] = ()
    """What the records are divided by, if it is cells of one column or of two."""

    @property
    def shares(self) -> Floats:
        """Share of the records in each group: not negative, summing to 1."""
        return without_negatives(self.counts)


def without_negatives(counts: Floats) -> Floats:
    """The nearest shares that sum to 1: every count is lowered alike, and cut off at 0."""
    total = max(float(counts.sum()), 1.0)
    return np.asarray(nearest(counts, total) / total)


def deviation(margin: float) -> float:
    """Standard deviation of two-sided geometric noise, by its 95 % margin."""
    return margin / _MARGIN


def by_class(place: Callable[[Records], Ints], groups: Sequence[Numbers], margin: int) -> Groups:
    """Groups that were counted class by class."""
    counts = np.array([group.noisy_counts for group in groups], dtype=np.float64)
    return Groups(place, counts.sum(axis=1), float(np.sqrt(counts.shape[1])) * deviation(margin))


@dataclass(frozen=True)
class Evidence:
    """What a rehearsal reads off a released model: nothing, unless its family says more."""

    model: Any
    """The released model."""

    @property
    def number(self) -> bool:
        """Whether the model predicts a number."""
        return False

    @property
    def apart(self) -> bool:
        """Whether each of the groups divides records of its own."""
        return False

    @property
    def additive(self) -> bool:
        """Whether predictions are sums of scores: an ``intercept`` and ``terms`` of columns."""
        return False

    def groups(self) -> Iterator[Groups]:
        """Groups of records with their noisy sizes."""
        return iter(())

    def columns(self) -> set[str]:
        """Columns of the main table that the groups are made of."""
        return set(self.model.columns())

    def invented(self, schema: Schema, target: str, rows: int, seed: int) -> dict[str, object]:  # noqa: ARG002
        """Values of columns of invented records that follow the release: none, unless its family says so."""
        return {}

    def probabilities(self, records: Records) -> Floats:
        """Released class probabilities of each record: shape (n_rows, n_classes)."""
        raise NotImplementedError

    def predicted(self, records: Records) -> Array:
        """What the model predicts: codes of classes, or numbers."""
        return np.asarray(self.probabilities(records).argmax(axis=1))
