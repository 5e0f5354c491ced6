"""Theories over several tables, planted in demonstration data.

A theory is a disjunction of clauses. A clause asks conditions of a record itself, and that some
row of a child table satisfies several conditions at once, or that no row does.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

import numpy as np
import pandas as pd

from dpcore.arrays import Flags
from dpcore.demo.truth import PlantedCondition, markdown_table, when
from dpcore.domain.schemas.schema import Schema

#: Rows of child tables, by the names of the tables.
Children = Mapping[str, pd.DataFrame]
_ATOM = re.compile(r"[a-z][a-zA-Z0-9_]*|-?[0-9]+(\.[0-9]+)?")


@dataclass(frozen=True)
class Member:
    """``column in group`` on recorded values: one of the group's categories."""

    column: str
    group: str
    categories: tuple[str, ...]

    def __str__(self) -> str:
        return f"{self.column} in {self.group}"

    def holds(self, frame: pd.DataFrame) -> Flags:
        """Which rows satisfy the condition."""
        return np.asarray(frame[self.column].isin(self.categories), dtype=bool)


Asked = PlantedCondition | Member


def _together(conditions: Sequence[Asked], frame: pd.DataFrame) -> Flags:
    held = np.ones(len(frame), dtype=bool)
    for condition in conditions:
        held &= condition.holds(frame)
    return held


@dataclass(frozen=True)
class Unit:
    """Some row of a child table satisfies all conditions at once; ``negated``: no row does."""

    table: str
    conditions: tuple[Asked, ...]
    negated: bool = False

    def __str__(self) -> str:
        asked = " and ".join(map(str, self.conditions))
        return f"{'no' if self.negated else 'some'} {self.table} with ({asked})"

    def holds(self, keys: pd.Series, children: Children) -> Flags:
        """Which of the records that ``keys`` name satisfy it."""
        rows = children[self.table]
        named = rows.loc[_together(self.conditions, rows), str(keys.name)]
        return np.asarray(keys.isin(named).to_numpy(dtype=bool) ^ self.negated)


@dataclass(frozen=True)
class PlantedClause:
    """Conditions of a record itself, and of rows about it.

    Two units may be satisfied by one and the same row, as in Prolog.
    """

    conditions: tuple[Asked, ...] = ()
    units: tuple[Unit, ...] = ()

    def __str__(self) -> str:
        return " and ".join(map(str, (*self.conditions, *self.units)))

    @property
    def asked(self) -> tuple[tuple[str, Asked], ...]:
        """Every condition with the table that it is asked of; the main one is ``""``."""
        own = [("", condition) for condition in self.conditions]
        return (*own, *((unit.table, item) for unit in self.units for item in unit.conditions))

    def holds(self, frame: pd.DataFrame, key: str, children: Children) -> Flags:
        """Which records satisfy the clause; ``key`` names them in every table."""
        held = _together(self.conditions, frame)
        for unit in self.units:
            held &= unit.holds(frame[key], children)
        return held


@dataclass(frozen=True)
class PlantedTheory:
    """Clauses from which a target was drawn."""

    target: str
    """Column that was drawn."""
    classes: tuple[str, str]
    """Its negative and its positive class."""
    entity: str
    key: str
    """``entity``, ``key``: what a record is called, and the column that names it in every table."""
    clauses: tuple[PlantedClause, ...]
    """The theory holds where one of them does."""
    chance: float = 1.0
    otherwise: float = 0.0
    """``chance``, ``otherwise``: chance of the positive class where the theory holds, and where it does not."""

    def holds(self, frame: pd.DataFrame, children: Children) -> Flags:
        """Which records satisfy some clause: a bool array of shape (n_rows,)."""
        held = np.zeros(len(frame), dtype=bool)
        for clause in self.clauses:
            held |= clause.holds(frame, self.key, children)
        return held

    def draw(self, held: Flags, generator: np.random.Generator) -> Flags:
        """Draw, independently, which records are positive, given where the theory holds."""
        return np.asarray(generator.random(len(held)) < np.where(held, self.chance, self.otherwise))

    def prolog(self, clause: PlantedClause) -> str:
        """One clause of the theory in Prolog notation."""
        return _Prolog(self, clause).text

    def to_markdown(self, frame: pd.DataFrame, children: Children) -> str:
        """Clauses, and what the records really show, as Markdown."""
        positive = self._positive(frame)
        held = [clause.holds(frame, self.key, children) for clause in self.clauses]
        every = np.logical_or.reduce(held)
        rows = [
            [str(number), str(clause), *_shown(flags, positive)]
            for number, (clause, flags) in enumerate(zip(self.clauses, held, strict=True), 1)
        ]
        rows.append(["", "any clause", *_shown(every, positive)])
        rows.append(["", "no clause", *_shown(~every, positive)])
        head = ["#", "clause", f"{self.entity}s", "share", f"drawn {self.classes[1]}"]
        program = "\n".join(self.prolog(clause) for clause in self.clauses)
        return f"{markdown_table(head, rows)}\n\n```prolog\n{program}\n```"

    def _positive(self, frame: pd.DataFrame) -> Flags:
        values = frame[self.target]
        if values.dtype == bool:
            return values.to_numpy()
        return np.asarray(values == self.classes[1], dtype=bool)


