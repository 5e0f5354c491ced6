"""From rows of any origin to partitions: encode block by block, bound each person.

Rows of a block are encoded and put down with those of the same partition, in memory or, beyond
:data:`_HELD` bytes, in a file for each partition. So memory depends on the size of a block and of a
partition, whatever the number of rows. Names of people are not put down: two keyed hashes, whose
keys nobody keeps unless that is asked for (:mod:`dpcore.data.people`), stand for them.
"""

from __future__ import annotations

import threading
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any, Final

import numpy as np
import pandas as pd

from dpcore.arrays import Array, Flags, Floats, Ints, Words
from dpcore.data.ahead import ahead
from dpcore.data.division import hashes_of, new_key, partition_count, partition_rows, scaled
from dpcore.data.partition import ChildRecords, Partition, code_type
from dpcore.data.people import People, coins, noted, threshold
from dpcore.data.summaries import Summaries, in_order
from dpcore.data.table import PrivateTable
from dpcore.domain.blocks import Block
from dpcore.domain.columns import MAX_COLUMNS, NumericColumn
from dpcore.domain.encoding import order_of, people_of
from dpcore.domain.schema import ChildTable, Schema
from dpcore.errors import IngestError
from dpcore.privacy.randomness import RandomSource, SecureRandom

#: Rows that may be held whatever the limits: letting go of a few at a time would be slow.
_CALM: Final = 200_000
#: Bytes of encoded rows that are held in memory, where there is a folder for more.
_HELD: Final = 1 << 27
_NOBODY_NAMED = (
    "Each row is a person here and names nobody, so nobody could be found again: leave out '--keep-keys', or declare "
    "the column that identifies a person."
)
_WHOLE_HISTORIES = (
    "Which row of a person is first or last, and summaries of the rows, are made from all rows at once, so no rows can "
    "be appended later: leave out '--keep-keys', and add all files together again as the next version ('--replaces')."
)


def ingest(
    chunks: Iterable[pd.DataFrame],
    schema: Schema,
    randomness: RandomSource,
    children: Mapping[str, Iterable[pd.DataFrame]] | None = None,
) -> PrivateTable:
    """Encode a data set in memory: see :func:`partitions_of`."""
    return PrivateTable(schema, list(partitions_of(chunks, schema, randomness, children)))


def partitions_of(
    chunks: Iterable[pd.DataFrame | Block],
    schema: Schema,
    randomness: RandomSource,
    children: Mapping[str, Iterable[pd.DataFrame | Block]] | None = None,
    folder: Path | None = None,
    people: People | None = None,
) -> Iterator[Partition]:
    """Encode a data set and bound what one person contributes.

    Of each person's rows, ``max_rows_per_person`` are kept, in the main table and in each child
    table, chosen uniformly unless the schema says otherwise (``keep``, ``summary``); rows without a
    person are dropped, because they could belong to anybody, and so are child rows about a person
    whom the main table does not know. One coin per person decides between training and hold-out
    part.

    Parameters
    ----------
    chunks : iterable of DataFrame or Block
        Rows of the main table.
    children : mapping of str to iterable of DataFrame or Block
        Rows of each child table of the schema, by its name.
    folder : Path, optional
        Where rows are put down on their way; by default they are held in memory.
    people : People, optional
        Keys that are kept, and rows that were stored under them: these are taken in too.

    Returns
    -------
    iterator of Partition
        Every row has been read; each partition is made when it is asked for.

    Raises
    ------
    IngestError
        If a column or table of the schema is missing, no row is left, or more than ``max_rows``
        are.
    """
    children = children or {}
    _check_tables(schema, children)
    division = _Division(schema, randomness, people)
    main = _main_rows(chunks, division, randomness, folder)
    _settle(main, division, randomness)
    further = [
        _child_rows(children[child.name], child, division, main, randomness, folder) for child in schema.children
    ]
    return ahead(_partition(division, main.of(home), further, home) for home in range(division.count))


