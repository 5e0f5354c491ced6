"""The tables in the folders of data sets. Frames are loaded with it, which entries are read without."""

from __future__ import annotations

from pathlib import Path

from dpcore.data.execution.executors import LOCAL, Executor
from dpcore.data.stored.storage import check_contents, stored_schema
from dpcore.data.table import PrivateTable
from dpcore.domain.schemas.schema import Schema
from dpcore.errors import SchemaError


def saved_schema(folder: Path) -> Schema:
    """Schema of a table, which is seen to be complete, without opening a record. Raises ``SchemaError``."""
    saved = stored_schema(folder)
    PrivateTable.check_files(folder, saved)
    return saved


def is_whole(folder: Path) -> bool:
    """Whether every file of a table is what was written: all are read."""
    try:
        saved_schema(folder)
        check_contents(folder)
    except SchemaError:
        return False
    return True


def opened(folder: Path, executor: Executor | None) -> PrivateTable:
    """A table whose questions are answered there; in this process by default. Raises ``SchemaError``."""
    return PrivateTable.open(folder, executor or LOCAL)
