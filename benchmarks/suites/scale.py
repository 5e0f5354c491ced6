"""Seconds and memory at ten million people and more, what the machine allows at best, and what Dask workers cost.

Beside them stands what a user would count conjunctions with at that size: DuckDB and Polars, from codes in memory.
"""

from __future__ import annotations

import os
import pickle
import socket
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from decimal import Decimal
from importlib.util import find_spec
from itertools import combinations
from pathlib import Path
from typing import Any, Final

import numpy as np
import psutil
import pyarrow as pa

from benchmarks.declared import LeftOutError, Suite
from benchmarks.processes import forget_peak, peak
from benchmarks.results import Cell, Layout, Line, Result, mean_and_error
from dpcore.arrays import Ints
from dpcore.cores import ahead
from dpcore.data.bits import count_bits
from dpcore.data.building.division import partition_count, partition_rows
from dpcore.data.execution.executor_choice import configured_executor
from dpcore.data.execution.executors import LOCAL, Executor
from dpcore.data.partition import Partition
from dpcore.data.stored.storage import save_partitions
from dpcore.data.table import PrivateTable
from dpcore.domain.columns import IntegerColumn
from dpcore.domain.conditions import Condition, split_conditions
from dpcore.domain.schemas.schema import Schema
from dpcore.learning.learner import Run
from dpcore.models.registry import get_learner
from dpcore.privacy.randomness import SecureRandom, public_generator

TARGET: Final = "ill"
#: Columns with numbers and with categories, besides the target: of the register, and of the wide one.
_SHAPE, _WIDE_SHAPE = (12, 7), (29, 20)
#: The case on the wide register: all columns and a hundred pairs.
WIDE: Final = "first look"
#: Seconds that each case may take on ten million people, on two cores.
GOALS: Final = {"counts": 2.0, "tree": 20.0, "rule list": 20.0, "boosting": 70.0, WIDE: 30.0}
_FITS: Final[dict[str, tuple[str, dict[str, Any]]]] = {
    "tree": ("tree", {"blocks": (3,)}),
    "rule list": ("rule_list", {}),
    "boosting": ("ebm", {"delta": "1e-9"}),
    WIDE: ("summaries", {"delta": "1e-9", "pairs": 100}),
}
READINGS: Final = ("reading", "reading from disk")
#: Conjunctions that a rival counts, of all pairs of conditions.
_CONJUNCTIONS: Final = 64
_PEOPLE: Final = 10_000_000


def schema_of(rows: int, *, wide: bool = False) -> Schema:
    """Twenty columns with 130 splits, or fifty columns."""
    count, others = _WIDE_SHAPE if wide else _SHAPE
    numbers = [{"name": f"n{i}", "type": "integer", "lower": 0, "upper": 99, "bins": 8} for i in range(count)]
    kinds = [{"name": f"c{i}", "type": "categorical", "categories": list("abcdef")} for i in range(others)]
    target = {"name": TARGET, "type": "boolean", "target": True}
    return Schema.from_mapping({"name": "register", "max_rows": rows, "columns": [*numbers, *kinds, target]})


