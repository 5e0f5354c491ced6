"""From rows of any origin to partitions: encode block by block, bound each person.

Rows of a block are encoded and put down with those of the same partition
(:mod:`dpcore.data.building.row_buffer`). So memory depends on the size of a block and of a
partition, whatever the number of rows. Names of people are not put down: two keyed hashes, whose
keys nobody keeps unless that is asked for (:mod:`dpcore.data.building.people`), stand for them.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from pathlib import Path

import numpy as np
import pandas as pd

from dpcore.arrays import Array, Flags, Ints, Words
from dpcore.cores import ahead
from dpcore.data.building.division import coins, named_rows, new_key, partition_count, partition_rows, scaled, threshold
from dpcore.data.building.people import People, noted
from dpcore.data.building.row_buffer import Rows, has_state, person_numbers, places_of
from dpcore.data.partition import ChildRecords, Partition
from dpcore.data.table import PrivateTable
from dpcore.domain.columns import MAX_COLUMNS, NumericColumn
from dpcore.domain.encoding import Block
from dpcore.domain.schemas.schema import ChildTable, Schema
from dpcore.errors import IngestError
from dpcore.privacy.randomness import RandomSource, SecureRandom

_NOBODY_NAMED = (
    "Each row is a person here and names nobody, so nobody could be found again: leave out '--keep-keys', or declare "
    "the column that identifies a person."
)
_WHOLE_HISTORIES = (
    "Which row of a person is first or last, and summaries of the rows, are made from all rows at once, so no rows can "
    "be appended later: leave out '--keep-keys', and add all files together again as the next version ('--replaces')."
)


_NESTED_KEYS = (
    "Rows that belong to rows of another table are linked once, when a data set is stored, so no rows can be appended "
    "later: leave out '--keep-keys', and add all files together again as the next version ('--replaces')."
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
    whom the main table does not know, and rows that belong to a row of another table (``parent``)
    which is not kept. One coin per person decides between training and hold-out
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
    held: dict[str, Rows] = {}
    for child in schema.parents_first:
        known = main if child.parent is None else held[child.parent]
        held[child.name] = _child_rows(children[child.name], child, division, known, randomness, folder)
    further = [held[child.name] for child in schema.children]
    return ahead(_partition(division, main.of(home), further, home) for home in range(division.count))


class _Division:
    """Who is who, and in which partition: names are hashed twice, by keys that are forgotten or kept."""

    def __init__(self, schema: Schema, randomness: RandomSource, kept: People | None) -> None:
        if kept is not None and schema.privacy_unit.column is None:
            raise IngestError(_NOBODY_NAMED)
        tables: tuple[Schema | ChildTable, ...] = (schema, *schema.children)
        if kept is not None and any(map(has_state, tables)):
            raise IngestError(_WHOLE_HISTORIES)
        if kept is not None and any(child.links for child in schema.children):
            raise IngestError(_NESTED_KEYS)
        self.kept = kept
        self.schema, self.count = schema, partition_count(schema.max_rows)
        each = schema.privacy_unit.max_rows_per_person
        self.rows = partition_rows(schema.max_rows, each, self.count)
        forgotten = new_key(randomness if self.count > 1 else SecureRandom()), new_key(SecureRandom())
        self._keys = forgotten if kept is None else kept.keys

    def people(self, block: Block, column: str) -> tuple[Words, Flags]:
        """Hashes of the person of each row, shape (n_rows, 2), and which rows name one."""
        return named_rows(block, column, self._keys, self.schema.privacy_unit)

    def row_keys(self, block: Block, column: str) -> tuple[Words, Flags]:
        """The same of what tells rows apart."""
        return named_rows(block, column, self._keys)

    def homes(self, words: Words) -> Ints:
        """Partitions from uniform words."""
        return scaled(words, self.count)


def _main_rows(
    chunks: Iterable[pd.DataFrame | Block], division: _Division, randomness: RandomSource, folder: Path | None
) -> Rows:
    schema, unit = division.schema, division.schema.privacy_unit
    held = Rows(schema, unit.max_rows_per_person, division.rows, division.count, _within(folder, "main"))
    if division.kept is not None:
        held.take(division.kept.rows(held.type), division.homes)
    for block in map(Block.of, ahead(chunks)):
        check_columns(block.frame, schema)
        words = randomness.words(len(block))
        if unit.column is None:
            people, named = np.zeros((len(block), 2), dtype=np.uint64), np.ones(len(block), dtype=np.bool_)
            people[:, 0] = held.seen + np.arange(len(block))
            homes = division.homes(words)
        else:
            people, named = division.people(block, unit.column)
            homes = division.homes(people[:, 0])
        held.add(block, people, named, words, homes)
        if (held.seen if unit.column is None else held.staying) > schema.max_rows:
            raise _too_many(schema)
    if not held.seen:
        raise IngestError("The file holds a header but no rows. Upload a file with data.")
    return held


def _within(folder: Path | None, name: str) -> Path | None:
    return None if folder is None else folder / name


def _settle(main: Rows, division: _Division, randomness: RandomSource) -> None:
    """Decide which rows stay, give each a random number and each person a part."""
    schema, sizes = division.schema, []
    met = np.zeros(len(schema.columns), dtype=np.bool_)
    for home, rows in enumerate(ahead(map(main.settled, range(division.count)))):
        ids, owners = randomness.words(len(rows)), person_numbers(rows["who"])
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


def _partition(division: _Division, rows: Array, further: Sequence[Rows], home: int) -> Partition:
    schema = division.schema
    children, noted_too = [], []
    for table, held in zip(schema.children, further, strict=True):
        own = held.of(home)
        codes = list(own["codes"].T)
        places = places_of(own["who"], rows["who"])
        noted_too.append((own, places, table.max_rows_per_person))
        slots = own["slot"].astype(np.int64)
        links = None if table.parent is None else own["link"]
        children.append(ChildRecords.build(table, division.rows, codes, slots, places, links))
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


def _check_tables(schema: Schema, given: Mapping[str, Iterable[object]]) -> None:
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
    known: Rows,
    randomness: RandomSource,
    folder: Path | None,
) -> Rows:
    """Rows of a child table, at most so many of each person: of people, or belonging to rows, that are known."""
    each, key = child.max_rows_per_person, division.schema.key_of(child)
    number = division.schema.children.index(child)
    place = _within(folder, f"child {number}")
    held = Rows(child, each, division.rows * each, division.count, place, known)
    if division.kept is not None:
        held.take(division.kept.child_rows(number, held.type), division.homes)
    for block in map(Block.of, ahead(chunks)):
        _check_names(block.frame, child, key, child.name)
        people, named = division.people(block, key)
        links, linked = _links(block, child, division)
        homes = division.homes(people[:, 0])
        held.add(block, people, named & linked, randomness.words(len(block)), homes, links)
    if not held.seen:
        raise IngestError(
            f"The table '{child.name}' holds a header but no rows. Give its rows, or take it out of the schema."
        )
    for home in range(division.count):
        held.keep(home, held.thinned(home))
    if not held.staying and child.parent is not None:
        raise IngestError(
            f"No row of the table '{child.name}' belongs to a row of '{child.parent}' that is kept. Check that both "
            f"name the person and the row alike, here in the columns '{key}' and '{child.parent_key}'."
        )
    if not held.staying:
        raise IngestError(
            f"No '{key}' of the table '{child.name}' is found in the main table. Check that both "
            "write it alike: leading zeros and endings such as '.0' count."
        )
    return held


def _links(block: Block, child: ChildTable, division: _Division) -> tuple[dict[str, Words], Flags]:
    """Hashes of the keys of rows, by the fields that hold them, and which rows may stay: those that name a parent."""
    links: dict[str, Words] = {}
    linked = np.ones(len(block), dtype=np.bool_)
    if child.row_key is not None:
        links["own"] = _row_hashes(*division.row_keys(block, child.row_key))
    if child.parent_key is not None:
        hashes, linked = division.row_keys(block, child.parent_key)
        links["of"] = _row_hashes(hashes, linked)
    return links, linked


def _row_hashes(hashes: Words, named: Flags) -> Words:
    """One hash of each row's key; 0 for a row that has none, to which nothing belongs."""
    return np.where(named, hashes[:, 1] | np.uint64(1), np.uint64(0))


def check_columns(chunk: pd.DataFrame, schema: Schema) -> None:
    """Refuse rows that lack a column of the schema, or the one that names the person.

    Raises
    ------
    IngestError
        Naming what is absent.
    """
    _check_names(chunk, schema, schema.privacy_unit.column)


def check_children(children: Mapping[str, pd.DataFrame], schema: Schema) -> None:
    """Refuse child tables that are not those of the schema, have a faulty header or lack a column of it.

    Raises
    ------
    IngestError
        Naming what is absent or twice there.
    """
    _check_tables(schema, dict.fromkeys(children, ()))
    for child in schema.children:
        check_header([str(name) for name in children[child.name].columns])
        _check_names(children[child.name], child, schema.key_of(child), child.name)


def _check_names(chunk: pd.DataFrame, declared: Schema | ChildTable, key: str | None, table: str = "") -> None:
    absent = declared.lacking(chunk.columns)
    links = declared.links if isinstance(declared, ChildTable) else ()
    needed = (declared.keeping.order_by, *links, key)
    absent += [name for name in needed if name is not None and name not in chunk.columns]
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
