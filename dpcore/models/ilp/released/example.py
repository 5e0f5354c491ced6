"""A made-up case that a clause covers: drawn from the schema and the clause, never from records."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np
import pandas as pd

from dpcore.domain.columns import MISSING, RESERVED, Column, IntegerColumn, NumericColumn
from dpcore.domain.encoding import order_of
from dpcore.domain.schemas.schema import ChildTable, Schema
from dpcore.models.ilp.language.clause import Clause
from dpcore.models.ilp.released.example_rows import Cells, made_up_row, made_up_rows, whole_numbers
from dpcore.privacy.randomness import public_generator

_PERSON = 1


def made_up_case(clause: Clause, schema: Schema, target: str, seed: int = 1) -> dict[str, pd.DataFrame]:
    """Tables of one invented person whom the clause covers, keys included.

    Rows of a table in order stand in the order of time, which its column for that tells.

    Returns
    -------
    dict of str to DataFrame
        One row of the main table, under ``schema.entity``, without the target; any number of
        rows of each child table. Empty if the clause covers nobody within the schema's limits.
    """
    generator = public_generator(seed)
    person = made_up_row(schema, clause.atoms, (), generator)
    if person is None:
        return {}
    main = _frame(schema, [person], schema.privacy_unit.column, generator)
    tables = {schema.entity: main.drop(columns=target, errors="ignore")}
    for first in (child for child in schema.children if child.parent is None):
        nested = [child for child in schema.children if child.parent == first.name]
        rows = made_up_rows(first, nested, clause, generator)
        if rows is None:
            return {}
        for child in (first, *nested):
            cells = [row.cells for row in rows[child.name]]
            links = _links(child, [row.parent for row in rows[child.name]])
            tables[child.name] = _in_time(_frame(child, cells, schema.key_of(child), generator, links), child)
    return {name: tables[name] for name in (schema.entity, *(child.name for child in schema.children))}


def _links(child: ChildTable, parents: Sequence[int]) -> dict[str, object]:
    """Numbers that tell rows apart, and to which row of another table each belongs."""
    links: dict[str, object] = {} if child.row_key is None else {child.row_key: list(range(1, len(parents) + 1))}
    return links if child.parent_key is None else {child.parent_key: [place + 1 for place in parents], **links}


def _in_time(frame: pd.DataFrame, child: ChildTable) -> pd.DataFrame:
    """Rows with the column that tells their order, which is that in which they stand."""
    order = child.order_by
    if child.keep == "random" or order is None:
        return frame
    if order not in frame:
        return frame.assign(**{order: pd.Series(range(1, len(frame) + 1), dtype=object)})
    places = order_of(frame[order], child.order_format)
    if np.isnan(places).any():
        return frame
    return frame.assign(**{order: frame[order].iloc[np.argsort(places, kind="stable")].reset_index(drop=True)})


def _frame(
    table: Schema | ChildTable,
    rows: Sequence[Cells],
    key: str | None,
    generator: np.random.Generator,
    links: Mapping[str, object] | None = None,
) -> pd.DataFrame:
    content: dict[str, object] = {**({} if key is None else {key: [_PERSON] * len(rows)}), **(links or {})}
    for column in table.columns:
        values = [_value(column, row[column.name], generator) for row in rows]
        content[column.name] = pd.Series(values, dtype=object)
    return pd.DataFrame(content)


def _value(column: Column, cell: int, generator: np.random.Generator) -> object:
    """A value in a cell; ``None`` for a missing one."""
    label = column.cells[cell]
    if label in RESERVED:
        return None if label == MISSING else label
    if not isinstance(column, NumericColumn):
        return label
    share = float(generator.random())
    if isinstance(column, IntegerColumn):
        first, last = whole_numbers(column, cell)
        return min(last, first + int(share * (last - first + 1)))
    points = (column.lower, *column.inner_edges, column.upper)
    low, high = points[cell], points[cell + 1]
    rounded = round(low + share * (high - low), 1)
    return rounded if low < rounded <= high else high