def _shown(held: Flags, positive: Flags) -> list[str]:
    rows = int(np.count_nonzero(held))
    share = np.count_nonzero(held & positive) / max(rows, 1)
    return [f"{rows:,}", f"{100 * rows / len(held):.1f}%", f"{100 * share:.1f}%"]


def _atom(text: object) -> str:
    """Text as a Prolog atom or number, in quotes where needed."""
    plain = str(text)
    if _ATOM.fullmatch(plain):
        return plain
    return "'" + plain.replace("\\", "\\\\").replace("'", "\\'") + "'"


class _Prolog:
    """Writes one clause; ``A``, ``B``, ... are rows of child tables, ``V1``, ... are values."""

    def __init__(self, theory: PlantedTheory, clause: PlantedClause) -> None:
        self._values = 0
        record = theory.entity[0].upper()
        rows = (letter for letter in "ABCDEFGHIJKLMNOPQRSTUVWXYZ" if letter != record)
        goals = [goal for item in clause.conditions for goal in self._goals(item, record)]
        goals += [self._unit(unit, record, next(rows)) for unit in clause.units]
        target = f"{_atom(theory.target)}({record}, {_atom(theory.classes[1])})"
        self.text = f"{target} :- {', '.join(goals)}." if goals else f"{target}."

    def _unit(self, unit: Unit, record: str, row: str) -> str:
        goals = [f"{_atom(unit.table)}({record}, {row})"]
        goals += [goal for item in unit.conditions for goal in self._goals(item, row)]
        text = ", ".join(goals)
        return f"\\+ ({text})" if unit.negated else text

    def _goals(self, item: Asked, variable: str) -> Iterator[str]:
        column = _atom(item.column)
        if isinstance(item, PlantedCondition) and item.sign == "=":
            yield f"{column}({variable}, {_atom(item.value)})"
            return
        self._values += 1
        value = f"V{self._values}"
        yield f"{column}({variable}, {value})"
        if isinstance(item, Member):
            yield f"{_atom(item.group)}({value})"
        else:
            yield f"{value} {'=<' if item.sign == '<=' else item.sign} {item.value}"


def asks(schema: Schema, table: str, *texts: str) -> tuple[Asked, ...]:
    """Conditions on a table from texts such as ``age > 70``, ``sex = male``, ``code in heart``.

    Raises
    ------
    SchemaError
        If the schema has no such table or column.
    ValueError
        If the column has no such group.
    """
    return tuple(_asked(schema, table, text) for text in texts)


def _asked(schema: Schema, table: str, text: str) -> Asked:
    name, sign, value = text.split(" ", 2)
    column = schema.table(table).column(name)
    if sign != "in":
        return when(text)[0]
    for group in getattr(column, "groups", ()):
        if group.name == value:
            return Member(name, value, group.members)
    raise ValueError(f"The column '{name}' has no group '{value}'.")


def some(schema: Schema, table: str, *texts: str) -> Unit:
    """Some row of a child table that satisfies all conditions, given as in :func:`asks`."""
    return Unit(table, asks(schema, table, *texts))


def none(schema: Schema, table: str, *texts: str) -> Unit:
    """No row of a child table satisfies all conditions, given as in :func:`asks`."""
    return Unit(table, asks(schema, table, *texts), negated=True)
