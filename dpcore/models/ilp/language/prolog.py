"""Clauses in Prolog: predicates named after tables and columns, constants from the schema."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from itertools import chain, count
from string import ascii_uppercase

from dpcore.domain.schemas.schema import Schema
from dpcore.models.ilp.language.atoms import Atom
from dpcore.models.ilp.language.clause import Clause, Variable
from dpcore.models.ilp.language.forms import EXISTS
from dpcore.models.ilp.language.nested_conditions import NestedCondition, RowAtom

_ATOM = re.compile(r"[a-z][a-zA-Z0-9_]*", re.ASCII)
_INDENT = "    "
#: What may stand behind the name of a column.
_ENDINGS = ("", "_in", "_up_to", "_above")


class Prolog:
    """Writes clauses over a schema.

    ``roof(A, flat)`` asks for a category, ``roof_in(A, closed)`` for a group, ``age_above(P, 60)``
    and ``age_up_to(P, 60)`` for a cut point, and ``has_car(T, A)`` for a row of a child table. Of
    tables whose rows are in order, ``last_test(P, A)`` or ``first_test(P, A)`` asks for that row and
    ``test_before(A, B)`` whether one comes before another. ``stay_has_test(A, B)`` asks for a row that belongs
    to a row. How many rows there are is asked by
    ``aggregate_all/3``. No two columns or tables share a predicate.
    """

    def __init__(self, schema: Schema) -> None:
        self._schema = schema
        first = schema.entity[:1].upper()
        self._person = first if first in ascii_uppercase and first else "X"
        self._letters = [letter for letter in ascii_uppercase if letter != self._person]
        taken: set[str] = set()
        self._entity = _unused(_name(schema.entity), "", ("",), taken)
        self._has = {child.name: _unused(f"has_{_name(child.name)}", "", ("",), taken) for child in schema.children}
        in_order = [child for child in schema.children if child.keep != "random"]
        self._row = {child.name: _unused(f"{child.keep}_{_name(child.name)}", "", ("",), taken) for child in in_order}
        self._before = {child.name: _unused(f"{_name(child.name)}_before", "", ("",), taken) for child in in_order}
        tables = [("", schema), *((child.name, child) for child in schema.children)]
        self._columns = {
            (name, column.name): _unused(_name(column.name), name, _ENDINGS, taken)
            for name, table in tables
            for column in table.columns
        }
        self._below = {
            child.name: _unused(f"{_name(child.parent)}_has_{_name(child.name)}", "", ("",), taken)
            for child in schema.children
            if child.parent is not None
        }

    def clause(self, clause: Clause, target: str, label: str, unless: Sequence[Clause] = ()) -> str:
        """A clause with its head, such as ``direction(T, east) :- has_car(T, A), ...``.

        ``unless`` are clauses that must not cover the person.
        """
        letters = self._variables()
        goals = self._body(clause, letters)
        goals += [self._not([goal for part in self._body(other, letters) for goal in part]) for other in unless]
        head = f"{self._columns['', target]}({self._person}, {_constant(label)})"
        return _written(head, [", ".join(together) for together in goals])

    def body(self, clause: Clause) -> list[list[str]]:
        """Goals of a clause; a child variable and its conditions belong together.

        What is counted or negated comes last, when it is known of whom.
        """
        return self._body(clause, self._variables())

    def _variables(self) -> Iterator[str]:
        """Names of variables, each once."""
        return (f"{letter}{number or ''}" for number in count() for letter in self._letters)

    def _body(self, clause: Clause, letters: Iterator[str]) -> list[list[str]]:
        goals = [[self.atom(atom, self._person)] for atom in clause.atoms]
        late: list[list[str]] = []
        for item in clause.variables:
            if not item.negated:
                (late if item.least > 1 else goals).append(self._goals(item, letters))
        late += [self._not(self._goals(item, letters)) for item in clause.variables if item.negated]
        return (goals or [[f"{self._entity}({self._person})"]]) + late

    def _goals(self, variable: Variable, letters: Iterator[str]) -> list[str]:
        """What must be true of a person's rows, not taken as negated."""
        form, has = variable.form, self._has[variable.table]
        if not variable.atoms and not form.alike:
            goals = [f"{has}({self._person}, _)"]
            return goals if form == EXISTS else self._several(goals, form.least, letters)
        own = next(letters)
        goals = self._row_goals(self._row[variable.table] if form.row else has, variable.atoms, own, letters)
        if form.then:
            other = next(letters)
            goals += self._row_goals(has, variable.later, other, letters)
            return [*goals, f"{self._before[variable.table]}({own}, {other})"]
        if form.alike:
            other, value = next(letters), next(letters)
            column = self._columns[variable.table, form.alike]
            goals += self._row_goals(has, variable.atoms, other, letters)
            return [*goals, f"{own} \\== {other}", f"{column}({own}, {value})", f"{column}({other}, {value})"]
        if form.least > 1:
            found, *rest = goals
            once = [f"once(({', '.join(rest)}))"] if variable.nested else rest  # A row counts once.
            return self._several([found, *once], form.least, letters)
        return goals

    def _row_goals(self, has: str, atoms: Sequence[RowAtom], own: str, letters: Iterator[str]) -> list[str]:
        goals = [f"{has}({self._person}, {own})"]
        goals += [self.atom(atom, own) for atom in atoms if isinstance(atom, Atom)]
        return goals + [
            goal for atom in atoms if isinstance(atom, NestedCondition) for goal in self._nested(atom, own, letters)
        ]

    def _nested(self, atom: NestedCondition, row: str, letters: Iterator[str]) -> list[str]:
        """That rows belong to a row."""
        own = next(letters) if atom.atoms else "_"
        goals = [f"{self._below[atom.inner]}({row}, {own})", *(self.atom(inner, own) for inner in atom.atoms)]
        return goals if atom.least == 1 else self._several(goals, atom.least, letters)

    @staticmethod
    def _several(goals: Sequence[str], least: int, letters: Iterator[str]) -> list[str]:
        """That goals can be met in so many ways."""
        number = next(letters)
        return [f"aggregate_all(count, ({', '.join(goals)}), {number})", f"{number} >= {least}"]

    @staticmethod
    def _not(goals: Sequence[str]) -> list[str]:
        together = ", ".join(goals)
        return [f"\\+ ({together})" if len(goals) > 1 else f"\\+ {together}"]

    def bottom(self, atoms: Iterable[Atom], target: str, label: str) -> str:
        """The bottom clause: every atom at once, one variable for each child table."""
        by_table: dict[str, list[Atom]] = {}
        for atom in atoms:
            by_table.setdefault(atom.table, []).append(atom)
        lines = [self.atom(atom, self._person) for atom in by_table.pop("", [])]
        for (table, own), letter in zip(by_table.items(), self._variables(), strict=False):
            lines.append(f"{self._has[table]}({self._person}, {letter})")
            lines += [self.atom(atom, letter) for atom in own if not atom.exists]
        return _written(f"{self._columns['', target]}({self._person}, {_constant(label)})", lines)

    def atom(self, atom: Atom, variable: str) -> str:
        """One condition on the row that a variable stands for."""
        name = self._columns[atom.table, atom.column]
        if atom.group:
            return f"{name}_in({variable}, {_constant(atom.group)})"
        column = self._schema.table(atom.table).column(atom.column)
        asked = atom.condition(self._schema).removeprefix(atom.column)
        for sign, ending in ((" <= ", "_up_to"), (" > ", "_above")):
            if asked.startswith(sign):
                bound = asked.removeprefix(sign)
                constant = bound if hasattr(column, "inner_edges") else _constant(bound)
                return f"{name}{ending}({variable}, {constant})"
        return f"{name}({variable}, {_constant(asked.removeprefix(' = '))})"

    def known(self, table: str, column: str = "") -> str:
        """Predicate of a column; without one, of a row of a child table, or of the entity itself."""
        if column:
            return self._columns[table, column]
        return self._has[table] if table else self._entity

    def below(self, table: str) -> str:
        """Predicate of a row to which one of a table belongs."""
        return self._below[table]

    def order(self, table: str) -> tuple[str, str]:
        """Predicates of the row at the end of a child table in order, and of one row before another."""
        return self._row[table], self._before[table]


def _written(head: str, lines: Sequence[str]) -> str:
    return f"{head} :-\n{_INDENT}" + f",\n{_INDENT}".join(lines) + "."


def _unused(name: str, table: str, endings: Sequence[str], taken: set[str]) -> str:
    """A name that gives no predicate that is taken: with its table in front, or numbered."""
    prefixed = [f"{_name(table)}_{name}"] if table else []
    for candidate in chain([name], prefixed, (f"{name}_{number}" for number in count(2))):
        wanted = {f"{candidate}{ending}" for ending in endings}
        if wanted.isdisjoint(taken):
            taken |= wanted
            return candidate
    raise AssertionError("numbers do not end")


def _name(text: str) -> str:
    """A text as an unquoted Prolog atom: small letters and digits."""
    plain = re.sub(r"[^a-z0-9]+", "_", text.lower()).strip("_")
    return plain if _ATOM.fullmatch(plain) else f"c_{plain}".rstrip("_")


def _constant(text: str) -> str:
    """A category as a Prolog atom, never as a number: 007 and 7 are two."""
    if _ATOM.fullmatch(text):
        return text
    return "'" + text.replace("\\", "\\\\").replace("'", "\\'").replace("\n", "\\n") + "'"
