"""Files of every kind that can be uploaded: sound ones, and what damage and malice make of them.

The same seed makes the same file.
"""

from __future__ import annotations

import io
import random
import sqlite3
import tempfile
from collections.abc import Callable, Mapping
from datetime import date, datetime
from functools import cache, partial
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pyarrow as pa
import pyarrow.parquet as pq
import pyreadstat

from dpcore.domain.schemas.schema import Schema
from tests.support.files.hostile_files import cyclic_sqlite, duckdb_file, swelling_parquet, with_checksums

#: The kinds of files, by their endings.
KINDS = ("csv", "parquet", "sqlite", "duckdb", "yaml", "sav", "dta", "xpt")
#: What every sound file could be stored with.
SCHEMA = Schema.from_text(
    """
name: fuzz
max_rows: 20000
entity: t
privacy_unit: {column: who, max_rows_per_person: 3}
columns:
  - {name: a, type: integer, lower: 0, upper: 100, bins: 5}
  - {name: b, type: categorical, categories: [text 1, text 2]}
"""
)
_WORDS = (
    "",
    "1",
    "-0",
    "1e999",
    "nan",
    "yes",
    "text 1",
    "é",
    "\ufeff",
    "a;b",
    "2020-01-01",
    "x" * 300,
)
_YAML = SCHEMA.to_yaml()
_TAGS = ("!!int", "!!bool", "!!float", "!!timestamp", "!!binary", "!!set", "!!omap", "!!pairs")
_YAML_PIECES = (
    "? {}\n: 1\n",
    "<<: [1]\n",
    "&a [*a]\n",
    "[" * 3000,
    "{" * 300,
    "- " * 300,
    "0x" + "f" * 5000,
    "1:" * 2000 + "1",
    "9" * 4400,
    "!!python/object:os.system x",
    "%YAML 9.9\n---\n",
    "---\n---\n",
    "\0",
    "\x85",
    "\ud83d",
    '"\\ud800"',
    "1e400",
    ".inf",
    ".nan",
    "~",
    "2001-99-99",
    "12:60:99",
    '{"columns": ' * 50,
    "'" * 999,
    "|\n",
    ">+9\n",
    "!<tag:yaml.org,2002:int> x",
)


def make(kind: str, seed: int) -> bytes:
    """One file of a kind."""
    draw = random.Random(f"{kind} {seed}")
    content = _MAKERS[kind](draw)
    return _damaged(content, kind, draw) if draw.random() < 0.75 else content


def _damaged(content: bytes, kind: str, draw: random.Random) -> bytes:
    for _ in range(draw.choice((1, 1, 2, 5))):
        content = draw.choice(_DAMAGES)(content, draw)
    if kind == "duckdb" and draw.random() < 0.7:
        return with_checksums(bytearray(content))
    return content


def _flipped(content: bytes, draw: random.Random) -> bytes:
    changed = bytearray(content)
    used = [i for i, byte in enumerate(changed[:600_000]) if byte] or [0]
    for _ in range(min(len(changed), draw.choice((1, 2, 8, 60)))):
        changed[draw.choice(used)] ^= 1 << draw.randrange(8)
    return bytes(changed)


def _cut(content: bytes, draw: random.Random) -> bytes:
    return content[: draw.randrange(len(content) + 1)]


def _spliced(content: bytes, draw: random.Random) -> bytes:
    start, end = sorted(draw.randrange(len(content) + 1) for _ in range(2))
    place = draw.randrange(len(content) + 1)
    return content[:place] + content[start : min(end, start + 5000)] + content[place:]


def _filled(content: bytes, draw: random.Random) -> bytes:
    start, length = draw.randrange(len(content) + 1), draw.choice((1, 4, 8, 100))
    filling = draw.choice((b"\0", b"\xff", b"\x7f", b"\x80", b'"', b"\n"))
    return content[:start] + filling * length + content[start + length :]


_DAMAGES: tuple[Callable[[bytes, random.Random], bytes], ...] = (_flipped, _cut, _spliced, _filled)


def _csv(draw: random.Random) -> bytes:
    if draw.random() < 0.03:
        return b"," * 3_000_000 + b"\n"
    sign, end = draw.choice(",;\t|"), draw.choice(("\n", "\r\n", "\r"))
    rows = [["who", "a", "b"]] + [
        [str(draw.randrange(40)), draw.choice(_WORDS), draw.choice(_WORDS)] for _ in range(draw.choice((0, 1, 30, 300)))
    ]
    for row in draw.sample(rows, draw.choice((0, 0, 0, 1))):
        draw.choice((row.clear, row.pop, lambda row=row: row.append("4"), row.reverse))()
    quoted = [[f'"{w}"' if draw.random() < 0.2 else w for w in row] for row in rows]
    text = end.join(sign.join(row) for row in quoted) + draw.choice(("", end, end * 2, sign))
    return text.encode(draw.choice(("utf-8",) * 6 + ("utf-8-sig", "utf-16")))


