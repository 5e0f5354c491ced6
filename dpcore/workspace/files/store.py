"""Data sets on disk, and their entries in the database. A half-stored data set cannot exist.

A data set is written into a folder that nobody looks into, forced to disk, renamed into place,
and only then entered into the database; a crash in between leaves a folder without an entry.
Nothing that is in place is ever removed by itself: the database may be the one that is wrong.
What lies there without an entry is listed, and adopted or removed by hand:
:mod:`dpcore.workspace.upkeep.orphans`.
"""

from __future__ import annotations

import json
import shutil
import time
import uuid
from collections.abc import Iterator
from contextlib import AbstractContextManager, contextmanager, suppress
from dataclasses import dataclass
from functools import lru_cache, partial
from pathlib import Path
from typing import TYPE_CHECKING, Any, Protocol

import sqlalchemy as sa
from sqlalchemy.engine import Connection, Engine, RowMapping
from sqlalchemy.exc import IntegrityError

from dpcore.disk import needing_room
from dpcore.domain.schemas.schema import Schema
from dpcore.errors import (
    ConflictError,
    FrostglassError,
    InstallationError,
    NotFoundError,
    SchemaError,
    UncertainError,
)
from dpcore.workspace.database.database_tables import datasets, utc_now
from dpcore.workspace.database.engines import private_folder
from dpcore.workspace.database.file_locks import claimed, file_lock, is_claimed
from dpcore.workspace.database.home import stored_in, to_disk
from dpcore.workspace.database.owners import hand_over
from dpcore.workspace.database.transactions import Hook, read, write
from dpcore.workspace.files.descriptions import DatasetInfo
from dpcore.workspace.files.populations import RelatedDataset, allows_conditional, place, retired

if TYPE_CHECKING:
    from dpcore.data.execution.executors import Executor
    from dpcore.data.table import PrivateTable

#: File that is locked by the process that is writing a folder.
_OWNER = "owner"
#: Ending of the names of folders that are being removed.
_GONE = ".gone"
#: What a custodian is told if nobody can say whether a data set was entered.
_MAY_BE_STORED = (
    "The database did not answer as the data set was entered: it may be stored. Look under Data sets first, and try "
    "again only if it is not there."
)
#: Seconds for which a database that went away at that moment is asked again.
_PATIENCE = 20.0
#: Seconds after which a folder that nobody has claimed was left by a process that is dead.
_DAY = 86_400.0


@dataclass(frozen=True)
class _Folders:
    incoming: Path
    stored: Path


class Savable(Protocol):
    """A table, or what becomes one."""

    def save(self, directory: Path) -> None:
        """Write the table into an existing, empty directory."""


