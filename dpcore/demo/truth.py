"""Planted rule lists: what is true of a demonstration data set, executable and as text."""

from __future__ import annotations

import operator
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from dpcore.schema import Schema

_SIGNS = {"=": operator.eq, "<=": operator.le, ">": operator.gt}


@dataclass(frozen=True)
class Demo:
    """A public data set.

    Attributes
    ----------
    frame : pandas.DataFrame
        Records as a custodian would upload them.
    schema : Schema
        Its public domain.
    truth : str
        What is known to be true of it, in Markdown.
    name : str
        Key in ``DEMOS``.
    """

    frame: pd.DataFrame
    schema: Schema
    truth: str
    name: str


@dataclass(frozen=True)
class Condition:
    """``column sign value`` on recorded values; a missing value satisfies no condition."""

    column: str
    sign: str
    value: str | float

    def __str__(self) -> str:
        return f"{self.column} {self.sign} {self.value}"

    def holds(self, frame: pd.DataFrame) -> NDArray[np.bool_]:
        """Which rows satisfy the condition."""
        values = frame[self.column]
        known = values.notna().to_numpy(dtype=bool)
        compared = _SIGNS[self.sign](values[known].to_numpy(), _native(self.value))
        result = np.zeros(len(frame), dtype=bool)
        result[known] = np.asarray(compared, dtype=bool)
        return result


def _native(value: str | float) -> Any:
    return {"yes": True, "no": False}.get(value, value) if isinstance(value, str) else value


@dataclass(frozen=True)
class PlantedRule:
    """Class probabilities of the records that satisfy all conditions and no earlier rule."""

    conditions: tuple[Condition, ...]
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

    def captures(self, frame: pd.DataFrame) -> NDArray[np.int64]:
        """Position of the first rule that each row satisfies."""
        first = np.full(len(frame), len(self.rules) - 1)
        for position in range(len(self.rules) - 2, -1, -1):
            holds = [condition.holds(frame) for condition in self.rules[position].conditions]
            first[np.logical_and.reduce(holds)] = position
        return first

    def draw(self, frame: pd.DataFrame, generator: np.random.Generator) -> NDArray[np.int64]:
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


def _labels(values: pd.Series) -> list[str]:
    return [
        ("yes" if value else "no") if isinstance(value, bool | np.bool_) else str(value)
        for value in values
    ]


def markdown_table(head: Sequence[str], rows: Sequence[Sequence[str]]) -> str:
    """A Markdown table; vertical bars in cells are escaped."""
    lines = [head, ["---"] * len(head), *rows]
    return "\n".join(
        "| " + " | ".join(cell.replace("|", "\\|") for cell in line) + " |" for line in lines
    )
