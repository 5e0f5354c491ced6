"""The only object that holds records: encoded, bit-packed, memory-mapped.

Every array has a shape fixed by the schema: columns and cells by the columns, rows by the
public ``max_rows``. Places beyond the private number of rows belong to no part and to no
cell, so a learner that visits everything learns nothing from shapes.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd

from dpcore.arrays import Array, Cells, Flags, Floats, Ints, Words
from dpcore.data.bits import pack, pack_rows, unpack, word_count
from dpcore.domain.columns import IntegerColumn, NumericColumn
from dpcore.domain.conditions import Condition
from dpcore.domain.schema import ChildTable, Part, Schema
from dpcore.errors import SchemaError

_ARRAYS = ("codes", "numbers", "cells", "parts")
_INCOMPLETE = "The stored data set is incomplete: upload it again."


def stored_schema(directory: Path) -> Schema:
    """The schema of a saved table. Raises ``SchemaError``, which does not say where it is saved."""
    try:
        return Schema.from_file(directory / "schema.json")
    except SchemaError:
        raise SchemaError(_INCOMPLETE) from None


def _child_arrays(schema: Schema) -> list[tuple[str, str]]:
    """Names of the two arrays of each child table: its codes, and where there are rows."""
    return [(f"child_{i}_codes", f"child_{i}_rows") for i in range(len(schema.children))]


def _array_names(schema: Schema) -> list[str]:
    return [*_ARRAYS, *(name for names in _child_arrays(schema) for name in names)]


def _mapped(directory: Path, schema: Schema) -> dict[str, Array]:
    """Arrays of a saved table, mapped into memory: headers are read, records are not.

    Raises
    ------
    SchemaError
        If one is missing, damaged or too short.
    """
    try:
        return {name: np.load(directory / f"{name}.npy", mmap_mode="r") for name in _array_names(schema)}
    except (OSError, ValueError, EOFError):
        raise SchemaError(_INCOMPLETE) from None


class ChildRecords:
    """Rows of one child table. Slot s of the main table's record i holds one row about it, or none.

    Shapes depend on the schema alone: every record has the same number of slots.

    Attributes
    ----------
    table : ChildTable
        The public domain.
    codes : array of shape (n_columns, n_slots, max_rows), unsigned
        Code of each row's cell. Zero where there is no row.
    rows : array of shape (n_slots, n_words), uint64
        Which slots hold a row: one bit vector over the records per slot.
    """

    def __init__(self, table: ChildTable, codes: Array, rows: Words) -> None:
        self.table, self.codes, self.rows = table, codes, rows

    def __repr__(self) -> str:
        return f"ChildRecords({self.table.name!r})"

    @classmethod
    def build(
        cls,
        table: ChildTable,
        max_rows: int,
        codes: list[Cells],
        slots: Ints,
        records: Ints,
    ) -> ChildRecords:
        """Put encoded rows into ``slots`` of ``records``, arrays of shape (n_rows,)."""
        shape = (table.max_rows_per_person, max_rows)
        padded = np.zeros((len(codes), *shape), dtype=_code_type(table.columns))
        for i, column_codes in enumerate(codes):
            padded[i, slots, records] = column_codes
        held = np.zeros(shape, dtype=np.bool_)
        held[slots, records] = True
        return cls(table, padded, pack_rows(held))

    def rows_in(self, column: str, cells: Collection[int]) -> Words:
        """Bit vectors (n_slots, n_words) of the rows with a cell of ``column`` among ``cells``."""
        codes = self.codes[self.table.index(column)]
        chosen = np.isin(np.arange(len(self.table.column(column).cells)), list(cells))
        return np.asarray(pack_rows(chosen[codes]) & self.rows)


def _code_type(columns: Collection[Any]) -> type[np.uint8 | np.uint16]:
    """Smallest integers that hold the codes of all of some columns."""
    return np.uint8 if all(len(column.cells) <= 256 for column in columns) else np.uint16


class PrivateTable:
    """Records of one data set, in the form that queries read.

    Attributes
    ----------
    schema : Schema
        The public domain.
    codes : array of shape (n_columns, max_rows), unsigned
        Code of each record's cell, see ``column.cells``. Zero where there is no record.
    numbers : array of shape (n_numeric_columns, max_rows), float64
        Clamped values of numeric columns; NaN where missing or no record.
    cells : array of shape (n_cells, n_words), uint64
        One bit vector per (column, cell), columns in schema order.
    parts : array of shape (2, n_words), uint64
        Training and hold-out membership, drawn once per person at ingestion.
    children : dict of str to ChildRecords
        Rows of the child tables, by their names.
    """

    def __init__(self, schema: Schema, arrays: Mapping[str, Array]) -> None:
        self.schema = schema
        self._arrays = arrays
        self.codes, self.numbers, self.cells, self.parts = (arrays[name] for name in _ARRAYS)
        self.children = {
            child.name: ChildRecords(child, arrays[codes], arrays[rows])
            for child, (codes, rows) in zip(schema.children, _child_arrays(schema), strict=True)
        }
        sizes = [len(column.cells) for column in schema]
        self._first_cell = np.concatenate([[0], np.cumsum(sizes)])

    def __repr__(self) -> str:
        return f"PrivateTable({self.schema.name!r})"

    def __reduce__(self) -> Any:
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
        """Pad, pack and wrap encoded columns; ``holdout`` tells the part of each record.

        ``children`` are the child tables in schema order.
        """
        rows, words = len(holdout), word_count(schema.max_rows)
        padded = np.zeros((len(codes), schema.max_rows), dtype=_code_type(schema.columns))
        clamped = np.full((len(numbers), schema.max_rows), np.nan)
        for i, column_codes in enumerate(codes):
            padded[i, :rows] = column_codes
        for i, column_numbers in enumerate(numbers):
            clamped[i, :rows] = column_numbers
        cells = [
            pack(padded[i, :rows] == cell, words)
            for i, column in enumerate(schema)
            for cell in range(len(column.cells))
        ]
        parts = np.stack([pack(~holdout, words), pack(holdout, words)])
        arrays = {"codes": padded, "numbers": clamped, "cells": np.stack(cells), "parts": parts}
        for child, (codes_name, rows_name) in zip(children, _child_arrays(schema), strict=True):
            arrays |= {codes_name: child.codes, rows_name: child.rows}
        return cls(schema, arrays)

    def save(self, directory: Path) -> None:
        """Write the table into an existing, empty directory."""
        (directory / "schema.json").write_text(self.schema.to_json(), encoding="utf-8")
        for name, array in self._arrays.items():
            np.save(directory / f"{name}.npy", array, allow_pickle=False)

    @staticmethod
    def check_files(directory: Path, schema: Schema) -> None:
        """See that a saved table of a schema is complete, without reading a record.

        Raises
        ------
        SchemaError
            If an array is missing, or shorter than its header says.
        """
        _mapped(directory, schema)

    @classmethod
    def open(cls, directory: Path) -> PrivateTable:
        """Map a saved table into memory, read-only.

        Raises
        ------
        SchemaError
            If the directory holds no table.
        """
        schema = stored_schema(directory)
        return cls(schema, _mapped(directory, schema))

    def members(self, part: Part) -> Words:
        """Bit vector of the records in a part; ``all`` is both parts together."""
        chosen = {"train": [0], "holdout": [1], "all": [0, 1]}[part]
        return np.asarray(np.bitwise_or.reduce(self.parts[chosen], axis=0))

    def cell(self, column: str, code: int) -> Words:
        """Bit vector of the records in one cell of a column."""
        return np.asarray(self.cells[self._first_cell[self.schema.index(column)] + code])

    def cell_range(self, column: str, first: int, last: int) -> Words:
        """Bit vector of the records in cells ``first`` to ``last`` of a column, both included."""
        start = self._first_cell[self.schema.index(column)]
        chosen = self.cells[start + first : start + last + 1]
        return np.asarray(np.bitwise_or.reduce(chosen, axis=0))

    def numbers_of(self, column: str) -> Floats:
        """Clamped values of a numeric column: shape (max_rows,)."""
        numeric = [item.name for item in self.schema if isinstance(item, NumericColumn)]
        return np.asarray(self.numbers[numeric.index(column)])

    def class_members(self, target: str, part: Part) -> Words:
        """Bit vectors (n_classes, n_words) of a part's records per class of ``target``.

        Records whose target is ``(other)`` or ``(missing)`` are in none: a filter on the
        record alone, which does not change any sensitivity.
        """
        classes = len(self.schema.column(target).classes)
        members = self.members(part)
        return np.stack([self.cell(target, code) & members for code in range(classes)])

    def public_frame(self, part: Part = "all") -> pd.DataFrame:
        """Records as a frame of numbers and cell labels. For data sets marked public only."""
        present = np.flatnonzero(unpack(self.members(part), self.schema.max_rows))
        numeric = iter(self.numbers)
        content: dict[str, Any] = {}
        for i, column in enumerate(self.schema):
            if isinstance(column, NumericColumn):
                content[column.name] = next(numeric)[present]
            else:
                content[column.name] = np.asarray(column.cells, dtype=object)[self.codes[i, present]]
        return pd.DataFrame(content)

    def public_tables(self, part: Part = "all") -> dict[str, pd.DataFrame]:
        """Every table by its name, keys included. For data sets marked public only.

        Keys are the positions of the records in :meth:`public_frame`.
        """
        main = self.public_frame(part)
        if self.schema.privacy_unit.column is not None:
            main[self.schema.privacy_unit.column] = range(len(main))
        tables = {self.schema.entity: main}
        for child in self.schema.children:
            rows, owners = self.public_child(child.name, part)
            tables[child.name] = rows.assign(**{self.schema.key_of(child): owners})
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
        child, records = self.children[name], unpack(self.members(part), self.schema.max_rows)
        held = np.stack([unpack(slot, self.schema.max_rows) for slot in child.rows]) & records
        places, slots = np.nonzero(held.T)
        content = {
            column.name: _cell_values(column)[child.codes[i, slots, places]]
            for i, column in enumerate(child.table.columns)
        }
        return pd.DataFrame(content), (np.cumsum(records) - 1)[places]


def _cell_values(column: Any) -> Array:
    """A value in each cell of a column, by its code."""
    if not isinstance(column, NumericColumn):
        return np.asarray(column.cells, dtype=object)
    ends = np.array([*column.inner_edges, column.upper, np.nan])
    return np.floor(ends) if isinstance(column, IntegerColumn) else ends


def bit_vectors(table: PrivateTable, literals: Sequence[Condition]) -> Words:
    """Bit vector of each literal over the records: shape (n_literals, n_words)."""
    return np.stack([table.cell_range(item.column, item.first, item.last) for item in literals])
