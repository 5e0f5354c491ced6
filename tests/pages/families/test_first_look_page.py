"""The page First look: from the form to the result, its tables and files, and a sentence for each mistake."""

from __future__ import annotations

import io
import re
from decimal import Decimal

import numpy as np
import pandas as pd
import pyarrow.parquet as pq
import pytest
from streamlit.testing.v1 import AppTest

from dpcore.domain.conditions import Condition
from dpcore.domain.schemas.schema import Schema
from dpcore.models.released import parse_model
from dpcore.models.summaries.released.crosstab import how_many
from dpcore.models.summaries.released.summary_words import count_words
from dpcore.models.summaries.released.synthesis import WHAT_IT_IS
from pages.components.families.shared.downloads import File
from pages.components.families.summaries import summary_files
from pages.components.families.summaries import summary_result as result
from pages.components.families.summaries.summary_state import STANDING_OUT, Look
from pages.components.visitor import access
from tests.support.pages.page_tools import (
    at_run,
    button,
    checked,
    errors,
    figures,
    fill,
    open_page,
    press,
    spent_on,
    words,
)
from tests.support.pages.ward_runs import SCHEMA, add_ward, submit, ward
from tests.support.texts import lacking

pytestmark = pytest.mark.usefixtures("one_by_one")

PAGE, OWN = "first_look", SCHEMA.hash[:8]
ALL = {"by": "died", "crosstabs": ["age by sex"]}
HOSTILE = "=cmd <b>*x*</b>"


def look(dataset_id: str, epsilon: str = "2", **parameters: object) -> str:
    return submit(dataset_id, "summaries", epsilon, "", **parameters)


def at_tab(run_id: str, name: str, tabs: int = 8) -> AppTest:
    """A result with one of its tabs open."""
    [release] = access.service().releases()
    return at_run(PAGE, run_id, {f"run-{run_id}-{release.id[:8]}-tabs-{tabs}": name})


def downloads(app: AppTest) -> list[str]:
    return [item.proto.label for item in app.get("download_button")]


# The form


def test_pairs_are_those_of_the_chosen_columns() -> None:
    add_ward()
    app = open_page(PAGE)
    pairs = app.multiselect(key=f"set-look-crosstabs-{OWN}")
    assert list(pairs.options) == ["age by sex", "age by died", "sex by died"]
    pairs.set_value(["age by sex"])
    app.multiselect(key=f"set-look-columns-{OWN}").set_value(["sex", "died"]).run()
    assert list(checked(app).multiselect(key=f"set-look-crosstabs-{OWN}").options) == ["sex by died"]
    assert not errors(app)


@pytest.mark.parametrize(
    ("chosen", "told"),
    [
        ({"set-look-columns-*": ["age", "sex"], "set-look-by-*": "died"}, "'died' is not among the columns"),
        ({"set-look-pairs": 50}, "There are 3 pairs of these columns"),
    ],
)
def test_what_cannot_be_counted_gives_a_sentence(chosen: dict[str, object], told: str) -> None:
    add_ward()
    app = fill(open_page(PAGE), chosen)
    assert told in errors(app)
    assert button(app, "Review and spend").disabled
    assert button(app, "Rehearse").disabled


# The result


def test_a_column_is_read_in_large() -> None:
    run_id = look(add_ward(), **ALL)
    app = at_run(PAGE, run_id)
    [choice] = [item for item in app.selectbox if item.label == "Look closer at"]
    choice.select("sex").run()
    text = words(checked(app))
    assert not lacking(text, "Shares: ", "sex by died")
    assert len(figures(app)) == 2
    rows = re.findall(r'<th scope="row">(female|male|other|missing)</th><td>([\d,]+)<br>', text)
    assert [value for value, _ in rows] == ["female", "male", "other", "missing"]
    assert abs(sum(int(count.replace(",", "")) for _, count in rows) - 1500) < 60


