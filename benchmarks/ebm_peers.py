"""The peer program interpret, which runs in an environment of its own."""

from __future__ import annotations

import json
import subprocess
import tempfile
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np

from benchmarks import peers
from benchmarks.ebm_fits import Fit
from benchmarks.ebm_splits import Whole, whole
from benchmarks.peer_interpret import PLAIN, PRIVATE
from dpcore.domain.columns import NumericColumn
from dpcore.domain.encoding import encode_categories

METHODS = (PRIVATE, PLAIN)
HOW_TO = (
    "Left out: interpret, whose requirements are not this project's. To include it: "
    "python -m venv peers && peers/bin/pip install interpret-core==0.7.8, "
    f"then --peers peers/bin/python (or the variable {peers.PYTHON_VARIABLE})."
)
_SCRIPT = Path(__file__).parent / "peer_interpret.py"


def interpreter(given: Path | None) -> Path | None:
    """The interpreter of the peers' environment, if one is named.

    Raises
    ------
    RuntimeError
        If it has no interpret.
    """
    return peers.interpreter(given, "interpret.privacy", HOW_TO)


def peer_fits(
    python: Path, name: str, splits: int, epsilons: Sequence[float], *, delta: float, plain: bool
) -> list[Fit]:
    """Fit the peers on the same splits; ``plain``: also without privacy.

    Raises
    ------
    RuntimeError
        If the peers' program fails; among other reasons, if it warns of a leak.
    """
    data = whole(name)
    tests = data.tests(splits)
    with tempfile.TemporaryDirectory() as folder:
        problem, predictions = Path(folder) / "problem.npz", Path(folder) / "predictions.npy"
        np.savez(problem, **_content(data), tests=tests, delta=delta, plain=plain)
        command = [str(python), str(_SCRIPT), str(problem), str(predictions)]
        command += map(repr, epsilons)
        done = subprocess.run(command, capture_output=True, text=True, check=False)
        if done.returncode != 0:
            raise RuntimeError(f"interpret failed on {name}: {done.stderr.strip()[-2000:]}")
        found = np.load(predictions)
    return [
        Fit(**entry, figure=data.score(tests[entry["split"]], predicted))
        for entry, predicted in zip(json.loads(done.stdout), found, strict=True)
    ]


def _content(data: Whole) -> dict[str, Any]:
    """Raw numbers, categories as in the schema, and the public bounds.

    interpret refuses missing numbers in a private fit: they become the lower bound.
    """
    schema, target = data.data.schema, data.data.target
    columns = [column for column in schema if column.name != target]
    continuous = [isinstance(column, NumericColumn) for column in columns]
    content: dict[str, Any] = {
        "names": [column.name for column in columns],
        "continuous": continuous,
        "lower": [getattr(column, "lower", 0.0) for column in columns],
        "upper": [getattr(column, "upper", 0.0) for column in columns],
        "target": data.truth.astype(np.int64) if data.bounds is None else data.truth,
        "target_bounds": data.bounds or (),
    }
    for place, (column, numeric) in enumerate(zip(columns, continuous, strict=True)):
        values = data.data.frame[column.name]
        if numeric:
            content[f"column_{place}"] = values.fillna(column.lower).to_numpy(dtype=np.float64)
        else:
            content[f"column_{place}"] = np.array(column.cells)[encode_categories(column, values)]
    return content
