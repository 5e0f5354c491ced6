"""Boosting machines against the paper and interpret: AUC or RMSE over epsilons, seconds."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from rich.console import Console
from rich.progress import track

from benchmarks import ebm_growth
from benchmarks.ebm_fits import CONSTANT, DELTA, HOUSE, PAIRS, PAPER_MODE, PRIVATE, fit_split
from benchmarks.ebm_peers import METHODS as PEERS
from benchmarks.ebm_peers import peer_fits
from benchmarks.ebm_results import PAPER, PAPER_EPSILONS, SOURCE, Results
from benchmarks.ebm_splits import split, whole
from benchmarks.records import Record, summarise, timed

SUITE = "ebm"
DATA = ("adult", "telco_churn", "california_housing", "wine_quality", "elevators")
METHODS = (HOUSE, PAIRS, PAPER_MODE, *PEERS, CONSTANT)
_QUICK_EPSILONS = (1.0, 4.0)
_QUICK_METHODS = (HOUSE, PAPER_MODE, PEERS[0], CONSTANT)
_WARM_UP = 1.0


@dataclass(frozen=True)
class Request:
    """What to measure: ``None`` is everything.

    Attributes
    ----------
    quick : bool
        Two splits, two epsilons, no pairs, nothing slow, and the smallest size of the growth part.
    peers : Path or None
        Interpreter of an environment with interpret.
    """

    data: Sequence[str] | None = None
    epsilons: Sequence[float] | None = None
    methods: Sequence[str] | None = None
    quick: bool = False
    peers: Path | None = None

    @property
    def names(self) -> list[str]:
        """Data sets to fit, in the order of :data:`DATA`."""
        return [name for name in DATA if self.data is None or name in self.data]

    @property
    def chosen_epsilons(self) -> list[float]:
        """Increasing, each once."""
        return sorted(set(self.epsilons or (_QUICK_EPSILONS if self.quick else PAPER_EPSILONS)))

    @property
    def chosen_methods(self) -> list[str]:
        """Methods that can be run, in the order of :data:`METHODS`."""
        asked = self.methods or (_QUICK_METHODS if self.quick else METHODS)
        return [m for m in METHODS if m in asked and (m not in PEERS or self.peers is not None)]

    @property
    def splits(self) -> int:
        """Random splits of each data set."""
        return 2 if self.quick else 5

    @property
    def wants_growth(self) -> bool:
        """Whether the growth part was asked for."""
        if self.data is not None:
            return ebm_growth.DATA in self.data
        return self.methods is None


def measure(request: Request) -> list[Results]:
    """Fit every method on every split, one fit at a time, so that seconds can be compared.

    Noise comes from the secure source, so figures move within their standard errors.
    """
    _warm_up(request)
    return [_measured(name, request) for name in request.names]


def _warm_up(request: Request) -> None:
    """Fit each of our methods once on either kind of target, so that no fit compiles code."""
    chosen = [method for method in request.chosen_methods if method in PRIVATE]
    kinds = {whole(name).metric: name for name in request.names}
    for name in kinds.values():
        fit_split(split(name, 0), 0, chosen, [_WARM_UP])


def _measured(name: str, request: Request) -> Results:
    found = Results(name, whole(name).metric, request.chosen_epsilons)
    console, ours = Console(stderr=True), request.chosen_methods
    for number in track(range(request.splits), f"Splits of {name}", console=console):
        data = split(name, number)
        found.encoding.append(data.seconds)
        found.add(fit_split(data, number, ours, request.chosen_epsilons))
    if request.peers is not None and not set(PEERS).isdisjoint(ours):
        private = request.chosen_epsilons if PEERS[0] in ours else []
        plain, delta = PEERS[1] in ours, float(DELTA)
        found.add(peer_fits(request.peers, name, request.splits, private, delta=delta, plain=plain))
    return found


def records(results: Sequence[Results]) -> Iterator[Record]:
    """Every figure beside the paper's and interpret's."""
    for found in results:
        for method, epsilon in found.fits:
            yield from _cell_records(found, method, epsilon)
        mean, error = summarise(found.encoding)
        yield Record(
            SUITE, found.data, "encoding the records", None, "seconds", mean, error, len(found.encoding), None, ""
        )


def _cell_records(found: Results, method: str, epsilon: float | None) -> Iterator[Record]:
    figures, seconds = found.figures(method, epsilon), found.seconds(method, epsilon)
    count, shared = len(figures), (SUITE, found.data, method, epsilon)
    paper = PAPER[found.data].at(method, epsilon)
    yield Record(
        *shared,
        found.metric,
        *summarise(figures),
        count,
        None if paper is None else paper.figure,
        "" if paper is None else SOURCE,
    )
    if method != CONSTANT:
        theirs = found.seconds(PEERS[0], epsilon) if method in PRIVATE else []
        yield Record(
            *shared,
            "seconds",
            *timed(seconds)[:2],
            count,
            float(np.median(theirs)) if theirs else None,
            f"{PEERS[0]}, same run" if theirs else "",
        )
    gap = found.gap(method, epsilon)
    if gap is not None:
        yield Record(*shared, f"{found.metric} better than {PEERS[0]} by", *gap, count, 0.0, "same splits")
    margin = found.margin(epsilon) if method == HOUSE else None
    if margin is not None:
        yield Record(
            *shared,
            f"{found.metric} better than the better of both by",
            margin,
            math.nan,
            count,
            0.0,
            f"{SOURCE} and {PEERS[0]}",
        )
