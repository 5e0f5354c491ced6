from __future__ import annotations

import os
from pathlib import Path
from typing import Any

import pytest
import sqlalchemy as sa
from sqlalchemy.engine import Engine

from dpcore.data.building.ingest import frame_chunks, ingest
from dpcore.data.table import PrivateTable
from dpcore.domain.schemas.schema import Schema
from dpcore.errors import ConflictError, IngestError, SchemaError
from dpcore.privacy.randomness import SecureRandom
from dpcore.workspace.database.database import open_database
from dpcore.workspace.database.file_locks import claimed
from dpcore.workspace.database.home import Home
from dpcore.workspace.files.store import Store
from tests.support.workspaces.fake_learner import small_frame, small_schema


@pytest.fixture
def engine(tmp_path: Path) -> Engine:
    return open_database(f"sqlite:///{tmp_path / 'frostglass.db'}")


@pytest.fixture
def store(tmp_path: Path, engine: Engine) -> Store:
    return Store(tmp_path, engine)


def table_for(schema: Schema) -> PrivateTable:
    return ingest(frame_chunks(small_frame()), schema, SecureRandom())


def folders(home: Path) -> list[Path]:
    return [*(home / "incoming").iterdir(), *(home / "datasets").iterdir()]


def test_a_data_set_comes_back_as_it_was_stored(store: Store) -> None:
    schema = small_schema(description="what it is")
    added = store.add_dataset("small", schema, table_for(schema), public=False)
    assert store.datasets() == [added]
    assert store.dataset(added.id) == store.dataset("small") == added
    assert (added.schema.hash, added.description) == (schema.hash, "what it is")
    assert store.table(added.id).schema.hash == schema.hash
    store.check_stored(added.id, schema)


def test_everything_on_disk_is_for_its_owner_alone(store: Store, tmp_path: Path) -> None:
    schema = small_schema()
    store.add_dataset("small", schema, table_for(schema), public=False)
    for path in (tmp_path / "datasets").rglob("*"):
        assert path.stat().st_mode & 0o777 == (0o700 if path.is_dir() else 0o600)
    assert (tmp_path / "datasets").stat().st_mode & 0o777 == 0o700


class _OnFullDisk:
    """A table for which there is no room."""

    def save(self, _directory: Path) -> None:
        Path("/dev/full").write_text("x", encoding="utf-8")


def test_a_full_disk_is_a_sentence_and_leaves_nothing(store: Store, tmp_path: Path) -> None:
    with pytest.raises(IngestError, match=r"disk of this computer is full\. Nothing was stored"):
        store.add_dataset("small", small_schema(), _OnFullDisk(), public=False)
    assert not folders(tmp_path)
    assert not store.datasets()


def test_a_database_without_room_is_a_sentence_and_leaves_nothing(store: Store, engine: Engine, tmp_path: Path) -> None:
    def no_more(connection: sa.Connection) -> None:
        connection.exec_driver_sql("PRAGMA max_page_count = 1")

    sa.event.listen(engine, "begin", no_more)
    schema, table = small_schema(), table_for(small_schema())
    with pytest.raises(IngestError, match=r"disk of this computer is full\. Nothing was stored"):
        store.add_dataset("small", schema, table, public=True, truth="x" * 50_000)
    assert not folders(tmp_path)
    assert not store.datasets()


def test_a_name_is_taken_once(store: Store, tmp_path: Path) -> None:
    schema = small_schema()
    store.add_dataset("small", schema, table_for(schema), public=False)
    with pytest.raises(ConflictError, match="'small' exists"):
        store.add_dataset("small", schema, table_for(schema), public=False)
    assert len(folders(tmp_path)) == 1


@pytest.mark.parametrize("moment", ["save", "fsync", "rename"])
def test_a_failure_while_writing_leaves_nothing(
    store: Store, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, moment: str
) -> None:
    def fail(*_: Any, **__: Any) -> None:
        raise OSError("no space left on device")

    schema = small_schema()
    table = table_for(schema)
    holder = {"save": PrivateTable, "fsync": os, "rename": Path}[moment]
    monkeypatch.setattr(holder, moment, fail)
    with pytest.raises(OSError, match="no space"):
        store.add_dataset("small", schema, table, public=False)
    assert store.datasets() == []
    assert folders(tmp_path) == []


