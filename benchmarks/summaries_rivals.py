"""Invented records of first looks beside those of SmartNoise and dpmm, and models trained on them.

All see the same cells of public bins. Every rival runs in an environment of its own, made with ``venv``
and ``pip`` in a folder that is kept (``FROSTGLASS_RIVALS``, or one beside temporary files). What could not be
installed, or did not finish in the seconds that it has, is said in place of its figures. The records that rivals made
and what they did not finish are kept in the same folder: a run that was broken off goes on where it ended.
"""

from __future__ import annotations

import hashlib
import json
import tempfile
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from decimal import Decimal
from itertools import combinations
from pathlib import Path
from typing import Final

import numpy as np

from benchmarks.environments import PROGRAMS, LeftOutError, UnfinishedError, called, environment, folder
from benchmarks.records import Record, summarise
from benchmarks.summaries import DELTA, EPSILONS, SUITE, Truth
from dpcore import DPSummary
from dpcore.arrays import Floats, Ints
from dpcore.models.summaries.released.synthesis import Source, draw_codes
from dpcore.privacy.mechanisms import GeometricMechanism
from dpcore.privacy.randomness import SecureRandom

DATA: Final = ("adult", "telco_churn", "npas", "checkups")
#: Seconds by the clock that a rival may take for one table of records, unless it is given more.
LONGEST: Final = 75
_SCRIPT: Final = Path(__file__).parent / "peer_synthesis.py"
_RIVALS: Final = tuple(f"{program} {name}" for program in ("smartnoise", "dpmm") for name in ("mst", "aim"))
HISTOGRAMS: Final = "OpenDP histograms of columns"
COLUMNS, PAIRS, VARIATION, SECONDS = (
    "share of a cell of a column, mean error",
    "share of a cell of a pair, mean error",
    "total variation of a pair, mean",
    "seconds of a core",
)


@dataclass(frozen=True)
class Made:
    """Invented records, in cells, with the seconds that they took."""

    codes: Ints
    seconds: float


#: Records that follow a table at an epsilon; a turn has other noise than the next.
Way = Callable[[Truth, float, int], Made]


def run(
    data: list[str] | None,
    epsilons: list[float] | None,
    only: list[str] | None = None,
    *,
    quick: bool,
    longest: int = LONGEST,
) -> Iterator[Record | str]:
    """Figures of all methods, or of some ``only``, and a sentence for what was left out."""
    slow: set[tuple[str, str]] = set()
    for name in data or DATA:
        truth = Truth.of(name)
        for epsilon in epsilons or ((1.0,) if quick else EPSILONS):
            for method, (times, make) in _methods(longest, quick=quick).items():
                if (name, method) in slow or (only and method not in only):
                    continue
                try:
                    found = [measures(truth, make(truth, epsilon, turn)) for turn in range(times)]
                except LeftOutError as fault:
                    slow.add((name, method))
                    yield f"{name}, epsilon {epsilon:g} and larger: no figures of {method}: {fault}"
                    continue
                for metric in found[0]:
                    mean, error = summarise([one[metric] for one in found])
                    yield Record(SUITE, name, method, epsilon, metric, mean, error, times, None, "")


def _methods(longest: int, *, quick: bool) -> dict[str, tuple[int, Way]]:
    own = 2 if quick else 3
    rivals = {name: (1, _rival(name, longest)) for name in _RIVALS}
    return {**{name: (own, make) for name, make in OWN.items()}, **rivals}


def first_look(*, records: bool = False, tied: bool = False) -> Way:
    """Records that follow a first look: with as many pairs as pay, with as many as tie all columns, or with none."""

    def make(truth: Truth, epsilon: float, _turn: int = 0) -> Made:
        start = time.process_time()
        look = DPSummary(epsilon=epsilon, schema=truth.data.schema, delta=DELTA, records=records)
        look = look if records else look.set_params(pairs=(len(truth.axes) - 1) * tied)
        model = look.fit(truth.data.frame).model_
        codes = draw_codes(Source(model), len(truth.data.frame), np.random.default_rng())
        told = np.stack([codes[place] for place in range(len(truth.axes))], axis=1)
        return Made(told, time.process_time() - start)

    return make


def histograms(truth: Truth, epsilon: float, _turn: int = 0) -> Made:
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
    "first look": first_look(records=True),
    "first look, as many pairs as columns less one": first_look(tied=True),
    "first look, no pairs": first_look(),
    HISTOGRAMS: histograms,
}
METHODS: Final = (*OWN, *_RIVALS)


def _rival(name: str, longest: int) -> Way:
    def make(truth: Truth, epsilon: float, turn: int) -> Made:
        codes = np.stack([truth.codes[axis.column] for axis in truth.axes], axis=1)
        sizes = [axis.size(truth.data.schema) for axis in truth.axes]
        return rival_records(name, codes, sizes, epsilon, turn, longest=longest)

    return make


def rival_records(
    name: str, codes: Ints, sizes: list[int], epsilon: float, turn: int, *, longest: int = LONGEST
) -> Made:
    """Records of a rival that follow a table of cells, those made before if it was asked before.

    Raises
    ------
    LeftOutError
        If it fails, or takes longer than so many seconds by the clock.
    """
    asked = f"{name} {PROGRAMS[name.partition(' ')[0]]} {sizes} {epsilon!r} {DELTA!r} {turn}"
    digest = hashlib.sha256(asked.encode() + codes.tobytes()).hexdigest()[:24]
    return _kept(digest, longest, lambda: _asked(name, codes, sizes, epsilon, longest))


def _kept(digest: str, longest: int, make: Callable[[], Made]) -> Made:
    """What was made before, or was not finished in as much time; else it is made, and kept."""
    place = folder() / "kept"
    place.mkdir(parents=True, exist_ok=True)
    records, unfinished = place / f"{digest}.npz", place / f"{digest}.{longest}.txt"
    if unfinished.exists():
        raise LeftOutError(unfinished.read_text(encoding="utf-8"))
    if records.exists():
        with np.load(records, allow_pickle=False) as kept:
            return Made(kept["codes"], float(kept["seconds"]))
    try:
        made = make()
    except UnfinishedError as fault:
        unfinished.write_text(str(fault), encoding="utf-8")
        raise
    np.savez_compressed(records, codes=made.codes, seconds=made.seconds)
    return made


def _asked(name: str, codes: Ints, sizes: list[int], epsilon: float, longest: int) -> Made:
    python = environment(name.partition(" ")[0])
    with tempfile.TemporaryDirectory() as place:
        problem, records = Path(place) / "problem.npz", Path(place) / "records.npz"
        np.savez(problem, codes=codes, sizes=sizes)
        command = [str(python), str(_SCRIPT), str(problem), str(records), name, repr(epsilon), repr(DELTA)]
        told = called(command, longest, f"not finished in {longest} s")
        with np.load(records, allow_pickle=False) as made:
            return Made(made["codes"], float(json.loads(told)["seconds"]))


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
