"""Files of data bases."""

from __future__ import annotations

import sqlite3
from collections.abc import Mapping
from contextlib import closing
from pathlib import Path

import duckdb
import pandas as pd


def database_file(path: Path, tables: Mapping[str, pd.DataFrame]) -> Path:
    """A DuckDB file if its name ends so, else an SQLite file, with these tables."""
    if path.suffix == ".duckdb":
        with duckdb.connect(str(path)) as duck:
            for name, frame in tables.items():
                duck.register("given", frame)
                duck.execute(f'CREATE TABLE "{name}" AS SELECT * FROM given')
                duck.unregister("given")
        return path
    with closing(sqlite3.connect(path)) as connection:
        for name, frame in tables.items():
            frame.to_sql(name, connection, index=False)
    return path
