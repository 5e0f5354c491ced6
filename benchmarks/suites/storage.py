"""Time of what is stored: reservations of a crowd of processes in the ledger, and rows that come in."""

from __future__ import annotations

import multiprocessing
import os
import random
import tempfile
import time
import uuid
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from decimal import Decimal
from multiprocessing.synchronize import Event
from pathlib import Path
from typing import Any, Final

import duckdb
import numpy as np
import pandas as pd
import sqlalchemy as sa

from benchmarks.declared import LeftOutError, Suite
from benchmarks.processes import TreePeak
from benchmarks.results import Cell, Layout, Line, Result
from dpcore.domain.columns import BooleanColumn
from dpcore.domain.schemas.schema import Schema
from dpcore.intake.process.uploads import Incoming, ask
from dpcore.intake.sources.sources import PREFIX, Served
from dpcore.privacy.losses import pure_loss
from dpcore.service import Service
from dpcore.workspace.database.installation import open_installation
from dpcore.workspace.ledger.ledger import Ledger

_SCHEMA: Final = Schema(name="data", max_rows=1000, columns=(BooleanColumn(name="ill"),))
#: One of so many processes is killed, each at a moment of its own.
_KILLED: Final = 4
_SHARES: Final = {"seconds, median": 50, "seconds, 99 %": 99, "seconds, worst": 100}


def _measure_ledger(_: Cell, options: Mapping[str, Any]) -> dict[str, float]:
    """Let processes reserve and touch for some seconds; see how long reservations took."""
    processes, seconds = options["processes"], options.get("seconds") or (10.0 if options["quick"] else 30.0)
    with tempfile.TemporaryDirectory() as folder:
        home = Path(folder) / "home"
        url = options["url"] or f"sqlite:///{home / 'frostglass.db'}"
        dataset = add_dataset(home, url)
        took = _crowd(home, url, dataset, processes, seconds)
        check(home, url, dataset, len(took), processes)
    return {name: float(np.percentile(took, share)) for name, share in _SHARES.items()} | {"reservations": len(took)}


def add_dataset(home: Path, url: str) -> str:
    """Store a small data set, whose budget is to be spent; its id."""
    with Service(home, url, workers=0) as service:
        records = pd.DataFrame({"ill": ["yes", "no"] * 10})
        return service.add_dataset(records, _SCHEMA, budget=Decimal(1000), public=True).id


def _crowd(home: Path, url: str, dataset: str, processes: int, seconds: float) -> list[float]:
    """Run the processes, kill some of them, and collect the seconds of all reservations."""
    context = multiprocessing.get_context("forkserver")
    context.set_forkserver_preload(["benchmarks.suites.storage"])
    start, times = context.Event(), home / "times"
    times.mkdir()
    given = ((home, url, dataset, times / str(n), seconds, start) for n in range(processes))
    crowd = [context.Process(target=_spend, args=own) for own in given]
    for process in crowd:
        process.start()
    while len(list(times.iterdir())) < processes:
        time.sleep(0.05)
    start.set()
    for victim in crowd[::_KILLED]:
        time.sleep(seconds * _KILLED / processes * random.uniform(0.2, 0.8))
        victim.kill()
    for process in crowd:
        process.join()
    return [float(line) for file in times.iterdir() for line in file.read_text().split()]


def _spend(home: Path, url: str, dataset: str, times: Path, seconds: float, start: Event) -> None:
    """Reserve and touch until the time is over; note each reservation's seconds at once."""
    ledger = Ledger(open_installation(home, url))
    with times.open("w", buffering=1) as notes:
        start.wait()
        end = time.monotonic() + seconds
        while time.monotonic() < end:
            nonce, began = os.urandom(16).hex(), time.perf_counter()
            made = ledger.reserve(dataset, f"analyst {os.getpid()}", pure_loss(Decimal("0.001")), nonce, "")
            notes.write(f"{time.perf_counter() - began:.6f}\n")
            ledger.touch(made.id)


def check(home: Path, url: str, dataset: str, noted: int, processes: int) -> None:
    """See that every reservation that was answered is in the ledger; the killed noted not all.

    Raises
    ------
    RuntimeError
        If that is not so.
    """
    engine = open_installation(home, url)
    made = sum(line.kind == "reserve" for line in Ledger(engine).entries(dataset))
    engine.dispose()
    if not noted <= made <= noted + processes:
        raise RuntimeError("the ledger does not hold the reservations that were made")


LEDGER = Suite(
    "ledger",
    _measure_ledger,
    ("reservations",),
    ("a crowd, a quarter of it killed",),
    [Layout(rows=("method",), columns=("metric",), spread=False)],
    options={"processes": 32, "url": ""},
    published=[Result("reservations", "goal", None, "seconds, 99 %", 2.0)],
)

#: A PostgreSQL server on which databases may be created, as the tests name it.
POSTGRES: Final = "FROSTGLASS_TEST_POSTGRES"
_NUMBERS, _CODES, _TABLE = 12, 7, "register"
_ADDRESS: Final = f"{PREFIX}BENCHMARK"


def schema_of(rows: int) -> Schema:
    """Twenty columns: measurements, codes and a yes/no."""
    numbers = [{"name": f"n{i}", "type": "real", "lower": 0, "upper": 1000, "bins": 8} for i in range(_NUMBERS)]
    codes = [{"name": f"c{i}", "type": "categorical", "categories": list("abcdef")} for i in range(_CODES)]
    columns = [*numbers, *codes, {"name": "died", "type": "boolean"}]
    return Schema.from_mapping({"name": _TABLE, "entity": _TABLE, "max_rows": rows, "columns": columns})


