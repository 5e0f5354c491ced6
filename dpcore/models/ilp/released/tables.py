"""Tables of people or of one case, as clauses are asked of them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np
import pandas as pd

from dpcore.arrays import Ints
from dpcore.domain.encoding import encode_columns, order_of, people_of
from dpcore.domain.schema import ChildTable, Schema
from dpcore.errors import RequestError
from dpcore.models.ilp.language.rows import CaseRows, TableRows
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


def linked(
    owners: Ints, rows: pd.DataFrame, child: ChildTable, above: Ints, parents: pd.DataFrame, row_key: str
) -> Ints:
    """Place of each row's person, if the row belongs to one of some other rows of the same person; else -1.

    Parameters
    ----------
    above : int array of shape (n_parents,)
        Place of each other row's person.
    row_key : str
        Column of the other rows that tells them apart. Without it, or without the one that names
        them, nobody knows what belongs to what, and every row counts.
    """
    if child.parent_key not in rows or row_key not in parents:
        return owners
    known = set(zip(above.tolist(), people_of(parents[row_key]), strict=True))
    named = zip(owners.tolist(), people_of(rows[child.parent_key]), strict=True)
    belongs = np.fromiter((pair[1] is not None and pair in known for pair in named), dtype=np.bool_, count=len(rows))
    return np.where(belongs, owners, -1)


def table_rows(
    frame: pd.DataFrame, child: ChildTable, columns: Sequence[str], owners: Ints, *, in_order: bool
) -> TableRows:
    """Encoded rows of a child table.

    Parameters
    ----------
    owners : int array of shape (n_rows,)
        Place of each row's person; -1 for nobody.
    in_order : bool
        Whether their order is asked for.

    Raises
    ------
    RequestError
        If it is, and the column that tells it is missing.
    """
    times = np.arange(len(frame))
    if in_order and len(frame):
        if child.order_by not in frame:
            raise RequestError(
                f"To know which row of '{child.name}' comes first, its table needs the column '{child.order_by}'."
            )
        times = times_of(frame, child)
    return TableRows(encode_columns(frame, child, columns), owners, times, _classes(child, columns))


def times_of(frame: pd.DataFrame, child: ChildTable) -> Ints:
    """Place of each row in the order of time; of rows that come at once, that in which they stand.

    Rows without order are farthest from those that are kept first, as at ingestion.
    """
    order = order_of(frame[child.order_by], child.order_format)
    order = np.where(np.isnan(order), -np.inf if child.keep == "last" else np.inf, order)
    times = np.empty(len(order), dtype=np.int64)
    times[np.argsort(order, kind="stable")] = np.arange(len(order))
    return times


def case_rows(frame: pd.DataFrame, child: ChildTable, columns: Sequence[str]) -> CaseRows:
    """Rows about one case, of which some values may not be known.

    Their order is that of the column that tells it, or else that in which they stand; it is not
    known if a row lacks its value there.
    """
    in_order = True
    if child.order_by in frame and len(frame):
        in_order = all(is_known(value) for value in frame[child.order_by])
        frame = frame.iloc[np.argsort(times_of(frame, child))]
    rows = tuple(possible_cells(row, child, columns) for row in frame.to_dict("records"))
    return CaseRows(rows=rows, in_order=in_order or len(frame) == 1, classes=_classes(child, columns))


def _classes(child: ChildTable, columns: Sequence[str]) -> dict[str, int]:
    """How many cells of each column are values: the first ones."""
    return {name: len(child.column(name).classes) for name in columns}
