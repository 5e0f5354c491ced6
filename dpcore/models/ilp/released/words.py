"""Clauses in plain words."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import combinations

from dpcore.domain.schema import Schema
from dpcore.models.ilp.language.atoms import Atom
from dpcore.models.ilp.language.clause import Clause, Variable


def clause_words(clause: Clause, schema: Schema) -> str:
    """What must be true of somebody: ``with age > 60 and a car with roof = flat``."""
    parts = [_condition(atom, schema) for atom in clause.atoms]
    positive = [item for item in clause.variables if not item.negated]
    parts += [_some(item, schema) for item in positive]
    parts += [_none(item, schema) for item in clause.variables if item.negated]
    if not parts:
        return "at all"
    doubled = sorted({one.table for one, other in combinations(positive, 2) if _may_be(one, other)})
    note = f" (it may be one {' or one '.join(doubled)} for both)" if doubled else ""
    return f"with {_joined(parts)}{note}"


def _may_be(one: Variable, other: Variable) -> bool:
    """Whether one row could stand for both variables."""
    return one.table == other.table and all(
        bool(set(first.cells) & set(second.cells))
        for first in one.atoms
        for second in other.atoms
        if first.column == second.column
    )


def _some(variable: Variable, schema: Schema) -> str:
    article = "an" if variable.table[:1].lower() in "aeiou" else "a"
    if not variable.atoms:
        return f"at least one {variable.table}"
    return f"{article} {variable.table} that has {_conditions(variable.atoms, schema)}"


def _none(variable: Variable, schema: Schema) -> str:
    if not variable.atoms:
        return f"no {variable.table}"
    return f"no {variable.table} that has {_conditions(variable.atoms, schema)}"


def _conditions(atoms: Sequence[Atom], schema: Schema) -> str:
    return _joined([_condition(atom, schema) for atom in atoms], last=" and ")


def _condition(atom: Atom, schema: Schema) -> str:
    if not atom.group:
        return atom.condition(schema)
    column = schema.table(atom.table).column(atom.column)
    members = [column.cells[cell] for cell in atom.cells]
    shown = ", ".join(members[:6]) + (", ..." if len(members) > 6 else "")
    return f"{atom.column} in {atom.group} ({shown})"


def _joined(parts: Sequence[str], last: str = ", and ") -> str:
    return parts[0] if len(parts) == 1 else f"{', '.join(parts[:-1])}{last}{parts[-1]}"
