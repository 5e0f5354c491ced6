"""Runs on a Dask cluster: what is spent and released is what it is without one."""

from __future__ import annotations

from collections.abc import Iterator
from decimal import Decimal
from pathlib import Path

import pytest

from dpcore.data.execution import clusters
from dpcore.data.execution.executors import CLUSTER
from dpcore.service import Service
from dpcore.workspace.files.descriptions import DatasetInfo
from dpcore.workspace.ledger.requests import RunRequest
from tests.support.servers.dask_clusters import Cluster, dask_cluster
from tests.support.servers.dask_kernels import written_counts
from tests.support.texts import lacking
from tests.support.workspaces.accounts import amounts
from tests.support.workspaces.fake_learner import small_frame, small_schema
from tests.support.workspaces.fake_worker import FULL_POINTS, VARIABLE
from tests.support.workspaces.forked import FORKED, fork_workers

pytestmark = pytest.mark.heavy
BUDGET, EACH = Decimal(2), Decimal("0.5")


@pytest.fixture
def cluster(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Cluster]:
    """One that may be ended."""
    with dask_cluster(tmp_path_factory.mktemp("cluster"), workers=1) as made:
        yield made


@pytest.fixture(scope="module")
def lasting_cluster(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Cluster]:
    with dask_cluster(tmp_path_factory.mktemp("lasting"), workers=1) as made:
        yield made


@pytest.fixture(scope="module")
def full_cluster(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Cluster]:
    """Its workers write nothing to their disks."""
    with dask_cluster(tmp_path_factory.mktemp("full"), workers=1) as made:
        made.fill_disks()
        yield made


def service_on(cluster: Cluster, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Service:
    monkeypatch.setenv(CLUSTER, cluster.address)
    monkeypatch.setattr(clusters, "_BEFORE", 2)
    monkeypatch.setattr(clusters, "_MEANWHILE", 2)
    return Service(tmp_path / "home", workers=0)


@pytest.fixture
def service(cluster: Cluster, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Service]:
    with service_on(cluster, tmp_path, monkeypatch) as made:
        yield made


@pytest.fixture
def lasting(lasting_cluster: Cluster, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Service]:
    with service_on(lasting_cluster, tmp_path, monkeypatch) as made:
        yield made


@pytest.fixture
def full(full_cluster: Cluster, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Service]:
    with service_on(full_cluster, tmp_path, monkeypatch) as made:
        yield made


def request(dataset: DatasetInfo) -> RunRequest:
    return RunRequest(dataset_id=dataset.id, algorithm="tree", target="ill", epsilon=EACH, parameters={"blocks": (1,)})


def test_a_run_on_a_cluster_is_charged_and_released_as_any_other(
    service: Service, cluster: Cluster, caplog: pytest.LogCaptureFixture
) -> None:
    dataset = service.add_dataset(small_frame(), small_schema(), budget=BUDGET)
    done = service.run(service.submit(request(dataset), "first"))
    assert (done.state, done.charged) == ("done", True)
    assert len(service.releases()) == 1
    left = amounts(service.balance(dataset.id)).left
    cluster.close()
    refused = service.run(service.submit(request(dataset), "second"))
    assert (refused.state, refused.charged) == ("failed", False)
    assert not lacking(refused.message, "tell the custodian", "Nothing was spent")
    assert "127.0.0.1" not in refused.message
    assert cluster.address in caplog.text
    assert amounts(service.balance(dataset.id)).left == left


def test_a_cluster_that_goes_away_for_good_leaves_the_run_spent(
    service: Service, cluster: Cluster, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Some sums were made by then: only the filter knows what has been seen."""
    asked = clusters.ClusterExecutor.total

    def total(*arguments, **named):  # type: ignore[no-untyped-def]
        cluster.close()
        return asked(*arguments, **named)

    dataset = service.add_dataset(small_frame(), small_schema(), budget=BUDGET)
    before = amounts(service.balance(dataset.id)).left
    monkeypatch.setattr(clusters.ClusterExecutor, "total", total)
    status = service.run(service.submit(request(dataset), "only"))
    assert (status.state, status.charged) == ("failed", True)
    assert "cluster" not in status.message
    assert service.releases() == []
    assert amounts(service.balance(dataset.id)).left < before


def test_full_disks_of_workers_change_no_run(full: Service) -> None:
    dataset = full.add_dataset(small_frame(), small_schema(), budget=BUDGET)
    done = full.run(full.submit(request(dataset), "only"))
    assert (done.state, done.charged) == ("done", True)
    assert len(full.releases()) == 1


def test_a_worker_that_needs_a_disk_and_has_none_leaves_the_run_spent(
    full: Service, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    """No kernel of a learner writes; if one did, its run would have seen records by then."""
    asked = clusters.ClusterExecutor.total

    def total(self, kernel, partitions, *public, **named):  # type: ignore[no-untyped-def]
        asked(self, written_counts, partitions, str(tmp_path))
        return asked(self, kernel, partitions, *public, **named)

    dataset = full.add_dataset(small_frame(), small_schema(), budget=BUDGET)
    left = amounts(full.balance(dataset.id)).left
    with monkeypatch.context() as patched:
        patched.setattr(clusters.ClusterExecutor, "total", total)
        failed = full.run(full.submit(request(dataset), "first"))
    assert (failed.state, failed.charged) == ("failed", True)
    assert "Its budget stays spent" in failed.message
    assert full.releases() == []
    assert amounts(full.balance(dataset.id)).left < left
    assert full.run(full.submit(request(dataset), "second")).state == "done"


@pytest.mark.parametrize("point", [pytest.param(FULL_POINTS[0], marks=pytest.mark.slow), *FULL_POINTS[1:]])
def test_a_full_disk_of_the_application_keeps_what_was_spent_and_no_more(
    lasting: Service, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, point: str
) -> None:
    """As the run begins, nothing was asked; as it ends, the workers have answered."""
    dataset = lasting.add_dataset(small_frame(), small_schema(), budget=BUDGET)
    left, touched = amounts(lasting.balance(dataset.id)).left, point == "full before commit"
    fork_workers(monkeypatch)
    monkeypatch.setenv(VARIABLE, point)
    with Service(tmp_path / "home", workers=1, worker_command=FORKED) as working:
        status = working.wait(working.submit(request(dataset), "first"), 60)
    assert (status.state, status.charged) == ("interrupted", touched)
    assert ("Nothing was spent" in status.message) is not touched
    assert lasting.releases() == []
    assert (amounts(lasting.balance(dataset.id)).left < left) is touched
    assert lasting.run(lasting.submit(request(dataset), "second")).state == "done"
    assert len(lasting.releases()) == 1
