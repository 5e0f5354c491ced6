"""Questions answered by a real Dask cluster, whatever happens to it: the answer is the same."""

from __future__ import annotations

import shutil
import threading
import time
from contextlib import ExitStack
from pathlib import Path

import dask
import numpy as np
import pandas as pd
import pytest

from dpcore.data.building.ingest import ingest
from dpcore.data.execution import clusters
from dpcore.data.execution.clusters import ClusterExecutor
from dpcore.data.execution.executor_choice import configured_executor
from dpcore.data.execution.executors import CLUSTER, LOCAL
from dpcore.data.stored import table_cache
from dpcore.data.table import PrivateTable
from dpcore.errors import ClusterError
from dpcore.privacy.randomness import SeededRandom
from tests.support.learning.partitioned import divided
from tests.support.rows import for_each
from tests.support.servers.dask_clusters import SCHEMA, Cluster, Relay, certificates, dask_cluster
from tests.support.servers.dask_kernels import (
    cell_counts,
    cell_counts_or_death,
    cell_counts_slowly,
    compiled_sum,
    failing,
    written_counts,
)

pytestmark = pytest.mark.heavy


@pytest.fixture(scope="module")
def stored(tmp_path_factory) -> Path:
    draw = np.random.default_rng(0)
    frame = pd.DataFrame({"age": draw.integers(0, 100, 900), "sex": draw.choice(["f", "m", ""], 900)})
    folder = tmp_path_factory.mktemp("table")
    divided(ingest([frame], SCHEMA, SeededRandom(0)), 7).save(folder)
    return folder


@pytest.fixture(scope="module")
def expected(stored) -> list[int]:
    return PrivateTable.open(stored).total(cell_counts).tolist()


@pytest.fixture
def cluster(tmp_path):
    """A cluster of a test's own with one worker, which may be damaged."""
    with dask_cluster(tmp_path, 1) as made:
        yield made


@pytest.fixture(scope="module")
def lasting(tmp_path_factory):
    """A cluster that several tests ask, and none damages."""
    with dask_cluster(tmp_path_factory.mktemp("lasting")) as made:
        yield made


@pytest.fixture(scope="module")
def full(tmp_path_factory):
    """A cluster whose worker can write no byte to any file, and finds no compiled code in one."""
    folder = tmp_path_factory.mktemp("full")
    with ExitStack() as stack:
        with pytest.MonkeyPatch.context() as patch:
            patch.setenv("NUMBA_CACHE_DIR", str(folder / "compiled"))
            made = stack.enter_context(dask_cluster(folder, 1))
        made.fill_disks()
        yield made


def on(cluster: Cluster, folder: Path) -> PrivateTable:
    return PrivateTable.open(folder, ClusterExecutor(cluster.address))


def test_workers_that_die_or_come_change_no_answer(cluster, stored, expected, tmp_path):
    cluster.start_worker()
    cluster.wait_for(2)
    table = on(cluster, stored)
    table.check()
    assert "workers:    2, with 2 threads" in ClusterExecutor(cluster.address).status()
    assert table.total(cell_counts).tolist() == expected
    assert table.total(cell_counts_or_death, str(tmp_path)).tolist() == expected
    cluster.start_worker()
    assert table.total(cell_counts).tolist() == expected
    with pytest.raises(ZeroDivisionError):
        table.total(failing)
    assert table.total(cell_counts).tolist() == expected


def _in_the_middle(table, signs, happens):
    """The answer to a question, with something that happens once partitions are being asked."""
    signs.mkdir()
    found = []
    asking = threading.Thread(target=lambda: found.append(table.total(cell_counts_slowly, str(signs))))
    asking.start()
    while not any(signs.iterdir()):
        assert asking.is_alive()
        time.sleep(0.01)
    happens()
    asking.join(120)
    return found[0].tolist()


@pytest.mark.slow
def test_a_worker_killed_in_the_middle_costs_time_only(cluster, stored, expected, tmp_path):
    cluster.start_worker()
    cluster.wait_for(2)
    assert _in_the_middle(on(cluster, stored), tmp_path / "signs", cluster.kill_worker) == expected


