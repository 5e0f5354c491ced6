"""Chains as they went, on public records: their measures, and which chains are told of."""

from __future__ import annotations

from typing import Any

import numpy as np
import pandas as pd
import pytest

from dpcore import DPRuleListClassifier, RedescriptionMiner, Schema, chain_courses
from dpcore.errors import RequestError
from dpcore.models.convergence import ChainCourse
from tests.support.rows import for_each
from tests.support.tables import toy_people
from tests.support.tables.small_tables import ward

SCHEMA = toy_people.schema()
PEOPLE = toy_people.frame(400)
SIDES = {"left": ("age", "smoker"), "right": ("region", "ill")}
RANDOM = np.random.default_rng(3)
NOISE = RANDOM.normal(size=(4, 2000))


def course(scores: Any, records: int = 100) -> ChainCourse:
    return ChainCourse(np.asarray(scores), RANDOM.random(np.shape(scores)) < 0.25, records)


def test_chains_of_one_distribution_agree():
    found = course(NOISE)
    assert found.r_hat < 1.01
    assert 3000 < found.effective_size < 5500
    assert found.settled == 4
    assert found.acceptance == pytest.approx(0.5, abs=0.05)


def test_chains_in_different_places_do_not():
    found = course(NOISE + 5 * np.arange(4)[:, None])
    assert found.r_hat > 1.5
    assert found.effective_size < 20


@pytest.mark.parametrize(("rise", "met"), [(4.9, 4), (5.1, 0)])
def test_the_criterion_of_the_thesis_compares_the_last_two_windows(rise: float, met: int):
    scores = np.zeros((4, 1000))
    scores[:, -250:] = rise
    assert course(scores, records=100).settled == met


def rule_list(schema: Schema = SCHEMA, **chosen: Any) -> Any:
    learner = DPRuleListClassifier(epsilon=1, schema=schema, random_state=1, **chosen)
    return learner.fit(PEOPLE.drop(columns="ill"), PEOPLE["ill"]).release_


@for_each(
    ("made", "walks", "steps"),
    [
        (lambda: rule_list(sampler="mcmc", mcmc_steps=1000), 1, 1000),
        (lambda: miner("alt_mcmc"), 2, 1200),
        (lambda: miner("mcmc_tree_pair"), 2, 1200),
    ],
)
def test_all_three_chains_are_told_of(made: Any, walks: int, steps: int):
    release = made()
    found = chain_courses(release, PEOPLE, chains=3, seed=5)
    assert len(found) == walks
    for own in found:
        assert own.scores.shape == own.taken.shape == (3, steps)
        assert 0 < own.records <= len(PEOPLE)
        assert 0 < own.acceptance <= 1
        assert len({tuple(scores) for scores in own.scores.tolist()}) == 3, "each has a start and words of its own"
        assert own.r_hat < 2
    again = chain_courses(release, PEOPLE, chains=3, seed=5)
    assert all(np.array_equal(one.scores, two.scores) for one, two in zip(found, again, strict=True))


def miner(method: str) -> Any:
    learner = RedescriptionMiner(
        epsilon=4, schema=SCHEMA, random_state=1, method=method, steps=1200, starts=2, depth=2, **SIDES
    )
    return learner.fit(PEOPLE).release_


def test_a_stored_result_of_fewer_steps_is_read_and_its_chain_is_refused():
    release = rule_list(sampler="mcmc", mcmc_steps=1000)
    older = release.model_copy(update={"parameters": {**release.parameters, "mcmc_steps": 5}})
    assert DPRuleListClassifier.from_release(older).predict(PEOPLE.drop(columns="ill")).shape == (400,)
    with pytest.raises(RequestError, match="at least 1,000"):
        chain_courses(older, PEOPLE)


def test_a_chain_over_one_condition_moves_between_its_two_lists():
    """Its log score has two values, and the share of each is that of the target."""
    schema = ward(
        {"name": "x", "type": "boolean"},
        {"name": "y", "type": "boolean", "target": True},
        name="one",
        max_rows=60,
        holdout_percent=0,
    )
    frame = pd.DataFrame({"x": [0, 1] * 30, "y": [0, 1] * 30})
    chosen = {"sampler": "mcmc", "mcmc_steps": 20_000, "antecedents": "given", "given": ("x = yes",), "max_rules": 1}
    learner = DPRuleListClassifier(epsilon=1, schema=schema, random_state=1, **chosen)
    (found,) = chain_courses(learner.fit(frame[["x"]], frame["y"]).release_, frame)
    low, high = np.unique(np.round(found.scores, 9))
    share = float((found.scores > (low + high) / 2).mean())
    assert share == pytest.approx(1 / (1 + np.exp(low - high)), abs=0.02)
    assert found.r_hat < 1.01
