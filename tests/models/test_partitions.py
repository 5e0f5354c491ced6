"""The same seeds give the same release, to the byte, however the records are divided."""

from __future__ import annotations

from random import Random

import pytest

from dpcore.learning.learner import Run
from dpcore.models.registry import LEARNERS
from dpcore.privacy.randomness import SeededRandom
from dpcore.released.release import make_release
from tests.models.test_configurations import planned
from tests.support.configurations import WAYS, draw_people, table_of
from tests.support.partitioned import divided

FEW, MANY = 2, 100


def content(family, plan, table):
    told = []
    run = Run(table, plan, SeededRandom(3), lambda *step: told.append(step))
    release = make_release(family, plan, LEARNERS[family].run(run), secure=False)
    return release.model_dump_json(exclude={"id": True, "certificate": {"created"}}), told


def check(family, way, seed):
    random = Random(f"partitions {family} {sorted(way.items())} {seed}")
    drawn, plan = planned(random, family, way)
    table = table_of(drawn.schema, draw_people(random, drawn.schema, drawn.target))
    whole = content(family, plan, table)
    for count in (2, 7, 64):
        assert content(family, plan, divided(table, count, seed)) == whole


@pytest.mark.parametrize("seed", range(FEW))
@pytest.mark.parametrize(("family", "way"), WAYS)
def test_a_release_does_not_depend_on_partitions(family, way, seed):
    check(family, way, seed)


@pytest.mark.slow
@pytest.mark.parametrize("seed", range(FEW, MANY))
@pytest.mark.parametrize(("family", "way"), WAYS)
def test_a_release_does_not_depend_on_partitions_at_length(family, way, seed):
    check(family, way, seed)
