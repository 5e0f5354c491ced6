"""First looks beside noisy histograms of each column, and of each pair, that share epsilon evenly."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from decimal import Decimal
from itertools import combinations
from typing import Any, Final

import numpy as np

from benchmarks.datasets import BenchData, load
from benchmarks.records import Record, summarise
from dpcore import DPSummary
from dpcore.arrays import Flags, Floats, Ints
from dpcore.demo.checkups import make_checkups
from dpcore.domain.encoding import encode_columns
from dpcore.domain.schemas.schema import PrivacyUnit
from dpcore.models.summaries.released.crosstab import crosstab
from dpcore.models.summaries.released.estimates import Axes, Estimates
from dpcore.models.summaries.released.intervals import Cells, intervals
from dpcore.models.summaries.released.reading import QUANTILES, shares_of
from dpcore.models.summaries.released.summary_model import SummaryModel
from dpcore.models.summaries.released.summary_parameters import BETWEEN, Axis, axes_of
from dpcore.privacy.accountant import BudgetAccountant
from dpcore.privacy.budgets import calibrate_gaussian
from dpcore.privacy.mechanisms import GeometricMechanism
from dpcore.privacy.randomness import SecureRandom

SUITE: Final = "summaries"
DATA, EPSILONS = ("adult", "telco_churn", "npas", "checkups"), (0.1, 0.5, 1.0)
DELTA: Final = 1e-6
#: Columns that the tables of pairs are made of: all pairs of so many.
_PAIRED: Final = 14
#: Epsilon of an account.
_BUDGET: Final = Decimal(5)
_SOURCE: Final = "two-sided geometric noise on each table, the same part of epsilon for each, negative counts made 0"


@dataclass(frozen=True)
class Truth:
    """Exact tables of a data set."""

    data: BenchData
    axes: tuple[Axis, ...]
    codes: dict[str, Ints]

    @classmethod
    def of(cls, name: str) -> Truth:
        """Load a data set."""
        return cls.made(_invented() if name == "checkups" else load(name))

    @classmethod
    def made(cls, data: BenchData) -> Truth:
        """Count a table."""
        codes = encode_columns(data.frame, data.schema, [column.name for column in data.schema])
        return cls(data, axes_of(data.schema, None), {key: own.astype(np.int64) for key, own in codes.items()})

    def table(self, axes: Axes) -> Floats:
        """Exact counts."""
        counts = np.zeros([self.axes[axis].size(self.data.schema) for axis in axes])
        np.add.at(counts, tuple(self.codes[self.axes[axis].column] for axis in axes), 1)
        return counts


def _invented() -> BenchData:
    """The demonstration of check-ups."""
    demo = make_checkups()
    frame = demo.frame[[column.name for column in demo.schema]]  # One row each: nobody has to be named.
    return BenchData("checkups", frame, demo.schema.model_copy(update={"privacy_unit": PrivacyUnit()}))


def run(data: list[str] | None, epsilons: list[float] | None, *, quick: bool) -> Iterator[Record]:
    """Errors of counts and quantiles, and how often intervals hold."""
    times = 2 if quick else 10
    for name in data or DATA:
        truth = Truth.of(name)
        for epsilon in epsilons or EPSILONS:
            yield from limits(truth, epsilon)
            yield from _columns(truth, epsilon, times)
            yield from _pairs(truth, epsilon, max(2, times // 3))


#: Ways to spend the same epsilon.
_FORMS: Final[dict[str, dict[str, Any]]] = {
    "pure": {},
    "with a delta of 1e-6": {"delta": DELTA},
    "in an account of 5 with that delta": {"account": DELTA},
}


def _fitted(truth: Truth, epsilon: float, account: float = 0.0, **chosen: Any) -> DPSummary:
    if account:
        chosen["accountant"] = BudgetAccountant(_BUDGET, Decimal(repr(account)))
    return DPSummary(epsilon=epsilon, schema=truth.data.schema, **chosen).fit(truth.data.frame)


def limits(truth: Truth, epsilon: float) -> Iterator[Record]:
    """The least mean error that noise allows if every column is told by itself, beside equal parts of epsilon.

    With n cells in a column and noise of scale b on each, the mean error over all cells is the sum of n b by the
    number of cells. Two-sided geometric noise needs the sum of 1/b to be epsilon: least with 1/b as the root of n.
    Gaussian noise needs the sum of the squares of 1/b to be that of mu: least with 1/b as the cube root of n.
    """
    sizes, log = np.array([axis.size(truth.data.schema) for axis in truth.axes]), -math.log(DELTA)
    gaussian = float((sizes ** (2 / 3)).sum() ** 1.5) * math.sqrt(2 / math.pi) / sizes.sum()
    rho = (math.sqrt(log + epsilon) - math.sqrt(log)) ** 2
    limits = {
        "pure": float(np.sqrt(sizes).sum() ** 2) / sizes.sum() / epsilon,
        "with a delta of 1e-6": gaussian / calibrate_gaussian(epsilon, DELTA),
        "with that delta by zCDP": gaussian / math.sqrt(2 * rho),
    }
    evenly = len(sizes) / epsilon
    for form, error in limits.items():
        source = f"columns by epsilon, {len(sizes)} by {epsilon:g}; ratio {error / evenly:.2f}"
        metric = "people, least mean error of a count of a column told by itself"
        yield Record(SUITE, truth.data.name, form, epsilon, metric, error, math.nan, 1, evenly, source)


def _columns(truth: Truth, epsilon: float, times: int) -> Iterator[Record]:
    tables: list[Axes] = [(place,) for place in range(len(truth.axes))]
    rival = [_error(truth, tables, _even(truth, tables, epsilon)) for _ in range(times)]
    quantiles = [_quantile_errors(truth, _even(truth, tables, epsilon)) for _ in range(times)]
    for form, settings in _FORMS.items():
        made = [_fitted(truth, epsilon, **settings) for _ in range(times)]
        own = [model.model_.estimates for model in made]
        errors = [_error(truth, tables, each.consistent) for each in own]
        yield _record(truth, form, epsilon, "people, mean error of a count of a column", errors, rival)
        noise = [_by_noise(each, tables) for each in own]
        yield _record(truth, form, epsilon, "people, mean error of a count of a column by noise alone", noise)
        told = [_quantile_errors(truth, each.consistent) for each in own]
        yield _record(truth, form, epsilon, "cells, mean error of a quantile", told, quantiles)
        yield _record(
            truth, form, epsilon, "share of intervals that hold", [_held(truth, tables, each) for each in own]
        )


def _pairs(truth: Truth, epsilon: float, times: int) -> Iterator[Record]:
    """All columns and all pairs of the first of them, together."""
    count = min(_PAIRED, len(truth.axes))
    pairs: list[Axes] = list(combinations(range(count), 2))
    tables = [*((place,) for place in range(count)), *pairs]
    names = [axis.column for axis in truth.axes[:count]]
    chosen = {
        "columns": tuple(names),
        "crosstabs": tuple(BETWEEN.join(names[axis] for axis in pair) for pair in pairs),
    }
    rival = [_error(truth, tables, _even(truth, tables, epsilon)) for _ in range(times)]
    for form, settings in _FORMS.items():
        made = [_fitted(truth, epsilon, **settings, **chosen).model_ for _ in range(times)]
        own = [model.estimates for model in made]
        errors = [_error(truth, tables, each.consistent) for each in own]
        yield _record(
            truth, form, epsilon, f"people, mean error of a count, {count} columns and all pairs", errors, rival
        )
        held = [_held(truth, tables, each) for each in own]
        yield _record(truth, form, epsilon, "share of intervals that hold, pairs too", held)
        for which, cells in _CELLS.items():
            shares = [_held_shares(truth, tables, each, cells) for each in own]
            yield _record(truth, form, epsilon, f"share of intervals of shares that hold, pairs too{which}", shares)
        counts, within = zip(*(held_crosstabs(truth, pairs, model) for model in made), strict=True)
        yield _record(truth, form, epsilon, "crosstabs: share of intervals of counts that hold", counts)
        yield _record(truth, form, epsilon, "crosstabs: share of intervals of shares within a row that hold", within)


#: Cells of which shares are told, by what they really are.
_CELLS: Final[dict[str, Callable[[Floats], Floats]]] = {
    "": np.ones_like,
    "; nobody": lambda exact: exact == 0,
    "; more than half": lambda exact: exact > 0.5,
}


def _even(truth: Truth, tables: list[Axes], epsilon: float) -> Callable[[Axes], Floats]:
    """Every table by itself, with the same part of epsilon."""
    mechanism = GeometricMechanism(1, Decimal(repr(epsilon)) / len(tables))
    source = SecureRandom()

    def table(axes: Axes) -> Floats:
        noisy = mechanism.release(truth.table(axes).astype(np.int64), source)
        return np.maximum(noisy, 0).astype(np.float64)

    return table


def _error(truth: Truth, tables: list[Axes], told: Callable[[Axes], Floats]) -> float:
    away = [np.abs(told(axes) - truth.table(axes)).ravel() for axes in tables]
    return float(np.concatenate(away).mean())


def _held(truth: Truth, tables: list[Axes], own: Estimates) -> float:
    held = []
    for axes in tables:
        low, high = intervals(own.table(axes), own.deviation(axes), gaussian=own.gaussian)
        exact = truth.table(axes)
        held.append(((low <= exact + 1e-9) & (exact <= high + 1e-9)).ravel())
    return float(np.concatenate(held).mean())


def _held_shares(truth: Truth, tables: list[Axes], own: Estimates, cells: Callable[[Floats], Floats]) -> float:
    """The same for shares of all people, of which the noise on their number is a part."""
    held = []
    for axes in tables:
        told, exact = shares_of(own, axes), truth.table(axes) / len(truth.data.frame)
        inside = (told.low <= exact + 1e-12) & (exact <= told.high + 1e-12)
        held.append(inside[cells(exact).astype(bool)])
    found = np.concatenate(held)
    return float(found.mean()) if len(found) else float("nan")


def held_crosstabs(truth: Truth, pairs: Sequence[Axes], model: SummaryModel) -> tuple[float, float]:
    """The same for what is shown of pairs: counts, and shares within the rows in which there is anybody."""
    counts, shares = [], []
    for row, column in pairs:
        told, exact = crosstab(model, truth.data.schema, row, column), truth.table((row, column))
        counts.append(_inside(told.counts, exact).ravel())
        there = exact.sum(axis=1) > 0
        within = exact[there] / exact[there].sum(axis=1, keepdims=True)
        shares.append(_inside(told.shares, within, there).ravel())
    return float(np.concatenate(counts).mean()), float(np.concatenate(shares).mean())


def _inside(told: Cells, exact: Floats, rows: Flags | slice = slice(None)) -> Flags:
    return np.asarray((told.low[rows] <= exact + 1e-9) & (exact <= told.high[rows] + 1e-9))


def _by_noise(own: Estimates, tables: list[Axes]) -> float:
    """Mean error of a count that noise alone makes, before negative counts are made 0: the least that shares allow."""
    cells = np.array([math.prod(own.sizes[axis] for axis in axes) for axes in tables])
    deviation = float(np.average([own.deviation(axes) for axes in tables], weights=cells))
    return deviation * math.sqrt(2 / math.pi if own.gaussian else 1 / 2)


def _quantile_errors(truth: Truth, told: Callable[[Axes], Floats]) -> float:
    """Mean error of the quantiles of numbers, counted in cells between the true and the noisy one."""
    errors = []
    for place, axis in enumerate(truth.axes):
        ends = axis.ends(truth.data.schema)
        if ends is None:
            continue
        exact, found = (_cumulative(table((place,))[: len(ends) - 1]) for table in (truth.table, told))
        scale = np.arange(len(exact))
        errors += [abs(np.interp(share, exact, scale) - np.interp(share, found, scale)) for share in QUANTILES]
    return float(np.mean(errors)) if errors else float("nan")


def _cumulative(counts: Floats) -> Floats:
    below = np.concatenate([[0.0], np.cumsum(counts)])
    return below / max(below[-1], 1.0) + np.arange(len(below)) * 1e-12


def _record(
    truth: Truth, form: str, epsilon: float, metric: str, values: Sequence[float], rival: list[float] | None = None
) -> Record:
    mean, error = summarise(values)
    reference = None if rival is None else float(np.mean(rival))
    source = "" if rival is None else f"{_SOURCE}; ratio {mean / max(float(np.mean(rival)), 1e-12):.2f}"
    return Record(SUITE, truth.data.name, form, epsilon, metric, mean, error, len(values), reference, source)
