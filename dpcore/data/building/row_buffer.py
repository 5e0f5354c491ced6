"""Encoded rows on their way into a table, by partition: in memory, or beyond :data:`_HELD` bytes in a file for each."""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterable, Mapping
from io import BufferedIOBase, RawIOBase
from pathlib import Path
from typing import Final

import numpy as np
import pandas as pd

from dpcore.arrays import Array, Flags, Floats, Ints, Words
from dpcore.data.building.division import partition_count, partition_rows
from dpcore.data.building.summaries import BY_ORDER, Summaries, in_order
from dpcore.data.partition import code_type
from dpcore.domain.columns import NumericColumn
from dpcore.domain.encoding import Block
from dpcore.domain.schemas.schema import ChildTable, Schema

#: Rows that may be held whatever the limits: letting go of a few at a time would be slow.
_CALM: Final = 200_000
#: Bytes of encoded rows that are held in memory, where there is a folder for more.
_HELD: Final = 1 << 27


class Rows:
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
    known : Rows, optional
        Rows, one a person, of those about whom rows are kept; by default, of everybody. For a table
        whose rows belong to those of another child table, the rows of that one which are kept.
    """

    def __init__(
        self,
        table: Schema | ChildTable,
        each: int,
        most: int,
        count: int,
        folder: Path | None,
        known: Rows | None = None,
    ) -> None:
        self._table, self._summaries = table, Summaries(table.columns)
        self._each, self._folder, self._known = each, folder, known
        self._alone = isinstance(table, Schema) and table.privacy_unit.column is None
        self._patience, self.type = max(2 * most, _CALM), row_type(table)
        self._fields = self.type.names or ()
        self._pieces: list[list[Array]] = [[] for _ in range(count)]
        self._turn = threading.Lock()  # Rows of a partition may be asked for while another's are put down.
        self._held = self.seen = 0
        self._added, self._stay = np.zeros((2, count), dtype=np.int64)

    @property
    def staying(self) -> int:
        """Rows that stay, at least."""
        return int(self._stay.sum())

    def add(
        self,
        block: Block,
        people: Words,
        named: Flags,
        words: Words,
        homes: Ints,
        links: Mapping[str, Words] | None = None,
    ) -> None:
        """Take rows in, with the hashes of each one's person; those that name nobody are dropped.

        ``links`` are hashes of what tells a row apart (``own``) and of the row that it belongs to (``of``).
        """
        rows = np.zeros(len(block), dtype=self.type)
        rows["who"], rows["word"] = people, words
        for name, hashes in (links or {}).items():
            rows[name] = hashes
        numeric = 0
        for place, (codes, numbers, _) in enumerate(block.encoded(*self._table.columns)):
            rows["codes"][:, place] = codes
            if numbers is not None:
                rows["numbers"][:, numeric] = 1 if self._table.columns[place].summary == "count" else numbers
                numeric += 1
        if "order" in self._fields:
            rows["order"] = self._order(block)
        self._summaries.start(rows)
        self.seen += len(block)
        self._put(rows, homes, np.flatnonzero(named))

    def _order(self, block: Block) -> Floats | float:
        keeping = self._table.keeping
        return np.nan if keeping.order_by is None else block.order(keeping.order_by, keeping.order_format)

    def take(self, stored: Iterable[Array], homes: Callable[[Words], Ints]) -> None:
        """Take rows in that were encoded before, with the words that they drew then."""
        for rows in stored:
            self._put(rows, homes(rows["who"][:, 0]), np.arange(len(rows)))

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
                    _fill(rows[:size], file)
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
            rows = self._known_rows(rows, self._known.of(home))
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

    def _known_rows(self, rows: Array, known: Array) -> Array:
        """Rows about somebody who is known, or that belong to a row that is; of several alike, to the first."""
        if "of" not in self._fields:
            return rows[places_of(rows["who"], known["who"]) >= 0]
        numbers = _numbered(np.concatenate([_named_rows(known, "own"), _named_rows(rows, "of")]))
        own, first = np.unique(numbers[: len(known)], return_index=True)
        wanted = numbers[len(known) :]
        places = np.minimum(np.searchsorted(own, wanted), max(len(own) - 1, 0))
        found = np.flatnonzero(own[places] == wanted) if len(own) else np.zeros(0, dtype=np.int64)
        kept = rows.take(found)
        kept["link"] = known["slot"][first[places[found]]]
        return kept

    def _ordered(self, rows: Array) -> list[Floats]:
        keep = self._table.keeping.keep
        return [] if keep == "random" else [in_order(rows["order"], keep)]

    def settled(self, home: int) -> Array:
        """The rows of a partition as they stay, when no further row comes."""
        rows = self.thinned(home)
        self._summaries.finish(rows)
        return rows


def row_type(table: Schema | ChildTable) -> np.dtype[np.void]:
    """An encoded row: its person, a random word, and in the end its number, and its part or its slot."""
    columns, summaries = table.columns, Summaries(table.columns)
    numeric = sum(isinstance(column, NumericColumn) for column in columns)
    fields: list[object] = [
        *([("order", np.float64)] if has_order(table) else []),
        *summaries.fields,
        *_link_fields(table),
        ("who", np.uint64, (2,)),
        ("word", np.uint64),
        ("id", np.uint64),
        ("numbers", np.float64, (numeric,)),
        ("slot", np.uint16),
        ("holdout", np.bool_),
        ("codes", code_type(columns), (len(columns),)),
    ]
    return np.dtype(fields)


def _link_fields(table: Schema | ChildTable) -> list[object]:
    """Hashes of a row's own key and of its parent's, and the parent's slot, where a table has them."""
    if isinstance(table, Schema):
        return []
    own: list[object] = [] if table.row_key is None else [("own", np.uint64)]
    return own if table.parent is None else [*own, ("of", np.uint64), ("link", np.uint16)]


