"""What clauses look at: which columns of which tables, in which order, and what belongs to what."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import NamedTuple

from dpcore.models.ilp.language.clause import Clause


class ClauseColumns(NamedTuple):
    """What some clauses look at."""

    columns: Mapping[str, tuple[str, ...]]
    """By table, the main one being ""; none, if rows of a table need only exist."""
    ordered: frozenset[str]
    """Tables of which the order of rows is asked."""
    nested: frozenset[tuple[str, str]]
    """A table, and one whose rows belong to rows of it, where that is asked."""


def clause_columns(clauses: Iterable[Clause]) -> ClauseColumns:
    """What all of some clauses look at."""
    clauses = tuple(clauses)
    variables = [variable for clause in clauses for variable in clause.variables]
    asks = {("", atom.column) for clause in clauses for atom in clause.atoms}
    asks |= {asked for variable in variables for asked in variable.asks}
    columns = {
        table: tuple(sorted(column for name, column in asks if name == table and column))
        for table in dict.fromkeys(table for table, _ in sorted(asks))
    }
    ordered = frozenset(variable.table for variable in variables if variable.ordered)
    nested = frozenset((within.table, within.inner) for variable in variables for within in variable.nested)
    return ClauseColumns(columns, ordered, nested)
