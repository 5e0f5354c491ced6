"""What a user would count conjunctions with at that size: DuckDB and Polars, from a table of codes in memory."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from importlib.util import find_spec
from itertools import combinations
from typing import Any

import pyarrow as pa

from dpcore.data.table import PrivateTable
from dpcore.domain.conditions import Condition
from dpcore.models.trees.released.splits import split_conditions
from dpcore.privacy.randomness import public_generator

#: Conjunctions that a rival counts, of all pairs of conditions.
CONJUNCTIONS = 64
HOW_TO = "Left out: Polars, which is not installed. To include it: .venv/bin/pip install polars==2.1.0"

Pairs = list[tuple[Condition, Condition]]


def duckdb_counts(table: PrivateTable, target: str) -> Callable[[], object]:
    """Counts of conjunctions per class by DuckDB."""
    import duckdb

    counts = ", ".join(f"count(*) FILTER (WHERE {_sql(one)} AND {_sql(two)})" for one, two in _pairs(table, target))
    columns = ", ".join(f"{column.name} UTINYINT" for column in table.schema)
    memory = duckdb.connect()
    memory.execute(f"CREATE TABLE register ({columns})")
    for batch in _batches(table):  # noqa: B007
        memory.execute("INSERT INTO register SELECT * FROM batch")
    return lambda: memory.execute(f"SELECT {target}, {counts} FROM register GROUP BY {target}").fetchall()


def polars_counts(table: PrivateTable, target: str) -> Callable[[], object]:
    """The same by Polars."""
    import polars  # type: ignore[import-not-found, unused-ignore]

    def holds(condition: Condition) -> Any:
        return polars.col(condition.column).is_between(condition.first, condition.last)

    counts = [(holds(one) & holds(two)).sum().alias(str(i)) for i, (one, two) in enumerate(_pairs(table, target))]
    frame = polars.concat([polars.from_arrow(batch) for batch in _batches(table)], rechunk=True)
    return lambda: frame.lazy().group_by(target).agg(counts).collect()


#: Those that can be asked here.
RIVALS = {"DuckDB": duckdb_counts} | ({"Polars": polars_counts} if find_spec("polars") else {})


def _pairs(table: PrivateTable, target: str) -> Pairs:
    pairs = list(combinations(split_conditions(table.schema, target, reserved=False), 2))
    return [pairs[place] for place in public_generator(0).permutation(len(pairs))[:CONJUNCTIONS]]


def _sql(condition: Condition) -> str:
    return f"{condition.column} BETWEEN {condition.first} AND {condition.last}"


def _batches(table: PrivateTable) -> Iterator[pa.Table]:
    for partition in table.partitions:
        present = partition.present
        yield pa.table({column.name: partition.codes_of(column.name)[present] for column in table.schema})