def has_state(table: Schema | ChildTable) -> bool:
    """Whether what is kept of a person depends on all of the person's rows."""
    return has_order(table) or any(column.summary is not None for column in table.columns)


def has_order(table: Schema | ChildTable) -> bool:
    """Whether the order of a person's rows decides what is kept of them."""
    return table.keeping.keep != "random" or any(column.summary in BY_ORDER for column in table.columns)


def _fill(rows: Array, file: RawIOBase | BufferedIOBase) -> None:
    """Read rows from a file until all are there: one call may read less, on Linux at most 2 GiB.

    Raises
    ------
    EOFError
        If the file ends before.
    """
    left = memoryview(rows.view(np.uint8).data)
    while len(left):
        read = file.readinto(left)
        if not read:
            raise EOFError("rows that were put down are missing from their file")
        left = left[read:]


def largest_file(schema: Schema) -> int:
    """Bytes of a file in which rows are put down on their way, at most: public."""
    count = partition_count(schema.max_rows)
    most = partition_rows(schema.max_rows, schema.privacy_unit.max_rows_per_person, count)
    further: list[tuple[Schema | ChildTable, int]] = [
        (child, most * child.max_rows_per_person) for child in schema.children
    ]
    tables = [(schema, most), *further]
    return max(2 * max(2 * rows, _CALM) * row_type(table).itemsize for table, rows in tables)


def _named_rows(rows: Array, key: str) -> Words:
    """Hashes of each row's person and of one of its keys: shape (n_rows, 3)."""
    return np.column_stack([rows["who"], rows[key]])


def _numbered(people: Words) -> Ints:
    """One number per person, in order of first appearance, from two hashes or more."""
    first, *others = (pd.factorize(np.ascontiguousarray(part))[0].astype(np.int64) for part in people.T)
    for other in others:
        first = pd.factorize(first * (len(people) + 1) + other)[0].astype(np.int64)
    return np.asarray(first, dtype=np.int64)


def person_numbers(people: Words) -> Ints:
    """The same where the rows of each person are together."""
    new = (people[1:] != people[:-1]).any(axis=1)
    return np.concatenate([np.zeros(min(len(people), 1), dtype=np.int64), np.cumsum(new)])


def places_of(people: Words, known: Words) -> Ints:
    """Where each person stands among others, all of whom differ; -1: nowhere."""
    numbers = _numbered(np.concatenate([known, people]))[len(known) :]
    return np.where(numbers < len(known), numbers, -1)
