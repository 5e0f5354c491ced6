"""Private trees and forests: accuracy over epsilons in cross-validation, seconds, growth."""

from __future__ import annotations

import itertools
import math
import multiprocessing
from collections.abc import Iterator, Sequence
from concurrent.futures import Future, ProcessPoolExecutor, as_completed
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from rich.console import Console
from rich.progress import track

from benchmarks import trees_growth
from benchmarks.cross_validation import fold, p_value
from benchmarks.records import Record, summarise, timed
from benchmarks.trees_methods import (
    ADAPTIVE_FOREST,
    HOUSE,
    PLAIN,
    PRIVATE,
    RANDOM_TREES,
    Score,
    score_fold,
)
from benchmarks.trees_peers import METHODS as PEERS
from benchmarks.trees_peers import best_encodings, score_peers
from benchmarks.trees_results import Results, Seconds, peer_of
from dpcore.errors import BudgetError, RequestError

SUITE = "trees"
DATA = ("adult", "adult_categorical", "mushroom", "nursery")
METHODS = (*PRIVATE, *PEERS, *PLAIN)
EPSILONS = (0.01, 0.03, 0.05, 0.07, 0.1, 0.2, 0.3, 0.5, 0.7, 1.0, 3.0, 10.0)
_QUICK_EPSILONS = (0.01, 0.1, 1.0)
_TIMED_EPSILONS = (0.1, 1.0)
_PROCESSES = 2
_GOAL = (0.01, 0.05, 0.2, 1.0)
_EARLIER = (0.01, 0.1, 0.5, 1.0, 3.0, 10.0)
_PEER = "diffprivlib 0.6.6, earlier run"
#: Rival accuracies and goals by method and data set: source, epsilons, accuracies.
REFERENCES: dict[tuple[str, str], tuple[str, tuple[float, ...], tuple[float, ...]]] = {
    (HOUSE, "adult"): ("goal", _GOAL, (0.80, 0.81, 0.82, 0.825)),
    (HOUSE, "mushroom"): ("goal", _GOAL, (0.88, 0.96, 0.99, 0.998)),
    (HOUSE, "nursery"): ("goal", _GOAL, (0.70, 0.81, 0.85, 0.86)),
    (PEERS[0], "adult"): (_PEER, _EARLIER, (0.764, 0.767, 0.768, 0.768, 0.768, 0.768)),
    (PEERS[1], "adult"): (_PEER, _EARLIER, (0.761, 0.761, 0.761, 0.761, 0.761, 0.761)),
    (PEERS[0], "mushroom"): (_PEER, _EARLIER, (0.769, 0.789, 0.794, 0.779, 0.791, 0.784)),
    (PEERS[1], "mushroom"): (_PEER, _EARLIER, (0.690, 0.803, 0.795, 0.822, 0.796, 0.828)),
    (PEERS[0], "nursery"): (_PEER, _EARLIER, (0.484, 0.526, 0.540, 0.508, 0.500, 0.529)),
    (PEERS[1], "nursery"): (_PEER, _EARLIER, (0.370, 0.572, 0.578, 0.570, 0.596, 0.572)),
}


