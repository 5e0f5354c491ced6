"""Records invented from the public schema alone, with something to find."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
import pandas as pd

from dpcore.arrays import Array, Flags, Ints
from dpcore.domain.columns import (
    BooleanColumn,
    Column,
    IntegerColumn,
    ListedColumn,
    NumericColumn,
    RealColumn,
)
from dpcore.domain.encoding import encode
from dpcore.domain.schemas.schema import ChildTable, Schema
from dpcore.privacy.randomness import public_generator

#: Columns that the invented target depends on, so that there is something to find.
_CAUSES = 3
#: Child rows invented for one record at most, whatever the schema allows.
_CHILD_ROWS = 8
#: Of them, columns of the main table, if there are further tables.
_OWN_CAUSES = 2
#: Hidden levels of each invented record that both views follow, if there is no target.
_LEVELS = 3
_SHARE_EXPLAINED = 0.8
_DIGITS = 6


def synthetic_tables(
    schema: Schema, target: str, rows: int, seed: int, views: Sequence[Sequence[str]] = ()
) -> tuple[pd.DataFrame, dict[str, pd.DataFrame]]:
    """Invent records and child rows: independent and uniform, but for something to find.

    A target depends on a few other columns, and on whether there are child rows of one kind.
    Without a target, the columns of the ``views`` depend on a few hidden levels of each record,
    so that every view tells of the others.
    """
    generator = public_generator(seed)
    columns = {column.name: _values(column, rows, generator) for column in schema.columns}
    columns |= _linked(schema, views, rows, generator)
    unit = schema.privacy_unit
    keys = np.arange(rows) // unit.max_rows_per_person
    children: dict[str, pd.DataFrame] = {}
    for child in schema.parents_first:
        children[child.name] = _child_rows(schema, child, keys, children, generator)
    if target:
        names = [column.name for column in schema.columns if column.name != target]
        own = [columns[name] for name in names[: _OWN_CAUSES if children else _CAUSES]]
        causes = own + [_has_first(child, children[child.name], schema, keys) for child in schema.children[:_CAUSES]]
        if causes:
            columns[target] = _effect(schema, target, causes, generator)
    frame = pd.DataFrame(columns)
    if unit.column is not None:
        frame[unit.column] = keys
    return frame, children


def _child_rows(
    schema: Schema, child: ChildTable, keys: Ints, before: Mapping[str, pd.DataFrame], generator: np.random.Generator
) -> pd.DataFrame:
    """Rows about people, or about the rows of a table that was invented ``before``."""
    most = min(child.max_rows_per_person, _CHILD_ROWS)
    parent = schema.parent_of(child)
    above = None if parent is None else before[parent.name]
    counts = generator.integers(0, most + 1, len(keys) if above is None else len(above))
    counts[0] = max(1, counts[0])  # A table without rows could not be ingested.
    links: dict[str, object] = {}
    if above is None or parent is None:
        owners = np.repeat(keys, counts)
    else:
        owners = np.repeat(above[schema.key_of(parent)].to_numpy(), counts)
        links[str(child.parent_key)] = np.repeat(above[parent.row_key].to_numpy(), counts)
    if child.row_key is not None:
        links[child.row_key] = np.arange(len(owners))
    content = {column.name: _values(column, len(owners), generator) for column in child.columns}
    return pd.DataFrame({schema.key_of(child): owners, **links, **content})


def _has_first(child: ChildTable, rows: pd.DataFrame, schema: Schema, keys: Ints) -> Flags:
    """Which records have a child row in the first cell of the table's first column."""
    column = child.columns[0]
    codes, _ = encode(column, rows[column.name])
    return np.isin(keys, rows[schema.key_of(child)].to_numpy()[codes == 0])


def _values(column: Column, rows: int, generator: np.random.Generator) -> Array:
    if isinstance(column, IntegerColumn):
        # Not by ``integers``: bounds may lie beyond what 64 bits hold.
        return np.rint(generator.uniform(column.lower, column.upper, rows))
    if isinstance(column, RealColumn):
        return generator.uniform(column.lower, column.upper, rows).round(_DIGITS)
    return generator.choice(np.asarray(_labels(column), dtype=object), rows)


def _labels(column: BooleanColumn | ListedColumn) -> tuple[str, ...]:
    return ("no", "yes") if isinstance(column, BooleanColumn) else column.categories


def _effect(schema: Schema, target: str, causes: list[Array], generator: np.random.Generator) -> Any:
    """Values of the target: mostly the rank of a sum of ranks, the rest at random."""
    ranks = sum(pd.Series(values).rank(pct=True, method="average") for values in causes)
    share = pd.Series(ranks).rank(pct=True, method="first").to_numpy()
    return _following(schema.column(target), share, generator)


def _linked(
    schema: Schema, views: Sequence[Sequence[str]], rows: int, generator: np.random.Generator
) -> dict[str, Array]:
    """Values of the columns in views; the levels go round among the columns of each view."""
    count = min(_LEVELS, *map(len, views)) if views else 0
    levels = generator.random((count, rows))
    return {
        name: _following(schema.column(name), levels[place % count], generator)
        for view in views
        for place, name in enumerate(view)
    }


def _following(column: Column, share: Array, generator: np.random.Generator) -> Any:
    """Values of a column: mostly as high as a share from 0 to 1 says, the rest at random."""
    explained = generator.random(len(share)) < _SHARE_EXPLAINED
    level = np.where(explained, share, generator.random(len(share)))
    if isinstance(column, NumericColumn):
        scaled = column.lower + level * (column.upper - column.lower)
        return np.rint(scaled) if isinstance(column, IntegerColumn) else scaled
    labels = np.asarray(_labels(column), dtype=object)
    return labels[np.minimum((level * len(labels)).astype(int), len(labels) - 1)]
