"""What releases say of columns, and how far two of them agree: by models made by hand."""

from __future__ import annotations

from collections.abc import Sequence
from decimal import Decimal

import numpy as np
import pytest

from dpcore.domain.conditions import Condition
from dpcore.domain.schemas.schema import Schema
from dpcore.models.findings import Finding, agreement, findings
from dpcore.models.ilp.language.clause import Clause
from dpcore.models.registry import get_learner
from dpcore.models.rules.released.rule_list_model import Rule, RuleListModel
from dpcore.models.summaries.released.summary_model import NoisyTable, SummaryModel
from dpcore.models.summaries.released.summary_parameters import axes_of
from dpcore.released.release import Release, make_release
from pages.components.releases.found import _rows as found_rows
from tests.support.pages.ward_runs import SCHEMA
from tests.support.results import small_redescriptions
from tests.support.results.small_theories import ATOMS, BOTH, release_of
from tests.support.tables.small_tables import ward

LABELLED = ward(
    {
        "name": "dis_code",
        "label": "Discharge",
        "type": "categorical",
        "categories": ["1", "11"],
        "labels": {"1": "home", "11": "died"},
    },
    {"name": "age", "type": "integer", "lower": 20, "upper": 60, "edges": [40, 50]},
    {"name": "ill", "type": "boolean"},
    name="stays",
    max_rows=2000,
)


def a_look(*tables: Sequence[float], deviation: float = 5.0, schema: Schema = LABELLED) -> Release:
    """A first look with these counts of the columns of a schema."""
    plan = get_learner("summaries").plan(schema, "", Decimal(1), {})
    noisy = tuple(
        NoisyTable(axes=(place,), counts=tuple(map(float, counts)), deviation=deviation)
        for place, counts in enumerate(tables)
    )
    axes, sizes = axes_of(schema, None), tuple(map(len, tables))
    model = SummaryModel(axes=axes, sizes=sizes, tables=noisy, gaussian=True, count_margin=10)
    return make_release("summaries", plan, model, secure=True)


AGES = 20, 900, 80, 0


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


def test_a_rule_gives_its_column_a_direction() -> None:
    found = findings(a_list(rule(0.6, 300, OLD), rule(0.1, 700)))
    assert list(found) == ["age"]
    assert found["age"].words == "rises with it, 10% to 60%"
    assert found["age"].strength == pytest.approx(0.5)
    assert findings(a_list(rule(0.6, 300, YOUNG), rule(0.1, 700)))["age"].words == "falls with it, 60% to 10%"


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


def test_a_first_look_and_a_model_speak_of_the_same_column() -> None:
    """Both name it as the records do, whatever its label: one row of what they say, not two."""
    plan = get_learner("rule_list").plan(LABELLED, "ill", Decimal(1), {})
    died = Condition(column="dis_code", first=1, last=1)
    model = RuleListModel(
        classes=("no", "yes"),
        rules=(rule(0.6, 300, died), rule(0.1, 700)),
        count_margin=3,
        antecedent_count=9,
        evaluation=None,
    )
    releases = a_look((200, 800, 0, 0), AGES, (700, 300, 0, 0)), make_release("rule_list", plan, model, secure=True)
    told = [findings(release) for release in releases]
    [both] = [items for label, items in found_rows(told) if label == "Discharge"]
    assert None not in both
    assert "highest for died" in told[1]["dis_code"].words


def test_first_looks_disagree_only_where_the_noise_does_not_explain_it() -> None:
    one, other = (0.7, 0.0, 0.3, 0.0), (0.0, 0.6, 0.0, 0.4)
    counts = [tuple(1000 * share for share in own) for own in (one, other)]
    sure = [findings(a_look((1000, 0, 0, 0), AGES, own)) for own in counts]
    assert agreement([own["ill"] for own in sure]) == "opposite"

    def of(shares: Sequence[float], reach: float) -> Finding:
        profile = np.array(shares)
        return Finding("ill", "ill", "", 1.0, profile, (profile - reach, profile + reach))

    assert agreement([of(one, 0.36), of(other, 0.36)]) == "unclear"
    assert agreement([of(one, 0.34), of(other, 0.34)]) == "opposite"
    assert agreement([of(one, 0.36), of(one, 0.36), of(other, 0.3)]) == "opposite"


def test_what_the_noise_hides_of_a_first_look_says_nothing() -> None:
    found = findings(a_look((5000, 0, 0, 0), (1500, 1400, 1300, 800), (1400, 1300, 1200, 1100), deviation=500.0))
    assert list(found) == ["dis_code"]


def test_whole_numbers_of_a_model_are_those_that_its_cells_hold() -> None:
    middle = Condition(column="age", first=3, last=3)
    found = findings(a_list(rule(0.6, 300, middle), rule(0.1, 700)))
    assert found["age"].words == "highest for 51 to 60 (60%), lowest for 20 to 30 (10%)"