class Store:
    """Data sets of one installation."""

    def __init__(self, home: Path, engine: Engine) -> None:
        self._engine = engine
        self._folders = _Folders(private_folder(home / "incoming"), private_folder(home / "datasets"))
        self._tidying = home / "tidying"

    def alone(self) -> AbstractContextManager[None]:
        """Have the turn of those who adopt and remove folders. Raises ``AwayError``."""
        return file_lock(self._tidying)

    def add_dataset(
        self,
        name: str,
        schema: Schema,
        table: Savable,
        public: bool,
        *,
        truth: str = "",
        described: str | None = None,
        related: RelatedDataset | None = None,
        learns: bool = False,
        on_added: Hook | None = None,
    ) -> DatasetInfo:
        """Store a data set, or nothing; ``on_added`` runs in the transaction that enters it.

        Parameters
        ----------
        described : str, optional
            What people read of it, if not the description of its schema.
        related : RelatedDataset, optional
            An earlier data set about the same people.
        learns : bool
            Whether the table comes with a schema that was learned, in place of the given one.

        Raises
        ------
        ConflictError
            If the name is taken.
        SchemaError
            If the table was made for another schema.
        IngestError
            If the disk is full.
        UncertainError
            If the database went away and the data set may be stored.
        """
        if related is None or not related.replaces:
            self.check_name(name)
        dataset_id = uuid.uuid4().hex
        incoming = self._folders.incoming / dataset_id
        with needing_room(self._folders.incoming):
            private_folder(incoming)
            with claimed(incoming / _OWNER):
                schema = self._write(incoming, None if learns else schema, table)
                try:
                    self.enter(
                        dataset_id,
                        name,
                        schema,
                        public,
                        truth=truth,
                        described=described,
                        related=related,
                        on_entered=on_added,
                    )
                except UncertainError:
                    # Only its acknowledgement may be lost. If there is no entry, the folder stays, to be looked at.
                    if not self._was_entered(dataset_id):
                        raise
                except FrostglassError:
                    if not self._knows(dataset_id):
                        self.discard(dataset_id)
                    raise
        return self._added(dataset_id)

    def enter(
        self,
        dataset_id: str,
        name: str,
        schema: Schema,
        public: bool,
        *,
        truth: str = "",
        described: str | None = None,
        related: RelatedDataset | None = None,
        on_entered: Hook | None = None,
    ) -> None:
        """Enter a folder that is in place; ``on_entered`` runs in the same transaction.

        Raises
        ------
        ConflictError
            If the name is taken.
        """
        row = {
            "id": dataset_id,
            "name": name,
            "schema": schema.to_json(indent=None),
            "schema_hash": schema.hash,
            "public": public,
            "truth": truth,
            "described": described,
            "created": utc_now(),
        }
        with needing_room(self._folders.stored):
            write(self._engine, lambda connection: _enter(connection, row, related, on_entered))

    def discard(self, dataset_id: str) -> None:
        """Remove the folder of a data set. What a kill leaves of it, the next start removes."""
        if self.present(dataset_id):
            self._shred(self.folder(dataset_id))

    def present(self, dataset_id: str) -> bool:
        """Whether the folder of a data set is there."""
        return self.folder(dataset_id).is_dir()

    def keeps_keys(self, dataset_id: str) -> bool:
        """Whether rows can be appended to a data set."""
        from dpcore.data.building.people import are_kept

        return are_kept(self.folder(dataset_id))

    def folder_with_keys(self, dataset_id: str) -> Path:
        """Folder of a data set to which rows can be appended. Raises ``IngestError`` if they cannot."""
        from dpcore.data.building.people import check_kept

        check_kept(self.folder(dataset_id))
        return self.folder(dataset_id)

    def folder(self, dataset_id: str) -> Path:
        """Folder of a data set."""
        return self._folders.stored / dataset_id

    def folders(self) -> list[str]:
        """Identifiers of all folders in place, known or not."""
        return sorted(stored_in(self._folders.stored))

    def arriving(self, dataset_id: str) -> bool:
        """Whether the process that wrote a folder is about to enter it."""
        return _claimed(self.folder(dataset_id)) is True

    def _knows(self, dataset_id: str) -> bool:
        return read(self._engine, partial(_is_entered, dataset_id=dataset_id))

    def _was_entered(self, dataset_id: str) -> bool:
        with _unclear_without_database():  # A writer waits for the one before: no entry comes afterwards.
            return write(self._engine, partial(_is_entered, dataset_id=dataset_id), patience=_PATIENCE)

    def _added(self, dataset_id: str) -> DatasetInfo:
        with _unclear_without_database():
            return self.dataset(dataset_id)

    def check_name(self, name: str) -> None:
        """Raise ``ConflictError`` if a data set of this name exists."""
        chosen = sa.select(datasets.c.id).where(datasets.c.name == name)
        if read(self._engine, lambda connection: connection.execute(chosen).first()):
            raise name_taken(name)

    def datasets(self) -> list[DatasetInfo]:
        """Every data set, oldest first."""
        found = read(self._engine, lambda connection: tuple(_infos(connection, sa.true())), question="data sets")
        return list(found)

    def dataset(self, dataset_id: str) -> DatasetInfo:
        """One data set by id or, failing that, by name. Raises ``NotFoundError``."""

        def transaction(connection: Connection) -> tuple[DatasetInfo, ...]:
            return tuple(_infos(connection, sa.or_(datasets.c.id == dataset_id, datasets.c.name == dataset_id)))

        found = read(self._engine, transaction, question=("data set", dataset_id))
        if not found:
            raise NotFoundError("There is no such data set.")
        exact = [info for info in found if info.id == dataset_id]
        return (exact or found)[0]

    def check_stored(self, dataset_id: str, schema: Schema) -> None:
        """Compare the stored table's schema with a plan's, without opening a record.

        Raises
        ------
        SchemaError
            If they differ, or the table is gone.
        """
        if self.check_files(dataset_id).hash != schema.hash:
            raise SchemaError("The stored data set does not fit its schema: upload it again.")

    def check_files(self, dataset_id: str) -> Schema:
        """See that a folder in place holds a whole table, without opening a record.

        Raises
        ------
        SchemaError
            If a file is missing or damaged.
        """
        from dpcore.workspace.files.stored_tables import saved_schema

        return saved_schema(self.folder(dataset_id))

    def is_whole(self, dataset_id: str) -> bool:
        """Whether every file of a folder in place is what was written: all are read."""
        from dpcore.workspace.files.stored_tables import is_whole

        return is_whole(self.folder(dataset_id))

    def table(self, dataset_id: str, executor: Executor | None = None) -> PrivateTable:
        """Open a data set: headers are read, records are not.

        It is asked by workers, which tell the ledger before they ask anything of the table; and if
        it is public.

        Parameters
        ----------
        executor : Executor, optional
            Where questions are answered; in this process by default.

        Raises
        ------
        SchemaError
            If the stored table is damaged or does not fit the schema that was declared.
        """
        from dpcore.workspace.files.stored_tables import opened

        table = opened(self.folder(dataset_id), executor)
        if table.schema.hash != self.dataset(dataset_id).schema.hash:
            raise SchemaError("The stored data set does not fit its schema: upload it again.")
        return table

    def sweep(self) -> None:
        """Remove what dead processes left half-way in; nothing that is in place."""
        incoming = self._folders.incoming
        forgotten = {incoming / name for name in stored_in(incoming) if _forgotten(incoming / name)}
        for folder in incoming.iterdir():
            if folder.name.endswith(_GONE) or _claimed(folder) is False or folder in forgotten:
                self._shred(folder)

    def _shred(self, folder: Path) -> None:
        """Remove a folder. Its name says so first: half of it must not pass for the whole."""
        with suppress(OSError):
            folder = folder.rename(self._folders.incoming / f"{uuid.uuid4().hex}{_GONE}")
        shutil.rmtree(folder, ignore_errors=True)

    def _write(self, incoming: Path, schema: Schema | None, table: Savable) -> Schema:
        """Write a table of a schema, or of any, and say of which."""
        from dpcore.workspace.files.stored_tables import saved_schema

        try:
            table.save(incoming)
            saved = saved_schema(incoming)
            if schema is not None and saved.hash != schema.hash:
                raise SchemaError("The stored data set does not fit its schema: upload it again.")
            for path in incoming.rglob("*"):
                path.chmod(0o700 if path.is_dir() else 0o600)
                hand_over(path)
                to_disk(path)
            to_disk(incoming)
            incoming.rename(self._folders.stored / incoming.name)
        except BaseException:
            self._shred(incoming)
            raise
        to_disk(self._folders.stored)
        return schema or saved


