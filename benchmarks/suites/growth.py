"""Seconds and memory of single fits as rows grow, and whether a run is told rightly what it will take.

What tells it was fitted on invented tables, and corrected after cases of other sizes and epsilons. Processor time is
compared there, so that what else the machine does hardly matters.
"""

from __future__ import annotations

import math
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from decimal import Decimal
from functools import lru_cache
from typing import Any, Final

import numpy as np
import pandas as pd
import psutil

from benchmarks.datasets import BenchData, load, relational
from benchmarks.declared import Quick, Suite
from benchmarks.problems import fitted
from benchmarks.processes import forget_peak, peak
from benchmarks.results import Cell, Layout, Line, Result
from benchmarks.suites import ilp, redescriptions, rules
from dpcore.data.building.ingest import frame_chunks, ingest
from dpcore.data.packing import word_count
from dpcore.data.table import PrivateTable
from dpcore.demo import DEMOS
from dpcore.demo.trains import trains_schema
from dpcore.domain.schemas.schema import Schema
from dpcore.learning.exact_draws.joint_counts import joint_counts
from dpcore.learning.exact_draws.lookahead import ExactWeight, draw_block
from dpcore.learning.learner import Run
from dpcore.models.ilp.language.ilp_parameters import ILPParameters
from dpcore.models.ilp.language.lattice import build_lattice
from dpcore.models.ilp.learning.coverage import count_clauses, fold_factors
from dpcore.models.registry import get_learner
from dpcore.privacy.randomness import SecureRandom, SeededRandom
from dpcore.rehearsal import warm_up
from dpcore.workspace.runs.calibration import measured
from dpcore.workspace.runs.machine import Machine

_SEED: Final = 20_210


@dataclass(frozen=True)
class Job:
    """Work on so many rows."""

    rows: tuple[int, ...]
    """Sizes at which it is measured."""
    make: Callable[[int], tuple[Callable[[], object], int]]
    """From a number of rows to the work and the bytes of the encoded data."""
    goal: float | None = None
    """Seconds below which it has to stay at the largest size."""


def _bytes(table: PrivateTable) -> int:
    return sum(array.nbytes for partition in table.partitions for array in partition.arrays.values())


def _block(rows: int) -> tuple[Callable[[], object], int]:
    """One exact block of depth 3 over 120 random splits, two disjoint classes."""
    words, source = word_count(rows), SeededRandom(rows)
    literals = np.stack([source.words(words) for _ in range(120)])
    first = source.words(words)
    classes = np.stack([first, ~first])

    def draw() -> None:
        weight = ExactWeight.fit("labelled", 3, Decimal(1), rows, len(literals), len(classes))
        prior = np.full(len(literals), -np.log(len(literals)))
        draw_block(joint_counts(literals, classes, 3), prior, 3, "labelled", weight, SecureRandom())

    return draw, literals.nbytes + classes.nbytes


def _boosting(task: str) -> Callable[[int], tuple[Callable[[], object], int]]:
    """Thirty uniform features; the target follows from the first two, with noise."""

    def make(rows: int) -> tuple[Callable[[], object], int]:
        source = np.random.default_rng(_SEED)
        numbers = source.random((rows, 30))
        signal = numbers[:, 0] - numbers[:, 1] + source.normal(0, 0.2, rows)
        fine = {"type": "real", "bins": 32}
        columns: list[dict[str, Any]] = [{**fine, "name": f"x{i}", "lower": 0, "upper": 1} for i in range(30)]
        frame = pd.DataFrame(numbers, columns=[column["name"] for column in columns])
        goal = {"type": "boolean"} if task == "binary" else {**fine, "lower": -2, "upper": 2}
        columns.append({**goal, "name": "y", "target": True})
        frame["y"] = signal > 0 if task == "binary" else signal
        content = {"name": "synthetic", "max_rows": rows, "holdout_percent": 0, "columns": columns}
        table = ingest(frame_chunks(frame), Schema.from_mapping(content), SeededRandom(_SEED))
        return lambda: fitted(table, "ebm", 1, {"delta": "1e-5"}), _bytes(table)

    return make


def cms_again(data: BenchData, rows: int) -> PrivateTable:
    """Records of CMS drawn with replacement; more public years of birth make a hundred splits of its left side."""
    content = data.schema.model_dump()
    for column in content["columns"]:
        if column["name"] == "birth_year":
            column["edges"] = list(range(1915, 1976))
    source = np.random.default_rng(_SEED)
    sizes = (min(50_000, rows - start) for start in range(0, rows, 50_000))
    chunks = (data.frame.iloc[source.integers(0, len(data.frame), size)].reset_index(drop=True) for size in sizes)
    return ingest(chunks, Schema.from_mapping({**content, "max_rows": rows}), SeededRandom(_SEED))


