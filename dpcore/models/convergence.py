"""Whether Markov chains have converged, on records that are public: several of each, as they went."""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import suppress
from dataclasses import dataclass
from typing import Any, Final

import numpy as np
import pandas as pd

from dpcore.arrays import Flags, Floats
from dpcore.data.building.ingest import frame_chunks, ingest
from dpcore.data.table import PrivateTable
from dpcore.errors import RequestError
from dpcore.learning.chains import Chain
from dpcore.learning.learner import Run
from dpcore.models.registry import get_learner
from dpcore.privacy.randomness import SeededRandom, Walk
from dpcore.released.release import Release

#: Steps of a window of the thesis, and how far the mean scores of two may be apart, as a share of the records.
_WINDOW: Final = 250
_APART: Final = 0.05


@dataclass(frozen=True)
class ChainCourse:
    """Chains with the same target, each from a start of its own. Exact facts of records: for public ones only."""

    scores: Floats
    """Log score (of the target, but for a constant) after each step: shape (n_chains, n_steps)."""
    taken: Flags
    """Whether a step took its proposal: shape (n_chains, n_steps)."""
    records: int
    """That the scores are of."""

    @property
    def acceptance(self) -> float:
        """Share of proposals that Metropolis and Hastings accept; half of these are taken, as chains are lazy."""
        return min(1.0, 2 * float(self.taken.mean()))

    @property
    def r_hat(self) -> float:
        """R-hat of the log score (rank-normalised, split), over the second half of the steps; 1 if all are equal."""
        from arviz_stats.base import array_stats

        half = self._second_half
        return float(array_stats.rhat(half)) if np.ptp(half) > 0 else 1.0

    @property
    def effective_size(self) -> float:
        """Effective sample size of the log score (bulk), of all chains, over the second half of the steps."""
        from arviz_stats.base import array_stats

        half = self._second_half
        return float(array_stats.ess(half)) if np.ptp(half) > 0 else float(half.size)

    @property
    def settled(self) -> int:
        """Chains that meet the thesis's criterion.

        Mean scores of the last two windows of 250 steps are at most 0.05 n apart, of n records.
        """
        last, before = self.scores[:, -_WINDOW:], self.scores[:, -2 * _WINDOW : -_WINDOW]
        return int((np.abs(last.mean(axis=1) - before.mean(axis=1)) <= _APART * self.records).sum())

    @property
    def _second_half(self) -> Floats:
        return self.scores[:, self.scores.shape[1] // 2 :]


def chain_courses(
    release: Release, records: pd.DataFrame | PrivateTable, *, chains: int = 4, most: int = 2, seed: int = 0
) -> list[ChainCourse]:
    """Run the chains of a release again, several of each, and tell how they went. For public records only.

    Parameters
    ----------
    release : Release
        Of ``mcmc`` rule lists, ``alt_mcmc`` or ``mcmc_tree_pair``.
    records : pandas.DataFrame or PrivateTable
        Public ones: what is told of them is exact.
    chains : int
        How many of each, at least 2.
    most : int
        Of a run with many chains one after another (a tree, the tree that answers it, ...), so many are told of.
    seed : int

    Returns
    -------
    list of ChainCourse
        In the order of the run.

    Raises
    ------
    RequestError
        If the release has no chain, or its parameters are no longer accepted.
    """
    learner, source = get_learner(release.kind), _Several(seed, chains, most)
    plan = learner.plan(release.domain, release.target, release.certificate.epsilon, release.parameters)
    if plan.guarantee != "conditional on convergence":
        raise RequestError("This result was drawn without a Markov chain: there is nothing that has to converge.")
    if isinstance(records, PrivateTable):
        table = records
    else:
        table = ingest(frame_chunks(records), plan.schema, SeededRandom(seed))
    with suppress(_EnoughError):
        learner.run(Run(table, plan, source))
    people = len(table.public_frame(plan.part))
    return [
        ChainCourse(np.stack([own.scores for own in found]), np.stack([own.taken for own in found]), people)
        for found in source.found
    ]


class _EnoughError(Exception):
    """All chains that were wanted have been run."""


class _Several(SeededRandom):
    """A source by which each chain runs several times; the first gives what the run goes on with."""

    def __init__(self, seed: int, chains: int, most: int) -> None:
        super().__init__(seed)
        self._chains, self._most = max(2, chains), most
        self.found: list[Sequence[Chain[Any]]] = []

    def settle(self, walk: Walk[Any]) -> Any:
        """Run a chain from several starts."""
        self.found.append([walk.run(own) for own in self.parts(self._chains)])
        if len(self.found) >= self._most:
            raise _EnoughError
        return self.found[-1][0]
