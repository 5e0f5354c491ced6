"""Clauses in plain words."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import combinations

from dpcore.domain.counted import counted
from dpcore.domain.schemas.schema import Schema
from dpcore.models.ilp.language.atoms import Atom
from dpcore.models.ilp.language.clause import Clause, Variable
from dpcore.models.ilp.language.forms import EXISTS
from dpcore.models.ilp.language.nested_conditions import NestedCondition, RowAtom
from dpcore.numerals import whole


def one_row(schema: Schema) -> str:
    """Of what a clause speaks: a patient, a person; a record, where a person may have several."""
    return counted(schema).one if schema.entity == "person" else schema.entity


def rows_in_words(schema: Schema, number: int | None = None) -> str:
    """How many rows: ``1,234 patient records``, ``1,234 people``; without a number, what they are."""
    noun = counted(schema)
    name = noun.one if number == 1 else noun.several
    named = name if schema.entity == "person" else f"{schema.entity} {name}"
    return named if number is None else f"{whole(number)} {named}"


def clause_words(clause: Clause, schema: Schema) -> str:
    """What must be true of somebody: ``with age > 60 and a car with roof = flat``."""
    parts = [_condition(atom, schema) for atom in clause.atoms]
    positive = [item for item in clause.variables if not item.negated]
    parts += [_some(item, schema) for item in positive]
    parts += [_none(item, schema) for item in clause.variables if item.negated]
    if not parts:
        return "at all"
    return f"with {_joined(parts)}{_note(positive)}"


def _note(positive: Sequence[Variable]) -> str:
    """That one row may do for two variables."""
    doubled: dict[str, list[Variable]] = {}
    for one, other in combinations(positive, 2):
        for table in _common(one, other):
            doubled.setdefault(table, []).extend((one, other))
    if not doubled:
        return ""
    if all(_asks_for_one(item) for items in doubled.values() for item in items):
        return f" (it may be one {' or one '.join(sorted(doubled))} for both)"
    return f" ({' and '.join(sorted(doubled))} rows may be the same)"


def _asks_for_one(variable: Variable) -> bool:
    return variable.form == EXISTS and all(atom.least == 1 for atom in variable.nested)


def _common(one: Variable, other: Variable) -> set[str]:
    """Tables of which one row could stand for both variables."""
    return {
        table
        for table, mine in _rows(one)
        for name, theirs in _rows(other)
        if name == table
        and all(
            bool(set(first.cells) & set(second.cells))
            for first in mine
            for second in theirs
            if first.column == second.column
        )
    }


def _rows(variable: Variable) -> list[tuple[str, list[Atom]]]:
    """The rows that a variable speaks of: their table, and conditions on them."""
    parts = [variable.atoms, variable.later] if variable.later else [variable.atoms]
    own = [(variable.table, [atom for atom in part if isinstance(atom, Atom)]) for part in parts]
    return own + [(atom.inner, list(atom.atoms)) for atom in variable.nested]


def _some(variable: Variable, schema: Schema) -> str:
    form, table = variable.form, variable.table
    having = f" that has {_conditions(variable.atoms, schema)}" if variable.atoms else ""
    each = f", each with {_conditions(variable.atoms, schema)}" if variable.atoms else ""
    if form.then:
        return f"{_article(table)} {table}{having} and, later, one that has {_conditions(variable.later, schema)}"
    if form.alike:
        return f"two {table} rows with the same {form.alike}{each}"
    if form.row:
        return f"a {form.row} {table}{having}"
    if form.least > 1:
        return f"at least {form.least} {table} rows{each}"
    return f"{_article(table)} {table}{having}" if having else f"at least one {table}"


def _none(variable: Variable, schema: Schema) -> str:
    form, table = variable.form, variable.table
    having = f" that has {_conditions(variable.atoms, schema)}" if variable.atoms else ""
    each = f" with {_conditions(variable.atoms, schema)}" if variable.atoms else ""
    if form.alike:
        return f"no two {table} rows with the same {form.alike}{f', each{each}' if each else ''}"
    if form.row:
        return f"no {form.row} {table}{having}"
    if form.least > 1:
        return f"fewer than {form.least} {table} rows{each}"
    return f"no {table}{having}"


def _article(table: str) -> str:
    return "an" if table[:1].lower() in "aeiou" else "a"


def _conditions(atoms: Sequence[RowAtom], schema: Schema) -> str:
    parts = [_condition(atom, schema) for atom in atoms if isinstance(atom, Atom)]
    parts += [_nested(atom, schema) for atom in atoms if isinstance(atom, NestedCondition)]
    return _joined(parts, last=" and ")


def _nested(atom: NestedCondition, schema: Schema) -> str:
    """Rows that belong to a row: ``a lab with value > 4``."""
    if not atom.atoms:
        return f"at least one {atom.inner}" if atom.least == 1 else f"at least {atom.least} {atom.inner} rows"
    having = f"with {_conditions(atom.atoms, schema)}"
    if atom.least == 1:
        return f"{_article(atom.inner)} {atom.inner} {having}"
    return f"at least {atom.least} {atom.inner} rows, each {having}"


def _condition(atom: Atom, schema: Schema) -> str:
    if not atom.group:
        return atom.condition(schema)
    column = schema.table(atom.table).column(atom.column)
    members = [column.cells[cell] for cell in atom.cells]
    shown = ", ".join(members[:6]) + (", ..." if len(members) > 6 else "")
    return f"{atom.column} in {atom.group} ({shown})"


def _joined(parts: Sequence[str], last: str = ", and ") -> str:
    return parts[0] if len(parts) == 1 else f"{', '.join(parts[:-1])}{last}{parts[-1]}"
