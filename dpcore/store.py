"""Data sets on disk, and their entries in the database. A half-stored data set cannot exist.

A data set is written into a folder that nobody looks into, forced to disk, renamed into place,
and only then entered into the database; a crash before that leaves a folder without an entry,
which the next start removes.
"""

from __future__ import annotations

import os
import shutil
import uuid
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path
from typing import TYPE_CHECKING

import sqlalchemy as sa
from sqlalchemy.engine import Connection, Engine, RowMapping
from sqlalchemy.exc import IntegrityError

from dpcore.database import Hook, datasets, private_folder, read, utc_now, write
from dpcore.errors import ConflictError, FrostglassError, NotFoundError, SchemaError
from dpcore.processes import ProcessIdentity
from dpcore.requests import DatasetInfo
from dpcore.schema import Schema

if TYPE_CHECKING:
    from dpcore.table import PrivateTable

_OWNER = "owner"


@dataclass(frozen=True)
class _Folders:
    incoming: Path
    stored: Path


class Store:
    """Data sets of one installation."""

    def __init__(self, home: Path, engine: Engine) -> None:
        self._engine = engine
        self._folders = _Folders(
            private_folder(home / "incoming"), private_folder(home / "datasets")
        )

    def add_dataset(
        self,
        name: str,
        schema: Schema,
        table: PrivateTable,
        public: bool,
        *,
        truth: str = "",
        on_added: Hook | None = None,
    ) -> DatasetInfo:
        """Store a data set, or nothing; ``on_added`` runs in the transaction that enters it.

        Raises
        ------
        ConflictError
            If the name is taken.
        SchemaError
            If the table was made for another schema.
        """
        if table.schema.hash != schema.hash:
            raise SchemaError("The table was made for another schema.")
        self.check_name(name)
        dataset_id = uuid.uuid4().hex
        folder = self._write(dataset_id, table)
        row = {
            "id": dataset_id,
            "name": name,
            "schema": schema.to_json(indent=None),
            "schema_hash": schema.hash,
            "public": public,
            "truth": truth,
            "created": utc_now(),
        }
        try:
            write(self._engine, lambda connection: _enter(connection, row, on_added))
        except FrostglassError:
            # Refused for certain. After any other error the entry may exist: the sweep decides.
            shutil.rmtree(folder, ignore_errors=True)
            raise
        return self.dataset(dataset_id)

    def check_name(self, name: str) -> None:
        """Raise ``ConflictError`` if a data set of this name exists."""
        chosen = sa.select(datasets.c.id).where(datasets.c.name == name)
        if read(self._engine, lambda connection: connection.execute(chosen).first()):
            raise _name_taken(name)

    def datasets(self) -> list[DatasetInfo]:
        """Every data set, oldest first."""
        chosen = sa.select(datasets).order_by(datasets.c.number)
        return read(
            self._engine,
            lambda connection: [_info(row) for row in connection.execute(chosen).mappings()],
        )

    def dataset(self, dataset_id: str) -> DatasetInfo:
        """One data set by id or, failing that, by name. Raises ``NotFoundError``."""
        chosen = sa.select(datasets).where(
            sa.or_(datasets.c.id == dataset_id, datasets.c.name == dataset_id)
        )
        rows = read(self._engine, lambda connection: connection.execute(chosen).mappings().all())
        if not rows:
            raise NotFoundError("There is no such data set.")
        exact = [row for row in rows if row["id"] == dataset_id]
        return _info((exact or rows)[0])

    def check_stored(self, dataset_id: str, schema: Schema) -> None:
        """Compare the stored table's schema with a plan's, without opening a record.

        Raises
        ------
        SchemaError
            If they differ, or the table is gone.
        """
        from dpcore.table import PrivateTable

        stored = Schema.from_file(self._folders.stored / dataset_id / "schema.json")
        if stored.hash != schema.hash:
            raise SchemaError("The stored data set does not fit its schema: upload it again.")
        PrivateTable.check_files(self._folders.stored / dataset_id, stored)

    def table(self, dataset_id: str) -> PrivateTable:
        """Open the records. For workers, after the ledger was told; and for public data sets.

        Raises
        ------
        SchemaError
            If the stored table is damaged or does not fit the schema that was declared.
        """
        from dpcore.table import PrivateTable

        table = PrivateTable.open(self._folders.stored / dataset_id)
        if table.schema.hash != self.dataset(dataset_id).schema.hash:
            raise SchemaError("The stored data set does not fit its schema: upload it again.")
        return table

    def sweep(self) -> None:
        """Remove what crashed uploads left behind; those under way are left alone."""
        places = (self._folders.incoming, self._folders.stored)
        folders = [folder for place in places for folder in place.iterdir()]
        chosen = sa.select(datasets.c.id)
        known = set(read(self._engine, lambda connection: connection.execute(chosen).scalars()))
        for folder in folders:
            if folder.name not in known and _abandoned(folder):
                shutil.rmtree(folder, ignore_errors=True)

    @contextmanager
    def incoming(self) -> Iterator[Path]:
        """Give a private folder for a file on its way in; it is gone afterwards.

        If this process is killed, the next start removes the folder.
        """
        folder = self._folders.incoming / uuid.uuid4().hex
        folder.mkdir(mode=0o700)
        try:
            _sign(folder)
            yield folder
        finally:
            shutil.rmtree(folder, ignore_errors=True)

    def _write(self, dataset_id: str, table: PrivateTable) -> Path:
        incoming = self._folders.incoming / dataset_id
        incoming.mkdir(mode=0o700)
        try:
            _sign(incoming)
            table.save(incoming)
            for file in incoming.iterdir():
                file.chmod(0o600)
                _to_disk(file)
            _to_disk(incoming)
            stored = incoming.rename(self._folders.stored / dataset_id)
        except BaseException:
            shutil.rmtree(incoming, ignore_errors=True)
            raise
        _to_disk(self._folders.stored)
        return stored


def _enter(connection: Connection, row: dict[str, object], on_added: Hook | None) -> None:
    try:
        connection.execute(datasets.insert().values(**row))
    except IntegrityError:
        raise _name_taken(str(row["name"])) from None
    if on_added is not None:
        on_added(connection, str(row["id"]))


def _name_taken(name: str) -> ConflictError:
    return ConflictError(f"A data set called '{name}' exists. Give the schema another name.")


@lru_cache(maxsize=64)
def parse_schema(text: str) -> Schema:
    """Read a stored schema; pages ask for the same few again and again."""
    return Schema.model_validate_json(text)


def _info(row: RowMapping) -> DatasetInfo:
    schema = parse_schema(row["schema"])
    return DatasetInfo(
        id=row["id"],
        name=row["name"],
        description=schema.description,
        schema=schema,
        public=row["public"],
        created=row["created"],
        truth=row["truth"],
    )


def _sign(folder: Path) -> None:
    """Note in a folder which process is writing it."""
    (folder / _OWNER).write_text(str(ProcessIdentity.mine()), encoding="utf-8")


def _abandoned(folder: Path) -> bool:
    """Whether the process that was writing a folder is gone."""
    try:
        return ProcessIdentity.parse((folder / _OWNER).read_text(encoding="utf-8")).dead()
    except (OSError, ValueError):
        return True


def _to_disk(path: Path) -> None:
    """Force a file or folder to disk."""
    if path.is_dir() and os.name == "nt":
        return  # Windows has no handle for folders.
    handle = os.open(path, os.O_RDONLY)
    try:
        os.fsync(handle)
    finally:
        os.close(handle)
