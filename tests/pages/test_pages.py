"""Every page in Streamlit's own test harness: what it shows, and a sentence for each mistake."""

from __future__ import annotations

import re
from decimal import Decimal

import pandas as pd
import pytest

from dpcore.domain.schemas.origins import INFERRED
from dpcore.domain.schemas.schema import Schema
from dpcore.models.released import parse_model
from dpcore.released.quality import operating_points, verdict
from dpcore.report.names import METHODS, RULE_LIST_SAMPLERS
from dpcore.service import Service
from pages.components.families.forest import forest_inputs
from pages.components.families.rule_list import rule_list_inputs
from pages.components.kit import schema_view
from pages.components.kit.markup import texts
from pages.components.lessons import course
from pages.components.run import meter
from pages.components.visitor import access
from tests.support.pages.family_pages import FAMILY_PAGES
from tests.support.pages.page_tools import ROOT, at_run, button, checked, errors, fill, open_page, press, words
from tests.support.pages.ward_runs import SCHEMA, add_ward, balance, fit, quote, run_status, ward
from tests.support.texts import lacking

PAGES = ("data_sets", "rule_list", "tree", "forest", "relational_rules", "releases", "learn", "class_room", "custodian")


# Every page


@pytest.mark.parametrize("name", PAGES)
def test_each_page_stands_on_an_empty_installation(name):
    assert "One local user" in words(open_page(name))


def test_no_help_text_is_left_over():
    source = "".join(path.read_text() for path in (ROOT / "pages").rglob("*.py"))
    stems = set(texts())
    by_choice = {
        f"{ {'redescriptions': 'pairs', 'ilp': 'ilp'}.get(family, 'method') }_{name}"
        for family, titles in METHODS.items()
        for name in titles
    }
    by_choice |= {f"antecedents_{source}" for source in rule_list_inputs.ANTECEDENTS}
    by_choice |= {f"sampler_{sampler}" for sampler in RULE_LIST_SAMPLERS}
    by_choice |= {f"sharing_{sharing}" for sharing in forest_inputs.SHARING}
    asked = {lesson.guess for lesson in course.LESSONS if lesson.guess} | {"repair"}
    by_choice |= {f"lesson_{name}_{part}" for name in asked for part in ("guess", "truth")}
    assert {stem for stem in stems - by_choice if stem not in source} == set()
    assert by_choice <= stems


# Meter


def test_meter_says_in_words_that_a_run_does_not_fit():
    dataset_id = add_ward(budget="1.2", delta="0")
    fit(dataset_id, "1")
    price = quote(dataset_id)
    html = meter.meter_html(price.balance, price.balance, price)
    assert not lacking(html, "This run does not fit.", "This run</span><b>41.6666 %", "Left</span><b>16.6666 %")


def test_meter_escapes_the_name_of_a_data_set():
    assert "<script>" not in meter.meter_html(*[balance("3", "1", "2")] * 2, sharing="<script>")


# Data sets


def test_data_sets_page_shows_the_public_domain_and_nothing_private():
    add_ward()
    app = open_page()
    assert "<td>20 to 100, in 8 bins; cut points: 30, 40, 50, 60, 70, 80, 90</td>" in words(app)
    assert not lacking(words(app), "<td>female, male</td>", "Private")
    assert "1500" not in words(app)
    assert "1,500" not in words(app)


def test_every_category_and_cut_point_can_be_read():
    columns = [
        {"name": "ward", "type": "categorical", "categories": [f"<{i}>" for i in range(40)]},
        {"name": "age", "type": "integer", "lower": 0, "upper": 100, "bins": 50},
        {"name": "score", "type": "real", "lower": 0, "upper": 1, "edges": [0.125, 0.5]},
    ]
    schema = Schema.from_mapping({"name": "wide", "max_rows": 10, "columns": columns})
    ward, age, score = (schema_view.domain(column) for column in schema)
    assert [f"&lt;{i}&gt;" in ward for i in range(40)] == [True] * 40
    assert "and 28 more" in ward
    assert all(f"{cut}" in re.split("[^0-9]+", age) for cut in range(2, 100, 2))
    assert score == "0 to 1, in 3 bins; cut points: 0.125, 0.5"


