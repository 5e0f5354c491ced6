"""What the suite of boosting machines measured on one data set, beside the paper's figures."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field

import numpy as np
from rich.table import Table

from benchmarks.ebm_fits import HOUSE, PAPER_MODE, PRIVATE, Fit
from benchmarks.ebm_splits import AUC
from benchmarks.peer_interpret import PLAIN
from benchmarks.peer_interpret import PRIVATE as PEER
from benchmarks.records import summarise
from benchmarks.report import Part

SOURCE = "Nori et al. 2021"
PAPER_EPSILONS = (0.5, 1.0, 2.0, 4.0, 8.0)
_PAPER_SPLITS = 5


@dataclass(frozen=True)
class Published:
    """One figure of the paper, and its standard error over the paper's five splits."""

    figure: float
    error: float


@dataclass(frozen=True)
class Figures:
    """The paper's figures on one data set, as printed.

    Attributes
    ----------
    private : tuple of float
        DP-EBM at each of :data:`PAPER_EPSILONS`.
    spreads : tuple of float
        Standard deviations over splits, of the private figures and then of the plain one.
    plain : float
        EBM without privacy.
    step : float
        One unit of the last digit printed.
    """

    private: tuple[float, ...]
    spreads: tuple[float, ...]
    plain: float
    step: float

    def at(self, method: str, epsilon: float | None) -> Published | None:
        """The figure that one of the methods is set beside, if the paper has one."""
        if method == PLAIN:
            return self._published(self.plain, self.spreads[-1])
        if epsilon not in PAPER_EPSILONS:
            return None
        place = PAPER_EPSILONS.index(epsilon)
        return self._published(self.private[place], self.spreads[place])

    def _published(self, figure: float, spread: float) -> Published:
        return Published(figure, spread / math.sqrt(_PAPER_SPLITS))


#: By data set; the paper's tables of classification and regression.
PAPER = {
    "adult": Figures((0.874, 0.883, 0.888, 0.890, 0.893), (0.004, 0.005, 0.005, 0.005, 0.004, 0.004), 0.928, 0.001),
    "telco_churn": Figures(
        (0.826, 0.828, 0.829, 0.830, 0.832), (0.017, 0.018, 0.016, 0.017, 0.016, 0.013), 0.845, 0.001
    ),
    "california_housing": Figures((79479, 75843, 73081, 72603, 72395), (2019, 1055, 635, 805, 782, 380), 57038, 1),
    "wine_quality": Figures(
        (0.938, 0.822, 0.776, 0.742, 0.729), (0.012, 0.034, 0.012, 0.015, 0.009, 0.014), 0.702, 0.001
    ),
    "elevators": Figures((0.006, 0.005, 0.005, 0.004, 0.004), (0.002, 0.0, 0.0, 0.0, 0.0, 0.0), 0.002, 0.001),
}


@dataclass
class Results:
    """Every fit on one data set.

    Attributes
    ----------
    metric : str
        ``AUC``, better if higher, or ``RMSE``, better if lower.
    encoding : list of float
        Seconds of encoding the training records of each split.
    fits : dict
        By method and epsilon (``None`` without privacy), in the order of the splits.
    """

    data: str
    metric: str
    epsilons: list[float]
    encoding: list[float] = field(default_factory=list)
    fits: dict[tuple[str, float | None], list[Fit]] = field(default_factory=dict)

    def add(self, fits: Sequence[Fit]) -> None:
        """Take in fits; those of one method and epsilon come in the order of the splits."""
        for fit in fits:
            self.fits.setdefault((fit.method, fit.epsilon), []).append(fit)

    @property
    def methods(self) -> list[str]:
        """Methods that were fitted."""
        return list(dict.fromkeys(method for method, _ in self.fits))

    def figures(self, method: str, epsilon: float | None) -> list[float]:
        """AUC or RMSE of each split."""
        return [fit.figure for fit in self.fits.get((method, epsilon), [])]

    def seconds(self, method: str, epsilon: float | None) -> list[float]:
        """Seconds of each fit."""
        return [fit.seconds for fit in self.fits.get((method, epsilon), [])]

    def gap(self, method: str, epsilon: float | None) -> tuple[float, float] | None:
        """By how much one of our methods is better than interpret on the same splits, and the
        standard error of that.
        """
        ours, theirs = self.figures(method, epsilon), self.figures(PEER, epsilon)
        if method not in PRIVATE or not ours or not theirs:
            return None
        return summarise((self._sign * np.subtract(ours, theirs)).tolist())

    def margin(self, epsilon: float | None) -> float | None:
        """By how much the house method is better than the better of the paper and interpret.

        ``None`` unless all three are known.
        """
        ours, theirs = self.figures(HOUSE, epsilon), self.figures(PEER, epsilon)
        paper = PAPER[self.data].at(HOUSE, epsilon)
        if not ours or not theirs or paper is None:
            return None
        rivals = (paper.figure, float(np.mean(theirs)))
        return min(self._sign * (float(np.mean(ours)) - rival) for rival in rivals)

    def departure(self, epsilon: float) -> str:
        """``+`` if the paper's method is better than the paper by more than two standard errors.

        ``-`` if it is worse by as much, else nothing. The standard error is that of the
        difference; half a unit of the last digit that the paper prints is allowed on top.
        """
        paper, ours = PAPER[self.data].at(PAPER_MODE, epsilon), self.figures(PAPER_MODE, epsilon)
        if paper is None or len(ours) < 2:
            return ""
        mean, error = summarise(ours)
        allowed = 2 * math.hypot(error, paper.error) + PAPER[self.data].step / 2
        gap = self._sign * (mean - paper.figure)
        return "" if abs(gap) <= allowed else "+" if gap > 0 else "-"

    @property
    def _sign(self) -> int:
        return 1 if self.metric == AUC else -1


