"""How fast rows come in from a CSV file and from PostgreSQL, and the memory that this takes.

Every figure is measured in a fresh process: ``python -m benchmarks.intake CASE FOLDER``.
"""

from __future__ import annotations

import json
import os
import sys
import tempfile
import time
import uuid
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

import duckdb
import sqlalchemy as sa

from benchmarks.memory import TreePeak, in_fresh_process
from benchmarks.records import Record
from dpcore.domain.schemas.schema import Schema
from dpcore.intake.process.uploads import Incoming, ask
from dpcore.intake.sources.sources import PREFIX, Served

SUITE = "intake"
ROWS, QUICK_ROWS = 10_000_000, 200_000
#: A PostgreSQL server on which databases may be created, as the tests name it.
POSTGRES = "FROSTGLASS_TEST_POSTGRES"
LEFT_OUT = f"PostgreSQL is left out: {POSTGRES} names no server on which databases may be created."
_NUMBERS, _CODES, _TABLE = 12, 7, "register"
_SQL_TYPES = (("n", "double precision", _NUMBERS), ("c", "text", _CODES))
_MEMORY_GOAL = 1.5
_NAME = f"{PREFIX}BENCHMARK"


def schema_of(rows: int) -> Schema:
    """Twenty columns: measurements, codes and a yes/no."""
    numbers = [{"name": f"n{i}", "type": "real", "lower": 0, "upper": 1000, "bins": 8} for i in range(_NUMBERS)]
    codes = [{"name": f"c{i}", "type": "categorical", "categories": list("abcdef")} for i in range(_CODES)]
    return Schema.from_mapping(
        {
            "name": _TABLE,
            "entity": _TABLE,
            "max_rows": rows,
            "columns": [*numbers, *codes, {"name": "died", "type": "boolean"}],
        }
    )


def generate(folder: Path, rows: int) -> Path:
    """Invent a CSV file of about 100 bytes a row."""
    numbers = [f"round(random() * 1000, 2) AS n{i}" for i in range(_NUMBERS)]
    codes = [f"chr(97 + (random() * 5.99)::INT % 6) AS c{i}" for i in range(_CODES)]
    columns = ", ".join([*numbers, *codes, "CASE WHEN random() < 0.2 THEN 'yes' ELSE 'no' END AS died"])
    file = folder / f"{_TABLE}.csv"
    with duckdb.connect() as connection:
        connection.execute(f"COPY (SELECT {columns} FROM range({rows})) TO '{file}' (HEADER)")
    return file


def fill(address: str, file: Path) -> None:
    """Put the rows of the file into a table of a data base."""
    columns = [f"{letter}{i} {kind}" for letter, kind, count in _SQL_TYPES for i in range(count)]
    engine = sa.create_engine(address, poolclass=sa.NullPool)
    with engine.begin() as connection, file.open("rb") as content:
        connection.exec_driver_sql(f"CREATE TABLE {_TABLE} ({', '.join(columns)}, died text)")
        cursor = connection.connection.cursor()
        with cursor.copy(f"COPY {_TABLE} FROM STDIN (FORMAT csv, HEADER)") as copy:
            while block := content.read(1 << 20):
                copy.write(block)


def measure(case: str, folder: Path) -> dict[str, float]:
    """Seconds of one case, and the peak of memory of its processes together."""
    work = CASES[case](folder)
    ask("header", [folder / "warm.csv"], path=folder / "warm.csv")  # The program that reads is running by then.
    with TreePeak() as memory:
        start = time.perf_counter()
        work()
        seconds = time.perf_counter() - start
    return {"seconds": seconds, "memory": memory.bytes}


def _stored(source: str) -> Callable[[Path], Callable[[], object]]:
    def work(folder: Path) -> Callable[[], object]:
        incoming = Incoming(folder / source, Schema.from_file(folder / "schema.json"))
        out = Path(tempfile.mkdtemp(dir=folder))
        return lambda: incoming.save(out)

    return work


def _duckdb(folder: Path) -> Callable[[], object]:
    return lambda: _copied(folder / f"{_TABLE}.csv", folder)


