"""What exact counts give away, and noisy ones do not: three attacks on invented people."""

from __future__ import annotations

import math
from dataclasses import dataclass
from decimal import Decimal

import numpy as np

from dpcore.arrays import Ints
from dpcore.lessons.noise import noisy_vector
from dpcore.privacy.randomness import SeededRandom, uniforms

PEOPLE = 30
_SECRET_SEED = 7
#: People who are in the data for certain when somebody's membership is guessed.
_OTHERS = 100


def secrets() -> tuple[bool, ...]:
    """The secret yes or no of each of 30 invented people: the same at every call."""
    return tuple(bool(one) for one in uniforms(SeededRandom(_SECRET_SEED), PEOPLE) < 0.5)


def ceiling(epsilon: Decimal) -> float:
    """Best possible share of right guesses about one person: e^epsilon / (1 + e^epsilon).

    It holds for a coin toss between two neighbouring data sets, whatever the attacker knows.
    """
    return 1 / (1 + math.exp(-float(epsilon)))


@dataclass(frozen=True)
class Difference:
    """Two counts that differ in one person, subtracted."""

    everyone: int
    others: int
    """``everyone``, ``others``: exact count of 'yes' among all, and among all but the one person."""
    noisy: tuple[int, ...]
    """The same difference from noisy counts, once for each repetition."""

    @property
    def exact(self) -> int:
        """The secret of the person: 1 for yes, 0 for no."""
        return self.everyone - self.others

    @property
    def right(self) -> int:
        """Repetitions whose noisy difference tells the secret, if 1 or more is read as yes."""
        return sum((one >= 1) == bool(self.exact) for one in self.noisy)


def difference_attack(person: int, epsilon: Decimal, repetitions: int, seed: int) -> Difference:
    """Count everybody, then everybody but one, and subtract.

    Parameters
    ----------
    person : int
        Place of the person among :func:`secrets`.
    epsilon : Decimal
        Budget of both counts of a repetition together. Everybody else is in both of them, so
        the two change by at most 2.
    repetitions : int
        How often the attack is carried out, each time with a budget of its own.
    seed : int
        Names the draw of noise.
    """
    known = secrets()
    everyone = sum(known)
    others = everyone - known[person]
    # One call for all repetitions: the noise is independent, and each pair is one release.
    counts = np.tile([everyone, others], (repetitions, 1))
    noisy = noisy_vector(counts, 2, epsilon, seed)
    return Difference(everyone, others, tuple(int(one) for one in noisy[:, 0] - noisy[:, 1]))


@dataclass(frozen=True)
class MembershipAttack:
    """How often the best guess of who is in the data was right."""

    repetitions: int
    """How often a coin decided whether the person is in, and the attacker guessed."""
    exact: int
    private: int
    """``exact``, ``private``: right guesses from the exact count, and from the noisy one."""
    ceiling: float
    """Share of right guesses that no attacker can exceed in the long run."""


def membership_attack(epsilon: Decimal, repetitions: int, seed: int) -> MembershipAttack:
    """Guess from a count whether one person is in, by an attacker who knows everybody else.

    The best guess: the person is in if the answer is above the count of the others.

    Parameters
    ----------
    epsilon : Decimal
        Budget of one answer.
    repetitions : int
        How often a coin is tossed, an answer given and a guess made.
    seed : int
        Names the draw of coins and noise.
    """
    inside = uniforms(SeededRandom(2 * seed), repetitions) < 0.5
    counts = _OTHERS + inside.astype(np.int64)
    noisy = noisy_vector(counts, 1, epsilon, 2 * seed + 1)
    exact, private = ((seen > _OTHERS) == inside for seen in (counts, noisy))
    return MembershipAttack(repetitions, int(exact.sum()), int(private.sum()), ceiling(epsilon))


@dataclass(frozen=True)
class Reconstruction:
    """A secret column, and what was read off many counts."""

    truth: tuple[bool, ...]
    exact: tuple[bool, ...]
    private: tuple[bool, ...]
    """``truth``, ``exact``, ``private``: the secrets; the guesses from exact counts; the guesses from noisy counts."""

    def right(self, guesses: tuple[bool, ...]) -> int:
        """How many guesses are right."""
        return sum(one == true for one, true in zip(guesses, self.truth, strict=True))


def reconstruction_attack(counts: int, epsilon: Decimal, seed: int) -> Reconstruction:
    """Count 'yes' in random groups, then solve for everybody by least squares.

    Parameters
    ----------
    counts : int
        How many random groups are counted; each person is in about half of them.
    epsilon : Decimal
        Budget of all noisy counts together: one person changes at most all of them by 1.
    seed : int
        Names the draw of groups and noise.
    """
    truth = secrets()
    groups = uniforms(SeededRandom(2 * seed), counts * PEOPLE).reshape(counts, PEOPLE) < 0.5
    members = groups.astype(np.int64)
    exact = members @ np.array(truth, dtype=np.int64)
    private = noisy_vector(exact, counts, epsilon, 2 * seed + 1)
    return Reconstruction(truth, _solve(members, exact), _solve(members, private))


def _solve(members: Ints, answers: Ints) -> tuple[bool, ...]:
    """Least squares around 'no idea' (one half for everybody), rounded to yes or no."""
    middle = members.sum(axis=1) / 2
    shift = np.linalg.lstsq(members.astype(float), answers - middle, rcond=None)[0]
    return tuple(bool(one) for one in shift > 0)
