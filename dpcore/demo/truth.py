"""What is true of a demonstration data set: planted rule lists and redescriptions.

Each is executable, so that it can be planted and looked for, and has a text for people.
"""

from __future__ import annotations

import operator
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np
import pandas as pd

from dpcore.arrays import Flags, Ints
from dpcore.domain.schemas.schema import Schema

_SIGNS = {"=": operator.eq, "<=": operator.le, ">": operator.gt}


@dataclass(frozen=True)
class PlantedCondition:
    """``column sign value`` on recorded values; a missing value satisfies no condition."""

    column: str
    sign: str
    value: str | float

    def __str__(self) -> str:
        return f"{self.column} {self.sign} {self.value}"

    def holds(self, frame: pd.DataFrame) -> Flags:
        """Which rows satisfy the condition."""
        values = frame[self.column]
        known = values.notna().to_numpy(dtype=bool)
        compared = _SIGNS[self.sign](values[known].to_numpy(), _native(self.value))
        result = np.zeros(len(frame), dtype=bool)
        result[known] = np.asarray(compared, dtype=bool)
        return result


def when(*texts: str) -> tuple[PlantedCondition, ...]:
    """Conditions from texts such as ``age > 70`` or ``sex = female``."""
    return tuple(_condition(*text.split(" ", 2)) for text in texts)


def _condition(column: str, sign: str, value: str) -> PlantedCondition:
    if sign == "=":
        return PlantedCondition(column, sign, value)
    number = float(value)
    return PlantedCondition(column, sign, int(number) if number.is_integer() else number)


def _native(value: str | float) -> Any:
    return {"yes": True, "no": False}.get(value, value) if isinstance(value, str) else value


@dataclass(frozen=True)
class PlantedRule:
    """Class probabilities of the records that satisfy all conditions and no earlier rule."""

    conditions: tuple[PlantedCondition, ...]
    probabilities: tuple[float, ...]

    @property
    def text(self) -> str:
        """Conditions as the engine writes them."""
        return " and ".join(str(condition) for condition in self.conditions) or "everyone else"


@dataclass(frozen=True)
class PlantedList:
    """A rule list from which a target was drawn; the last rule has no conditions."""

    target: str
    classes: tuple[str, ...]
    rules: tuple[PlantedRule, ...]

    def captures(self, frame: pd.DataFrame) -> Ints:
        """Position of the first rule that each row satisfies."""
        first = np.full(len(frame), len(self.rules) - 1)
        for position in range(len(self.rules) - 2, -1, -1):
            holds = [condition.holds(frame) for condition in self.rules[position].conditions]
            first[np.logical_and.reduce(holds)] = position
        return first

    def draw(self, frame: pd.DataFrame, generator: np.random.Generator) -> Ints:
        """Draw the class of each row, independently, with the planted probabilities."""
        cumulative = np.cumsum([rule.probabilities for rule in self.rules], axis=1)
        steps = cumulative[self.captures(frame), :-1]
        return np.asarray((generator.random(len(frame))[:, None] >= steps).sum(axis=1))

    def to_markdown(self, frame: pd.DataFrame) -> str:
        """Rules, planted probabilities and what the records really show, as a table."""
        captured = self.captures(frame)
        shown = list(range(len(self.classes))) if len(self.classes) > 2 else [1]
        codes = pd.Categorical(_labels(frame[self.target]), categories=self.classes).codes
        head = ["#", "rule", "records"]
        for code in shown:
            head += [f"planted {self.classes[code]}", f"drawn {self.classes[code]}"]
        rows = []
        for position, rule in enumerate(self.rules):
            reached = np.asarray(codes[captured == position])
            row = [str(position + 1), rule.text, f"{len(reached):,}"]
            for code in shown:
                share = np.count_nonzero(reached == code) / max(len(reached), 1)
                row += [f"{100 * rule.probabilities[code]:.0f}%", f"{100 * share:.1f}%"]
            rows.append(row)
        return markdown_table(head, rows)