class _Division:
    """Who is who, and in which partition: names are hashed twice, by keys that are forgotten or kept."""

    def __init__(self, schema: Schema, randomness: RandomSource, kept: People | None) -> None:
        if kept is not None and schema.privacy_unit.column is None:
            raise IngestError(_NOBODY_NAMED)
        tables: tuple[Schema | ChildTable, ...] = (schema, *schema.children)
        if kept is not None and any(map(_has_state, tables)):
            raise IngestError(_WHOLE_HISTORIES)
        self.kept = kept
        self.schema, self.count = schema, partition_count(schema.max_rows)
        each = schema.privacy_unit.max_rows_per_person
        self.rows = partition_rows(schema.max_rows, each, self.count)
        forgotten = new_key(randomness if self.count > 1 else SecureRandom()), new_key(SecureRandom())
        self._keys = forgotten if kept is None else kept.keys

    def people(self, values: pd.Series[Any]) -> tuple[Words, Flags]:
        """Hashes of the person of each row, shape (n_rows, 2), and which rows name one."""
        places, names = pd.factorize(people_of(values))
        hashes = hashes_of(np.asarray(names, dtype=object), self._keys)
        return hashes[places] if len(names) else np.zeros((len(places), 2), np.uint64), places >= 0

    def homes(self, words: Words) -> Ints:
        """Partitions from uniform words."""
        return scaled(words, self.count)