@dataclass(frozen=True)
class Request:
    """What to measure: ``None`` is everything.

    Attributes
    ----------
    quick : bool
        Two folds, three epsilons, and the two smallest sizes of the growth part.
    repeats : int
        Cross-validations, each with another shuffle.
    peers : Path or None
        Interpreter of an environment with diffprivlib.
    """

    data: Sequence[str] | None = None
    epsilons: Sequence[float] | None = None
    methods: Sequence[str] | None = None
    quick: bool = False
    repeats: int = 1
    peers: Path | None = None

    @property
    def names(self) -> list[str]:
        """Data sets of the cross-validation, in the order of :data:`DATA`."""
        return [name for name in DATA if self.data is None or name in self.data]

    @property
    def chosen_epsilons(self) -> list[float]:
        """Increasing, each once."""
        return sorted(set(self.epsilons or (_QUICK_EPSILONS if self.quick else EPSILONS)))

    @property
    def timed_epsilons(self) -> list[float]:
        """Where seconds are measured."""
        asked = self.chosen_epsilons
        return [e for e in _TIMED_EPSILONS if e in asked] or [asked[len(asked) // 2]]

    @property
    def chosen_methods(self) -> list[str]:
        """Methods that can be run, in the order of :data:`METHODS`."""
        possible = [m for m in METHODS if m not in PEERS or self.peers is not None]
        return [m for m in possible if self.methods is None or m in self.methods]

    @property
    def chosen_peers(self) -> list[str]:
        """The peers among them."""
        return [method for method in self.chosen_methods if method in PEERS]

    @property
    def folds(self) -> int:
        """Folds of each cross-validation."""
        return 2 if self.quick else 10

    @property
    def wants_growth(self) -> bool:
        """Whether the growth part was asked for."""
        if self.data is not None:
            return trees_growth.DATA in self.data
        return self.methods is None


def measure(request: Request) -> list[Results]:
    """Cross-validate every method on every data set, then time single fits.

    Accuracies come from two processes at a time; seconds from one fit at a time, afterwards.
    Noise comes from the secure source, so figures move within their standard errors.
    """
    results = {name: Results(name, request.chosen_epsilons) for name in request.names}
    for name, scores in _cross_validated(request):
        results[name].add(scores)
    for name, found in results.items():
        found.sort()
        found.seconds = _seconds(name, request)
    return list(results.values())


def _cross_validated(request: Request) -> Iterator[tuple[str, Sequence[Score]]]:
    context = multiprocessing.get_context("spawn")
    futures: dict[Future[list[Score]], str] = {}
    with ProcessPoolExecutor(_PROCESSES, mp_context=context) as pool:
        for name in request.names:
            if request.chosen_peers:
                futures[pool.submit(_peer_scores, request, name)] = name
            for repeat, number in itertools.product(range(request.repeats), range(request.folds)):
                futures[pool.submit(_fold_scores, request, name, repeat, number)] = name
        console = Console(stderr=True)
        try:
            for done in track(as_completed(futures), "Folds", len(futures), console=console):
                yield futures[done], done.result()
        except BaseException:
            pool.shutdown(cancel_futures=True)
            raise


def _fold_scores(request: Request, name: str, repeat: int, number: int) -> list[Score]:
    methods, epsilons = request.chosen_methods, request.chosen_epsilons
    return score_fold(name, request.folds, repeat, number, methods, epsilons)


def _peer_scores(request: Request, name: str) -> list[Score]:
    assert request.peers is not None
    found = score_peers(request.peers, name, request.folds, request.repeats, request.chosen_epsilons)
    return [
        Score(peer.method, peer.epsilon, peer.repeat, peer.fold, peer.accuracy, peer.seconds, note=peer.encoding)
        for peer in best_encodings(found)
        if peer.method in request.chosen_peers
    ]


def _seconds(name: str, request: Request) -> Seconds:
    """Seconds of single fits on the first fold, one at a time; each method warms up first."""
    fits = 1 if request.quick else 3
    data = fold(name, request.folds, 0, 0)
    found: Seconds = {}
    for method, epsilon in _timed_cells(request):
        way = PRIVATE.get(method) or PLAIN[method]
        try:
            runs = [way.fit(data, epsilon or 0.0)[1] for _ in range(fits + 1)]
        except (RequestError, BudgetError):
            continue
        found[method, epsilon] = runs[1:]
    if request.peers is not None and request.chosen_peers:
        timed = request.timed_epsilons
        scores = score_peers(request.peers, name, request.folds, fits, timed, only_first=True)
        for peer in best_encodings(scores):
            if peer.method in request.chosen_peers:
                found.setdefault((peer.method, peer.epsilon), []).append(peer.seconds)
    return found


def _timed_cells(request: Request) -> Iterator[tuple[str, float | None]]:
    for method in request.chosen_methods:
        if method in PRIVATE:
            yield from ((method, epsilon) for epsilon in request.timed_epsilons)
        elif method in PLAIN:
            yield method, None


def records(results: Sequence[Results]) -> Iterator[Record]:
    """Every figure beside its reference."""
    for found in results:
        for (method, epsilon), scores in found.scores.items():
            values = [score.accuracy for score in scores]
            yield _accuracy_record(found.data, method, epsilon, values)
            for at in [epsilon] if epsilon is not None else found.epsilons:
                yield from _rival_records(found, method, at)
        for (method, epsilon), seconds in found.seconds.items():
            yield _seconds_record(found, method, epsilon, seconds)


def _accuracy_record(data: str, method: str, epsilon: float | None, values: list[float]) -> Record:
    source, places, figures = REFERENCES.get((method, data), ("", (), ()))
    reference = dict(zip(places, figures, strict=True)).get(epsilon or 0.0)
    mean, error = summarise(values)
    return Record(
        SUITE,
        data,
        method,
        epsilon,
        "accuracy",
        mean,
        error,
        len(values),
        reference,
        "" if reference is None else source,
    )


def _rival_records(found: Results, method: str, epsilon: float) -> Iterator[Record]:
    """How far a method is ahead of those it is tested against, and the p value of the test."""
    ours = found.at(method, epsilon)
    rivals = [] if method == HOUSE else [HOUSE]
    if method == ADAPTIVE_FOREST:
        rivals.append(RANDOM_TREES)
    for rival in rivals:
        theirs = found.at(rival, epsilon)
        if len(theirs) != len(ours):
            continue
        gap, spread = summarise(np.subtract(ours, theirs).tolist())
        shared = (SUITE, found.data, method, epsilon)
        count = len(ours)
        yield Record(*shared, f"accuracy minus that of {rival}", gap, spread, count, None, "")
        p = p_value(ours, theirs)
        yield Record(*shared, f"p against {rival}", p, math.nan, count, None, "paired t test over folds")


def _seconds_record(found: Results, method: str, epsilon: float | None, seconds: list[float]) -> Record:
    theirs = found.peer_seconds(method, epsilon)
    return Record(
        SUITE,
        found.data,
        method,
        epsilon,
        "seconds",
        *timed(seconds),
        theirs,
        "" if theirs is None else f"{peer_of(method)}, same run",
    )
