"""Every setting changes the plan or the release where its field says that it counts, and nothing elsewhere."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import suppress
from dataclasses import replace
from decimal import Decimal
from functools import cache
from itertools import product
from typing import Any

import pytest

from dpcore.data.building.ingest import frame_chunks, ingest
from dpcore.data.table import PrivateTable
from dpcore.errors import FrostglassError
from dpcore.learning.learner import Run
from dpcore.models.registry import LEARNERS
from dpcore.privacy.randomness import SeededRandom
from dpcore.released.parameters import parameters_of
from tests.support.learning.configurations import MOST, counts
from tests.support.learning.settings import contexts, values_of
from tests.support.tables import small_trains, toy_people
from tests.support.workspaces.fake_learner import real_learners

WARD = {"name": "ward", "type": "categorical", "categories": ["a", "b", "c"], "groups": {"surgery": ["a", "b"]}}
SCHEMA = toy_people.schema(columns=[*toy_people.COLUMNS, WARD])
PEOPLE = toy_people.frame(600)
#: What a setting counts beside; without them it has nothing to decide.
BESIDE: dict[str, dict[str, Any]] = {
    "strict_first": {"positive_weight": 4},
    "spend_rest": {"prune": False, "threshold": 0.5},
    "threshold": {"prune": False},
    "negation": {"quantifiers": ("exists",)},
    "length_prior": {"max_literals": 3},
    "selection_alpha": {"pool_size": 1000},
    "sensitivity": {"pool_size": 1000},
}
#: Tells whose cut points these are: it changes what is said of a run, not the run.
SAID = {"cuts_from"}
CASES = [
    pytest.param(family, context, id="-".join([family, *map(str, context.values())]))
    for family in real_learners()
    for context in contexts(family)
]


@cache
def table_of(family: str) -> tuple[PrivateTable, str]:
    """Records that a family can learn from, and their target."""
    if family == "ilp":
        tables = small_trains.trains(600)
        further = {"car": frame_chunks(tables["car"])}
        trains = ingest(frame_chunks(tables["train"]), small_trains.SCHEMA, SeededRandom(1), further)
        return trains, small_trains.TARGET
    people = PEOPLE.assign(ward=[*"abc"] * 200)
    return toy_people.table(SCHEMA, people), "ill" if LEARNERS[family].targeted else ""


def base_of(family: str, context: dict[str, Any]) -> dict[str, Any]:
    """The context with what keeps a run short."""
    learner = LEARNERS[family]
    own = parameters_of(learner.parameters)
    base = {name: value for name, value in MOST.items() if name in own and counts(own, context, name)}
    base |= {"left": ("age", "smoker"), "right": ("region", "ill")} if learner.family.views else {}
    if context.get("antecedents") == "given":
        base["given"] = ("age > 60", "smoker = yes", "region = north", "age > 40 and smoker = yes")
    if family == "summaries":
        base["pairs"] = 0
    if family == "ilp":
        base |= {"max_literals": 2, "max_variables": 1, "clauses": 2}
    return base | context


def beside(family: str, context: dict[str, Any], name: str) -> dict[str, Any]:
    """What else is chosen while a setting is tried."""
    own = parameters_of(LEARNERS[family].parameters)
    return {other: value for other, value in BESIDE.get(name, {}).items() if counts(own, context, other)}


def outcome(family: str, settings: dict[str, Any], epsilon: str, seed: int) -> Any:
    """What is planned and released, but for the settings themselves."""
    learner, (table, target) = LEARNERS[family], table_of(family)
    plan = learner.plan(table.schema, target, Decimal(epsilon), settings)
    model = learner.run(Run(table, plan, SeededRandom(seed)))
    return replace(plan, parameters=None), model


_USUAL: dict[str, Any] = {}


def usual_outcome(family: str, base: dict[str, Any], epsilon: str, seed: int) -> Any:
    """What all settings are compared with, worked out once."""
    asked = f"{family} {sorted(base.items())} {epsilon} {seed}"
    if asked not in _USUAL:
        _USUAL[asked] = outcome(family, base, epsilon, seed)
    return _USUAL[asked]


def differing(family: str, base: dict[str, Any], name: str, seeds: int = 1) -> Iterator[bool]:
    """Whether values of a setting that are not refused have other outcomes, one after another."""
    own = parameters_of(LEARNERS[family].parameters)[name]
    for seed, epsilon in product(range(seeds), ("2", "0.2", "30")):
        usual = usual_outcome(family, base, epsilon, seed)
        for value in values_of(name, own):
            with suppress(FrostglassError):
                yield outcome(family, {**base, name: value}, epsilon, seed) != usual


@pytest.mark.parametrize(("family", "context"), CASES)
def test_every_setting_changes_something_where_it_counts(family: str, context: dict[str, Any]) -> None:
    own = parameters_of(LEARNERS[family].parameters)
    dead = [
        name
        for name in own
        if counts(own, context, name)
        and name not in SAID | set(context)
        and not any(differing(family, base_of(family, context) | beside(family, context, name), name, seeds=40))
    ]
    assert dead == []


@pytest.mark.parametrize(("family", "context"), CASES)
def test_no_setting_changes_anything_where_it_does_not_count(family: str, context: dict[str, Any]) -> None:
    own = parameters_of(LEARNERS[family].parameters)
    alive = [
        name
        for name in own
        if not counts(own, context, name)
        and name not in SAID
        and any(differing(family, base_of(family, context), name))
    ]
    assert alive == []
