"""What a first look asks of the records, with the sensitivity of each question.

Proofs are in ``docs/privacy/summaries.md``. All sensitivities are for one person added or removed, who has up to
``rows`` rows; each row is in exactly one cell of every table.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

import numpy as np

from dpcore.arrays import Array, Ints
from dpcore.data.counting import count_held, count_pairs
from dpcore.data.packing import unpack
from dpcore.data.partition import Partition
from dpcore.data.table import PrivateTable
from dpcore.domain.columns import NumericColumn
from dpcore.learning.facts import cell_counts
from dpcore.models.summaries.released.summary_parameters import Axis, row_ends
from dpcore.privacy.sensitivity import Sensitivity

#: Grid steps per record of a count: Gaussian noise is drawn for steps, so that its scale is fine.
COUNT_STEPS: Final = 2**28


def table_sensitivity(rows: int) -> Sensitivity:
    """Of one table: a person's rows may all be in one cell. L1, so of L2 no more."""
    return Sensitivity(rows, "L1", monotone=True)


def distance_sensitivity(rows: int) -> Sensitivity:
    """Of the sum of sizes of the differences between a table and one that is fixed."""
    return Sensitivity(rows, "Linf", monotone=False)


def table_counts(
    table: PrivateTable, axes: tuple[Axis, ...], sizes: tuple[int, ...], tables: Sequence[tuple[int, ...]]
) -> list[Ints]:
    """Rows in each cell of some tables on one axis or two. Sensitivity :func:`table_sensitivity` each.

    Parameters
    ----------
    axes : tuple of Axis
        What the tables may be divided by.
    sizes : tuple of int
        Cells of each.
    tables : sequence of tuple of int
        Places of the axes of each.
    """
    flat = table.total(counted, axes, sizes, tuple(tables))
    ends = np.cumsum([_cells(sizes, own) for own in tables])
    each = np.split(flat, ends[:-1])
    return [part.reshape([sizes[axis] for axis in own]) for part, own in zip(each, tables, strict=True)]


def finer_counts(table: PrivateTable, axis: Axis, ends: Sequence[float]) -> Ints:
    """Rows in each finer cell of a column of numbers. Sensitivity :func:`table_sensitivity`.

    Each row is in one cell, or in none if its number is missing.
    """
    place = [column.name for column in table.schema if isinstance(column, NumericColumn)].index(axis.column)
    return cell_counts(table, place, np.asarray(ends[1:-1]))


def level_counts(counts: Ints, groups: Sequence[int]) -> Ints:
    """Rows in each group of the cells of a table on one axis. Sensitivity :func:`table_sensitivity`.

    Each row is in one cell, and so in one group.
    """
    made = np.zeros(max(groups) + 1, dtype=np.int64)
    np.add.at(made, np.asarray(groups), counts)
    return made


def counted(
    partition: Partition, axes: tuple[Axis, ...], sizes: tuple[int, ...], tables: tuple[tuple[int, ...], ...]
) -> Ints:
    """The kernel of :func:`table_counts`: all tables, one after another."""
    members = unpack(partition.members("all"), partition.rows)
    codes: dict[int, Array] = {}
    apart: dict[int, Array] = {}  # Whoever is in no part stands in a cell beside each.
    found = []
    for own in tables:
        for axis in own:
            if axis not in codes:
                codes[axis] = axis_codes(partition, axes[axis])
                apart[axis] = 2 * codes[axis].astype(np.uint16) + members
        if len(own) == 1:
            found.append(count_held(codes[own[0]], members, sizes[own[0]]))
            continue
        first, second = own
        counts = np.zeros(2 * _cells(sizes, own), dtype=np.int64)
        count_pairs(codes[first], apart[second], 2 * sizes[second], counts)
        found.append(counts[1::2])
    return np.concatenate(found)


def axis_codes(partition: Partition, axis: Axis) -> Array:
    """Cell of each place of a partition: shape (rows,)."""
    if not axis.rows:
        return partition.codes_of(axis.name)
    child = partition.children[axis.name]
    rows = np.zeros(partition.rows, dtype=np.int64)
    for slot in child.rows:
        rows += unpack(slot, partition.rows)
    cells = np.searchsorted(np.array(row_ends(child.table)), np.arange(len(child.rows) + 1))
    return cells.astype(np.uint8)[rows]


def _cells(sizes: tuple[int, ...], axes: tuple[int, ...]) -> int:
    return int(np.prod([sizes[axis] for axis in axes]))
