"""Tables of people or of one case, as clauses are asked of them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np
import pandas as pd

from dpcore.arrays import Ints
from dpcore.domain.encoding import encode_columns, order_of, people_of
from dpcore.domain.schemas.schema import ChildTable, Schema
from dpcore.domain.schemas.tables import TIME
from dpcore.errors import RequestError
from dpcore.models.ilp.language.rows import CaseRow, CaseRows, TableRows
from dpcore.models.ilp.released.clause_columns import ClauseColumns
from dpcore.models.ilp.released.nested import are_linked, belonging, check_linked, parents_of, with_below
from dpcore.released.cases import is_known, possible_cells

#: A data frame of the main table, or one frame for each table by its name.
Frames = pd.DataFrame | Mapping[str, pd.DataFrame]


def split_tables(frames: Frames, schema: Schema) -> tuple[pd.DataFrame, dict[str, pd.DataFrame]]:
    """The main table, and the others by their names.

    Raises
    ------
    RequestError
        If the main table is missing, or the schema describes no table of some name.
    """
    if not isinstance(frames, Mapping):
        return frames.reset_index(drop=True), {}
    known = [schema.entity, *(child.name for child in schema.children)]
    if schema.entity not in frames:
        raise RequestError(f"Give the main table under its name, '{schema.entity}'.")
    for name in frames:
        if name not in known:
            listed = ", ".join(f"'{table}'" for table in known)
            raise RequestError(f"The schema describes no table '{name}'. Tables: {listed}.")
    children = {name: frame for name, frame in frames.items() if name != schema.entity}
    return frames[schema.entity].reset_index(drop=True), children


def owners_of(main: pd.DataFrame, rows: pd.DataFrame, own: str, key: str) -> Ints:
    """Place of each child row's person in the main table; -1 for nobody."""
    if not len(rows):
        return np.zeros(0, dtype=np.int64)
    if own not in main or key not in rows:
        raise RequestError(
            f"To know whose rows they are, the main table needs the column '{own}' and the other one '{key}'."
        )
    people = people_of(main[own])
    named = np.flatnonzero(people.notna())
    known = pd.Index(people.iloc[named], dtype=object)
    if known.has_duplicates:
        raise RequestError(f"Several rows have the same '{own}': give one row per {own}.")
    found = known.get_indexer(pd.Index(people_of(rows[key]), dtype=object))
    return np.where(found >= 0, np.append(named, -1)[found], -1)


def rows_of_people(
    main: pd.DataFrame, children: Mapping[str, pd.DataFrame], schema: Schema, clause_columns: ClauseColumns
) -> dict[str, TableRows]:
    """Encoded rows of each further table that clauses look at, by its name.

    Rows that belong to rows of another table count if one of these has their key. If keys are not given, nobody
    knows what belongs to what, and every row counts.

    Raises
    ------
    RequestError
        If what belongs to what is asked for, or an order, and a column that tells it is missing.
    """
    found: dict[str, TableRows] = {}
    for child in schema.children:
        if child.name not in clause_columns.columns:
            continue
        frame, owners = _owned(main, children, child, schema)
        below = {}
        for inner in schema.children:
            if (child.name, inner.name) in clause_columns.nested:
                rows, theirs = _owned(main, children, inner, schema)
                check_linked(rows, inner, frame, child)
                places = parents_of(theirs, rows, inner, owners, frame, child)
                below[inner.name] = _table_rows(rows, inner, places, clause_columns)
        found[child.name] = _table_rows(frame, child, owners, clause_columns, below)
    return found


def _owned(
    main: pd.DataFrame, children: Mapping[str, pd.DataFrame], child: ChildTable, schema: Schema
) -> tuple[pd.DataFrame, Ints]:
    """Rows of a table about known people, and the places of these."""
    frame, person = children.get(child.name, pd.DataFrame()), str(schema.privacy_unit.column)
    owners, parent = owners_of(main, frame, person, schema.key_of(child)), schema.parent_of(child)
    if parent is not None and parent.name in children and len(frame):
        parents = children[parent.name]
        if are_linked(frame, child, parents, parent):
            above = owners_of(main, parents, person, schema.key_of(parent))
            owners = np.where(parents_of(owners, frame, child, above, parents, parent) >= 0, owners, -1)
    return frame[owners >= 0].reset_index(drop=True), owners[owners >= 0]


