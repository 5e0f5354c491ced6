"""Rehearsals: does what is reached on invented records tell what the private run reaches?

Of each data set a fifth of the people is set aside. Private runs on the others are measured on them exactly. Rehearsals
see the schema, and at most one earlier private release of the same data set. Noise is seeded, so figures repeat. Data
sets are tables with a target; tables seen from two sides, which are the two halves of their columns if the schema names
none; and tables with further ones about the same people.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from decimal import Decimal
from functools import lru_cache
from itertools import combinations
from typing import Any, Final

import numpy as np
import pandas as pd

from benchmarks.datasets import TASKS, load, relational
from benchmarks.declared import Quick, Suite
from benchmarks.results import Cell, Layout, Line, Result
from dpcore.data.building.ingest import frame_chunks, ingest
from dpcore.data.table import PrivateTable
from dpcore.demo import DEMOS
from dpcore.domain.schemas.schema import Schema
from dpcore.learning.learner import Run
from dpcore.models.redescriptions.released.reading import exact_agreement
from dpcore.models.registry import get_learner
from dpcore.privacy.randomness import SeededRandom, public_generator
from dpcore.rehearsal.quality_forecast import REPEATS, is_steady
from dpcore.rehearsal.running import invented_table, run_on, shape_for
from dpcore.rehearsal.trust import close_from
from dpcore.released.evidence import Records
from dpcore.released.plan import RunPlan
from dpcore.released.release import Release, make_release

CLASSES, NUMBERS, TWO_VIEWS, RELATIONAL = "classes", "numbers", "redescriptions", "relational rules"
_WITH_NUMBERS: Final = ("california_housing", "wine_quality")
WITH_TARGET: Final = ("adult", "mushroom", "nursery", "telco_churn", "titanic", *_WITH_NUMBERS)
_HALVES: Final = " halves"
VIEWS: Final = ("cms", "mammals", "npas", *(f"{name}{_HALVES}" for name in WITH_TARGET))
_TASKS: Final = {task or data: (data, task) for data, tasks in TASKS.items() for task in tasks}
_DEMOS: Final = ("hospital", "trains")
#: Those with at least some hundred people.
_TABLES: Final = (*(name for name in _TASKS if name != "trains10"), *_DEMOS)
FAMILIES: Final = {
    CLASSES: ("rule_list", "tree", "forest", "ebm"),
    NUMBERS: ("ebm",),
    TWO_VIEWS: ("redescriptions",),
    RELATIONAL: ("ilp",),
}
_LOOK: Final = "summaries"
#: What a rehearsal sees: family and epsilon of an earlier release, or nothing but the schema.
KNOWN: Final[dict[str, tuple[str, str] | None]] = {
    "schema alone": None,
    "a tree, ε 0.5": ("tree", "0.5"),
    "shape functions, ε 1": ("ebm", "1"),
    "a rule list, ε 0.5": ("rule_list", "0.5"),
    "a first look, ε 0.5": (_LOOK, "0.5"),
    "a first look, ε 1": (_LOOK, "1"),
}
_METHODS: Final = {
    f"{family} after {known}": (family, known) for own in FAMILIES.values() for family in own for known in KNOWN
}
_EARLIER_SEED, _FRESH, FRESH_ROWS = 55, 99, 10_000
_HOLDOUT, _SEED = 20, 7
#: Of one run under a budget with a delta of 1e-6.
_RUN_DELTA: Final = Decimal("8e-7")
#: How far off a rehearsal may be, in points.
BAR: Final = 5.0


def kind_of(name: str) -> str:
    """What a data set is looked at for."""
    if name in VIEWS:
        return TWO_VIEWS
    return NUMBERS if name in _WITH_NUMBERS else CLASSES if name in WITH_TARGET else RELATIONAL


@dataclass(frozen=True)
class Measure:
    """What a result is measured by, on records of which all is known."""

    kind: str
    target: str
    records: Records
    unit: float
    """What a point is a hundredth of: the target's spread for numbers, else 1."""

    @classmethod
    def on(cls, kind: str, target: str, records: Records) -> Measure:
        """The measure on these records."""
        if kind != NUMBERS:
            return cls(kind, target, records, 1.0)
        return cls(kind, target, records, float(np.nanstd(records.main[target].to_numpy(dtype=np.float64))))

    def of(self, family: str, model: Any) -> float:
        """Accuracy; RMSE of numbers; of redescriptions the mean Jaccard index of the best three, 0 without any."""
        if self.kind == TWO_VIEWS:
            found = model.extract(self.records.schema).found[:3]
            exact = exact_agreement(model.exact_tables(self.records.main, self.records.schema), found)
            return float(np.mean([item.jaccard for item in exact])) if exact else 0.0
        found = get_learner(family).family.evidence(model).predicted(self.records)
        if self.kind == NUMBERS:
            numbers = self.records.main[self.target].to_numpy(dtype=np.float64)
            return math.sqrt(np.nanmean((found - numbers) ** 2))
        codes = self.records.cells(self.target)
        known = codes < len(self.records.schema.column(self.target).classes)
        return float((found == codes)[known].mean())


