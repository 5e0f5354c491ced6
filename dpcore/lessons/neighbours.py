"""Two data sets that differ in one person, and the answers that each of them gives."""

from __future__ import annotations

from dataclasses import dataclass
from decimal import Decimal

from dpcore.lessons.noise import margin, noise_chance


@dataclass(frozen=True)
class Person:
    """One invented person: an age, and whether the question counts them."""

    age: int
    counted: bool


#: A small ward, invented.
GROUP = (
    Person(81, True),
    Person(54, False),
    Person(67, True),
    Person(73, True),
    Person(39, False),
    Person(88, True),
    Person(62, False),
    Person(70, True),
)


@dataclass(frozen=True)
class Neighbours:
    """Chances of every likely answer, with one person and without.

    Attributes
    ----------
    answers : tuple of int
        Answers that are likely, in order.
    present, absent : tuple of float
        Exact chance of each answer with everybody, and without the one person.
    count, count_without : int
        The true counts.
    largest_ratio : float
        Largest factor between the two chances, over all answers: exp(epsilon) or 1.
    """

    answers: tuple[int, ...]
    present: tuple[float, ...]
    absent: tuple[float, ...]
    count: int
    count_without: int

    @property
    def largest_ratio(self) -> float:
        """Largest factor between the two chances of an answer, whichever is the larger."""
        pairs = zip(self.present, self.absent, strict=True)
        return max(max(here / there, there / here) for here, there in pairs)


def neighbours(person: int, epsilon: Decimal) -> Neighbours:
    """Remove one person of :data:`GROUP` and compare the noisy counts of the rest.

    Parameters
    ----------
    person : int
        Place in the group.
    epsilon : Decimal
        Budget of the answer.
    """
    count = sum(one.counted for one in GROUP)
    without = count - GROUP[person].counted
    reach = margin(epsilon, 0.98) + 1
    answers = tuple(range(without - reach, count + reach + 1))
    return Neighbours(
        answers,
        tuple(noise_chance(answer - count, epsilon) for answer in answers),
        tuple(noise_chance(answer - without, epsilon) for answer in answers),
        count,
        without,
    )
