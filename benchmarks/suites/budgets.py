"""What fits into a budget and what that is worth, what runs leave of it, and how good learned facts are."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from decimal import ROUND_FLOOR, Decimal
from functools import cache
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any, Final
from unittest import mock

import numpy as np
import pandas as pd

from benchmarks.datasets import BenchData
from benchmarks.declared import Suite
from benchmarks.problems import Fit, Problem, Split, first, fitted, split
from benchmarks.results import Cell, Layout
from benchmarks.suites.ilp import CONCEPTS, THREE, TWO, accuracy, draw
from dpcore.data.building.ingest import frame_chunks, ingest
from dpcore.demo import DEMOS
from dpcore.domain.schemas.learnable_schema import LearnableSchema
from dpcore.domain.schemas.schema import Schema
from dpcore.intake.process.learning import learn_schema
from dpcore.learning.learner import Run
from dpcore.models.registry import LEARNERS
from dpcore.privacy.budgets import EPSILON_STEP
from dpcore.privacy.filters import ADDED_SHARE, PrivacyFilter
from dpcore.privacy.losses import NOTHING, RHO_STEP, pure_epsilon
from dpcore.privacy.mechanisms import ExponentialMechanism, FineGaussian, GeometricMechanism, NoisyMax
from dpcore.privacy.randomness import SecureRandom, SeededRandom
from dpcore.released.learning_plan import plan_learning
from dpcore.released.plan import RunPlan

CAP: Final = PrivacyFilter(Decimal(5), Decimal("0.000001"))
#: Public schema for which runs are planned, and the column that they predict.
_STROKE, _TARGET = "stroke", "stroke_within_year"
COMPOSED, ADDED = "composed", "added"
SHARE, RUNS, NOISE, PURE = "share, per cent", "runs", "noise on a count", "noise on a count, pure"
FAMILY_NAMES: Final = {learner.title: name for name, learner in LEARNERS.items()}


def _measure_runs(cell: Cell, _: Mapping[str, Any]) -> dict[str, float]:
    """Arithmetic on plans: no record is read. Default parameters, and nobody set aside."""
    name = FAMILY_NAMES[cell.method]
    plan = _stroke_plan(name, Decimal(str(cell.epsilon)), CAP.run_delta)
    loss = CAP.priced(plan.loss)
    runs, share = CAP.fitting(NOTHING, loss), CAP.share(loss)
    found = {SHARE: 100 * float(share), RUNS: float(runs), NOISE: float(plan.count_margin())}
    alone = _stroke_plan(name, _pure_epsilon(share), Decimal(0))
    return found if alone.delta else found | {PURE: float(alone.count_margin())}


def _pure_epsilon(share: Decimal) -> Decimal:
    """Epsilon of a pure run that takes so much, and no more in any way of counting."""
    composed = pure_epsilon((share * CAP.rho).quantize(RHO_STEP, rounding=ROUND_FLOOR))
    return max((share * CAP.epsilon).quantize(EPSILON_STEP, rounding=ROUND_FLOOR), composed)


@cache
def _stroke_schema() -> Schema:
    return DEMOS[_STROKE]().schema


@cache
def _stroke_plan(name: str, epsilon: Decimal, delta: Decimal) -> RunPlan:
    learner, schema = LEARNERS[name], _stroke_schema()
    names = [column.name for column in schema]
    views = {"left": names[: len(names) // 2], "right": names[len(names) // 2 :]} if learner.family.views else {}
    target = _TARGET if learner.targeted else ""
    return learner.plan(schema, target, epsilon, views, delta)


_RUNS: Final = {"rows": ("method",), "columns": ("epsilon",), "spread": False}

BUDGET = Suite(
    "budget",
    _measure_runs,
    (_STROKE,),
    tuple(FAMILY_NAMES),
    [
        Layout(**_RUNS, metrics=(SHARE,), digits=4, title=f"Share of a budget of ε = {CAP.epsilon}, per cent"),
        Layout(**_RUNS, metrics=(RUNS,), digits=0, title="Runs that fit"),
        Layout(**_RUNS, metrics=(NOISE,), digits=0, title="Noise on a count, 95 %"),
        Layout(**_RUNS, metrics=(PURE,), digits=0, title="The same of a pure run that takes the same share"),
    ],
    (0.1, 0.25, 0.5, 0.59852, 0.9755, 1.0, 1.7603, 5.0),
)

TRAIN: Final = 10_000
#: Families, and what differs from their defaults.
FAMILIES: Final[dict[str, dict[str, Any]]] = {"rule_list": {"pool_size": 20_000}, "tree": {}, "ebm": {}}


def _measure_errors(cell: Cell, _: Mapping[str, Any]) -> dict[str, float]:
    """Shares of test records predicted, and of their pairs ranked, wrong by one of so many equal runs."""
    own, count = split("adult", _ten_thousand, cell.seed), int(cell.data.split()[-2])
    data = own.one.data
    schema = data.schema.model_copy(update={"max_rows": TRAIN})
    title, way = cell.method.split(", ")
    name = FAMILY_NAMES[title]
    small = BenchData(data.name, data.frame, schema)
    plan = {ADDED: added, COMPOSED: composed}[way](small, name, count)
    table = ingest(frame_chunks(data.frame[own.learn]), schema, SeededRandom(cell.seed))
    fit = Fit(LEARNERS[name].run(Run(table, plan, SecureRandom())), schema, 0.0)
    wrong = float((fit.predicted(own.frame) != own.truth).mean())
    ranked = 1 - own.area(fit.chances(own.frame))
    return {"ε": float(plan.epsilon), "predicted wrong": wrong, "pairs ranked wrong": ranked}


def _ten_thousand(one: Problem, seed: int) -> tuple[Any, Any]:
    return first(len(one.truth), TRAIN, seed)


def _plan(data: BenchData, name: str, epsilon: Decimal, delta: Decimal) -> RunPlan:
    given = {**FAMILIES[name], "evaluate": False}
    return LEARNERS[name].plan(data.schema, data.target, epsilon, given, delta)


def added(data: BenchData, name: str, count: int) -> RunPlan:
    """A run that has an equal part of epsilon and, if it needs one, of delta."""
    alone = _plan(data, name, CAP.epsilon / count, Decimal(0))
    return _plan(data, name, CAP.epsilon / count, CAP.delta * ADDED_SHARE / count) if alone.delta else alone


def composed(data: BenchData, name: str, count: int) -> RunPlan:
    """A run that takes an equal share of the budget."""
    return _plan(data, name, CAP.epsilon_of(Decimal(1) / count), CAP.run_delta)


ERRORS = Suite(
    "budget-errors",
    _measure_errors,
    tuple(f"adult, {count} runs" for count in (10, 25, 50, 100)),
    tuple(f"{LEARNERS[name].title}, {way}" for name in FAMILIES for way in (ADDED, COMPOSED)),
    [Layout(rows=("data", "method"), columns=("metric",), spread=False)],
    seeds=10,
)

_MINED: Final = {"sampler": "pool", "antecedents": "dp_fim", "max_antecedent_length": 3, "pool_size": 20_000}
#: Family and parameters of each method on tables, and on trains.
METHODS: Final[dict[str, tuple[str, dict[str, Any]]]] = {
    "rule list, mined": ("rule_list", _MINED),
    "rule list, mined above 20 %": ("rule_list", {**_MINED, "min_support": 0.2}),
    "ADiffP": ("tree", {"method": "adiffp"}),
    "DiffP-ID3": ("tree", {"method": "diffp_id3"}),
    "DiffP-C4.5": ("tree", {"method": "diffp_c45"}),
    "SuLQ-ID3": ("tree", {"method": "sulq_id3"}),
    "pairs": ("ebm", {"pairs": 3}),
    "relevance-aware": ("ilp", {"method": "relevance_aware", "criterion": "best"}),
    "relevance-aware, by share": ("ilp", {"method": "relevance_aware", "criterion": "share"}),
}
_TABLES: Final = ("titanic", "mushroom", "telco_churn")
_TRAINS: Final = {f"{name}, {size:,}": (name, size) for name in (THREE, TWO) for size in (1_000, 10_000)}


@dataclass(frozen=True)
class Spent:
    """Budgets of the mechanisms of one run, at the level of rows, in the order of their use."""

    pure: list[Decimal]
    squares: list[float]


@contextmanager
def watched() -> Iterator[Spent]:
    """Write down every mechanism that is asked for an answer."""
    spent = Spent([], [])
    doors = {GeometricMechanism: "release", FineGaussian: "release", ExponentialMechanism: "select", NoisyMax: "select"}
    with ExitStack() as patches:
        for kind, door in doors.items():
            patches.enter_context(mock.patch.object(kind, door, _telling(kind, door, spent)))
        yield spent


def _telling(kind: Any, door: str, spent: Spent) -> Callable[..., Any]:
    answer = getattr(kind, door)

    def told(self: Any, *given: Any) -> Any:
        if kind is FineGaussian:
            spent.squares.append((self.sensitivity / self.scale) ** 2)
        else:
            spent.pure.append(self.epsilon)
        return answer(self, *given)

    return told


def _measure_unspent(cell: Cell, _: Mapping[str, Any]) -> dict[str, float]:
    """What one run used, as a share of its budget, the mu that it reached, and how good its model is."""
    family, chosen = METHODS[cell.method]
    if cell.data in _TRAINS:
        concept = CONCEPTS[_TRAINS[cell.data][0]]
        table = draw(concept, _TRAINS[cell.data][1], cell.seed).table
        with watched() as spent:
            model = fitted(table, family, cell.epsilon, {**concept.settings, **chosen}).model
        right = accuracy(model, draw(concept, 10_000, "test").table)
    else:
        own = split(cell.data, _four_fifths, cell.seed)
        with watched() as spent:
            fit = fitted(own.table, family, cell.epsilon, chosen)
        model, right = fit.model, _right(own, fit)
    if family == "ebm":
        return {"mu": float(np.sqrt(sum(spent.squares))), "accuracy": right}
    left = tree_unspent(model) if family == "tree" else sequence_unspent(spent, cell.epsilon or 0)
    return {"unspent, per cent": 100 * left, "accuracy": right}


def _four_fifths(one: Problem, seed: int) -> tuple[Any, Any]:
    return first(len(one.truth), round(0.8 * len(one.truth)), seed)


def _right(own: Split, fit: Fit) -> float:
    return float((fit.predicted(own.frame) == own.truth).mean())


def sequence_unspent(spent: Spent, epsilon: float) -> float:
    """Of steps that all look at the same people: their budgets add up."""
    return 1 - float(sum(spent.pure)) / epsilon


def tree_unspent(model: Any) -> float:
    """Of a tree: the mean over the paths to its leaves."""
    paths, leaves = list[Decimal](), list[float]()
    for node in model.nodes:
        above = paths[node.parent] if node.parent is not None else Decimal(0)
        paths.append(above + node.spent)
        if not node.children:
            leaves.append(float(1 - paths[-1] / model.budget))
    return float(np.mean(leaves))


UNSPENT = Suite(
    "unspent",
    _measure_unspent,
    (*_TABLES, *_TRAINS),
    tuple(METHODS),
    [Layout(rows=("data", "epsilon", "method"), columns=("metric",), digits=3)],
    (0.1, 1.0),
    seeds=10,
    skip=lambda cell: (METHODS[cell.method][0] == "ilp") != (cell.data in _TRAINS),
)

ROWS: Final = 100_000
#: By the form that an account gives to it.
_ACCOUNTS: Final = {
    "with a delta of 1e-6": PrivacyFilter(Decimal(20), Decimal("1e-6")),
    "without": PrivacyFilter(Decimal(20), Decimal(0)),
}


def _measure_learned(cell: Cell, _: Mapping[str, Any]) -> dict[str, float]:
    """Errors of deciles, in percentiles, of twenty columns that are learned at once."""
    frame, columns = twenty_columns(np.random.default_rng(cell.seed), ROWS)
    wanted = LearnableSchema.from_mapping({"name": "made up", "max_rows": 2 * ROWS, "columns": columns})
    plan = plan_learning(wanted, Decimal(str(cell.epsilon)), _ACCOUNTS[cell.method])
    with TemporaryDirectory() as folder:
        learned = learn_schema(plan, iter([frame]), SecureRandom(), Path(folder))
    errors = [100 * decile_error(frame[column.name].to_numpy(), column) for column in learned]
    return {"furthest decile, percentiles": max(errors), "median column, percentiles": float(np.median(errors))}


def real(name: str, lower: float, upper: float, learn: Any = True, kind: str = "real") -> dict[str, Any]:
    """A numeric column that is to be learned."""
    return {"name": name, "type": kind, "lower": lower, "upper": upper, "learn": learn}


def twenty_columns(rng: np.random.Generator, rows: int) -> tuple[pd.DataFrame, list[dict[str, Any]]]:
    """Skewed columns, counts, ties and outliers, within limits that are far too wide."""
    humps = (36.8, 0.4, rows // 2), (98, 1, rows - rows // 2)
    makers: list[tuple[Any, float, float, str]] = [
        (lambda: rng.normal(70, 10, rows), 0, 1000, "real"),
        (lambda: rng.normal(140, 3, rows), 0, 10_000, "real"),
        (lambda: rng.lognormal(3, 1.5, rows), 0, 1e6, "real"),
        (lambda: rng.exponential(0.01, rows), 0, 1e4, "real"),
        (lambda: rng.standard_cauchy(rows), -1e6, 1e6, "real"),
        (lambda: rng.pareto(1, rows), 0, 1e7, "real"),
        (lambda: -rng.lognormal(0, 1, rows), -1e5, 10, "real"),
        (lambda: np.where(rng.random(rows) < 0.6, 0, rng.gamma(2, 50, rows)), 0, 1e5, "real"),
        (lambda: rng.choice([1.5, 2.5, 4, 1000.25], rows), 0, 1e6, "real"),
        (lambda: rng.beta(0.3, 0.3, rows), 0, 1, "real"),
        (lambda: rng.poisson(7, rows), 0, 1000, "integer"),
        (lambda: rng.integers(0, 100, rows), 0, 130, "integer"),
        (lambda: rng.integers(2000, 2024, rows), 1900, 2100, "integer"),
        (lambda: rng.integers(1, 15, rows), 0, 1000, "integer"),
        (lambda: np.floor(rng.pareto(1.2, rows) * 3), 0, 1_000_000, "integer"),
        (lambda: rng.geometric(0.4, rows), 0, 10_000, "integer"),
        (lambda: rng.binomial(1, 0.3, rows), 0, 100, "integer"),
        (lambda: rng.normal(-40, 300, rows).round(), -100_000, 100_000, "integer"),
        (lambda: np.concatenate([rng.normal(*hump) for hump in humps]), 0, 500, "real"),
        (lambda: rng.uniform(-1, 1, rows) ** 5, -100, 100, "real"),
    ]
    made = {f"c{i}": maker[0]() for i, maker in enumerate(makers)}
    return pd.DataFrame(made), [real(f"c{i}", low, high, kind=kind) for i, (_, low, high, kind) in enumerate(makers)]


def decile_error(values: np.ndarray[Any, Any], column: Any) -> float:
    """Largest distance of a decile from the nearest cut point, in ranks; equal values share theirs."""
    values = np.sort(values)
    low, high = (np.searchsorted(values, column.edges, side) / len(values) for side in ("left", "right"))
    deciles = values[len(values) * np.arange(1, 10) // 10]
    first_place, last_place = (np.searchsorted(values, deciles, side) / len(values) for side in ("left", "right"))
    apart = np.maximum(low - last_place[:, None], first_place[:, None] - high)
    return float(np.maximum(apart, 0).min(axis=1).max())


LEARNED = Suite(
    "learned",
    _measure_learned,
    ("20 columns",),
    tuple(_ACCOUNTS),
    [Layout(rows=("method", "epsilon"), columns=("metric",))],
    (0.1, 1.0),
    seeds=10,
)
