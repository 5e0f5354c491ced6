"""What a run will take is a function of its plan, for the very steps that it reports."""

from __future__ import annotations

from decimal import Decimal
from random import Random

import pytest
from hypothesis import given, settings

from dpcore.learning.learner import Run
from dpcore.models.registry import LEARNERS
from dpcore.privacy.randomness import SeededRandom
from dpcore.workspace.runs.machine import Machine
from tests.support.learning.configurations import FEW, WAYS, draw_people, planned, seeds, table_of
from tests.support.rows import for_each


@pytest.mark.parametrize(("family", "way"), WAYS)
@settings(max_examples=FEW // 2, deadline=None)
@given(seed=seeds)
def test_the_work_of_every_step_is_told_before(family, way, seed):
    random = Random(seed)
    drawn, plan = planned(random, family, way)
    forecast = Machine().forecast(LEARNERS[family].workload(plan))
    shares, steps = [0.0], []

    def told(step: str, done: int, total: int) -> None:
        steps.append(step)
        shares.append(forecast.share(step, done, total))

    table = table_of(drawn.schema, draw_people(random, drawn.schema, drawn.target))
    LEARNERS[family].run(Run(table, plan, SeededRandom(1), told))
    assert list(dict.fromkeys(steps)) == list(forecast.steps)
    assert shares == sorted(shares), "progress never goes back"
    assert shares[-1] > 0.9
    assert all(seconds >= 0 for seconds in forecast.steps.values())
    assert forecast.bytes > 0


@for_each(("family", "way"), WAYS)
def test_more_people_at_most_are_more_work(family, way):
    """From tables that are no toys: how large a tree grows on a single person is for noise alone to say."""
    drawn, chosen = planned(Random(4), family, way)
    learner = LEARNERS[family]
    plan, more = (
        learner.plan(
            drawn.schema.model_copy(update={"max_rows": rows}),
            drawn.target,
            max(drawn.epsilon, Decimal("0.1")),
            chosen.parameters.model_dump(exclude_none=True),
        )
        for rows in (1_000, 100_000)
    )
    machine = Machine()
    assert machine.forecast(learner.workload(more)).seconds >= machine.forecast(learner.workload(plan)).seconds
    assert learner.workload(more).bytes > learner.workload(plan).bytes
