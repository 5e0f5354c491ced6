"""What a whole class knows together: everybody's noisy answers, their mean and what they cost."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from decimal import Decimal
from statistics import NormalDist

from dpcore.lessons.noise import PublicCount, margin
from dpcore.lessons.toy import toy_cap
from dpcore.privacy.losses import pure_loss, total_loss
from dpcore.released.noisy_counts import sum_tail

_CONFIDENCE = 0.95
_TWO_SIDED = NormalDist().inv_cdf((1 + _CONFIDENCE) / 2)


@dataclass(frozen=True)
class ClassAnswer:
    """One noisy answer of one student."""

    student: int
    """Number of the student in the room, from 1."""
    name: str
    """What the student wants to be called; may be empty."""
    asked: PublicCount
    """The question."""
    epsilon: Decimal
    """What the student paid for it."""
    noisy: int
    """The answer."""


@dataclass(frozen=True)
class PooledAnswers:
    """Several answers to one question, taken together."""

    answers: int
    students: int
    """``answers``, ``students``: how many answers there are, of how many students."""
    mean: float
    """Their mean; an answer with less noise counts for more."""
    margin: float
    """The mean is within plus or minus this of the truth, with 95 %."""
    exact: bool
    """Whether with at least that, as all answers cost the same; else with about that."""
    within: int
    """Answers whose truth is within their own 95 % margin."""


def pool_answers(answers: Sequence[ClassAnswer]) -> PooledAnswers:
    """Take answers to one question together, each weighted by the inverse of its variance."""
    weights = [1 / _variance(answer.epsilon) for answer in answers]
    whole = math.fsum(weights)
    mean = math.fsum(weight * answer.noisy for weight, answer in zip(weights, answers, strict=True)) / whole
    reach, exact = _TWO_SIDED / math.sqrt(whole), False
    if len({answer.epsilon for answer in answers}) == 1:
        reach = sum_tail(1 / float(answers[0].epsilon), len(answers), _CONFIDENCE) / len(answers)
        exact = True
    within = sum(abs(answer.noisy - answer.asked.people) <= margin(answer.epsilon) for answer in answers)
    return PooledAnswers(len(answers), len({answer.student for answer in answers}), mean, reach, exact, within)


def _variance(epsilon: Decimal) -> float:
    """Variance of two-sided geometric noise: 2a / (1 - a)^2 with a = exp(-epsilon)."""
    return 1 / (2 * math.sinh(float(epsilon) / 2) ** 2)


def class_cost(epsilons: Sequence[Decimal]) -> tuple[Decimal, Decimal]:
    """What all answers of a class would cost together about real people: added, and as a budget counts them."""
    total = total_loss(map(pure_loss, epsilons))
    return total.epsilon, toy_cap(Decimal(1)).spent(total)
