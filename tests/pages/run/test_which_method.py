"""The page that proposes a method and an epsilon: from public facts alone, and set up by one press."""

from __future__ import annotations

from collections.abc import Callable
from decimal import Decimal

import numpy as np
import pytest

from dpcore.domain.schemas.schema import Schema
from dpcore.models.registry import LEARNERS
from dpcore.models.released import parse_model
from dpcore.models.summaries.released.reading import total_of
from dpcore.privacy.budgets import USUAL_EPSILONS
from dpcore.released.noisy_counts import noise_intervals
from dpcore.released.plan import RunPlan
from dpcore.service import Service, advice
from dpcore.service.advice import COUNT, DESCRIBE, PREDICT, RELATE, AdviceQuestion
from dpcore.workspace.ledger.requests import Quote, RunRequest
from dpcore.workspace.people.users import User
from pages.components.visitor import access
from tests.support.pages.page_tools import button, checked, open_page, press, words
from tests.support.pages.page_visitors import ANN
from tests.support.pages.ward_runs import SCHEMA, add_ward, submit
from tests.support.rows import for_each
from tests.support.tables.small_trains import SCHEMA as TRAINS


@for_each(
    ("question", "schema", "family"),
    [
        (AdviceQuestion(COUNT), SCHEMA, "summaries"),
        (AdviceQuestion(RELATE), SCHEMA, "redescriptions"),
        (AdviceQuestion(DESCRIBE, "died"), SCHEMA, "rule_list"),
        (AdviceQuestion(DESCRIBE, "died", tables=True), SCHEMA, "rule_list"),
        (AdviceQuestion(DESCRIBE, "direction", tables=True), TRAINS, "ilp"),
        (AdviceQuestion(DESCRIBE, "direction"), TRAINS, "rule_list"),
        (AdviceQuestion(PREDICT, "died"), SCHEMA, "ebm"),
        (AdviceQuestion(PREDICT, "died", by_hand=True), SCHEMA, "tree"),
        (AdviceQuestion(PREDICT, "age", by_hand=True), SCHEMA, "ebm"),
    ],
)
def test_the_aim_and_the_schema_choose_the_method(question: AdviceQuestion, schema: Schema, family: str) -> None:
    assert advice.family_for(question, schema) == family
    assert family not in advice.others_for(question, schema)


def quoted(dataset_id: str, algorithm: str = "rule_list", target: str = "died"):
    def at(epsilon: Decimal) -> Quote:
        asked.append(epsilon)
        request = RunRequest(dataset_id=dataset_id, algorithm=algorithm, target=target, epsilon=epsilon)
        return access.service().quote(request)

    asked: list[Decimal] = []
    at.asked = asked  # type: ignore[attr-defined]
    return at


def test_the_epsilon_is_the_smallest_that_shows_the_groups_wanted() -> None:
    at = quoted(add_ward(budget="20"))
    whole = Decimal(1)
    found = {
        group: advice.advise(AdviceQuestion(DESCRIBE, "died", group=Decimal(group), part=whole), SCHEMA, at)
        for group in ("0.3", "0.1", "0.03")
    }
    chosen = [found[group].epsilon for group in found]
    assert chosen == sorted(chosen)
    assert chosen[0] < chosen[-1]
    for group, told in found.items():
        if told.cautions:
            continue
        assert _half_width(told.quote.plan, Decimal(group) * SCHEMA.max_rows) <= 0.05
        below = [stop for stop in map(Decimal, USUAL_EPSILONS) if stop < told.epsilon]
        if below:
            assert _half_width(at(below[-1]).plan, Decimal(group) * SCHEMA.max_rows * Decimal("0.9")) > 0.045
    assert len(set(at.asked)) < len(USUAL_EPSILONS), "not every epsilon is tried"  # type: ignore[attr-defined]


