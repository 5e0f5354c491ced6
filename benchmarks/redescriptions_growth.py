"""Redescriptions of many rows: ``python -m benchmarks.redescriptions_growth METHOD ROWS``.

Each run is measured in a fresh process, so that its peak of memory is its own. Records are those
of CMS, drawn again and again; more public years of birth make a hundred splits of its left side,
nearly as many as its right side has.
"""

from __future__ import annotations

import json
import math
import sys
import time
from collections.abc import Iterator, Mapping
from decimal import Decimal
from typing import Any

import numpy as np
import pandas as pd
import psutil

from benchmarks.datasets import BenchData, load
from benchmarks.memory import forget_peak, in_fresh_process, peak
from benchmarks.records import Record
from benchmarks.redescriptions_data import CMS, available
from benchmarks.redescriptions_runs import HOUSE, LOOKAHEAD, PRIVATE, PUBLISHED
from dpcore.data.building.ingest import ingest
from dpcore.data.table import PrivateTable
from dpcore.domain.schemas.schema import Schema
from dpcore.learning.learner import Run
from dpcore.models.registry import get_learner
from dpcore.privacy.randomness import SecureRandom, SeededRandom

DATA = "growth"
ROWS = (10_000, 30_000, 100_000, 300_000, 1_000_000)
#: Rows of the largest data set of the paper, and what its slowest run stays below, in seconds.
PAPER_ROWS, PAPER_SECONDS = 115_200, 36_000.0
PAPER_SOURCE = "paper: under 10 hours"
STARTS, ROUNDS = (f"{LOOKAHEAD}, depth 3, 4 starts of 1 round", f"{LOOKAHEAD}, depth 3, 4 starts of 4 rounds")
SETTINGS: dict[str, Mapping[str, Any]] = {
    **PRIVATE,
    STARTS: {"method": "lookahead", "depth": 3, "starts": 4, "rounds": 1},
    ROUNDS: {"method": "lookahead", "depth": 3, "starts": 4, "rounds": 4},
}
_GROWING = (HOUSE, LOOKAHEAD, STARTS)
_BIRTHS = list(range(1915, 1976))
_CHUNK, _REPEATS, _SEED = 50_000, 3, 20_230


def possible() -> bool:
    """Whether the files of CMS are there."""
    return CMS in available()


def run(suite: str, *, quick: bool) -> Iterator[Record]:
    """Seconds and extra memory at epsilon 1."""
    for method in () if quick else SETTINGS:
        yield from _timed(suite, method, in_fresh_process("benchmarks.redescriptions_growth", method, PAPER_ROWS))
    for method in (HOUSE,) if quick else _GROWING:
        first: float | None = None
        for rows in ROWS[:1] if quick else ROWS:
            found = in_fresh_process("benchmarks.redescriptions_growth", method, rows)
            seconds = float(np.median(found["learning"]))
            figures: dict[str, tuple[float, float | None, str]] = {
                "seconds of the run": (seconds, None, ""),
                "seconds of the reading": (float(np.median(found["reading"])), None, ""),
                "extra memory / encoded table": (found["extra"] / found["table"], None, ""),
            }
            if first is None:
                first = seconds / rows
            else:
                ratio = seconds / rows / first
                figures["time per row / that at the fewest"] = (ratio, 1.0, "linear growth")
            for metric, (figure, reference, source) in figures.items():
                yield Record(
                    suite, _name(rows), method, 1.0, metric, figure, math.nan, len(found["learning"]), reference, source
                )


def _timed(suite: str, method: str, found: dict[str, Any]) -> Iterator[Record]:
    both = float(np.median(np.add(found["learning"], found["reading"])))
    for metric, figure, reference, source in (
        ("seconds of run and reading", both, PAPER_SECONDS, PAPER_SOURCE),
        ("seconds of the reading", float(np.median(found["reading"])), None, ""),
        ("the paper's seconds / ours", PAPER_SECONDS / both, None, ""),
    ):
        yield Record(
            suite, _name(PAPER_ROWS), method, 1.0, metric, figure, math.nan, len(found["learning"]), reference, source
        )


def _name(rows: int) -> str:
    return f"{CMS}, drawn again, {rows:,} rows"


def measure(data: BenchData, method: str, rows: int) -> dict[str, Any]:
    """Seconds of runs and of their readings, and bytes of the table and of the peak above it."""
    run_once(table_of(data, 1_000), method)
    table = table_of(data, rows)
    forget_peak()
    before = psutil.Process().memory_info().rss
    repeats = 1 if method in PUBLISHED else _REPEATS
    learning, reading = zip(*(run_once(table, method) for _ in range(repeats)), strict=True)
    arrays = [array for partition in table.partitions for array in partition.arrays.values()]
    return {
        "learning": learning,
        "reading": reading,
        "extra": peak() - before,
        "table": sum(array.nbytes for array in arrays),
    }


def run_once(table: PrivateTable, method: str) -> tuple[float, float]:
    """Run once at epsilon 1: the seconds of the run, and of reading what it released."""
    learner = get_learner("redescriptions")
    start = time.perf_counter()
    plan = learner.plan(table.schema, "", Decimal(1), SETTINGS[method])
    model: Any = learner.run(Run(table, plan, SecureRandom()))
    middle = time.perf_counter()
    model.extract(table.schema)
    return middle - start, time.perf_counter() - middle


def table_of(data: BenchData, rows: int) -> PrivateTable:
    """Records drawn with replacement, encoded chunk by chunk."""
    content = data.schema.model_dump()
    for column in content["columns"]:
        if column["name"] == "birth_year":
            column["edges"] = _BIRTHS
    schema = Schema.from_mapping({**content, "max_rows": rows})
    return ingest(_chunks(data.frame, rows), schema, SeededRandom(_SEED))


def _chunks(frame: pd.DataFrame, rows: int) -> Iterator[pd.DataFrame]:
    source = np.random.default_rng(_SEED)
    for start in range(0, rows, _CHUNK):
        drawn = source.integers(0, len(frame), min(_CHUNK, rows - start))
        yield frame.iloc[drawn].reset_index(drop=True)


if __name__ == "__main__":
    print(json.dumps(measure(load(CMS), sys.argv[1], int(sys.argv[2]))))