def test_what_stands_out_comes_first() -> None:
    run_id = look(add_ward(), **ALL)
    app = at_run(PAGE, run_id)
    before = words(app)
    assert before.index("<h4>age</h4>") < before.index("<h4>died</h4>")
    [order] = [item for item in app.button_group if item.label == "Order of the columns"]
    order.set_value(STANDING_OUT).run()
    text = words(checked(app))
    # The groups themselves, then age, which decides who dies, then sex.
    assert text.index("<h4>died</h4>") < text.index("<h4>age</h4>") < text.index("<h4>sex</h4>")


def test_pairs_are_mapped_and_one_is_read() -> None:
    app = at_tab(look(add_ward(), **ALL), "Pairs")
    text = words(app)
    assert "Pairs of columns that were counted" in text
    assert len(figures(app)) == 1
    [choice] = [item for item in app.selectbox if item.label == "Read one pair"]
    # Two with the groups, and the one that was asked for.
    assert len(choice.options) == 3
    assert choice.options[0].startswith("age and died: V ")
    choice.set_value(2).run()
    assert "share within the" in words(checked(app))


def test_invented_records_are_offered_with_what_they_are_for() -> None:
    app = at_tab(look(add_ward(), **ALL), "Invented records")
    text = words(app)
    assert downloads(app) == ["Download CSV", "Download Parquet"]
    assert text.count("percentage points") == 2
    assert "Do not use them" in text
    [rows] = [item for item in app.number_input if item.label == "Records"]
    assert abs(rows.value - 1500) < 60
    rows.set_value(20).run()
    assert downloads(checked(app)) == ["Download CSV", "Download Parquet"]


def test_files_of_invented_records_say_what_they_are() -> None:
    look(add_ward(), **ALL)
    [release] = access.service().releases()
    made = Look(release, parse_model(release), None, "k")
    text = summary_files.content(made, 20, release.domain.entity, "csv")
    assert text.startswith(f"# {WHAT_IT_IS[0]}".encode())
    assert len(pd.read_csv(io.BytesIO(text), skiprows=5)) == 20
    assert text == summary_files.content(made, 20, release.domain.entity, "csv")
    parquet = summary_files.content(made, 20, release.domain.entity, "parquet")
    assert WHAT_IT_IS[0].encode() in pq.read_schema(io.BytesIO(parquet)).metadata[b"about"]


def test_without_groups_and_pairs_there_are_no_such_tabs() -> None:
    app = at_run(PAGE, look(add_ward()))
    labels = [tab.label for tab in app.tabs]
    assert labels == ["Columns", "Ask", "In words", "Invented records", "Certificate", "Download"]


def test_labels_and_units_are_those_of_the_schema_and_markup_is_none() -> None:
    columns = [
        {"name": "a", "label": "Age", "unit": "years", "type": "integer", "lower": 0, "upper": 100, "bins": 5},
        {"name": "g", "type": "categorical", "categories": ["x", HOSTILE], "labels": {"x": "Ward X"}},
    ]
    schema = Schema.from_mapping({"name": "told", "max_rows": 2000, "columns": columns})
    people = ward(300).rename(columns={"age": "a"}).assign(g=["x", HOSTILE, HOSTILE] * 100)[["a", "g"]]
    info = access.service().add_dataset(people, schema, budget=Decimal(9))
    text = words(at_tab(look(str(info.id), by="g"), "Columns", 7))
    assert not lacking(text, "<h4>Age</h4>", " years (", "Ward X")
    assert "<b>*x*</b>" not in text


# Questions


def _ask(app: AppTest, place: str) -> str:
    """Key of a part of the question box."""
    keys = [item.key for kind in ("selectbox", "select_slider", "button") for item in getattr(app, kind)]
    return next(key for key in keys if key and key.endswith(f"-ask-{place}"))


def test_a_question_is_answered_from_what_was_counted() -> None:
    app = at_tab(look(add_ward(), **ALL), "Ask")
    model = parse_model(access.service().releases()[0])
    app.selectbox(key=_ask(app, "0-0")).set_value("sex").run()
    told = next(item for item in checked(app.selectbox(key=_ask(app, "0-sex")).set_value(1).run()).success)
    sex = SCHEMA.column("sex").cells[1]
    amount = how_many(model, [Condition(column="sex", first=1, last=1)])
    assert told.proto.title.replace("\\", "") == f"People with sex = {sex}"
    assert f"**{count_words(amount)}**" in told.value
    app.selectbox(key=_ask(app, "by")).set_value("died").run()
    assert "sex = " + sex + ": noisy numbers" in words(checked(app))
    [dataset] = access.service().datasets()
    assert len(access.service().runs(dataset.id)) == 1