def generate(folder: Path, rows: int, partitions: int | None = None, *, wide: bool = False) -> None:
    """Invent a register and store it, partition by partition: never more than two are in memory."""
    schema, count = schema_of(rows, wide=wide), partitions or partition_count(rows)
    sizes = np.full(count, rows // count) + (np.arange(count) < rows % count)
    parts = (_partition(schema, int(size), partition_rows(rows, 1, count), n) for n, size in enumerate(sizes))
    folder.mkdir(parents=True, exist_ok=True)
    save_partitions(folder, schema, ahead(parts))


def _partition(schema: Schema, size: int, rows: int, seed: int) -> Partition:
    draw = public_generator(seed)
    edges = [np.array(column.inner_edges) for column in schema.columns if isinstance(column, IntegerColumn)]
    numbers = [draw.integers(0, 100, size).astype(np.float64) for _ in edges]
    codes = [np.searchsorted(own, values) for own, values in zip(edges, numbers, strict=True)]
    codes += [draw.integers(0, 6, size) for _ in range(len(schema.columns) - len(edges) - 1)]
    score = (numbers[0] + numbers[1] - 100) / 40 + (codes[len(edges)] == 2) + ((numbers[2] > 70) & (numbers[3] < 30))
    codes.append((draw.random(size) < 1 / (1 + np.exp(1.5 - score))).astype(np.int64))
    holdout, ids = draw.random(size) < schema.holdout_percent / 100, draw.integers(0, 2**64, size, dtype=np.uint64)
    return Partition.build(schema, codes, numbers, holdout, ids=ids, rows=rows)


def one_way(partition: Partition) -> Ints:
    """Records per cell of every column."""
    return count_bits(partition.cells, partition.members("all")[None, :])


def _bits_read(partition: Partition) -> Ints:
    """All bit vectors, read once."""
    return np.array([int(np.bitwise_count(words).sum(dtype=np.int64)) for words in partition.cells]).sum(keepdims=True)


def work_of(case: str, table: PrivateTable) -> Callable[[], object]:
    """What a case does with a table."""
    if case == "counts":
        return lambda: table.total(one_way)
    if case in READINGS:
        return lambda: table.total(_bits_read)
    if case in RIVALS:
        return RIVALS[case](table, TARGET)
    family, chosen = _FITS[case]
    learner = get_learner(family)
    plan = learner.plan(table.schema, TARGET if learner.targeted else "", Decimal(1), chosen)
    return lambda: learner.run(Run(table, plan, SecureRandom()))


def _duckdb_counts(table: PrivateTable, target: str) -> Callable[[], object]:
    """Counts of conjunctions per class."""
    import duckdb

    def sql(one: Condition) -> str:
        return f"{one.column} BETWEEN {one.first} AND {one.last}"

    counts = ", ".join(f"count(*) FILTER (WHERE {sql(one)} AND {sql(two)})" for one, two in _pairs(table, target))
    memory = duckdb.connect()
    memory.execute(f"CREATE TABLE register ({', '.join(f'{column.name} UTINYINT' for column in table.schema)})")
    for batch in _batches(table):  # noqa: B007
        memory.execute("INSERT INTO register SELECT * FROM batch")
    return lambda: memory.execute(f"SELECT {target}, {counts} FROM register GROUP BY {target}").fetchall()


def _polars_counts(table: PrivateTable, target: str) -> Callable[[], object]:
    if not find_spec("polars"):
        raise LeftOutError("Polars is not installed: .venv/bin/pip install polars==2.1.0")
    import polars

    def holds(one: Condition) -> Any:
        return polars.col(one.column).is_between(one.first, one.last)

    counts = [(holds(one) & holds(two)).sum().alias(str(i)) for i, (one, two) in enumerate(_pairs(table, target))]
    frame = polars.concat([polars.from_arrow(batch) for batch in _batches(table)], rechunk=True)
    return lambda: frame.lazy().group_by(target).agg(counts).collect()


RIVALS: Final = {"DuckDB": _duckdb_counts, "Polars": _polars_counts}


def _pairs(table: PrivateTable, target: str) -> list[tuple[Condition, Condition]]:
    pairs = list(combinations(split_conditions(table.schema, target, reserved=False), 2))
    return [pairs[place] for place in public_generator(0).permutation(len(pairs))[:_CONJUNCTIONS]]


def _batches(table: PrivateTable) -> Iterator[pa.Table]:
    for partition in table.partitions:
        present = partition.present
        yield pa.table({column.name: partition.codes_of(column.name)[present] for column in table.schema})


def _measure(cell: Cell, options: Mapping[str, Any]) -> dict[str, float]:
    """Seconds of one case by the clock and of all cores, and the peak of memory that its process has of its own."""
    case, folder, wide = cell.method, Path(options["folder"]), cell.method == WIDE
    table = PrivateTable.open(folder / "wide" if wide else folder, configured_executor())
    table.check()
    work = work_of(case, table)
    if case not in RIVALS:
        small = schema_of(1000, wide=wide)
        work_of(case, PrivateTable(small, [_partition(small, 1000, 1024, 0)]))()  # Compiles what it needs.
    if case == "reading from disk":
        for file in folder.glob("*/*.arrow"):
            with file.open("rb") as opened:  # The system need not keep them in memory.
                os.posix_fadvise(opened.fileno(), 0, 0, os.POSIX_FADV_DONTNEED)
    elif case == "reading":
        work()  # Brings them into memory.
    forget_peak()
    start, before = time.perf_counter(), time.process_time()
    work()
    seconds, burnt = time.perf_counter() - start, time.process_time() - before
    each = {"nanoseconds of a core, a person": 1e9 * burnt / options["rows"]}
    count = conjunctions(options["rows"]) if case == "tree" else _CONJUNCTIONS if case in RIVALS else 0
    one = {"microseconds a conjunction": 1e6 * seconds / count} if count else {}
    return {"seconds": seconds, "core seconds": burnt, **each, "GiB of memory": peak() / 2**30, **one}


def conjunctions(rows: int) -> int:
    """Conjunctions of one to three conditions that the tree counts."""
    n = len(split_conditions(schema_of(rows), TARGET, reserved=False)) + 1
    return n + n * (n - 1) // 2 + n * (n - 1) * (n - 2) // 6


@contextmanager
def _register(options: dict[str, Any]) -> Iterator[dict[str, Any]]:
    """A folder with the register and the wide one: those that it holds, or new ones."""
    rows = 1_000_000 if options["quick"] and options["rows"] == _PEOPLE else options["rows"]
    with tempfile.TemporaryDirectory() as temporary:
        folder = Path(options["folder"] or temporary)
        for place, wide in ((folder, False), (folder / "wide", True)):
            if not (place / "schema.json").exists():
                generate(place, rows, wide=wide)
        yield {"folder": str(folder.resolve()), "rows": rows}


def _against_reading(_: Sequence[Line], results: Sequence[Result]) -> Iterator[Result]:
    seconds = {own.method: own.value for own in results if own.metric == "seconds"}
    for reading in READINGS:
        for case in GOALS:
            if case != WIDE and {case, reading} <= seconds.keys():
                times = seconds[case] / seconds[reading]
                yield Result(_REGISTER, case, None, f"times one {reading} of all bits", times, n=1)


_REGISTER: Final = "register"

SCALE = Suite(
    "scale",
    _measure,
    (_REGISTER,),
    (*GOALS, *READINGS, *RIVALS),
    [Layout(rows=("method",), columns=("metric",), spread=False)],
    options={"rows": _PEOPLE, "folder": ""},
    fresh=True,
    prepare=_register,
    conclude=_against_reading,
    published=[Result(_REGISTER, case, None, "goal, seconds", goal) for case, goal in GOALS.items()],
)

#: What the deployment guide advises for schedulers and workers.
_SETTINGS: Final = {
    "DASK_DISTRIBUTED__SCHEDULER__REUSE_BROADCAST_COMM": "True",
    "DASK_DISTRIBUTED__WORKER__PROFILE__ENABLED": "False",
    "DASK_DISTRIBUTED__ADMIN__TICK__INTERVAL": "500ms",
}
#: Empty questions, to learn what a question takes in itself.
_TRIPS: Final = 200
_THREADS: Final = "threads"


class Counted:
    """An executor that counts questions, and bytes: sent to all workers, and of one worker's answer."""

    def __init__(self, executor: Executor) -> None:
        self._executor = executor
        self.questions, self.sent, self.answered = 0, 0, 0

    def check(self, partitions: Sequence[Partition]) -> None:
        """As the executor does."""
        self._executor.check(partitions)

    def total(self, kernel: Callable[..., Any], partitions: Sequence[Partition], *public: Any, **named: Any) -> Any:
        """As the executor does."""
        found = self._executor.total(kernel, partitions, *public, **named)
        self.questions += 1
        self.sent += len(pickle.dumps((kernel, public, named), protocol=5))
        self.answered += sum(np.asarray(one).nbytes for one in (found if isinstance(found, tuple) else (found,)))
        return found


def _places(partition: Partition) -> Ints:
    """The least that can be asked: what is left is the way there and back."""
    return np.array([partition.rows])


def _measure_clusters(cell: Cell, options: Mapping[str, Any]) -> dict[str, float]:
    """Seconds of one case by the clock and of all cores, its questions and their bytes."""
    case, _, workers = cell.method.partition(", ")
    count = 0 if workers == _THREADS else int(workers.split()[-1])
    with tempfile.TemporaryDirectory() as temporary, _executor(count, Path(temporary)) as (executor, processes):
        small = Path(temporary) / "small"
        generate(small, 1000 * (count + 1), count + 1)
        table = PrivateTable.open(small, executor)
        table.check()
        work_of(case, table)()  # Compiles what it needs, here and there.
        before = _burnt(processes)
        trips = [_seconds(lambda: table.total(_places)) for _ in range(_TRIPS)]
        each = (_burnt(processes) - before) / _TRIPS
        counted = Counted(executor)
        table = PrivateTable.open(Path(options["folder"]), counted)
        table.check()  # As before every run: the workers open it.
        work, before = work_of(case, table), _burnt(processes)
        seconds = _seconds(work)
        return {
            "seconds": seconds,
            "core seconds": _burnt(processes) - before,
            "questions": counted.questions,
            "bytes of a question": counted.sent / counted.questions,
            "bytes of an answer": counted.answered / counted.questions,
            "milliseconds there and back": 1e3 * statistics.median(trips),
            "core milliseconds of an empty question": 1e3 * each,
        }


def _seconds(work: Callable[[], object]) -> float:
    start = time.perf_counter()
    work()
    return time.perf_counter() - start


def _burnt(processes: Sequence[psutil.Process]) -> float:
    times = [process.cpu_times() for process in processes]
    return float(sum(one.user + one.system for one in times))


@contextmanager
def _executor(workers: int, folder: Path) -> Iterator[tuple[Executor, list[psutil.Process]]]:
    """An executor, and the processes that work for it: this one, a scheduler, workers that share the cores."""
    if not workers:
        yield LOCAL, [psutil.Process()]
        return
    from distributed import Client

    from dpcore.data.execution.clusters import ClusterExecutor

    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    address, here = f"tcp://127.0.0.1:{port}", ["--host", "127.0.0.1", "--no-dashboard"]
    threads = str(max(1, (os.cpu_count() or 1) // workers))
    worker = ["worker", address, *here, "--nthreads", threads, "--no-nanny", "--local-directory", str(folder)]
    commands = [["scheduler", *here, "--port", str(port)], *[worker] * workers]
    with (folder / "log").open("wb") as log:
        told: dict[str, Any] = {"stdout": log, "stderr": log, "env": {**os.environ, **_SETTINGS}}
        program = [sys.executable, "-m"]
        running = [
            subprocess.Popen([*program, f"distributed.cli.dask_{name}", *more], **told) for name, *more in commands
        ]
        try:
            executor = ClusterExecutor(address)
            with Client(address, timeout=60, set_as_default=False) as client:
                client.wait_for_workers(workers, timeout=60)
            yield executor, [psutil.Process(), *(psutil.Process(one.pid) for one in running)]
        finally:
            for process in running:
                process.kill()
                process.wait()


def _beside_threads(lines: Sequence[Line], _: Sequence[Result]) -> Iterator[Result]:
    """By how much clusters take longer than threads in the same turn."""
    seconds = {(line.cell.method, line.cell.seed): line.figures["seconds"] for line in lines}
    for method in dict.fromkeys(line.cell.method for line in lines):
        threads = f"{method.partition(', ')[0]}, {_THREADS}"
        turns = [seed for own, seed in seconds if own == method and (threads, seed) in seconds]
        if method != threads and turns:
            more = [seconds[method, turn] / seconds[threads, turn] - 1 for turn in turns]
            yield Result(_REGISTER, method, None, _MORE, *mean_and_error(more), len(turns))


_MORE: Final = "time more than threads, share"

CLUSTERS = Suite(
    "clusters",
    _measure_clusters,
    (_REGISTER,),
    tuple(
        f"{case}, {workers}"
        for case in GOALS
        if case != WIDE
        for workers in (_THREADS, *(f"Dask x {n}" for n in (1, 2, 4)))
    ),
    [Layout(rows=("method",), columns=("metric",), spread=False)],
    seeds=3,
    options={"rows": _PEOPLE, "folder": ""},
    fresh=True,
    prepare=_register,
    conclude=_beside_threads,
    published=[Result(_REGISTER, "goal, at most", None, _MORE, 0.15)],
)
