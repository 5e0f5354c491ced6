"""Noisy histograms: counts are put on the fine grid, given Gaussian noise and taken back."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from dpcore.arrays import Floats, Ints
from dpcore.models.ebm.learning.ebm_queries import COUNT_STEPS
from dpcore.privacy.mechanisms import FineGaussian
from dpcore.privacy.randomness import RandomSource


def noisy_histograms(mechanism: FineGaussian, exact: Sequence[Ints], randomness: RandomSource) -> list[Floats]:
    """Release histograms together, in one query. Sensitivity: ``histogram_sensitivity``."""
    ends = np.cumsum([len(counts) for counts in exact])[:-1]
    noisy = mechanism.release(np.concatenate(exact) * COUNT_STEPS, randomness)
    return np.split(noisy / COUNT_STEPS, ends)


def count_deviation(mechanism: FineGaussian) -> float:
    """Standard deviation of the noise on each count, in records."""
    return mechanism.scale / COUNT_STEPS
