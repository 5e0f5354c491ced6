"""Data sets of the suite of rehearsals, with people set aside, and what results are measured by on other people.

Tables with a target; tables seen from two sides, which are the two halves of their columns if the schema names none;
and tables with further ones about the same people.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass
from decimal import Decimal
from typing import Any, Final

import numpy as np
import pandas as pd

from benchmarks import ilp_facts
from benchmarks.datasets import load
from dpcore.data.building.ingest import frame_chunks, ingest
from dpcore.data.table import PrivateTable
from dpcore.demo import DEMOS
from dpcore.domain.columns import NumericColumn
from dpcore.domain.schemas.schema import Schema
from dpcore.learning.learner import Run
from dpcore.models.redescriptions.released.reading import exact_agreement
from dpcore.models.registry import get_learner
from dpcore.privacy.randomness import SeededRandom, public_generator
from dpcore.released.evidence import Records
from dpcore.released.plan import RunPlan

CLASSES, NUMBERS, TWO_VIEWS, RELATIONAL = "classes", "numbers", "redescriptions", "relational rules"
KINDS: Final = (CLASSES, NUMBERS, TWO_VIEWS, RELATIONAL)
WITH_TARGET: Final = (
    "adult",
    "mushroom",
    "nursery",
    "telco_churn",
    "titanic",
    "california_housing",
    "wine_quality",
)
_HALVES: Final = " halves"
#: Tables seen from two sides.
VIEWS: Final = ("cms", "mammals", "npas", *(f"{name}{_HALVES}" for name in WITH_TARGET))
_TASKS: Final = {task or data: (data, task) for data, tasks in ilp_facts.TASKS.items() for task in tasks}
_DEMOS: Final = ("hospital", "trains")
#: Tables with further ones about the same people, with at least some hundred of these.
TABLES: Final = (*(name for name in _TASKS if name != "trains10"), *_DEMOS)
FAMILIES: Final = {
    CLASSES: ("rule_list", "tree", "forest", "ebm"),
    NUMBERS: ("ebm",),
    TWO_VIEWS: ("redescriptions",),
    RELATIONAL: ("ilp",),
}
LOOK: Final = "summaries"
#: Redescriptions of a release that are looked at: the best.
_BEST: Final = 3
#: Delta of the account that a first look is charged to.
_DELTA = Decimal("0.000001")
_HOLDOUT, _SEED = 20, 7


@dataclass(frozen=True)
class Measure:
    """What a result is measured by, on records of which all is known.

    Attributes
    ----------
    unit : float
        What a point is a hundredth of: the target's spread for numbers, else 1.
    """

    kind: str
    target: str
    records: Records
    unit: float

    @classmethod
    def on(cls, kind: str, target: str, records: Records) -> Measure:
        """The measure on these records."""
        if kind != NUMBERS:
            return cls(kind, target, records, 1.0)
        return cls(kind, target, records, float(np.nanstd(records.main[target].to_numpy(dtype=np.float64))))

    def of(self, family: str, model: Any) -> float:
        """Accuracy; RMSE of numbers; of redescriptions the mean Jaccard index of the best three, 0 without any."""
        if self.kind == TWO_VIEWS:
            return _mean_jaccard(model, self.records)
        found = get_learner(family).family.evidence(model).predicted(self.records)
        if self.kind == NUMBERS:
            numbers = self.records.main[self.target].to_numpy(dtype=np.float64)
            return math.sqrt(np.nanmean((found - numbers) ** 2))
        codes = self.records.cells(self.target)
        known = codes < len(self.records.schema.column(self.target).classes)
        return float((found == codes)[known].mean())


def _mean_jaccard(model: Any, records: Records) -> float:
    """Exact, of those that the release puts first, as it is read by itself."""
    found = model.extract(records.schema).found[:_BEST]
    exact = exact_agreement(model.exact_tables(records.main, records.schema), found)
    return float(np.mean([item.jaccard for item in exact])) if exact else 0.0


@dataclass(frozen=True)
class Real:
    """A data set with people set aside, of whom the truth is known."""

    kind: str
    schema: Schema
    target: str
    table: PrivateTable
    aside: Measure

    def plan(self, family: str, epsilon: str) -> RunPlan:
        """A run with the defaults of its family."""
        return get_learner(family).plan(self.schema, self.target, Decimal(epsilon), {})

    def run(self, family: str, epsilon: str, seed: int) -> tuple[RunPlan, Any]:
        """A private run on those who are not set aside."""
        plan = self.plan(family, epsilon)
        return plan, get_learner(family).run(Run(self.table, plan, SeededRandom(seed)))

    def measured(self, family: str, epsilon: str, seed: int) -> float:
        """What it reaches on the people set aside."""
        return self.aside.of(family, self.run(family, epsilon, seed)[1])

    def look(self, epsilon: str, seed: int) -> tuple[RunPlan, Any]:
        """A first look with as many pairs as pay, in an account with a delta; compares the target, if there is one."""
        learner = get_learner(LOOK)
        asked: dict[str, Any] = {"by": self.target, "records": True} if self.target else {"records": True}
        plan = learner.plan(self.schema, "", Decimal(epsilon), asked, _DELTA)
        return plan, learner.run(Run(self.table, plan, SeededRandom(seed)))


def real(name: str, again: int = 0) -> Real:
    """A data set, each time with other people set aside."""
    kind, schema, target, main, children = _tables(name)
    source = SeededRandom(_SEED + again)
    if kind == TWO_VIEWS:  # Its runs see everybody who is stored, so those set aside are not.
        apart = public_generator(_SEED + again).random(len(main)) < _HOLDOUT / 100
        table, others = (ingest(frame_chunks(main[rows]), schema, source) for rows in (~apart, apart))
        aside = Records(schema, others.public_tables())
    else:
        schema = schema.model_copy(update={"holdout_percent": _HOLDOUT})
        further = {child: frame_chunks(rows) for child, rows in children.items()}
        table = ingest(frame_chunks(main), schema, source, further)
        aside = Records(schema, table.public_tables("holdout"))
    return Real(kind, schema, target, table, Measure.on(kind, target, aside))


def _tables(name: str) -> tuple[str, Schema, str, pd.DataFrame, Mapping[str, pd.DataFrame]]:
    """What a data set is looked at for, its schema, its target and its tables."""
    if name in _TASKS:
        facts = ilp_facts.load(*_TASKS[name])
        target, tables = facts.schema.targets[0], dict(facts.tables)
        main = tables.pop(facts.schema.entity).assign(**{target: facts.labels})
        return RELATIONAL, facts.schema, target, main, tables
    if name in _DEMOS:
        demo = DEMOS[name]()
        return RELATIONAL, demo.schema, demo.schema.targets[0], demo.frame, demo.children
    data = load(name.removesuffix(_HALVES))
    if name in VIEWS:
        schema = _halved(data.schema) if name.endswith(_HALVES) else data.schema
        return TWO_VIEWS, schema, "", data.frame, {}
    kind = NUMBERS if isinstance(data.schema.column(data.target), NumericColumn) else CLASSES
    return kind, data.schema, data.target, data.frame.dropna(subset=[data.target]), {}


def _halved(schema: Schema) -> Schema:
    """The first half of the columns on the left, the others on the right."""
    half = len(schema.columns) // 2
    columns = [
        column.model_copy(update={"view": "left" if place < half else "right"})
        for place, column in enumerate(schema.columns)
    ]
    return schema.model_copy(update={"columns": tuple(columns)})
