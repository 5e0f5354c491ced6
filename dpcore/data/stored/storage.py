"""Partitions on disk: Arrow files that are mapped into memory, written once, with checksums.

A stored data set is a folder: ``schema.json``, ``partitions.json`` and a folder for each partition
with two files, ``records.arrow`` (a column of codes for each column of the schema, clamped numbers,
child rows) and ``bits.arrow`` (bit vectors); and ``people.arrow``, if people can be found again. Columns
of one kind lie side by side in the file, so that together they are one array, and nothing is copied
when they are read.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import DTypeLike

from dpcore.arrays import Array
from dpcore.data.packing import word_count
from dpcore.data.partition import Partition, child_arrays, code_type, link_arrays
from dpcore.domain.columns import NumericColumn
from dpcore.domain.schemas.schema import Schema
from dpcore.errors import SchemaError

_INCOMPLETE = "The stored data set is incomplete: upload it again."
#: Files of a stored table beside its partitions.
SCHEMA, PARTITIONS = "schema.json", "partitions.json"
_RECORDS, _BITS, _PEOPLE = "records.arrow", "bits.arrow", "people.arrow"
#: Files of a partition that questions need.
READ = (_RECORDS, _BITS)
#: Arrays of data sets that were stored before there were partitions.
_UNDIVIDED = ("codes", "numbers", "cells", "parts")


def stored_schema(directory: Path) -> Schema:
    """The schema of a saved table. Raises ``SchemaError``, which does not say where it is saved."""
    try:
        return Schema.from_file(directory / SCHEMA)
    except SchemaError:
        raise SchemaError(_INCOMPLETE) from None


def save_partitions(directory: Path, schema: Schema, partitions: Iterable[Partition]) -> None:
    """Write a table into an existing, empty directory."""
    (directory / SCHEMA).write_text(schema.to_json(), encoding="utf-8")
    entries = []
    for number, partition in enumerate(partitions):
        folder = directory / partition_folder(number)
        folder.mkdir(mode=0o700, exist_ok=True)
        layout = _Layout(schema, partition.rows, keeping="people" in partition.arrays)
        for name, columns in layout.files.items():
            _write(folder / name, columns, partition.arrays, layout.lengths[name])
        checksums = {name: checksum_of(folder / name) for name in layout.files}
        entries.append({"rows": partition.rows, "sha256": checksums})
    listed = json.dumps({"partitions": entries}, indent=1)
    (directory / PARTITIONS).write_text(listed, encoding="utf-8")


def open_partitions(directory: Path, schema: Schema) -> list[Partition]:
    """Map all partitions of a saved table into memory, read-only: headers are read, records are not.

    Raises
    ------
    SchemaError
        If a file is missing, damaged or too short.
    """
    if _is_undivided(directory):
        return [_undivided(directory, schema)]
    listed = enumerate(listed_partitions(directory))
    return [map_partition(directory, number, schema, entry["rows"]) for number, entry in listed]


def stored_people(directory: Path) -> Iterator[tuple[Partition, Array]]:
    """Each partition of a saved table with what is kept of its people: see :mod:`dpcore.data.building.people`.

    Raises
    ------
    SchemaError
        If a file is missing, damaged or too short.
    """
    schema = stored_schema(directory)
    for number, entry in enumerate(listed_partitions(directory)):
        layout = _Layout(schema, entry["rows"], keeping=True)
        file = directory / partition_folder(number) / _PEOPLE
        [(_, people)] = _vectors(file, layout.files[_PEOPLE], entry["rows"])
        yield map_partition(directory, number, schema, entry["rows"]), people


def check_contents(directory: Path) -> None:
    """Read every file of a saved table and compare it with its checksum.

    Tables that were stored before there were partitions have none.

    Raises
    ------
    SchemaError
        If one is not what was written.
    """
    if _is_undivided(directory):
        return
    for number, entry in enumerate(listed_partitions(directory)):
        for name, checksum in entry["sha256"].items():
            file = directory / partition_folder(number) / name
            if not file.is_file() or checksum_of(file) != checksum:
                raise SchemaError("A file of the stored data set has changed since it was written: restore it.")


def partition_folder(number: int) -> str:
    """Name of the folder of a partition."""
    return f"{number:05d}"


def listed_partitions(directory: Path) -> list[Any]:
    """Places (``rows``) and checksums of files (``sha256``, by their names) of every partition.

    Raises
    ------
    SchemaError
        If the list is missing or damaged.
    """
    try:
        return list(json.loads((directory / PARTITIONS).read_text(encoding="utf-8"))["partitions"])
    except (OSError, ValueError, KeyError, TypeError):
        raise SchemaError(_INCOMPLETE) from None


def checksum_of(file: Path) -> str:
    """SHA-256 of a file."""
    with file.open("rb") as content:
        return hashlib.file_digest(content, "sha256").hexdigest()


#: The columns of a file: for each array its type, and what they are called.
_Columns = Mapping[str, tuple[DTypeLike, list[str]]]


class _Layout:
    """Which columns each file has, in order: a name and the array that it is a row of."""

    def __init__(self, schema: Schema, rows: int, *, keeping: bool = False) -> None:
        names = [column.name for column in schema]
        numeric = [column.name for column in schema if isinstance(column, NumericColumn)]
        records = {
            "codes": (code_type(schema.columns), [f"code {name}" for name in names]),
            "numbers": (np.float64, [f"number {name}" for name in numeric]),
            "ids": (np.uint64, ["id"]),
        }
        cells = [f"cell {column.name} {code}" for column in schema for code in range(len(column.cells))]
        bits = {
            "cells": (np.uint64, cells),
            "parts": (np.uint64, ["part train", "part holdout"]),
        }
        self.shapes: dict[str, tuple[int, ...]] = {}
        for child, (codes, slots) in zip(schema.children, child_arrays(schema), strict=True):
            each = range(child.max_rows_per_person)
            own = [f"code {child.name}.{column.name} {slot}" for column in child.columns for slot in each]
            records[codes] = (code_type(child.columns), own)
            bits[slots] = (np.uint64, [f"row {child.name} {slot}" for slot in each])
            self.shapes[codes] = (len(child.columns), len(each), rows)
            if child.parent is not None:
                name = link_arrays(schema)[child.name]
                records[name] = (np.uint16, [f"link {child.name} {slot}" for slot in each])
                self.shapes[name] = (len(each), rows)
        self.shapes["ids"] = (rows,)
        self.files: dict[str, _Columns] = {_RECORDS: records, _BITS: bits}
        self.lengths = {_RECORDS: rows, _BITS: word_count(rows), _PEOPLE: rows}
        if keeping:
            tables = [(child.name, child.max_rows_per_person) for child in schema.children]
            words = [f"word {table} {place}" for table, most in tables for place in range(most)]
            self.files[_PEOPLE] = {"people": (np.uint64, ["who 0", "who 1", "word", *words])}


def _write(file: Path, columns: _Columns, arrays: Mapping[str, Array], length: int) -> None:
    import pyarrow as pa

    vectors, names = [], []
    for array, (_, own) in columns.items():
        vectors += [pa.array(row) for row in arrays[array].reshape(-1, length)]
        names += own
    batch = pa.record_batch(vectors, names=names)
    with pa.OSFile(str(file), "wb") as sink, pa.ipc.new_file(sink, batch.schema) as writer:
        writer.write_batch(batch)


def map_partition(
    directory: Path, number: int, schema: Schema, rows: int, place: tuple[str, int] | None = None
) -> Partition:
    """Map one partition of a saved table into memory, whose place may be said to be another.

    Raises
    ------
    SchemaError
        If a file is missing, damaged or too short.
    """
    layout, arrays = _Layout(schema, rows), {}
    for name, columns in layout.files.items():
        for array, vectors in _vectors(directory / partition_folder(number) / name, columns, layout.lengths[name]):
            arrays[array] = vectors.reshape(layout.shapes.get(array, vectors.shape))
    return Partition(schema, arrays, place or (str(directory), number))


def _vectors(file: Path, columns: _Columns, length: int) -> Iterator[tuple[str, Array]]:
    """The arrays of a file: shape (n_columns, length) each."""
    import pyarrow as pa

    try:
        batch = pa.ipc.open_file(pa.memory_map(str(file), "r")).get_batch(0)
    except (OSError, pa.ArrowInvalid):
        raise SchemaError(_INCOMPLETE) from None
    place = 0
    for name, (kind, own) in columns.items():
        found = [batch.column(at) for at in range(place, min(place + len(own), batch.num_columns))]
        wanted = pa.from_numpy_dtype(kind)
        if len(found) < len(own) or any(one.type != wanted or len(one) != length for one in found):
            raise SchemaError(_INCOMPLETE)
        yield name, _side_by_side(found, np.dtype(kind), length, batch)
        place += len(own)


def _side_by_side(found: Sequence[Any], kind: np.dtype[Any], length: int, owner: object) -> Array:
    """Columns that lie one behind the other in a file as one array, without copying them."""
    import pyarrow as pa

    if not found:
        return np.empty((0, length), dtype=kind)
    size = length * kind.itemsize
    first = found[0].buffers()[1].address
    if any(one.buffers()[1].address != first + place * size for place, one in enumerate(found)):
        return np.stack([one.to_numpy() for one in found])
    whole = pa.foreign_buffer(first, len(found) * size, base=owner)
    return np.frombuffer(whole, dtype=kind).reshape(len(found), length)


def _is_undivided(directory: Path) -> bool:
    return (directory / f"{_UNDIVIDED[0]}.npy").exists()


def _undivided(directory: Path, schema: Schema) -> Partition:
    """A table that was stored before there were partitions: all arrays in files of their own."""
    names = [*_UNDIVIDED, *(name for pair in child_arrays(schema) for name in pair)]
    try:
        arrays: dict[str, Any] = {name: np.load(directory / f"{name}.npy", mmap_mode="r") for name in names}
    except (OSError, ValueError, EOFError):
        raise SchemaError(_INCOMPLETE) from None
    arrays["ids"] = np.arange(arrays["codes"].shape[1], dtype=np.uint64)
    return Partition(schema, arrays, (str(directory), 0))
