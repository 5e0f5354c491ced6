"""What a plan accepts must run, whatever the people; and its progress must tell nothing of them.

Random configurations of every family and method on tables of every kind: empty, full, of one
class, all missing. A few of each in the normal run, thousands in the slow one.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from random import Random
from typing import Any

import pytest
from hypothesis import Phase, given, settings
from hypothesis import strategies as st

from dpcore.commands.text import release_text
from dpcore.learning.learner import Run
from dpcore.models.readable import blocks_of
from dpcore.models.redescriptions.released.consistent import consistent_counts
from dpcore.models.redescriptions.released.tree_pair import Domain
from dpcore.models.registry import LEARNERS, public_records
from dpcore.models.released import parse_model
from dpcore.plots import figures
from dpcore.privacy.budgets import EPSILON_STEP
from dpcore.privacy.randomness import SecureRandom, SeededRandom
from dpcore.released.blocks import Figure, only
from dpcore.released.plan import RunPlan
from dpcore.released.release import Release, make_release
from tests.support.learning.configurations import (
    FEW,
    MANY,
    WAYS,
    Configuration,
    accepted,
    draw_configuration,
    draw_people,
    planned,
    seeds,
    table_of,
)

#: A smaller seed is no simpler configuration, so there is nothing to shrink.
_FIND = (Phase.explicit, Phase.reuse, Phase.generate)


def of_every_way(examples: int, **more: Any) -> Callable[[Any], Any]:
    """A property of every family and method, tried on so many configurations of each."""

    def over(test: Any) -> Any:
        drawn = settings(max_examples=examples, phases=_FIND, deadline=None)(given(seed=seeds, **more)(test))
        return pytest.mark.parametrize(("family", "way"), WAYS)(drawn)

    return over


def finite(value: object) -> bool:
    """Whether every number inside is one that JSON knows."""
    if isinstance(value, dict):
        return all(map(finite, value.values()))
    if isinstance(value, list | tuple):
        return all(map(finite, value))
    return not isinstance(value, float) or math.isfinite(value)


def check_run(random: Random, drawn: Configuration, plan: RunPlan) -> None:
    """Run what was planned; see that its release can be stored, read and used."""
    family = drawn.family
    table = table_of(drawn.schema, draw_people(random, drawn.schema, drawn.target))
    source = SecureRandom() if random.random() < 0.5 else SeededRandom(7)
    model = LEARNERS[family].run(Run(table, plan, source))
    release = make_release(family, plan, model, secure=source.secure)
    again = Release.from_json(release.to_json())
    assert finite(again.model)
    assert parse_model(again) == model
    assert plan.count_margin() >= 0
    for pair in model.pairs if drawn.family == "redescriptions" else ():
        consistent_counts(pair, Domain(drawn.schema))


def check_progress(random: Random, drawn: Configuration, plan: RunPlan) -> None:
    """Compare the progress of runs on different people, with different noise."""
    learner = LEARNERS[drawn.family]
    told: list[list[tuple[str, int, int]]] = []
    for turn in range(2):
        table = table_of(drawn.schema, draw_people(random, drawn.schema, drawn.target))
        told.append([])
        learner.run(Run(table, plan, SeededRandom(turn), lambda *call: told[-1].append(call)))
    assert told[0] == told[1]
    assert told[0]


@of_every_way(FEW)
def test_what_a_plan_accepts_runs(family, way, seed):
    random = Random(seed)
    check_run(random, *planned(random, family, way))


@of_every_way(2 * FEW, steps=st.integers(1, 300))
def test_a_budget_of_a_few_smallest_steps_is_refused_or_enough(family, way, seed, steps):
    """Every division of it is checked before a record is touched, down to the last row."""
    random = Random(seed)
    drawn = draw_configuration(random, family, steps * EPSILON_STEP, **way)
    plan = accepted(drawn)
    if plan is not None:
        check_run(random, drawn, plan)


@of_every_way(FEW // 2)
def test_progress_is_the_same_whatever_the_people(family, way, seed):
    random = Random(seed)
    check_progress(random, *planned(random, family, way))


@pytest.mark.slow
@of_every_way(MANY)
def test_what_thousands_of_plans_accept_runs(family, way, seed):
    random = Random(seed)
    check_run(random, *planned(random, family, way))


@pytest.mark.slow
@of_every_way(MANY // 4)
def test_progress_of_hundreds_of_plans_is_the_same_whatever_the_people(family, way, seed):
    random = Random(seed)
    check_progress(random, *planned(random, family, way))


@pytest.mark.slow
@of_every_way(MANY // 16)
def test_releases_of_any_plan_can_be_read_and_used(family, way, seed):
    """As text, as a report, for predictions and beside the true counts of public data."""
    random = Random(seed)
    drawn, plan = planned(random, family, way)
    table = table_of(drawn.schema, draw_people(random, drawn.schema, drawn.target))
    model = LEARNERS[family].run(Run(table, plan, SeededRandom(7)))
    release = make_release(family, plan, model, secure=False)
    assert release_text(release)
    blocks = blocks_of(release)
    assert blocks
    assert all(figures.drawn(figure) and figures.alt(figure) for figure in only(blocks, Figure))
    records = public_records(LEARNERS[family].family, table, "all")
    if drawn.target:
        assert len(model.predict(records, drawn.schema)) == len(table.public_frame("all"))
    elif drawn.family == "redescriptions":
        assert len(model.exact_tables(records, drawn.schema)) == len(model.pairs)
    else:
        assert len(model.exact_table(records, drawn.schema, (0,))) == model.sizes[0]
