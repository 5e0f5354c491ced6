"""Every page in Streamlit's own test harness: what it shows, and a sentence for each mistake."""

from __future__ import annotations

import re
from datetime import UTC, datetime
from decimal import Decimal

import pandas as pd
import pytest
from streamlit.testing.v1 import AppTest

from dpcore.domain.schemas.origins import INFERRED
from dpcore.domain.schemas.schema import Schema
from dpcore.intake.columns import category_text, schema_columns, schema_rows
from dpcore.models.released import parse_model
from dpcore.released.quality import operating_points, verdict
from dpcore.report.names import RULE_LIST_SAMPLERS
from dpcore.service import Service
from dpcore.workspace.ledger.requests import RunRequest, RunStatus
from pages.components.families.forest import forest_inputs
from pages.components.families.rule_list import rule_list_inputs
from pages.components.kit import markup, schema_view
from pages.components.kit.texts import METHODS, texts
from pages.components.lessons import course
from pages.components.run import meter
from pages.components.visitor import access
from tests.support.pages.page_tools import (
    ROOT,
    at_run,
    bring,
    button,
    checked,
    errors,
    look_at,
    open_page,
    press,
    words,
)
from tests.support.pages.ward_runs import SCHEMA, add_ward, balance, fit, quote, ward
from tests.support.rows import for_each
from tests.support.texts import lacking

PAGES = ("data_sets", "rule_list", "tree", "forest", "relational_rules", "releases", "learn", "class_room", "custodian")
GOOD = "age,sex,died\n" + "\n".join(
    f"{20 + i % 80},{'male' if i % 3 else 'female'},{'yes' if i % 5 == 0 else 'no'}" for i in range(200)
)


# Every page


@pytest.mark.parametrize("name", PAGES)
def test_each_page_stands_on_an_empty_installation(name):
    assert "One local user" in words(open_page(name))


@pytest.mark.parametrize("name", PAGES)
def test_each_page_shows_the_meter_and_the_roles(name):
    add_ward()
    text = words(open_page(name))
    assert not lacking(text, "Privacy budget", "custodian", "analyst")


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
    html = meter.meter_html("x", price.balance, price.balance, price)
    assert "Over budget: short by ε 0.30." in html
    assert "more like it" not in html


def test_meter_escapes_the_name_of_a_data_set():
    assert "<script>" not in meter.meter_html("<script>", *[balance("3", "1", "2")] * 2)


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


def test_the_conditional_guarantee_is_said_before_spending():
    dataset_id = add_ward()
    access.service().allow_conditional(dataset_id, True, note="a trial")
    app = open_page("rule_list")
    app.radio(key="sampler").set_value("mcmc").run()
    assert "conditional on convergence" in "".join(item.value for item in app.warning)
    assert "provided that the sampler has converged" in words(press(app, "Review and spend"))
    assert "The custodian allows Markov chains on this data set" in words(app)


def test_a_markov_chain_on_private_records_says_who_can_allow_it():
    add_ward()
    app = open_page("rule_list")
    app.radio(key="sampler").set_value("mcmc").run()
    assert "only the custodian of the data set can allow them" in errors(checked(app))
    assert button(app, "Review and spend").disabled
    assert not errors(checked(app.radio(key="sampler").set_value("pool").run()))
    assert not button(app, "Review and spend").disabled


def test_the_review_names_everything_and_spends_once():
    dataset_id = add_ward()
    app = open_page("rule_list")
    app.radio(key="sampler").set_value("pool").run()
    app.number_input(key="set-pool").set_value(500).run()
    text = words(press(app, "Review and spend"))
    for part in (
        "Bayesian rule list",
        "ward",
        "died",
        "ε 0.50",
        "ε 3.00 left",
        "This run and 5 more like it fit.",
        "Kind of guarantee: unconditional",
        "odds",
        "cannot be undone",
    ):
        assert part in text, part
    assert [item.label for item in app.button if "spend ε" in item.label] == ["Run and spend ε = 0.50"]
    app.button(key="spend").click().run()
    assert access.service().balance(dataset_id).left == Decimal("2.5")
    assert len(access.service().runs(dataset_id)) == 1


def test_a_run_that_another_tab_made_unaffordable_is_refused_in_words():
    dataset_id = add_ward(budget="0.6")
    app = open_page("rule_list")
    button(app, "Review and spend").click().run()
    fit(dataset_id)
    assert "left" in errors(press(app, key="spend"))
    assert len(access.service().runs(dataset_id)) == 1


def test_the_rehearsal_is_free_and_marked():
    dataset_id = add_ward()
    app = open_page("rule_list")
    app.radio(key="sampler").set_value("pool").run()
    app.number_input(key="set-pool").set_value(500).run()
    text = words(press(app, "Rehearse"))
    assert not lacking(text, "Rehearsal on synthetic data", "Everyone else")
    assert access.service().balance(dataset_id).left == Decimal(3)
    assert not access.service().releases(dataset_id)


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
    dataset_id = add_ward()
    status = RunStatus(
        id="a-run",
        state=state,
        step="choosing a list",
        done=1,
        total=2,
        release_id=None,
        message="A fixed sentence.",
        charged=True,
        analyst="local",
        created=datetime(2026, 1, 2, tzinfo=UTC),
        request=RunRequest(dataset_id=dataset_id, target="died", epsilon=Decimal("0.5")),
    )
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