def _table_rows(
    frame: pd.DataFrame,
    child: ChildTable,
    owners: Ints,
    clause_columns: ClauseColumns,
    below: Mapping[str, TableRows] | None = None,
) -> TableRows:
    """Encoded rows of a child table, those of nobody (-1) left out."""
    known, columns = owners >= 0, clause_columns.columns[child.name]
    frame, times = frame[known], np.arange(int(known.sum()))
    if child.name in clause_columns.ordered and len(frame):
        if child.order_by not in frame and TIME not in frame:
            raise RequestError(
                f"To know which row of '{child.name}' comes first, its table needs the column '{child.order_by}'."
            )
        times = frame[TIME].to_numpy() if TIME in frame else times_of(frame, child)
    codes = encode_columns(frame.reset_index(drop=True), child, columns)
    return TableRows(codes, owners[known], times, _classes(child, columns), below)


def times_of(frame: pd.DataFrame, child: ChildTable) -> Ints:
    """Place of each row in the order of time; of rows that come at once, that in which they stand.

    Rows without order are farthest from those that are kept first, as at ingestion.
    """
    order = order_of(frame[child.order_by], child.order_format)
    order = np.where(np.isnan(order), -np.inf if child.keep == "last" else np.inf, order)
    times = np.empty(len(order), dtype=np.int64)
    times[np.argsort(order, kind="stable")] = np.arange(len(order))
    return times


def rows_of_case(
    children: Mapping[str, pd.DataFrame], schema: Schema, clause_columns: ClauseColumns
) -> dict[str, CaseRows]:
    """Rows about one case, of which some values may not be known, of each further table that clauses look at.

    Their order is that of the column that tells it, or else that in which they stand; it is not
    known if a row lacks its value there. A row whose key no row has to which it could belong is left out.
    """
    found: dict[str, CaseRows] = {}
    for child in schema.children:
        if child.name not in clause_columns.columns:
            continue
        frame, in_order = _case_frame(children, child, schema)
        below = {}
        for inner in schema.children:
            if (child.name, inner.name) in clause_columns.nested:
                rows, _ = _case_frame(children, inner, schema)
                below[inner.name] = _case_cells(rows, inner, clause_columns), belonging(rows, inner, frame, child)
        found[child.name] = CaseRows(
            rows=with_below(_case_cells(frame, child, clause_columns), below),
            in_order=in_order or len(frame) == 1,
            classes=_classes(child, clause_columns.columns[child.name]),
        )
    return found


def _case_frame(children: Mapping[str, pd.DataFrame], child: ChildTable, schema: Schema) -> tuple[pd.DataFrame, bool]:
    """Rows of a table in the order of time, and whether that is known."""
    frame, in_order, parent = children.get(child.name, pd.DataFrame()), True, schema.parent_of(child)
    if parent is not None and parent.name in children and are_linked(frame, child, children[parent.name], parent):
        may = belonging(frame, child, children[parent.name], parent)
        frame = frame[np.array([bool(places) for places, _ in may], dtype=np.bool_)]
    if child.order_by in frame and len(frame):
        in_order = all(is_known(value) for value in frame[child.order_by])
        frame = frame.iloc[np.argsort(times_of(frame, child))]
    return frame, in_order


def _case_cells(frame: pd.DataFrame, child: ChildTable, clause_columns: ClauseColumns) -> tuple[CaseRow, ...]:
    columns = clause_columns.columns[child.name]
    return tuple(CaseRow(cells=possible_cells(row, child, columns)) for row in frame.to_dict("records"))


def _classes(child: ChildTable, columns: Sequence[str]) -> dict[str, int]:
    """How many cells of each column are values: the first ones."""
    return {name: len(child.column(name).classes) for name in columns}
