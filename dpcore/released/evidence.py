"""What a released model reveals about the records: post-processing, which costs nothing."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any, Protocol

import numpy as np

from dpcore.arrays import Array, Floats, Ints
from dpcore.domain.schemas.schema import Schema
from dpcore.released.invented import Records
from dpcore.released.noisy_counts import nearest

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
    """Groups that divide the records among them, and noisy numbers of those in each.

    Attributes
    ----------
    place : callable
        Group of each of some records: shape (n_rows,).
    counts : array of shape (n_groups,)
        May be negative.
    error : float or array of shape (n_groups,)
        Standard deviation of the noise on each of them.
    bins : Bins or None
        The bins of one column, if the groups are just those.
    columns : tuple of str
        What the records are divided by, if it is cells of one column or of two.
    """

    place: Callable[[Records], Ints]
    counts: Floats
    error: float | Floats
    bins: Bins | None = None
    columns: tuple[str, ...] = ()

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


def by_class(place: Callable[[Records], Ints], groups: Sequence[Any], margin: int) -> Groups:
    """Groups that were counted class by class."""
    counts = np.array([group.noisy_counts for group in groups], dtype=np.float64)
    return Groups(place, counts.sum(axis=1), float(np.sqrt(counts.shape[1])) * deviation(margin))


@dataclass(frozen=True)
class Evidence:
    """What a rehearsal reads off a released model: nothing, unless its family says more.

    Attributes
    ----------
    model : BaseModel
        The released model.
    """

    model: Any

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

    def invented(self, schema: Schema, target: str, rows: int, seed: int) -> dict[str, Any]:  # noqa: ARG002
        """Values of columns of invented records that follow the release: none, unless its family says so."""
        return {}

    def probabilities(self, records: Records) -> Floats:
        """Released class probabilities of each record: shape (n_rows, n_classes)."""
        raise NotImplementedError

    def predicted(self, records: Records) -> Array:
        """What the model predicts: codes of classes, or numbers."""
        return np.asarray(self.probabilities(records).argmax(axis=1))
