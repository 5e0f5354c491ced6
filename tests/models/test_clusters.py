"""A real Dask cluster gives the releases of one process, to the byte, also if a worker is killed."""

from __future__ import annotations

from decimal import Decimal
from itertools import count
from random import Random

import pytest

from dpcore.data.execution.clusters import ClusterExecutor
from dpcore.data.table import PrivateTable
from dpcore.models.registry import get_learner
from tests.support.learning.configurations import ONE_WAY_EACH, draw_people, planned, table_of
from tests.support.learning.partitioned import ASKED, content, divided
from tests.support.servers.dask_clusters import dask_cluster
from tests.support.tables.nested_relations import TARGET, draw_patients, nested_schema
from tests.support.workspaces.fake_learner import real_learners

pytestmark = pytest.mark.heavy
PARTITIONS = 5
#: A family that may ask a single question loses its worker before that one.
ONLY_ONE = {"summaries": 0}


@pytest.fixture(scope="module")
def cluster(tmp_path_factory):
    with dask_cluster(tmp_path_factory.mktemp("cluster")) as made:
        yield made


def stored(family, way, seed, folder):
    """A configuration, its release by this process, and its table in a folder."""
    random = Random(f"clusters {family} {sorted(way.items())} {seed}")
    drawn, plan = planned(random, family, way)
    table = table_of(drawn.schema, draw_people(random, drawn.schema, drawn.target))
    divided(table, PARTITIONS).save(folder)
    return plan, content(family, plan, table)


@pytest.mark.parametrize(
    ("family", "way"), [*ONE_WAY_EACH, *(pytest.param(*each.values[:2], id=each.id) for each in ASKED)]
)
def test_a_cluster_gives_the_same_release(family, way, cluster, tmp_path):
    plan, expected = stored(family, way, 0, tmp_path)
    table = PrivateTable.open(tmp_path, ClusterExecutor(cluster.address))
    table.check()
    assert content(family, plan, table) == expected


def test_a_cluster_gives_the_same_release_of_rows_that_belong_to_rows(cluster, tmp_path):
    schema = nested_schema(max_rows=120)
    chosen = {"quantifiers": ("exists", "within", "counts"), "max_variables": 1, "evaluate": False}
    plan, table = get_learner("ilp").plan(schema, TARGET, Decimal(20), chosen), draw_patients(100, 9).table(schema)
    divided(table, PARTITIONS).save(tmp_path)
    expected = content("ilp", plan, table)
    assert '"inner"' in expected[0]
    assert content("ilp", plan, PrivateTable.open(tmp_path, ClusterExecutor(cluster.address))) == expected


class _Fatal(PrivateTable):
    """A table that loses a worker of its cluster before one of its questions is answered."""

    def lose(self, cluster, question):
        self._cluster, self._left = cluster, count(question, -1)
        return self

    def total(self, kernel, *public, **named):
        if next(self._left) == 0:
            self._cluster.kill_worker()
            self._cluster.start_worker()
        return super().total(kernel, *public, **named)


@pytest.mark.slow
@pytest.mark.parametrize("family", real_learners())
def test_a_worker_that_is_killed_changes_nothing(family, cluster, tmp_path):
    plan, expected = stored(family, {}, 1, tmp_path)
    table = _Fatal.open(tmp_path, ClusterExecutor(cluster.address)).lose(cluster, ONLY_ONE.get(family, 1))
    assert content(family, plan, table) == expected
    assert len(cluster.workers) == 2
    assert next(table._left) < 0, "no worker was killed"
