"""Files that take their reader's memory or time, or bring it down, far beyond their size."""

from __future__ import annotations

import sqlite3
import struct
from pathlib import Path

import duckdb
import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq

_PAGE = 4096
_DUCK_HEADER, _DUCK_BLOCK = 4096, 262_144


def swelling_parquet(path: Path, rows: int = 2000, width: int = 1_000_000) -> Path:
    """Under a kilobyte: one long text, which every row has."""
    text = pa.DictionaryArray.from_arrays(pa.array(np.zeros(rows, np.int32)), ["x" * width])
    pq.write_table(pa.table({"a": text}), path, compression="zstd")
    return path


def endless_parquet(path: Path, rows: int) -> Path:
    """Rows without end, all alike: a few bytes for each hundred thousand."""
    schema = pa.schema([("a", pa.int8()), ("who", pa.int8())])
    column = pa.array(np.zeros(1_000_000, np.int8))
    with pq.ParquetWriter(path, schema, compression="zstd") as writer:
        for _ in range(rows // 1_000_000):
            writer.write_table(pa.table([column, column], schema=schema), row_group_size=1_000_000)
    return path


def cyclic_sqlite(path: Path) -> Path:
    """A tree whose inner pages point at the same few pages again and again."""
    connection = sqlite3.connect(path)
    connection.execute(f"PRAGMA page_size={_PAGE}")
    connection.execute("CREATE TABLE t (a, who)")
    connection.executemany("INSERT INTO t VALUES (?, 1)", [("x" * 100,)] * 8000)
    connection.commit()
    (root,) = connection.execute("SELECT rootpage FROM sqlite_master").fetchone()
    connection.close()
    content = bytearray(path.read_bytes())
    first = _children(content, root)[:3]
    for page, child in zip((root, *first[:2]), first, strict=True):
        _point(content, page, child)
    path.write_bytes(content)
    return path


def _children(content: bytearray, page: int) -> list[int]:
    start = (page - 1) * _PAGE
    (count,) = struct.unpack_from(">H", content, start + 3)
    cells = struct.unpack_from(f">{count}H", content, start + 12)
    return [struct.unpack_from(">I", content, start + cell)[0] for cell in cells]


def _point(content: bytearray, page: int, child: int) -> None:
    """Make a page an inner one with four hundred ways to the same child."""
    start, count = (page - 1) * _PAGE, 400
    cells = [_PAGE - 6 * (i + 1) for i in range(count)]
    head = struct.pack(">BHHHBI", 5, 0, count, cells[-1], 0, child)
    content[start : start + _PAGE] = bytes(_PAGE)
    content[start : start + 12] = head
    struct.pack_into(f">{count}H", content, start + 12, *cells)
    for i, cell in enumerate(cells):
        key = i + 1
        struct.pack_into(">IBB", content, start + cell, child, 0x80 | key >> 7, key & 0x7F)


def duckdb_file(path: Path) -> bytes:
    """A sound DuckDB file."""
    with duckdb.connect(str(path)) as connection:
        connection.execute(
            "CREATE TABLE t AS SELECT i AS a, 'text ' || i AS b, i % 7 AS who, i / 3.0 AS c, "
            "[i, i + 1] AS d FROM range(5000) r(i)"
        )
    return path.read_bytes()


def duckdb_blocks(content: bytes) -> list[tuple[int, int]]:
    """Where the blocks begin and end that have a checksum."""
    starts = range(3 * _DUCK_HEADER, len(content), _DUCK_BLOCK)
    blocks = [(start, min(start + _DUCK_BLOCK, len(content))) for start in starts]
    headers = [(i * _DUCK_HEADER, (i + 1) * _DUCK_HEADER) for i in range(3)]
    return [(start, end) for start, end in headers + blocks if end <= len(content)]


def with_checksums(content: bytearray) -> bytes:
    """The same DuckDB file with the checksums that its content should have."""
    for start, end in duckdb_blocks(content):
        if (end - start) % _DUCK_HEADER == 0:
            struct.pack_into("<Q", content, start, duckdb_checksum(content[start + 8 : end]))
    return bytes(content)


def duckdb_checksum(block: bytes) -> int:
    """DuckDB's checksum of a block, without the eight bytes where it stands."""
    words = np.frombuffer(bytes(block), dtype="<u8")
    with np.errstate(over="ignore"):
        mixed = words * np.uint64(0xBF58476D1CE4E5B9)
    return int(np.bitwise_xor.reduce(mixed) ^ np.uint64(5381))
