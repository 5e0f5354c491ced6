"""How good cut points are that are learned privately: twenty columns at once, of made-up records."""

from __future__ import annotations

from collections.abc import Iterator
from decimal import Decimal
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import numpy as np
import pandas as pd

from benchmarks.records import Record, summarise
from dpcore.domain.schemas.unfinished import Unfinished
from dpcore.intake.process.learning import learn_schema
from dpcore.privacy.filters import PrivacyFilter
from dpcore.privacy.randomness import SecureRandom
from dpcore.released.learning_plan import plan_learning

SUITE = "learned"
EPSILONS, ROWS = (0.1, 1.0), 100_000
#: By the form that an account gives to it.
ACCOUNTS = {
    "with a delta of 1e-6": PrivacyFilter(Decimal(20), Decimal("1e-6")),
    "without": PrivacyFilter(Decimal(20), Decimal(0)),
}


def run(epsilons: list[float] | None, *, quick: bool) -> Iterator[Record]:
    """Learn deciles of twenty columns several times, each time of other records."""
    times = 2 if quick else 10
    for epsilon in epsilons or EPSILONS:
        for account, cap in ACCOUNTS.items():
            found = [_errors(cap, epsilon, seed) for seed in range(times)]
            measured = {
                "furthest decile, percentiles": [max(errors) for errors in found],
                "median column, percentiles": [float(np.median(errors)) for errors in found],
            }
            for metric, values in measured.items():
                yield Record(SUITE, "20 columns", account, epsilon, metric, *summarise(values), times, None, "")


def _errors(cap: PrivacyFilter, epsilon: float, seed: int) -> list[float]:
    frame, columns = twenty_columns(np.random.default_rng(seed), ROWS)
    wanted = Unfinished.from_mapping({"name": "made up", "max_rows": 2 * ROWS, "columns": columns})
    plan = plan_learning(wanted, Decimal(str(epsilon)), cap)
    with TemporaryDirectory() as folder:
        learned = learn_schema(plan, iter([frame]), SecureRandom(), Path(folder))
    return [100 * decile_error(frame[column.name].to_numpy(), column) for column in learned]


def real(name: str, lower: float, upper: float, learn: Any = True, kind: str = "real") -> dict[str, Any]:
    """A numeric column that is to be learned."""
    return {"name": name, "type": kind, "lower": lower, "upper": upper, "learn": learn}


def twenty_columns(rng: np.random.Generator, rows: int) -> tuple[pd.DataFrame, list[dict[str, Any]]]:
    """Skewed columns, counts, ties and outliers, within limits that are far too wide."""
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
        (
            lambda: np.concatenate([rng.normal(36.8, 0.4, rows // 2), rng.normal(98, 1, rows - rows // 2)]),
            0,
            500,
            "real",
        ),
        (lambda: rng.uniform(-1, 1, rows) ** 5, -100, 100, "real"),
    ]
    made = {f"c{i}": maker[0]() for i, maker in enumerate(makers)}
    return pd.DataFrame(made), [real(f"c{i}", low, high, kind=kind) for i, (_, low, high, kind) in enumerate(makers)]


def decile_error(values: np.ndarray[Any, Any], column: Any) -> float:
    """Largest distance of a decile from the nearest cut point, in ranks; equal values share theirs."""
    values = np.sort(values)
    low, high = (np.searchsorted(values, column.edges, side) / len(values) for side in ("left", "right"))
    deciles = values[len(values) * np.arange(1, 10) // 10]
    first, last = (np.searchsorted(values, deciles, side) / len(values) for side in ("left", "right"))
    apart = np.maximum(low - last[:, None], first[:, None] - high)
    return float(np.maximum(apart, 0).min(axis=1).max())
