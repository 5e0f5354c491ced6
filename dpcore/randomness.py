"""Where randomness comes from: the operating system, or a seed that forfeits privacy.

:class:`SecureRandom` is the only source allowed on private records. :class:`SeededRandom`
exists for tests, demonstrations on public data and rehearsals on synthetic data; a release
made with it is marked ``not private: seeded``.
"""

from __future__ import annotations

import os
from typing import Protocol

import numpy as np
from numpy.typing import NDArray


class RandomSource(Protocol):
    """A stream of uniform random numbers."""

    @property
    def secure(self) -> bool:
        """Whether outputs are fit to protect a private record."""
        ...

    def words(self, count: int) -> NDArray[np.uint64]:
        """Return ``count`` independent uniform 64-bit words."""
        ...


class SecureRandom:
    """The operating system's cryptographically secure source."""

    secure = True

    def words(self, count: int) -> NDArray[np.uint64]:
        """Return ``count`` independent uniform 64-bit words."""
        return np.frombuffer(os.urandom(8 * count), dtype=np.uint64)


class SeededRandom:
    """A reproducible source, for public data only."""

    secure = False

    def __init__(self, seed: int) -> None:
        self._bits = np.random.PCG64(seed)
        self._generator = np.random.Generator(self._bits)

    def words(self, count: int) -> NDArray[np.uint64]:
        """Return ``count`` pseudo-random 64-bit words."""
        return np.asarray(self._bits.random_raw(count), dtype=np.uint64)

    def geometric_noise(self, scale: float, count: int) -> NDArray[np.int64]:
        """Two-sided geometric noise: a difference of two geometric variables."""
        stop = -np.expm1(-1.0 / scale)
        draws = self._generator.geometric(stop, size=(2, count))
        return np.asarray(draws[0] - draws[1], dtype=np.int64)

    def gaussian_noise(self, scale: float, count: int) -> NDArray[np.int64]:
        """Rounded Gaussian noise, close to the discrete Gaussian for scales above 1."""
        return np.rint(self._generator.normal(0.0, scale, count)).astype(np.int64)

    def gumbel_noise(self, count: int) -> NDArray[np.float64]:
        """Standard Gumbel noise."""
        return self._generator.gumbel(size=count)

    def exponential_noise(self, count: int) -> NDArray[np.float64]:
        """Standard exponential noise."""
        return self._generator.exponential(size=count)


def uniforms(source: RandomSource, count: int) -> NDArray[np.float64]:
    """``count`` uniform numbers in [0, 1), multiples of 2**-53."""
    scaled: NDArray[np.float64] = (source.words(count) >> np.uint64(11)) * np.float64(2.0**-53)
    return scaled


def permutation(source: RandomSource, count: int) -> NDArray[np.int64]:
    """A uniform permutation of ``range(count)``; ties among keys have probability 2**-64."""
    return np.argsort(source.words(count), kind="stable")


def source_for(seed: int | None) -> RandomSource:
    """The secure source, or a seeded one if a seed is given."""
    return SecureRandom() if seed is None else SeededRandom(seed)


def public_generator(seed: int) -> np.random.Generator:
    """Seeded numpy generator that invents public data; never to be used on private records."""
    return np.random.Generator(np.random.PCG64(seed))


def independent(source: RandomSource, count: int) -> list[RandomSource]:
    """Sources for ``count`` parts of a computation that may run at the same time.

    The secure source serves all; a seeded one begets one seeded source per part, so that results
    do not depend on which part is faster.
    """
    if source.secure:
        return [source] * count
    return [SeededRandom(int(seed)) for seed in source.words(count)]
