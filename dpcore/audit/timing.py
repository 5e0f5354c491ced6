"""Whether the time of a run tells of its records: all outputs forced, other records, CPU time compared.

A run on one table is written down. It is then repeated on other tables of the same schema, forced to the same
outputs, so that only the records differ. What a step takes may not. What this covers: ``docs/privacy/time.md``.
"""

from __future__ import annotations

import gc
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from decimal import Decimal
from typing import Any, Final

import numpy as np

from dpcore.arrays import Flags, Floats
from dpcore.audit.replay.methods import METHODS, ReplayMethod
from dpcore.audit.replay.replayed_tables import random_rows, random_schema
from dpcore.audit.replay.tape import Forced, Recording, RunEvent, Tape
from dpcore.data.execution.executors import LocalExecutor
from dpcore.data.partition import Partition
from dpcore.data.table import PrivateTable
from dpcore.domain.schemas.learnable_schema import LearnableSchema
from dpcore.domain.schemas.schema import Schema
from dpcore.errors import BudgetError, RequestError
from dpcore.learning.facts import cell_counts, learn_cuts
from dpcore.learning.learner import Run
from dpcore.models.registry import get_learner
from dpcore.privacy.filters import PrivacyFilter
from dpcore.privacy.randomness import public_generator
from dpcore.released.learning_plan import plan_learning
from dpcore.released.plan import RunPlan

#: Places of the tables, and the tables that are compared: records in each, as a share of the places.
ROWS: Final = 200_000
TABLES: Final = {"empty": 0.0, "half": 0.5, "full": 1.0, "alike": 1.0}
#: The longest time of a step, as a multiple of the shortest, that is not said to differ.
MOST: Final = 1.05
#: The same of steps that look up likelihoods by counts, in tables that only slower caches hold.
_LOOKED_UP: Final = {("rule_list", "choosing a list"): 1.08}
#: Seconds below which the time of a step is too short to be compared.
SHORTEST: Final = 1e-3
#: How often each table is run at least, and at most if times still seem to differ.
_LEAST_RUNS, _MOST_RUNS = 9, 60
#: Of the times of a table, the one that counts: many are longer for what else the machine does, the shortest varies.
_QUANTILE: Final = 0.25
#: Epsilons to try in turn: a method composes only if that is cheaper.
_EPSILONS: Final = (Decimal(10), Decimal(1), Decimal("0.1"))
_TRIES: Final = 200
#: What replays keep short.
_LONGER: Final = {"pool_size": 4000}
_LAST: Final = "end of the run"


@dataclass(frozen=True)
class StepTime:
    """CPU time of one step of a run on several tables."""

    family: str
    method: str
    step: str
    parts: int
    """Reports of the step."""
    seconds: Mapping[str, float]
    """Of all its parts together, by the name of the table."""
    ratio: float | None
    """Longest time, as a multiple of the shortest, of that part for which it most exceeds the noise; parts that are too
    short are taken together. ``None`` if these are too short as well."""
    noise: float | None
    """The same between two halves of the runs on one table, of that part: largest over the tables."""

    @property
    def differs(self) -> bool:
        """Whether the time tells of the records: more than noise could."""
        most = _LOOKED_UP.get((self.family, self.step), MOST)
        return self.ratio is not None and self.noise is not None and self.ratio > most * self.noise


#: Carries a run out on a table, with its outputs from a tape.
_Program = Callable[[PrivateTable, Tape], object]


def compare_all(family: str = "", seed: int = 0, rows: int = ROWS) -> Iterator[StepTime]:
    """Every step of every method, and of the learning of facts.

    Parameters
    ----------
    family : str
        Name of one learner, or "facts"; empty for all.
    """
    for method in METHODS:
        if family in ("", method.family):
            yield from compare_method(method, seed, rows)
    for name in FACTS if family in ("", "facts") else ():
        yield from compare_facts(name, seed, rows)


def compare_method(method: ReplayMethod, seed: int = 0, rows: int = ROWS) -> list[StepTime]:
    """Every step of a method, with the longest of the runs that replays draw from."""
    rng = method.generator(seed)
    plan, learner = longest_plan(rng, method, rows, _LONGER), get_learner(method.family)

    def program(table: PrivateTable, tape: Tape) -> object:
        return learner.run(Run(table, plan, tape, tape.tick))

    return [StepTime(method.family, method.name, *own) for own in _compare(program, tables_of(rng, plan.schema), seed)]


def longest_plan(
    rng: np.random.Generator, method: ReplayMethod, rows: int, longer: Mapping[str, int] | None = None
) -> RunPlan:
    """A plan of a random schema with the values, of those that replays draw from, that make most work."""
    learner = get_learner(method.family)
    chosen = {name: (longer or {}).get(name, _longest(values)) for name, values in method.choices.items()}
    for epsilon in _EPSILONS * _TRIES:
        schema = random_schema(rng, method.shape).model_copy(update={"max_rows": rows})
        target = schema.targets[0] if schema.targets else ""
        try:
            plan = learner.plan(schema, target, epsilon, chosen, Decimal(method.delta))
        except (RequestError, BudgetError):
            continue
        if (plan.composed or method.delta == "0") and (schema.holdout_percent or "evaluate" not in chosen):
            return plan
    raise AssertionError(f"no random schema suits {method.name}")


def _longest(values: tuple[Any, ...]) -> object:
    """The value of a parameter that makes most work."""
    if all(isinstance(value, tuple) for value in values):
        return max(values, key=lambda value: (len(value), str(value)))
    whole = all(isinstance(value, int) and not isinstance(value, bool) for value in values)
    return max(values) if whole else values[0]


