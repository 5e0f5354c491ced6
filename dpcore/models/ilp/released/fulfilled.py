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
from dpcore.models.ilp.language.clause import Clause


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
        holds = satisfied(variable.atoms, frame, schema.table(variable.table))
        found[variable.table] = found.get(variable.table, np.zeros(len(frame), dtype=np.bool_)) | holds
    return found