def _copied(file: Path, folder: Path) -> None:
    with tempfile.TemporaryDirectory(dir=folder) as out, duckdb.connect(Path(out) / "copy.duckdb") as connection:
        connection.execute(f"CREATE TABLE {_TABLE} AS SELECT * FROM read_csv('{file}')")


def _exported(folder: Path) -> Callable[[], object]:
    """PostgreSQL's own COPY into a file, and DuckDB's copy of that."""

    def work() -> None:
        file = folder / "exported.csv"
        engine = sa.create_engine(os.environ[_NAME], poolclass=sa.NullPool)
        command = f"COPY {_TABLE} TO STDOUT (FORMAT csv, HEADER)"
        with engine.connect() as connection:
            copy = connection.connection.cursor().copy(command)
            with copy as content, file.open("wb") as out:
                out.writelines(content)
        _copied(file, folder)
        file.unlink()

    return work


_CSV, _CSV_COPY = "CSV file, stored", "CSV file, copied by DuckDB"
_SERVED, _SERVED_COPY = "PostgreSQL, stored", "PostgreSQL, COPY and DuckDB"
#: What is measured, by the folder in which it lies.
CASES = {
    _CSV: _stored(f"{_TABLE}.csv"),
    _CSV_COPY: _duckdb,
    _SERVED: _stored(f"{_TABLE}.source"),
    _SERVED_COPY: _exported,
}


def run(*, quick: bool = False) -> Iterator[Record]:
    """Invent the rows, and measure all cases that are possible."""
    rows = QUICK_ROWS if quick else ROWS
    with tempfile.TemporaryDirectory() as temporary:
        folder = Path(temporary)
        file = generate(folder, rows)
        (folder / "warm.csv").write_text("a\n1\n")
        (folder / "schema.json").write_text(schema_of(rows).to_json())
        size = f"{rows:,} rows x 20 columns, {file.stat().st_size / 1e9:.2f} GB, {os.cpu_count()} cores"
        yield from _compared(size, rows, _CSV, _CSV_COPY, folder)
        if POSTGRES in os.environ:
            with _filled(folder, file):
                yield from _compared(size, rows, _SERVED, _SERVED_COPY, folder)


@contextmanager
def _filled(folder: Path, file: Path) -> Iterator[None]:
    """A database with the rows, for as long as it takes."""
    name = f"frostglass_{uuid.uuid4().hex[:12]}"
    server = sa.make_url(os.environ[POSTGRES])
    address = server.set(database=name).render_as_string(hide_password=False)
    _on(server, f"CREATE DATABASE {name}")
    os.environ[_NAME] = address
    try:
        fill(address, file)
        (folder / f"{_TABLE}.source").write_text(Served(_NAME, {_TABLE: _TABLE}).text())
        yield
    finally:
        del os.environ[_NAME]
        _on(server, f"DROP DATABASE {name}")


def _on(server: sa.URL, command: str) -> None:
    with sa.create_engine(server, poolclass=sa.NullPool, isolation_level="AUTOCOMMIT").connect() as connection:
        connection.exec_driver_sql(command)


def _compared(data: str, rows: int, ours: str, plain: str, folder: Path) -> Iterator[Record]:
    found = {case: in_fresh_process("benchmarks.intake", case, folder) for case in (ours, plain)}
    for case, one in found.items():
        limit, source = (_MEMORY_GOAL, "goal") if case == ours else (None, "")
        yield _record(data, case, "rows a second", rows / one["seconds"])
        yield _record(data, case, "GiB of memory, all processes", one["memory"] / 2**30, limit, source)
    yield _record(data, ours, "times the plain copy's seconds", found[ours]["seconds"] / found[plain]["seconds"])


def _record(
    data: str, method: str, metric: str, value: float, reference: float | None = None, source: str = ""
) -> Record:
    return Record(SUITE, data, method, None, metric, value, float("nan"), 1, reference, source)


if __name__ == "__main__":
    print(json.dumps(measure(sys.argv[1], Path(sys.argv[2]))))
