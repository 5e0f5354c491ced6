"""Stored tables in an object store: a process fetches each file once, checks it and maps it.

Any store that fsspec knows will do. A file is removed from the local disk as soon as it is mapped: the
system keeps what it holds until this process lets go of it or ends, and nothing is left behind.
"""

from __future__ import annotations

import os
import threading
import time
from collections.abc import Collection
from pathlib import Path, PurePath
from tempfile import TemporaryDirectory
from typing import Any, Final

from dpcore.data.cache_limit import cache_limit
from dpcore.data.partition import Partition
from dpcore.data.stored.storage import (
    PARTITIONS,
    READ,
    SCHEMA,
    checksum_of,
    listed_partitions,
    map_partition,
    partition_folder,
    stored_schema,
)
from dpcore.errors import SchemaError

#: Setting of the operator: where workers find a copy of the folder of stored data sets, as ``s3://bucket/datasets``.
STORE: Final = "FROSTGLASS_RECORDS"
#: Attempts to fetch a file, and seconds before the second one; then twice as many.
_TRIES: Final = 4
_PAUSE = 0.5
#: Ways to fetch files that anybody on the network could read along.
_OPEN_WAYS: Final = ("http", "ftp", "webhdfs")


def store_address() -> str:
    """Address of the operator's object store; empty without one."""
    return os.environ.get(STORE, "").strip().rstrip("/")


class RemoteTable:
    """A table of which an object store holds a copy.

    Parameters
    ----------
    store : str
        Address of the folder of all tables, as fsspec has it.
    directory : str
        Where the application has stored this one.

    Raises
    ------
    SchemaError
        If the store does not answer, or does not hold it.
    """

    def __init__(self, store: str, directory: str) -> None:
        self._directory = directory
        self._files, self._root = _store(f"{store}/{PurePath(directory).name}")
        with TemporaryDirectory(prefix="frostglass-") as between:
            here = Path(between)
            try:
                for name in (SCHEMA, PARTITIONS):
                    self._fetch(name, here / name)
            except OSError:
                raise SchemaError("The object store does not hold this data set, or does not answer.") from None
            self._schema, self._listed = stored_schema(here), listed_partitions(here)
        self._turns = [threading.Lock() for _ in self._listed]
        self._partitions: dict[int, Partition] = {}

    def partition(self, number: int) -> Partition:
        """One of its partitions, fetched when it is asked for first.

        Raises
        ------
        OSError
            If it cannot be fetched, or there is no room for it.
        """
        with self._turns[number]:
            if number not in self._partitions:
                self._partitions[number] = self._fetched(number)
            return self._partitions[number]

    def check(self, numbers: Collection[int]) -> None:
        """See that the store holds the files of some partitions. Raises ``SchemaError``."""
        wanted = {self._name(number, name) for number in numbers for name in READ}
        try:
            self._files.invalidate_cache()
            held = set(self._files.find(self._root))
        except Exception:  # noqa: BLE001 Each store has faults of its own.
            held = set()
        if not {f"{self._root}/{name}" for name in wanted} <= held:
            raise SchemaError("The object store does not hold all of this data set.")

    def is_there(self) -> bool:
        """Whether the store still holds it; also if it does not answer."""
        try:
            self._files.invalidate_cache()
            return bool(self._files.exists(f"{self._root}/{SCHEMA}"))
        except Exception:  # noqa: BLE001 As above.
            return True

    def _fetched(self, number: int) -> Partition:
        entry = self._listed[number]
        with TemporaryDirectory(prefix="frostglass-") as between:
            folder = Path(between) / partition_folder(number)
            folder.mkdir(mode=0o700)
            for name in READ:
                self._fetch(self._name(number, name), folder / name, entry["sha256"][name])
            place = self._directory, number
            partition = map_partition(Path(between), number, self._schema, entry["rows"], place)
        partition.room = cache_limit() // len(self._listed)
        return partition

    def _fetch(self, name: str, file: Path, checksum: str = "") -> None:
        """Fetch a file; once more if it arrives damaged, or not at all."""
        for attempt in range(_TRIES):
            if attempt:
                time.sleep(_PAUSE * 2**attempt)
            try:
                self._files.get_file(f"{self._root}/{name}", str(file))
            except FileNotFoundError:
                break
            except Exception:  # noqa: BLE001 As above.
                continue
            if not checksum or checksum_of(file) == checksum:
                return
        raise OSError("A file of the object store cannot be fetched.")

    def _name(self, number: int, file: str) -> str:
        return f"{partition_folder(number)}/{file}"


def _store(address: str) -> tuple[Any, str]:
    """The file system of an address, and the path there."""
    scheme = address.partition("://")[0]
    if scheme in _OPEN_WAYS:
        raise SchemaError("Records cross no network without encryption: choose another address of the object store.")
    try:
        from fsspec.core import url_to_fs

        files, root = url_to_fs(address)
    except Exception:  # noqa: BLE001 As above: one lacks its package, one its password.
        raise SchemaError("The address of the object store cannot be used.") from None
    return files, root.rstrip("/")