@contextmanager
def _unclear_without_database() -> Iterator[None]:
    try:
        yield
    except InstallationError:
        raise UncertainError(_MAY_BE_STORED) from None


def _is_entered(connection: Connection, dataset_id: str) -> bool:
    return connection.execute(sa.select(datasets.c.id).where(datasets.c.id == dataset_id)).first() is not None


def _enter(connection: Connection, row: dict[str, Any], related: RelatedDataset | None, on_added: Hook | None) -> None:
    placed = place(connection, row, related)
    try:
        connection.execute(datasets.insert().values(**placed))
    except IntegrityError:
        raise name_taken(placed["name"]) from None
    if on_added is not None:
        on_added(connection, row["id"])


def name_taken(name: str) -> ConflictError:
    """What is wrong with the name of another data set."""
    return ConflictError(f"A data set called '{name}' exists. Give the schema another name.")


@lru_cache(maxsize=64)
def parse_schema(text: str) -> Schema:
    """Read a stored schema; pages ask for the same few again and again."""
    return Schema.model_validate_json(text)


def like(schema: Schema, **changes: object) -> Schema:
    """A schema with another name, description or limit. Raises ``SchemaError``."""
    return Schema.from_mapping(json.loads(schema.to_json()) | changes)


def _infos(connection: Connection, which: sa.ColumnElement[bool]) -> list[DatasetInfo]:
    """Some data sets, oldest first, with the names of others about the same people."""
    states = retired().label("retired"), allows_conditional().label("conditional")
    chosen = sa.select(datasets, *states).where(which).order_by(datasets.c.number)
    rows = connection.execute(chosen).mappings().all()
    people = {row["population"] for row in rows}
    named = sa.select(datasets.c.population, datasets.c.name).where(datasets.c.population.in_(people))
    kin = connection.execute(named.order_by(datasets.c.number)).all()
    return [_info(row, [name for population, name in kin if population == row["population"]]) for row in rows]


def _info(row: RowMapping, kin: list[str]) -> DatasetInfo:
    schema = parse_schema(row["schema"])
    return DatasetInfo(
        id=row["id"],
        name=row["name"],
        description=schema.description if row["described"] is None else row["described"],
        schema=schema,
        public=row["public"],
        created=row["created"],
        truth=row["truth"],
        population=row["population"],
        version=row["version"],
        replaces=row["replaces"],
        retired=row["retired"],
        conditional=bool(row["conditional"]),
        shares_with=tuple(name for name in kin if name != row["name"]),
    )


def _claimed(folder: Path) -> bool | None:
    """Whether somebody is writing a folder; ``None`` if it does not say."""
    try:
        return is_claimed(folder / _OWNER)
    except OSError:
        return None


def _forgotten(folder: Path) -> bool:
    """Whether nobody has ever claimed a folder, and nothing in it has changed for a day."""
    try:
        files = list(folder.rglob("*"))
        newest = max(path.lstat().st_mtime for path in [folder, *files])
    except OSError:
        return False
    return all(file.name != _OWNER for file in files) and newest < time.time() - _DAY