class _Rows:
    """Encoded rows on their way in, by partition: of each person at most so many.

    Each row draws one random word when it comes, and a person keeps the rows with the smallest, or
    those that come first or last and, of several at once, have the smallest. So rows can be dropped
    again and again, and what is held depends on public limits alone.

    Parameters
    ----------
    table : Schema or ChildTable
    each : int
        Rows kept of one person.
    most : int
        Rows of a partition that are expected to stay; some are dropped when twice as many came.
    count : int
        Partitions.
    folder : Path, optional
        Where rows are put down; by default they are held.
    known : _Rows, optional
        Rows, one a person, of those about whom rows are kept; by default, of everybody.
    """

    def __init__(
        self,
        table: Schema | ChildTable,
        each: int,
        most: int,
        count: int,
        folder: Path | None,
        known: _Rows | None = None,
    ) -> None:
        self._table, self._summaries = table, Summaries(table.columns)
        self._each, self._folder, self._known = each, folder, known
        self._alone = isinstance(table, Schema) and table.privacy_unit.column is None
        self._patience, self.type = _patience(most), _row_type(table)
        self._pieces: list[list[Array]] = [[] for _ in range(count)]
        self._turn = threading.Lock()  # Rows of a partition may be asked for while another's are put down.
        self._held = self.seen = 0
        self._added, self._stay = np.zeros((2, count), dtype=np.int64)

    @property
    def staying(self) -> int:
        """Rows that stay, at least."""
        return int(self._stay.sum())

    def add(self, block: Block, people: Words, named: Flags, words: Words, homes: Ints) -> None:
        """Take rows in, with the hashes of each one's person; those that name nobody are dropped."""
        rows = np.zeros(len(block), dtype=self.type)
        rows["who"], rows["word"] = people, words
        numeric = 0
        for place, column in enumerate(self._table.columns):
            codes, numbers, _ = block.encoded(column)
            rows["codes"][:, place] = codes
            if numbers is not None:
                counted = column.summary == "count" and column.name not in block.frame.columns
                rows["numbers"][:, numeric] = 1 if counted else numbers
                numeric += 1
        if _has_order(self._table):
            rows["order"] = self._order(block.frame)
        self._summaries.start(rows)
        self.seen += len(block)
        self._put(rows, homes, np.flatnonzero(named))

    def _order(self, chunk: pd.DataFrame) -> Floats | float:
        keeping = self._table.keeping
        return np.nan if keeping.order_by is None else order_of(chunk[keeping.order_by], keeping.order_format)

    def take(self, stored: Iterable[Array], division: _Division) -> None:
        """Take rows in that were encoded before, with the words that they drew then."""
        for rows in stored:
            self._put(rows, division.homes(rows["who"][:, 0]), np.arange(len(rows)))

    def _put(self, rows: Array, homes: Ints, wanted: Ints) -> None:
        """Put the wanted ones of some rows down, each in its partition."""
        homes = homes[wanted].astype(np.min_scalar_type(len(self._pieces)))  # Small numbers are sorted faster.
        sizes = np.bincount(homes, minlength=len(self._pieces))
        ends = np.cumsum(sizes)
        rows = rows.take(wanted[np.argsort(homes, kind="stable")])  # Many times as fast as an index of such rows.
        for home in np.flatnonzero(sizes):
            self._pieces[home].append(rows[ends[home] - sizes[home] : ends[home]])
        self._added += sizes
        self._held += rows.nbytes
        for place, added in enumerate(self._added):
            if added > self._patience:
                self.keep(place, self.thinned(place))
        if self._held > _HELD and self._folder is not None:
            self._put_down()

    def _put_down(self) -> None:
        for home, pieces in enumerate(self._pieces):
            if pieces:
                self._file(home).parent.mkdir(mode=0o700, exist_ok=True)
                with self._file(home).open("ab") as file:
                    for piece in pieces:
                        piece.tofile(file)
                pieces.clear()
        self._held = 0

    def _file(self, home: int) -> Path:
        assert self._folder is not None
        return self._folder / f"{home:05d}"

    def of(self, home: int) -> Array:
        """The rows of a partition."""
        with self._turn:
            pieces = self._pieces[home]
            down = self._folder is not None and self._file(home).exists()
            if len(pieces) == 1 and not down:
                return pieces[0]
            size = self._file(home).stat().st_size // self.type.itemsize if down else 0
            rows = np.empty(size + sum(map(len, pieces)), dtype=self.type)
            if down:
                with self._file(home).open("rb", buffering=0) as file:
                    file.readinto(rows[:size].view(np.uint8))
            np.concatenate([rows[:0], *pieces], out=rows[size:])
            return rows

    def keep(self, home: int, rows: Array) -> None:
        """Exchange the rows of a partition for those of them that stay, and what is known of these."""
        with self._turn:
            self._added[home], self._stay[home] = 0, len(rows)
            self._held += rows.nbytes - sum(piece.nbytes for piece in self._pieces[home])
            self._pieces[home] = [rows]
            if self._folder is not None and self._file(home).exists():
                self._file(home).unlink()
            if self._folder is not None and self._held > _HELD:
                self._put_down()

    def thinned(self, home: int) -> Array:
        """The rows of a partition that are kept of each person, if no further row comes: those of one together."""
        rows = self.of(home)
        if self._known is not None:
            rows = rows[_places(rows["who"], self._known.of(home)["who"]) >= 0]
        owners = np.arange(len(rows)) if self._alone else _numbered(rows["who"])
        if not self._summaries and (
            self._alone or (owners == np.arange(len(owners))).all()
        ):  # Nobody has two: nothing to choose or to order.
            rows["slot"] = 0
            return rows
        order = np.lexsort((rows["word"], *self._ordered(rows), owners))
        ordered = owners[order]
        ranks = np.arange(len(order)) - np.searchsorted(ordered, ordered, side="left")
        if self._summaries:
            return self._summaries.together(rows.take(order), ordered)
        kept = rows.take(order[ranks < self._each])
        kept["slot"] = ranks[ranks < self._each]
        return kept

    def _ordered(self, rows: Array) -> list[Floats]:
        keep = self._table.keeping.keep
        return [] if keep == "random" else [in_order(rows["order"], keep)]

    def settled(self, home: int) -> Array:
        """The rows of a partition as they stay, when no further row comes."""
        rows = self.thinned(home)
        self._summaries.finish(rows)
        return rows


def _row_type(table: Schema | ChildTable) -> np.dtype[Any]:
    """An encoded row: its person, a random word, and in the end its number, and its part or its slot."""
    columns, summaries = table.columns, Summaries(table.columns)
    numeric = sum(isinstance(column, NumericColumn) for column in columns)
    fields: list[Any] = [
        *([("order", np.float64)] if _has_order(table) else []),
        *summaries.fields,
        ("who", np.uint64, (2,)),
        ("word", np.uint64),
        ("id", np.uint64),
        ("numbers", np.float64, (numeric,)),
        ("slot", np.uint16),
        ("holdout", np.bool_),
        ("codes", code_type(columns), (len(columns),)),
    ]
    return np.dtype(fields)


