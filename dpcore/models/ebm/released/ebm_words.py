"""A released machine in plain words: names of bins, amounts with their noise, sentences."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import TYPE_CHECKING

import numpy as np

from dpcore.arrays import Floats
from dpcore.domain.columns import MISSING, OTHER, Column, IntegerColumn, format_number
from dpcore.domain.schemas.schema import Schema
from dpcore.models.ebm.released.axis import Axis, group_members
from dpcore.numerals import minus, percent, whole
from dpcore.released.cases import NOT_KNOWN
from dpcore.released.evaluation import Z95

if TYPE_CHECKING:
    from dpcore.models.ebm.released.ebm_model import Contribution, EBMModel, Term

_PLAIN = {MISSING: "missing", OTHER: "other"}


@dataclass(frozen=True)
class EBMWords:
    """How one release is put into words."""

    model: EBMModel
    schema: Schema
    """Public domain of the data set."""
    target: str
    """Column that is predicted."""

    # Names

    @property
    def unit(self) -> str:
        """Unit of a numeric target; empty if it has none."""
        return getattr(self.schema.column(self.target), "unit", "")

    def outcome(self, output: int) -> str:
        """What an output is about: ``died = yes``, or the name of a numeric target."""
        name = self.model.outputs[output]
        return f"{self.target} = {name}" if self.model.classes else self.target

    def effect(self, output: int) -> str:
        """What scores of an output are added to."""
        if self.model.task == "binary":
            return f"the log-odds of {self.outcome(output)}"
        if self.model.task == "multiclass":
            return f"the score of {self.outcome(output)}"
        return f"{self.target} ({self.unit})" if self.unit else self.target

    def bins(self, term: Term) -> list[str]:
        """Name of each bin of a term."""
        named = [bin_names(axis, self.schema.column(axis.column)) for axis in term.axes]
        if len(named) == 1:
            return named[0]
        first, second = term.axes
        return [f"{first.column} {a}, {second.column} {b}" for a in named[0] for b in named[1]]

    # Amounts

    @property
    def _decimals(self) -> int:
        if self.model.bounds is None:
            return 2
        low, high = self.model.bounds
        return max(0, 3 - math.floor(math.log10(high - low)))

    def mark(self, term: Term) -> str:
        """Importance to compare a term's own with, if any would do."""
        mark = self.model.mark(term)
        return "none would do" if mark is None else self.amount(mark).lstrip("+")

    def amount(self, value: float) -> str:
        """A score with its sign."""
        return minus(f"{round(value, self._decimals) + 0.0:+,.{self._decimals}f}")

    def number(self, value: float) -> str:
        """A predicted number with its unit."""
        shown = minus(f"{value:,.{max(0, self._decimals - 1)}f}")
        return f"{shown} {self.unit}" if self.unit else shown

    def range(self, score: float, error: float) -> str:
        """Where a score may lie because of the noise, at 95 %."""
        return f"{self.amount(score - Z95 * error)} to {self.amount(score + Z95 * error)}"

    def beside(self, score: float, error: float) -> str:
        """What stands beside a score: its odds, if it is about odds, and its noise."""
        odds = f"odds × {factor(score)}; " if self.model.task == "binary" else ""
        return f"{odds}noise alone {self.range(score, error)}"

    def told(self, score: float, error: float) -> str:
        """A score and what stands beside it."""
        return f"{self.amount(score)} ({self.beside(score, error)})"

    # One case

    def total(self, parts: Sequence[Contribution]) -> tuple[Floats, Floats]:
        """Scores of a case, intercept included, and their errors: each of shape (n_outputs,)."""
        scores = np.vstack([self.model.intercept, *(part.score for part in parts)])
        errors = np.vstack([self.model.intercept_error, *(part.error for part in parts)])
        return scores.sum(axis=0), np.sqrt(np.square(errors).sum(axis=0))

    def prediction_title(self, parts: Sequence[Contribution]) -> str:
        """What is predicted for a case."""
        scores, _ = self.total(parts)
        if self.model.bounds is not None:
            return f"The prediction is {self.target} = {self._clipped(scores[0])}"
        best = int(self.model.probabilities(scores[None, :])[0].argmax())
        return f"The prediction is {self.target} = {self.model.classes[best]}"

    def prediction(self, parts: Sequence[Contribution], output: int) -> str:
        """The chance of an output, or the predicted number, with what the noise does to it."""
        scores, errors = self.total(parts)
        if self.model.bounds is not None:
            ends = (self._clipped(scores[0] + side * Z95 * errors[0]) for side in (-1, 1))
            told = f"Noise alone: about {' to '.join(ends)} (95%)."
            beyond = not self.model.bounds[0] <= scores[0] <= self.model.bounds[1]
            return told + (" The sum is kept within the bounds of the column." if beyond else "")
        chances = self.model.probabilities(scores[None, :])[0]
        code = len(chances) - len(scores) + output
        low, high = self._chance_range(scores, errors, code)
        return (
            f"Noisy chance of {self.outcome(output)}: {percent(float(chances[code]))} (noise "
            f"alone: about {percent(low)} to {percent(high)})."
        )

    def doubts(self, parts: Sequence[Contribution], output: int) -> str:
        """What a prediction does not rest on: values not known, and parts that may be noise."""
        known = [part for part in parts if part.label != NOT_KNOWN]
        if parts and not known:
            return "Nothing is known of this case: this is what holds for everyone."
        told = []
        if absent := len(parts) - len(known):
            verbs = "needs what is not known and adds" if absent == 1 else "need what is not known and add"
            told.append(f"{absent} of {len(parts)} parts {verbs} nothing, as on average.")
        if not any(abs(part.score[output]) > Z95 * part.error[output] for part in known):
            told.append("Nothing that is known of this case stands out from the noise: this is next to a guess.")
        return " ".join(told)

    def _chance_range(self, scores: Floats, errors: Floats, code: int) -> tuple[float, float]:
        """Where a chance may lie because of the noise, at 95 %."""
        if len(scores) == 1:
            ends = np.array([scores - Z95 * errors, scores + Z95 * errors])
            low, high = self.model.probabilities(ends)[:, code]
            return float(low), float(high)
        # To first order in the noise of every score.
        chances = self.model.probabilities(scores[None, :])[0]
        slopes = chances[code] * ((np.arange(len(chances)) == code) - chances)
        reach = Z95 * float(np.linalg.norm(slopes * errors))
        return max(0.0, float(chances[code]) - reach), min(1.0, float(chances[code]) + reach)

    def _clipped(self, value: float) -> str:
        return self.number(float(self.model.clipped(np.asarray(value))))

    # Sentences

    def reading(self) -> list[str]:
        """The whole model, one sentence per term, the most important first."""
        ranked = self.model.ranked()
        clear = [self.sentence(term) for term in ranked if term.clear]
        return [self._start(), *clear, *self._unclear([t.name for t in ranked if not t.clear])]

    def _start(self) -> str:
        start = np.asarray(self.model.intercept, dtype=np.float64)
        if self.model.task == "regression":
            told = f"the prediction is {self.number(float(start[0]))}"
        else:
            chances = [percent(float(c)) for c in self.model.probabilities(start[None, :])[0]]
            if self.model.task == "binary":
                told = f"the chance of {self.outcome(0)} is {chances[1]}"
            else:
                named = zip(chances, self.model.classes, strict=True)
                listed = ", ".join(f"{chance} for {name}" for chance, name in named)
                told = f"the chance of {self.target} is {listed}"
        return f"Before any column counts, {told}. All that follows is compared with this."

    def _unclear(self, names: list[str]) -> Iterator[str]:
        if names:
            listed = ", ".join(names)
            yield f"These may be noise or chance as a whole, so read them with care: {listed}."

    def sentence(self, term: Term) -> str:
        """Where a term adds most and where it takes most away, as far as the noise lets see."""
        if not term.clear:
            return f"{term.name}: as a whole it may be noise or chance. Read it with care."
        told = self._for_each_class(term) if len(self.model.outputs) > 1 else self._extremes(term)
        return f"{term.name}: {told or 'no single group stands out from the noise'}."

    def _for_each_class(self, term: Term) -> str:
        """The group that speaks most for each class."""
        parts: list[str] = []
        for output, name in enumerate(self.model.outputs):
            place = self._furthest(term, output, 1)
            if place is not None:
                score, error = term.scores[place][output], term.errors[place][output]
                verb = "" if parts else " speaks most"
                group = self.bins(term)[place]
                parts.append(f"{group}{verb} for {name} ({self._plus_minus(score, error)})")
        return ", ".join(parts)

    def _extremes(self, term: Term) -> str:
        """The highest and the lowest group."""
        parts = []
        for word, sign in (("highest", 1), ("lowest", -1)):
            place = self._furthest(term, 0, sign)
            if place is not None:
                amount = self._compared(term.scores[place][0], term.errors[place][0])
                parts.append(f"{word} for {self.bins(term)[place]} ({amount})")
        binary = self.model.task == "binary"
        subject = f"the odds of {self.outcome(0)} are" if binary else f"predicted {self.target} is"
        return f"{subject} {' and '.join(parts)}" if parts else ""

    def _furthest(self, term: Term, output: int, sign: int) -> int | None:
        """Bin that adds most (``sign`` 1) or takes most (-1), if one stands out from the noise."""
        scores, errors = (np.asarray(x)[:, output] for x in (term.scores, term.errors))
        seen = sign * scores > Z95 * errors
        # A bin that next to nobody falls into is not a headline.
        seen &= np.asarray(term.noisy_counts) > Z95 * np.asarray(term.count_errors)
        return int(np.where(seen, sign * scores, -np.inf).argmax()) if seen.any() else None

    def _compared(self, score: float, error: float) -> str:
        """A score against an average record, with its noise."""
        if self.model.task == "binary":
            low, high = factor(score - Z95 * error), factor(score + Z95 * error)
            return f"× {factor(score)}; noise alone × {low} to × {high}"
        return self._plus_minus(score, error) + (f" {self.unit}" if self.unit else "")

    def _plus_minus(self, score: float, error: float) -> str:
        return f"{self.amount(score)} ±{self.amount(Z95 * error).removeprefix('+')}"


