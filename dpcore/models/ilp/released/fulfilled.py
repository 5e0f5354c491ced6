"""Which rows of a case satisfy which part of a clause: what a reader wants to see marked."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
import pandas as pd

from dpcore.arrays import Flags
from dpcore.domain.encoding import encode_columns
from dpcore.domain.schema import ChildTable, Schema
from dpcore.models.ilp.language.atoms import Atom
from dpcore.models.ilp.language.clause import Clause, Variable


def satisfied(atoms: tuple[Atom, ...], frame: pd.DataFrame, table: Schema | ChildTable) -> Flags:
    """Which rows of a table satisfy all of some atoms: shape (n_rows,)."""
    columns = {atom.column for atom in atoms if atom.column}
    codes: Mapping[str, Any] = encode_columns(frame, table, columns) if columns else {}
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
        frame = tables[variable.table]
        holds = _asked(variable, frame, schema.table(variable.table))
        found[variable.table] = found.get(variable.table, np.zeros(len(frame), dtype=np.bool_)) | holds
    return found


def _asked(variable: Variable, frame: pd.DataFrame, table: Schema | ChildTable) -> Flags:
    """The rows that a variable speaks of: of its order, of two that are alike, or all that satisfy its conditions."""
    holds = satisfied(variable.atoms, frame, table)
    places = np.arange(len(frame))
    if variable.later:
        after = satisfied(variable.later, frame, table)
        last, first = places[after].max(initial=-1), places[holds].min(initial=len(frame))
        return np.asarray((holds & (places < last)) | (after & (places > first)))
    if variable.alike:
        codes = encode_columns(frame, table, [variable.alike])[variable.alike].astype(np.int64)
        holds &= codes < len(table.column(variable.alike).classes)
        return np.asarray(holds & (np.bincount(codes[holds], minlength=int(codes.max(initial=0)) + 1)[codes] > 1))
    if variable.row:
        return np.asarray(holds & (places == (0 if variable.row == "first" else len(frame) - 1)))
    return holds
