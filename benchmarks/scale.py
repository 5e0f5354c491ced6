"""Seconds and memory at ten million people and more, and what the machine allows at best.

Every figure is measured in a fresh process: ``python -m benchmarks.scale CASE FOLDER``.
"""

from __future__ import annotations

import json
import os
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from decimal import Decimal
from itertools import combinations
from pathlib import Path
from typing import Any

import numpy as np

from benchmarks.memory import forget_peak, in_fresh_process, peak
from benchmarks.records import Record
from dpcore.arrays import Ints
from dpcore.data.bits import count_bits
from dpcore.data.division import partition_count, partition_rows
from dpcore.data.executors import chosen_executor
from dpcore.data.partition import Partition
from dpcore.data.storage import save_partitions
from dpcore.data.table import PrivateTable
from dpcore.domain.schema import Schema
from dpcore.learning.learner import Run
from dpcore.models.registry import get_learner
from dpcore.models.trees.released.splits import split_conditions
from dpcore.privacy.randomness import SecureRandom, public_generator

SUITE = "scale"
TARGET = "ill"
_NUMBERS, _CATEGORIES = 12, 7
#: Seconds that each case may take on ten million people, on two cores.
GOALS = {"counts": 2.0, "tree": 20.0, "rule list": 20.0, "boosting": 70.0}
_FITS: dict[str, tuple[str, dict[str, Any]]] = {
    "tree": ("tree", {"blocks": (3,)}),
    "rule list": ("rule_list", {}),
    "boosting": ("ebm", {"delta": "1e-9"}),
}
#: Conjunctions that the rival counts, of all pairs of conditions.
_CONJUNCTIONS = 64


def schema_of(rows: int) -> Schema:
    """Twenty columns with 130 splits."""
    numbers = [{"name": f"n{i}", "type": "integer", "lower": 0, "upper": 99, "bins": 8} for i in range(_NUMBERS)]
    kinds = [{"name": f"c{i}", "type": "categorical", "categories": list("abcdef")} for i in range(_CATEGORIES)]
    target = {"name": TARGET, "type": "boolean", "target": True}
    return Schema.from_mapping({"name": "register", "max_rows": rows, "columns": [*numbers, *kinds, target]})


