"""The same question many times: the average gets better, and what the answers cost together."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from decimal import Decimal
from itertools import accumulate

from dpcore.privacy.filters import PrivacyFilter
from dpcore.privacy.losses import pure_loss
from dpcore.released.noisy_counts import sum_tail


@dataclass(frozen=True)
class Averages:
    """What is known after each of several noisy answers to one question."""

    means: tuple[float, ...]
    """Average of the first 1, 2, 3, ... answers."""
    margins: tuple[float, ...]
    """The average is within plus or minus this of the truth, with 95 %."""


def averages(answers: Sequence[int], epsilon: Decimal) -> Averages:
    """Averages of the first answers, each of them bought for ``epsilon``."""
    scale = 1 / float(epsilon)
    sums = accumulate(answers)
    return Averages(
        tuple(total / asked for asked, total in enumerate(sums, start=1)),
        tuple(sum_tail(scale, asked, 0.95) / asked for asked in range(1, len(answers) + 1)),
    )


@dataclass(frozen=True)
class Costs:
    """What the first 1, 2, 3, ... questions of the same epsilon cost together."""

    added: tuple[Decimal, ...]
    """Sums of their epsilons."""
    composed: tuple[Decimal, ...]
    """Smallest epsilon that their losses, composed, imply at the delta of the budget."""

    @property
    def spent(self) -> tuple[Decimal, ...]:
        """What a budget counts: the smaller of both."""
        return tuple(map(min, self.added, self.composed))

    @property
    def crossing(self) -> int | None:
        """First number of questions for which composing costs less, if there is one."""
        pairs = zip(self.added, self.composed, strict=True)
        return next((asked for asked, (total, less) in enumerate(pairs, start=1) if less < total), None)


def costs(cap: PrivacyFilter, epsilon: Decimal, questions: int) -> Costs:
    """Costs of equal questions one after the other, as the ledger of a data set counts them.

    Parameters
    ----------
    cap : PrivacyFilter
        The budget; only its delta matters.
    epsilon : Decimal
        Budget of one answer with two-sided geometric noise.
    questions : int
        How many questions are asked.
    """
    totals = list(accumulate([pure_loss(epsilon)] * questions))
    return Costs(tuple(total.epsilon for total in totals), tuple(map(cap.composed, totals)))
