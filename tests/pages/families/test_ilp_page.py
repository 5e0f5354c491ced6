"""The page Relational rules: from the form to the result, and a sentence for each mistake."""

from __future__ import annotations

import re
from decimal import Decimal

import pandas as pd
import pytest
from streamlit.testing.v1 import AppTest

from dpcore.demo import DEMOS
from dpcore.domain.schemas.schema import Schema
from dpcore.models.ilp.language.clause import Clause, Variable
from dpcore.models.ilp.language.hypotheses import condition_texts
from dpcore.models.ilp.released.ilp_reading import clause_texts
from dpcore.models.readable import readable
from dpcore.models.released import parse_model
from pages.components.families.ilp import ilp_result as result
from pages.components.families.shared import downloads
from pages.components.kit import markup
from pages.components.visitor import access
from tests.support.pages.family_pages import by_hand
from tests.support.pages.page_tools import (
    at_run,
    button,
    checked,
    errors,
    figures,
    open_page,
    plain_words,
    press,
    words,
)
from tests.support.pages.ward_runs import add_ward, submit
from tests.support.results.small_theories import BOTH, a_car, release_of
from tests.support.tables.small_trains import SCHEMA, TARGET, trains
from tests.support.texts import lacking

PAGE = "relational_rules"
CONDITIONS = f"{SCHEMA.hash[:8]}-{TARGET}"


def add_trains(*, public: bool = False, budget: str = "9", delta: Decimal | None = None) -> str:
    info = access.service().add_dataset(trains(), SCHEMA, budget=Decimal(budget), delta=delta, public=public)
    return str(info.id)


# Configure


@pytest.mark.parametrize("entity", ["train", "pair"])
def test_what_is_not_protected_is_said_before_spending(entity: str) -> None:
    schema = SCHEMA.model_copy(update={"entity": entity})
    tables = {entity if name == "train" else name: frame for name, frame in trains().items()}
    access.service().add_dataset(tables, schema, budget=Decimal(9))
    told = [item.value for item in open_page(PAGE).warning]
    assert any("Protected is each pair alone" in text for text in told) == (entity == "pair")


def test_every_condition_is_offered_and_counted_live():
    add_trains()
    app = open_page(PAGE)
    offered = condition_texts(SCHEMA, TARGET)
    for table, own in offered.items():
        box = app.multiselect(key=f"set-ilp-conditions-{table}-{CONDITIONS}")
        assert list(box.options) == list(own.values())
    everything = sum(map(len, offered.values()))
    assert f"{everything} conditions make " in words(app)
    before = _possible(app)
    app.multiselect(key=f"set-ilp-conditions-train-{CONDITIONS}").set_value([]).run()
    assert f"{everything - 2} conditions make " in words(checked(app))
    assert _possible(app) < before


def _possible(app: AppTest) -> int:
    found = re.search(r"([\d,]+) possible clauses", words(app))
    assert found is not None
    return int(found[1].replace(",", ""))


def test_no_condition_gives_a_sentence_and_no_way_to_spend():
    add_trains()
    app = open_page(PAGE)
    for table in ("train", "car"):
        app.multiselect(key=f"set-ilp-conditions-{table}-{CONDITIONS}").set_value([])
    checked(app.run())
    assert "No condition is left" in errors(app)
    assert button(app, "Review and spend").disabled


def test_another_target_offers_its_own_values_and_conditions():
    add_trains()
    app = open_page(PAGE)
    checked(app.selectbox(key=f"target-{SCHEMA.hash[:8]}").set_value("year").run())
    key = f"{SCHEMA.hash[:8]}-year"
    assert app.selectbox(key=f"set-ilp-positive-{key}").value == "(1950, 1999]"
    box = app.multiselect(key=f"set-ilp-conditions-train-{key}")
    assert list(box.options) == ["direction = west", "direction = east"]
    assert not errors(app)


def test_data_of_one_table_are_told_apart_and_work():
    add_ward()
    app = open_page(PAGE)
    assert "one table only" in words(app)
    assert "set-ilp-variables" not in {item.key for item in app.number_input}
    assert "Rehearsal on synthetic data" in words(press(app, "Rehearse"))


# How many people it takes