def _redescribed(chosen: Mapping[str, Any]) -> Callable[[int], tuple[Callable[[], object], int]]:
    def make(rows: int) -> tuple[Callable[[], object], int]:
        table = cms_again(load(redescriptions.CMS), rows)
        return lambda: fitted(table, "redescriptions", 1, chosen).model.extract(table.schema), _bytes(table)

    return make


def many_cars(people: int) -> tuple[Schema, dict[str, pd.DataFrame]]:
    """Trains of ten cars each, cell by cell at random, in the whole language of the trains."""
    content = trains_schema(max_rows=people).model_dump(mode="json")
    content["children"][0]["max_rows_per_person"] = 10
    schema, source = Schema.from_mapping(content), np.random.default_rng(_SEED)
    key = str(schema.privacy_unit.column)
    main = pd.DataFrame({key: np.arange(people), "direction": source.choice(["west", "east"], people)})
    rows = pd.DataFrame({key: np.tile(np.arange(people), 10)})
    for column in schema.children[0].columns:
        rows[column.name] = source.choice(column.classes, len(rows))
    return schema, {"train": main, "car": rows}


def _few_cars(trains: int) -> tuple[Schema, dict[str, pd.DataFrame]]:
    concept = ilp.CONCEPTS[ilp.THREE]
    found = ilp.draw(concept, trains, "speed")
    return concept.schema(trains), {"train": found.frame, **found.children}


def _hospital(_: int) -> tuple[Schema, dict[str, pd.DataFrame]]:
    demo = DEMOS["hospital"]()
    return demo.schema, {demo.schema.entity: demo.frame, **demo.children}


def relational_job(
    make: Callable[[int], tuple[Schema, dict[str, pd.DataFrame]]], literals: int, *, whole: bool
) -> Callable[[int], tuple[Callable[[], object], int]]:
    """A whole fit, or the counts of the whole lattice of clauses."""

    def job(rows: int) -> tuple[Callable[[], object], int]:
        schema, frames = make(rows)
        chunks = {child.name: frame_chunks(frames[child.name]) for child in schema.children}
        table = ingest(frame_chunks(frames[schema.entity]), schema, SeededRandom(_SEED), chunks)
        chosen = {"max_literals": literals}
        if whole:
            return lambda: fitted(table, "ilp", 1, {**ilp.METHODS[ilp.HOUSE], **chosen}), _bytes(table)
        lattice = build_lattice(schema, schema.targets[0], ILPParameters(**chosen))
        [partition] = table.partitions
        classes = partition.class_members(schema.targets[0], "all")
        return lambda: count_clauses(lattice, fold_factors(partition, lattice), classes), _bytes(table)

    return job


def _pool(size: int) -> Callable[[int], tuple[Callable[[], object], int]]:
    def make(_: int) -> tuple[Callable[[], object], int]:
        own = rules.thesis_split("adult", 0)
        chosen = {"sampler": "pool", "list_length": 13, "max_antecedents": 300, "pool_size": size}
        return lambda: fitted(own.table, "rule_list", 0.5, chosen), _bytes(own.table)

    return make


_GROWING: Final = (10_000, 30_000, 100_000, 300_000, 1_000_000)
#: Rows of the largest data set of the paper about redescriptions; its slowest run stays below ten hours.
_PAPER_ROWS: Final = (115_200,)
_FOUR: Final = {"method": "lookahead", "depth": 3, "starts": 4}
JOBS: Final[dict[str, Job]] = {
    "tree, a block of depth 3 over 120 splits": Job((45_000, 450_000, 4_500_000, 10_000_000), _block),
    "ebm, 30 columns, binary": Job((100_000, 300_000, 1_000_000), _boosting("binary")),
    "ebm, 30 columns, regression": Job((100_000, 300_000, 1_000_000), _boosting("regression")),
    "rule list, pool of 100,000": Job((30_000,), _pool(100_000), 1.0),
    "rule list, pool of 1,000,000": Job((30_000,), _pool(1_000_000), 10.0),
    **{
        f"redescriptions, {name}": Job(
            _GROWING + _PAPER_ROWS if name in (redescriptions.HOUSE, redescriptions.LOOKAHEAD) else _PAPER_ROWS,
            _redescribed(chosen),
            36_000.0,
        )
        for name, chosen in redescriptions.METHODS.items()
    },
    "redescriptions, depth 3, 4 starts of 1 round": Job(
        _GROWING + _PAPER_ROWS, _redescribed({**_FOUR, "rounds": 1}), 36_000.0
    ),
    "redescriptions, depth 3, 4 starts of 4 rounds": Job(_PAPER_ROWS, _redescribed({**_FOUR, "rounds": 4}), 36_000.0),
    "ilp, lattice of up to 4 of 12 conditions": Job((10_000,), relational_job(_few_cars, 4, whole=False), 2.0),
    "ilp, lattice of up to 4, ten cars each": Job((10_000,), relational_job(many_cars, 4, whole=False)),
    "ilp, fit of up to 3, ten cars each": Job((100_000,), relational_job(many_cars, 3, whole=True), 60.0),
    "ilp, hospital, fit of up to 3": Job((12_000,), relational_job(_hospital, 3, whole=True)),
    "ilp, hospital, fit of up to 4": Job((12_000,), relational_job(_hospital, 4, whole=True)),
}
_SIZES: Final = sorted({rows for job in JOBS.values() for rows in job.rows})


