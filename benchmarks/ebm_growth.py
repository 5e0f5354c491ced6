"""How one boosting machine grows with the rows: ``python -m benchmarks.ebm_growth TASK ROWS``.

Each size is measured in a fresh process, so that its peak of memory is its own.
"""

from __future__ import annotations

import json
import math
import sys
import time
from collections.abc import Iterator
from decimal import Decimal
from typing import Any

import numpy as np
import pandas as pd
import psutil

from benchmarks.memory import forget_peak, in_fresh_process, peak
from benchmarks.records import Record
from dpcore.data.building.ingest import frame_chunks, ingest
from dpcore.data.table import PrivateTable
from dpcore.domain.schemas.schema import Schema
from dpcore.learning.learner import Run
from dpcore.models.registry import get_learner
from dpcore.privacy.randomness import SecureRandom, SeededRandom

DATA = "synthetic"
ROWS = (100_000, 300_000, 1_000_000)
TASKS = ("binary", "regression")
FEATURES = 30
_BINS = 32
_REPEATS = 3
_SEED = 20_210


def run(suite: str, *, quick: bool) -> Iterator[Record]:
    """Seconds and extra memory of a fit with the house defaults at epsilon 1."""
    for task in TASKS:
        first: float | None = None
        for rows in ROWS[:1] if quick else ROWS:
            found = in_fresh_process("benchmarks.ebm_growth", task, rows)
            seconds, cells = float(np.median(found["seconds"])), rows * FEATURES
            figures: dict[str, tuple[float, float | None, str]] = {
                "seconds": (seconds, None, ""),
                "extra bytes per cell": (found["extra"] / cells, None, ""),
                "extra memory / encoded table": (found["extra"] / found["table"], None, ""),
            }
            if first is None:
                first = seconds / rows
            else:
                ratio = seconds / rows / first
                figures["time per row / that at the fewest"] = (ratio, 1.0, "linear growth")
            for metric, (figure, reference, source) in figures.items():
                yield Record(
                    suite,
                    f"{DATA}, {rows:,} rows x {FEATURES}",
                    f"all bins, {task}",
                    1.0,
                    metric,
                    figure,
                    math.nan,
                    len(found["seconds"]),
                    reference,
                    source,
                )


def measure(task: str, rows: int) -> dict[str, Any]:
    """Seconds of each fit, and bytes of the encoded table and of the peak above it."""
    fit(_table(task, 1_000))
    table = _table(task, rows)
    forget_peak()
    before = psutil.Process().memory_info().rss
    seconds = [fit(table) for _ in range(_REPEATS)]
    arrays = [array for partition in table.partitions for array in partition.arrays.values()]
    return {
        "seconds": seconds,
        "extra": peak() - before,
        "table": sum(array.nbytes for array in arrays),
    }


def fit(table: PrivateTable) -> float:
    """Fit once at epsilon 1: the seconds."""
    learner, schema = get_learner("ebm"), table.schema
    start = time.perf_counter()
    chosen = {"evaluate": False, "delta": Decimal("1e-5")}
    plan = learner.plan(schema, schema.targets[0], Decimal(1), chosen)
    learner.run(Run(table, plan, SecureRandom()))
    return time.perf_counter() - start


def _table(task: str, rows: int) -> PrivateTable:
    """Uniform features; the target follows from the first two, with noise."""
    source = np.random.default_rng(_SEED)
    numbers = source.random((rows, FEATURES))
    signal = numbers[:, 0] - numbers[:, 1] + source.normal(0, 0.2, rows)
    columns: list[dict[str, Any]] = [
        {"name": f"x{i}", "type": "real", "lower": 0, "upper": 1, "bins": _BINS} for i in range(FEATURES)
    ]
    frame = pd.DataFrame(numbers, columns=[column["name"] for column in columns])
    if task == "binary":
        columns.append({"name": "y", "type": "boolean", "target": True})
        frame["y"] = signal > 0
    else:
        goal = {"name": "y", "type": "real", "lower": -2, "upper": 2, "bins": _BINS}
        columns.append({**goal, "target": True})
        frame["y"] = signal
    content = {"name": DATA, "max_rows": rows, "holdout_percent": 0, "columns": columns}
    return ingest(frame_chunks(frame), Schema.from_mapping(content), SeededRandom(_SEED))


if __name__ == "__main__":
    print(json.dumps(measure(sys.argv[1], int(sys.argv[2]))))