def test_too_few_people_are_told_so_in_amber():
    add_trains(delta=Decimal(0))
    app = open_page(PAGE)
    assert '"fg-banner amber"' not in words(app)
    checked(app.text_input(key="epsilon").set_value("0.08").run())
    assert "That is too few" not in words(app)
    assert "more than there can be" in words(app)
    checked(app.text_input(key="epsilon").set_value("0.001").run())
    assert not lacking(words(app), "That is too few", '"fg-banner amber"')


# Result


def test_the_file_of_clauses_writes_them_over_the_names_in_the_records(monkeypatch):
    """As JSON and the program do, though people read units and labels."""
    release, twins = release_of(*BOTH), []
    told = readable(release)
    monkeypatch.setattr(downloads, "render", lambda *given: twins.append(given[-1]))
    result._files(told, parse_model(told), "files")
    assert twins[0]["prolog"].tolist() == [clause.prolog for clause in clause_texts(release)]
    assert "weight_above(A, 3.5)" in twins[0]["prolog"][0]


def test_a_clause_that_does_not_predict_is_marked(monkeypatch):
    text = plain_words(by_hand(monkeypatch, release_of(*BOTH)))
    assert text.count("✗ does not predict") == 1
    assert not lacking(text, "✓ predicts direction = east", markup.text("negative_counts"))
    assert '<span class="neg">−4</span> ±12' in text
    assert "No clause predicts" not in text


def _compared() -> AppTest:
    """What the page shows when the methods that it offers were compared once each."""
    app = open_page(PAGE)
    app.number_input(key="compare-repeats-ilp").set_value(1)
    button(app, "Compare methods").click().run()
    app.session_state["methods-ilp"].thread.join(120)
    return checked(app.run())


def test_methods_are_compared_with_a_tree_of_the_main_table():
    add_trains(public=True)
    app = _compared()
    assert not app.error
    text = words(app)
    assert "an ordinary tree without privacy that sees the main table alone" in text
    assert re.search(r"measured on \d+ records set aside: so few that", text)


def test_trains_without_a_column_but_the_target_are_compared_without_a_tree():
    """So are those of the demonstration: a tree that sees the main table has nothing to ask."""
    bare = Schema.from_mapping(
        SCHEMA.model_dump(mode="json") | {"columns": [SCHEMA.columns[0].model_dump(mode="json")]}
    )
    access.service().add_dataset(trains(), bare, budget=Decimal(9), public=True)
    app = _compared()
    assert not app.error
    assert "Accuracy on records set aside" in words(app)
    assert "ordinary tree" not in words(app)


# A made-up case


def test_a_made_up_case_is_marked_and_can_be_drawn_anew(monkeypatch):
    release = release_of(*BOTH)
    app, key = by_hand(monkeypatch, release), f"release-{release.id}"
    assert "Made up from the rule and the schema. Nobody's record." in plain_words(app)
    first = _made_up(app)
    assert "short" in first
    assert _made_up(press(app, key=f"{key}-another")) != first


def _made_up(app: AppTest) -> str:
    return next(item.value for item in app.get("html") if "<caption>car: " in str(item.value))


def test_the_clause_of_a_made_up_case_can_be_chosen(monkeypatch):
    release = release_of(*BOTH)
    app, key = by_hand(monkeypatch, release), f"release-{release.id}"
    app.selectbox(key=f"{key}-made-up-clause").set_value(1).run()
    years = [
        int(re.search(r'<th scope="row">(\d+)</th>', str(item.value))[1])
        for item in checked(app).get("html")
        if "<caption>The train</caption>" in str(item.value)
    ]
    assert years
    assert all(1900 <= year <= 1950 for year in years)


def test_an_impossible_clause_has_no_made_up_case(monkeypatch):
    """An open car, and no car at all."""
    both = Clause(variables=(a_car("roof = open"), Variable(table="car", negated=True)))
    assert "No case that the schema allows" in plain_words(
        by_hand(monkeypatch, release_of((both, (1, 2), True), (None, (3, 4), False)))
    )


def test_trains_of_the_demonstration_are_drawn():
    demo = DEMOS["trains"]()
    frames = {demo.schema.entity: demo.frame, **demo.children}
    info = access.service().add_dataset(frames, demo.schema, budget=Decimal(9), public=True)
    app = at_run(PAGE, submit(info.id, "ilp", "3", "direction", max_literals=2))
    drawn = [spec for spec in figures(app) if "wheels of the engine" in spec]
    assert len(drawn) == 2  # The made-up one, and the one to be edited.


