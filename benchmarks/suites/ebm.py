"""Boosting machines against the paper (Nori et al. 2021) and interpret, and how often their noise bands hold."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from functools import lru_cache
from typing import Any, Final
from unittest.mock import patch

import numpy as np

from benchmarks.declared import Quick, Suite
from benchmarks.problems import RARE, fifth, fitted, interpret, problem, split
from benchmarks.results import Cell, Layout, Line, Result, compared
from dpcore.arrays import Floats, Ints
from dpcore.data.building.ingest import frame_chunks, ingest
from dpcore.data.table import PrivateTable
from dpcore.privacy.randomness import RandomSource, SeededRandom
from dpcore.released.evaluation import Z95

HOUSE, _PAIRS, PAPER_MODE = "all bins", "all bins, 3 pairs", "random splits (paper)"
PEER, _PLAIN, _CONSTANT = "interpret DP-EBM", "interpret EBM, not private", "constant"
PAPER: Final = "paper"
#: Delta of every private fit.
DELTA: Final = "1e-5"
#: Parameters of our methods; the rest stays at the house defaults.
_METHODS: Final[dict[str, dict[str, Any]]] = {HOUSE: {}, _PAIRS: {"pairs": 3}, PAPER_MODE: {"method": "random_splits"}}
_EPSILONS: Final = (0.5, 1.0, 2.0, 4.0, 8.0)
#: The paper's figures at each epsilon and without privacy, their standard deviations over five splits, and one unit of
#: the last digit printed.
PUBLISHED: Final = {
    "adult": ((0.874, 0.883, 0.888, 0.890, 0.893, 0.928), (0.004, 0.005, 0.005, 0.005, 0.004, 0.004), 0.001),
    "telco_churn": ((0.826, 0.828, 0.829, 0.830, 0.832, 0.845), (0.017, 0.018, 0.016, 0.017, 0.016, 0.013), 0.001),
    "california_housing": ((79479, 75843, 73081, 72603, 72395, 57038), (2019, 1055, 635, 805, 782, 380), 1),
    "wine_quality": ((0.938, 0.822, 0.776, 0.742, 0.729, 0.702), (0.012, 0.034, 0.012, 0.015, 0.009, 0.014), 0.001),
    "elevators": ((0.006, 0.005, 0.005, 0.004, 0.004, 0.002), (0.002, 0.0, 0.0, 0.0, 0.0, 0.0), 0.001),
}
_CLASSES: Final = ("adult", "telco_churn")


def _measure(cell: Cell, _: Mapping[str, Any]) -> dict[str, float]:
    own = split(cell.data, fifth, cell.seed)
    if cell.method == _CONSTANT:
        return own.score(np.full(int(own.apart.sum()), own.one.truth[own.learn].mean()))
    if cell.method in _METHODS:
        fit = fitted(own.table, "ebm", cell.epsilon, {**_METHODS[cell.method], "delta": DELTA}, warm=True)
        predicted = fit.chances(own.frame)[:, 1] if own.one.bounds is None else fit.predicted(own.frame)
        return own.score(predicted) | {"seconds": fit.seconds}
    found = interpret(own, cell.epsilon, float(DELTA), warm=True)
    return own.score(found["scores"]) | {"seconds": float(found["seconds"])}


def _published() -> Iterator[Result]:
    for data, (figures, spreads, _) in PUBLISHED.items():
        for epsilon, figure, spread in zip((*_EPSILONS, None), figures, spreads, strict=True):
            metric = "AUC" if data in _CLASSES else "RMSE"
            yield Result(data, PAPER, epsilon, metric, figure, spread / math.sqrt(5))


def _beside(lines: Sequence[Line], results: Sequence[Result]) -> Iterator[Result]:
    for metric in ("AUC", "RMSE"):
        yield from compared(lines, metric, PEER, lower=metric == "RMSE")
    for result in results:
        if result.metric in ("AUC", "RMSE") and result.method in (HOUSE, PAPER_MODE) and result.epsilon in _EPSILONS:
            yield beside_paper(result)


def beside_paper(result: Result) -> Result:
    """By how much it is better than the paper's figure; marked if by more than two standard errors of the difference.

    Half a unit of the last digit that the paper prints is allowed on top.
    """
    figures, spreads, step = PUBLISHED[result.data]
    place, sign = _EPSILONS.index(result.epsilon or 0), 1 if result.metric == "AUC" else -1
    gap = sign * (result.value - figures[place])
    error = math.hypot(result.spread, spreads[place] / math.sqrt(5))
    mark = "=" if math.isnan(error) or abs(gap) <= 2 * error + step / 2 else "+" if gap > 0 else "-"
    metric = f"{result.metric}, better than the paper by"
    return Result(result.data, result.method, result.epsilon, metric, gap, error, result.n, mark)


_SHOWN: Final = {"rows": ("data", "method"), "columns": ("epsilon",)}

EBM = Suite(
    "ebm",
    _measure,
    tuple(PUBLISHED),
    (*_METHODS, PEER, _PLAIN, _CONSTANT),
    [
        Layout(**_SHOWN, metrics=("AUC", "RMSE"), title="AUC (higher is better), RMSE (lower is better)"),
        *(
            Layout(**_SHOWN, metrics=(f"AUC, {rival}", f"RMSE, {rival}"), title=rival[0].upper() + rival[1:])
            for rival in (f"better than {PEER} by", "better than the paper by")
        ),
        Layout(**_SHOWN, metrics=("seconds",), title="Seconds of a fit, median", spread=False),
    ],
    _EPSILONS,
    seeds=5,
    plain=(_PLAIN, _CONSTANT),
    programs={PEER: "interpret", _PLAIN: "interpret"},
    quick=Quick(epsilons=(1.0, 4.0), methods=(HOUSE, PAPER_MODE, PEER, _CONSTANT)),
    published=tuple(_published()),
    conclude=_beside,
)


class _Silent(SeededRandom):
    """A source whose Gaussian noise is zero."""

    def gaussian_noise(self, scale: float, count: int) -> Ints:  # noqa: ARG002
        return np.zeros(count, dtype=np.int64)


def _silent_replicates(_: RandomSource, count: int) -> list[RandomSource]:
    """Sources without noise for all replicates: only the histograms keep theirs."""
    return [_Silent(0) for _ in range(count)]


def _measure_coverage(cell: Cell, _: Mapping[str, Any]) -> dict[str, float]:
    """Share of the bins whose band holds the score of the same schedule, bins and counts without noise of the sums."""
    table = _records(cell.data)
    scores, errors = _bins(table, cell)
    with patch.object(SeededRandom, "parts", _silent_replicates):
        quiet, _ = _bins(table, cell)
    return {"coverage": float(np.mean(np.abs(scores - quiet) <= Z95 * errors))}


@lru_cache(maxsize=16)
def _records(name: str) -> PrivateTable:
    if name not in RARE:
        return split(name, fifth, 0).table
    data = problem(name).data
    return ingest(frame_chunks(data.frame), data.schema, SeededRandom(0))


def _bins(table: PrivateTable, cell: Cell) -> tuple[Floats, ...]:
    """Scores of all bins of all terms, and their standard errors."""
    model = fitted(table, "ebm", cell.epsilon, {"delta": DELTA}, seed=cell.seed).model
    terms = [[np.ravel(getattr(term, part)) for term in model.terms] for part in ("scores", "errors")]
    return tuple(np.concatenate(own) for own in terms)


COVERAGE = Suite(
    "ebm-coverage",
    _measure_coverage,
    (*PUBLISHED, *RARE),
    (HOUSE,),
    [Layout(rows=("data",), columns=("epsilon",), digits=3)],
    (0.5, 1.0, 4.0),
    seeds=10,
    quick=Quick(data=("telco_churn",)),
)
