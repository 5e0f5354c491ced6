"""What the suite of redescriptions measured on one data set, beside what others reported."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, field

import numpy as np

from benchmarks.records import summarise
from benchmarks.redescriptions_data import CMS, MAMMALS, NPAS
from benchmarks.redescriptions_runs import EXPM, GREEDY, HOUSE, MCMC, PAIR, USUAL, Reading, Run
from dpcore.arrays import Flags, Floats

SOURCE = "Mihelčić and Miettinen 2023"
#: Noisy support from which the paper keeps redescriptions (its Appendix C.3).
PAPER_SUPPORT = {CMS: 1000.0, MAMMALS: 500.0, NPAS: 200.0}
#: Largest p-value of a redescription that counts as significant.
SIGNIFICANT = 0.01
PROGRAM = "the authors' program, one earlier run"


@dataclass(frozen=True)
class Reported:
    """What the authors' program said of all that it found: means over its redescriptions.

    Attributes
    ----------
    noisy, exact, error : float
        Jaccard index as said, the true one, and how far they are apart.
    """

    found: int | None
    noisy: float
    exact: float
    error: float | None


#: Single runs of the authors' program, by data set, epsilon and method.
REPORTED: dict[tuple[str, float, str], Reported] = {
    (MAMMALS, 10.0, EXPM): Reported(195, 0.541, 0.483, 0.077),
    (MAMMALS, 10.0, MCMC): Reported(212, 0.616, 0.578, 0.070),
    (MAMMALS, 10.0, PAIR): Reported(82, 0.440, 0.384, 0.064),
    (MAMMALS, 1.0, EXPM): Reported(312, 0.761, 0.341, 0.440),
    (MAMMALS, 1.0, MCMC): Reported(222, 0.755, 0.362, 0.411),
    (MAMMALS, 1.0, PAIR): Reported(144, 0.694, 0.317, 0.383),
    (MAMMALS, 0.1, EXPM): Reported(179, 0.717, 0.158, 0.599),
    (MAMMALS, 0.1, MCMC): Reported(140, 0.729, 0.198, 0.562),
    (MAMMALS, 0.1, PAIR): Reported(92, 0.710, 0.268, 0.501),
    (CMS, 1.0, EXPM): Reported(None, 0.54, 0.08, None),
    (CMS, 1.0, MCMC): Reported(None, 0.50, 0.21, None),
    (CMS, 1.0, PAIR): Reported(None, 0.44, 0.17, None),
}


@dataclass(frozen=True)
class Figures:
    """Redescriptions of several runs, pooled; NaN where there are none.

    Attributes
    ----------
    found, kept : float
        Redescriptions per run, before and after pruning.
    significant : float
        Share of those kept whose exact p-value is below :data:`SIGNIFICANT`.
    noisy, exact : float
        Mean Jaccard index as said, and the exact one.
    quartiles : (float, float, float)
        Of the exact Jaccard index.
    error : float
        Mean distance between noisy and exact Jaccard index.
    held : float
        Share of the intervals of the Jaccard index that hold the exact one.
    empty : int
        Runs of which nothing is kept.
    """

    runs: int
    found: float
    kept: float
    significant: float
    noisy: float
    exact: float
    quartiles: tuple[float, float, float]
    error: float
    held: float
    empty: int

    @property
    def median(self) -> float:
        """Of the exact Jaccard index."""
        return self.quartiles[1]


def pooled(readings: Sequence[Reading], support: float | None = None) -> Figures:
    """Figures of several readings from some noisy support on; ``None``: the suggested one."""
    masks = [reading.kept(support) for reading in readings]
    exact, noisy, p_value, held = (
        np.concatenate([getattr(r, name)[mask] for r, mask in zip(readings, masks, strict=True)])
        for name in ("exact", "noisy", "p_value", "held")
    )
    low, median, high = np.quantile(exact, (0.25, 0.5, 0.75)) if len(exact) else [math.nan] * 3
    return Figures(
        runs=len(readings),
        found=float(np.mean([len(mask) for mask in masks])),
        kept=float(np.mean([mask.sum() for mask in masks])),
        significant=_mean(p_value < SIGNIFICANT),
        noisy=_mean(noisy),
        exact=_mean(exact),
        quartiles=(float(low), float(median), float(high)),
        error=_mean(np.abs(noisy - exact)),
        held=_mean(held),
        empty=sum(not mask.any() for mask in masks),
    )


def _mean(values: Flags | Floats) -> float:
    return float(np.mean(values)) if len(values) else math.nan


@dataclass
class Results:
    """Every run on one data set.

    Attributes
    ----------
    runs : dict
        By method and epsilon (``None`` without privacy).
    seconds : dict
        Of runs that were timed one at a time, by method and epsilon.
    """

    data: str
    epsilons: list[float]
    planted: int = 0
    runs: dict[tuple[str, float | None], list[Run]] = field(default_factory=dict)
    seconds: dict[tuple[str, float | None], list[float]] = field(default_factory=dict)

    def add(self, run: Run) -> None:
        """Take in a run."""
        self.runs.setdefault((run.method, run.epsilon), []).append(run)

    def readings(self, method: str, epsilon: float | None, reading: str = USUAL) -> list[Reading]:
        """One reading of every run."""
        runs = self.runs.get((method, epsilon), [])
        return [run.readings[reading] for run in runs if reading in run.readings]

    def cells(self) -> list[tuple[str, float | None]]:
        """Methods and epsilons that were run: the largest epsilon first, methods in order."""
        order = [*sorted(self.epsilons, reverse=True), None]
        return [cell for epsilon in order for cell in self.runs if cell[1] == epsilon]

    def greedy(self, support: float) -> Figures | None:
        """What the greedy search without privacy finds with at least this support."""
        readings = self.readings(GREEDY, None)
        return pooled(readings, support) if readings else None

    def ratio(self, method: str, epsilon: float | None) -> float:
        """Median exact Jaccard index over that of the greedy search, from the same support on."""
        readings = self.readings(method, epsilon)
        best = self.greedy(readings[0].suggested) if readings else None
        return pooled(readings).median / best.median if best is not None else math.nan

    def recovered(self, method: str, epsilon: float | None) -> tuple[float, float]:
        """Planted redescriptions per run that were recovered, and the standard error."""
        return summarise([run.recovered for run in self.runs[method, epsilon]])


@dataclass(frozen=True)
class Bar:
    """What the house method has to reach on a data set at an epsilon."""

    data: str
    epsilon: float
    what: str
    least: float | None = None
    most: float | None = None

    def figure(self, found: Results) -> float | None:
        """The figure that was measured; ``None`` if it was not."""
        readings = found.readings(HOUSE, self.epsilon)
        if found.data != self.data or not readings:
            return None
        if self.what == RATIO:
            return found.ratio(HOUSE, self.epsilon)
        return float(getattr(pooled(readings), _ATTRIBUTES[self.what]))

    @property
    def goal(self) -> float:
        """The number that must be reached, or not be exceeded."""
        goal = self.least if self.most is None else self.most
        assert goal is not None
        return goal

    def holds(self, figure: float) -> bool:
        """Whether it is reached; NaN reaches nothing."""
        return figure < self.goal if self.most is not None else figure >= self.goal


MEDIAN, SHARE, ERROR, RATIO = (
    "median true Jaccard index",
    "share with a true p < .01",
    "mean error of the Jaccard index",
    "median over that without privacy",
)
_ATTRIBUTES = {MEDIAN: "median", SHARE: "significant", ERROR: "error"}
BARS = (
    Bar(CMS, 1.0, MEDIAN, least=0.6),
    Bar(CMS, 1.0, SHARE, least=0.9),
    Bar(CMS, 1.0, ERROR, most=0.02),
    Bar(CMS, 1.0, RATIO, least=0.8),
    Bar(CMS, 0.1, SHARE, least=0.7),
)
