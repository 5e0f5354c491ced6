"""How often the intervals of Cramér's V hold, on tables with rare values too."""

from __future__ import annotations

import math
from collections.abc import Iterator
from itertools import combinations
from typing import Any, Final

import numpy as np
import pandas as pd
from rich.console import Console
from rich.progress import track

from benchmarks.datasets import BenchData
from benchmarks.records import Record, summarise
from benchmarks.summaries import DELTA, Truth
from dpcore import DPSummary
from dpcore.arrays import Floats
from dpcore.domain.schemas.schema import Schema
from dpcore.models.summaries.released.association import associations, cramer_v, pooling
from dpcore.models.summaries.released.estimates import Axes
from dpcore.models.summaries.released.summary_model import NoisyTable, SummaryModel
from dpcore.models.summaries.released.summary_parameters import BETWEEN
from dpcore.privacy.randomness import public_generator

EPSILONS: Final = (1.0, 4.0)
#: The threshold for pooling was chosen on the first tables; the others confirm it.
CHOSEN: Final = ("adult", "mushroom", "rare values, 4000 rows")
CONFIRMED: Final = ("titanic", "telco_churn", "nursery", "heart_cleveland", "checkups", "rare values, 20000 rows")
DATA: Final = (*CHOSEN, *CONFIRMED)
#: Columns of which all pairs are counted.
_COLUMNS: Final = 20
_REPEATS: Final = 10


def run(suite: str, names: list[str] | None, epsilons: list[float] | None, *, quick: bool) -> Iterator[Record]:
    """Coverage of the V of the pooled table, and beside it of the V of the table with every value."""
    for name in names or DATA:
        truth = _truth(name)
        for epsilon in track(epsilons or EPSILONS, f"Pairs of {name}", console=Console(stderr=True)):
            for form, settings in {"pure": {}, "with a delta of 1e-6": {"delta": DELTA}}.items():
                yield from _coverage(suite, truth, epsilon, form, settings, 2 if quick else _REPEATS)


def _coverage(
    suite: str, truth: Truth, epsilon: float, form: str, settings: dict[str, Any], repeats: int
) -> Iterator[Record]:
    names = [axis.column for axis in truth.axes[:_COLUMNS]]
    pairs = tuple(BETWEEN.join(pair) for pair in combinations(names, 2))
    look = DPSummary(epsilon=epsilon, schema=truth.data.schema, columns=tuple(names), crosstabs=pairs, **settings)
    model = look.fit(truth.data.frame).model_
    exact = {table.axes: truth.table(table.axes) for table in model.tables}
    each = [_held(_with_noise(model, exact, seed), exact, seed) for seed in range(repeats)]
    kind = ", chosen on it" if truth.data.name in CHOSEN else ""
    for place, metric in enumerate(("coverage of V, rare values pooled", "coverage of V of all values", "mean width")):
        found = [one[place] for one in each]
        reference = 0.95 if place < 2 else None
        source = f"nominal{kind}; {len(pairs)} pairs" if place < 2 else ""
        yield Record(suite, truth.data.name, form, epsilon, metric, *summarise(found), repeats, reference, source)


def _held(model: SummaryModel, exact: dict[Axes, Floats], seed: int) -> tuple[float, float, float]:
    own, held, all_values, widths = model.estimates, [], [], []
    for one in associations(model, seed + 1):
        rows, columns = (pooling(own, axis).indicator(own.sizes[axis]) for axis in one.axes)
        table = exact[one.axes]
        low, high = one.strength.low - 1e-9, one.strength.high + 1e-9
        held.append(low <= cramer_v(rows @ table @ columns.T) <= high)
        all_values.append(low <= cramer_v(table) <= high)
        widths.append(high - low)
    return float(np.mean(held)), float(np.mean(all_values)), float(np.mean(widths))


def _with_noise(model: SummaryModel, exact: dict[Axes, Floats], seed: int) -> SummaryModel:
    """The same look with other noise, which is made public here: of known exact counts."""
    draw = public_generator(seed)

    def noise(table: NoisyTable, size: int) -> Floats:
        if model.gaussian:
            return draw.normal(0.0, table.deviation, size)
        stay = 1 + 1 / table.deviation**2 - math.sqrt((1 + 1 / table.deviation**2) ** 2 - 1)
        return np.asarray(draw.geometric(1 - stay, size) - draw.geometric(1 - stay, size), dtype=np.float64)

    tables = (
        table.model_copy(
            update={"counts": tuple((exact[table.axes].ravel() + noise(table, exact[table.axes].size)).tolist())}
        )
        for table in model.tables
    )
    return SummaryModel.model_validate({**model.model_dump(), "tables": tuple(tables)})


def _truth(name: str) -> Truth:
    return Truth.made(_rare(int(name.split()[2]))) if name.startswith("rare") else Truth.of(name)


def _rare(rows: int) -> BenchData:
    """Columns of 3 to 30 values, with frequencies by Zipf's law, dependent through a hidden one."""
    draw = public_generator(rows)
    hidden, columns, data = draw.integers(0, 6, rows), [], {}
    for place, size in enumerate((3, 5, 8, 12, 20, 30, 4, 6, 10)):
        chances = 1 / np.arange(1, size + 1) ** (1.6 if place % 2 else 1.2)
        drawn = draw.choice(size, (2, rows), p=chances / chances.sum())
        moved = np.array([draw.permutation(size) for _ in range(6)])[hidden, drawn[1]]
        codes = np.where(draw.random(rows) < (0.05, 0.2, 0.5)[place % 3], moved, drawn[0])
        data[f"c{place}"] = [f"v{code}" for code in codes]
        values = [f"v{code}" for code in range(size)]
        columns.append({"name": f"c{place}", "type": "categorical", "categories": values})
    schema = Schema.from_mapping({"name": "rare", "max_rows": 2 * rows, "columns": columns})
    return BenchData(f"rare values, {rows} rows", pd.DataFrame(data), schema)
