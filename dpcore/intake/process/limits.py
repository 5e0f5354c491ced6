"""What reading an upload may take: memory and time that grow with public sizes alone.

Public are the sizes of the files, which their custodian sees, and what the schema declares. An
operator sets the base of both limits by ``FROSTGLASS_UPLOAD_MEMORY`` (MiB) and
``FROSTGLASS_UPLOAD_SECONDS``. What a schema declares adds to them up to a limit only: it may be any
number of rows. Files that are there may take time as long as they are.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path

import psutil

from dpcore.domain.schemas.schema import Schema
from dpcore.intake.sources.parts import parts_of
from dpcore.validation import whole_number

#: The base limits, in MiB and seconds, and what they are called in the environment.
_MEMORY = ("FROSTGLASS_UPLOAD_MEMORY", 2048)
_SECONDS = ("FROSTGLASS_UPLOAD_SECONDS", 50)
#: A file or table of this many bytes doubles the limit; one of twice as many trebles it.
_MEMORY_DOUBLES, _SECONDS_DOUBLES = 256 << 20, 25 << 20
_MIB = 1 << 20
#: However large a table is said to be, its upload gets no more than so many times the base.
_MOST = 64
#: Bytes for the name and number of one person, while rows are read.
_PERSON = 256
#: Bytes that a file spends on naming a column, beside its content.
_COLUMN = 512


@dataclass(frozen=True)
class Limits:
    """Limits of the process that reads an upload."""

    memory: int
    """Bytes of address space, so also of memory."""
    seconds: int
    """Time by the clock, and of the processor."""
    written: int
    """Bytes of any file that it writes."""

    @classmethod
    def of(cls, files: Iterable[Path], schema: Schema | None = None) -> Limits:
        """Limits for reading some files; with a schema, for making its table too.

        Raises
        ------
        RequestError
            If a setting of the operator is not a number.
        """
        from dpcore.data.building.row_buffer import largest_file

        declared = 0 if schema is None else stored_bytes(schema)
        given = sum(part.path.stat().st_size for file in files for part in parts_of(file) if part.path.is_file())
        memory, seconds = _base(*_MEMORY) * _MIB, _base(*_SECONDS)
        return cls(
            memory=min(_grown(memory, (declared + given) / _MEMORY_DOUBLES), max(memory, machine_memory())),
            seconds=_grown(seconds, declared / _SECONDS_DOUBLES) + round(seconds * given / _SECONDS_DOUBLES),
            written=max(declared, 0 if schema is None else largest_file(schema)) + _MIB,
        )


def machine_memory() -> int:
    """Bytes of memory that this machine has."""
    return psutil.virtual_memory().total


def _grown(base: int, doublings: float) -> int:
    return round(base * min(1 + doublings, _MOST))


def stored_bytes(schema: Schema) -> int:
    """Bytes of a stored table, at most: public, as every array has a public shape."""
    from dpcore.data.building.division import partition_count, partition_rows

    each, count = schema.privacy_unit.max_rows_per_person, partition_count(schema.max_rows)
    cells, columns = sum(len(column.cells) for column in schema.columns), len(schema.columns)
    row = 10 * columns + cells / 8 + 16 + (_PERSON if schema.privacy_unit.column else 0)
    for child in schema.children:
        slots = child.max_rows_per_person
        linked = child.parent is not None
        row += slots * (2 * (len(child.columns) + linked) + 1 / 8)
        columns += slots * (len(child.columns) + linked + 1)
    rows = partition_rows(schema.max_rows, each, count)
    return round(count * (rows * row + _COLUMN * (columns + cells + 8))) + (len(schema.to_json()) << 2)


def _base(name: str, default: int) -> int:
    return whole_number(name, example=default) or default
