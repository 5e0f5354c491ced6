"""Noise tails by summation, Gaussian deltas in sixty digits, discrete ones by convolution."""

from __future__ import annotations

import math

import mpmath
import numpy as np


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


def discrete_gaussian_mass(scale: float, k: int) -> mpmath.mpf:
    """exp(-k^2 / 2 s^2) over its sum; the sum by Poisson's formula."""
    s = mpmath.mpf(scale)
    images = mpmath.fsum(2 * mpmath.exp(-2 * (mpmath.pi * s * j) ** 2) for j in range(1, 40))
    return mpmath.exp(-(k**2) / (2 * s**2)) / (s * mpmath.sqrt(2 * mpmath.pi) * (1 + images))


def rounded_gaussian_mass(scale: float, k: int) -> mpmath.mpf:
    """Mass of a normal variable between k - 1/2 and k + 1/2."""
    with mpmath.extradps(60):
        s, half = mpmath.mpf(scale), mpmath.mpf(1) / 2
        far = abs(k)  # In the upper tail, where the complement loses no digits.
        low, high = (mpmath.erfc((far + h) / (s * mpmath.sqrt(2))) / 2 for h in (-half, half))
        return low - high


def fine_gaussian_delta(mu: float, epsilon: float, draws: int, scale: float, reach: float) -> mpmath.mpf:
    """Delta of so many discrete Gaussian draws by the lemma; it holds for any ``reach``."""
    with mpmath.workdps(60):
        s = mpmath.mpf(scale)
        below = 1 / (24 * s**2)
        above = mpmath.mpf(reach) ** 2 / (24 * s**2) + 3 * mpmath.exp(-2 * (mpmath.pi * s) ** 2)
        left = mpmath.mpf(epsilon) - draws * (below + above)
        tail = mpmath.erfc((reach - 1 / (2 * s)) / mpmath.sqrt(2))
        return mpmath.exp(draws * below) * (gaussian_delta(mu, left) + mpmath.exp(left) * draws * tail)


def repeated_discrete_gaussian_delta(scale: float, shift: int, draws: int, epsilon: float) -> float:
    """Exact delta of so many discrete Gaussian draws, each of a number that moves by ``shift``.

    The likelihood ratio depends on the sum of the draws alone.
    """
    reach = math.ceil(14 * scale)
    support = np.arange(-reach, reach + 1, dtype=np.float64)
    one = np.exp(-(support**2) / (2 * scale**2))
    total = one = one / one.sum()
    for _ in range(draws - 1):
        total = np.convolve(total, one)
    moved = np.concatenate([np.zeros(draws * shift), total])
    still = np.concatenate([total, np.zeros(draws * shift)])
    return float(np.maximum(moved - math.exp(epsilon) * still, 0.0).sum())