def _has_state(table: Schema | ChildTable) -> bool:
    return _has_order(table) or bool(Summaries(table.columns))


def _has_order(table: Schema | ChildTable) -> bool:
    return table.keeping.keep != "random" or Summaries(table.columns).ordered


def _patience(most: int) -> int:
    return max(2 * most, _CALM)


def largest_file(schema: Schema) -> int:
    """Bytes of a file in which rows are put down on their way, at most: public."""
    count = partition_count(schema.max_rows)
    most = partition_rows(schema.max_rows, schema.privacy_unit.max_rows_per_person, count)
    further: list[tuple[Schema | ChildTable, int]] = [
        (child, most * child.max_rows_per_person) for child in schema.children
    ]
    tables = [(schema, most), *further]
    return max(2 * _patience(rows) * _row_type(table).itemsize for table, rows in tables)


def _numbered(people: Words) -> Ints:
    """One number per person, in order of first appearance, from pairs of hashes."""
    first, second = (pd.factorize(np.ascontiguousarray(half))[0].astype(np.int64) for half in people.T)
    return np.asarray(pd.factorize(first * (len(people) + 1) + second)[0], dtype=np.int64)


def _together(people: Words) -> Ints:
    """The same where the rows of each person are together."""
    new = (people[1:] != people[:-1]).any(axis=1)
    return np.concatenate([np.zeros(min(len(people), 1), dtype=np.int64), np.cumsum(new)])


def _places(people: Words, known: Words) -> Ints:
    """Where each person stands among others, all of whom differ; -1: nowhere."""
    numbers = _numbered(np.concatenate([known, people]))[len(known) :]
    return np.where(numbers < len(known), numbers, -1)


def _main_rows(
    chunks: Iterable[pd.DataFrame | Block], division: _Division, randomness: RandomSource, folder: Path | None
) -> _Rows:
    schema, unit = division.schema, division.schema.privacy_unit
    held = _Rows(schema, unit.max_rows_per_person, division.rows, division.count, _within(folder, "main"))
    if division.kept is not None:
        held.take(division.kept.rows(held.type), division)
    for block in map(Block.of, ahead(chunks)):
        check_columns(block.frame, schema)
        words = randomness.words(len(block))
        if unit.column is None:
            people, named = np.zeros((len(block), 2), dtype=np.uint64), np.ones(len(block), dtype=np.bool_)
            people[:, 0] = held.seen + np.arange(len(block))
            homes = division.homes(words)
        else:
            people, named = division.people(block.frame[unit.column])
            homes = division.homes(people[:, 0])
        held.add(block, people, named, words, homes)
        if (held.seen if unit.column is None else held.staying) > schema.max_rows:
            raise _too_many(schema)
    if not held.seen:
        raise IngestError("The file holds a header but no rows. Upload a file with data.")
    return held


def _within(folder: Path | None, name: str) -> Path | None:
    return None if folder is None else folder / name


def _settle(main: _Rows, division: _Division, randomness: RandomSource) -> None:
    """Decide which rows stay, give each a random number and each person a part."""
    schema, sizes = division.schema, []
    met = np.zeros(len(schema.columns), dtype=np.bool_)
    for home, rows in enumerate(ahead(map(main.settled, range(division.count)))):
        ids, owners = randomness.words(len(rows)), _together(rows["who"])
        people = int(owners[-1]) + 1 if len(owners) else 0
        if division.kept is None:
            rows["holdout"] = (randomness.words(people) < threshold(schema.holdout_percent))[owners]
        else:
            rows["holdout"] = coins(rows["who"], schema.holdout_percent)
        rows["id"] = ids
        main.keep(home, rows.take(np.argsort(ids, kind="stable")))
        sizes.append(len(rows))
        met |= [
            bool(column.target) and bool((rows["codes"][:, i] < len(column.classes)).any())
            for i, column in enumerate(schema)
        ]
    if not sum(sizes):
        raise _nobody(schema)
    if sum(sizes) > schema.max_rows:
        raise _too_many(schema)
    _check_targets(met, schema)
    if max(sizes) > division.rows:
        raise IngestError(
            "By chance, one part of the data set got too many people. Nothing is stored: try again, "
            "or raise 'max_rows'."
        )


