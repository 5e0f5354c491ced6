"""From an uploaded file to a :class:`PrivateTable`: read in chunks, encode, bound each person."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import pandas as pd

from dpcore.arrays import Cells, Flags, Floats, Ints, Words
from dpcore.data.division import homes_of, new_key, partition_count, partition_rows, scaled
from dpcore.data.partition import ChildRecords, Partition
from dpcore.data.table import PrivateTable
from dpcore.domain.columns import MAX_COLUMNS, NumericColumn
from dpcore.domain.encoding import encode, people_of
from dpcore.domain.schema import ChildTable, Schema
from dpcore.errors import IngestError
from dpcore.privacy.randomness import RandomSource

#: Rows that may be held whatever the limits: letting go of a few at a time would be slow.
_CALM = 200_000


def ingest(
    chunks: Iterable[pd.DataFrame],
    schema: Schema,
    randomness: RandomSource,
    children: Mapping[str, Iterable[pd.DataFrame]] | None = None,
) -> PrivateTable:
    """Encode a data set and bound what one person contributes.

    Of each person's rows, ``max_rows_per_person`` are kept, chosen uniformly, in the main table
    and in each child table; rows without a person are dropped, because they could belong to
    anybody, and so are child rows about a person whom the main table does not know. One coin
    per person decides between training and hold-out part.

    Parameters
    ----------
    chunks : iterable of DataFrame
        Rows of the main table.
    children : mapping of str to iterable of DataFrame
        Rows of each child table of the schema, by its name.

    Raises
    ------
    IngestError
        If a column or table of the schema is missing, no row is left, or more than ``max_rows``
        are.
    """
    _check_tables(schema, children or {})
    people = _People(schema.privacy_unit.column)
    held = _Rows(schema.columns, schema.privacy_unit.max_rows_per_person, schema.max_rows)
    for chunk in chunks:
        check_columns(chunk, schema)
        owners = people.numbers(chunk)
        if people.known > schema.max_rows:
            raise _too_many(schema)
        held.add(owners, chunk, randomness)
    if not held.seen:
        raise IngestError("The file holds a header but no rows. Upload a file with data.")
    held.thin()
    if not people.known:
        raise _nobody(schema)
    if len(held) > schema.max_rows:
        raise _too_many(schema)
    _check_targets(held.codes, schema)
    ids = randomness.words(len(held))
    order = np.argsort(ids, kind="stable")
    owners = held.owners[order]
    coin = _coins(people.known, schema.holdout_percent, randomness)
    records: list[_ChildRows] = []
    if schema.children and children:
        keys = pd.Index(people.names(), dtype=object)[owners]
        records = [_child_rows(children[child.name], child, schema, keys, randomness) for child in schema.children]
    each, count = schema.privacy_unit.max_rows_per_person, partition_count(schema.max_rows)
    rows = partition_rows(schema.max_rows, each, count)
    homes = _homes(people, ids[order], owners, count, randomness)
    if np.bincount(homes).max() > rows:
        raise IngestError("By chance, one part of the data set got too many people. Nothing is stored: try again.")

    def partition(home: int) -> Partition:
        own = np.flatnonzero(homes == home)
        chosen = order[own]
        return Partition.build(
            schema,
            [column[chosen] for column in held.codes],
            [column[chosen] for column in held.numbers if column is not None],
            coin[owners[own]],
            [child.of(own, rows) for child in records],
            ids=ids[chosen],
            rows=rows,
        )

    return PrivateTable(schema, [partition(home) for home in range(count)])


def _homes(people: _People, ids: Words, owners: Ints, count: int, randomness: RandomSource) -> Ints:
    """The partition of each record: with the others of its person, or at random if it is a person."""
    if count == 1:
        return np.zeros(len(ids), dtype=np.int64)
    names = people.names()
    if not names:
        return scaled(ids, count)
    return homes_of(np.asarray(names, dtype=object), new_key(randomness), count)[owners]


@dataclass(frozen=True)
class _ChildRows:
    """Encoded rows of a child table, each in a slot of a record of the main table."""

    table: ChildTable
    codes: list[Cells]
    slots: Ints
    records: Ints

    def of(self, records: Ints, rows: int) -> ChildRecords:
        """Those of some records, in a partition of so many rows."""
        place = pd.Index(records).get_indexer(pd.Index(self.records))
        own = np.flatnonzero(place >= 0)
        codes = [column[own] for column in self.codes]
        return ChildRecords.build(self.table, rows, codes, self.slots[own], place[own])


class _People:
    """One number per person, in order of first appearance; -1 where a row names nobody."""

    def __init__(self, unit: str | None) -> None:
        self._unit = unit
        self._numbers: dict[str, int] = {}
        self.known = 0

    def numbers(self, chunk: pd.DataFrame) -> Ints:
        """The persons of some rows: array of shape (n_rows,)."""
        if self._unit is None:
            first, self.known = self.known, self.known + len(chunk)
            return np.arange(first, self.known)
        places, names = pd.factorize(people_of(chunk[self._unit]))
        known = self._numbers
        found = [known.setdefault(name, len(known)) for name in names]
        self.known = len(known)
        return np.array([*found, -1], dtype=np.int64)[places]

    def names(self) -> list[str]:
        """Names of the persons, by their numbers."""
        return list(self._numbers)


class _Rows:
    """Encoded rows on their way in: of each person at most so many are held, chosen uniformly.

    Each row draws one random word when it comes, and a person keeps the rows with the smallest.
    So rows can be dropped again and again, and memory depends on public limits alone.

    Parameters
    ----------
    each : int
        Rows kept of one person.
    most : int
        Rows that are expected to stay, at most; rows are dropped when twice as many are held.
    """

    def __init__(self, columns: Sequence[Any], each: int, most: int) -> None:
        self._columns, self._each = columns, each
        self._patience = max(2 * most, _CALM)
        self._pieces: list[tuple[Any, ...]] = []
        self._pending = self.seen = 0
        self.owners = np.zeros(0, dtype=np.int64)
        self.codes: list[Cells] = []
        self.numbers: list[Floats | None] = []
        self.ranks = np.zeros(0, dtype=np.int64)

    def __len__(self) -> int:
        return len(self.owners)

    def add(self, owners: Ints, chunk: pd.DataFrame, randomness: RandomSource) -> None:
        """Take rows in, with the number of each one's person; -1 is nobody, and is dropped."""
        encoded = [encode(column, chunk[column.name]) for column in self._columns]
        arrays = (
            owners,
            randomness.words(len(owners)),
            *(part for pair in encoded for part in pair),
        )
        known = owners >= 0
        self._pieces.append(tuple(None if part is None else part[known] for part in arrays))
        self.seen += len(chunk)
        self._pending += int(known.sum())
        if self._pending > self._patience:
            self.thin()

    def thin(self) -> None:
        """Let go of all but the rows that are kept of each person, if no further row comes."""
        if not self._pieces:
            return
        whole: list[Any] = [
            None if parts[0] is None else np.concatenate(parts) for parts in zip(*self._pieces, strict=True)
        ]
        owners, words = whole[:2]
        order = np.lexsort((words, owners))
        ordered = owners[order]
        rank = np.arange(len(order)) - np.searchsorted(ordered, ordered, side="left")
        kept = order[rank < self._each]
        held: list[Any] = [None if part is None else part[kept] for part in whole]
        self._pieces, self._pending = [tuple(held)], 0
        self.owners, self.ranks = ordered[rank < self._each], rank[rank < self._each]
        self.codes, self.numbers = held[2::2], held[3::2]