def test_a_refused_entry_leaves_nothing(store: Store, tmp_path: Path) -> None:
    def refuse(*_: Any) -> None:
        raise ConflictError("no")

    schema = small_schema()
    with pytest.raises(ConflictError):
        store.add_dataset("small", schema, table_for(schema), public=False, on_added=refuse)
    assert store.datasets() == []
    assert folders(tmp_path) == []


def test_the_sweep_removes_what_dead_processes_left_half_way_in(store: Store, tmp_path: Path) -> None:
    schema = small_schema()
    kept = store.add_dataset("small", schema, table_for(schema), public=False)
    for place in ("incoming", "datasets"):
        for name in ("dead", "alive", "unsigned"):
            folder = tmp_path / place / f"{place}-{name}"
            folder.mkdir()
            (folder / "records.arrow").write_text("records")
            if name != "unsigned":
                (folder / "owner").touch()
    (tmp_path / "incoming" / "half.gone").mkdir()
    with (
        claimed(tmp_path / "incoming" / "incoming-alive" / "owner"),
        claimed(tmp_path / "datasets" / "datasets-alive" / "owner"),
    ):
        store.sweep()
        assert store.arriving("datasets-alive")
        assert not store.arriving("datasets-dead")
    left = {folder.name for folder in folders(tmp_path)}
    in_place = {"datasets-dead", "datasets-alive", "datasets-unsigned"}
    assert left == {kept.id, "incoming-alive", "incoming-unsigned", *in_place}


def test_a_folder_that_was_never_claimed_is_swept_after_a_day(store: Store, tmp_path: Path) -> None:
    """A process may be killed between making a folder and claiming it."""
    incoming = tmp_path / "incoming"
    old, young, filling, alive = names = ["a" * 32, "b" * 32, "c" * 32, "d" * 32]
    for name in [*names, "lost+found"]:
        (incoming / name).mkdir()
    (incoming / filling / "records.arrow").touch()
    with claimed(incoming / alive / "owner"):
        for path in [incoming / alive / "owner", *incoming.iterdir()]:
            if path.name != young:
                os.utime(path, (0, 0))
        store.sweep()
        assert {folder.name for folder in incoming.iterdir()} == {young, filling, alive, "lost+found"}
    os.utime(incoming / filling / "records.arrow", (0, 0))
    store.sweep()
    assert {folder.name for folder in incoming.iterdir()} == {young, "lost+found"}
    assert not (incoming / old).exists()


def test_what_is_called_like_no_data_set_is_none(store: Store, tmp_path: Path) -> None:
    schema = small_schema()
    added = store.add_dataset("small", schema, table_for(schema), public=False)
    for name in ("lost+found", ".snapshot", "@eaDir", "old-copy", "A" * 32):
        (tmp_path / "datasets" / name).mkdir()
    (tmp_path / "datasets" / ("f" * 32)).touch()
    (tmp_path / "datasets" / ("e" * 32)).mkdir()
    assert store.folders() == sorted([added.id, "e" * 32])
    assert Home(tmp_path).stored() == {added.id, "e" * 32}


def test_a_data_set_whose_entry_is_uncertain_stays(
    store: Store, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The answer of the database was lost: the entry may have been made, and here it was."""
    real = Store.enter

    def enter(self: Store, *details: Any, **named: Any) -> None:
        real(self, *details, **named)
        raise ConflictError("told too late")

    schema = small_schema()
    monkeypatch.setattr(Store, "enter", enter)
    with pytest.raises(ConflictError):
        store.add_dataset("small", schema, table_for(schema), public=False)
    assert store.table(store.dataset("small").id).schema.hash == schema.hash


def test_a_table_of_another_schema_is_refused(store: Store, tmp_path: Path) -> None:
    schema, other = small_schema(), small_schema("other")
    with pytest.raises(SchemaError):
        store.add_dataset("other", other, table_for(schema), public=False)
    added = store.add_dataset("small", schema, table_for(schema), public=False)
    (tmp_path / "datasets" / added.id / "schema.json").write_text(other.to_json())
    with pytest.raises(SchemaError, match="does not fit"):
        store.check_stored(added.id, schema)
    with pytest.raises(SchemaError, match="does not fit"):
        store.table(added.id)
