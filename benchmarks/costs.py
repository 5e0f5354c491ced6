"""Whether what a run will take is told right: seconds of processor time told and taken, per method.

What tells them was fitted on invented tables, and corrected after cases of other sizes and epsilons.
Processor time is compared, so that what else the machine does hardly matters.
"""

from __future__ import annotations

import math
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from decimal import Decimal
from typing import Any

import numpy as np

from benchmarks import ilp_facts, redescriptions_data
from benchmarks.datasets import load
from benchmarks.memory import forget_peak, peak
from benchmarks.records import Record
from dpcore.data.building.ingest import frame_chunks, ingest
from dpcore.data.table import PrivateTable
from dpcore.learning.learner import Run
from dpcore.models.registry import get_learner
from dpcore.privacy.randomness import SecureRandom, SeededRandom
from dpcore.rehearsal import warm_up
from dpcore.workspace.runs.calibration import measured
from dpcore.workspace.runs.machine import Machine

SUITE = "costs"
#: What is told should be within this factor of what a run takes, if that is more than a second.
FACTOR = 2.0
_LONG = 1.0
#: Every case is run so often, and the fastest time counts.
_REPEATS = 2


@dataclass(frozen=True)
class Case:
    """One run: a family with parameters on a data set, or on so many rows drawn from it again and again."""

    family: str
    data: str
    parameters: dict[str, Any]
    rows: int = 0
    epsilon: str = "1.5"

    @property
    def what(self) -> str:
        """Name of the data in the report."""
        return f"{self.data} x {self.rows:,}" if self.rows else self.data


def _cases() -> Iterator[Case]:
    for data, rows in (("adult", 150_000), ("telco_churn", 0), ("mushroom", 100_000)):
        yield Case("rule_list", data, {"pool_size": 100_000}, rows)
        yield Case("rule_list", data, {"sampler": "lookahead", "max_antecedents": 1000}, rows)
        yield Case("rule_list", data, {"sampler": "mcmc", "mcmc_steps": 5_000}, rows)
        yield Case("rule_list", data, {"antecedents": "dp_fim", "pool_size": 30_000}, rows)
        yield Case("tree", data, {}, rows)
        yield Case("tree", data, {"blocks": (2, 2, 2)}, rows)
        for method in ("adiffp", "diffp_id3", "diffp_c45", "sulq_id3"):
            yield Case("tree", data, {"method": method}, rows)
        for method in ("rfdiffp", "random_trees"):
            yield Case("forest", data, {"method": method, "trees": 15}, rows)
        yield Case("ebm", data, {}, rows)
        yield Case("ebm", data, {"pairs": 5, "replicates": 10}, rows)
        yield Case("ebm", data, {"method": "random_splits", "epochs": 60}, rows)
    for data, rows in (("california_housing", 200_000), ("wine_quality", 0)):
        yield Case("ebm", data, {}, rows)
    for data in ("mammals", "cms", "checkups"):
        yield Case("redescriptions", data, {})
        yield Case("redescriptions", data, {"method": "lookahead"})
        yield Case("redescriptions", data, {"method": "alt_expm", "depth": 3})
        yield Case("redescriptions", data, {"method": "alt_mcmc", "steps": 1_500, "starts": 2})
        yield Case("redescriptions", data, {"method": "mcmc_tree_pair", "sampler": "pool", "pool_size": 8_000})
        yield Case("redescriptions", data, {"method": "mcmc_tree_pair", "steps": 1_500})
    for method in ("noisy_max", "relevance_aware", "naive"):
        yield Case("ilp", "trains1000", {"method": method, "clauses": 2})
    yield Case("ilp", "trains1000", {"clauses": 4, "max_literals": 4})


def run(data: list[str] | None, *, quick: bool) -> Iterator[Record]:
    """Seconds told and taken of every case that takes long; then how many of them were told right."""
    for learner in {case.family for case in _cases()}:
        warm_up(get_learner(learner))
    machine, ratios, memory = measured(), list[float](), list[float]()
    tables: dict[str, PrivateTable] = {}
    for case in _cases():
        if (data and case.data not in data) or (quick and case.rows):
            continue
        if case.what not in tables:
            tables = {case.what: _table(case)}
        told, taken, room = _measure(case, tables[case.what], machine)
        memory.append(room)
        if taken > _LONG:
            ratios.append(told / taken)
            chosen = ", ".join(f"{name} {value}" for name, value in case.parameters.items()) or "as it comes"
            yield _record(
                case.what, f"{case.family}, {chosen}", "seconds told / taken", told / taken, f"{taken:.1f} s taken"
            )
    right = float(np.mean([1 / FACTOR <= ratio <= FACTOR for ratio in ratios])) if ratios else math.nan
    yield _record("all", "runs over 1 s", "share told within a factor of 2", right, "goal", 0.9, len(ratios))
    for word, most in (("least", min), ("most", max)):
        yield _record("all", "", f"memory told / taken, {word}", most(memory, default=math.nan), "", n=len(memory))


def _record(
    data: str,
    method: str,
    metric: str,
    figure: float,
    source: str,
    reference: float | None = None,
    n: int = _REPEATS,
) -> Record:
    return Record(SUITE, data, method, None, metric, figure, math.nan, n, reference, source)


def _table(case: Case) -> PrivateTable:
    source = SeededRandom(5)
    if case.family == "ilp":
        facts = ilp_facts.load(case.data, "trains1")
        main, *children = facts.tables.items()
        frame = main[1].assign(**{str(facts.labels.name): facts.labels.to_numpy()})
        further = {name: frame_chunks(content) for name, content in children}
        return ingest(frame_chunks(frame), facts.schema, source, further)
    if case.family == "redescriptions":
        return redescriptions_data.two_views(case.data).table
    known = load(case.data)
    if not case.rows:
        return ingest(frame_chunks(known.frame), known.schema, source)
    frame = known.frame.sample(case.rows, replace=True, random_state=5).reset_index(drop=True)
    return ingest(frame_chunks(frame), known.schema.model_copy(update={"max_rows": case.rows}), source)


def _measure(case: Case, table: PrivateTable, machine: Machine) -> tuple[float, float, float]:
    """Seconds told and taken of processor time, and the share of memory told of memory taken."""
    learner, schema = get_learner(case.family), table.schema
    target = schema.targets[0] if learner.targeted else ""
    plan = learner.plan(schema, target, Decimal(case.epsilon), case.parameters)
    workload = learner.workload(plan)
    forget_peak()
    taken = min(_seconds(lambda: learner.run(Run(table, plan, SecureRandom()))) for _ in range(_REPEATS))
    told = sum(map(machine.seconds, workload.steps.values()))
    return told, taken, machine.forecast(workload).bytes / peak()


def _seconds(work: Callable[[], object]) -> float:
    start = time.process_time()
    work()
    return time.process_time() - start
