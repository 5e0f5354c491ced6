"""A theory of relational rules as a file that runs in SWI-Prolog: rules, and facts about invented cases."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from itertools import combinations

import pandas as pd

from dpcore.domain.columns import NumericColumn
from dpcore.domain.encoding import encode_columns
from dpcore.domain.schemas.schema import ChildTable, Schema
from dpcore.models.ilp.language.atoms import Atom
from dpcore.models.ilp.language.nested_conditions import single
from dpcore.models.ilp.language.prolog import Prolog
from dpcore.models.ilp.released.example import made_up_case
from dpcore.models.ilp.released.fulfilled import satisfied
from dpcore.models.ilp.released.ilp_model import ILPModel
from dpcore.models.ilp.released.ilp_reading import prolog_program
from dpcore.models.released import parse_model
from dpcore.released.release import Release

_GOAL = re.compile(r"\b([a-z]\w*)\(([^()]*)\)")
_TEXT = re.compile(r"'(?:[^'\\]|\\.)*'")


def prolog_file(release: Release) -> str:
    """The program of a release with sample facts, one invented case for each clause.

    A predicate may be called like one that the system has, such as ``length/2``: those are made free first.
    """
    model, stored = parse_model(release), release.stored
    program, facts = prolog_program(release), list(_facts(stored))
    arities = _predicates([*program.splitlines(), *facts])
    heads = ", ".join(f"{name}({', '.join('_' * count)})" for name, count in arities)
    declared = ", ".join(f"{name}/{count}" for name, count in arities)
    question = f"{Prolog(stored.domain).known('', stored.target)}(Who, What)"
    return "\n".join(
        [
            "% Load it with: swipl FILE.pl",
            f"% Then ask, for example: ?- {question}.",
            ":- style_check(-discontiguous).",
            f":- forall((member(H, [{heads}]), predicate_property(system:H, defined)),",
            "          redefine_system_predicate(user:H)).",
            f":- dynamic {declared}.",
            "",
            program,
            f"% Sample facts: one invented case for each of {len(model.clauses)} clauses, nobody's record.",
            *facts,
            "",
        ]
    )


def _facts(release: Release) -> Iterator[str]:
    model: ILPModel = parse_model(release)
    schema, writer = release.domain, Prolog(release.domain)
    asked = [atom for clause in model.clauses for atom in clause.atoms]
    said = [variable for clause in model.clauses for variable in clause.variables]
    asked += [atom for variable in said for atom in single((*variable.atoms, *variable.later))]
    ordered = {variable.table for variable in said if variable.ordered}
    nested = {atom.inner for variable in said for atom in variable.nested}
    for number, clause in enumerate(model.clauses, 1):
        tables = made_up_case(clause, schema, release.target)
        if not tables:
            continue
        own = f"case_{number}"
        yield f"% Clause {number}"
        yield f"{writer.known('', '')}({own})."
        main = tables[schema.entity]
        yield from _of_rows(writer, "", schema, main, [own], asked)
        for child in schema.children:
            has, rows = writer.known(child.name), tables[child.name]
            names = _row_names(writer, own, child.name, len(rows))
            yield from (f"{has}({own}, {name})." for name in names)
            if child.parent is not None and child.name in nested:
                above = _row_names(writer, own, child.parent, len(tables[child.parent]))
                places = rows[child.parent_key].astype(int)
                yield from (
                    f"{writer.below(child.name)}({above[p - 1]}, {n})." for p, n in zip(places, names, strict=True)
                )
            if child.name in ordered:
                yield from _in_order(writer, child, own, names)
            yield from _of_rows(writer, child.name, child, rows, names, asked)


def _row_names(writer: Prolog, case: str, table: str, rows: int) -> list[str]:
    """A name for each row of a table about a case."""
    return [f"{case}_{writer.known(table).removeprefix('has_')}_{place}" for place in range(1, rows + 1)]


def _in_order(writer: Prolog, child: ChildTable, own: str, names: list[str]) -> Iterator[str]:
    """Which row is the one at the end, and which comes before which: rows stand in the order of time."""
    end, before = writer.order(child.name)
    if names:
        yield f"{end}({own}, {names[-1 if child.keep == 'last' else 0]})."
    yield from (f"{before}({one}, {other})." for one, other in combinations(names, 2))


def _of_rows(
    writer: Prolog, name: str, table: Schema | ChildTable, frame: pd.DataFrame, rows: list[str], asked: list[Atom]
) -> Iterator[str]:
    """Values of rows, and which conditions of the clauses they satisfy."""
    present = [column for column in table.columns if column.name in frame]
    codes = encode_columns(frame, table, [column.name for column in present])
    told: dict[str, None] = {}
    for column in present:
        for place, row in enumerate(rows):
            if isinstance(column, NumericColumn):
                value = frame[column.name].iloc[place]
                if value is not None and value == value:
                    told[f"{writer.known(name, column.name)}({row}, {value})."] = None
            elif (code := int(codes[column.name][place])) < len(column.classes):
                told[f"{writer.atom(Atom(table=name, column=column.name, cells=(code,)), row)}."] = None
    for atom in asked:
        if atom.table == name and atom.column in frame:
            holds = satisfied((atom,), frame, table)
            told |= {f"{writer.atom(atom, row)}.": None for row, fits in zip(rows, holds, strict=True) if fits}
    yield from told


def _predicates(lines: Iterable[str]) -> list[tuple[str, int]]:
    """Name and number of arguments of every predicate that occurs."""
    goals = (goal for line in lines if not line.startswith("%") for goal in _GOAL.findall(_TEXT.sub("q", line)))
    return list(dict.fromkeys((name, arguments.count(",") + 1) for name, arguments in goals))