def test_releases_reopen_for_free_and_compare():
    dataset_id = add_ward()
    fit(dataset_id, "0.5")
    fit(dataset_id, "0.6")
    before = access.service().balance(dataset_id)
    app = open_page("releases")
    text = words(app)
    assert not lacking(text, "<caption>Quality</caption>", "<caption>Certificates</caption>", "≠ differs")
    assert access.service().balance(dataset_id) == before


def test_results_with_and_without_a_hold_out_check_can_be_compared():
    dataset_id = add_ward()
    fit(dataset_id)
    fit(dataset_id, evaluate=False)
    text = words(open_page("releases"))
    name = "On other people, at no extra cost"
    assert f'<th scope="row">{name}</th><td>does not apply</td><td>hold-out' in text


# Custodian


def upload(name: str, content: bytes) -> AppTest:
    app = open_page("custodian")
    return bring(app, "Data file", name, content)


def by_schema(content: str, schema: str = SCHEMA.to_yaml(), name: str = "data.csv") -> AppTest:
    app = upload(name, content.encode())
    app.segmented_control(key="intake-way").set_value("Write or bring a schema (YAML or JSON)").run()
    app.text_area(key="intake-yaml").set_value(schema)
    return press(app, "Check and store")


def test_a_good_file_with_a_schema_is_stored_and_selected():
    app = by_schema(GOOD)
    assert "is stored" in words(app)
    [info] = access.service().datasets()
    assert not info.public
    assert app.sidebar.selectbox[0].value == info.id


@pytest.mark.parametrize(
    ("content", "sentence"),
    [
        (b"", "The file is empty"),
        ("größe,age\n1,2\n".encode("latin-1"), "UTF-8"),
        (b"a,a,b\n1,2,3\n", "must be distinct"),
        (b"a,,b\n1,2,3\n", "no name"),
        (",".join(f"c{i}" for i in range(2000)).encode() + b"\n", "2000 columns"),
    ],
)
def test_a_file_whose_header_cannot_be_used_gives_a_sentence(content, sentence):
    assert sentence in errors(upload("data.csv", content))


@pytest.mark.parametrize(
    ("content", "sentence"),
    [
        ("age,sex,died\n1,2,3,4,5\n" * 1, "Line 2"),
        ('age,sex,died\n50,"male,yes\n', "well-formed"),
        ("age,sex,died\n", "no rows"),
        ("age,sex\n50,male\n", "'died'"),
        ("age,sex,died\n" + "50,male,yes\n" * 2001, "more rows"),
        ("age,sex,died\n" + "50,male,\n" * 50, "'died'"),
    ],
)
def test_a_file_that_does_not_fit_gives_a_sentence_and_stores_nothing(content, sentence):
    app = by_schema(content)
    assert sentence in errors(app)
    assert not access.service().datasets()
    assert app.text_area(key="intake-yaml").value == SCHEMA.to_yaml()


@pytest.mark.parametrize(
    ("schema", "sentence"),
    [
        ("", "Paste a schema"),
        ("a: [", "not valid YAML"),
        ("just words", "valid"),
        (SCHEMA.to_yaml().replace("max_rows: 2000", "max_rows: -1"), "max_rows"),
    ],
)
def test_a_schema_that_cannot_be_used_gives_a_sentence(schema, sentence):
    assert sentence in errors(by_schema(GOOD, schema))


def test_a_schema_file_that_is_not_utf_8_gives_a_sentence():
    app = upload("data.csv", GOOD.encode())
    app.segmented_control(key="intake-way").set_value("Write or bring a schema (YAML or JSON)").run()
    text = SCHEMA.to_yaml().replace("Invented", "Größe:")
    bring(app, "or a schema file", "schema.yaml", text.encode("latin-1"))
    assert "The schema file is not UTF-8 text." in errors(app)
    bring(app, "or a schema file", "schema.yaml", SCHEMA.to_yaml().encode())
    assert not errors(app)
    assert app.text_area(key="intake-yaml").value == SCHEMA.to_yaml()
    assert not access.service().datasets()


@pytest.mark.parametrize(("budget", "sentence"), [("0", "above 0"), ("x", "must be a number")])
def test_a_budget_that_cannot_be_used_gives_a_sentence(budget, sentence):
    app = upload("data.csv", GOOD.encode())
    app.text_input(key="intake-budget").set_value(budget)
    button(app, "Check and store").click()
    assert f"Total ε: Epsilon {'must be ' if 'above' in sentence else ''}{sentence}" in errors(checked(app.run()))


