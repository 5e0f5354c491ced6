"""Relational rules: how many trains they need, beside the published methods and no privacy."""

from __future__ import annotations

import multiprocessing
from collections.abc import Iterator, Sequence
from concurrent.futures import Future, ProcessPoolExecutor, as_completed
from dataclasses import dataclass

from rich.console import Console
from rich.progress import track

from benchmarks import ilp_facts, ilp_stays, ilp_years
from benchmarks.ilp_methods import EPSILON, METHODS, NON_PRIVATE
from benchmarks.ilp_results import BARS, REACHED, Results
from benchmarks.ilp_trains import CONCEPTS, GROWING, Concept, Score, guess, scores
from benchmarks.records import Record

SUITE = "ilp"
GROWTH, SPEED = "more clauses", "speed"
DATA = (*CONCEPTS, GROWTH, *ilp_facts.TASKS, ilp_stays.NAME, ilp_years.NAME, SPEED)
SIZES = (25, 50, 75, 100, 150, 250, 500, 1_000, 1_500, 2_500, 5_000, 10_000, 25_000, 50_000, 100_000)
_QUICK_SIZES = (50, 100, 150, 250, 500, 1_000, 1_500, 2_500, 5_000, 10_000)
GROWTH_SIZES = (250, 2_500, 25_000)
_QUICK_GROWTH_SIZES = (250, 2_500)
_PROCESSES = 2


@dataclass(frozen=True)
class Request:
    """What to measure: ``None`` is everything.

    Attributes
    ----------
    quick : bool
        Two training sets of each size, up to 10,000 trains, and two splits.
    """

    data: Sequence[str] | None = None
    methods: Sequence[str] | None = None
    quick: bool = False

    @property
    def concepts(self) -> list[tuple[Concept, Sequence[int]]]:
        """Concepts with the sizes of their training sets."""
        found: list[tuple[Concept, Sequence[int]]] = []
        sizes, growth_sizes = SIZES, GROWTH_SIZES
        if self.quick:
            sizes, growth_sizes = _QUICK_SIZES, _QUICK_GROWTH_SIZES
        found += [(CONCEPTS[name], sizes) for name in CONCEPTS if self.wants(name)]
        if self.wants(GROWTH):
            found += [(concept, growth_sizes) for concept in GROWING.values()]
        return found

    def wants(self, name: str) -> bool:
        """Whether a part was asked for."""
        return self.data is None or name in self.data

    @property
    def facts(self) -> list[str]:
        """Published data sets that were asked for."""
        return [name for name in ilp_facts.TASKS if self.wants(name)]

    @property
    def chosen_methods(self) -> list[str]:
        """In the order of the methods; the one without privacy is always shown."""
        asked = self.methods or METHODS
        return [method for method in METHODS if method in asked or method == NON_PRIVATE]

    @property
    def sets(self) -> int:
        """Training sets of each size."""
        return 2 if self.quick else 10

    @property
    def fits(self) -> int:
        """Fits of each method to each training set."""
        return 5


def measure(request: Request) -> list[Results]:
    """Fit every method to training sets of every size.

    Training sets come from public seeds; noise comes from the secure source, so figures move
    from call to call.
    """
    found = {concept.name: Results(concept.name, tuple(sizes), guess(concept)) for concept, sizes in request.concepts}
    for name, batch in _scores(request):
        found[name].add(batch)
    return list(found.values())


def _scores(request: Request) -> Iterator[tuple[str, list[Score]]]:
    """Every score, training set by training set, from two processes at a time."""
    context = multiprocessing.get_context("spawn")
    futures: dict[Future[list[Score]], str] = {}
    with ProcessPoolExecutor(_PROCESSES, mp_context=context) as pool:
        for concept, sizes in request.concepts:
            for size in sorted(sizes, reverse=True):
                for number in range(request.sets):
                    given = concept.name, size, number, request.chosen_methods, request.fits
                    futures[pool.submit(_batch, *given)] = concept.name
        console = Console(stderr=True)
        try:
            for done in track(as_completed(futures), "Training sets", len(futures), console=console):
                done.result()
        except BaseException:
            pool.shutdown(cancel_futures=True)
            raise
        for future, name in futures.items():
            yield name, future.result()


def _batch(name: str, size: int, number: int, methods: Sequence[str], fits: int) -> list[Score]:
    return scores({**CONCEPTS, **GROWING}[name], size, number, methods, fits)


def records(results: Sequence[Results]) -> Iterator[Record]:
    """Every figure beside the guess that all trains go east, and the goals."""
    for found in results:
        for size in found.sizes:
            for method in found.methods:
                mean, error = found.accuracy(method, size)
                yield Record(
                    SUITE,
                    f"{found.concept}, {size:,} trains",
                    method,
                    float(EPSILON),
                    "accuracy on test trains",
                    mean,
                    error,
                    len(found.values(method, size)),
                    found.guess,
                    "all trains east",
                )
        for method in found.methods:
            size = found.reached(method)
            if found.concept in CONCEPTS and size is not None:
                yield Record(
                    SUITE,
                    found.concept,
                    method,
                    float(EPSILON),
                    REACHED,
                    size,
                    float("nan"),
                    len(found.values(method, size)),
                    None,
                    "",
                )
        for bar in BARS:
            figure = bar.figure(found) if found.concept in CONCEPTS else None
            if figure is not None:
                yield Record(
                    SUITE,
                    found.concept,
                    bar.method,
                    float(EPSILON),
                    bar.what,
                    figure,
                    float("nan"),
                    1,
                    bar.goal,
                    "goal",
                )