# Try a case


def test_a_case_starts_from_the_made_up_one_of_its_clause(monkeypatch):
    release = release_of(*BOTH)
    app, key = by_hand(monkeypatch, release), f"release-{release.id}"
    assert "Clause 1 covers it" in _titles(app)
    app.selectbox(key=f"{key}-try-start").set_value(-1).run()
    assert "2 answers are possible" in _titles(checked(app)), "no car, but the year is not known"
    answer = next(item.value for item in app.success if "Noisy chance" in item.value)
    assert "What is not known decides which" in answer
    assert "Clause 2 covers it" in _titles(checked(app.number_input(key=f"{key}-try--1-year").set_value(1920).run()))
    assert "No clause covers it" in _titles(checked(app.number_input(key=f"{key}-try--1-year").set_value(1960).run()))
    app.number_input(key=f"{key}-try--1-year").set_value(1920).run()
    answer = next(item.value for item in app.success if "Noisy chance" in item.value)
    assert not lacking(answer, "**75%** (noise alone: 70% to 80%)", "Predicted: direction = west")
    assert "not the future of one train" in answer


def _titles(app: AppTest) -> str:
    return " ".join(item.proto.title for item in app.success)


def test_more_rows_than_there_can_be_are_told_apart():
    demo, most = trains(1), SCHEMA.children[0].max_rows_per_person
    rows = pd.DataFrame({"length": ["short"] * (most + 1), "train_id": 1})
    app = AppTest.from_function(_warn, kwargs={"schema": SCHEMA, "tables": demo | {"car": rows}})
    [warning] = checked(app.run()).warning
    assert not lacking(warning.value, "at most 3", "here are 4 of car")


def _warn(schema, tables):
    from pages.components.families.ilp import ilp_cases

    ilp_cases._too_many(schema, tables)


NASTY = Schema.from_mapping(
    {
        "name": "nasty",
        "entity": "pa*ti*ent",
        "max_rows": 900,
        "privacy_unit": {"column": "id"},
        "columns": [
            {"name": "<b>ill</b>", "type": "boolean", "target": True},
            {"name": "a*b*c", "type": "categorical", "categories": ["<i>x</i>", "*y*"]},
        ],
        "children": [
            {
                "name": "d*ru*g",
                "max_rows_per_person": 2,
                "columns": [{"name": "<u>kind</u>", "type": "categorical", "categories": ["<s>", "%\\'"]}],
            }
        ],
    }
)


def test_names_of_a_schema_are_never_markup():
    people = pd.DataFrame({"id": range(400), "<b>ill</b>": ["yes", "no"] * 200, "a*b*c": ["<i>x</i>", "*y*"] * 200})
    drugs = pd.DataFrame({"id": range(400), "<u>kind</u>": ["<s>", "%\\'"] * 200})
    info = access.service().add_dataset({"pa*ti*ent": people, "d*ru*g": drugs}, NASTY, budget=Decimal(9), public=True)
    app = open_page(PAGE)
    assert not errors(app)
    labels = [item.proto.label for item in app.expander] + [item.label for item in app.selectbox]
    run_id = submit(info.id, "ilp", "3", "<b>ill</b>", clauses=1)
    app = at_run(PAGE, run_id)
    labels += [item.label for item in (*app.selectbox, *app.number_input)]
    html = "".join(str(item.value) for item in app.get("html"))
    for tag in ("<b>ill", "<i>x", "<u>kind", "<s>"):
        assert tag not in html
        assert all(tag not in spec for spec in figures(app))
    for label in labels:
        assert not re.search(r"(?<!\\)\*(ru|ti|b)", label), label


# Releases and files


def test_files_hold_the_clauses(monkeypatch):
    given = []
    monkeypatch.setattr(downloads, "render", lambda *content: given.append(content))
    release = release_of(*BOTH)
    by_hand(monkeypatch, release)
    [(shown_release, _, _, held, (program,), twin)] = given
    assert shown_release.stored == release
    assert held == "the clauses"
    assert (program.ending, program.label) == ("pl", "Prolog")
    assert "direction(T, east) :-" in program.content
    assert list(twin["noisy count: east"]) == [310, 60, -4]
