"""A toy budget: it refuses when it is empty, may be reset, and has no effect on any other."""

from __future__ import annotations

from dataclasses import dataclass, replace
from decimal import Decimal

from dpcore.errors import BudgetError
from dpcore.lessons.noise import PublicCount, margin, noisy_answers
from dpcore.privacy.budgets import format_epsilon, parse_epsilon


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
    """A total epsilon and the answers bought so far. Asking returns a new one.

    Attributes
    ----------
    cap : Decimal
        Total epsilon.
    answers : tuple of ToyAnswer
        Answers, oldest first.
    """

    cap: Decimal
    answers: tuple[ToyAnswer, ...] = ()

    @property
    def spent(self) -> Decimal:
        """Sum of the epsilons of all answers."""
        return sum((answer.epsilon for answer in self.answers), Decimal(0))

    @property
    def left(self) -> Decimal:
        """Epsilon that may still be spent."""
        return self.cap - self.spent

    def ask(self, count: PublicCount, epsilon: object, seed: int) -> ToyBudget:
        """Buy one noisy answer.

        Parameters
        ----------
        count : PublicCount
            The question.
        epsilon : Decimal, int, float or str
            What may be spent on it.
        seed : int
            Names the draw of noise.

        Raises
        ------
        BudgetError
            If less than that is left.
        """
        price = parse_epsilon(epsilon)
        if price > self.left:
            raise BudgetError(
                f"Refused: this question costs ε {format_epsilon(price)}, but ε "
                f"{format_epsilon(self.left, up=False)} is left. Choose a smaller ε, or start "
                "again with a full toy budget."
            )
        [noisy] = noisy_answers(count.people, price, [seed])
        return replace(self, answers=(*self.answers, ToyAnswer(count, price, noisy)))