def _check_tables(schema: Schema, given: Mapping[str, Iterable[pd.DataFrame]]) -> None:
    declared = [child.name for child in schema.children]
    for name in declared:
        if name not in given:
            raise IngestError(f"The table '{name}' of the schema is missing: add its rows.")
    for name in given:
        if name not in declared:
            raise IngestError(f"The schema describes no further table '{name}': leave it out.")


def _child_rows(
    chunks: Iterable[pd.DataFrame],
    child: ChildTable,
    schema: Schema,
    keys: pd.Index,
    randomness: RandomSource,
) -> _ChildRows:
    """Rows of a child table, at most so many of each person, beside the persons in ``keys``."""
    held = _Rows(child.columns, child.max_rows_per_person, _slots(child, schema))
    key = schema.key_of(child)
    for chunk in chunks:
        _check_names(chunk, [*(column.name for column in child.columns), key], child.name)
        owners = keys.get_indexer(pd.Index(people_of(chunk[key]), dtype=object))
        held.add(owners.astype(np.int64), chunk, randomness)
    if not held.seen:
        raise IngestError(
            f"The table '{child.name}' holds a header but no rows. Give its rows, or take it out of the schema."
        )
    held.thin()
    if not len(held):
        raise IngestError(
            f"No '{key}' of the table '{child.name}' is found in the main table. Check that both "
            "write it alike: leading zeros and endings such as '.0' count."
        )
    return _ChildRows(child, held.codes, held.ranks, held.owners)


