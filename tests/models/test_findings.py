"""What releases say of columns, and how far two of them agree: by models made by hand."""

from __future__ import annotations

from decimal import Decimal
from typing import Any

import numpy as np
import pytest

from dpcore.domain.conditions import Condition
from dpcore.models.findings import Finding, agreement, findings, outcome
from dpcore.models.ilp.language.clause import Clause
from dpcore.models.registry import get_learner
from dpcore.models.rules.released.model import Rule, RuleListModel
from dpcore.released.release import Release, make_release
from tests.plots.test_ilp import ATOMS, BOTH, release_of
from tests.support import small_redescriptions
from tests.support.page_tools import SCHEMA


def rule(share: float, people: int, *conditions: Condition, width: float = 0.01) -> Rule:
    """A rule with a chance of the second class, its noise, and people."""
    yes = round(share * people)
    low, high = share - width, share + width
    return Rule(
        conditions=conditions,
        text="",
        noisy_counts=(people - yes, yes),
        estimates=(1 - share, share),
        intervals=((1 - high, 1 - low), (low, high)),
    )


def a_list(*rules: Rule) -> Release:
    plan = get_learner("rule_list").plan(SCHEMA, "died", Decimal(1), {})
    model = RuleListModel(classes=("no", "yes"), rules=rules, count_margin=3, antecedent_count=9, evaluation=None)
    return make_release("rule_list", plan, model, secure=True)


OLD, YOUNG = (Condition(column="age", first=first, last=first + 3) for first in (4, 0))
WOMEN = Condition(column="sex", first=0, last=0)


def test_a_rule_gives_its_column_a_direction() -> None:
    found = findings(a_list(rule(0.6, 300, OLD), rule(0.1, 700)))
    assert list(found) == ["age"]
    assert found["age"].words == "rises with it, 10% to 60%"
    assert found["age"].strength == pytest.approx(0.5)
    assert findings(a_list(rule(0.6, 300, YOUNG), rule(0.1, 700)))["age"].words == "falls with it, 60% to 10%"


def test_categories_are_named() -> None:
    found = findings(a_list(rule(0.6, 300, WOMEN), rule(0.1, 700)))
    assert found["sex"].words == "highest for female (60%), lowest for male (10%)"


def test_what_the_noise_hides_says_nothing() -> None:
    assert findings(a_list(rule(0.6, 300, OLD, width=0.59), rule(0.1, 700))) == {}


def test_lists_that_contradict_each_other_disagree() -> None:
    up, down = (findings(a_list(rule(0.6, 300, which), rule(0.1, 700))) for which in (OLD, YOUNG))
    assert agreement([up["age"], down["age"]]) == "opposite"
    assert agreement([up["age"], up["age"]]) == "alike"
    assert agreement([up["age"], up["age"], down["age"]]) == "opposite"
    assert agreement([up["age"], None]) == "one only"
    assert agreement([up["age"], up["age"], None]) == "different"


def test_profiles_that_have_nothing_to_do_with_each_other_are_unclear() -> None:
    def of(*values: float) -> Finding:
        return Finding("a", "a", "", 1.0, np.array(values))

    assert agreement([of(1, 0, 1, 0), of(1, 1, 0, 0)]) == "unclear"
    assert agreement([of(1, 0), of(1, 0, 0)]) == "unclear", "their cells are others"


def test_what_is_predicted_is_named() -> None:
    assert outcome(a_list(rule(0.1, 700))) == "died = yes"
    assert outcome(release_of(*BOTH)) == "direction = east"
    assert outcome(small_redescriptions.release_of(small_redescriptions.small_pairs())) == ""


def test_clauses_that_predict_tell_what_they_ask_for() -> None:
    found = findings(release_of(*BOTH))
    assert set(found) == {"car: length", "car: weight"}
    assert found["car: length"].words == "clauses ask for length = short"


def test_results_that_only_name_a_column_are_not_said_to_say_the_same_of_it() -> None:
    old, young = (findings(release_of((theory(text), (40, 310), True))) for text in ("year > 1950", "year <= 1950"))
    assert (old["year"].words, young["year"].words) == ("clauses ask for year > 1950", "clauses ask for year ≤ 1950")
    assert agreement([old["year"], young["year"]]) == "named"
    assert agreement([old["year"], None]) == "one only"
    pairs = findings(small_redescriptions.release_of(small_redescriptions.small_pairs()))
    assert {agreement([item, item]) for item in pairs.values()} == {"named"}


def test_directions_that_contradict_each_other_do_so_beside_one_that_only_names_the_column() -> None:
    up, down = (Finding("a", "a", "", 1.0, np.array(profile)) for profile in ([0, 1], [1, 0]))
    named = Finding("a", "a", "", 1.0)
    assert agreement([up, named, down]) == "opposite"
    assert agreement([up, named, up]) == "named"


def theory(condition: str) -> Clause:
    return Clause(atoms=(ATOMS[condition],))


def test_redescriptions_tell_how_often_they_name_a_column() -> None:
    found: Any = findings(small_redescriptions.release_of(small_redescriptions.small_pairs()))
    assert found
    strengths = [item.strength for item in found.values()]
    assert strengths == sorted(strengths, reverse=True)
    assert all(" redescriptions; the best: " in item.words for item in found.values())