def test_a_result_on_a_schema_that_was_read_off_the_records_says_so():
    inferred = SCHEMA.model_copy(update={"origin": INFERRED})
    service = access.installation()
    dataset = service.add_dataset(ward(), inferred, budget=Decimal(3), public=True)
    text = words(at_run("rule_list", fit(dataset.id, "1")))
    assert not lacking(text, "Not private.", "read off the records", "<dt>Guarantee</dt><dd>none</dd>")
    fit(dataset.id, "1")
    text = words(open_page("releases"))
    assert '<th scope="row">Kind of guarantee</th><td>none</td><td>none</td>' in text
    assert "unconditional" not in text


def test_choosing_another_data_set_moves_the_meter():
    add_ward()
    other = SCHEMA.model_copy(update={"name": "second"})
    info = access.service().add_dataset(ward(), other, budget=Decimal(7))
    app = open_page()
    press(app, key=f"choose-{info.id}")
    assert app.sidebar.selectbox[0].value == info.id
    assert "ε 7.00" in app.sidebar.get("html")[-1].value


# Rule list


def test_an_empty_entry_means_the_last_one():
    add_ward()
    app = open_page("rule_list")
    checked(app.text_input(key="epsilon").set_value("0.7").run())
    checked(app.text_input(key="epsilon").set_value("").run())
    assert app.text_input(key="epsilon").value == "0.7"
    assert not errors(app)


def test_own_conditions_that_cannot_be_read_give_a_sentence():
    add_ward()
    app = open_page("rule_list")
    app.radio(key="antecedents").set_value("given").run()
    assert "not a public edge of 'age'" in errors(checked(app.text_area(key="given").set_value("age > 61").run()))
    assert not errors(checked(app.text_area(key="given").set_value("age > 60 and sex = male").run()))


@pytest.mark.parametrize(
    ("name", "chosen"),
    [
        ("rule_list", {"sampler": "mcmc"}),
        ("redescriptions", {"redescriptions-method": "alt_mcmc"}),
        ("redescriptions", {"redescriptions-method": "mcmc_tree_pair"}),
    ],
)
def test_the_conditional_guarantee_is_said_before_spending(name, chosen):
    own = FAMILY_PAGES[name]
    access.service().allow_conditional(own.add(), True, note="a trial")
    app = open_page(own.page)
    assert not app.warning
    assert "conditional on convergence" in "".join(item.value for item in fill(app, chosen).warning)
    review = words(press(app, "Review and spend"))
    assert "conditional on convergence" in review.partition("What you are about")[2]
    assert "The custodian allows Markov chains on this data set" in review


def test_a_markov_chain_on_private_records_says_who_can_allow_it():
    add_ward()
    app = open_page("rule_list")
    app.radio(key="sampler").set_value("mcmc").run()
    assert "only the custodian of the data set can allow them" in errors(checked(app))
    assert button(app, "Review and spend").disabled
    assert not errors(checked(app.radio(key="sampler").set_value("pool").run()))
    assert not button(app, "Review and spend").disabled


def test_a_run_that_another_tab_made_unaffordable_is_refused_in_words():
    dataset_id = add_ward(budget="0.6")
    app = open_page("rule_list")
    app.text_input(key="epsilon").set_value("0.5").run()
    button(app, "Review and spend").click().run()
    fit(dataset_id)
    assert "left" in errors(press(app, key="spend"))
    assert len(access.service().runs(dataset_id)) == 1


