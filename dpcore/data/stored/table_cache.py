"""Stored tables that other processes have asked this one for: opened once, let go of when they are removed."""

from __future__ import annotations

import threading
import time
from collections.abc import Collection
from pathlib import Path
from typing import Protocol

from dpcore.data.partition import Partition, share_room
from dpcore.data.stored.remote_tables import RemoteTable, store_address
from dpcore.data.stored.storage import SCHEMA, open_partitions, stored_schema


class _Table(Protocol):
    def partition(self, number: int) -> Partition:
        """One of its partitions."""

    def check(self, numbers: Collection[int]) -> None:
        """See that some partitions can be opened. Raises ``SchemaError``."""

    def is_there(self) -> bool:
        """Whether it has not been removed."""


#: By the folder where the application has stored it.
_OPEN: dict[str, _Table] = {}
_TURN = threading.Lock()
_MOST_OPEN = 8
#: Seconds between two looks for tables that were removed.
_WATCH = 30.0


def cached_partition(place: tuple[str, int]) -> Partition:
    """A partition of a saved table, by folder and number."""
    directory, number = place
    return cached_table(directory).partition(number)


def cached_table(directory: str) -> _Table:
    """A saved table, opened once in a process.

    Tables that are gone are let go of within a minute: removed records must not stay mapped.

    Raises
    ------
    SchemaError
        If a file is missing, damaged or too short, or the object store does not answer.
    """
    with _TURN:
        found = _OPEN.pop(directory, None)
        if found is None:
            store = store_address()
            found = RemoteTable(store, directory) if store else _MappedTable(directory)
            if not _OPEN:
                threading.Thread(target=_let_go, name="let go", daemon=True).start()
            elif len(_OPEN) == _MOST_OPEN:
                del _OPEN[next(iter(_OPEN))]
        _OPEN[directory] = found
        return found


class _MappedTable:
    """A table in a folder that this process sees."""

    def __init__(self, directory: str) -> None:
        self._directory = Path(directory)
        self._partitions = open_partitions(self._directory, stored_schema(self._directory))
        share_room(self._partitions)

    def partition(self, number: int) -> Partition:
        return self._partitions[number]

    def check(self, numbers: Collection[int]) -> None:
        """All were opened already."""

    def is_there(self) -> bool:
        return (self._directory / SCHEMA).exists()


def _let_go() -> None:
    """Forget tables that were removed, as long as any are open."""
    while True:
        time.sleep(_WATCH)
        with _TURN:
            tables = list(_OPEN.items())
        gone = [directory for directory, table in tables if not table.is_there()]
        with _TURN:
            for directory in gone:
                _OPEN.pop(directory, None)
            if not _OPEN:
                return
