"""How often the noise bands of a boosting machine hold what a run without noise would give."""

from __future__ import annotations

from collections.abc import Iterator
from decimal import Decimal
from unittest.mock import patch

import numpy as np
from rich.console import Console
from rich.progress import track

from benchmarks import ebm, rare
from benchmarks.ebm_fits import DELTA
from benchmarks.ebm_splits import split
from benchmarks.records import Record, summarise
from dpcore.arrays import Floats, Ints
from dpcore.data.building.ingest import frame_chunks, ingest
from dpcore.data.table import PrivateTable
from dpcore.learning.learner import Run
from dpcore.models.registry import get_learner
from dpcore.privacy.randomness import RandomSource, SeededRandom
from dpcore.released.evaluation import Z95

#: Data sets of the suite about boosting, and tables with rare outcomes or few records.
DATA = (*ebm.DATA, *rare.TABLES)
EPSILONS = (0.5, 1.0, 4.0)
_QUICK = ("telco_churn",)
_RUNS = 10


class Silent(SeededRandom):
    """A source whose Gaussian noise is zero."""

    def gaussian_noise(self, scale: float, count: int) -> Ints:  # noqa: ARG002
        return np.zeros(count, dtype=np.int64)


def silent_replicates(_: RandomSource, count: int) -> list[RandomSource]:
    """Sources without noise for all replicates: only the histograms keep theirs."""
    return [Silent(0) for _ in range(count)]


def run(suite: str, names: list[str] | None = None, *, quick: bool) -> Iterator[Record]:
    """Share of the bins whose 95 % band holds the score of the same schedule without noise.

    The bins and counts of both runs are the same; only the noise of the sums is left out.
    """
    for name in names or (_QUICK if quick else DATA):
        table, target = _records(name)
        for epsilon in track(EPSILONS, f"Bands of {name}", console=Console(stderr=True)):
            shares = [_share(table, target, epsilon, seed) for seed in range(2 if quick else _RUNS)]
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


def _records(name: str) -> tuple[PrivateTable, str]:
    """Records of a data set, encoded, and their target."""
    if name in rare.TABLES:
        data = rare.TABLES[name]()
        return ingest(frame_chunks(data.frame), data.schema, SeededRandom(0)), data.target
    learned = split(name, 0)
    return learned.table, learned.whole.data.target


def _share(table: PrivateTable, target: str, epsilon: float, seed: int) -> float:
    scores, errors = _fit(table, target, epsilon, seed)
    with patch.object(SeededRandom, "parts", silent_replicates):
        quiet, _ = _fit(table, target, epsilon, seed)
    return float(np.mean(np.abs(scores - quiet) <= Z95 * errors))


def _fit(table: PrivateTable, target: str, epsilon: float, seed: int) -> tuple[Floats, ...]:
    """Scores of all bins of all terms, and their standard errors."""
    learner, chosen = get_learner("ebm"), {"delta": DELTA, "evaluate": False}
    plan = learner.plan(table.schema, target, Decimal(str(epsilon)), chosen)
    model = learner.run(Run(table, plan, SeededRandom(seed)))
    return tuple(
        np.concatenate([np.ravel(getattr(term, part)) for term in model.terms])  # type: ignore[attr-defined]
        for part in ("scores", "errors")
    )