@pytest.mark.slow
def test_all_workers_lost_and_others_that_come_cost_time_only(cluster, stored, expected, tmp_path):
    def exchange():
        cluster.kill_worker()
        cluster.start_worker()

    assert _in_the_middle(on(cluster, stored), tmp_path / "signs", exchange) == expected


@pytest.mark.slow
def test_a_scheduler_that_comes_back_costs_time_only(cluster, stored, expected, tmp_path):
    def restart():
        cluster.kill_scheduler()
        cluster.start_scheduler()
        cluster.start_worker()

    assert _in_the_middle(on(cluster, stored), tmp_path / "signs", restart) == expected


@pytest.mark.parametrize("cut", [pytest.param("silence", marks=pytest.mark.slow), "reset"])
def test_a_worker_that_is_cut_off_costs_time_only(cut, tmp_path, stored, expected, monkeypatch):
    monkeypatch.setattr(clusters, "_SILENCE", 2)
    monkeypatch.setenv("DASK_DISTRIBUTED__SCHEDULER__WORKER_TTL", "15s")  # Silent so long, it is taken for dead.
    with dask_cluster(tmp_path, 1) as cluster:
        relay = Relay(cluster.address)
        cluster.start_worker(relay.address)
        cluster.wait_for(2)
        assert _in_the_middle(on(cluster, stored), tmp_path / "signs", getattr(relay, cut)) == expected


def test_patience_counts_from_the_last_sign_of_a_worker(monkeypatch):
    monkeypatch.setattr(clusters, "_LOOK", 0)
    executor, asked = ClusterExecutor("tcp://127.0.0.1:1"), []

    def ask():
        asked.append(executor)
        if len(asked) < 3:
            executor._seen = time.monotonic() + len(asked)
            raise TimeoutError
        return "answer"

    assert executor._patiently(0, ask) == "answer"
    with pytest.raises(ClusterError, match="does not answer"):
        executor._patiently(0, failing_connection)


def test_a_question_that_breaks_every_connection_ends(monkeypatch):
    monkeypatch.setattr(clusters, "_LOOK", 0)
    executor = ClusterExecutor("tcp://127.0.0.1:1")

    def ask():
        executor._seen = time.monotonic()
        failing_connection()

    with pytest.raises(ClusterError, match="does not answer"):
        executor._patiently(60, ask)


def failing_connection():
    raise ConnectionResetError


def test_a_full_disk_on_the_workers_changes_no_answer(full, stored, expected):
    table = on(full, stored)
    table.check()
    assert table.total(cell_counts).tolist() == expected
    assert table.total(compiled_sum).tolist() == PrivateTable.open(stored).total(compiled_sum).tolist()


def test_a_worker_that_needs_a_disk_and_has_none_ends_the_question(full, stored, tmp_path):
    with pytest.raises(ClusterError, match="has no room"):
        on(full, stored).total(written_counts, str(tmp_path))


def test_workers_let_go_of_removed_records(tmp_path, stored, monkeypatch):
    here = tmp_path / "removed"
    shutil.copytree(stored, here)
    monkeypatch.setattr(table_cache, "_WATCH", 0.05)
    assert table_cache.cached_partition((str(here), 0)).rows
    assert _mapped(here)
    shutil.rmtree(here)
    for _ in range(200):
        if not _mapped(here):
            break
        time.sleep(0.05)
    assert not _mapped(here)
    assert not table_cache._OPEN


def _mapped(folder):
    return str(folder) in Path("/proc/self/maps").read_text()


def test_a_cluster_without_workers_is_told_before_anything_is_spent(tmp_path, stored, monkeypatch):
    monkeypatch.setattr(clusters, "_BEFORE", 1)
    with dask_cluster(tmp_path, workers=0) as cluster:
        with pytest.raises(ClusterError, match="does not answer"):
            on(cluster, stored).check()
        cluster.kill_scheduler()
        with pytest.raises(ClusterError, match="does not answer"):
            on(cluster, stored).check()


