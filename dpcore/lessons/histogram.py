"""Many questions about one column: each answered by itself, or all from one measurement."""

from __future__ import annotations

from dataclasses import dataclass
from decimal import Decimal

import numpy as np

from dpcore.arrays import Ints
from dpcore.lessons.noise import noisy_vector
from dpcore.privacy.budgets import geometric_tail
from dpcore.released.noisy_counts import sum_tail

#: Upper ends of groups of age, in years; the last group has none.
AGES = tuple(range(25, 100, 5))
#: Patients of the demonstration set ``stroke`` by their age when they first came, one number a group.
PEOPLE = (41, 56, 190, 400, 762, 1236, 1773, 2435, 2803, 2785, 2535, 1953, 1423, 791, 466, 351)
_CONFIDENCE = 0.95


@dataclass(frozen=True)
class BothWays:
    """Answers to "how many are older than ...?" for several ages, at one epsilon in all."""

    ages: tuple[int, ...]
    """The ages that are asked about, in years, lowest first."""
    truths: tuple[int, ...]
    """Patients older than that."""
    alone: tuple[int, ...]
    added: tuple[int, ...]
    """``alone``, ``added``: noisy answers: each question asked by itself with its share of epsilon; and added up from
    one noisy count of every group between these ages."""
    alone_margin: int
    """Answers of the first kind are within plus or minus this of the truth, with 95 %."""
    added_margins: tuple[int, ...]
    """The same for each answer of the second kind."""


def both_ways(questions: int, epsilon: Decimal, draw: int) -> BothWays:
    """Ask about so many ages, one by one and by a histogram.

    One patient more changes every question by at most 1, so all of them by at most ``questions``;
    but only one group of the histogram, so all of that by 1.

    Parameters
    ----------
    questions : int
        From 1 to ``len(AGES)``.
    epsilon : Decimal
        Budget of all answers together, for either way.
    draw : int
        Names the noise: the same number gives the same.
    """
    places = _spread(questions)
    groups = np.add.reduceat(np.array(PEOPLE), [0, *(place + 1 for place in places)])
    truths = _older(groups)
    noisy = noisy_vector(groups, 1, epsilon, 2 * draw)
    alone = noisy_vector(truths, questions, epsilon, 2 * draw + 1)
    scale = 1 / float(epsilon)
    return BothWays(
        tuple(AGES[place] for place in places),
        tuple(map(int, truths)),
        tuple(map(int, alone)),
        tuple(map(int, _older(noisy))),
        geometric_tail(questions * scale, _CONFIDENCE),
        tuple(sum_tail(scale, questions - number, _CONFIDENCE) for number in range(questions)),
    )


def _spread(questions: int) -> list[int]:
    """Places of so many ages, as evenly as can be."""
    return [(2 * number + 1) * len(AGES) // (2 * questions) for number in range(questions)]


def _older(groups: Ints) -> Ints:
    """How many lie above each end of a group but the last, which has none."""
    return groups[::-1].cumsum()[::-1][1:]
