"""No rule without people: none that the schema leaves nobody to, and none whose own noisy counts say nobody."""

import itertools
from decimal import Decimal

import numpy as np
import pytest

from dpcore.learning.learner import Run
from dpcore.models.rules.learning import rule_list_learner as learner_module
from dpcore.models.rules.learning.rule_list_learner import RuleListLearner, reported_groups
from dpcore.privacy.randomness import SeededRandom
from tests.support.rows import for_each
from tests.support.tables.small_tables import schema_of, table_of

VALUES = {"a": ("p", "q"), "b": ("p", "q", "r"), "c": ("p", "q", "r"), "d": ("p", "q")}
COLUMNS = [{"name": name, "type": "categorical", "categories": list(values)} for name, values in VALUES.items()]
SCHEMA = schema_of([*COLUMNS, {"name": "y", "type": "boolean", "target": True}], max_rows=200)
EVERYBODY = [dict(zip(VALUES, point, strict=True)) for point in itertools.product(*VALUES.values())]


def _model(seed, epsilon, **parameters):
    draw = np.random.default_rng(seed)
    found = (2, 2, 2, 1)  # Cells that records have; the schema allows more.
    rows = [(*(int(draw.integers(most)) for most in found), int(draw.random() < 0.3)) for _ in range(100)]
    plan = RuleListLearner().plan(SCHEMA, "y", Decimal(epsilon), {"evaluate": False, **parameters})
    return RuleListLearner().run(Run(table_of(SCHEMA, rows), plan, SeededRandom(seed)))


def _groups(model):
    """Whom of everybody that the schema allows each rule captures."""
    left, groups = EVERYBODY, []
    for rule in model.rules:
        met = [all(own.holds(VALUES[own.column].index(p[own.column])) for own in rule.conditions) for p in left]
        groups.append([p for p, own in zip(left, met, strict=True) if own])
        left = [p for p, own in zip(left, met, strict=True) if not own]
    return groups


@pytest.mark.crossed
@pytest.mark.parametrize("sampler", ["lookahead", "pool"])
@pytest.mark.parametrize("epsilon", ["0.05", "3", "20"])
def test_every_rule_and_everybody_else_have_people(sampler, epsilon):
    """By the schema, and by their own noisy counts unless these could hide many."""
    settings = {"sampler": sampler, "max_antecedent_length": 2, "max_antecedents": 60}
    settings |= {"rules": 8} if sampler == "lookahead" else {"pool_size": 50, "list_length": 8}
    lengths = set()
    for seed in range(8):
        model = _model(seed, epsilon, **settings)
        lengths.add(len(model.rules))
        assert all(_groups(model))
        people = [sum(rule.noisy_counts) for rule in model.rules]
        as_few_as_may_be = sampler == "lookahead" and len(model.rules) <= 8
        assert min(people) > 0 or as_few_as_may_be or model.count_margin > 0.05 * sum(people)
        assert all(rule.conditions for rule in model.rules[:-1])
        assert model.rules[-1].conditions == ()
    assert len(lengths) > 1


def test_without_leaving_them_out_there_would_be_rules_without_people(monkeypatch):
    settings = {
        "sampler": "pool",
        "pool_size": 50,
        "list_length": 16,
        "max_antecedents": 60,
        "shares": {"list": 1, "estimates": 1},
    }
    models = [_model(seed, "4", **settings) for seed in range(8)]
    assert all(sum(rule.noisy_counts) > 0 for model in models for rule in model.rules)
    monkeypatch.setattr(learner_module, "reported_groups", lambda noisy, *_: np.arange(len(noisy)))
    models = [_model(seed, "4", **settings) for seed in range(8)]
    assert any(sum(rule.noisy_counts) <= 0 for model in models for rule in model.rules)


@for_each(
    ("noisy", "margin", "told"),
    [
        ([[50, 30], [10, 10], [90, 40]], 3, [0, 1, 2]),
        ([[50, 30], [-2, 1], [90, 40]], 3, [0, 2]),
        ([[50, 30], [40, 10], [-3, 2]], 3, [0, 1]),
        ([[-1, 0], [40, 10], [-2, 1]], 2, [1]),
        ([[-2, 0], [0, -1], [90, 40]], 3, [2]),
        ([[50, 30], [-2, 1], [90, 40]], 30, [0, 1, 2]),
        ([[-5, 3], [-4, 1], [-6, 4]], 3, [0, 1, 2]),
        ([[-5, 3]], 3, [0]),
        ([[0, 0]], 0, []),
    ],
)
def test_where_nobody_else_is_left_the_last_rule_takes_everybody_else(noisy, margin, told):
    assert reported_groups(np.array(noisy), margin).tolist() == (told or [0])


@for_each(("least", "told"), [(0, [1, 3]), (1, [1, 3]), (2, [1, 2, 3]), (3, [0, 1, 2, 3]), (9, [0, 1, 2, 3])])
def test_so_many_rules_stay_and_of_those_without_people_the_ones_with_most(least, told):
    noisy = np.array([[-5, 1], [50, 30], [-1, 0], [90, 40]])
    assert reported_groups(noisy, 3, least).tolist() == told
