"""interpret and diffprivlib on tables with rare outcomes, in environments of their own, and what they are told."""

from __future__ import annotations

import json
import subprocess
import tempfile
from collections.abc import Iterator
from pathlib import Path
from typing import Any, Final

import numpy as np

from benchmarks.environments import environment
from benchmarks.rare import Problem
from dpcore.arrays import Flags, Floats
from dpcore.domain.columns import NumericColumn
from dpcore.domain.encoding import encode_categories

_HERE = Path(__file__).parent
DELTA: Final = 1e-6


def interpret(one: Problem, splits: dict[int, Flags], epsilon: float | None) -> Iterator[tuple[str, int, Floats]]:
    """Chances of the second class on the records set aside, split by split; without epsilon, without privacy."""
    content = {**_raw(one), "target_bounds": (), "delta": DELTA, "plain": epsilon is None, "target": one.truth}
    return _asked("interpret", "peer_interpret.py", content, splits, epsilon)


def diffprivlib(one: Problem, splits: dict[int, Flags], epsilon: float | None) -> Iterator[tuple[str, int, Floats]]:
    """The same of its tree, its forest and its logistic regression, in each of its encodings."""
    content = {"codes": one.codes, "sizes": np.array(one.sizes), "labels": one.truth}
    return _asked("diffprivlib", "peer_chances.py", content, splits, epsilon)


def _raw(one: Problem) -> dict[str, Any]:
    """Raw numbers with their public bounds, missing ones at the lower one, and categories of the schema."""
    columns = [one.data.schema.column(name) for name in one.columns]
    content: dict[str, Any] = {
        "names": one.columns,
        "continuous": [isinstance(column, NumericColumn) for column in columns],
        "lower": [getattr(column, "lower", 0.0) for column in columns],
        "upper": [getattr(column, "upper", 0.0) for column in columns],
    }
    for place, column in enumerate(columns):
        values = one.data.frame[column.name]
        if isinstance(column, NumericColumn):
            content[f"column_{place}"] = values.fillna(column.lower).to_numpy(dtype=np.float64)
        else:
            content[f"column_{place}"] = np.array(column.cells)[encode_categories(column, values)]
    return content


def _asked(
    program: str, script: str, content: dict[str, Any], splits: dict[int, Flags], epsilon: float | None
) -> Iterator[tuple[str, int, Floats]]:
    python, asked = environment(program), [] if epsilon is None else [repr(epsilon)]
    with tempfile.TemporaryDirectory() as folder:
        told, found = Path(folder) / "problem.npz", Path(folder) / "scores.npy"
        np.savez(told, **content, tests=np.stack(list(splits.values())))
        command = [str(python), str(_HERE / script), str(told), str(found), *asked]
        done = subprocess.run(command, capture_output=True, text=True, check=False)
        if done.returncode != 0:
            raise RuntimeError(f"{program} failed: {done.stderr.strip()[-2000:]}")
        scores = np.load(found)
    numbers = list(splits)
    for entry, own in zip(json.loads(done.stdout), scores, strict=True):
        yield entry["method"], numbers[entry["split"]], own
