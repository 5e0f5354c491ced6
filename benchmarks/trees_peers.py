"""The peer program diffprivlib, which runs in an environment of its own."""

from __future__ import annotations

import json
import subprocess
import tempfile
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from benchmarks import peers
from benchmarks.cross_validation import Encoded, encoded, fold_numbers

METHODS = ("diffprivlib tree", "diffprivlib forest")
HOW_TO = (
    "Left out: diffprivlib, which needs an older scikit-learn than this project. To include it: "
    "python -m venv peers && peers/bin/pip install diffprivlib==0.6.6 scikit-learn==1.7.2, "
    f"then --peers peers/bin/python (or the variable {peers.PYTHON_VARIABLE})."
)
_SCRIPT = Path(__file__).parent / "peer_diffprivlib.py"


@dataclass(frozen=True)
class PeerScore:
    """Accuracy and seconds of one fit in one encoding."""

    method: str
    encoding: str
    repeat: int
    fold: int
    epsilon: float
    accuracy: float
    seconds: float


def interpreter(given: Path | None) -> Path | None:
    """The interpreter of the peers' environment, if one is named.

    Raises
    ------
    RuntimeError
        If it has no diffprivlib.
    """
    return peers.interpreter(given, "diffprivlib.models", HOW_TO)


def score_peers(
    python: Path,
    name: str,
    folds: int,
    repeats: int,
    epsilons: Sequence[float],
    *,
    only_first: bool = False,
) -> list[PeerScore]:
    """Fit the peers on the same folds in every encoding; ``only_first``: on the first fold.

    Raises
    ------
    RuntimeError
        If the peers' program fails; among other reasons, if it warns of a leak.
    """
    whole = encoded(name)
    numbers = np.stack([fold_numbers(whole.labels, folds, repeat) for repeat in range(repeats)])
    if only_first:
        numbers[numbers > 0] = -1
    with tempfile.TemporaryDirectory() as folder:
        problem = Path(folder) / "problem.npz"
        np.savez(problem, **_content(whole), folds=numbers)
        command = [str(python), str(_SCRIPT), str(problem), *map(repr, epsilons)]
        done = subprocess.run(command, capture_output=True, text=True, check=False)
    if done.returncode != 0:
        raise RuntimeError(f"diffprivlib failed on {name}: {done.stderr.strip()[-2000:]}")
    return [PeerScore(**entry) for entry in json.loads(done.stdout)]


def _content(whole: Encoded) -> dict[str, Any]:
    """Cell codes without the cells that no record has, which would only hinder the peers."""
    used = [np.unique(column, return_inverse=True) for column in whole.codes.T]
    classes = whole.data.schema.column(whole.data.target).classes
    return {
        "codes": np.stack([codes for _, codes in used], axis=1),
        "sizes": np.array([len(cells) for cells, _ in used]),
        "labels": whole.labels,
        "classes": np.arange(len(classes)),
    }


def best_encodings(scores: Sequence[PeerScore]) -> list[PeerScore]:
    """Of each method at each epsilon, the scores in the encoding with the higher mean."""
    groups: dict[tuple[str, float], dict[str, list[PeerScore]]] = {}
    for score in scores:
        group = groups.setdefault((score.method, score.epsilon), {})
        group.setdefault(score.encoding, []).append(score)
    return [
        score
        for group in groups.values()
        for score in max(group.values(), key=lambda kept: np.mean([s.accuracy for s in kept]))
    ]