@dataclass(frozen=True)
class Real:
    """A data set with people set aside, of whom the truth is known."""

    schema: Schema
    target: str
    table: PrivateTable
    aside: Measure

    def plan(self, family: str, epsilon: str) -> RunPlan:
        """A run with the defaults of its family in an account with a delta; a first look has as many pairs as pay."""
        look: dict[str, Any] = {"by": self.target, "records": True} if self.target else {"records": True}
        target, asked = ("", look) if family == _LOOK else (self.target, {})
        return get_learner(family).plan(self.schema, target, Decimal(epsilon), asked, _RUN_DELTA)

    def run(self, family: str, epsilon: str, seed: int) -> tuple[RunPlan, Any]:
        """A private run on those who are not set aside."""
        plan = self.plan(family, epsilon)
        return plan, get_learner(family).run(Run(self.table, plan, SeededRandom(seed)))


@lru_cache(maxsize=2)
def real(name: str, again: int = 0) -> Real:
    """A data set, each time with other people set aside."""
    schema, target, main, children = _tables(name)
    source, kind = SeededRandom(_SEED + again), kind_of(name)
    if kind == TWO_VIEWS:  # Its runs see everybody who is stored, so those set aside are not.
        apart = public_generator(_SEED + again).random(len(main)) < _HOLDOUT / 100
        table, others = (ingest(frame_chunks(main[rows]), schema, source) for rows in (~apart, apart))
        aside = Records(schema, others.public_tables())
    else:
        schema = schema.model_copy(update={"holdout_percent": _HOLDOUT})
        further = {child: frame_chunks(rows) for child, rows in children.items()}
        table = ingest(frame_chunks(main), schema, source, further)
        aside = Records(schema, table.public_tables("holdout"))
    return Real(schema, target, table, Measure.on(kind, target, aside))


def _tables(name: str) -> tuple[Schema, str, pd.DataFrame, Mapping[str, pd.DataFrame]]:
    """Schema, target and tables of a data set."""
    if name in _TASKS:
        facts = relational(*_TASKS[name])
        target, tables = facts.schema.targets[0], dict(facts.tables)
        return facts.schema, target, tables.pop(facts.schema.entity).assign(**{target: facts.labels}), tables
    if name in _DEMOS:
        demo = DEMOS[name]()
        return demo.schema, demo.schema.targets[0], demo.frame, demo.children
    data = load(name.removesuffix(_HALVES))
    if name in VIEWS:
        return _halved(data.schema) if name.endswith(_HALVES) else data.schema, "", data.frame, {}
    return data.schema, data.target, data.frame.dropna(subset=[data.target]), {}


def _halved(schema: Schema) -> Schema:
    """The first half of the columns on the left, the others on the right."""
    half = len(schema.columns) // 2
    views = ("left" if place < half else "right" for place in range(len(schema.columns)))
    columns = (column.model_copy(update={"view": view}) for column, view in zip(schema.columns, views, strict=True))
    return schema.model_copy(update={"columns": tuple(columns)})


def _measure(cell: Cell, options: Mapping[str, Any]) -> dict[str, float]:
    """A private run, and the rehearsal of it; after first looks private runs have other people set aside each time."""
    family, known = _METHODS[cell.method]
    epsilon = f"{cell.epsilon:g}"
    private = _private(cell.data, family, epsilon, cell.seed, cell.seed if options["looks"] else 0)
    often = (options["rehearsals"],) * 2 if options["rehearsals"] else REPEATS if options["looks"] else (1, 1)
    rehearsed, close = _rehearsed(cell.data, family, epsilon, known, often)
    unit = real(cell.data).aside.unit
    return {"private": private, "rehearsed": rehearsed, "point": unit / 100, "said to be close": float(close)}


@lru_cache(maxsize=64)
def _private(name: str, family: str, epsilon: str, seed: int, again: int) -> float:
    own = real(name, again)
    return own.aside.of(family, own.run(family, epsilon, 100 + seed)[1])


@lru_cache(maxsize=1024)
def _rehearsed(name: str, family: str, epsilon: str, known: str, often: tuple[int, int]) -> tuple[float, bool]:
    """Mean of what rehearsals reach on fresh invented records; whether it is said to be close."""
    own, learner = real(name), get_learner(family)
    plan, releases = own.plan(family, epsilon), _release(name, known)
    shape = shape_for(learner, own.schema, plan, releases)
    frame, children = shape.draw(FRESH_ROWS, _FRESH)
    records = Records(shape.schema, {shape.schema.entity: frame, **children})
    fresh, reached = Measure.on(kind_of(name), own.target, records), list[float]()
    fewest, most = often
    while len(reached) < fewest or (len(reached) < most and not is_steady(reached, own.aside.unit)):
        turn = len(reached)
        reached.append(fresh.of(family, run_on(learner, invented_table(shape, 1 + turn), plan, 3 + turn)[1]))
    least = close_from(shape, learner.family, plan.delta)
    return float(np.mean(reached)), least is not None and plan.epsilon >= least


