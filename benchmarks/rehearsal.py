"""Rehearsals: does what is reached on invented records tell what the private run reaches?

Of each data set a fifth of the people is set aside. Private runs on the others are measured on
them exactly. Rehearsals see the schema, and at most one earlier private release of the same data
set. Noise is seeded, so figures repeat.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import combinations

import numpy as np
from rich.table import Table

from benchmarks.records import Record
from benchmarks.rehearsal_data import CLASSES, FAMILIES, KINDS, LOOK, TABLES, VIEWS, WITH_TARGET, Measure, Real, real
from dpcore.models.registry import get_learner
from dpcore.rehearsal.outlook import REPEATS, is_steady
from dpcore.rehearsal.running import invented_table, run_on, shape_for
from dpcore.rehearsal.trust import close_from
from dpcore.released.evidence import Records
from dpcore.released.release import Release, make_release

SUITE = "rehearsal"
#: Redescriptions and relational rules are rehearsed after first looks alone.
DATA, DATA_OF_LOOKS = WITH_TARGET, (*WITH_TARGET, *VIEWS, *TABLES)
#: Earlier releases: family and epsilon.
EARLIER = (("tree", "0.5"), ("ebm", "1"), ("rule_list", "0.5"))
#: Epsilons of first looks before a rehearsal.
LOOK_EPSILONS = ("0.5", "1")
_EPSILONS, _QUICK_EPSILONS = ("0.1", "0.5", "2"), ("0.5",)
_QUICK_DATA = ("mushroom", "titanic")
_FRESH_ROWS, _RUNS = 10_000, 2
#: Private runs of each request beside rehearsals after a first look, each with other people set aside: runs
#: differ, and of few people set aside those who are right are many or few by chance.
_RUNS_OF_LOOKS = 8
_EARLIER_SEED, _FRESH = 55, 99
#: How far off a rehearsal may be, in points.
BAR = 5.0
_SCHEMA, _FIRST_LOOK, _TWICE = "schema alone", "first look", "private run again"
_OF_MEAN, _TWICE_MEAN = "first look; mean of private runs", "private run, beside the mean of others"


@dataclass(frozen=True)
class Case:
    """One request: private runs, and the rehearsal of it.

    Attributes
    ----------
    known : str
        What the rehearsal sees: the schema alone, or the earlier release.
    rehearsed : float
        Mean of the rehearsals.
    close : bool
        Whether the application says that the rehearsal should be close.
    unit : float
        What a point is a hundredth of: 1, but the target's spread for numbers.
    kind : str
        One of :data:`~benchmarks.rehearsal_data.KINDS`.
    """

    data: str
    known: str
    family: str
    epsilon: str
    private: tuple[float, ...]
    rehearsed: float
    close: bool
    unit: float
    kind: str

    @property
    def off(self) -> list[float]:
        """Points by which the rehearsal misses each private run."""
        return [100 * abs(self.rehearsed - value) / self.unit for value in self.private]

    @property
    def off_mean(self) -> float:
        """Points by which it misses the mean of the private runs."""
        return float(100 * abs(self.rehearsed - np.mean(self.private)) / self.unit)


def run(
    data: Sequence[str] | None = None, *, quick: bool = False, looks: bool = False, runs: int | None = None
) -> Iterator[Case]:
    """Every case of the chosen data sets.

    Parameters
    ----------
    looks : bool
        Only those that see an earlier first look.
    runs : int or None
        Private runs and rehearsals of each of these requests, if not as many as usual.
    """
    for name in DATA_OF_LOOKS if looks else DATA:
        if name in (data or (_QUICK_DATA if quick else DATA_OF_LOOKS)):
            yield from _cases(name, quick=quick, looks=looks, runs=runs)


def _cases(name: str, *, quick: bool, looks: bool, runs: int | None) -> Iterator[Case]:
    own = real(name)
    times = runs or _RUNS_OF_LOOKS
    splits = [own, *(real(name, again) for again in range(1, times))] if looks else [own] * _RUNS
    private = {
        (family, epsilon): tuple(split.measured(family, epsilon, 100 + i) for i, split in enumerate(splits))
        for family in FAMILIES[own.kind]
        for epsilon in (_QUICK_EPSILONS if quick else _EPSILONS)
    }
    often = (runs, runs) if runs else REPEATS
    repeats = often if looks else (1, 1)  # After a first look the mean is told, as the planner does.
    for known, releases in _looks(own) if looks else _knowledge(own):
        for (family, epsilon), values in private.items():
            rehearsed, close = _rehearsed(own, family, epsilon, releases, repeats)
            yield Case(name, known, family, epsilon, values, rehearsed, close, own.aside.unit, own.kind)


def _rehearsed(
    own: Real, family: str, epsilon: str, releases: list[Release], repeats: tuple[int, int]
) -> tuple[float, bool]:
    """Mean of what rehearsals reach on fresh invented records; whether it is said to be close."""
    learner, plan = get_learner(family), own.plan(family, epsilon)
    shape = shape_for(learner, own.schema, plan, releases)
    frame, children = shape.draw(_FRESH_ROWS, _FRESH)
    fresh = Measure.on(own.kind, own.target, Records(shape.schema, {shape.schema.entity: frame, **children}))
    (fewest, most), reached = repeats, list[float]()
    while len(reached) < fewest or (len(reached) < most and not is_steady(reached, own.aside.unit)):
        turn = len(reached)
        reached.append(fresh.of(family, run_on(learner, invented_table(shape, 1 + turn), plan, 3 + turn)[1]))
    least = close_from(shape, learner.family)
    return float(np.mean(reached)), least is not None and plan.epsilon >= least


def _knowledge(own: Real) -> Iterator[tuple[str, list[Release]]]:
    yield _SCHEMA, []
    for family, epsilon in EARLIER:
        if family in FAMILIES[own.kind]:
            plan, model = own.run(family, epsilon, _EARLIER_SEED)
            yield f"{family}, ε {epsilon}", [make_release(family, plan, model, secure=False)]
    yield from _looks(own)


def _looks(own: Real) -> Iterator[tuple[str, list[Release]]]:
    for epsilon in LOOK_EPSILONS:
        plan, model = own.look(epsilon, _EARLIER_SEED)
        yield f"{_FIRST_LOOK}, ε {epsilon}", [make_release(LOOK, plan, model, secure=False)]


def parts(cases: Sequence[Case]) -> dict[str, list[Case]]:
    """Cases by what is known and what the application says of it."""
    return {
        f"{name}{_of(kind)}": own
        for kind in KINDS
        for name, own in _parts([case for case in cases if case.kind == kind]).items()
    }


def _of(kind: str) -> str:
    return "" if kind == CLASSES else f"; {kind}"


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
    for kind in KINDS:
        own, of = [case for case in cases if case.kind == kind], _of(kind)
        told[f"{_OF_MEAN}{of}"] = [case.off_mean for case in own if case.known.startswith(_FIRST_LOOK)]
        told[f"{_TWICE}{of}"] = _apart(own)
        told[f"{_TWICE_MEAN}{of}"] = _beside_others(own)
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
