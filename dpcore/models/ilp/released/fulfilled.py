"""Which rows of a case satisfy which part of a clause: what a reader wants to see marked."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np
import pandas as pd

from dpcore.arrays import Array, Flags, Ints
from dpcore.domain.encoding import encode_columns
from dpcore.domain.schemas.schema import ChildTable, Schema
from dpcore.models.ilp.language.atoms import Atom
from dpcore.models.ilp.language.clause import Clause, Variable
from dpcore.models.ilp.language.nested_conditions import NestedCondition, RowAtom
from dpcore.models.ilp.released.nested import check_linked, parents_of


def satisfied(atoms: tuple[Atom, ...], frame: pd.DataFrame, table: Schema | ChildTable) -> Flags:
    """Which rows of a table satisfy all of some atoms: shape (n_rows,)."""
    columns = {atom.column for atom in atoms if atom.column}
    codes: Mapping[str, Array] = encode_columns(frame, table, columns) if columns else {}
    holds = np.ones(len(frame), dtype=np.bool_)
    for atom in atoms:
        if atom.column:
            holds &= np.isin(codes[atom.column], atom.cells)
    return holds


def fulfilling_rows(clause: Clause, schema: Schema, tables: Mapping[str, pd.DataFrame]) -> dict[str, Flags]:
    """For each child table of a case, the rows that satisfy something the clause asks for.

    Parameters
    ----------
    tables : mapping of str to DataFrame
        Rows in the order of time, where a table has one.

    Returns
    -------
    dict of str to bool array of shape (n_rows,)
        Tables of which the clause asks no row that exists are left out.
    """
    found: dict[str, Flags] = {}
    for variable in clause.variables:
        if variable.negated or variable.table not in tables:
            continue
        holds = _asked(variable, schema, tables)
        found[variable.table] = found.get(variable.table, np.zeros(len(holds), dtype=np.bool_)) | holds
        for atom in variable.nested:
            fits, places = _belonging(atom, schema, tables)
            marked = fits & np.isin(places, np.flatnonzero(holds))
            found[atom.inner] = found.get(atom.inner, np.zeros(len(marked), dtype=np.bool_)) | marked
    return found


def _asked(variable: Variable, schema: Schema, tables: Mapping[str, pd.DataFrame]) -> Flags:
    """The rows that a variable speaks of: of its order, of two that are alike, or all that satisfy its conditions."""
    frame, table = tables[variable.table], schema.table(variable.table)
    holds = _fitting(variable.atoms, variable.table, schema, tables)
    places = np.arange(len(frame))
    if variable.later:
        after = _fitting(variable.later, variable.table, schema, tables)
        last, first = places[after].max(initial=-1), places[holds].min(initial=len(frame))
        return np.asarray((holds & (places < last)) | (after & (places > first)))
    if variable.alike:
        codes = encode_columns(frame, table, [variable.alike])[variable.alike].astype(np.int64)
        holds &= codes < len(table.column(variable.alike).classes)
        return np.asarray(holds & (np.bincount(codes[holds], minlength=int(codes.max(initial=0)) + 1)[codes] > 1))
    if variable.row:
        return np.asarray(holds & (places == (0 if variable.row == "first" else len(frame) - 1)))
    return holds


def _fitting(atoms: tuple[RowAtom, ...], name: str, schema: Schema, tables: Mapping[str, pd.DataFrame]) -> Flags:
    """Which rows of a table satisfy all of some atoms, those about rows that belong to them included."""
    frame = tables[name]
    holds = satisfied(tuple(atom for atom in atoms if isinstance(atom, Atom)), frame, schema.table(name))
    for atom in atoms:
        if isinstance(atom, NestedCondition):
            fits, places = _belonging(atom, schema, tables)
            holds &= np.bincount(places[fits], minlength=len(frame)) >= atom.least
    return holds


def _belonging(atom: NestedCondition, schema: Schema, tables: Mapping[str, pd.DataFrame]) -> tuple[Flags, Ints]:
    """Of a table whose rows belong to rows: which satisfy the conditions and belong to one, and to which."""
    [inner] = [child for child in schema.children if child.name == atom.inner]
    parent = schema.parent_of(inner)
    assert parent is not None
    frame, above = tables[inner.name], tables[parent.name]
    check_linked(frame, inner, above, parent)
    mine, theirs = (np.zeros(len(rows), dtype=np.int64) for rows in (frame, above))
    places = parents_of(mine, frame, inner, theirs, above, parent)
    return satisfied(atom.atoms, frame, inner) & (places >= 0), places