def _rows_of(data: str) -> int:
    return int(data.partition(" ")[0].replace(",", ""))


def _measure(cell: Cell, _: Mapping[str, Any]) -> dict[str, float]:
    """Seconds of the median of three times after one that warms up, and memory above the encoded data."""
    return grown(JOBS[cell.method], _rows_of(cell.data))


def grown(job: Job, rows: int) -> dict[str, float]:
    """The figures of a job at a number of rows."""
    work, size = job.make(rows)
    work()
    forget_peak()
    before, seconds = psutil.Process().memory_info().rss, []
    for _ in range(3 if rows <= 1_000_000 else 1):
        start = time.perf_counter()
        work()
        seconds.append(time.perf_counter() - start)
    extra = peak() - before
    figures = {"seconds": float(np.median(seconds)), "microseconds a row": 1e6 * float(np.median(seconds)) / rows}
    return figures | {"extra memory / encoded data": extra / size, "extra MB": extra / 1e6}


GROWTH = Suite(
    "growth",
    _measure,
    tuple(f"{rows:,} rows" for rows in _SIZES),
    tuple(JOBS),
    [Layout(rows=("method", "data"), columns=("metric",), spread=False)],
    skip=lambda cell: _rows_of(cell.data) not in JOBS[cell.method].rows,
    quick=Quick(data=tuple(f"{rows:,} rows" for rows in _SIZES if rows <= 100_000)),
    fresh=True,
    published=[
        Result(f"{job.rows[-1]:,} rows", method, None, "goal, seconds", job.goal)
        for method, job in JOBS.items()
        if job.goal
    ],
)

#: What is told should be within this factor of what a run takes, if that is more than a second.
FACTOR, _LONG = 2.0, 1.0
TOLD, TAKEN, MEMORY = "processor time, forecast / taken", "seconds taken", "memory, forecast / peak"


def _cases() -> Iterator[tuple[str, int, str, dict[str, Any]]]:
    """Data, rows drawn from it (0: as it is), family and parameters."""
    for data, rows in (("adult", 150_000), ("telco_churn", 0), ("mushroom", 100_000)):
        yield data, rows, "rule_list", {"pool_size": 100_000}
        yield data, rows, "rule_list", {"sampler": "lookahead", "max_antecedents": 1000}
        yield data, rows, "rule_list", {"sampler": "mcmc", "mcmc_steps": 5_000}
        yield data, rows, "rule_list", {"antecedents": "dp_fim", "pool_size": 30_000}
        for chosen in ({}, {"blocks": (2, 2, 2)}):
            yield data, rows, "tree", chosen
        for method in ("adiffp", "diffp_id3", "diffp_c45", "sulq_id3"):
            yield data, rows, "tree", {"method": method}
        for method in ("rfdiffp", "random_trees"):
            yield data, rows, "forest", {"method": method, "trees": 15}
        for chosen in ({}, {"pairs": 5, "replicates": 10}, {"method": "random_splits", "epochs": 60}):
            yield data, rows, "ebm", chosen
    for data, rows in (("california_housing", 200_000), ("wine_quality", 0)):
        yield data, rows, "ebm", {}
    for data in ("mammals", "cms", "checkups"):
        yield data, 0, "redescriptions", {}
        yield data, 0, "redescriptions", {"method": "lookahead"}
        yield data, 0, "redescriptions", {"method": "alt_expm", "depth": 3}
        yield data, 0, "redescriptions", {"method": "alt_mcmc", "steps": 1_500, "starts": 2}
        yield data, 0, "redescriptions", {"method": "mcmc_tree_pair", "sampler": "pool", "pool_size": 8_000}
        yield data, 0, "redescriptions", {"method": "mcmc_tree_pair", "steps": 1_500}
    for method in ("noisy_max", "relevance_aware", "naive"):
        yield "trains1000", 0, "ilp", {"method": method, "clauses": 2}
    yield "trains1000", 0, "ilp", {"clauses": 4, "max_literals": 4}


