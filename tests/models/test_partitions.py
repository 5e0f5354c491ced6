"""The same seeds give the same release, to the byte, however the records are divided."""

from __future__ import annotations

import json
from decimal import Decimal
from random import Random

import pytest

from dpcore.models.redescriptions.learning.exact_pairs import ExactPairs
from tests.support.learning.configurations import WAYS, draw_people, planned, table_of
from tests.support.learning.partitioned import ASKED, content, divided

FEW, MANY = 1, 100


def check(family, way, seed, counts=(2, 7, 64)):
    random = Random(f"partitions {family} {sorted(way.items())} {seed}")
    drawn, plan = planned(random, family, way)
    table = table_of(drawn.schema, draw_people(random, drawn.schema, drawn.target))
    whole = content(family, plan, table)
    for count in counts:
        assert content(family, plan, divided(table, count, seed)) == whole
    return whole[0]


@pytest.mark.parametrize("seed", range(FEW))
@pytest.mark.parametrize(("family", "way"), WAYS)
def test_a_release_does_not_depend_on_partitions(family, way, seed):
    check(family, way, seed, (3, 64))


@pytest.mark.parametrize(("family", "way", "found"), ASKED)
def test_a_release_of_what_is_found_does_not_depend_on_partitions(family, way, found):
    assert found(json.loads(check(family, way, 1))["model"])


def test_a_search_beyond_chance_does_not_depend_on_partitions(monkeypatch):
    """Which one it is depends on the noise: at a tiny epsilon, most follow one that shows nothing."""
    draw, kinds = ExactPairs.draw, []

    def noted(self, weight, beyond_chance, *more):
        kinds.append(beyond_chance)
        return draw(self, weight, beyond_chance, *more)

    monkeypatch.setattr(ExactPairs, "draw", noted)
    check("redescriptions", {"method": "exact_pairs", "starts": 3, "epsilon": Decimal("0.01")}, 0)
    assert set(kinds) == {False, True}


@pytest.mark.slow
@pytest.mark.parametrize(("family", "way"), WAYS)
def test_a_release_does_not_depend_on_partitions_at_length(family, way):
    for seed in range(FEW, MANY):
        check(family, way, seed)