def test_a_question_that_is_not_held_is_offered_as_a_small_run() -> None:
    app = at_tab(look(add_ward()), "Ask", 6)
    app.selectbox(key=_ask(app, "0-0")).set_value("sex").run()
    app.selectbox(key=_ask(app, "1-1")).set_value("age").run()
    # Of two columns there is no further pair to be found: what was set for an earlier run would be refused.
    app.number_input(key="set-look-pairs").set_value(2)
    app.checkbox(key="look-for-records").check().run()
    assert "not counted these columns together" in "".join(item.value for item in checked(app).warning)
    assert list(press(app, "Set up a small run").multiselect(key=f"set-look-columns-{OWN}").value) == ["age", "sex"]
    assert list(app.multiselect(key=f"set-look-crosstabs-{OWN}").value) == ["age by sex"]
    assert (app.number_input(key="set-look-pairs").value, app.checkbox(key="look-for-records").value) == (0, False)


def test_three_columns_are_refused_in_a_sentence() -> None:
    app = at_tab(look(add_ward(), **ALL), "Ask")
    app.selectbox(key=_ask(app, "0-0")).set_value("sex").run()
    app.selectbox(key=_ask(app, "1-1")).set_value("age").run()
    app.selectbox(key=_ask(app, "by")).set_value("died").run()
    assert "counts 2 together at most" in "".join(item.value for item in checked(app).warning)
    assert not [item for item in app.button if "small run" in item.label]


# Codes and finer quantiles


def add_codes() -> str:
    people = ward()
    people["atc"] = np.where(people["sex"] == "male", "C07AB02", "N02BE01")
    columns = [
        *(column.model_dump(mode="json", exclude_none=True) for column in SCHEMA.columns if column.name != "sex"),
        {
            "name": "drug",
            "label": "First drug",
            "type": "categorical",
            "categories": ["C07A", "N02A", "N02B"],
            "derive": {"code": "atc", "system": "atc", "level": "3"},
        },
    ]
    schema = Schema.from_mapping({"name": "codes", "max_rows": 3000, "columns": columns})
    return str(access.installation().add_dataset(people, schema, budget=Decimal(3)).id)


def test_codes_have_a_tab_that_shows_what_stands_out() -> None:
    dataset_id = add_codes()
    text = words(at_tab(look(dataset_id, codes=["drug"], finer=["age"]), "Codes", tabs=7))
    assert not lacking(text, "C: Cardiovascular system (C07A)", "stands out of the noise")


def test_codes_are_a_file_of_their_own_beside_the_table() -> None:
    app = at_tab(look(add_codes(), codes=["drug"]), "Download", tabs=7)
    assert downloads(app) == ["Download JSON", "Download CSV", "Download HTML", "Download codes (CSV)"]
    [release] = access.service().releases()
    [file] = result._more(Look(release, parse_model(release), None, "k"))
    assert (file.tail, file.kind) == ("-codes.csv", "text/csv")
    assert file.content.startswith("column,depth,group,")
    assert (File("Prolog", "pl", "").tail, File("Prolog", "pl", "").kind) == (".pl", "text/plain")


def test_codes_and_finer_quantiles_are_asked_for_where_they_make_sense() -> None:
    dataset_id = add_codes()
    app = open_page(PAGE)
    own = access.service().dataset(dataset_id).schema.hash[:8]
    app.multiselect(key=f"set-look-codes-{own}").set_value(["drug"]).run()
    chosen = spent_on(checked(app.multiselect(key=f"set-look-finer-{own}").set_value(["age"]).run()), dataset_id)
    assert (chosen["codes"], chosen["finer"]) == (["drug"], ["age"])