def parts(results: Sequence[Results], order: Sequence[str]) -> Iterator[Part]:
    """Figures and seconds for each data set."""
    for found in results:
        methods = [method for method in order if method in found.methods]
        yield _figure_table(found, methods)
        timed = [m for m in methods if any((m, epsilon) in found.fits for epsilon in found.epsilons)]
        if timed:
            yield _seconds_table(found, timed)
    yield (
        f"Mean over the splits ± its standard error; the paper's: {SOURCE}.\n"
        f"  !    {HOUSE}: not better than both the paper and {PEER} of this run\n"
        f"  + -  {PAPER_MODE}: better or worse than the paper by more than two standard errors "
        "of the difference\n"
        "Seconds are of single fits, one at a time; in brackets: divided by those of "
        f"{PEER} in this run.\nIts fits include encoding the records, which ours share: see "
        "the title of each table of seconds."
    )


def _figure_table(found: Results, methods: Sequence[str]) -> Table:
    splits = max(len(fits) for fits in found.fits.values())
    better = "higher" if found.metric == AUC else "lower"
    title = f"{found.data}: {found.metric}, {better} is better ({splits} splits)"
    table = _table(title, found.epsilons)
    table.add_column("not private", justify="right", no_wrap=True)
    for method in methods:
        cells = [_figure_cell(found, method, epsilon) for epsilon in found.epsilons]
        table.add_row(method, *cells, _spread_text(found.figures(method, None)))
    paper = PAPER[found.data]
    places = [(PAPER_MODE, epsilon) for epsilon in found.epsilons]
    table.add_row("paper", *(_published_text(paper, *place) for place in [*places, (PLAIN, None)]))
    return table


def _figure_cell(found: Results, method: str, epsilon: float) -> str:
    margin = found.margin(epsilon) if method == HOUSE else None
    mark = "!" if margin is not None and margin <= 0 else ""
    if method == PAPER_MODE:
        mark = found.departure(epsilon)
    return f"{_spread_text(found.figures(method, epsilon))} {mark}".rstrip()


def _spread_text(figures: list[float]) -> str:
    if not figures:
        return ""
    mean, error = summarise(figures)
    digits = _digits(mean)
    return f"{mean:.{digits}f}" + ("" if math.isnan(error) else f" ± {error:.{digits}f}")


def _published_text(paper: Figures, method: str, epsilon: float | None) -> str:
    published, digits = paper.at(method, epsilon), round(-math.log10(paper.step))
    if published is None:
        return ""
    return f"{published.figure:.{digits}f} ± {published.error:.{_digits(published.figure)}f}"


def _digits(figure: float) -> int:
    """Decimals that tell methods apart: none for dollars."""
    if figure >= 10:
        return 0
    return 4 if figure >= 0.1 else 5


def _seconds_table(found: Results, methods: Sequence[str]) -> Table:
    encoding = float(np.median(found.encoding)) if found.encoding else math.nan
    title = f"{found.data}: seconds per fit (median); encoding the records {encoding:.2f}"
    table = _table(title, found.epsilons)
    for method in methods:
        table.add_row(method, *(_seconds_cell(found, method, e) for e in found.epsilons))
    return table


def _seconds_cell(found: Results, method: str, epsilon: float) -> str:
    ours, theirs = found.seconds(method, epsilon), found.seconds(PEER, epsilon)
    if not ours:
        return ""
    median = float(np.median(ours))
    ratio = f" ({median / float(np.median(theirs)):.2f})" if theirs and method != PEER else ""
    return f"{median:.3f}{ratio}"


def _table(title: str, epsilons: Sequence[float]) -> Table:
    table = Table(title=title, padding=(0, 0, 0, 1), pad_edge=False)
    table.add_column("epsilon", no_wrap=True)
    for epsilon in epsilons:
        table.add_column(f"{epsilon:g}", justify="right", no_wrap=True)
    return table
