"""Number of rules: what earlier versions asked for is read, and what has no effect is refused."""

from decimal import Decimal

import pytest

from dpcore.errors import RequestError
from dpcore.models.rules.learning.rule_list_learner import RuleListLearner
from dpcore.models.rules.released.rule_list_parameters import RuleListParameters
from tests.support.rows import for_each
from tests.support.tables import toy_people

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