def bin_names(axis: Axis, column: Column) -> list[str]:
    """Name of each bin of an axis, as people say it: ``41 to 60``, ``above 5.5 to 7``."""
    if axis.edges is None:
        members = group_members(column.cells, axis.groups)
        return [" or ".join(_PLAIN.get(cell, cell) for cell in cells) for cells in members]
    points = axis.points
    if isinstance(column, IntegerColumn):
        named = [_whole(low, high, i == 0) for i, (low, high) in enumerate(pairwise(points))]
    else:
        pairs = [(format_number(a), format_number(b)) for a, b in pairwise(points)]
        named = [f"{a} to {b}" if i == 0 else f"above {a} to {b}" for i, (a, b) in enumerate(pairs)]
    return [*named, "missing"]


def _whole(low: float, high: float, first: bool) -> str:
    """The whole numbers above ``low``, or from it on, up to ``high``."""
    start, end = math.floor(low) + (0 if first else 1), math.floor(high)
    return str(end) if start >= end else f"{start} to {end}"


def factor(score: float) -> str:
    """The factor by which a score multiplies the odds."""
    if abs(score) > 13:
        return "more than 400,000" if score > 0 else "less than 0.000003"
    value = math.exp(score)
    if value >= 100:
        return whole(value)
    return f"{value:.1f}" if value >= 10 else f"{value:.2f}" if value >= 0.1 else f"{value:.2g}"
