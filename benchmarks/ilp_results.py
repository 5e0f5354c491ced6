"""What the suite of relational rules measured on one concept, and the goals."""

from __future__ import annotations

import math
from collections.abc import Iterable
from dataclasses import dataclass, field

from benchmarks.ilp_methods import HOUSE, NAIVE, REDUCTIONS, RELEVANCE
from benchmarks.ilp_trains import Score
from benchmarks.records import summarise

#: Mean accuracy at which a method counts as having learned a concept.
LEARNED = 0.95
#: Standard errors by which a mean may be below another by chance: there are some 36 pairs.
_ERRORS = 3.0
REACHED = f"trains at which {LEARNED:.0%} is reached"


@dataclass
class Results:
    """Accuracies of every method on one concept.

    Attributes
    ----------
    sizes : tuple of int
        Trains of the training sets.
    guess : float
        Accuracy of predicting that all trains go east.
    """

    concept: str
    sizes: tuple[int, ...]
    guess: float
    scores: dict[tuple[str, int], list[Score]] = field(default_factory=dict)

    def add(self, batch: Iterable[Score]) -> None:
        """Take in scores."""
        for score in batch:
            self.scores.setdefault((score.method, score.trains), []).append(score)

    @property
    def methods(self) -> list[str]:
        """In the order in which they came."""
        return list(dict.fromkeys(method for method, _ in self.scores))

    def values(self, method: str, size: int) -> list[float]:
        """Accuracy of each fit."""
        return [score.accuracy for score in self.scores.get((method, size), [])]

    def accuracy(self, method: str, size: int) -> tuple[float, float]:
        """Mean, and its standard error over training sets."""
        numbers = [score.number for score in self.scores[method, size]]
        return summarise(self.values(method, size), numbers)

    def reached(self, method: str) -> int | None:
        """Smallest size with a mean accuracy of :data:`LEARNED`; ``None``: none so far."""
        known = (size for size in sorted(self.sizes) if (method, size) in self.scores)
        return next((size for size in known if self.accuracy(method, size)[0] >= LEARNED), None)

    def ratio(self) -> tuple[float, bool] | None:
        """Trains that the better relevance-aware reduction needs over those of the house method.

        Returns
        -------
        (float, bool) or None
            Whether it is only a bound from below, because even the largest training set was too
            small; ``None`` if one of them was not run.
        """
        reductions = [method for method in REDUCTIONS if method in self.methods]
        if HOUSE not in self.methods or not reductions:
            return None
        own = self.reached(HOUSE)
        if own is None:
            return math.nan, False
        theirs = [size for method in reductions if (size := self.reached(method)) is not None]
        return (min(theirs) / own, False) if theirs else (max(self.sizes) / own, True)

    def lead(self, size: int) -> tuple[float, float]:
        """How far the relevance-aware reduction is above the naive one: mean, standard error."""
        ours, theirs = (summarise(self.values(method, size)) for method in (RELEVANCE, NAIVE))
        return ours[0] - theirs[0], math.hypot(ours[1], theirs[1])

    def worst_lead(self) -> float | None:
        """The smallest lead over all sizes, in standard errors; 0 if none is negative."""
        if not {RELEVANCE, NAIVE} <= set(self.methods):
            return None
        return min(_in_errors(*self.lead(size)) for size in self.sizes)

    def error_reduction(self, method: str, size: int) -> float:
        """Share of the errors of the guess that a method avoids."""
        return 1 - (1 - self.accuracy(method, size)[0]) / (1 - self.guess)


def _in_errors(mean: float, error: float) -> float:
    """A mean that is negative, in units of its standard error; one that is not, as 0."""
    if mean >= 0:
        return 0.0
    return mean / error if error > 0 else -math.inf


@dataclass(frozen=True)
class Bar:
    """What has to be reached on every concept."""

    method: str
    what: str
    goal: float

    def figure(self, found: Results) -> float | None:
        """The figure that was measured; ``None`` if it was not."""
        if self.what == LEAD:
            return found.worst_lead()
        ratio = found.ratio()
        return None if ratio is None else ratio[0]

    def holds(self, figure: float) -> bool:
        """Whether it is reached; NaN reaches nothing."""
        return figure >= self.goal


RATIO = "trains of relevance-aware / trains of house"
LEAD = "worst lead over naive, in standard errors"
BARS = (Bar(HOUSE, RATIO, 10.0), Bar(RELEVANCE, LEAD, -_ERRORS))