def _half_width(plan: RunPlan, group: Decimal) -> float:
    """The widest interval of a chance, of those printed for a group of so many, of whom some are set aside."""
    [noise, *_], aside = plan.count_noise, plan.schema.holdout_percent if plan.evaluated else 0
    people = int(group * (100 - aside) / 100)
    first = np.arange(0, people + 1)
    rest = np.zeros((len(first), len(plan.classes) - 2), dtype=np.int64)
    counts = np.column_stack([first, people - first, rest])
    ends = noise_intervals(counts, (1.0,) * len(plan.classes), noise.scale, gaussian=noise.gaussian)
    return float((ends[..., 1] - ends[..., 0]).max() / 2)


@for_each(("algorithm", "aim"), [("rule_list", DESCRIBE), ("tree", PREDICT)])
@for_each(("target", "classes"), [("died", 2), ("sex", 3)])
def test_in_the_group_that_is_told_noise_moves_a_chance_by_5_points_at_most(
    algorithm: str, aim: str, target: str, classes: int
) -> None:
    columns = [column for column in SCHEMA.model_dump(mode="json")["columns"] if column["name"] != target]
    outcome = {"name": target, "type": "categorical", "categories": ["a", "b", "c"][:classes]}
    schema = Schema.from_mapping({"name": "w", "max_rows": 30_000, "columns": [outcome, *columns]})
    learner, question = LEARNERS[algorithm], AdviceQuestion(aim, target, by_hand=True)
    for epsilon in ("0.3", "1", "5"):
        plan = learner.plan(schema, target, Decimal(epsilon), {})
        assert plan.evaluated
        group = advice.group_needed(question, algorithm, plan)
        assert 0.035 < _half_width(plan, Decimal(group)) <= 0.05


@pytest.mark.parametrize(("budget", "named"), [("0.05", True), ("0.1", False)])
def test_a_forest_is_named_where_rows_times_epsilon_are_few(budget: str, named: bool) -> None:
    question = AdviceQuestion(PREDICT, "died", part=Decimal(1))
    told = advice.advise(question, SCHEMA, quoted(add_ward(budget=budget), "ebm"))
    assert (told.family, told.epsilon) == ("ebm", Decimal(budget))
    assert any("a forest ranks them better" in caution for caution in told.cautions) is named
    assert "forest" in told.others