@pytest.mark.parametrize(
    ("delta", "sentence"),
    [
        ("much", "Delta must be a number"),
        ("1", "at least 0 and below 1"),
        ("0.1", "too large"),
        ("1e-16", "15 decimal"),
    ],
)
def test_a_delta_that_cannot_be_used_gives_a_sentence_and_is_kept(delta, sentence):
    app = upload("data.csv", GOOD.encode())
    app.segmented_control(key="intake-way").set_value("Write or bring a schema (YAML or JSON)").run()
    app.text_area(key="intake-yaml").set_value(SCHEMA.to_yaml())
    app.text_input(key="intake-delta").set_value(delta)
    assert sentence in errors(press(app, "Check and store"))
    assert app.text_input(key="intake-delta").value == delta
    assert not access.service().datasets()
    app.text_input(key="intake-delta").set_value("1e-7")
    press(app, "Check and store")
    [info] = access.service().datasets()
    assert access.service().total_balance(info.id).delta == Decimal("1e-7")


def test_the_form_lists_what_is_missing_per_column():
    app = upload("data.csv", b"score,ward,died\n1,a,yes\n")
    text = errors(press(app, "Check and store"))
    assert not lacking(text, "Give the data set a name", "Column 'ward'", "Give the row limit")
    assert not access.service().datasets()


def test_values_are_looked_at_only_when_the_custodian_asks_for_that_column():
    app = upload("data.csv", b"ward,floor\nrubella,1\nmeasles,2\n" * 3)
    assert "rubella" not in words(app) + str(app.session_state.to_dict())
    look_at(app, "ward")
    draft = app.session_state["intake"]
    assert "rubella" in draft.tables[0].rows[schema_rows.CATEGORIES].iloc[0]
    assert draft.tables[0].rows[schema_rows.CATEGORIES].iloc[1] == ""


def test_the_form_stores_a_data_set():
    app = upload("data.csv", b"age,has_diabetes\n" + b"50,yes\n70,no\n" * 30)
    app.text_input(key="intake-name").set_value("Form study")
    app.number_input(key="intake-max-rows").set_value(100)
    assert "is stored" in words(press(app, "Check and store"))
    [info] = access.service().datasets()
    assert [column.type for column in info.schema] == ["integer", "boolean"]


# Parts


@for_each(
    ("change", "sentence"),
    [
        ({schema_rows.LOWER: None}, "lowest and its highest"),
        ({schema_rows.LOWER: 200.0}, "lower must be below upper"),
        ({schema_rows.BINS: None}, "number of bins"),
        ({schema_rows.CUTS: "40 x"}, "write cut points as numbers"),
        ({schema_rows.CUTS: "40 400"}, "edges must lie between"),
        ({schema_rows.TYPE: "ordinal"}, "list its categories"),
        ({schema_rows.TYPE: "ordinal", schema_rows.CATEGORIES: "a; a"}, "must be distinct"),
        ({schema_rows.TYPE: "ordinal", schema_rows.CATEGORIES: 'a; "b'}, "is not closed"),
    ],
)
def test_each_fault_of_a_column_is_named(change, sentence):
    rows = schema_rows.rows_of([{"name": "age", "type": "integer", "lower": 0, "upper": 110, "bins": 11}]).astype(
        object
    )
    for field, value in change.items():
        rows.at[0, field] = value
    _, [fault] = schema_columns.columns_of(rows)
    assert fault.startswith("Column 'age': ")
    assert sentence in fault


@for_each(
    ("text", "categories"),
    [
        ("a; b;c\nd;", ["a", "b", "c", "d"]),
        ('"a; b"; c', ["a; b", "c"]),
        ('say "x"; 5" pipe', ['say "x"', '5" pipe']),
        ('"say ""x"""', ['say "x"']),
    ],
)
def test_categories_are_split_at_semicolons_outside_quotes(text, categories):
    assert category_text.split_categories(text) == categories
    joined = category_text.join_categories(categories)
    assert category_text.split_categories(joined) == categories


def test_names_are_shown_as_they_are_whatever_they_hold():
    nasty = "a_b*c* [x](y) $5$ :red[z] <b>"
    shown = markup.plain(nasty)
    assert shown == r"a\_b\*c\* \[x\](y) \$5\$ \:red\[z\] \<b>"
    frame = ward().rename(columns={"died": nasty, "age": "<i>age</i>"})
    columns = [
        {"name": "<i>age</i>", "type": "integer", "lower": 20, "upper": 100, "bins": 8},
        {"name": nasty, "type": "boolean", "target": True},
    ]
    schema = Schema.from_mapping({"name": nasty, "max_rows": 2000, "columns": columns})
    info = access.service().add_dataset(frame, schema, budget=Decimal(3))
    run_id = fit(info.id, "2.5", nasty)
    pages = (at_run("rule_list", run_id), open_page(), open_page("releases"))
    html = "".join(item.value for app in pages for item in app.get("html"))
    assert "&lt;i&gt;age&lt;/i&gt;" in html
    assert "<i>age" not in html
    assert "$ :red[z] <b>" not in html
