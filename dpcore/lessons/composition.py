"""The same question many times: the average gets better, and what the answers take of a budget."""

from __future__ import annotations

import math
from dataclasses import dataclass
from decimal import Decimal

import numpy as np

from dpcore.lessons.noise import PublicCount
from dpcore.privacy.budgets import gaussian_tail
from dpcore.privacy.filters import PrivacyFilter, largest_rho
from dpcore.privacy.losses import NOTHING, Loss, run_loss
from dpcore.privacy.mechanisms import GaussianMechanism
from dpcore.privacy.randomness import source_for


@dataclass(frozen=True)
class Averages:
    """What is known after each of several noisy answers to one question."""

    means: tuple[float, ...]
    """Average of the first 1, 2, 3, ... answers."""
    margins: tuple[float, ...]
    """The average is within plus or minus this of the truth, with 95 %."""


def averages(count: PublicCount, cap: PrivacyFilter, epsilon: Decimal, questions: int, seed: int) -> Averages:
    """Ask a question as often as wanted, or as a budget allows, for ``epsilon`` each.

    Parameters
    ----------
    seed : int
        Names the draw of noise.
    """
    mechanism = GaussianMechanism(1, float(largest_rho(epsilon, cap.run_delta)))
    asked = np.arange(1, min(questions, answered(cap, epsilon)) + 1)
    noisy = mechanism.release(np.full(len(asked), count.people), source_for(seed))
    margins = (gaussian_tail(mechanism.scale * math.sqrt(number), 0.95) / int(number) for number in asked)
    return Averages(tuple((np.cumsum(noisy) / asked).tolist()), tuple(margins))


def _price(cap: PrivacyFilter, epsilon: Decimal) -> Loss:
    return cap.priced(run_loss(epsilon, cap.run_delta, largest_rho(epsilon, cap.run_delta)))


def answered(cap: PrivacyFilter, epsilon: Decimal) -> int:
    """How many questions of this epsilon a budget allows."""
    return cap.fitting(NOTHING, _price(cap, epsilon))


@dataclass(frozen=True)
class Shares:
    """What the first 1, 2, 3, ... questions of the same epsilon take of a budget, as shares."""

    added: tuple[Decimal, ...]
    """If their epsilons were added up."""
    composed: tuple[Decimal, ...]
    """As a budget counts them."""


def shares(cap: PrivacyFilter, epsilon: Decimal, questions: int) -> Shares:
    """Shares of equal questions one after the other, as the ledger of a data set counts them."""
    alone, composed = epsilon / cap.epsilon, cap.share(_price(cap, epsilon))
    numbers = range(1, questions + 1)
    return Shares(tuple(alone * number for number in numbers), tuple(composed * number for number in numbers))
