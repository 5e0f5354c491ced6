"""Noise tails by summation and Gaussian deltas in sixty digits."""

from __future__ import annotations

import math

import mpmath


def geometric_tail(scale: float, confidence: float) -> int:
    """Smallest t whose two-sided geometric mass on [-t, t] reaches ``confidence``."""
    mass = math.tanh(1 / (2 * scale))
    weight, inside, t = mass, mass, 0
    while inside < confidence - 1e-12:
        t += 1
        weight *= math.exp(-1 / scale)
        inside += 2 * weight
    return t


def gaussian_delta(mu: float, epsilon: float) -> mpmath.mpf:
    """Balle and Wang's formula with sixty digits."""
    with mpmath.workdps(60):
        m, e = mpmath.mpf(mu), mpmath.mpf(epsilon)
        return mpmath.ncdf(m / 2 - e / m) - mpmath.exp(e) * mpmath.ncdf(-m / 2 - e / m)
