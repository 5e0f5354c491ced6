"""What a partition's records are to boosting: labels, and small codes of cells. Kept by the partition."""

from __future__ import annotations

import hashlib
from collections.abc import Sequence
from dataclasses import dataclass, field

import numpy as np

from dpcore.arrays import Array, Ints, Ints32
from dpcore.cores import in_threads
from dpcore.data.counting import count_held
from dpcore.data.packing import unpack
from dpcore.data.partition import Partition
from dpcore.domain.columns import NumericColumn
from dpcore.domain.schemas.schema import Part
from dpcore.models.ebm.learning.grid import feature_cells
from dpcore.models.ebm.learning.kernels import ABSENT, NUMBER_STEPS

#: Cells of the histogram of a numeric target.
TARGET_CELLS = 128


@dataclass(frozen=True, eq=False)
class Binning:
    """The bins of one table of scores: of a column, or of several together. Released."""

    columns: tuple[int, ...]
    """Positions of the features."""
    groups: tuple[Array, ...]
    """Tuple of arrays of shape (n_cells,), unsigned. Of each feature, the bin of every fine cell."""
    sizes: tuple[int, ...]
    """Of each feature, how many bins. Those of several run through the last feature first."""

    @classmethod
    def of(cls, *sides: tuple[int, Ints]) -> Binning:
        """Of features by their positions, with the bin of every fine cell of each."""
        sizes = tuple(int(groups.max()) + 1 for _, groups in sides)
        small = tuple(groups.astype(np.min_scalar_type(int(groups.max()))) for _, groups in sides)
        return cls(tuple(column for column, _ in sides), small, sizes)

    def __len__(self) -> int:
        return int(np.prod(self.sizes))

    def codes(self, cells: Sequence[Array]) -> Array:
        """One code of every place: the fine cell of a column, or the bin of several."""
        if len(self.columns) == 1:
            return cells[self.columns[0]]
        small = np.min_scalar_type(len(self))
        codes = np.zeros(len(cells[self.columns[0]]), dtype=small)
        for column, groups, size in zip(self.columns, self.groups, self.sizes, strict=True):
            codes *= small.type(size)
            codes += np.take(groups.astype(small), cells[column], mode="clip")
        return codes

    @property
    def of_codes(self) -> Array:
        """Bin of each of these codes."""
        return self.groups[0] if len(self.columns) == 1 else np.arange(len(self))


@dataclass(frozen=True, eq=False)
class Layout:
    """All bins that scores are added up from, of the people to learn from. Public or released."""

    target: str
    part: Part
    binnings: tuple[Binning, ...]
    key: str = field(init=False)
    """The same for the same layout."""

    def __post_init__(self) -> None:
        digest = hashlib.sha256(f"{self.target!r} {self.part}".encode())
        for binning in self.binnings:
            digest.update(f"{binning.columns} {binning.sizes}".encode())
            digest.update(np.concatenate(binning.groups).astype(np.int64).tobytes())
        object.__setattr__(self, "key", digest.hexdigest())


def histograms(partition: Partition, target: str, part: Part) -> tuple[Ints, ...]:
    """Records per fine cell of each feature, and of the target, last.

    Sensitivity: :func:`~dpcore.models.ebm.learning.grid.histogram_sensitivity`.
    """
    schema, labels = partition.schema, labels_of(partition, target, part)
    sizes = [len(cells) for cells in feature_cells(schema, target)]
    column, of_target, size = schema.column(target), labels, len(schema.column(target).cells)
    if isinstance(column, NumericColumn):
        of_target, size = np.minimum(labels // (NUMBER_STEPS // TARGET_CELLS), TARGET_CELLS - 1), TARGET_CELLS
    else:
        size = len(column.classes)
    codes = [*cell_codes(partition, target), np.maximum(of_target, 0)]
    return tuple(counted(labels, own, cells) for own, cells in zip(codes, [*sizes, size], strict=True))


def bin_counts(partition: Partition, layout: Layout) -> tuple[Ints, ...]:
    """Records per bin of each shape. Sensitivity as of :func:`histograms`."""
    labels, cells = labels_of(partition, layout.target, layout.part), cell_codes(partition, layout.target)
    found = []
    for own in layout.binnings:
        counts = counted(labels, own.codes(cells), len(own.of_codes))
        found.append(np.bincount(own.of_codes, counts, len(own)).astype(np.int64))
    return tuple(found)


def counted(labels: Ints32, codes: Array, size: int) -> Ints:
    """Records to learn from per code."""
    return count_held(codes, labels >= 0, size)


def labels_of(partition: Partition, target: str, part: Part) -> Ints32:
    """Label of every place: shape (rows,).

    A class, or a number as a share of the target's public range in score steps, or
    :data:`~dpcore.models.ebm.learning.kernels.ABSENT`.
    """
    return partition.cached(("ebm labels", target, part), lambda: _labels(partition, target, part))


def _labels(partition: Partition, target: str, part: Part) -> Ints32:
    column = partition.schema.column(target)
    present = unpack(partition.members(part), partition.rows)
    if isinstance(column, NumericColumn):
        numbers = partition.numbers_of(target)
        present = present & ~np.isnan(numbers)
        shares = (np.fmax(numbers, column.lower) - column.lower) / (column.upper - column.lower)
        codes = np.rint(shares * NUMBER_STEPS).astype(np.int32)
    else:
        codes = partition.codes_of(target).astype(np.int32)
        present &= codes < len(column.classes)
    return np.asarray(ABSENT + present * (codes - np.int32(ABSENT)), dtype=np.int32)


def cell_codes(partition: Partition, target: str) -> list[Array]:
    """Fine cell of every place by each feature: arrays of shape (rows,), unsigned."""
    return partition.cached(("ebm cells", target), lambda: _cell_codes(partition, target))


def _cell_codes(partition: Partition, target: str) -> list[Array]:
    features = feature_cells(partition.schema, target)
    codes: list[Array] = [np.empty(0)] * len(features)

    def encode(mine: Ints) -> None:
        for feature in mine:
            codes[feature] = features[feature].codes(partition)

    in_threads(encode, len(features))
    return codes


def layout_codes(partition: Partition, layout: Layout) -> list[Array]:
    """Codes of every place by each shape, see :meth:`Binning.codes`."""

    def make() -> list[Array]:
        cells = cell_codes(partition, layout.target)
        return [binning.codes(cells) for binning in layout.binnings]

    return partition.cached(("ebm codes", layout.key), make)
