"""Invented records of first looks beside those of SmartNoise and dpmm, and models trained on them.

All see the same cells of public bins. Every rival runs in an environment of its own, made with ``venv``
and ``pip`` in a folder that is kept (``FROSTGLASS_RIVALS``, or one beside temporary files). What could not be
installed, or took longer than ``LONGEST`` seconds, is said in place of its figures.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
import tempfile
import time
import venv
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from decimal import Decimal
from itertools import combinations
from pathlib import Path
from typing import Any, Final

import numpy as np

from benchmarks.records import Record, summarise
from benchmarks.summaries import DELTA, EPSILONS, SUITE, Truth
from dpcore import DPSummary
from dpcore.arrays import Floats, Ints
from dpcore.models.summaries.released.synthesis import draw_codes
from dpcore.privacy.mechanisms import GeometricMechanism
from dpcore.privacy.randomness import SecureRandom

DATA: Final = ("adult", "telco_churn", "npas", "wine_quality")
FOLDER_VARIABLE: Final = "FROSTGLASS_RIVALS"
#: Seconds that a rival may take for one table of records.
LONGEST: Final = 150
_INSTALLING: Final = 900
_SCRIPT: Final = Path(__file__).parent / "peer_synthesis.py"
#: Programs by the name that the script knows, each with what is installed for it.
PROGRAMS: Final = {"smartnoise": "smartnoise-synth==1.0.8", "dpmm": "dpmm==0.1.9"}
_RIVALS: Final = tuple(f"{program} {name}" for program in PROGRAMS for name in ("mst", "aim"))
HISTOGRAMS: Final = "OpenDP histograms of columns"
COLUMNS, PAIRS, VARIATION, SECONDS = (
    "share of a cell of a column, mean error",
    "share of a cell of a pair, mean error",
    "total variation of a pair, mean",
    "seconds of a core",
)


class LeftOutError(Exception):
    """A rival has no figures; the text says why."""


@dataclass(frozen=True)
class Made:
    """Invented records, in cells, with the seconds that they took."""

    codes: Ints
    seconds: float


def run(data: list[str] | None, epsilons: list[float] | None, *, quick: bool) -> Iterator[Record | str]:
    """Figures of all methods, and a sentence for what was left out."""
    slow: set[tuple[str, str]] = set()
    for name in data or DATA:
        truth = Truth.of(name)
        for epsilon in epsilons or ((1.0,) if quick else EPSILONS):
            for method, (times, make) in _methods(quick=quick).items():
                if (name, method) in slow:
                    continue
                try:
                    found = [measures(truth, make(truth, epsilon)) for _ in range(times)]
                except LeftOutError as fault:
                    slow.add((name, method))
                    yield f"{name}, epsilon {epsilon:g} and larger: no figures of {method}: {fault}"
                    continue
                for metric in found[0]:
                    mean, error = summarise([one[metric] for one in found])
                    yield Record(SUITE, name, method, epsilon, metric, mean, error, times, None, "")


def _methods(*, quick: bool) -> dict[str, tuple[int, Callable[[Truth, float], Made]]]:
    own = 2 if quick else 5
    rivals = {name: (1 if quick else 2, _rival(name)) for name in _RIVALS}
    return {**{name: (own, make) for name, make in OWN.items()}, **rivals}


def first_look(**chosen: Any) -> Callable[[Truth, float], Made]:
    """Records that follow a first look."""

    def make(truth: Truth, epsilon: float) -> Made:
        start = time.process_time()
        pairs = chosen.get("pairs", len(truth.axes) - 1)
        look = DPSummary(epsilon=epsilon, schema=truth.data.schema, delta=DELTA, **{**chosen, "pairs": pairs})
        model = look.fit(truth.data.frame).model_
        codes = draw_codes(model, len(truth.data.frame), np.random.default_rng())
        told = np.stack([codes[place] for place in range(len(truth.axes))], axis=1)
        return Made(told, time.process_time() - start)

    return make


def histograms(truth: Truth, epsilon: float) -> Made:
    """Every column by itself, with the same part of epsilon, as DP Wizard counts: no pairs."""
    start = time.process_time()
    mechanism = GeometricMechanism(1, Decimal(repr(epsilon)) / len(truth.axes))
    source, generator = SecureRandom(), np.random.default_rng()
    columns = []
    for place in range(len(truth.axes)):
        noisy = np.maximum(mechanism.release(truth.table((place,)).astype(np.int64), source), 0).astype(float)
        noisy = noisy if noisy.sum() > 0 else np.ones_like(noisy)
        columns.append(generator.choice(len(noisy), len(truth.data.frame), p=noisy / noisy.sum()))
    return Made(np.stack(columns, axis=1), time.process_time() - start)


OWN: Final = {
    "first look, linked": first_look(linked=True),
    "first look": first_look(),
    HISTOGRAMS: histograms,
}


def _rival(name: str) -> Callable[[Truth, float], Made]:
    def make(truth: Truth, epsilon: float) -> Made:
        python = environment(name.partition(" ")[0])
        with tempfile.TemporaryDirectory() as folder:
            problem, records = Path(folder) / "problem.npz", Path(folder) / "records.npz"
            codes = np.stack([truth.codes[axis.column] for axis in truth.axes], axis=1)
            np.savez(problem, codes=codes, sizes=[axis.size(truth.data.schema) for axis in truth.axes])
            command = [str(python), str(_SCRIPT), str(problem), str(records), name, repr(epsilon), repr(DELTA)]
            told = _called(command, LONGEST, f"it takes more than {LONGEST} seconds for one table of records")
            with np.load(records, allow_pickle=False) as made:
                return Made(made["codes"], float(json.loads(told)["seconds"]))

    return make


def environment(program: str) -> Path:
    """The Python of a program's environment, which is made at the first time.

    Raises
    ------
    LeftOutError
        If it cannot be installed.
    """
    kept = os.environ.get(FOLDER_VARIABLE) or Path(tempfile.gettempdir()) / "frostglass-rivals"
    folder = Path(kept) / PROGRAMS[program].replace("==", "-")
    python, ready = folder / "bin" / "python", folder / "ready"
    if not ready.exists():
        print(f"Installing {PROGRAMS[program]} into {folder} ...", file=sys.stderr)
        venv.create(folder, with_pip=True, clear=True)
        command = [str(python), "-m", "pip", "install", "--quiet", PROGRAMS[program]]
        _called(command, _INSTALLING, "it could not be installed in time")
        ready.touch()
    return python


def _called(command: list[str], seconds: int, too_long: str) -> str:
    try:
        done = subprocess.run(command, capture_output=True, text=True, check=False, timeout=seconds)
    except subprocess.TimeoutExpired:
        raise LeftOutError(too_long) from None
    if done.returncode != 0:
        said = done.stderr.strip().splitlines()
        raise LeftOutError(f"it failed: {said[-1][:200] if said else 'no message'}")
    return done.stdout


def measures(truth: Truth, made: Made) -> dict[str, float]:
    """How far shares of invented records are from those of the real ones."""
    places = range(len(truth.axes))
    single = np.concatenate([_away(truth, made, (place,)) for place in places])
    pairs = [_away(truth, made, pair) for pair in combinations(places, 2)]
    return {
        COLUMNS: float(single.mean()),
        PAIRS: float(np.concatenate(pairs).mean()),
        VARIATION: float(np.mean([away.sum() / 2 for away in pairs])),
        SECONDS: made.seconds,
    }


def _away(truth: Truth, made: Made, axes: tuple[int, ...]) -> Floats:
    exact = truth.table(axes)
    drawn = np.zeros_like(exact)
    np.add.at(drawn, tuple(made.codes[:, axis] for axis in axes), 1)
    away: Floats = np.abs(exact / exact.sum() - drawn / drawn.sum()).ravel()
    return away