@lru_cache(maxsize=8)
def _release(name: str, known: str) -> list[Release]:
    earlier = KNOWN[known]
    if earlier is None:
        return []
    plan, model = real(name).run(*earlier, _EARLIER_SEED)
    return [make_release(earlier[0], plan, model, secure=False)]


@dataclass(frozen=True)
class _Request:
    """Private runs of one request, the rehearsal of it, what a point is, and whether it is said to be close."""

    known: str
    private: list[float]
    rehearsed: float
    point: float
    close: bool

    def off(self, values: Sequence[float]) -> list[float]:
        return [abs(self.rehearsed - value) / self.point for value in values]

    @property
    def apart(self) -> list[float]:
        """Points between two private runs: no rehearsal can be closer to both."""
        return [abs(one - other) / self.point for one, other in combinations(self.private, 2)]

    @property
    def beside_others(self) -> list[float]:
        """Points between a private run and the mean of the others."""
        total, count = sum(self.private), len(self.private)
        return [abs(own - (total - own) / (count - 1)) / self.point for own in self.private] if count > 1 else []


def conclude(lines: Sequence[Line], _: Sequence[Result]) -> Iterator[Result]:
    """How far off rehearsals are, by what they see; and how far private runs of one request are from each other."""
    found: dict[tuple[str, str, float | None], list[Mapping[str, float]]] = {}
    for line in lines:
        found.setdefault((line.cell.data, line.cell.method, line.cell.epsilon), []).append(line.figures)
    kinds: dict[str, list[tuple[tuple[object, ...], _Request]]] = {}
    for (data, method, epsilon), own in found.items():
        family, known = _METHODS[method]
        private = [one["private"] for one in own]
        request = _Request(known, private, own[0]["rehearsed"], own[0]["point"], bool(own[0]["said to be close"]))
        kinds.setdefault(kind_of(data), []).append(((data, family, epsilon), request))
    for kind, requests in kinds.items():
        for part, points in parts(requests).items():
            if points:
                off = np.array(points)
                figures = (np.median(off), np.quantile(off, 0.9), off.max(), np.mean(off <= BAR))
                for metric, value in zip(OFF, figures, strict=True):
                    yield Result(kind, part, None, metric, float(value), n=len(off))


OFF: Final = ("points off, median", "points off, 90 % quantile", "points off, most", f"share within {BAR:g} points")


def parts(requests: Sequence[tuple[tuple[object, ...], _Request]]) -> dict[str, list[float]]:
    """Points by which rehearsals are off, by what they see and what the application says of it."""
    looks = [own for _, own in requests if "first look" in own.known]
    shaped = [own for _, own in requests if own not in looks and KNOWN[own.known]]
    of_schema = [own for _, own in requests if KNOWN[own.known] is None]
    each = dict(requests).values()  # One of each request, whatever the rehearsal sees.

    def off(own: Sequence[_Request]) -> list[float]:
        return [points for one in own for points in one.off(one.private)]

    return {
        "schema alone": off(of_schema),
        "one earlier result": off(shaped),
        "said to be close": off([own for own in shaped if own.close]),
        "not said to be close": off([own for own in shaped if not own.close]),
        "first look": off(looks),
        "first look; mean of private runs": [p for own in looks for p in own.off([float(np.mean(own.private))])],
        "private run again": [points for own in each for points in own.apart],
        "private run, beside the mean of others": [points for own in each for points in own.beside_others],
    }


def _impossible(cell: Cell) -> bool:
    family, known = _METHODS[cell.method]
    families, earlier = FAMILIES[kind_of(cell.data)], KNOWN[known]
    # Redescriptions and relational rules are rehearsed after first looks alone.
    seen = earlier is not None and earlier[0] == _LOOK
    possible = earlier is None or earlier[0] in families
    return family not in families or (not seen and (cell.data not in WITH_TARGET or not possible))


REHEARSAL = Suite(
    "rehearsal",
    _measure,
    (*WITH_TARGET, *VIEWS, *_TABLES),
    tuple(_METHODS),
    [
        Layout(
            rows=("data", "method"), columns=("metric",), metrics=OFF, title="How far off rehearsals are", spread=False
        ),
        Layout(rows=("data", "method", "epsilon"), columns=("metric",), metrics=("private", "rehearsed"), spread=False),
    ],
    (0.1, 0.5, 2.0),
    seeds=2,
    quick=Quick(data=("mushroom", "titanic"), epsilons=(0.5,)),
    skip=_impossible,
    conclude=conclude,
    options={"looks": False, "rehearsals": 0},
)
