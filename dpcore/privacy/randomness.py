"""Where randomness comes from: the operating system, or a seed that forfeits privacy.

A mechanism says what it needs (:class:`Noise`, :class:`Choice`) and its source draws it. A
learner sees one kind of source only, so that it runs unchanged when :mod:`dpcore.audit.replay`
writes down all that is drawn.

:class:`SecureRandom` is the only source allowed on private records. :class:`SeededRandom`
exists for tests, demonstrations on public data and rehearsals on synthetic data; a release
made with it is marked ``not private: seeded``.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Literal, Protocol, TypeVar

import numpy as np

from dpcore.arrays import Floats, Ints, Words

State = TypeVar("State")
State_co = TypeVar("State_co", covariant=True)


@dataclass(frozen=True)
class Noise:
    """Independent noise on every entry of a vector of integers."""

    law: Literal["geometric", "gaussian"]
    """P(k) proportional to exp(-|k| / scale), or to exp(-k**2 / (2 scale**2))."""
    scale: float
    promise: float
    """What it was built to cost at its sensitivity: epsilon, or mu of Gaussian DP."""
    exact: Callable[[Ints], Ints] = field(compare=False, repr=False)
    """The exact sampler: integers to noisy integers, arrays of shape (n,)."""


@dataclass(frozen=True)
class Choice:
    """One index of a vector of integer scores: the largest of score / scale plus noise."""

    law: Literal["gumbel", "exponential"]
    """Standard Gumbel noise is the exponential mechanism, exponential noise permute-and-flip."""
    scale: float
    promise: float | None
    """Epsilon that it was built to cost at its sensitivity. ``None``: it is one of the draws of a larger mechanism."""
    exact: Callable[[Ints], int] = field(compare=False, repr=False)
    """The exact sampler: scores, an array of shape (n,), to an index."""


class Walk(Protocol[State_co]):
    """A Markov chain of which the last state is released: private once it has converged."""

    def run(self, source: RandomSource) -> State_co:
        """Take all steps and return the last state."""
        ...


class RandomSource(Protocol):
    """What draws for a run: uniform words for public purposes, and what mechanisms release."""

    @property
    def secure(self) -> bool:
        """Whether outputs are fit to protect a private record."""
        ...

    def words(self, count: int) -> Words:
        """Return ``count`` independent uniform 64-bit words."""
        ...

    def add(self, noise: Noise, values: Ints) -> Ints:
        """Add noise to each row of values of shape (n_releases, n), one after the other."""
        ...

    def choose(self, choice: Choice, scores: Ints) -> Ints:
        """Draw an index of each row of scores of shape (n_draws, n), one after the other."""
        ...

    def settle(self, walk: Walk[State]) -> State:
        """Draw the last state of a Markov chain."""
        ...

    def parts(self, count: int) -> Sequence[RandomSource]:
        """Sources for ``count`` parts of a computation that may run at the same time."""
        ...


class SecureRandom:
    """The operating system's cryptographically secure source, and exact samplers."""

    secure = True

    def words(self, count: int) -> Words:
        """Return ``count`` independent uniform 64-bit words."""
        return np.frombuffer(os.urandom(8 * count), dtype=np.uint64)

    def add(self, noise: Noise, values: Ints) -> Ints:
        """Add exact noise."""
        return np.array([noise.exact(own) for own in values], dtype=np.int64).reshape(values.shape)

    def choose(self, choice: Choice, scores: Ints) -> Ints:
        """Draw indices exactly."""
        return np.array([choice.exact(own) for own in scores], dtype=np.int64)

    def settle(self, walk: Walk[State]) -> State:
        """Draw the last state of a Markov chain."""
        return walk.run(self)

    def parts(self, count: int) -> Sequence[RandomSource]:
        """This source serves all."""
        return [self] * count


class SeededRandom:
    """A reproducible source, for public data only."""

    secure = False

    def __init__(self, seed: int) -> None:
        self._bits = np.random.PCG64(seed)
        self._generator = np.random.Generator(self._bits)

    def words(self, count: int) -> Words:
        """Return ``count`` pseudo-random 64-bit words."""
        return np.asarray(self._bits.random_raw(count), dtype=np.uint64)

    def add(self, noise: Noise, values: Ints) -> Ints:
        """Add pseudo-random noise of the same scale."""
        draw = self.geometric_noise if noise.law == "geometric" else self.gaussian_noise
        return np.array([own + draw(noise.scale, own.size) for own in values], dtype=np.int64).reshape(values.shape)

    def choose(self, choice: Choice, scores: Ints) -> Ints:
        """Draw indices with pseudo-random noise: standard Gumbel noise, or standard exponential noise."""
        draw = self._generator.gumbel if choice.law == "gumbel" else self._generator.exponential
        return np.asarray(np.argmax(scores / choice.scale + draw(size=scores.shape), axis=1))

    def settle(self, walk: Walk[State]) -> State:
        """Draw the last state of a Markov chain."""
        return walk.run(self)

    def parts(self, count: int) -> Sequence[RandomSource]:
        """A seeded source for each part: results do not depend on which part is faster."""
        return [SeededRandom(int(seed)) for seed in self.words(count)]

    def geometric_noise(self, scale: float, count: int) -> Ints:
        """Two-sided geometric noise: a difference of two geometric variables."""
        stop = -np.expm1(-1.0 / scale)
        draws = self._generator.geometric(stop, size=(2, count))
        return np.asarray(draws[0] - draws[1], dtype=np.int64)

    def gaussian_noise(self, scale: float, count: int) -> Ints:
        """Rounded Gaussian noise, close to the discrete Gaussian for scales above 1."""
        return np.rint(self._generator.normal(0.0, scale, count)).astype(np.int64)


def uniforms(source: RandomSource, count: int) -> Floats:
    """``count`` uniform numbers in [0, 1), multiples of 2**-53."""
    scaled: Floats = (source.words(count) >> np.uint64(11)) * np.float64(2.0**-53)
    return scaled


def permutation(source: RandomSource, count: int) -> Ints:
    """A uniform permutation of ``range(count)``; ties among keys have probability 2**-64."""
    return np.argsort(source.words(count), kind="stable")


def source_for(seed: int | None) -> RandomSource:
    """The secure source, or a seeded one if a seed is given."""
    return SecureRandom() if seed is None else SeededRandom(seed)


def public_generator(seed: int | None) -> np.random.Generator:
    """Numpy's generator, which invents public data; ``None`` draws others each time. It hides no private record."""
    return np.random.Generator(np.random.PCG64(seed))
