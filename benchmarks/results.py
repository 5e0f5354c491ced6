"""Figures of a suite: from single measurements to results, tables of them, and their JSON files in ``results/``."""

from __future__ import annotations

import json
import math
import platform
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Final

import numpy as np
import rich.table
from scipy.stats import ttest_rel

FOLDER: Final = Path(__file__).parent / "results"
#: False-alarm rate of one paired comparison.
ALPHA: Final = 0.05
#: What stands between a method and its variant, of which the best one counts.
VARIANT: Final = " ["


@dataclass(frozen=True, order=True)
class Cell:
    """One thing to measure: a method on data, at an epsilon (``None`` without privacy), with a seed."""

    data: str
    method: str
    epsilon: float | None
    seed: int


@dataclass(frozen=True)
class Line:
    """What was measured in a cell. Only figures that are numbers are averaged over seeds."""

    cell: Cell
    figures: Mapping[str, Any]


@dataclass(frozen=True)
class Result:
    """One figure over all seeds."""

    data: str
    method: str
    epsilon: float | None
    metric: str
    value: float
    spread: float = math.nan
    """``value``, ``spread``: mean and its standard error; for times the median replaces the mean."""
    n: int = 0
    """Measurements; 0 for a published figure or a goal."""
    mark: str = ""
    """Verdict of a comparison: better ``+``, worse ``-``, neither ``=``."""

    @property
    def key(self) -> tuple[object, ...]:
        """What it is the figure of."""
        return self.data, self.method, self.epsilon, self.metric, self.n


def mean_and_error(values: Sequence[float]) -> tuple[float, float]:
    """Mean and its standard error, which is NaN for a single value."""
    spread = float(np.std(values, ddof=1) / math.sqrt(len(values))) if len(values) > 1 else math.nan
    return float(np.mean(values)), spread


def summarised(lines: Sequence[Line]) -> list[Result]:
    """Every figure that is a number over its seeds; of variants of a method, those of the best by the first figure."""
    found: dict[tuple[str, str, float | None], dict[str, list[float]]] = {}
    for line in lines:
        cell = line.cell
        own = found.setdefault((cell.data, cell.method, cell.epsilon), {})
        for metric, value in line.figures.items():
            if isinstance(value, (int, float)) and not math.isnan(value):
                own.setdefault(metric, []).append(float(value))
    results: dict[tuple[str, str, float | None], list[Result]] = {}
    for (data, method, epsilon), figures in found.items():
        base = method.partition(VARIANT)[0]
        own_results = [_over_seeds(data, base, epsilon, *figure) for figure in figures.items()]
        rival = results.get((data, base, epsilon))
        if own_results and (not rival or _rank(own_results) > _rank(rival)):
            results[data, base, epsilon] = own_results
    return [result for own_results in results.values() for result in own_results]


def _over_seeds(data: str, method: str, epsilon: float | None, metric: str, values: list[float]) -> Result:
    mean, error = mean_and_error(values)
    value = float(np.median(values)) if "seconds" in metric else mean
    return Result(data, method, epsilon, metric, value, error, len(values))


def _rank(results: Sequence[Result]) -> tuple[int, float]:
    return results[0].n, results[0].value


def p_value(first: Sequence[float], second: Sequence[float]) -> float:
    """Two-sided paired t test; 1 if they never differ, NaN for a single pair."""
    if len(first) < 2:
        return math.nan
    gaps = np.subtract(first, second)
    if np.ptp(gaps) == 0:
        return 1.0 if gaps[0] == 0 else 0.0
    return float(ttest_rel(first, second).pvalue)