def generate(folder: Path, rows: int) -> None:
    """Invent a register and store it, partition by partition."""
    schema, count = schema_of(rows), partition_count(rows)
    sizes = np.full(count, rows // count) + (np.arange(count) < rows % count)
    parts = (_partition(schema, int(size), partition_rows(rows, 1, count), n) for n, size in enumerate(sizes))
    save_partitions(folder, schema, parts)


def _partition(schema: Schema, size: int, rows: int, seed: int) -> Partition:
    draw = public_generator(seed)
    numbers = [draw.integers(0, 100, size).astype(np.float64) for _ in range(_NUMBERS)]
    edges = [np.array(column.inner_edges) for column in schema.columns[:_NUMBERS]]
    codes = [np.searchsorted(own, values) for own, values in zip(edges, numbers, strict=True)]
    codes += [draw.integers(0, 6, size) for _ in range(_CATEGORIES)]
    score = (numbers[0] + numbers[1] - 100) / 40 + (codes[_NUMBERS] == 2) + ((numbers[2] > 70) & (numbers[3] < 30))
    codes.append((draw.random(size) < 1 / (1 + np.exp(1.5 - score))).astype(np.int64))
    holdout, ids = draw.random(size) < schema.holdout_percent / 100, draw.integers(0, 2**64, size, dtype=np.uint64)
    return Partition.build(schema, codes, numbers, holdout, ids=ids, rows=rows)


def one_way(partition: Partition) -> Ints:
    """Records per cell of every column."""
    return count_bits(partition.cells, partition.members("all")[None, :])


def bits_read(partition: Partition) -> Ints:
    """All bit vectors, read once."""
    return np.array([int(np.bitwise_count(words).sum(dtype=np.int64)) for words in partition.cells]).sum(keepdims=True)


def measure(case: str, folder: Path) -> dict[str, float]:
    """Seconds of one case, the second time, and the peak of memory that its process has of its own."""
    table = PrivateTable.open(folder, chosen_executor())
    table.check()
    work = _work(case, table)
    if case in GOALS or case == "reading":
        _work(case, _small())()  # Compiles what it needs.
    forget_peak()
    start = time.perf_counter()
    work()
    return {"seconds": time.perf_counter() - start, "memory": peak()}


def _small() -> PrivateTable:
    schema = schema_of(1000)
    return PrivateTable(schema, [_partition(schema, 1000, 1024, 0)])


def _work(case: str, table: PrivateTable) -> Callable[[], object]:
    if case == "counts":
        return lambda: table.total(one_way)
    if case == "reading":
        return lambda: table.total(bits_read)
    if case == "DuckDB":
        return _rival(table)
    family, chosen = _FITS[case]
    learner = get_learner(family)
    plan = learner.plan(table.schema, TARGET, Decimal(1), chosen)
    return lambda: learner.run(Run(table, plan, SecureRandom()))


def _rival(table: PrivateTable) -> Callable[[], object]:
    """Counts of conjunctions per class by DuckDB, from a table of codes that is in its memory."""
    import duckdb
    import pyarrow as pa

    names = [column.name for column in table.schema]
    literals = split_conditions(table.schema, TARGET, reserved=False)
    pairs = list(combinations(range(len(literals)), 2))
    chosen = [pairs[place] for place in public_generator(0).permutation(len(pairs))[:_CONJUNCTIONS]]
    holds = [f"({item.column} BETWEEN {item.first} AND {item.last})" for item in literals]
    counts = ", ".join(f"count(*) FILTER (WHERE {holds[i]} AND {holds[j]})" for i, j in chosen)
    memory = duckdb.connect()
    columns = ", ".join(f"{name} UTINYINT" for name in names)
    memory.execute(f"CREATE TABLE register ({columns})")
    for partition in table.partitions:
        batch = pa.table({name: partition.codes_of(name)[partition.present] for name in names})  # noqa: F841
        memory.execute("INSERT INTO register SELECT * FROM batch")
    return lambda: memory.execute(f"SELECT {TARGET}, {counts} FROM register GROUP BY {TARGET}").fetchall()


def conjunctions(rows: int) -> int:
    """Conjunctions of one to three conditions that the tree counts."""
    n = len(split_conditions(schema_of(rows), TARGET, reserved=False)) + 1
    return n + n * (n - 1) // 2 + n * (n - 1) * (n - 2) // 6


def run(rows: int, folder: Path | None = None) -> Iterator[Record]:
    """Generate a register, unless the folder holds one, and measure every case."""
    with tempfile.TemporaryDirectory() as temporary:
        where = folder or Path(temporary)
        where.mkdir(parents=True, exist_ok=True)
        if not (where / "schema.json").exists():
            generate(where, rows)
        data = f"{rows:,} people x {len(schema_of(rows).columns)} columns"
        found = {case: in_fresh_process("benchmarks.scale", case, where) for case in (*GOALS, "reading", "DuckDB")}
    for case, one in found.items():
        goal = GOALS.get(case) if rows <= 10_000_000 else None
        yield _record(data, case, "seconds", one["seconds"], goal, "goal, two cores" if goal else "")
        yield _record(data, case, "nanoseconds a person", 1e9 * one["seconds"] / rows)
        yield _record(data, case, "GiB of memory", one["memory"] / 2**30)
    best, whole = found["reading"]["seconds"], found["tree"]["seconds"]
    yield _record(data, "counts", "times one reading of all bits", found["counts"]["seconds"] / best)
    each = whole / conjunctions(rows)
    rival = found["DuckDB"]["seconds"] / _CONJUNCTIONS
    yield _record(data, "tree", "microseconds a conjunction", 1e6 * each, 1e6 * rival, "DuckDB, pairs, same run")
    yield _record(data, "tree", "times faster than DuckDB, a conjunction", rival / each)


def _record(
    data: str, method: str, metric: str, value: float, reference: float | None = None, source: str = ""
) -> Record:
    epsilon, where = 1.0 if method in _FITS else None, f"{data}, {os.cpu_count()} cores"
    return Record(SUITE, where, method, epsilon, metric, value, float("nan"), 1, reference, source)


if __name__ == "__main__":
    print(json.dumps(measure(sys.argv[1], Path(sys.argv[2]))))