def _slots(child: ChildTable, schema: Schema) -> int:
    return schema.max_rows * child.max_rows_per_person


def check_columns(chunk: pd.DataFrame, schema: Schema) -> None:
    """Refuse rows that lack a column of the schema, or the one that names the person.

    Raises
    ------
    IngestError
        Naming what is absent.
    """
    wanted = [column.name for column in schema]
    if schema.privacy_unit.column is not None:
        wanted.append(schema.privacy_unit.column)
    _check_names(chunk, wanted)


def check_children(children: Mapping[str, pd.DataFrame], schema: Schema) -> None:
    """Refuse child tables that are not those of the schema, or lack a column of it.

    Raises
    ------
    IngestError
        Naming what is absent.
    """
    _check_tables(schema, dict.fromkeys(children, ()))
    for child in schema.children:
        wanted = [*(column.name for column in child.columns), schema.key_of(child)]
        _check_names(children[child.name], wanted, child.name)


def _check_names(chunk: pd.DataFrame, wanted: Sequence[str], table: str = "") -> None:
    absent = [name for name in wanted if name not in chunk.columns]
    if absent:
        names = ", ".join(f"'{name}'" for name in absent[:10])
        where = f"table '{table}'" if table else "file"
        raise IngestError(
            f"The {where} has no column {names}. Rename the column in the file or in the schema; "
            "upper and lower case matter."
        )


def _coins(count: int, percent: int, randomness: RandomSource) -> Flags:
    threshold = np.uint64(percent * (2**64 - 1) // 100)
    return randomness.words(count) < threshold


def _nobody(schema: Schema) -> IngestError:
    return IngestError(
        f"No row names a person in column '{schema.privacy_unit.column}'. "
        "Choose the column that identifies a person, or declare that each row is one person."
    )


def _too_many(schema: Schema) -> IngestError:
    return IngestError(
        f"The file has more rows than the declared limit of {schema.max_rows}. Raise "
        "'max_rows' to a round number that you are willing to make public, or upload fewer."
    )


def _check_targets(codes: list[Cells], schema: Schema) -> None:
    for i, column in enumerate(schema):
        if column.target and not (codes[i] < len(column.classes)).any():
            wanted = "a number" if isinstance(column, NumericColumn) else "one of its categories"
            raise IngestError(
                f"No value of the target '{column.name}' is {wanted}. Check the spelling in the "
                "file and the type and categories in the schema."
            )


def frame_chunks(frame: pd.DataFrame) -> Iterator[pd.DataFrame]:
    """One frame as a stream of chunks, refusing duplicate column names."""
    check_header([str(name) for name in frame.columns])
    named = frame.copy(deep=False)
    named.columns = pd.Index([str(name) for name in frame.columns])
    yield named


def check_header(names: list[str]) -> None:
    """Refuse a header that no schema can describe.

    Raises
    ------
    IngestError
        If it is empty, has blank or duplicate names, or more columns than ``MAX_COLUMNS``.
    """
    if not names or all(not name.strip() for name in names):
        raise IngestError("The file is empty or has no header line. The first line names columns.")
    if len(names) > MAX_COLUMNS:
        raise IngestError(
            f"The file has {len(names)} columns; at most {MAX_COLUMNS} can be handled. "
            "Remove those that nobody will analyse."
        )
    if any(not name.strip() for name in names):
        raise IngestError("A column has no name. Give every column of the header line a name.")
    twice = sorted(name for name, times in Counter(names).items() if times > 1)
    if twice:
        listed = ", ".join(f"'{name}'" for name in twice[:10])
        raise IngestError(f"Column names must be distinct; the file repeats {listed}.")
