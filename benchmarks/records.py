"""The form in which every suite reports: one record per figure, shown in a table or as JSON."""

from __future__ import annotations

import json
import math
import platform
from collections.abc import Iterable, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path

import numpy as np
from rich.table import Table


@dataclass(frozen=True)
class Record:
    """One measured figure beside its reference.

    Attributes
    ----------
    mean, stderr : float
        Over ``n`` measurements; for times the median replaces the mean.
    reference : float or None
        The published or rival figure, with its source.
    """

    suite: str
    data: str
    method: str
    epsilon: float | None
    metric: str
    mean: float
    stderr: float
    n: int
    reference: float | None
    reference_source: str


def summarise(values: Sequence[float], groups: Sequence[int] | None = None) -> tuple[float, float]:
    """Mean and its standard error; with ``groups``, of the group means (fits of one split)."""
    figures = np.asarray(values, dtype=float)
    if groups is not None:
        labels = np.asarray(groups)
        figures = np.array([figures[labels == label].mean() for label in np.unique(labels)])
    spread = figures.std(ddof=1) / math.sqrt(len(figures)) if len(figures) > 1 else math.nan
    return float(figures.mean()), float(spread)


def timed(seconds: Sequence[float]) -> tuple[float, float, int]:
    """Median of some times, the standard error of their mean, and how many they are."""
    return float(np.median(seconds)), summarise(seconds)[1], len(seconds)


def write_json(records: Iterable[Record], path: Path) -> None:
    """Write all records as one JSON list; undefined numbers become null."""
    rows = [{k: None if isinstance(v, float) and math.isnan(v) else v for k, v in asdict(r).items()} for r in records]
    path.write_text(json.dumps(rows, indent=2) + "\n", encoding="utf-8")


def table_of(title: str, records: Iterable[Record]) -> Table:
    """Records, one a row, with the verdict against each reference left to the reader."""
    table = Table(title=title, caption=f"{platform.machine()}, Python {platform.python_version()}")
    for heading in ("data", "method", "epsilon", "metric", "measured", "reference", "source"):
        table.add_column(heading, overflow="fold")
    for record in records:
        table.add_row(
            record.data,
            record.method,
            "" if record.epsilon is None else f"{record.epsilon:g}",
            record.metric,
            _figure(record),
            "" if record.reference is None else f"{record.reference:g}",
            record.reference_source,
        )
    return table


def _figure(record: Record) -> str:
    error = "" if math.isnan(record.stderr) else f" ± {record.stderr:.3f}"
    return f"{record.mean:.4g}{error} (n={record.n})"
