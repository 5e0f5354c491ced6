"""A toy budget: it counts and refuses as a real one does, may be reset, and has no effect on any."""

from __future__ import annotations

from dataclasses import dataclass, replace
from decimal import Decimal

from dpcore.errors import BudgetError
from dpcore.lessons.noise import PublicCount, margin, noisy_answers
from dpcore.privacy.budgets import format_epsilon, parse_epsilon
from dpcore.privacy.filters import PrivacyFilter
from dpcore.privacy.losses import Loss, pure_loss, total_loss

#: Delta of all toy budgets.
DELTA = Decimal("0.000001")


def toy_cap(epsilon: Decimal) -> PrivacyFilter:
    """Cap of a toy budget with this epsilon in total."""
    return PrivacyFilter(epsilon, DELTA)


@dataclass(frozen=True)
class ToyAnswer:
    """One noisy answer that was bought."""

    asked: PublicCount
    epsilon: Decimal
    noisy: int

    @property
    def margin(self) -> int:
        """The truth is within plus or minus this of the answer, with 95 %."""
        return margin(self.epsilon)


@dataclass(frozen=True)
class ToyBudget:
    """A cap and the answers bought so far. Asking returns a new one."""

    cap: PrivacyFilter
    """What all answers together may cost: see :func:`toy_cap`."""
    answers: tuple[ToyAnswer, ...] = ()
    """Answers, oldest first."""

    @property
    def total(self) -> Loss:
        """Sum of the losses of all answers."""
        return total_loss(pure_loss(answer.epsilon) for answer in self.answers)

    @property
    def spent(self) -> Decimal:
        """Epsilon of all answers together: added or composed, whichever is less."""
        return self.cap.spent(self.total)

    @property
    def left(self) -> Decimal:
        """Largest epsilon that one more question may have."""
        return self.cap.largest(self.total, pure=True)

    def ask(self, count: PublicCount, epsilon: object, seed: int | None = None) -> ToyBudget:
        """Buy one noisy answer.

        Parameters
        ----------
        count : PublicCount
            The question.
        epsilon : Decimal, int, float or str
            What may be spent on it.
        seed : int, optional
            Names the draw of noise. Default: one that nobody can repeat.

        Raises
        ------
        BudgetError
            If the cap does not allow for one more question of that epsilon.
        """
        price = parse_epsilon(epsilon)
        if not self.cap.accepts(self.total + pure_loss(price)):
            raise BudgetError(
                f"Refused: this question costs ε {format_epsilon(price)}, but ε "
                f"{format_epsilon(self.left, up=False)} is left for one question. Choose a smaller ε."
            )
        [noisy] = noisy_answers(count.people, price, [seed])
        return replace(self, answers=(*self.answers, ToyAnswer(count, price, noisy)))
