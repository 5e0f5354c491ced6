"""Seconds and memory at ten million people and more, and what the machine allows at best.

Every figure is measured in a fresh process: ``python -m benchmarks.scale CASE FOLDER``.
"""

from __future__ import annotations

import json
import os
import sys
import tempfile
import time
from collections.abc import Callable, Collection, Iterator
from decimal import Decimal
from itertools import product
from pathlib import Path
from typing import Any

import numpy as np

from benchmarks.memory import forget_peak, in_fresh_process, peak
from benchmarks.records import Record
from benchmarks.scale_rivals import CONJUNCTIONS, RIVALS
from dpcore.arrays import Ints
from dpcore.cores import ahead
from dpcore.data.bits import count_bits
from dpcore.data.building.division import partition_count, partition_rows
from dpcore.data.execution.chosen import chosen_executor
from dpcore.data.partition import Partition
from dpcore.data.stored.storage import save_partitions
from dpcore.data.table import PrivateTable
from dpcore.domain.columns import IntegerColumn
from dpcore.domain.schemas.schema import Schema
from dpcore.learning.learner import Run
from dpcore.models.registry import get_learner
from dpcore.models.trees.released.splits import split_conditions
from dpcore.privacy.randomness import SecureRandom, public_generator

SUITE = "scale"
TARGET = "ill"
#: Columns with numbers and with categories, besides the target: of the register, and of the wide one.
_SHAPE, _WIDE_SHAPE = (12, 7), (29, 20)
#: The case on the wide register: all columns and a hundred pairs.
WIDE = "first look"
#: Seconds that each case may take on ten million people, on two cores.
GOALS = {"counts": 2.0, "tree": 20.0, "rule list": 20.0, "boosting": 70.0, WIDE: 30.0}
_FITS: dict[str, tuple[str, dict[str, Any]]] = {
    "tree": ("tree", {"blocks": (3,)}),
    "rule list": ("rule_list", {}),
    "boosting": ("ebm", {"delta": "1e-9"}),
    WIDE: ("summaries", {"delta": "1e-9", "pairs": 100}),
}
#: The same for a hundred million people, and the GiB of memory that a case may take.
_LARGE_GOALS, _MEMORY_GOAL = {"tree": 240.0}, 4.0
_READINGS = ("reading", "reading from disk")
CASES = (*GOALS, *_READINGS, *RIVALS)


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


def bits_read(partition: Partition) -> Ints:
    """All bit vectors, read once."""
    return np.array([int(np.bitwise_count(words).sum(dtype=np.int64)) for words in partition.cells]).sum(keepdims=True)


def measure(case: str, folder: Path) -> dict[str, float]:
    """Seconds of one case by the clock and of all cores, and the peak of memory that its process has of its own."""
    table = PrivateTable.open(folder, chosen_executor())
    table.check()
    work = work_of(case, table)
    if case not in RIVALS:
        work_of(case, _small(wide=case == WIDE))()  # Compiles what it needs.
    if case == "reading from disk":
        _forget_files(folder)
    elif case == "reading":
        work()  # Brings them into memory.
    forget_peak()
    start, before = time.perf_counter(), time.process_time()
    work()
    seconds, burnt = time.perf_counter() - start, time.process_time() - before
    return {"seconds": seconds, "core seconds": burnt, "memory": peak()}


def _small(*, wide: bool) -> PrivateTable:
    schema = schema_of(1000, wide=wide)
    return PrivateTable(schema, [_partition(schema, 1000, 1024, 0)])


def work_of(case: str, table: PrivateTable) -> Callable[[], object]:
    """What a case does with a table."""
    if case == "counts":
        return lambda: table.total(one_way)
    if case in _READINGS:
        return lambda: table.total(bits_read)
    if case in RIVALS:
        return RIVALS[case](table, TARGET)
    family, chosen = _FITS[case]
    learner = get_learner(family)
    plan = learner.plan(table.schema, TARGET if learner.targeted else "", Decimal(1), chosen)
    return lambda: learner.run(Run(table, plan, SecureRandom()))


def conjunctions(rows: int) -> int:
    """Conjunctions of one to three conditions that the tree counts."""
    n = len(split_conditions(schema_of(rows), TARGET, reserved=False)) + 1
    return n + n * (n - 1) // 2 + n * (n - 1) * (n - 2) // 6


def _forget_files(folder: Path) -> None:
    """Tell the system that it need not keep the files in memory."""
    for file in folder.glob("*/*.arrow"):
        with file.open("rb") as opened:
            os.posix_fadvise(opened.fileno(), 0, 0, os.POSIX_FADV_DONTNEED)


def run(rows: int, folder: Path | None = None, cases: Collection[str] = CASES) -> Iterator[Record]:
    """Generate a register, unless the folder holds one, and measure the cases."""
    with tempfile.TemporaryDirectory() as temporary:
        where = folder or Path(temporary)
        places = {case: where / "wide" if case == WIDE else where for case in CASES if case in cases}
        for place in set(places.values()):
            place.mkdir(parents=True, exist_ok=True)
            if not (place / "schema.json").exists():
                generate(place, rows, wide=place != where)
        found = {case: in_fresh_process("benchmarks.scale", case, place) for case, place in places.items()}
    goals = GOALS if rows <= 10_000_000 else _LARGE_GOALS
    for case, one in found.items():
        goal, data = goals.get(case), _register(rows, wide=case == WIDE)
        yield _record(data, case, "seconds", one["seconds"], goal, "goal, two cores" if goal else "")
        yield _record(data, case, "core seconds", one["core seconds"])
        yield _record(data, case, "nanoseconds of a core, a person", 1e9 * one["core seconds"] / rows)
        limit = _MEMORY_GOAL if case in GOALS else None
        yield _record(data, case, "GiB of memory", one["memory"] / 2**30, limit, "goal" if limit else "")
    seconds = {case: one["seconds"] for case, one in found.items()}
    data = _register(rows)
    for case, reading in product(GOALS, _READINGS):
        if case != WIDE and case in seconds and reading in seconds:
            metric = f"times one {reading} of all bits"
            yield _record(data, case, metric, seconds[case] / seconds[reading])
    if "tree" in seconds:
        each = seconds["tree"] / conjunctions(rows)
        yield _record(data, "tree", "microseconds a conjunction", 1e6 * each)
        for rival in RIVALS.keys() & seconds.keys():
            its = seconds[rival] / CONJUNCTIONS
            yield _record(data, rival, "microseconds a conjunction", 1e6 * its)
            yield _record(data, "tree", f"times faster than {rival}, a conjunction", its / each)


def _register(rows: int, *, wide: bool = False) -> str:
    return f"{rows:,} people x {len(schema_of(rows, wide=wide).columns)} columns"


def _record(
    data: str, method: str, metric: str, value: float, reference: float | None = None, source: str = ""
) -> Record:
    epsilon, where = 1.0 if method in _FITS else None, f"{data}, {os.cpu_count()} cores"
    return Record(SUITE, where, method, epsilon, metric, value, float("nan"), 1, reference, source)


if __name__ == "__main__":
    print(json.dumps(measure(sys.argv[1], Path(sys.argv[2]))))
