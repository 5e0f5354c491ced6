"""Records of some people, encoded and bit-packed: what kernels of questions are given.

Every array has a shape fixed by public facts: columns and cells by the schema, rows by the
public size of a partition. Places beyond the private number of rows belong to no part and to no
cell, so a kernel that visits everything learns nothing from shapes.
"""

from __future__ import annotations

import threading
from collections.abc import Callable, Collection, Hashable, Mapping, Sequence
from itertools import accumulate, combinations
from typing import Any, NoReturn, TypeVar

import numpy as np

from dpcore.arrays import Array, Cells, Flags, Floats, Ints, Words
from dpcore.data.cache_limit import cache_limit
from dpcore.data.packing import pack, pack_rows, unpack, whole_words, word_count
from dpcore.domain.columns import Column, NumericColumn
from dpcore.domain.conditions import Condition
from dpcore.domain.schemas.schema import ChildTable, Part, Schema

_ARRAYS = ("codes", "numbers", "cells", "parts", "ids")
_Kept = TypeVar("_Kept")


def child_arrays(schema: Schema) -> list[tuple[str, str]]:
    """Names of the two arrays of each child table: its codes, and where there are rows."""
    return [(f"child_{i}_codes", f"child_{i}_rows") for i in range(len(schema.children))]


def link_arrays(schema: Schema) -> dict[str, str]:
    """Names of the arrays of links, by the child tables whose rows belong to rows of another."""
    return {child.name: f"child_{i}_links" for i, child in enumerate(schema.children) if child.parent is not None}


def share_room(partitions: Sequence[Partition]) -> None:
    """Give the partitions of a table equal parts of what may be kept of intermediate steps."""
    whole = cache_limit()
    for partition in partitions:
        partition.room = whole // len(partitions)


def _size(kept: object) -> int:
    return sum(map(_size, kept)) if isinstance(kept, list | tuple) else int(getattr(kept, "nbytes", 0))


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
    links : array of shape (n_slots, max_rows), uint16, or None
        For a table whose rows belong to those of another: the slot of each row's parent, of the
        same record. Zero where there is no row.
    """

    def __init__(self, table: ChildTable, codes: Array, rows: Words, links: Array | None = None) -> None:
        self.table, self.codes, self.rows, self.links = table, codes, rows, links

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
        links: Array | None = None,
    ) -> ChildRecords:
        """Put encoded rows into ``slots`` of ``records``, and their parents' slots: arrays of shape (n_rows,)."""
        shape = (table.max_rows_per_person, whole_words(max_rows))
        padded = np.zeros((len(codes), *shape), dtype=code_type(table.columns))
        for i, column_codes in enumerate(codes):
            padded[i, slots, records] = column_codes
        held = np.zeros(shape, dtype=np.bool_)
        held[slots, records] = True
        if links is None:
            return cls(table, padded, pack_rows(held))
        linked = np.zeros(shape, dtype=np.uint16)
        linked[slots, records] = links
        return cls(table, padded, pack_rows(held), linked)

    def rows_in(self, column: str, cells: Collection[int]) -> Words:
        """Bit vectors (n_slots, n_words) of the rows with a cell of ``column`` among ``cells``."""
        codes = self.codes[self.table.index(column)]
        chosen = np.isin(np.arange(len(self.table.column(column).cells)), list(cells))
        return np.asarray(pack_rows(chosen[codes]) & self.rows)

    def belonging(self, parents: int) -> Words:
        """Bit vectors of the rows that belong to the row in each slot of the parent's table.

        Shape (parents, n_slots, n_words), for so many slots of the parent's.
        """
        assert self.links is not None
        return np.stack([pack_rows(self.links == slot) & self.rows for slot in range(parents)])

    def alike(self, column: str) -> Words:
        """Bit vectors of the pairs of slots whose rows have the same value, neither missing nor other.

        Shape (n_slots x (n_slots - 1) / 2, n_words): pairs in lexicographic order.
        """
        codes = self.codes[self.table.index(column)]
        valued = self.rows_in(column, range(len(self.table.column(column).classes)))
        pairs = list(combinations(range(len(codes)), 2))
        same = np.zeros((len(pairs), self.rows.shape[1]), dtype=np.uint64)
        for place, (one, other) in enumerate(pairs):
            same[place] = pack_rows((codes[one] == codes[other])[None, :])[0] & valued[one] & valued[other]
        return same


def code_type(columns: Collection[Column]) -> type[np.uint8 | np.uint16]:
    """Smallest integers that hold the codes of all of some columns."""
    return np.uint8 if all(len(column.cells) <= 256 for column in columns) else np.uint16