def test_a_run_of_another_data_set_selects_that_data_set():
    first = add_ward()
    other = SCHEMA.model_copy(update={"name": "second"})
    second = access.service().add_dataset(ward(), other, budget=Decimal(7)).id
    app = at_run("rule_list", fit(second))
    assert app.sidebar.selectbox[0].value == second
    assert "Finished." in words(app)
    app.sidebar.selectbox[0].set_value(first).run()
    assert app.sidebar.selectbox[0].value == first
    assert "Finished." not in words(checked(app))


def test_conditions_are_told_apart_also_where_a_name_holds_the_word_and():
    columns = [{"name": "salt and pepper", "type": "boolean"}, {"name": "y", "type": "boolean"}]
    schema = Schema.from_mapping({"name": "food", "max_rows": 2000, "columns": columns})
    people = pd.DataFrame({"salt and pepper": ["yes", "no"] * 500, "y": ["yes", "no"] * 500})
    info = access.service().add_dataset(people, schema, budget=Decimal(20))
    text = words(at_run("rule_list", fit(info.id, "10", "y")))
    assert "</span>salt and pepper = " in text
    assert 'class="fg-and"' not in text


STATES = {
    "queued": ("Waiting for a free worker", "Cancelling now is free"),
    "running": ("Choosing a list: 50% of the run is done", "does **not** give its ε back"),
    "failed": ("A fixed sentence.", "ε 0.50 spent."),
    "interrupted": ("A fixed sentence.", "ε 0.50 spent."),
    "cancelled": ("A fixed sentence.", "ε 0.50 spent."),
}


@pytest.mark.parametrize("state", STATES)
def test_every_state_of_a_run_is_explained(state, monkeypatch):
    status = run_status(add_ward(), "a-run", state, charged=True)
    monkeypatch.setattr(Service, "run", lambda *_: status)
    monkeypatch.setattr(Service, "runs", lambda *_, active=False: [status] if status.active or not active else [])
    app = open_page("rule_list")
    app.query_params["run"] = "a-run"
    checked(app.run())
    text = words(app) + "".join(item.text for item in app.get("progress"))
    for part in STATES[state]:
        assert part in text, part
    form_is_open = app.session_state["set-up-rule_list"]
    assert form_is_open != status.active, "only a run that was there first has closed the form"
    listed = words(open_page("releases"))
    assert status.active or "A fixed sentence." in listed


@pytest.mark.parametrize("sampler", ["mcmc", "pool"])
def test_the_course_of_a_chain_is_offered_where_there_is_one(sampler):
    run_id = fit(add_ward(public=True), sampler=sampler, mcmc_steps=1_000)
    app = at_run("rule_list", run_id)
    buttons = [own for own in app.button if own.label == "Run the chains"]
    assert len(buttons) == (sampler == "mcmc")
    for own in buttons:
        own.click().run()
        (shown,) = [table.value for table in checked(app).dataframe if "R-hat" in table.value]
        assert float(shown["R-hat"][0]) > 0.9
        assert "of 4 chains" in shown["Thesis's criterion met"][0]


def test_the_verdict_comes_first_and_a_threshold_is_moved():
    run_id = fit(add_ward(), "2.5")
    app = at_run("rule_list", run_id)
    text = "".join(str(item.value) for item in app.get("html"))
    model = parse_model(access.service().releases()[0])
    assert text.index(verdict(model.evaluation, "died", model.classes).headline) < text.index("fg-if")
    points = operating_points(model.evaluation, 1)
    slider = app.select_slider(key=f"run-{run_id}-threshold-{len(points)}")
    for place in (0, len(points) - 1):
        slider.set_value(place).run()
        assert f"From {slider.options[place]} on, among the people set aside" in words(checked(app))
    assert "Number needed to examine" in words(app)


# Releases


def test_results_with_and_without_a_hold_out_check_can_be_compared():
    dataset_id = add_ward()
    fit(dataset_id)
    fit(dataset_id, evaluate=False)
    text = words(open_page("releases"))
    name = "On other people, at no extra cost"
    assert f'<th scope="row">{name}</th><td>does not apply</td><td>hold-out' in text
