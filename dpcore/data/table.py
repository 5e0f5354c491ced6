"""A data set as learners see it: a schema, and questions to which the answers are sums.

The records lie in partitions (:mod:`dpcore.data.partition`), each with all rows of its people. A
question is a kernel, from one partition to integers; its answer is the sum over all partitions.
So the answer is the same, to the bit, however people are divided among partitions and wherever
these lie, and nothing about the division can be learned from it.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Concatenate, NoReturn

import numpy as np
import pandas as pd

from dpcore.arrays import Array, Cells, Flags, Floats, Ints
from dpcore.data.execution.executors import LOCAL, Executor, Public, Sums
from dpcore.data.packing import unpack
from dpcore.data.partition import ChildRecords, Partition, share_room
from dpcore.data.stored.storage import open_partitions, save_partitions, stored_schema
from dpcore.domain.columns import Column, IntegerColumn, NumericColumn
from dpcore.domain.schemas.schema import ChildTable, Part, Schema
from dpcore.domain.schemas.tables import TIME


class PrivateTable:
    """The records of one data set.

    Attributes
    ----------
    schema : Schema
        The public domain.
    partitions : tuple of Partition
    """

    def __init__(self, schema: Schema, partitions: Sequence[Partition], executor: Executor = LOCAL) -> None:
        self.schema, self.partitions, self._executor = schema, tuple(partitions), executor
        share_room(self.partitions)

    def __repr__(self) -> str:
        return f"PrivateTable({self.schema.name!r})"

    def __reduce__(self) -> NoReturn:
        raise TypeError("a private table cannot be pickled: open it where it is needed")

    @classmethod
    def build(
        cls,
        schema: Schema,
        codes: list[Cells],
        numbers: list[Floats],
        holdout: Flags,
        children: Sequence[ChildRecords] = (),
    ) -> PrivateTable:
        """One partition of encoded columns, see :meth:`dpcore.data.partition.Partition.build`."""
        return cls(schema, [Partition.build(schema, codes, numbers, holdout, children)])

    def total(
        self,
        kernel: Callable[Concatenate[Partition, Public], Sums],
        *public: Public.args,
        **named: Public.kwargs,
    ) -> Sums:
        """Sum of what a kernel finds in each partition: the only way to ask the records.

        Parameters
        ----------
        kernel : callable
            A function of a module, from a partition and ``public`` to an array of integers, or to
            several. Its sensitivity stands where it is defined.
        public : arguments of the kernel
            Public, or released before; other processes may be sent them.
        """
        return self._executor.total(kernel, self.partitions, *public, **named)

    def check(self) -> None:
        """See that questions can be answered, without asking one. Raises ``ClusterError``."""
        self._executor.check(self.partitions)

    def save(self, directory: Path) -> None:
        """Write the table into an existing, empty directory."""
        save_partitions(directory, self.schema, self.partitions)

    @staticmethod
    def check_files(directory: Path, schema: Schema) -> None:
        """See that a saved table of a schema is complete, without reading a record.

        Raises
        ------
        SchemaError
            If a file is missing, damaged or too short.
        """
        open_partitions(directory, schema)

    @classmethod
    def open(cls, directory: Path, executor: Executor = LOCAL) -> PrivateTable:
        """Map a saved table into memory, read-only.

        Raises
        ------
        SchemaError
            If the directory holds no table.
        """
        schema = stored_schema(directory)
        return cls(schema, open_partitions(directory, schema), executor)

    def public_frame(self, part: Part = "all") -> pd.DataFrame:
        """Records as a frame of numbers and cell labels. For data sets marked public only."""
        frames = [_frame(own, _places(own, part)) for own in self.partitions]
        return pd.concat(frames, ignore_index=True) if len(frames) > 1 else frames[0]

    def public_tables(self, part: Part = "all") -> dict[str, pd.DataFrame]:
        """Every table by its name, keys included. For data sets marked public only.

        Keys are the positions of the records in :meth:`public_frame`. Rows in order have a column ``TIME``, too.
        """
        main = self.public_frame(part)
        if self.schema.privacy_unit.column is not None:
            main[self.schema.privacy_unit.column] = range(len(main))
        tables = {self.schema.entity: main}
        for child in self.schema.children:
            rows, owners = self.public_child(child.name, part)
            keys = _row_keys(self.partitions, child, part, owners)
            times = {} if child.keep == "random" else {TIME: _times(self.partitions, child, part)}
            tables[child.name] = rows.assign(**{self.schema.key_of(child): owners}).assign(**keys).assign(**times)
        return tables

    def public_child(self, name: str, part: Part = "all") -> tuple[pd.DataFrame, Ints]:
        """Rows of a child table. For data sets marked public only.

        Numbers are the upper ends of their bins, the rest are cell labels: of a child row no more
        is stored.

        Returns
        -------
        (DataFrame, int array of shape (n_rows,))
            The rows, and for each the position of its record in :meth:`public_frame`.
        """
        frames, owners, before = [], [], 0
        for own in self.partitions:
            frame, owner = _child_frame(own, name, part)
            frames.append(frame)
            owners.append(owner + before)
            before += len(_places(own, part))
        return pd.concat(frames, ignore_index=True), np.concatenate(owners)


def _places(partition: Partition, part: Part) -> Ints:
    return np.flatnonzero(unpack(partition.members(part), partition.rows))


def _frame(partition: Partition, places: Ints) -> pd.DataFrame:
    numeric = iter(partition.numbers)
    content: dict[str, object] = {}
    for i, column in enumerate(partition.schema):
        if isinstance(column, NumericColumn):
            content[column.name] = next(numeric)[places]
        else:
            content[column.name] = np.asarray(column.cells, dtype=object)[partition.codes[i, places]]
    return pd.DataFrame(content)


def _child_frame(partition: Partition, name: str, part: Part) -> tuple[pd.DataFrame, Ints]:
    child, records = partition.children[name], unpack(partition.members(part), partition.rows)
    places, slots = np.nonzero(_held(partition, name, part).T)
    content = {
        column.name: _cell_values(column)[child.codes[i, slots, places]] for i, column in enumerate(child.table.columns)
    }
    return pd.DataFrame(content), (np.cumsum(records) - 1)[places]


def _row_keys(partitions: Sequence[Partition], child: ChildTable, part: Part, owners: Ints) -> dict[str, list[str]]:
    """Made-up keys of the rows of a child table, and of the rows that they belong to: owner and slot."""
    own, above = [], []
    for partition in partitions if child.links else ():
        records, held = partition.children[child.name], _held(partition, child.name, part)
        places, slots = np.nonzero(held.T)
        own.append(slots)
        above.append(slots if records.links is None else records.links[slots, places])
    found = {child.row_key: own, child.parent_key: above}
    return {
        name: [f"{owner}-{slot}" for owner, slot in zip(owners.tolist(), np.concatenate(of).tolist(), strict=True)]
        for name, of in found.items()
        if name is not None
    }


def _times(partitions: Sequence[Partition], child: ChildTable, part: Part) -> Ints:
    """Place of each row of a child table among those of its person, in the order of time: shape (n_rows,)."""
    slots = np.concatenate([np.nonzero(_held(partition, child.name, part).T)[1] for partition in partitions])
    return child.max_rows_per_person - 1 - slots if child.keep == "last" else slots


def _held(partition: Partition, name: str, part: Part) -> Flags:
    """Slots with a row about somebody in a part: shape (n_slots, rows)."""
    records = unpack(partition.members(part), partition.rows)
    return np.stack([unpack(slot, partition.rows) for slot in partition.children[name].rows]) & records


def _cell_values(column: Column) -> Array:
    """A value in each cell of a column, by its code."""
    if not isinstance(column, NumericColumn):
        return np.asarray(column.cells, dtype=object)
    ends = np.array([*column.inner_edges, column.upper, np.nan])
    return np.floor(ends) if isinstance(column, IntegerColumn) else ends
