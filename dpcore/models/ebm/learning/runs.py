"""Over which runs of neighbouring bins a question adds up residuals. Post-processing.

One noise is added to each sum, so sums over long runs tell more of the whole shape, and sums over
bins more of its details. The way that is expected to tell most is taken, given what is known already.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from dpcore.arrays import Floats, Ints

#: By how much of a run the ends of runs move from question to question: no fraction of whole numbers.
_GOLDEN = (np.sqrt(5) - 1) / 2


@dataclass(frozen=True)
class Runs:
    """One way to add up the bins of a feature.

    Attributes
    ----------
    of_bins : array of shape (n_bins,)
        Run of each bin: every bin is in one.
    """

    of_bins: Ints

    def __len__(self) -> int:
        return int(self.of_bins.max()) + 1

    @property
    def matrix(self) -> Floats:
        """1 where a bin is in a run: shape (n_runs, n_bins)."""
        return np.asarray(self.of_bins == np.arange(len(self))[:, None], dtype=np.float64)

    def sums(self, values: Ints) -> Ints:
        """Sums over the runs of values of shape (n_replicates, n_bins, n_outputs)."""
        order = np.argsort(self.of_bins, kind="stable")
        firsts = np.searchsorted(self.of_bins[order], np.arange(len(self)))
        return np.add.reduceat(values[:, order], firsts, axis=1)


def possible_runs(mass: Floats, ordered: int, turn: int, *, whole: bool) -> list[Runs]:
    """Every bin for itself; halves, quarters and so on of the ordered bins; perhaps all bins together.

    Parameters
    ----------
    mass : array of shape (n_bins,)
        Runs have about the same share of it.
    turn : int
        Questions before: ends of all runs but halves differ from turn to turn.
    """
    bins = len(mass)
    found = [np.arange(bins), *([np.zeros(bins, dtype=np.int64)] if whole else [])]
    own = mass[:ordered]
    middles = (np.cumsum(own) - own / 2) / own.sum() if ordered else own
    count = 2
    while count < ordered:
        shift = (turn * _GOLDEN) % 1 if count > 2 else 0.0
        run = np.unique(np.floor(middles * count + shift), return_inverse=True)[1]
        found.append(np.concatenate([run, run.max() + 1 + np.arange(bins - ordered)]))
        count *= 2
    return [Runs(np.asarray(run, dtype=np.int64)) for run in found]


def best_runs(ways: Sequence[Runs], covariances: Floats, hessians: Floats, noise: float, *, centred: bool) -> Runs:
    """The way that lowers the expected loss most (an A-optimal design).

    Parameters
    ----------
    covariances : array of shape (n_outputs, n_bins, n_bins)
        What is not known of the shape.
    hessians : array of shape (n_outputs, n_bins)
        Second derivative of the loss by the score of each bin.
    noise : float
        Variance of the noise on one sum.
    centred : bool
        Whether a level common to all bins is of no interest.
    """
    gains = [
        sum(_gain(way.matrix, *own, noise, centred) for own in zip(covariances, hessians, strict=True)) for way in ways
    ]
    return ways[int(np.argmax(gains))]


def _gain(matrix: Floats, covariance: Floats, hessian: Floats, noise: float, centred: bool) -> float:
    seen = (matrix * hessian) @ covariance
    known = np.linalg.solve((seen * hessian) @ matrix.T + noise * np.eye(len(matrix)), seen)
    gain = float(hessian @ (seen * known).sum(axis=0))
    if centred:
        gain -= float((seen @ hessian) @ (known @ hessian)) / float(hessian.sum())
    return gain
