"""interpret and diffprivlib on tables with rare outcomes, in environments of their own, and what they are told."""

from __future__ import annotations

import json
import subprocess
import tempfile
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
#: Method, epsilon (``None``: without privacy) and split of one fit.
Fit = tuple[str, float | None, int]


def interpret(one: Problem, apart: Flags, epsilons: list[float]) -> dict[Fit, Floats]:
    """Chances of the second class on the records set aside."""
    content = {**_raw(one), "target_bounds": (), "delta": DELTA, "plain": True, "target": one.truth}
    return _asked("interpret", "peer_interpret.py", content, apart, epsilons)


def diffprivlib(one: Problem, apart: Flags, epsilons: list[float]) -> dict[Fit, Floats]:
    """The same of its tree, its forest and its logistic regression, on one column for each cell."""
    content = {"codes": one.codes, "sizes": np.array(one.sizes), "labels": one.truth}
    return _asked("diffprivlib", "peer_chances.py", content, apart, epsilons)


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
    program: str, script: str, content: dict[str, Any], apart: Flags, epsilons: list[float]
) -> dict[Fit, Floats]:
    python = environment(program)
    with tempfile.TemporaryDirectory() as folder:
        told, found = Path(folder) / "problem.npz", Path(folder) / "scores.npy"
        np.savez(told, **content, tests=apart)
        command = [str(python), str(_HERE / script), str(told), str(found), *map(repr, epsilons)]
        done = subprocess.run(command, capture_output=True, text=True, check=False)
        if done.returncode != 0:
            raise RuntimeError(f"{program} failed: {done.stderr.strip()[-2000:]}")
        scores = np.load(found)
    entries = json.loads(done.stdout)
    return {(e["method"], e["epsilon"], e["split"]): own for e, own in zip(entries, scores, strict=True)}
