"""Runs of the suite of redescriptions kept in a file, one a line, so that a suite goes on where it ended."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import asdict
from pathlib import Path
from typing import Any

import numpy as np

from benchmarks.kept import KeptLines
from benchmarks.redescriptions_runs import Reading, Run

#: A data set, a method and an epsilon (``None`` without privacy).
Cell = tuple[str, str, float | None]


class KeptRuns:
    """Runs in a file of JSON lines, or nowhere."""

    def __init__(self, path: Path | None) -> None:
        self._kept = KeptLines(path)

    def runs(self) -> list[tuple[str, Run]]:
        """Data set and run of every line, in order."""
        return [_read(content) for content in self._kept.lines()]

    def keep(self, data: str, run: Run) -> None:
        """Add a run."""
        self._kept.keep(_content(data, run))


def still_to_do(cells: Sequence[Cell], times: int, done: Sequence[Cell]) -> list[Cell]:
    """Cells that are not yet there so often: one run of each, then the next of each.

    A cell without privacy, of which every run is the same, is wanted once.
    """
    there = Counter(done)
    return [
        cell
        for number in range(times)
        for cell in cells
        if there[cell] <= number and (number == 0 or cell[2] is not None)
    ]


def _content(data: str, run: Run) -> dict[str, Any]:
    readings = {name: {key: _plain(value) for key, value in asdict(own).items()} for name, own in run.readings.items()}
    return {"data": data, **asdict(run), "readings": readings}


def _plain(value: Any) -> Any:
    return value.tolist() if isinstance(value, np.ndarray) else value


def _read(content: dict[str, Any]) -> tuple[str, Run]:
    readings = {name: _reading(own) for name, own in content.pop("readings").items()}
    return content.pop("data"), Run(**content, readings=readings)


def _reading(content: dict[str, Any]) -> Reading:
    suggested, held = content.pop("suggested"), np.array(content.pop("held"), dtype=np.bool_)
    arrays = {name: np.array(values, dtype=np.float64) for name, values in content.items()}
    return Reading(**arrays, held=held, suggested=suggested)
