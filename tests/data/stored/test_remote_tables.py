"""Stored tables that an object store holds: fetched once, checked, and left nowhere."""

from __future__ import annotations

import shutil
import tempfile
from pathlib import Path

import fsspec
import numpy as np
import pandas as pd
import pytest

from dpcore.data.building.ingest import ingest
from dpcore.data.execution.clusters import ClusterExecutor
from dpcore.data.stored import remote_tables, table_cache
from dpcore.data.stored.remote_tables import STORE, RemoteTable
from dpcore.data.stored.storage import READ
from dpcore.data.table import PrivateTable
from dpcore.errors import ClusterError, SchemaError
from dpcore.privacy.randomness import SeededRandom
from tests.support.learning.partitioned import divided
from tests.support.servers.dask_clusters import SCHEMA, dask_cluster
from tests.support.servers.dask_kernels import cell_counts

NAME, COUNT = "0123abcd", 3
pytestmark = pytest.mark.heavy


@pytest.fixture(autouse=True)
def quick(monkeypatch):
    monkeypatch.setattr(remote_tables, "_PAUSE", 0)
    monkeypatch.setattr(table_cache, "_OPEN", {})


@pytest.fixture
def stored(tmp_path) -> Path:
    """The folder of a table in an application's home."""
    draw = np.random.default_rng(0)
    frame = pd.DataFrame({"age": draw.integers(0, 100, 900), "sex": draw.choice(["f", "m", ""], 900)})
    folder = tmp_path / "home" / NAME
    folder.mkdir(parents=True)
    divided(ingest([frame], SCHEMA, SeededRandom(0)), COUNT).save(folder)
    return folder


@pytest.fixture
def store(stored, tmp_path, request):
    """A store that holds a copy of it: in this process, or in another folder."""
    if getattr(request, "param", "memory") == "folder":
        shutil.copytree(stored, tmp_path / "bucket" / NAME)
        yield f"file://{tmp_path}/bucket"
        return
    files = fsspec.filesystem("memory")
    files.put(str(stored), f"/bucket/{NAME}", recursive=True)
    yield "memory://bucket"
    files.rm("/bucket", recursive=True)


@pytest.mark.parametrize("store", ["memory", "folder"], indirect=True)
def test_partitions_are_those_that_were_stored(store, stored, tmp_path, monkeypatch):
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path))
    before = {*tmp_path.iterdir()}
    table = RemoteTable(store, str(stored))
    table.check(range(COUNT))
    assert table.is_there()
    found = [table.partition(number) for number in range(COUNT)]
    for own, there in zip(PrivateTable.open(stored).partitions, found, strict=True):
        assert (there.place, there.rows) == (own.place, own.rows)
        assert all((there.arrays[name] == own.arrays[name]).all() for name in ("codes", "cells", "parts", "ids"))
        assert (cell_counts(there) == cell_counts(own)).all()
    assert table.partition(1) is found[1]
    assert found[0].room == found[1].room > 0
    assert {*tmp_path.iterdir()} == before, "records were left on the disk"


def test_a_file_that_arrives_damaged_is_fetched_again(store, stored, monkeypatch):
    table, arrived = RemoteTable(store, str(stored)), []
    fetch = type(table._files).get_file

    def damaged(self, there, here, *more, **named):
        fetch(self, there, here, *more, **named)
        arrived.append(there)
        if len(arrived) == 1:
            Path(here).write_bytes(b"half of it")

    monkeypatch.setattr(type(table._files), "get_file", damaged)
    assert (cell_counts(table.partition(0)) == cell_counts(PrivateTable.open(stored).partitions[0])).all()
    assert len(arrived) == len(READ) + 1


def test_another_file_than_was_stored_is_not_believed(store, stored):
    fsspec.filesystem("memory").pipe(f"/bucket/{NAME}/00001/{READ[0]}", b"another")
    table = RemoteTable(store, str(stored))
    assert table.partition(0).rows
    with pytest.raises(OSError, match="cannot be fetched"):
        table.partition(1)


def test_a_store_that_fails_now_and_then_is_asked_again(store, stored, monkeypatch):
    files, times = type(RemoteTable(store, str(stored))._files), []
    fetch = files.get_file

    def unsteady(self, there, here, *more, **named):
        times.append(there)
        if len(times) % 2:
            raise RuntimeError("try again")
        fetch(self, there, here, *more, **named)

    monkeypatch.setattr(files, "get_file", unsteady)
    assert RemoteTable(store, str(stored)).partition(2).rows


def test_what_a_store_does_not_hold_is_told(store, stored):
    files = fsspec.filesystem("memory")
    with pytest.raises(SchemaError, match="does not hold this data set"):
        RemoteTable(store, str(stored.with_name("another")))
    table = RemoteTable(store, str(stored))
    files.rm(f"/bucket/{NAME}/00002/{READ[1]}")
    table.check([0, 1])
    with pytest.raises(SchemaError, match="not hold all"):
        table.check([2])
    with pytest.raises(OSError, match="cannot be fetched"):
        table.partition(2)
    files.rm(f"/bucket/{NAME}", recursive=True)
    assert not table.is_there()


@pytest.mark.parametrize("store", ["folder"], indirect=True)
def test_workers_that_see_the_store_alone_give_the_same_answer(store, stored, tmp_path, monkeypatch):
    expected = PrivateTable.open(stored).total(cell_counts).tolist()
    monkeypatch.setenv(STORE, store)
    with dask_cluster(tmp_path) as cluster:
        table = PrivateTable.open(stored, ClusterExecutor(cluster.address))
        shutil.move(stored, tmp_path / "unseen")
        table.check()
        assert table.total(cell_counts).tolist() == expected
        cluster.kill_worker()
        assert table.total(cell_counts).tolist() == expected
        shutil.rmtree(tmp_path / "bucket" / NAME / "00000")
        with pytest.raises(ClusterError, match="object store"):
            table.check()
