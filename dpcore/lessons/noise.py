"""Noisy answers to public counts, and how likely each answer is."""

from __future__ import annotations

import math
from collections.abc import Iterable
from dataclasses import dataclass
from decimal import Decimal

import numpy as np

from dpcore.arrays import Ints
from dpcore.privacy.budgets import geometric_tail
from dpcore.privacy.mechanisms import GeometricMechanism
from dpcore.privacy.randomness import source_for


@dataclass(frozen=True)
class PublicCount:
    """A question about the public demonstration data, and its true answer."""

    question: str
    """Who is counted, in plain words."""
    people: int
    """How many they are. One person more or less changes it by at most 1."""


#: Patients of the demonstration set ``stroke`` with at least one such admission, largest first.
COUNTS = (
    PublicCount("with high blood pressure", 9_521),
    PublicCount("with an earlier transient ischaemic attack (TIA)", 1_398),
    PublicCount("above 80, with atrial fibrillation and an earlier TIA", 123),
    PublicCount("with a systolic pressure above 200", 28),
    PublicCount("up to 30 years old who had a stroke within a year", 5),
)


def noisy_vector(counts: Ints, sensitivity: int, epsilon: Decimal, seed: int | None) -> Ints:
    """Counts with the engine's two-sided geometric noise.

    Parameters
    ----------
    counts : array of int
        Public counts.
    sensitivity : int
        Largest sum of changes, over all counts, that one person makes.
    epsilon : Decimal
        Budget of all counts together.
    seed : int or None
        Names the draw: the same seed gives the same noise, which is not private. ``None``: from
        the system's source, another one each time.
    """
    return GeometricMechanism(sensitivity, epsilon).release(counts, source_for(seed))


def noisy_answers(people: int, epsilon: Decimal, seeds: Iterable[int | None]) -> tuple[int, ...]:
    """One noisy answer for each seed: the same question, asked again and again."""
    count = np.array([people])
    return tuple(int(noisy_vector(count, 1, epsilon, seed)[0]) for seed in seeds)


def margin(epsilon: Decimal, confidence: float = 0.95) -> int:
    """Noise on a count stays within plus or minus this, with ``confidence``."""
    return geometric_tail(1 / float(epsilon), confidence)


def noise_chance(noise: int, epsilon: Decimal) -> float:
    """Exact probability that two-sided geometric noise of a count is ``noise``.

    (1 - a) / (1 + a) * a**abs(noise) with a = exp(-epsilon).
    """
    half = float(epsilon) / 2
    return math.tanh(half) * math.exp(-abs(noise) * float(epsilon))
