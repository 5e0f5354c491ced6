"""Releases of every family and method as runs make them, of random configurations."""

from __future__ import annotations

from decimal import Decimal
from random import Random
from typing import Any

from dpcore.errors import FrostglassError
from dpcore.learning.learner import Run
from dpcore.models.registry import LEARNERS
from dpcore.privacy.randomness import SecureRandom
from dpcore.released.plan import RunPlan
from dpcore.released.release import Release, make_release
from tests.support.learning.configurations import Configuration, draw_configuration, draw_people, table_of


def real_release(random: Random, family: str, way: dict[str, Any]) -> Release:
    """What a run of a random configuration releases, in the form that it has alone or beside others."""
    while True:
        drawn = draw_configuration(random, family, **way)
        try:
            plan = _planned(random, drawn)
        except FrostglassError:
            continue
        table = table_of(drawn.schema, draw_people(random, drawn.schema, drawn.target))
        model = LEARNERS[family].run(Run(table, plan, SecureRandom()))
        return make_release(family, plan, model, secure=True)


def _planned(random: Random, drawn: Configuration) -> RunPlan:
    learner = LEARNERS[drawn.family]
    epsilon = drawn.epsilon if random.random() < 0.5 else Decimal(random.choice(["0.1", "0.5", "1", "2"]))
    delta = random.choice([Decimal(0), Decimal("8e-7")])
    return learner.plan(drawn.schema, drawn.target, epsilon, drawn.parameters, delta)