def generate(folder: Path, rows: int) -> Path:
    """Invent a CSV file of about 100 bytes a row."""
    numbers = [f"round(random() * 1000, 2) AS n{i}" for i in range(_NUMBERS)]
    codes = [f"chr(97 + (random() * 5.99)::INT % 6) AS c{i}" for i in range(_CODES)]
    columns = ", ".join([*numbers, *codes, "CASE WHEN random() < 0.2 THEN 'yes' ELSE 'no' END AS died"])
    file = folder / f"{_TABLE}.csv"
    with duckdb.connect() as connection:
        connection.execute(f"COPY (SELECT {columns} FROM range({rows})) TO '{file}' (HEADER)")
    return file


def _fill(address: str, file: Path) -> None:
    """Put the rows of the file into a table of a data base."""
    types = (("n", "double precision", _NUMBERS), ("c", "text", _CODES))
    columns = [f"{letter}{i} {kind}" for letter, kind, count in types for i in range(count)]
    engine = sa.create_engine(address, poolclass=sa.NullPool)
    with engine.begin() as connection, file.open("rb") as content:
        connection.exec_driver_sql(f"CREATE TABLE {_TABLE} ({', '.join(columns)}, died text)")
        cursor = connection.connection.cursor()
        with cursor.copy(f"COPY {_TABLE} FROM STDIN (FORMAT csv, HEADER)") as copy:
            while block := content.read(1 << 20):
                copy.write(block)


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
        engine = sa.create_engine(os.environ[_ADDRESS], poolclass=sa.NullPool)
        with engine.connect() as connection:
            copy = connection.connection.cursor().copy(f"COPY {_TABLE} TO STDOUT (FORMAT csv, HEADER)")
            with copy as content, file.open("wb") as out:
                out.writelines(content)
        _copied(file, folder)
        file.unlink()

    return work


_CSV, _CSV_COPY = "CSV file, stored", "CSV file, copied by DuckDB"
_SERVED, _SERVED_COPY = "PostgreSQL, stored", "PostgreSQL, COPY and DuckDB"
#: What is measured, by the folder in which it lies.
CASES: Final = {
    _CSV: _stored(f"{_TABLE}.csv"),
    _CSV_COPY: _duckdb,
    _SERVED: _stored(f"{_TABLE}.source"),
    _SERVED_COPY: _exported,
}


def _measure_intake(cell: Cell, options: Mapping[str, Any]) -> dict[str, float]:
    """Rows a second of one case, and the peak of memory of its processes together."""
    if cell.method in (_SERVED, _SERVED_COPY) and POSTGRES not in os.environ:
        raise LeftOutError(f"{POSTGRES} names no server on which databases may be created.")
    folder = Path(options["folder"])
    work = CASES[cell.method](folder)
    ask("header", [folder / "warm.csv"], path=folder / "warm.csv")  # The program that reads is running by then.
    with TreePeak() as memory:
        start = time.perf_counter()
        work()
        seconds = time.perf_counter() - start
    return {"rows a second": options["rows"] / seconds, "GiB of memory, all processes": memory.bytes / 2**30}


@contextmanager
def _rows(options: dict[str, Any]) -> Iterator[dict[str, Any]]:
    """A folder with the rows, and a database with them if there is a server."""
    rows = 200_000 if options["quick"] and options["rows"] == _ROWS else options["rows"]
    with tempfile.TemporaryDirectory() as temporary:
        folder = Path(temporary)
        file = generate(folder, rows)
        (folder / "warm.csv").write_text("a\n1\n")
        (folder / "schema.json").write_text(schema_of(rows).to_json())
        with _filled(folder, file):
            yield {"folder": str(folder), "rows": rows}


@contextmanager
def _filled(folder: Path, file: Path) -> Iterator[None]:
    """A database with the rows, for as long as it takes."""
    if POSTGRES not in os.environ:
        yield
        return
    name = f"frostglass_{uuid.uuid4().hex[:12]}"
    server = sa.make_url(os.environ[POSTGRES])
    address = server.set(database=name).render_as_string(hide_password=False)
    _on(server, f"CREATE DATABASE {name}")
    os.environ[_ADDRESS] = address
    try:
        _fill(address, file)
        (folder / f"{_TABLE}.source").write_text(Served(_ADDRESS, {_TABLE: _TABLE}).text())
        yield
    finally:
        del os.environ[_ADDRESS]
        _on(server, f"DROP DATABASE {name}")


def _on(server: sa.URL, command: str) -> None:
    with sa.create_engine(server, poolclass=sa.NullPool, isolation_level="AUTOCOMMIT").connect() as connection:
        connection.exec_driver_sql(command)


def _times(_: list[Line], results: list[Result]) -> Iterator[Result]:
    rates = {own.method: own.value for own in results if own.metric == "rows a second"}
    for ours, plain in ((_CSV, _CSV_COPY), (_SERVED, _SERVED_COPY)):
        if {ours, plain} <= rates.keys():
            yield Result("20 columns", ours, None, "times the plain copy's time", rates[plain] / rates[ours], n=1)


_ROWS: Final = 10_000_000

INTAKE = Suite(
    "intake",
    _measure_intake,
    ("20 columns",),
    tuple(CASES),
    [Layout(rows=("method",), columns=("metric",), spread=False)],
    options={"rows": _ROWS},
    fresh=True,
    prepare=_rows,
    conclude=_times,
    published=[Result("20 columns", "goal", None, "GiB of memory, all processes", 1.5)],
)
