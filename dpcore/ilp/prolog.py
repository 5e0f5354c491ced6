"""Clauses in Prolog: predicates named after tables and columns, constants from the schema."""

from __future__ import annotations

import re
from collections.abc import Iterable
from string import ascii_uppercase

from dpcore.columns import NumericColumn
from dpcore.ilp.clause import Clause
from dpcore.ilp.language import Atom
from dpcore.schema import Schema

_PLAIN = re.compile(r"[a-z][a-zA-Z0-9_]*|-?[0-9]+(\.[0-9]+)?")
_INDENT = "    "


class Prolog:
    """Writes clauses over a schema.

    ``roof(A, flat)`` asks for a category, ``roof_in(A, closed)`` for a group, ``age_above(P, 60)``
    and ``age_up_to(P, 60)`` for a cut point, and ``has_car(T, A)`` for a row of a child table.
    """

    def __init__(self, schema: Schema) -> None:
        self._schema = schema
        self._person = schema.entity[:1].upper() if schema.entity[:1].isalpha() else "X"
        self._letters = [letter for letter in ascii_uppercase if letter != self._person]

    def clause(self, clause: Clause, target: str, label: str) -> str:
        """A clause with its head, such as ``direction(T, east) :- has_car(T, A), ...``."""
        head = f"{_name(target)}({self._person}, {_constant(label)})"
        body = self.body(clause)
        if not body:
            return f"{head}."
        return f"{head} :-\n{_INDENT}" + f",\n{_INDENT}".join(body) + "."

    def body(self, clause: Clause) -> list[str]:
        """Goals of a clause; a child variable and its conditions are one string."""
        goals = [self.atom(atom, self._person) for atom in clause.atoms]
        for variable, letter in zip(clause.variables, self._letters, strict=False):
            asked = [atom for atom in variable.atoms if not atom.exists]
            has = f"has_{_name(variable.table)}({self._person}, {letter if asked else '_'})"
            together = ", ".join([has, *(self.atom(atom, letter) for atom in asked)])
            goals.append(_negated(together, len(asked)) if variable.negated else together)
        return goals

    def bottom(self, atoms: Iterable[Atom], target: str, label: str) -> str:
        """The bottom clause: every atom at once, one variable for each child table."""
        by_table: dict[str, list[Atom]] = {}
        for atom in atoms:
            by_table.setdefault(atom.table, []).append(atom)
        lines = [self.atom(atom, self._person) for atom in by_table.pop("", [])]
        for (table, own), letter in zip(by_table.items(), self._letters, strict=False):
            lines.append(f"has_{_name(table)}({self._person}, {letter})")
            lines += [self.atom(atom, letter) for atom in own if not atom.exists]
        head = f"{_name(target)}({self._person}, {_constant(label)})"
        return f"{head} :-\n{_INDENT}" + f",\n{_INDENT}".join(lines) + "."

    def atom(self, atom: Atom, variable: str) -> str:
        """One condition on the row that a variable stands for."""
        name, column = _name(atom.column), self._schema.table(atom.table).column(atom.column)
        if atom.group:
            return f"{name}_in({variable}, {_constant(atom.group)})"
        condition = atom.condition(self._schema)
        for sign, ending in ((" <= ", "_up_to"), (" > ", "_above")):
            if condition.startswith(f"{atom.column}{sign}"):
                bound = condition.removeprefix(f"{atom.column}{sign}")
                return f"{name}{ending}({variable}, {_constant(bound)})"
        if isinstance(column, NumericColumn) and " = " not in condition:
            low, _, rest = condition.partition(" < ")
            high = rest.rpartition(" <= ")[2]
            return f"{name}_between({variable}, {_constant(low)}, {_constant(high)})"
        return f"{name}({variable}, {_constant(condition.removeprefix(f'{atom.column} = '))})"


def _negated(goals: str, conditions: int) -> str:
    return f"\\+ ({goals})" if conditions else f"\\+ {goals}"


def _name(text: str) -> str:
    """A text as a Prolog atom: unquoted where its small letters and digits allow it."""
    plain = re.sub(r"\W+", "_", text.lower()).strip("_")
    return plain if _PLAIN.fullmatch(plain) and not plain[0].isdigit() else f"c_{plain}"


def _constant(text: str) -> str:
    if _PLAIN.fullmatch(text):
        return text
    return "'" + text.replace("\\", "\\\\").replace("'", "\\'") + "'"
