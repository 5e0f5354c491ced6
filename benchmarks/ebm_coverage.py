"""How often the noise bands of a boosting machine hold what a run without noise would give."""

from __future__ import annotations

from collections.abc import Iterator
from decimal import Decimal
from unittest.mock import patch

import numpy as np
from rich.console import Console
from rich.progress import track

from benchmarks.ebm_fits import DELTA
from benchmarks.ebm_splits import Split, split
from benchmarks.records import Record, summarise
from dpcore.arrays import Floats, Ints
from dpcore.learning.learner import Run
from dpcore.models.registry import get_learner
from dpcore.privacy.randomness import RandomSource, SeededRandom
from dpcore.released.evaluation import Z95

DATA = ("adult", "telco_churn", "california_housing", "wine_quality", "elevators")
EPSILONS = (0.5, 1.0, 4.0)
_RUNS = 10


class Silent(SeededRandom):
    """A source whose Gaussian noise is zero."""

    def gaussian_noise(self, scale: float, count: int) -> Ints:  # noqa: ARG002
        return np.zeros(count, dtype=np.int64)


def silent_replicates(_: RandomSource, count: int) -> list[RandomSource]:
    """Sources without noise for all replicates: only the histograms keep theirs."""
    return [Silent(0) for _ in range(count)]


def run(suite: str, *, quick: bool) -> Iterator[Record]:
    """Share of the bins whose 95 % band holds the score of the same schedule without noise.

    The bins and counts of both runs are the same; only the noise of the sums is left out.
    """
    for name in DATA[1:2] if quick else DATA:
        data = split(name, 0)
        for epsilon in track(EPSILONS, f"Bands of {name}", console=Console(stderr=True)):
            shares = [_share(data, epsilon, seed) for seed in range(2 if quick else _RUNS)]
            yield Record(
                suite,
                name,
                "all bins",
                epsilon,
                "coverage of the 95 % bands",
                *summarise(shares),
                len(shares),
                0.95,
                "nominal",
            )


def _share(data: Split, epsilon: float, seed: int) -> float:
    scores, errors = _fit(data, epsilon, seed)
    with patch.object(SeededRandom, "parts", silent_replicates):
        quiet, _ = _fit(data, epsilon, seed)
    return float(np.mean(np.abs(scores - quiet) <= Z95 * errors))


def _fit(data: Split, epsilon: float, seed: int) -> tuple[Floats, ...]:
    """Scores of all bins of all terms, and their standard errors."""
    learner, known = get_learner("ebm"), data.whole.data
    chosen = {"delta": DELTA, "evaluate": False}
    plan = learner.plan(known.schema, known.target, Decimal(str(epsilon)), chosen)
    model = learner.run(Run(data.table, plan, SeededRandom(seed)))
    return tuple(
        np.concatenate([np.ravel(getattr(term, part)) for term in model.terms])  # type: ignore[attr-defined]
        for part in ("scores", "errors")
    )
