"""How one exact block grows with the rows: ``python -m benchmarks.trees_growth ROWS``.

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
import psutil

from benchmarks.memory import forget_peak, in_fresh_process, peak
from benchmarks.records import Record
from dpcore.data.packing import word_count
from dpcore.learning.exact_draws.joint_counts import joint_counts
from dpcore.learning.exact_draws.lookahead import ExactWeight, draw_block
from dpcore.privacy.randomness import SecureRandom, SeededRandom

DATA = "synthetic"
ROWS = (45_000, 450_000, 4_500_000, 10_000_000)
_SPLITS, _DEPTH = 120, 3
_REPEATS = 3


def run(suite: str, *, quick: bool) -> Iterator[Record]:
    """Seconds and extra memory of a block of depth 3 over 120 random splits."""
    method = f"block of depth {_DEPTH}, {_SPLITS} splits"
    first: float | None = None
    for rows in ROWS[:2] if quick else ROWS:
        found = in_fresh_process("benchmarks.trees_growth", rows)
        seconds = float(np.median(found["seconds"]))
        figures: dict[str, tuple[float, float | None, str]] = {
            "seconds": (seconds, None, ""),
            "extra memory / packed data": (found["extra"] / found["packed"], None, ""),
            "extra MB": (found["extra"] / 1e6, None, ""),
        }
        if first is None:
            first = seconds / rows
        else:
            ratio = seconds / rows / first
            figures["time per row / that at the fewest"] = (ratio, 1.0, "linear growth")
        for metric, (figure, reference, source) in figures.items():
            yield Record(
                suite,
                f"{DATA}, {rows:,} rows",
                method,
                1.0,
                metric,
                figure,
                math.nan,
                len(found["seconds"]),
                reference,
                source,
            )


def measure(rows: int) -> dict[str, Any]:
    """Seconds of each draw, and bytes of packed data and of the peak above them."""
    draw(*_random_words(64), rows=64)
    literals, classes = _random_words(rows)
    forget_peak()
    before = psutil.Process().memory_info().rss
    repeats = _REPEATS if rows <= ROWS[1] else 1
    seconds = [draw(literals, classes, rows=rows) for _ in range(repeats)]
    extra = peak() - before
    return {"seconds": seconds, "extra": extra, "packed": literals.nbytes + classes.nbytes}


def draw(literals: Any, classes: Any, *, rows: int) -> float:
    """Draw one block with epsilon 1: the one place that knows how the kernel is called."""
    weight = ExactWeight.fit("labelled", _DEPTH, Decimal(1), rows, len(literals), len(classes))
    prior = np.full(len(literals), -np.log(len(literals)))
    start = time.perf_counter()
    draw_block(joint_counts(literals, classes, _DEPTH), prior, _DEPTH, "labelled", weight, SecureRandom())
    return time.perf_counter() - start


def _random_words(rows: int) -> tuple[Any, Any]:
    """Random bits for every split, and two disjoint classes that cover the rows."""
    words, source = word_count(rows), SeededRandom(rows)
    literals = np.empty((_SPLITS, words), dtype=np.uint64)
    for literal in literals:
        literal[:] = source.words(words)
    first = source.words(words)
    return literals, np.stack([first, ~first])


if __name__ == "__main__":
    print(json.dumps(measure(int(sys.argv[1]))))
