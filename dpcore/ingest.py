"""From an uploaded file to a :class:`PrivateTable`: read in chunks, encode, bound each person."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from dpcore.columns import NumericColumn
from dpcore.encoding import MISSING_WORDS, Codes, encode, texts_of
from dpcore.errors import IngestError
from dpcore.randomness import RandomSource
from dpcore.schema import ChildTable, Schema
from dpcore.table import ChildRecords, PrivateTable


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
    codes: list[list[Codes]] = [[] for _ in schema]
    numbers: list[list[NDArray[np.float64]]] = [[] for _ in schema]
    people: list[pd.Series[Any]] = []
    rows = 0
    for chunk in chunks:
        check_columns(chunk, schema)
        for i, column in enumerate(schema):
            coded, clamped = encode(column, chunk[column.name])
            codes[i].append(coded)
            if clamped is not None:
                numbers[i].append(clamped)
        people.append(_people(chunk, schema.privacy_unit.column))
        rows += len(chunk)
    if rows == 0:
        raise IngestError("The file holds a header but no rows. Upload a file with data.")
    person = _number_people(people, rows, schema.privacy_unit.column)
    kept, holdout = _choose_rows(person, schema, randomness)
    _check_size(len(kept), schema)
    all_codes = [np.concatenate(column_codes)[kept] for column_codes in codes]
    _check_targets(all_codes, schema)
    all_numbers = [
        np.concatenate(column_numbers)[kept] for column_numbers in numbers if column_numbers
    ]
    records: list[ChildRecords] = []
    if schema.children and children:
        keys = pd.Index(pd.concat(people, ignore_index=True).to_numpy()[kept])
        records = [
            _child_records(children[child.name], child, schema, keys, randomness)
            for child in schema.children
        ]
    return PrivateTable.build(schema, all_codes, all_numbers, holdout, records)


def _check_tables(schema: Schema, given: Mapping[str, Iterable[pd.DataFrame]]) -> None:
    declared = [child.name for child in schema.children]
    for name in declared:
        if name not in given:
            raise IngestError(f"The table '{name}' of the schema is missing: add its rows.")
    for name in given:
        if name not in declared:
            raise IngestError(f"The schema describes no further table '{name}': leave it out.")


def _child_records(
    chunks: Iterable[pd.DataFrame],
    child: ChildTable,
    schema: Schema,
    keys: pd.Index,
    randomness: RandomSource,
) -> ChildRecords:
    """Rows of a child table, at most so many of each person, beside the persons in ``keys``."""
    codes: list[list[Codes]] = [[] for _ in child.columns]
    places: list[NDArray[np.int64]] = [np.zeros(0, dtype=np.int64)]
    key = schema.key_of(child)
    for chunk in chunks:
        _check_names(chunk, [*(column.name for column in child.columns), key], child.name)
        for i, column in enumerate(child.columns):
            codes[i].append(encode(column, chunk[column.name])[0])
        places.append(keys.get_indexer(pd.Index(people_of(chunk[key]), dtype=object)))
    place = np.concatenate(places)
    if not len(place):
        raise IngestError(
            f"The table '{child.name}' holds a header but no rows. Give its rows, or take it out "
            "of the schema."
        )
    if not (place >= 0).any():
        raise IngestError(
            f"No '{key}' of the table '{child.name}' is found in the main table. Check that both "
            "write it alike: leading zeros and endings such as '.0' count."
        )
    order, rank = _random_ranks(place, randomness)
    kept = (place[order] >= 0) & (rank < child.max_rows_per_person)
    rows = order[kept]
    all_codes = [np.concatenate(column_codes)[rows] for column_codes in codes]
    return ChildRecords.build(child, schema.max_rows, all_codes, rank[kept], place[rows])


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


def _people(chunk: pd.DataFrame, unit: str | None) -> pd.Series[Any]:
    return pd.Series(dtype=object) if unit is None else people_of(chunk[unit])


def people_of(values: pd.Series[Any]) -> pd.Series[Any]:
    """Name of each row's person as text, so that 1, 1.0 and ``"1"`` are one; ``None``: nobody."""
    names = [None if text.lower() in MISSING_WORDS else text for text in texts_of(values)]
    return pd.Series(names, dtype=object)


def _number_people(people: list[pd.Series[Any]], rows: int, unit: str | None) -> NDArray[np.int64]:
    """One number per person, in row order; -1 where a row names nobody."""
    if unit is None:
        return np.arange(rows)
    return pd.factorize(pd.concat(people, ignore_index=True))[0].astype(np.int64)


def _choose_rows(
    person: NDArray[np.int64], schema: Schema, randomness: RandomSource
) -> tuple[NDArray[np.int64], NDArray[np.bool_]]:
    """Rows kept, in random order, and whether each is in the hold-out part."""
    order, rank = _random_ranks(person, randomness)
    limit = schema.privacy_unit.max_rows_per_person
    kept = order[(person[order] >= 0) & (rank < limit)]
    coin = _coins(int(person.max()) + 1, schema.holdout_percent, randomness)
    shuffled = kept[np.argsort(randomness.words(len(kept)), kind="stable")]
    return shuffled, coin[person[shuffled]]


def _random_ranks(
    groups: NDArray[np.int64], randomness: RandomSource
) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """Rows in order of their groups, at random within each, and the rank of each in its group."""
    order = np.lexsort((randomness.words(len(groups)), groups))
    ordered = groups[order]
    return order, np.arange(len(order)) - np.searchsorted(ordered, ordered, side="left")


def _coins(count: int, percent: int, randomness: RandomSource) -> NDArray[np.bool_]:
    threshold = np.uint64(percent * (2**64 - 1) // 100)
    return randomness.words(count) < threshold


def _check_size(rows: int, schema: Schema) -> None:
    if rows == 0:
        raise IngestError(
            f"No row names a person in column '{schema.privacy_unit.column}'. "
            "Choose the column that identifies a person, or declare that each row is one person."
        )
    if rows > schema.max_rows:
        raise IngestError(
            f"The file has more rows than the declared limit of {schema.max_rows}. Raise "
            "'max_rows' to a round number that you are willing to make public, or upload fewer."
        )


def _check_targets(codes: list[Codes], schema: Schema) -> None:
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


def check_header(names: list[str], limit: int = 1000) -> None:
    """Refuse a header that no schema can describe.

    Raises
    ------
    IngestError
        If it is empty, has blank or duplicate names, or more than ``limit`` columns.
    """
    if not names or all(not name.strip() for name in names):
        raise IngestError("The file is empty or has no header line. The first line names columns.")
    if len(names) > limit:
        raise IngestError(
            f"The file has {len(names)} columns; at most {limit} can be handled. "
            "Remove those that nobody will analyse."
        )
    if any(not name.strip() for name in names):
        raise IngestError("A column has no name. Give every column of the header line a name.")
    seen: set[str] = set()
    twice = sorted({name for name in names if name in seen or seen.add(name)})  # type: ignore[func-returns-value]
    if twice:
        listed = ", ".join(f"'{name}'" for name in twice[:10])
        raise IngestError(f"Column names must be distinct; the file repeats {listed}.")