@dataclass(frozen=True)
class Query:
    """Groups of conditions: rows that satisfy every condition of some group."""

    groups: tuple[tuple[PlantedCondition, ...], ...]

    def __str__(self) -> str:
        parts = [" and ".join(map(str, group)) for group in self.groups]
        return " or ".join(parts)

    def holds(self, frame: pd.DataFrame) -> Flags:
        """Which rows satisfy the query."""
        groups = [np.logical_and.reduce([condition.holds(frame) for condition in group]) for group in self.groups]
        return np.asarray(np.logical_or.reduce(groups))


@dataclass(frozen=True)
class PlantedRedescription:
    """Two queries, over the columns of two views, that hold for nearly the same rows."""

    name: str
    """What it is about, in a word."""
    left: Query
    right: Query
    """``left``, ``right``: the queries, on recorded values."""
    jaccard: float
    """Jaccard index that was planted; chance moves that of the records a little."""
    caught: float
    """Share of the rows of the left query that satisfy the right one too."""

    def draw(self, frame: pd.DataFrame, generator: np.random.Generator) -> Flags:
        """Draw which rows satisfy the right query, given who satisfies the left one.

        Of the others, as many do as give the planted Jaccard index:
        ``|left and right| / |left or right|``.
        """
        left = self.left.holds(frame)
        outside = left.sum() * (self.caught / self.jaccard - 1) / np.count_nonzero(~left)
        return np.asarray(generator.random(len(frame)) < np.where(left, self.caught, outside))

    def counts(self, frame: pd.DataFrame) -> tuple[int, int, int]:
        """Rows that satisfy both queries, the left one only, the right one only."""
        left, right = self.left.holds(frame), self.right.holds(frame)
        both, only_left, only_right = left & right, left & ~right, right & ~left
        return int(both.sum()), int(only_left.sum()), int(only_right.sum())

    def jaccard_in(self, frame: pd.DataFrame) -> float:
        """Jaccard index of the two queries in the records."""
        both, *others = self.counts(frame)
        return both / (both + sum(others))

    def agreement(self, frame: pd.DataFrame, left: Flags, right: Flags) -> float:
        """How near a found redescription comes: 1 if it is this one, 0 if it shares no row.

        Parameters
        ----------
        left, right : bool arrays of shape (n_rows,)
            Rows of the frame that satisfy the found queries.

        Returns
        -------
        float
            On the side where they agree less, the Jaccard index of the found query and this one.
        """
        return min(_overlap(self.left.holds(frame), left), _overlap(self.right.holds(frame), right))


def _overlap(first: Flags, second: Flags) -> float:
    either = np.count_nonzero(first | second)
    return float(np.count_nonzero(first & second) / either) if either else 0.0


def redescriptions_table(planted: Sequence[PlantedRedescription], frame: pd.DataFrame) -> str:
    """Planted redescriptions and what the records really show, as a Markdown table."""
    rows = []
    for item in planted:
        both, only_left, only_right = item.counts(frame)
        row = [item.name, str(item.left), str(item.right)]
        row += [f"{item.jaccard:.2f}", f"{item.jaccard_in(frame):.3f}"]
        row += [f"{both:,} ({100 * both / len(frame):.1f}%)", f"{only_left:,}", f"{only_right:,}"]
        rows.append(row)
    head = ["about", "left", "right", "planted Jaccard", "Jaccard in these records"]
    return markdown_table([*head, "people in both", "left only", "right only"], rows)


@dataclass(frozen=True)
class Demo:
    """A public data set."""

    frame: pd.DataFrame
    """Records as a custodian would upload them."""
    schema: Schema
    """Its public domain."""
    truth: str
    """What is known to be true of it, in Markdown."""
    name: str
    """Key in ``DEMOS``."""
    planted: tuple[PlantedRedescription, ...] = ()
    """Redescriptions that a search should find, strongest first."""
    children: Mapping[str, pd.DataFrame] = field(default_factory=dict)
    """Rows of the child tables of the schema, by their names."""


def _labels(values: pd.Series) -> list[str]:
    return [("yes" if value else "no") if isinstance(value, bool | np.bool_) else str(value) for value in values]


def markdown_table(head: Sequence[str], rows: Sequence[Sequence[str]]) -> str:
    """A Markdown table; vertical bars in cells are escaped."""
    lines = [head, ["---"] * len(head), *rows]
    return "\n".join("| " + " | ".join(cell.replace("|", "\\|") for cell in line) + " |" for line in lines)