def _called(family: str, chosen: Mapping[str, Any]) -> str:
    return f"{family}, {', '.join(f'{name} {value}' for name, value in chosen.items()) or 'as it comes'}"


_CASES: Final = {
    (f"{data} x {rows:,}" if rows else data, _called(family, chosen)): (data, rows, family, chosen)
    for data, rows, family, chosen in _cases()
}


@lru_cache(maxsize=1)
def _machine() -> Machine:
    for family in {family for _, _, family, _ in _CASES.values()}:
        warm_up(get_learner(family))
    return measured()


def _measure_costs(cell: Cell, _: Mapping[str, Any]) -> dict[str, float]:
    """Processor time told and taken, and the share of memory told of memory taken; the faster of two runs counts."""
    data, rows, family, chosen = _CASES[cell.data, cell.method]
    return forecast(_table(data, rows, family), family, chosen)


def forecast(table: PrivateTable, family: str, chosen: Mapping[str, Any]) -> dict[str, float]:
    """What a run on a table is told to take, beside what it takes."""
    machine, learner = _machine(), get_learner(family)
    plan = learner.plan(table.schema, table.schema.targets[0] if learner.targeted else "", Decimal("1.5"), dict(chosen))
    workload = learner.workload(plan)
    forget_peak()
    taken = min(_processor_time(lambda: learner.run(Run(table, plan, SecureRandom()))) for _ in range(2))
    told = sum(map(machine.seconds, workload.steps.values()))
    return {TOLD: told / taken, TAKEN: taken, MEMORY: machine.forecast(workload).bytes / peak()}


def _processor_time(work: Callable[[], object]) -> float:
    start = time.process_time()
    work()
    return time.process_time() - start


@lru_cache(maxsize=1)
def _table(data: str, rows: int, family: str) -> PrivateTable:
    if family == "redescriptions":
        return redescriptions.two_views(data).table
    source = SeededRandom(5)
    if family == "ilp":
        facts = relational(data, "trains1")
        (_, frame), *children = facts.tables.items()
        frame = frame.assign(**{str(facts.labels.name): facts.labels.to_numpy()})
        further = {name: frame_chunks(content) for name, content in children}
        return ingest(frame_chunks(frame), facts.schema, source, further)
    known = load(data)
    if not rows:
        return ingest(frame_chunks(known.frame), known.schema, source)
    frame = known.frame.sample(rows, replace=True, random_state=5).reset_index(drop=True)
    return ingest(frame_chunks(frame), known.schema.model_copy(update={"max_rows": rows}), source)


def told_rightly(_: Sequence[Line], results: Sequence[Result]) -> Iterator[Result]:
    """How many of the runs that take long are told within the factor, and how far memory is off."""
    taken = {(own.data, own.method): own.value for own in results if own.metric == TAKEN}
    ratios = [own.value for own in results if own.metric == TOLD and taken[own.data, own.method] > _LONG]
    if ratios:
        right = float(np.mean([1 / FACTOR <= ratio <= FACTOR for ratio in ratios]))
        yield Result("all", "share of runs over 1 s forecast within a factor of 2", None, TOLD, right, n=len(ratios))
    memory = [own.value for own in results if own.metric == MEMORY and not math.isnan(own.value)]
    for word, most in (("least", min), ("most", max)) if memory else ():
        yield Result("all", f"memory, {word}", None, MEMORY, most(memory), n=len(memory))


COSTS = Suite(
    "costs",
    _measure_costs,
    tuple(dict.fromkeys(data for data, _ in _CASES)),
    tuple(dict.fromkeys(method for _, method in _CASES)),
    [Layout(rows=("data", "method"), columns=("metric",), metrics=(TOLD, TAKEN, MEMORY), spread=False)],
    skip=lambda cell: (cell.data, cell.method) not in _CASES,
    quick=Quick(data=tuple(dict.fromkeys(data for data, _ in _CASES if " x " not in data)), seeds=1),
    conclude=told_rightly,
)
