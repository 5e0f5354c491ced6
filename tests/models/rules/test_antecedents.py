"""Candidate conditions: complete, distinct, and a uniform subset where they are capped."""

from __future__ import annotations

import itertools
from collections import Counter
from decimal import Decimal

import pytest
from scipy.stats import chisquare

from dpcore.data.queries import LogLikelihood
from dpcore.domain.conditions import Condition
from dpcore.domain.schemas.schema import Schema
from dpcore.errors import RequestError
from dpcore.models.rules.learning.antecedents import _random_conjunctions, given_antecedents
from dpcore.models.rules.learning.rule_list_learner import RuleListLearner
from dpcore.models.rules.released.rule_list_parameters import RuleListParameters
from dpcore.privacy.randomness import SeededRandom
from tests.support.rows import for_each
from tests.support.tables import toy_people
from tests.support.tables.small_tables import ward

#: Chance of a false alarm of each statistical test.
FALSE_ALARM = 1e-6


def literals(*group_sizes: int) -> list[Condition]:
    return [
        Condition(column=f"c{group}", first=cell, last=cell)
        for group, size in enumerate(group_sizes)
        for cell in range(size)
    ]


def brute_force(items: list[Condition], size: int) -> list[tuple[int, ...]]:
    return [
        chosen
        for chosen in itertools.combinations(range(len(items)), size)
        if len({items[place].column for place in chosen}) == size
    ]


@for_each("size", [1, 2, 3, 4])
@for_each("groups", [(2,), (1, 1), (3, 2, 4), (2, 1, 3, 2), (5, 1, 1, 1, 2)])
def test_without_a_cap_every_conjunction_comes_once(groups, size):
    items = literals(*groups)
    found = _random_conjunctions(items, size, 10_000, SeededRandom(0))
    assert sorted(found) == sorted(brute_force(items, size))


def test_a_capped_choice_is_uniform():
    items = literals(3, 1, 2)
    everything = brute_force(items, 2)
    source = SeededRandom(1)
    seen = Counter(itemset for _ in range(3000) for itemset in _random_conjunctions(items, 2, 2, source))
    assert set(seen) == set(everything)
    assert chisquare([seen[itemset] for itemset in everything]).pvalue > FALSE_ALARM


def test_a_huge_space_is_sampled_without_enumerating_it():
    items = literals(*[200] * 40)
    found = _random_conjunctions(items, 4, 500, SeededRandom(2))
    assert len(set(found)) == 500
    for itemset in found:
        assert len({items[place].column for place in itemset}) == 4
        assert list(itemset) == sorted(itemset)
    used = Counter(items[place].column for itemset in found for place in itemset)
    assert chisquare([used[f"c{group}"] for group in range(40)]).pvalue > FALSE_ALARM


def schema(max_rows: int = 1000) -> Schema:
    return ward(
        {"name": "branch", "type": "categorical", "categories": ["Trade and craft", "x"]},
        {"name": "age", "type": "integer", "lower": 0, "upper": 90, "edges": [30, 60]},
        {"name": "y", "type": "boolean", "target": True},
        name="trade",
        max_rows=max_rows,
    )


def test_a_category_may_hold_the_word_and():
    text = "branch = Trade and craft and age > 60"
    found = given_antecedents(schema(), "y", [text])
    assert [item.text(schema()) for item in found.conditions(0)] == text.replace("craft and age", "craft|age").split(
        "|"
    )


@for_each(
    ("parameters", "sentence"),
    [
        ({"max_antecedents": 5000, "sampler": "pool"}, "more memory"),
        ({"antecedents": "given", "given": ("age > 30",) * 2000, "max_antecedents": 1}, "more memory"),
        ({"sampler": "pool", "pool_size": 5_000_000}, "would take hours"),
        ({"sampler": "mcmc", "mcmc_steps": 1_000_000}, "would take hours"),
    ],
)
def test_what_could_not_be_finished_is_refused_before_it_costs(parameters, sentence):
    with pytest.raises(RequestError, match=sentence):
        RuleListLearner().plan(schema(100_000_000), "y", Decimal(1), parameters)
    RuleListLearner().plan(schema(), "y", Decimal(1), parameters)


