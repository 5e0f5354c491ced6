"""Seconds of relational rules: ``python -m benchmarks.ilp_speed CASE``.

Each case is measured in a fresh process, so that its peak of memory is its own. Compiled code is
warmed up before, by a fit of clauses of one condition.
"""

from __future__ import annotations

import json
import math
import sys
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from functools import partial
from typing import Any

import numpy as np
import pandas as pd
import psutil

from benchmarks.ilp_methods import HOUSE, fitted
from benchmarks.ilp_trains import CONCEPTS, THREE, draw
from benchmarks.memory import forget_peak, in_fresh_process, peak
from benchmarks.records import Record
from dpcore.data.building.ingest import frame_chunks, ingest
from dpcore.data.table import PrivateTable
from dpcore.demo import DEMOS
from dpcore.demo.trains import trains_schema
from dpcore.domain.schemas.schema import Schema
from dpcore.models.ilp.language.ilp_parameters import ILPParameters
from dpcore.models.ilp.language.lattice import build_lattice
from dpcore.models.ilp.learning.coverage import count_clauses, fold_factors
from dpcore.privacy.randomness import SeededRandom

LATTICE_GOAL, FIT_GOAL = 2.0, 60.0
CLAUSES, INGESTION, LISTING = "clauses", "seconds of ingestion", "seconds of listing the clauses"
LATTICE, FIT, MEMORY = "seconds of the whole lattice", "seconds of a fit", "extra MB"
_REPEATS, _SEED, _ROWS_EACH = 3, 20_261, 10

Frames = dict[str, pd.DataFrame]


@dataclass(frozen=True)
class Case:
    """Records, and what is asked of them.

    Attributes
    ----------
    make : callable
        The schema and the tables, the main one under its own name.
    whole : bool
        Whether a whole fit is timed, or the lattice alone.
    goal : float or None
        Seconds below which it has to stay.
    """

    name: str
    make: Callable[[], tuple[Schema, Frames]]
    settings: dict[str, Any] = field(default_factory=dict)
    whole: bool = True
    goal: float | None = None


def _trains(trains: int) -> tuple[Schema, Frames]:
    concept = CONCEPTS[THREE]
    found = draw(concept, trains, "speed")
    return concept.schema(trains), {"train": found.frame, **found.children}


def _demo(name: str) -> tuple[Schema, Frames]:
    demo = DEMOS[name]()
    return demo.schema, {demo.schema.entity: demo.frame, **demo.children}


def _many_rows(people: int) -> tuple[Schema, Frames]:
    """Trains of ten cars each, cell by cell at random, in the whole language of the trains."""
    content = trains_schema(max_rows=people).model_dump(mode="json")
    content["children"][0]["max_rows_per_person"] = _ROWS_EACH
    schema, source = Schema.from_mapping(content), np.random.default_rng(_SEED)
    key = str(schema.privacy_unit.column)
    main = pd.DataFrame({key: np.arange(people)})
    main["direction"] = source.choice(["west", "east"], people)
    rows = pd.DataFrame({key: np.tile(np.arange(people), _ROWS_EACH)})
    for column in schema.children[0].columns:
        rows[column.name] = source.choice(column.classes, len(rows))
    return schema, {"train": main, "car": rows}


_MANY = partial(_many_rows, 100_000)
CASES = (
    Case(
        "10,000 trains, 12 conditions, up to 4",
        partial(_trains, 10_000),
        {"max_literals": 4},
        whole=False,
        goal=LATTICE_GOAL,
    ),
    Case("10,000 trains, 100,000 cars, up to 4", partial(_many_rows, 10_000), {"max_literals": 4}, whole=False),
    Case("100,000 trains, 1,000,000 cars, up to 3", _MANY, {"max_literals": 3}, goal=FIT_GOAL),
    Case("hospital, up to 3", partial(_demo, "hospital"), {"max_literals": 3}),
    Case("hospital, up to 4", partial(_demo, "hospital"), {"max_literals": 4}),
)
_QUICK_CASES = (0, 2, 3)


def run(suite: str, *, quick: bool) -> Iterator[Record]:
    """Seconds, clauses and extra memory at epsilon 1."""
    for place in _QUICK_CASES if quick else range(len(CASES)):
        case, found = CASES[place], in_fresh_process("benchmarks.ilp_speed", place)
        what = FIT if case.whole else LATTICE
        seconds = float(np.median(found["seconds"]))
        for metric, figure, reference in (
            (CLAUSES, found["clauses"], None),
            (INGESTION, found["ingestion"], None),
            (LISTING, found["listing"], None),
            (what, seconds, case.goal),
            (MEMORY, found["extra"] / 1e6, None),
        ):
            yield Record(
                suite,
                case.name,
                HOUSE,
                1.0,
                metric,
                figure,
                math.nan,
                len(found["seconds"]) if metric == what else 1,
                reference,
                "goal: below" if reference else "",
            )


def measure(case: Case) -> dict[str, Any]:
    """Seconds of each step, and bytes of the peak above the encoded table."""
    schema, frames = case.make()
    table, ingestion = _timed(partial(_table, schema, frames))
    fitted(table, HOUSE, {"max_literals": 1, "max_variables": 1})
    parameters = ILPParameters(**case.settings)
    lattice, listing = _timed(partial(build_lattice, schema, schema.targets[0], parameters))
    forget_peak()
    before = psutil.Process().memory_info().rss
    work = partial(fitted, table, HOUSE, case.settings) if case.whole else partial(_counted, table, lattice)
    seconds = [_timed(work)[1] for _ in range(_REPEATS)]
    return {
        "clauses": len(lattice),
        "ingestion": ingestion,
        "listing": listing,
        "seconds": seconds,
        "extra": peak() - before,
    }


def _table(schema: Schema, frames: Frames) -> PrivateTable:
    chunks = {child.name: frame_chunks(frames[child.name]) for child in schema.children}
    return ingest(frame_chunks(frames[schema.entity]), schema, SeededRandom(_SEED), chunks)


def _counted(table: PrivateTable, lattice: Any) -> Any:
    [partition] = table.partitions
    classes = partition.class_members(table.schema.targets[0], "all")
    return count_clauses(lattice, fold_factors(partition, lattice), classes)


def _timed(work: Callable[[], Any]) -> tuple[Any, float]:
    start = time.perf_counter()
    result = work()
    return result, time.perf_counter() - start


if __name__ == "__main__":
    print(json.dumps(measure(CASES[int(sys.argv[1])])))
