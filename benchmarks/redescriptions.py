"""Redescriptions: how true they are over epsilons, beside the published methods and no privacy."""

from __future__ import annotations

import math
import multiprocessing
import time
from collections.abc import Iterator, Sequence
from concurrent.futures import FIRST_COMPLETED, Future, ProcessPoolExecutor, wait
from dataclasses import dataclass
from pathlib import Path

from rich.console import Console
from rich.progress import Progress

from benchmarks import redescriptions_growth
from benchmarks.records import Record, summarise, timed
from benchmarks.redescriptions_data import CMS, DATA, PLANTED, available, two_views
from benchmarks.redescriptions_kept import Cell, KeptRuns, still_to_do
from benchmarks.redescriptions_results import (
    BARS,
    ERROR,
    MEDIAN,
    PAPER_SUPPORT,
    PROGRAM,
    RATIO,
    REPORTED,
    SHARE,
    Results,
    pooled,
)
from benchmarks.redescriptions_runs import (
    GREEDY,
    HOUSE,
    PAIR,
    PRIVATE,
    READINGS,
    USUAL,
    Reading,
    Run,
    released,
    run_once,
)

SUITE = "redescriptions"
METHODS = (*PRIVATE, GREEDY)
EPSILONS = (1.0, 0.1, 0.01)
_QUICK_DATA = (CMS, PLANTED)
_QUICK_METHODS = (HOUSE, PAIR, GREEDY)
_QUICK_EPSILONS = (1.0, 0.1)
_PROCESSES = 2
_TIMED = 3


@dataclass(frozen=True)
class Request:
    """What to measure: ``None`` is everything.

    Attributes
    ----------
    quick : bool
        Two runs of three methods at two epsilons on two data sets, nothing timed, and the
        smallest size of the growth part.
    kept : Path or None
        File in which runs are kept: those that are there are not made again.
    minutes : float or None
        No run begins after so many; nothing is timed then.
    """

    data: Sequence[str] | None = None
    epsilons: Sequence[float] | None = None
    methods: Sequence[str] | None = None
    quick: bool = False
    kept: Path | None = None
    minutes: float | None = None

    @property
    def names(self) -> list[str]:
        """Data sets that can be measured, in the order of :data:`DATA`."""
        return [name for name in available() if name in self._asked]

    @property
    def left_out(self) -> list[str]:
        """Data sets that were asked for and cannot be measured here."""
        return [name for name in DATA if name in self._asked and name not in available()]

    @property
    def _asked(self) -> Sequence[str]:
        return self.data or (_QUICK_DATA if self.quick else DATA)

    @property
    def chosen_epsilons(self) -> list[float]:
        """Decreasing, each once."""
        asked = self.epsilons or (_QUICK_EPSILONS if self.quick else EPSILONS)
        return sorted(set(asked), reverse=True)

    @property
    def chosen_methods(self) -> list[str]:
        """In the order of :data:`METHODS`; the search without privacy is always shown."""
        asked = self.methods or (_QUICK_METHODS if self.quick else METHODS)
        return [method for method in METHODS if method in asked or method == GREEDY]

    @property
    def runs(self) -> int:
        """Runs of each method at each epsilon."""
        return 2 if self.quick else 10

    @property
    def wants_growth(self) -> bool:
        """Whether the growth part was asked for and can be measured."""
        if self.data is not None:
            return redescriptions_growth.DATA in self.data
        return self.methods is None and self.minutes is None


def measure(request: Request) -> list[Results]:
    """Run every method on every data set, then time single runs.

    Figures come from two processes at a time; seconds from one run at a time, afterwards. Noise
    comes from the secure source, so figures move from call to call.
    """
    results = {}
    for name in request.names:
        planted = len(two_views(name).planted)
        results[name] = Results(name, request.chosen_epsilons, planted)
    for name, run in _runs(request):
        results[name].add(run)
    for name, found in results.items():
        if not request.quick and request.minutes is None:
            found.seconds = _seconds(name, request)
    return [found for found in results.values() if found.runs]


def _cells(request: Request) -> list[Cell]:
    """What to run, without privacy first: others are compared with it."""
    private = [
        (name, method, epsilon)
        for name in request.names
        for epsilon in request.chosen_epsilons
        for method in request.chosen_methods
        if method != GREEDY
    ]
    return [*((name, GREEDY, None) for name in request.names), *private]


def _runs(request: Request) -> list[tuple[str, Run]]:
    """Every run, by cells, with those that were kept."""
    cells, kept = _cells(request), KeptRuns(request.kept)
    asked = set(cells)
    found = [(name, run) for name, run in kept.runs() if (name, run.method, run.epsilon) in asked]
    done = [(name, run.method, run.epsilon) for name, run in found]
    end = math.inf if request.minutes is None else time.monotonic() + 60 * request.minutes
    context = multiprocessing.get_context("spawn")
    waiting = still_to_do(cells, request.runs, done)[::-1]
    with ProcessPoolExecutor(_PROCESSES, mp_context=context) as pool, Progress(console=Console(stderr=True)) as shown:
        bar, going = shown.add_task("Runs", total=len(waiting)), dict[Future[Run], str]()
        while going or (waiting and time.monotonic() < end):
            while waiting and len(going) < _PROCESSES and time.monotonic() < end:
                cell = waiting.pop()
                going[pool.submit(_run, *cell)] = cell[0]
            for future in wait(going, return_when=FIRST_COMPLETED).done:
                name, run = going.pop(future), future.result()
                kept.keep(name, run)
                found.append((name, run))
                shown.advance(bar)
    places = {cell: place for place, cell in enumerate(cells)}
    return sorted(found, key=lambda own: places[own[0], own[1].method, own[1].epsilon])


