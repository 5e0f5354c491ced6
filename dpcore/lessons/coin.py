"""Randomised response (Warner 1965): everybody adds the noise themselves, by a coin."""

from __future__ import annotations

import math
from dataclasses import dataclass
from statistics import NormalDist

import numpy as np

from dpcore.privacy.randomness import SeededRandom, uniforms

_TWO_SIDED = NormalDist().inv_cdf(0.975)


@dataclass(frozen=True)
class Toss:
    """What one person did, which nobody else sees."""

    honest: bool
    """The first coin showed heads: the person told the truth."""
    said: bool
    """What the person said: all that anybody learns."""


def toss(secret: bool, draw: int) -> Toss:
    """Toss a coin: heads, tell the truth; tails, toss again and say what the second coin says."""
    first, second = uniforms(SeededRandom(draw), 2) < 0.5
    return Toss(bool(first), secret if first else bool(second))


def coin_epsilon(honest: float) -> float:
    """Epsilon of one person's answer, if the truth is told with this chance, else a fair coin.

    The two chances of a yes are (1 + honest) / 2 and (1 - honest) / 2; epsilon is the logarithm of
    their ratio, and log 3 for two fair coins.
    """
    return math.log((1 + honest) / (1 - honest))


def estimate(said: int, people: int, honest: float) -> float:
    """How many people have the secret, by how many said yes: right on average.

    Parameters
    ----------
    said : int
        People who said yes.
    people : int
        People who were asked.
    honest : float
        Chance with which each of them told the truth; otherwise a fair coin spoke.
    """
    return (said - people * (1 - honest) / 2) / honest


def estimate_margin(people: int, honest: float) -> int:
    """About 95 % of the estimates are within plus or minus this (by the normal distribution).

    Whatever their secret, each person's yes has the variance (1 - honest^2) / 4.
    """
    return math.ceil(_TWO_SIDED * math.sqrt(people * (1 - honest**2)) / (2 * honest))


@dataclass(frozen=True)
class Survey:
    """The same people asked several times over, each time with other coins."""

    people: int
    yes: int
    """``people``, ``yes``: how many there are, and how many of them have the secret."""
    said: tuple[int, ...]
    """How many said yes, each time."""
    estimates: tuple[int, ...]
    """What follows from that, in whole people."""
    margin: int
    """See :func:`estimate_margin`."""


def survey(people: int, yes: int, honest: float, repetitions: int, draw: int) -> Survey:
    """Ask all people, several times over.

    Parameters
    ----------
    people, yes : int
        How many there are, and how many have the secret.
    honest : float
        Chance that somebody tells the truth, between 0 and 1.
    repetitions : int
        How often the whole survey is made.
    draw : int
        Names the coins.
    """
    drawn = uniforms(SeededRandom(draw), 2 * repetitions * people).reshape(2, repetitions, people)
    secret = np.arange(people) < yes
    answers = np.where(drawn[0] < honest, secret, drawn[1] < 0.5)
    said = tuple(int(one) for one in answers.sum(axis=1))
    estimates = tuple(round(estimate(one, people, honest)) for one in said)
    return Survey(people, yes, said, estimates, estimate_margin(people, honest))
