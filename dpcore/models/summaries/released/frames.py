"""First looks as tables for programs and files: one row for each figure, with its interval for noise."""

from __future__ import annotations

from typing import Any, Final

import pandas as pd

from dpcore.domain.schemas.schema import Schema
from dpcore.models.summaries.released.association import associations, poolings
from dpcore.models.summaries.released.code_reading import branches
from dpcore.models.summaries.released.intervals import Amount
from dpcore.models.summaries.released.reading import readings
from dpcore.models.summaries.released.summary_model import SummaryModel
from dpcore.models.summaries.released.table_one import table_one

_ASSOCIATIONS: Final = [
    *("first", "second", "Cramér's V", "Cramér's V low", "Cramér's V high"),
    *("pooled of first", "left out of first", "pooled of second", "left out of second"),
]


def cell_frame(model: SummaryModel, schema: Schema) -> pd.DataFrame:
    """Count and share of every cell of every column."""
    return pd.DataFrame(
        [
            {
                "column": reading.axis.name,
                "cell": cell,
                **_named("count", reading.counts.amount(place)),
                **_named("share", reading.shares.amount(place)),
            }
            for reading in readings(model, schema)
            for place, cell in enumerate(reading.cells)
        ]
    )


def number_frame(model: SummaryModel, schema: Schema) -> pd.DataFrame:
    """Mean and quantiles of every column of numbers."""
    rows: list[dict[str, Any]] = []
    for reading in readings(model, schema):
        told = {f"quantile {share:g}": amount for share, amount in reading.quantiles.items()}
        if reading.mean is not None:
            told = {"mean": reading.mean, **told}
        rows += [{"column": reading.axis.name, "figure": name, **_named("value", own)} for name, own in told.items()]
    return pd.DataFrame(rows, columns=["column", "figure", "value", "value low", "value high"])


def table_one_frame(model: SummaryModel, schema: Schema) -> pd.DataFrame:
    """One row for each line of a table 1, with three columns for each group: ``value of``, ``low of``, ``high of`` it.

    These words stand first, so that no group, whatever it is called, has a column of another one or of the table.
    """
    table = table_one(model, schema)
    rows = []
    for line in table.lines:
        row: dict[str, Any] = {"column": line.column, "line": line.label, "figure": line.kind}
        for name, amount in zip(table.groups, line.groups, strict=False):
            row |= {f"value of {name}": amount.value, f"low of {name}": amount.low, f"high of {name}": amount.high}
        if line.difference is not None:
            row |= _named("standardised difference", line.difference)
        rows.append(row)
    return pd.DataFrame(rows)


def association_frame(model: SummaryModel, schema: Schema) -> pd.DataFrame:
    """Cramér's V of every pair that was counted, the strongest first, and the values that it pools or leaves out."""
    names = [axis.label(schema) if axis.rows else axis.name for axis in model.axes]
    pools, rows = poolings(model), []
    for one in associations(model):
        row: dict[str, Any] = {"first": names[one.axes[0]], "second": names[one.axes[1]]}
        row |= _named("Cramér's V", one.strength)
        for which, axis in zip(("first", "second"), one.axes, strict=True):
            cells = model.axes[axis].cells(schema)
            row[f"pooled of {which}"] = "; ".join(cells[cell] for cell in pools[axis].pooled)
            row[f"left out of {which}"] = "; ".join(cells[cell] for cell in pools[axis].left_out)
        rows.append(row)
    return pd.DataFrame(rows, columns=_ASSOCIATIONS)


def code_frame(model: SummaryModel, schema: Schema) -> pd.DataFrame:
    """Count of every branch of every tree of codes that stands out of the noise, from the coarsest groups down."""
    rows = [
        {
            "column": model.axes[tree.axis].name,
            "depth": branch.depth,
            "group": branch.name,
            **_named("count", branch.count),
            "share": branch.share,
            "hidden by the noise": branch.folded,
        }
        for place, tree in enumerate(model.trees)
        for branch in branches(model, schema, place)
    ]
    names = ["column", "depth", "group", "count", "count low", "count high", "share", "hidden by the noise"]
    return pd.DataFrame(rows, columns=names)


def _named(name: str, amount: Amount) -> dict[str, float]:
    return {name: amount.value, f"{name} low": amount.low, f"{name} high": amount.high}