def _parquet(draw: random.Random) -> bytes:
    rows = draw.choice((0, 1, 50, 2000))
    columns: dict[str, Any] = {
        "who": [draw.randrange(40) for _ in range(rows)],
        "a": draw.choice(
            (
                pa.array(np.arange(rows)),
                pa.array(np.arange(rows), pa.timestamp(draw.choice(("s", "us")))),
                pa.array([2**31 - 1 - i for i in range(rows)], pa.date32()),
                pa.array([-(2**62) + i for i in range(rows)], pa.timestamp("us")),
                pa.array([2**62 + i for i in range(rows)], pa.duration("s")),
                pa.array([[i, None] for i in range(rows)], pa.list_(pa.int64())),
                pa.array([{"x": i} for i in range(rows)], pa.struct([("x", pa.int64())])),
                pa.array([b"\xff\xfe"] * rows, pa.binary()),
                pa.array([date(1, 1, 1)] * rows),
                pa.array([datetime(9999, 12, 31)] * rows, pa.timestamp("us")),
            )
        ),
        "b": pa.array([draw.choice(_WORDS) for _ in range(rows)], pa.string()),
    }
    if draw.random() < 0.3:
        columns["b"] = columns["b"].dictionary_encode()
    if draw.random() < 0.1:
        raw = pa.array([b"\xff\xc3("] * rows, pa.binary())
        columns["b"] = pa.Array.from_buffers(pa.string(), rows, raw.buffers())
    table = pa.table(columns)
    if draw.random() < 0.2:
        broken = draw.choice((b"{", b"\xff", b'{"columns": 1}', b"[]"))
        table = table.replace_schema_metadata({b"pandas": broken})
    sink = io.BytesIO()
    pq.write_table(table, sink, compression=draw.choice(("none", "snappy", "zstd", "gzip")))
    return sink.getvalue()


@cache
def _swelling() -> bytes:
    with tempfile.TemporaryDirectory() as folder:
        return swelling_parquet(Path(folder) / "x").read_bytes()


def _sqlite(draw: random.Random) -> bytes:
    if draw.random() < 0.05:
        return _cyclic()
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "x"
        connection = sqlite3.connect(path)
        connection.execute(f"PRAGMA page_size={draw.choice((512, 1024, 4096))}")
        kind = draw.choice(("", "INTEGER", "TEXT", "BLOB", "DATE"))
        connection.execute(f"CREATE TABLE t (who, a {kind}, b TEXT, g AS (a + 1))")
        connection.execute("CREATE VIEW v AS SELECT * FROM t")
        values = (1, 2.5, None, "x", b"\xff", 2**60, "x" * 3000)
        for _ in range(draw.choice((0, 3, 200))):
            row = (draw.randrange(40), draw.choice(values), draw.choice(values))
            connection.execute("INSERT INTO t VALUES (?, ?, ?)", row)
        connection.commit()
        connection.close()
        return path.read_bytes()


@cache
def _cyclic() -> bytes:
    with tempfile.TemporaryDirectory() as folder:
        return cyclic_sqlite(Path(folder) / "x").read_bytes()


@cache
def _sound_duckdb() -> bytes:
    with tempfile.TemporaryDirectory() as folder:
        return duckdb_file(Path(folder) / "x.duckdb")


def _yaml(draw: random.Random) -> bytes:
    lines = _YAML.splitlines(keepends=True)
    for _ in range(draw.choice((0, 1, 3))):
        place = draw.randrange(len(lines))
        line = lines[place]
        key, _, value = line.partition(":")
        tagged = draw.choice((value.strip(), "", "maybe", "nope", "[]"))
        lines[place] = draw.choice(
            (
                f"{key}: {draw.choice(_TAGS)} {tagged}\n",
                f"{key}: {draw.choice(_YAML_PIECES)}\n",
                draw.choice(_YAML_PIECES) + line,
                line + line,
                "",
            )
        )
    if draw.random() < 0.05:
        lines += [f"unknown_{i}: 1\n" for i in range(2000)]
    if draw.random() < 0.05:
        lines += ["x0: &x0 [1, 1]\n"]
        lines += [f"x{i + 1}: &x{i + 1} [*x{i}, *x{i}, *x{i}]\n" for i in range(30)]
        lines += ["columns: *x30\n"]
    return "".join(lines).encode("utf-8", "surrogatepass")


def _statistics(kind: str, draw: random.Random) -> bytes:
    """A file of SPSS, Stata or SAS, with labels, a date and texts."""
    rows = draw.choice((30, 400))
    frame = pd.DataFrame(
        {
            "who": [float(draw.randrange(40)) for _ in range(rows)],
            "a": [float(draw.randrange(100)) for _ in range(rows)],
            "b": [draw.choice(("text 1", "text 2", "")) for _ in range(rows)],
            "d": pd.to_datetime(["2020-01-01"] * rows),
        }
    )
    labels: dict[str, Any] = {"column_labels": {"a": "Age"}}
    if kind != "xpt":
        labels["variable_value_labels"] = {"a": {1.0: "one", 2.0: "two"}}
    write = {"sav": pyreadstat.write_sav, "dta": pyreadstat.write_dta, "xpt": pyreadstat.write_xport}[kind]
    with tempfile.TemporaryDirectory() as folder:
        place = Path(folder, f"made.{kind}")
        write(frame, place, **labels)
        return place.read_bytes()


_MAKERS: Mapping[str, Callable[[random.Random], bytes]] = {
    "csv": _csv,
    "parquet": lambda draw: _swelling() if draw.random() < 0.01 else _parquet(draw),
    "sqlite": _sqlite,
    "duckdb": lambda _draw: _sound_duckdb(),
    "yaml": _yaml,
    **{kind: partial(_statistics, kind) for kind in ("sav", "dta", "xpt")},
}