class Partition:
    """Some of a table's people with all that is known of them, in the form that kernels read.

    Attributes
    ----------
    schema : Schema
        The public domain.
    rows : int
        Places for records, taken or not. Public.
    room : int
        Bytes that it may keep of intermediate steps.
    place : (str, int) or None
        Folder of the table and number in it, if it is stored.
    codes : array of shape (n_columns, rows), unsigned
        Code of each record's cell, see ``column.cells``. Zero where there is no record.
    numbers : array of shape (n_numeric_columns, rows), float64
        Clamped values of numeric columns; NaN where missing or no record.
    cells : array of shape (n_cells, n_words), uint64
        One bit vector per (column, cell), columns in schema order.
    parts : array of shape (2, n_words), uint64
        Training and hold-out membership, drawn once per person at ingestion.
    ids : array of shape (rows,), uint64
        A random number of each record, drawn at ingestion: what is drawn per record by a run is a
        function of it, so the same however the records are divided.
    children : dict of str to ChildRecords
        Rows of the child tables, by their names.
    """

    def __init__(self, schema: Schema, arrays: Mapping[str, Array], place: tuple[str, int] | None = None) -> None:
        self.schema, self.arrays, self.place = schema, arrays, place
        self.codes, self.numbers, self.cells, self.parts, self.ids = (arrays[name] for name in _ARRAYS)
        self.rows = self.codes.shape[1]
        links = link_arrays(schema)
        self.children = {
            child.name: ChildRecords(child, arrays[codes], arrays[rows], arrays.get(links.get(child.name, "")))
            for child, (codes, rows) in zip(schema.children, child_arrays(schema), strict=True)
        }
        before = accumulate((len(column.cells) for column in schema), initial=0)
        self._first_cell = {column.name: first for column, first in zip(schema, before, strict=False)}
        self.room = 0
        share_room([self])
        self._kept: dict[Hashable, Any] = {}
        self._turn = threading.RLock()

    def __repr__(self) -> str:
        return f"Partition({self.schema.name!r})"

    def __reduce__(self) -> NoReturn:
        """Records are never sent: another process is told the place, and opens what is stored there."""
        raise TypeError("records cannot be pickled: store them, and open them where they are needed")

    @classmethod
    def build(
        cls,
        schema: Schema,
        codes: Sequence[Array],
        numbers: Sequence[Floats],
        holdout: Flags,
        children: Sequence[ChildRecords] = (),
        *,
        ids: Words | None = None,
        rows: int | None = None,
    ) -> Partition:
        """Pad, pack and wrap encoded columns; ``holdout`` tells the part of each record.

        Parameters
        ----------
        children : sequence of ChildRecords
            The child tables in schema order, of ``rows`` places.
        ids : array of shape (n_records,), optional
            Random numbers of the records; by default their positions.
        rows : int, optional
            Places for records; ``max_rows`` by default. Always made to fill whole words.
        """
        held, places = len(holdout), whole_words(schema.max_rows if rows is None else rows)
        words = word_count(places)
        padded = np.zeros((len(codes), places), dtype=code_type(schema.columns))
        clamped = np.full((len(numbers), places), np.nan)
        for i, column_codes in enumerate(codes):
            padded[i, :held] = column_codes
        for i, column_numbers in enumerate(numbers):
            clamped[i, :held] = column_numbers
        cells = [
            pack(padded[i, :held] == cell, words)
            for i, column in enumerate(schema)
            for cell in range(len(column.cells))
        ]
        parts = np.stack([pack(~holdout, words), pack(holdout, words)])
        own = np.zeros(places, dtype=np.uint64)
        own[:held] = np.arange(held) if ids is None else ids
        arrays = {"codes": padded, "numbers": clamped, "cells": np.stack(cells), "parts": parts, "ids": own}
        for child, (codes_name, rows_name) in zip(children, child_arrays(schema), strict=True):
            arrays |= {codes_name: child.codes, rows_name: child.rows}
            if child.links is not None:
                arrays[link_arrays(schema)[child.table.name]] = child.links
        return cls(schema, arrays)

    @property
    def present(self) -> Ints:
        """Places of the records."""
        return np.flatnonzero(unpack(self.members("all"), self.rows))

    def cached(self, key: Hashable, make: Callable[[], _Kept]) -> _Kept:
        """What ``make`` gives, worked out once for a key, and kept while there is room.

        For what many questions of one run need: arrays, several of them, or what has ``nbytes``. A
        partition that is opened again, on this machine or another, works it out again: results
        must not depend on what is kept.
        """
        with self._turn:
            found: _Kept
            if key in self._kept:
                found = self._kept[key] = self._kept.pop(key)
                return found
            found = self._kept[key] = make()
            size = sum(map(_size, self._kept.values()))
            while size > self.room and len(self._kept) > 1:
                size -= _size(self._kept.pop(next(iter(self._kept))))
            return found

    def members(self, part: Part) -> Words:
        """Bit vector of the records in a part; ``all`` is both parts together."""
        chosen = {"train": [0], "holdout": [1], "all": [0, 1]}[part]
        return np.asarray(np.bitwise_or.reduce(self.parts[chosen], axis=0))

    def in_cells(self, column: str, codes: Collection[int]) -> Words:
        """Bit vector of the records in any of some cells of a column."""
        places = [self._first_cell[column] + code for code in codes]
        return np.asarray(np.bitwise_or.reduce(self.cells[places], axis=0))

    def cell_range(self, column: str, first: int, last: int) -> Words:
        """Bit vector of the records in cells ``first`` to ``last`` of a column, both included."""
        start = self._first_cell[column]
        chosen = self.cells[start + first : start + last + 1]
        return np.asarray(np.bitwise_or.reduce(chosen, axis=0))

    def codes_of(self, column: str) -> Array:
        """Cell codes of a column: shape (rows,)."""
        return np.asarray(self.codes[self.schema.index(column)])

    def numbers_of(self, column: str) -> Floats:
        """Clamped values of a numeric column: shape (rows,)."""
        numeric = [item.name for item in self.schema if isinstance(item, NumericColumn)]
        return np.asarray(self.numbers[numeric.index(column)])

    def class_members(self, target: str, part: Part) -> Words:
        """Bit vectors (n_classes, n_words) of a part's records per class of ``target``.

        Records whose target is ``(other)`` or ``(missing)`` are in none: a filter on the
        record alone, which does not change any sensitivity.
        """
        first, classes = self._first_cell[target], len(self.schema.column(target).classes)
        return np.asarray(self.cells[first : first + classes] & self.members(part))

    def literals(self, conditions: Sequence[Condition]) -> Words:
        """Bit vector of each condition over the records: shape (n_conditions, n_words)."""
        return np.stack([self.cell_range(item.column, item.first, item.last) for item in conditions])