def _run(name: str, method: str, epsilon: float | None) -> Run:
    return run_once(two_views(name), method, epsilon)


def _seconds(name: str, request: Request) -> dict[tuple[str, float | None], list[float]]:
    """Seconds of single runs at the largest epsilon, one at a time, after one that warms up."""
    data, epsilon = two_views(name), request.chosen_epsilons[0]
    found: dict[tuple[str, float | None], list[float]] = {}
    for method in request.chosen_methods:
        place = None if method == GREEDY else epsilon
        found[method, place] = [released(data, method, place)[1] for _ in range(_TIMED + 1)][1:]
    return found


def records(results: Sequence[Results]) -> Iterator[Record]:
    """Every figure beside its goal, or beside what the authors' program said."""
    for found in results:
        for method, epsilon in found.cells():
            yield from _cell_records(found, method, epsilon)
        for (method, epsilon), seconds in found.seconds.items():
            yield Record(
                SUITE,
                found.data,
                method,
                epsilon,
                "seconds",
                *timed(seconds),
                None,
                "",
            )


def _cell_records(found: Results, method: str, epsilon: float | None) -> Iterator[Record]:
    shared, runs = (SUITE, found.data, method, epsilon), len(found.runs[method, epsilon])
    for name in READINGS:
        supports: list[float | None] = [None]
        if name == USUAL and found.data in PAPER_SUPPORT:
            supports.append(PAPER_SUPPORT[found.data])
        for support in supports:
            yield from _reading_records(found, method, epsilon, name, support)
    goal = _goal(found.data, method, epsilon, RATIO)
    ratio, source = found.ratio(method, epsilon), "" if goal is None else "goal"
    yield Record(*shared, RATIO, ratio, math.nan, runs, goal, source)
    if found.planted:
        recovered = found.recovered(method, epsilon)
        yield Record(*shared, "planted redescriptions recovered", *recovered, runs, found.planted, "planted")
    yield from _reported_records(found, method, epsilon)


def _reading_records(
    found: Results, method: str, epsilon: float | None, name: str, support: float | None
) -> Iterator[Record]:
    readings = found.readings(method, epsilon, name)
    note = "" if name == USUAL else f", read: {name}"
    note += "" if support is None else f", support of {support:,.0f}"
    for metric, mean, error in _metrics(readings, support) if readings else ():
        goal = None if note else _goal(found.data, method, epsilon, metric)
        yield Record(
            SUITE,
            found.data,
            method,
            epsilon,
            metric + note,
            mean,
            error,
            len(readings),
            goal,
            "" if goal is None else "goal",
        )


def _metrics(readings: Sequence[Reading], support: float | None) -> Iterator[tuple[str, float, float]]:
    """Name, pooled figure, and standard error over runs."""
    whole, single = pooled(readings, support), [pooled([one], support) for one in readings]

    def error(name: str) -> float:
        known = [value for one in single if not math.isnan(value := getattr(one, name))]
        return summarise(known)[1] if known else math.nan

    yield "redescriptions found", whole.found, error("found")
    yield "redescriptions kept", whole.kept, error("kept")
    yield SHARE, whole.significant, error("significant")
    low, median, high = whole.quartiles
    yield "first quartile of the true Jaccard index", low, math.nan
    yield MEDIAN, median, error("median")
    yield "third quartile of the true Jaccard index", high, math.nan
    yield ERROR, whole.error, error("error")
    yield "share of intervals that hold the true Jaccard index", whole.held, error("held")
    yield "runs of which nothing is kept", whole.empty, math.nan


def _goal(data: str, method: str, epsilon: float | None, metric: str) -> float | None:
    goals = {(bar.data, HOUSE, bar.epsilon, bar.what): bar.goal for bar in BARS}
    return None if epsilon is None else goals.get((data, method, epsilon, metric))


def _reported_records(found: Results, method: str, epsilon: float | None) -> Iterator[Record]:
    theirs = None if epsilon is None else REPORTED.get((found.data, epsilon, method))
    if theirs is None:
        return
    readings = found.readings(method, epsilon)
    ours = pooled(readings, 0)
    for metric, figure, reference in (
        ("noisy Jaccard index of everything found", ours.noisy, theirs.noisy),
        ("true Jaccard index of everything found", ours.exact, theirs.exact),
        ("error of the Jaccard index of everything found", ours.error, theirs.error),
    ):
        if reference is not None:
            yield Record(
                SUITE, found.data, method, epsilon, metric, figure, math.nan, len(readings), reference, PROGRAM
            )