def compared(lines: Sequence[Line], metric: str, rival: str, *, lower: bool = False) -> Iterator[Result]:
    """By how much each method is better than a rival on the same seeds, and the verdict of a paired t test.

    A method without epsilon is compared at every one of the rival's, and the other way round.
    """
    found: dict[tuple[str, str], dict[float | None, dict[int, float]]] = {}
    for line in lines:
        if metric in line.figures:
            own = found.setdefault((line.cell.data, line.cell.method), {})
            own.setdefault(line.cell.epsilon, {})[line.cell.seed] = line.figures[metric]
    sign = -1 if lower else 1
    for (data, method), by_epsilon in found.items():
        theirs_by_epsilon = found.get((data, rival), {})
        if method == rival:
            continue
        for epsilon in by_epsilon if None not in by_epsilon else theirs_by_epsilon:
            ours = by_epsilon.get(epsilon) or by_epsilon[None]
            theirs = theirs_by_epsilon.get(epsilon) or theirs_by_epsilon.get(None) or {}
            both = sorted(ours.keys() & theirs.keys())
            if not both:
                continue
            first, second = ([sign * own[seed] for seed in both] for own in (ours, theirs))
            gap, error = mean_and_error(np.subtract(first, second).tolist())
            better = "+" if gap > 0 else "-"
            mark = better if p_value(first, second) < ALPHA else "="
            yield Result(data, method, epsilon, f"{metric}, better than {rival} by", gap, error, len(both), mark)


@dataclass(frozen=True)
class Table:
    """Heads and rows of text."""

    title: str
    heads: Sequence[str]
    rows: Sequence[Sequence[str]]

    def markdown(self) -> str:
        """As it stands on the page."""
        lines = [_row(cells) for cells in (self.heads, ["---"] * len(self.heads), *self.rows)]
        return "\n\n".join([*([f"**{self.title}**"] if self.title else []), "\n".join(lines)])

    def rich(self) -> rich.table.Table:
        """As a terminal shows it."""
        shown = rich.table.Table(title=self.title, pad_edge=False)
        for head in self.heads:
            shown.add_column(head, overflow="fold")
        for cells in self.rows:
            shown.add_row(*cells)
        return shown


def _row(cells: Iterable[str]) -> str:
    return f"|{'|'.join(cell.replace('|', chr(92) + '|') for cell in cells)}|"


def _everything(_: Result) -> bool:
    return True


@dataclass(frozen=True)
class Layout:
    """Which results make a table, and what its rows and columns are."""

    rows: tuple[str, ...] = ("data", "epsilon")
    columns: tuple[str, ...] = ("method",)
    """``rows``, ``columns``: names of attributes of a result."""
    metrics: tuple[str, ...] = ()
    """Those that are shown; all, if none is named."""
    title: str = ""
    where: Callable[[Result], bool] = _everything
    digits: int | None = None
    """Decimals; ``None``: four significant digits."""
    spread: bool = True
    percent: bool = False

    def shows(self, result: Result) -> bool:
        """Whether a result is in the table."""
        return (not self.metrics or result.metric in self.metrics) and self.where(result)

    def table(self, results: Iterable[Result]) -> Table | None:
        """The table; ``None`` without any result."""
        own = [result for result in results if self.shows(result)]
        if not own:
            return None
        if self.metrics:
            own.sort(key=lambda r: self.metrics.index(r.metric))
            if "metric" in self.columns:
                own.sort(key=lambda r: r.n == 0)  # Goals come last.
        columns = list(dict.fromkeys(self._place(r, self.columns) for r in own))
        rows = list(dict.fromkeys(self._place(r, self.rows) for r in own))
        groups = list(dict.fromkeys(row[0] for row in rows))
        rows.sort(key=lambda row: groups.index(row[0]))
        if "epsilon" in self.rows:
            rows = _by_epsilon(rows, self.rows.index("epsilon"))
        if "epsilon" in self.columns:
            columns = _by_epsilon(columns, self.columns.index("epsilon"))
        cells = {(self._place(r, self.rows), self._place(r, self.columns)): self._figure(r) for r in own}
        heads = [*(_HEADS.get(axis, axis) for axis in self.rows), *(_head(self.columns, own) for own in columns)]
        shown = [[*_labels(row), *(cells.get((row, column), "") for column in columns)] for row in rows]
        for row in range(len(shown) - 1, 0, -1):
            if len(self.rows) > 1 and shown[row][0] == shown[row - 1][0]:
                shown[row][0] = ""  # Said once for rows that follow each other.
        return Table(self.title, heads, shown)

    def _place(self, result: Result, axes: Sequence[str]) -> tuple[object, ...]:
        return tuple(getattr(result, axis) for axis in axes)

    def _figure(self, result: Result) -> str:
        times = 100 if self.percent else 1
        told = self.spread and not math.isnan(result.spread)
        value = number(times * result.value, self.digits, zeros=told)
        decimals = len(value.partition(".")[2])
        spread = f" ± {times * result.spread:.{decimals}f}" if told else ""
        return " ".join(filter(None, (f"{value}{spread}", result.mark)))