def test_rows_are_those_that_a_first_look_told_with_noise() -> None:
    at = quoted(add_ward(budget="20"))
    question, most = AdviceQuestion(DESCRIBE, "died", group=Decimal("0.1"), part=Decimal(1)), SCHEMA.max_rows
    limit, fewer = advice.advise(question, SCHEMA, at), advice.advise(question, SCHEMA, at, most // 5)
    assert fewer.epsilon > limit.epsilon
    assert f"There are at most {most:,} rows, which is public." in limit.reasons
    assert f"There are about {most // 5:,} rows, as a first look told." in fewer.reasons
    assert (
        f"There are about {most:,} rows, as a first look told." in advice.advise(question, SCHEMA, at, most + 9).reasons
    )


def test_the_page_takes_the_rows_of_the_most_exact_first_look() -> None:
    dataset_id = add_ward(budget="20")
    submit(dataset_id, "summaries", "1", "")
    exact = access.service().releases(dataset_id)[0]
    submit(dataset_id, "summaries", "0.001", "")
    app = open_page("which_method")
    told = words(checked(app.radio(key="guide-aim").set_value(COUNT).run()))
    rows = round(total_of(parse_model(exact)).value)
    assert f"There are about {rows:,} rows, as a first look told." in told


def test_rows_that_no_first_look_tells_well_are_those_that_are_allowed() -> None:
    submit(add_ward(budget="20"), "summaries", "0.001", "")
    app = open_page("which_method")
    app.radio(key="guide-aim").set_value(COUNT)
    assert f"There are at most {SCHEMA.max_rows:,} rows, which is public." in words(checked(app.run()))


def test_it_never_costs_more_than_is_allowed_and_says_what_that_hides() -> None:
    at = quoted(add_ward(budget="2"))
    told = advice.advise(AdviceQuestion(DESCRIBE, "died", group=Decimal("0.001"), part=Decimal("0.1")), SCHEMA, at)
    assert Decimal("0.09") < told.quote.share <= Decimal("0.1")
    [caution] = told.cautions
    assert "choose larger groups" in caution


def test_what_keeps_every_run_from_being_made_is_told_as_it_is() -> None:
    dataset_id = add_ward(budget="20")
    access.installation().retire_dataset(dataset_id, note="the study has ended")
    told = advice.advise(AdviceQuestion(DESCRIBE, "died"), SCHEMA, quoted(dataset_id))
    [caution] = told.cautions
    assert caution.startswith("This data set is retired")
    assert "You have" not in " ".join(told.reasons)


def test_a_limit_on_one_run_is_not_told_as_a_lack_of_budget() -> None:
    dataset_id = add_ward(budget="20")
    access.installation().raise_caps(dataset_id, run_cap=Decimal("0.000001"))
    [caution] = advice.advise(AdviceQuestion(DESCRIBE, "died"), SCHEMA, quoted(dataset_id)).cautions
    assert "is allowed for one run" in caution


@pytest.mark.parametrize(
    ("run_cap", "part", "told"),
    [
        ("0.05", "1", "At ε = 0.05, the most that one run may cost here, "),
        (None, "1", "At ε = 0.10, the most that is left, "),
        (None, "0.3", "At ε = 0.052047, the most at this size, "),
    ],
)
def test_what_keeps_a_run_from_costing_more_is_named(run_cap: str | None, part: str, told: str) -> None:
    dataset_id = add_ward(budget="0.1")
    if run_cap is not None:
        access.installation().raise_caps(dataset_id, run_cap=Decimal(run_cap))
    question = AdviceQuestion(COUNT, group=Decimal("0.00001"), part=Decimal(part))
    [caution] = advice.advise(question, SCHEMA, quoted(dataset_id, "summaries", "")).cautions
    assert caution.startswith(told)


@pytest.mark.parametrize(
    ("happens", "told", "asks"),
    [
        (lambda s, d: s.retire_dataset(d, note="it has ended"), "This data set is retired", False),
        (lambda s, d: s.freeze(d, ANN.name, "a break"), "frozen by the custodian. The reason given: a break", False),
        (lambda s, d: s.grant(d, ANN.name, Decimal("0.001"), "a pilot"), "ask for more budget", True),
    ],
)
def test_more_budget_is_asked_for_only_where_that_would_help(
    happens: Callable[[Service, str], object], told: str, asks: bool, visit: Callable[[User], None]
) -> None:
    happens(access.installation(), add_ward(budget="20"))
    visit(ANN)
    app = open_page("which_method")
    shown = words(checked(app.radio(key="guide-aim").set_value(DESCRIBE).run()))
    assert told in shown
    assert ("Not even a small run" in shown) is asks
    assert ("Ask the custodian" in [item.label for item in app.button]) is asks


def test_a_press_opens_the_page_with_the_form_filled_in() -> None:
    add_ward(budget="20")
    app = open_page("which_method")
    checked(app.radio(key="guide-aim").set_value(DESCRIBE).run())
    assert "Rule list, ε" in words(app)
    press(app, key="guide-go")
    assert app.title[0].value == "Rule list"
    key = f"target-{SCHEMA.hash[:8]}"
    assert app.session_state[key] == "died"
    assert Decimal(app.text_input(key="epsilon").value) == Decimal(app.session_state["epsilon"])
    assert button(app, "Review and spend")
    assert not app.error


def test_counting_in_groups_opens_a_first_look_in_these_groups() -> None:
    add_ward(budget="20")
    app = open_page("which_method")
    checked(app.selectbox(key=f"guide-{COUNT}-{SCHEMA.hash[:8]}").set_value("died").run())
    press(app, key="guide-go")
    assert app.title[0].value == "First look"
    assert app.selectbox(key=f"set-look-by-{SCHEMA.hash[:8]}").value == "died"