def tables_of(rng: np.random.Generator, schema: Schema) -> dict[str, PrivateTable]:
    """The tables that are compared."""
    return {
        name: random_rows(rng, schema, int(share * schema.max_rows), alike=name == "alike").table(schema)
        for name, share in TABLES.items()
    }


#: What is learned of a column, by what it is called.
FACTS: Final = ("cut points and bounds", "categories")
_NAMES: Final = 1000


def compare_facts(name: str, seed: int = 0, rows: int = ROWS) -> list[StepTime]:
    """The learning of cut points and bounds, or of categories."""
    numbers = name == FACTS[0]
    column = {"name": "x", "type": "real" if numbers else "integer", "lower": 0, "upper": _NAMES, "bins": 1}
    schema = Schema.from_mapping({"name": "facts", "max_rows": rows, "columns": [column]})
    wanted = LearnableSchema.from_mapping(
        {"name": "facts", "max_rows": rows, "columns": [{**column, "bins": None, "learn": {"bounds": True}}]}
    )
    plan = plan_learning(wanted, Decimal(1), PrivacyFilter(Decimal(5), Decimal("1e-6")))
    (question,) = plan.questions.values()

    def program(table: PrivateTable, tape: Tape) -> object:
        if numbers:
            return learn_cuts(table, 0, schema.columns[0], question, plan, tape)
        # A category that nobody has is not released whatever the noise, so only the counting can be compared.
        return cell_counts(table, 0, np.arange(_NAMES - 1.0))

    tables = tables_of(public_generator(seed), schema)
    return [StepTime("facts", name, "learning", *own[1:]) for own in _compare(program, tables, seed)]


_Found = tuple[str, int, Mapping[str, float], float | None, float | None]


def _compare(program: _Program, tables: Mapping[str, PrivateTable], seed: int) -> list[_Found]:
    """Run on all tables in turn, until their times agree or it has been tried often enough."""
    room = TableMemory(tables["half"])
    recorded = Recording(seed)
    program(room.holding(tables["half"]), recorded)
    found, judged = {name: list[Floats]() for name in tables}, list[_Found]()
    for run in range(_MOST_RUNS):
        first = run % len(tables)
        for name in [*tables][first:] + [*tables][:first]:
            steps, times = _timed(program, room.holding(tables[name]), recorded.events)
            found[name].append(times)
        if run + 1 >= _LEAST_RUNS:
            judged = _judged(steps, found)
            if not any(ratio is not None and ratio > MOST for *_, ratio, _ in judged):
                break
    return judged


class TableMemory:
    """One place in memory for all tables of a schema: where arrays lie makes a difference of its own."""

    def __init__(self, table: PrivateTable) -> None:
        (partition,) = table.partitions
        self._schema = table.schema
        self._arrays = {name: np.zeros_like(array) for name, array in partition.arrays.items()}

    def holding(self, table: PrivateTable) -> PrivateTable:
        """A table of which nothing has been worked out yet, with the same records."""
        (partition,) = table.partitions
        for name, array in partition.arrays.items():
            self._arrays[name][...] = array
        return PrivateTable(self._schema, [Partition(self._schema, self._arrays)], LocalExecutor(1))


class _Clock(Forced):
    """A forced run that notes when its reports come."""

    def __init__(self, recorded: Sequence[RunEvent]) -> None:
        super().__init__(recorded)
        self.times = list[float]()

    def tick(self, step: str, done: int, total: int) -> None:
        """Note a tick of progress, and its time."""
        super().tick(step, done, total)
        self.times.append(time.process_time())


def _timed(program: _Program, table: PrivateTable, recorded: Sequence[RunEvent]) -> tuple[list[str], Floats]:
    """Steps, and the CPU time of each, from one report to the next."""
    clock = _Clock(recorded)
    gc.collect()
    gc.disable()
    try:
        start = time.process_time()
        program(table, clock)
        end = time.process_time()
    finally:
        gc.enable()
    clock.finish()
    steps = [str(event.what[1]) for event in clock.events if event.what[0] == "progress"]
    return [*steps, _LAST], np.diff([start, *clock.times, end])


def _judged(steps: Sequence[str], times: Mapping[str, Sequence[Floats]]) -> list[_Found]:
    """Each step, from the times of all runs on each table."""
    whole, *halves = (
        np.stack([np.quantile(own[runs], _QUANTILE, axis=0) for own in times.values()])
        for runs in (slice(None), slice(0, None, 2), slice(1, None, 2))
    )
    found: list[_Found] = []
    for step in dict.fromkeys(steps):
        chosen = [place for place, other in enumerate(steps) if other == step]
        long = whole[:, chosen].max(axis=0) >= SHORTEST
        parts = _parts(whole[:, chosen], long)
        kept = parts.max(axis=0) >= SHORTEST
        parts, one, other = (_parts(own[:, chosen], long)[:, kept] for own in (whole, *halves))
        ratios = parts.max(axis=0) / parts.min(axis=0)
        noise = (np.maximum(one, other) / np.minimum(one, other)).max(axis=0)
        seconds = dict(zip(times, whole[:, chosen].sum(axis=1).tolist(), strict=True))
        worst = int(np.argmax(ratios / noise)) if kept.any() else -1
        judged = (None, None) if worst < 0 else (float(ratios[worst]), float(noise[worst]))
        found.append((step, len(chosen), seconds, *judged))
    return found


def _parts(times: Floats, long: Flags) -> Floats:
    """Times of the long parts, and of the others together: shape (n_tables, n_long + 1)."""
    return np.column_stack([times[:, long], times[:, ~long].sum(axis=1)])