_HEADS: Final = {"epsilon": "ε"}


def number(value: float, digits: int | None = None, *, zeros: bool = False) -> str:
    """A number for readers: so many decimals, or four significant digits, with or without zeros at the end."""
    if math.isnan(value):
        return ""
    if digits is not None:
        return f"{value:,.{digits}f}"
    return f"{value:,.0f}" if abs(value) >= 1000 else f"{value:#.4g}" if zeros else f"{value:.4g}"


def _labels(place: Sequence[object]) -> list[str]:
    return ["none" if own is None else f"{own:g}" if isinstance(own, float) else str(own) for own in place]


def _head(axes: Sequence[str], place: Sequence[object]) -> str:
    named = zip(axes, _labels(place), place, strict=True)
    return ", ".join(
        ("not private" if own is None else f"ε = {label}") if axis == "epsilon" else label for axis, label, own in named
    )


def _by_epsilon(places: list[tuple[Any, ...]], at: int) -> list[tuple[Any, ...]]:
    """In the order of the other axes, each epsilon in increasing order, and none last."""
    order = {own: number for number, own in enumerate(dict.fromkeys(place[:at] for place in places))}
    rest = {own: number for number, own in enumerate(dict.fromkeys(place[at + 1 :] for place in places))}
    return sorted(places, key=lambda p: (order[p[:at]], math.inf if p[at] is None else p[at], rest[p[at + 1 :]]))


@dataclass
class Stored:
    """Results of a suite in a JSON file, each with the command that measured it."""

    runs: list[dict[str, Any]] = field(default_factory=list)
    """``command`` and ``machine`` of each run, and ``notes`` on what has no figures."""
    results: list[tuple[int, Result]] = field(default_factory=list)
    """Each with the place of its run."""

    @classmethod
    def read(cls, path: Path) -> Stored:
        """Those of a file; none, if there is no file."""
        if not path.exists():
            return cls()
        content = json.loads(path.read_text(encoding="utf-8"))
        results = []
        for row in content["results"]:
            for metric, (value, spread, mark) in row["figures"].items():
                spread = math.nan if spread is None else spread
                own = Result(row["data"], row["method"], row["epsilon"], metric, value, spread, row["n"], mark)
                results.append((row["run"], own))
        return cls(content["runs"], results)

    def add(self, command: str, results: Iterable[Result], notes: Sequence[str] = ()) -> None:
        """Take in a run: its results replace older ones of the same things."""
        machine = f"{platform.machine()}, Python {platform.python_version()}"
        self.runs.append({"command": command, "machine": machine, "notes": list(notes)})
        newer = {result.key: result for result in results if not math.isnan(result.value)}
        self.results = [(place, own) for place, own in self.results if own.key not in newer]
        self.results += [(len(self.runs) - 1, own) for own in newer.values()]
        used = sorted({place for place, _ in self.results} | {len(self.runs) - 1})
        self.runs = [self.runs[place] for place in used]
        self.results = [(used.index(place), own) for place, own in self.results]

    def write(self, path: Path) -> None:
        """Write them, one line for each cell: value, spread and mark of every figure."""
        rows: dict[tuple[Any, ...], dict[str, list[Any]]] = {}
        for run, own in self.results:
            figure = [_rounded(own.value, 6), _rounded(own.spread, 3), own.mark]
            rows.setdefault((own.data, own.method, own.epsilon, own.n, run), {})[own.metric] = figure
        names = ("data", "method", "epsilon", "n", "run", "figures")
        lines = [dict(zip(names, (*place, figures), strict=True)) for place, figures in rows.items()]
        head, *body = (json.dumps(own, ensure_ascii=False) for own in (self.runs, *lines))
        cells = ",\n".join(body)
        path.write_text(f'{{"runs": {head},\n"results": [\n{cells}\n]}}\n', encoding="utf-8")


def _rounded(value: float, digits: int) -> float | None:
    return None if math.isnan(value) else float(f"{value:.{digits}g}")