@pytest.mark.parametrize("sampler", ["pool", "mcmc"])
def test_a_sampler_whose_tables_would_not_fit_is_refused_before_it_costs(sampler):
    learner = RuleListLearner()
    parameters = {"sampler": sampler, "pool_size": 1, "mcmc_steps": 1_000, "max_antecedents": 1}
    with pytest.raises(RequestError, match=r"Tables of 50 classes .* more memory .* choose lookahead"):
        learner.plan(_of_classes(50, 100_000_000), "y", Decimal(1), parameters)
    for classes, rows in ((2, 100_000_000), (50, 10_000_000)):
        learner.plan(_of_classes(classes, rows), "y", Decimal(1), parameters)
    learner.plan(_of_classes(50, 100_000_000), "y", Decimal(1), parameters | {"sampler": "lookahead"})


def test_a_pool_that_would_not_fit_beside_its_tables_is_refused_with_one_that_does():
    learner, parameters = RuleListLearner(), {"sampler": "pool", "list_length": 0.01, "max_antecedents": 200}
    asked = {**parameters, "max_rules": 100, "pool_size": 5_000_000}
    with pytest.raises(RequestError, match=r"more memory than a run may use: choose at most \d+\.") as caught:
        learner.plan(_of_classes(4, 90_000_000), "y", Decimal(1), asked)
    most = int(str(caught.value).split()[-1].rstrip("."))
    assert 0 < most < 5_000_000
    learner.plan(_of_classes(4, 90_000_000), "y", Decimal(1), asked | {"pool_size": most})


def test_what_a_sampler_keeps_is_told_before():
    learner = RuleListLearner()

    def told(classes, rows, **parameters):
        return learner.workload(learner.plan(_of_classes(classes, rows), "y", Decimal(1), parameters)).bytes

    usual = told(2, 100_000_000, sampler="lookahead", max_antecedents=6)
    assert told(2, 100_000_000, sampler="mcmc", max_antecedents=6) - usual >= LogLikelihood.room(2, 100_000_000)
    pool = {"sampler": "pool", "pool_size": 5_000_000, "max_rules": 100, "max_antecedents": 200}
    assert 5_000_000 * 2 * 100 * 2 < told(50, 100_000, **pool) < 6 * 2**30


def _of_classes(classes, max_rows):
    columns = [
        {"name": "age", "type": "integer", "lower": 0, "upper": 90, "bins": 40},
        {"name": "height", "type": "integer", "lower": 0, "upper": 90, "bins": 40},
        {"name": "y", "type": "categorical", "categories": [f"c{place}" for place in range(classes)], "target": True},
    ]
    return Schema.from_mapping({"name": "classes", "max_rows": max_rows, "columns": columns})


#: As a release of an earlier version holds them.
EARLIER = {
    "antecedents": "public",
    "given": [],
    "max_antecedent_length": 2,
    "max_antecedents": 1000,
    "sampler": "lookahead",
    "blocks": 3,
    "pool_size": 100_000,
    "mcmc_steps": 5000,
    "tempered_prior": False,
    "list_length": 5.0,
    "rule_length": 1.0,
    "max_rules": 30,
}


@for_each(
    ("changed", "rules"),
    [
        ({}, 6),
        ({"blocks": None}, None),
        ({"max_rules": 3}, 3),
        ({"list_length": 8.0, "rule_length": 2.0}, 6),
        ({"blocks": 15, "max_rules": 100}, 30),
    ],
)
def test_parameters_of_earlier_versions_are_read(changed, rules):
    parameters = RuleListParameters.model_validate(EARLIER | changed)
    assert parameters.rules == rules
    assert RuleListParameters.model_validate(parameters.model_dump(mode="json")) == parameters


@for_each(
    ("asked", "sentence"),
    [
        ({"list_length": 8.0}, "say with rules how many there should be"),
        ({"rule_length": 2.0}, "need the sampler 'pool' or 'mcmc'"),
        ({"max_rules": 3}, "need the sampler 'pool' or 'mcmc'"),
        ({"rules": 3, "sampler": "pool"}, "needs the sampler 'lookahead'"),
        ({"rules": 0}, "rules"),
        ({"rules": 31}, "rules"),
        ({"blocks": "two"}, "blocks"),
        ({"alpha": (1.0,)}, "give 2 numbers, one for each class of 'ill'"),
    ],
)
def test_what_would_have_no_effect_is_refused(asked, sentence):
    with pytest.raises(RequestError, match=sentence) as caught:
        RuleListLearner().plan(toy_people.schema(), "ill", Decimal(1), asked)
    assert str(caught.value).endswith(".")
