"""Rehearsals: does the accuracy on invented records tell that of the private run?

Of each data set a fifth of the people is set aside. Private runs on the others are measured on
them exactly. Rehearsals see the schema, and at most one earlier private release of the same data
set. Noise is seeded, so figures repeat.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from decimal import Decimal
from itertools import combinations
from typing import Any

import numpy as np
from rich.table import Table

from benchmarks.datasets import load
from benchmarks.records import Record
from dpcore.data.ingest import frame_chunks, ingest
from dpcore.data.table import PrivateTable
from dpcore.domain.columns import NumericColumn
from dpcore.domain.schema import Schema
from dpcore.learning.learner import Run
from dpcore.models.registry import get_learner
from dpcore.privacy.randomness import SeededRandom
from dpcore.rehearsal.running import invented_table, run_on
from dpcore.rehearsal.shape import Shape, shape_of
from dpcore.rehearsal.trust import close_from
from dpcore.released.invented import Records
from dpcore.released.plan import RunPlan
from dpcore.released.release import Release, make_release

SUITE = "rehearsal"
DATA = ("adult", "mushroom", "nursery", "telco_churn", "titanic", "california_housing", "wine_quality")
FAMILIES = ("rule_list", "tree", "forest", "ebm")
#: Earlier releases: family and epsilon.
EARLIER = (("tree", "0.5"), ("ebm", "1"), ("rule_list", "0.5"))
#: First looks before a rehearsal: the family, and their epsilons.
LOOK, LOOK_EPSILONS = "summaries", ("0.5", "1")
#: Delta of the account that a first look is charged to.
_DELTA = Decimal("0.000001")
_EPSILONS, _QUICK_EPSILONS = ("0.1", "0.5", "2"), ("0.5",)
_QUICK_DATA = ("mushroom", "titanic")
_HOLDOUT, _FRESH_ROWS, _RUNS = 20, 10_000, 2
#: Private runs of each request beside rehearsals after a first look, each with other people set aside: runs
#: differ, and of few people set aside those who are right are many or few by chance.
_RUNS_OF_LOOKS = 8
_SEED, _EARLIER_SEED, _FRESH = 7, 55, 99
#: How far off a rehearsal may be, in points.
BAR = 5.0
_SCHEMA, _FIRST_LOOK, _TWICE = "schema alone", "first look", "private run again"
_OF_MEAN, _TWICE_MEAN = "first look; mean of private runs", "private run, beside the mean of others"
Quality = Callable[[Any], float]


@dataclass(frozen=True)
class Case:
    """One request: private runs, and the rehearsal of it.

    Attributes
    ----------
    known : str
        What the rehearsal sees: the schema alone, or the earlier release.
    close : bool
        Whether the application says that the rehearsal should be close.
    unit : float
        What a point is a hundredth of: 1 for accuracies, the target's spread for numbers.
    """

    data: str
    known: str
    family: str
    epsilon: str
    private: tuple[float, ...]
    rehearsed: float
    close: bool
    unit: float
    number: bool

    @property
    def off(self) -> list[float]:
        """Points by which the rehearsal misses each private run."""
        return [100 * abs(self.rehearsed - value) / self.unit for value in self.private]

    @property
    def off_mean(self) -> float:
        """Points by which it misses the mean of the private runs."""
        return float(100 * abs(self.rehearsed - np.mean(self.private)) / self.unit)


@dataclass(frozen=True)
class _Real:
    """A data set with people set aside, of whom the truth is known."""

    schema: Schema
    target: str
    table: PrivateTable
    aside: Records

    @property
    def number(self) -> bool:
        return isinstance(self.schema.column(self.target), NumericColumn)

    @property
    def families(self) -> tuple[str, ...]:
        return ("ebm",) if self.number else FAMILIES

    def run(self, family: str, epsilon: str, seed: int) -> tuple[RunPlan, Any]:
        learner = get_learner(family)
        plan = learner.plan(self.schema, self.target, Decimal(epsilon), {})
        return plan, learner.run(Run(self.table, plan, SeededRandom(seed)))

    def measured(self, family: str, epsilon: str, seed: int) -> float:
        """Quality of a private run on the people set aside."""
        truth, _ = _quality(self.aside, self.target, number=self.number)
        _, model = self.run(family, epsilon, seed)
        return truth(get_learner(family).family.evidence(model).predicted(self.aside))

    def look(self, epsilon: str, seed: int) -> tuple[RunPlan, Any]:
        """A first look that compares the classes of the target, in an account with a delta."""
        learner = get_learner(LOOK)
        asked = {"by": self.target, "records": True}
        plan = learner.plan(self.schema, "", Decimal(epsilon), asked, _DELTA)
        return plan, learner.run(Run(self.table, plan, SeededRandom(seed)))


def run(data: Sequence[str] | None = None, *, quick: bool = False, looks: bool = False) -> Iterator[Case]:
    """Every case of the chosen data sets.

    Parameters
    ----------
    looks : bool
        Only those that see an earlier first look.
    """
    for name in DATA:
        if name in (data or (_QUICK_DATA if quick else DATA)):
            yield from _cases(name, quick=quick, looks=looks)


def _cases(name: str, *, quick: bool, looks: bool) -> Iterator[Case]:
    real = _real(name)
    epsilons = _QUICK_EPSILONS if quick else _EPSILONS
    _, unit = _quality(real.aside, real.target, number=real.number)
    splits = [real, *(_real(name, again) for again in range(1, _RUNS_OF_LOOKS))] if looks else [real] * _RUNS
    private = {
        (family, epsilon): tuple(own.measured(family, epsilon, 100 + i) for i, own in enumerate(splits))
        for family in real.families
        for epsilon in epsilons
    }
    for known, releases in _looks(real) if looks else _knowledge(real):
        shape = shape_of(real.schema, real.target, releases, number=real.number)
        table = invented_table(shape, 1)
        fresh, rehearsed, _ = _fresh(shape, number=real.number)
        for (family, epsilon), values in private.items():
            learner = get_learner(family)
            plan = learner.plan(real.schema, real.target, Decimal(epsilon), {})
            _, model = run_on(learner, table, plan, 3)
            least = close_from(shape, learner.family)
            close = least is not None and plan.epsilon >= least
            reached = rehearsed(learner.family.evidence(model).predicted(fresh))
            yield Case(name, known, family, epsilon, values, reached, close, unit, real.number)


def _real(name: str, again: int = 0) -> _Real:
    """A data set, each time with other people set aside."""
    data = load(name)
    schema = data.schema.model_copy(update={"holdout_percent": _HOLDOUT})
    frame = data.frame.dropna(subset=[data.target])
    table = ingest(frame_chunks(frame), schema, SeededRandom(_SEED + again))
    aside = Records(schema, {schema.entity: table.public_frame("holdout")})
    return _Real(schema, data.target, table, aside)


def _knowledge(real: _Real) -> Iterator[tuple[str, list[Release]]]:
    yield _SCHEMA, []
    for family, epsilon in EARLIER:
        if family in real.families:
            plan, model = real.run(family, epsilon, _EARLIER_SEED)
            yield f"{family}, ε {epsilon}", [make_release(family, plan, model, secure=False)]
    yield from _looks(real)


def _looks(real: _Real) -> Iterator[tuple[str, list[Release]]]:
    for epsilon in LOOK_EPSILONS:
        plan, model = real.look(epsilon, _EARLIER_SEED)
        yield f"{_FIRST_LOOK}, ε {epsilon}", [make_release(LOOK, plan, model, secure=False)]


def _fresh(shape: Shape, *, number: bool) -> tuple[Records, Quality, float]:
    frame, _ = shape.draw(_FRESH_ROWS, _FRESH)
    records = Records(shape.schema, {shape.schema.entity: frame})
    return records, *_quality(records, shape.target, number=number)


def _quality(records: Records, target: str, *, number: bool) -> tuple[Quality, float]:
    """What predictions are measured by, and what a point is a hundredth of."""
    if number:
        numbers = records.main[target].to_numpy(dtype=np.float64)
        there = ~np.isnan(numbers)
        return lambda found: math.sqrt(np.mean((found - numbers)[there] ** 2)), float(numbers[there].std())
    codes = records.cells(target)
    known = codes < len(records.schema.column(target).classes)
    return lambda found: float((found == codes)[known].mean()), 1.0


def parts(cases: Sequence[Case]) -> dict[str, list[Case]]:
    """Cases by what is known and what the application says of it."""
    numbers = [case for case in cases if case.number]
    classes = [case for case in cases if not case.number]
    return _parts(classes) | {f"{name}; numbers": own for name, own in _parts(numbers).items()}


def _parts(cases: Sequence[Case]) -> dict[str, list[Case]]:
    looks = [case for case in cases if case.known.startswith(_FIRST_LOOK)]
    shaped = [case for case in cases if case.known != _SCHEMA and case not in looks]
    return {
        _SCHEMA: [case for case in cases if case.known == _SCHEMA],
        _FIRST_LOOK: looks,
        "one earlier result": shaped,
        "said to be close": [case for case in shaped if case.close],
        "not said to be close": [case for case in shaped if not case.close],
    }


def records(cases: Sequence[Case]) -> Iterator[Record]:
    """How far off rehearsals are, by part; and how far two private runs of one request are from each other."""
    told = {part: [points for case in own for points in case.off] for part, own in parts(cases).items()}
    for kind, number in (("", False), ("; numbers", True)):
        own = [case for case in cases if case.number == number]
        told[f"{_OF_MEAN}{kind}"] = [case.off_mean for case in own if case.known.startswith(_FIRST_LOOK)]
        told[f"{_TWICE}{kind}"] = _apart(own)
        told[f"{_TWICE_MEAN}{kind}"] = _beside_others(own)
    for part, points in told.items():
        off = np.array(points)
        if len(off) == 0:
            continue
        figures = {
            "points off, median": float(np.median(off)),
            "points off, 90% quantile": float(np.quantile(off, 0.9)),
            "points off, most": float(off.max()),
            f"share within {BAR:g} points": float(np.mean(off <= BAR)),
        }
        for metric, value in figures.items():
            yield Record(SUITE, "all", part, None, metric, value, math.nan, len(off), None, "")


def _requests(cases: Sequence[Case]) -> list[Case]:
    """One case of each request."""
    return list({(case.data, case.family, case.epsilon): case for case in cases}.values())


def _apart(cases: Sequence[Case]) -> list[float]:
    """Points between two private runs of one request: no rehearsal can be closer to both."""
    return [
        100 * abs(one - other) / case.unit for case in _requests(cases) for one, other in combinations(case.private, 2)
    ]


def _beside_others(cases: Sequence[Case]) -> list[float]:
    """Points between a private run and the mean of the others of its request."""
    return [
        100 * abs(own - (sum(case.private) - own) / (len(case.private) - 1)) / case.unit
        for case in _requests(cases)
        for own in case.private
    ]


def cases_table(cases: Sequence[Case]) -> Table:
    """One row a case."""
    table = Table(title="Rehearsals: quality on invented records and of private runs")
    for heading in ("data", "known", "run", "ε", "private", "rehearsed", "points off", "said"):
        table.add_column(heading, overflow="fold")
    for case in cases:
        mean = float(np.mean(case.private))
        gap = 100 * (case.rehearsed - mean) / case.unit
        table.add_row(
            case.data,
            case.known,
            case.family,
            case.epsilon,
            f"{mean:.4g}",
            f"{case.rehearsed:.4g}",
            f"{gap:+.1f}",
            "close" if case.close else "",
        )
    return table