def _partition(division: _Division, rows: Array, further: Sequence[_Rows], home: int) -> Partition:
    schema = division.schema
    children, noted_too = [], []
    for table, held in zip(schema.children, further, strict=True):
        own = held.of(home)
        codes = list(own["codes"].T)
        places = _places(own["who"], rows["who"])
        noted_too.append((own, places, table.max_rows_per_person))
        children.append(ChildRecords.build(table, division.rows, codes, own["slot"].astype(np.int64), places))
    made = Partition.build(
        schema,
        list(rows["codes"].T),
        list(rows["numbers"].T),
        rows["holdout"],
        children,
        ids=rows["id"],
        rows=division.rows,
    )
    if division.kept is None:
        return made
    return Partition(schema, {**made.arrays, "people": noted(rows, noted_too, division.rows)})


def _check_tables(schema: Schema, given: Mapping[str, Iterable[pd.DataFrame]]) -> None:
    declared = [child.name for child in schema.children]
    for name in declared:
        if name not in given:
            raise IngestError(f"The table '{name}' of the schema is missing: add its rows.")
    for name in given:
        if name not in declared:
            raise IngestError(f"The schema describes no further table '{name}': leave it out.")


def _child_rows(
    chunks: Iterable[pd.DataFrame | Block],
    child: ChildTable,
    division: _Division,
    main: _Rows,
    randomness: RandomSource,
    folder: Path | None,
) -> _Rows:
    """Rows of a child table, at most so many of each person of the main table."""
    each, key = child.max_rows_per_person, division.schema.key_of(child)
    number = division.schema.children.index(child)
    place = _within(folder, f"child {number}")
    held = _Rows(child, each, division.rows * each, division.count, place, main)
    if division.kept is not None:
        held.take(division.kept.child_rows(number, held.type), division)
    for block in map(Block.of, ahead(chunks)):
        _check_names(block.frame, child, key, child.name)
        people, named = division.people(block.frame[key])
        held.add(block, people, named, randomness.words(len(block)), division.homes(people[:, 0]))
    if not held.seen:
        raise IngestError(
            f"The table '{child.name}' holds a header but no rows. Give its rows, or take it out of the schema."
        )
    for home in range(division.count):
        held.keep(home, held.thinned(home))
    if not held.staying:
        raise IngestError(
            f"No '{key}' of the table '{child.name}' is found in the main table. Check that both "
            "write it alike: leading zeros and endings such as '.0' count."
        )
    return held


def check_columns(chunk: pd.DataFrame, schema: Schema) -> None:
    """Refuse rows that lack a column of the schema, or the one that names the person.

    Raises
    ------
    IngestError
        Naming what is absent.
    """
    _check_names(chunk, schema, schema.privacy_unit.column)


def check_children(children: Mapping[str, pd.DataFrame], schema: Schema) -> None:
    """Refuse child tables that are not those of the schema, or lack a column of it.

    Raises
    ------
    IngestError
        Naming what is absent.
    """
    _check_tables(schema, dict.fromkeys(children, ()))
    for child in schema.children:
        _check_names(children[child.name], child, schema.key_of(child), child.name)


def _check_names(chunk: pd.DataFrame, declared: Schema | ChildTable, key: str | None, table: str = "") -> None:
    absent = declared.lacking(chunk.columns)
    absent += [name for name in (declared.keeping.order_by, key) if name is not None and name not in chunk.columns]
    if absent:
        names = ", ".join(f"'{name}'" for name in absent[:10])
        where = f"table '{table}'" if table else "file"
        raise IngestError(
            f"The {where} has no column {names}. Rename the column in the file or in the schema; "
            "upper and lower case matter."
        )


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


def _check_targets(met: Flags, schema: Schema) -> None:
    for column, found in zip(schema, met, strict=True):
        if column.target and not found:
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