def test_a_worker_without_the_program_is_told(tmp_path, stored):
    with dask_cluster(tmp_path, workers=0) as cluster:
        cluster.start_worker(home=tmp_path)
        cluster.wait_for(1)
        with pytest.raises(ClusterError, match="cannot load Frostglass"):
            on(cluster, stored).check()


def test_a_cluster_with_certificates_answers_those_who_have_them(tmp_path, stored, expected, monkeypatch):
    monkeypatch.setattr(clusters, "_BEFORE", 3)
    tls = certificates(tmp_path)
    with dask.config.set(tls), dask_cluster(tmp_path, 1, tls) as cluster:
        table = on(cluster, stored)
        table.check()
        assert table.total(cell_counts).tolist() == expected
        (tmp_path / "other").mkdir()
        with dask.config.set(certificates(tmp_path / "other")), pytest.raises(ClusterError, match="does not answer"):
            on(cluster, stored).check()
    with pytest.raises(ClusterError, match="certificate"):
        on(cluster, stored).check()


@pytest.mark.parametrize("cut", ["silence", pytest.param("reset", marks=pytest.mark.slow)])
def test_a_cut_between_owner_and_scheduler_costs_time_only(cut, lasting, stored, expected, tmp_path, monkeypatch):
    monkeypatch.setattr(clusters, "_SILENCE", 1)
    relay = Relay(lasting.address)

    def cut_and_heal():
        getattr(relay, cut)()
        threading.Timer(4, relay.heal).start()

    table = PrivateTable.open(stored, ClusterExecutor(relay.address))
    assert _in_the_middle(table, tmp_path / "signs", cut_and_heal) == expected


@pytest.mark.parametrize("cut", ["silence", pytest.param("reset", marks=pytest.mark.slow)])
def test_a_cut_that_is_not_healed_ends_in_a_sentence(cut, lasting, stored, monkeypatch):
    monkeypatch.setattr(clusters, "_SILENCE", 1)
    monkeypatch.setattr(clusters, "_BEFORE", 2)
    monkeypatch.setattr(clusters, "_MEANWHILE", 2)
    relay = Relay(lasting.address)
    table = PrivateTable.open(stored, ClusterExecutor(relay.address))
    table.check()
    getattr(relay, cut)()
    with pytest.raises(ClusterError, match="does not answer"):
        table.total(cell_counts)


def test_files_that_workers_do_not_see_are_told(lasting, stored, tmp_path):
    table = on(lasting, stored)
    for number, partition in enumerate(table.partitions):
        partition.place = (str(tmp_path / "elsewhere"), number)
    with pytest.raises(ClusterError, match="same folder"):
        table.check()


def test_another_version_is_told(lasting, stored, monkeypatch):
    monkeypatch.setattr(clusters.version, "__version__", "0.0.1")
    with pytest.raises(ClusterError, match="another version"):
        on(lasting, stored).check()


def test_workers_that_take_no_questions_are_not_waited_for(lasting, stored, expected):
    lasting.start_worker(memory="1MB")
    executor = ClusterExecutor(lasting.address)
    while "paused" not in {worker["status"] for worker in clusters._identity(executor._connect())["workers"].values()}:
        time.sleep(0.05)
    assert "workers:    2," in executor.status()
    table = PrivateTable.open(stored, executor)
    assert [table.total(cell_counts).tolist() for _ in range(3)] == 3 * [expected]


@for_each("address", ["tcp://10.0.0.1:8786", "tcp://cluster.example:8786", "tcp://[2001:db8::1]:8786"])
def test_records_cross_no_network_without_encryption(address):
    with pytest.raises(ClusterError, match="tls://"):
        ClusterExecutor(address)


@for_each("address", ["127.0.0.1:8786", "http://127.0.0.1", "tcp://", "tls://", "yes"])
def test_an_address_that_is_none(address):
    with pytest.raises(ClusterError, match="must be like"):
        ClusterExecutor(address)


def test_the_operator_chooses(monkeypatch):
    monkeypatch.delenv(CLUSTER, raising=False)
    assert configured_executor() is LOCAL
    monkeypatch.setenv(CLUSTER, "tcp://127.0.0.1:1")
    assert isinstance(configured_executor(), ClusterExecutor)
    assert configured_executor() is configured_executor()
