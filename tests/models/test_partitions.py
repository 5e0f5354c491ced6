"""The same seeds give the same release, to the byte, however the records are divided."""

from __future__ import annotations

import json
from decimal import Decimal
from random import Random

import pytest

from dpcore.learning.learner import Run
from dpcore.models.redescriptions.learning.exact_pairs import ExactPairs
from dpcore.models.registry import LEARNERS
from dpcore.privacy.randomness import SeededRandom
from dpcore.released.release import make_release
from tests.models.test_configurations import planned
from tests.support.configurations import WAYS, draw_people, table_of
from tests.support.partitioned import divided

FEW, MANY = 1, 100
#: What is asked for by a parameter, not by a method, and seldom drawn; and how to see it in a model.
ASKED = [
    pytest.param("summaries", {"pairs": 2}, lambda model: model["found"], id="summaries-pairs"),
    pytest.param("summaries", {"pairs": 2, "delta": "0.001"}, lambda model: model["found"], id="summaries-gaussian"),
    pytest.param("rule_list", {"antecedents": "dp_fim"}, lambda model: model["antecedent_count"], id="rule_list-mined"),
    pytest.param(
        "ebm", {"pairs": 1}, lambda model: [term for term in model["terms"] if len(term["axes"]) == 2], id="ebm-pairs"
    ),
]


def content(family, plan, table):
    told = []
    run = Run(table, plan, SeededRandom(3), lambda *step: told.append(step))
    release = make_release(family, plan, LEARNERS[family].run(run), secure=False)
    return release.model_dump_json(exclude={"id": True, "certificate": {"created"}}), told


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
