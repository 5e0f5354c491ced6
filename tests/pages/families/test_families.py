"""What holds for the page of every family: from the form to the result, and for each mistake."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from decimal import Decimal
from typing import Any

import pandas as pd
import pytest
from streamlit.testing.v1 import AppTest

from dpcore.domain.schemas.schema import Schema
from dpcore.models.released import parse_model
from dpcore.report.certificate import certificate_lines
from pages.components.visitor import access
from tests.support.files import hostile_names
from tests.support.pages.family_pages import FAMILY_PAGES, QUICK, FamilyPage
from tests.support.pages.page_tools import (
    at_run,
    button,
    checked,
    errors,
    figures,
    links,
    open_page,
    press,
    spent_on,
    words,
)
from tests.support.pages.ward_runs import submit
from tests.support.texts import lacking

EVERY = pytest.mark.parametrize("own", FAMILY_PAGES.values(), ids=FAMILY_PAGES)
PREDICTING = {name: own for name, own in FAMILY_PAGES.items() if own.target}
#: What can be downloaded of a result of one family only.
MORE = {"ilp": ["Download Prolog"]}
#: Methods without inputs of their own: another method's form has all of theirs.
SAME_FORM = {"diffp_c45", "sulq_id3", "alt_expm", "alt_mcmc", "naive"}
WAYS = [
    pytest.param(own, method, id=f"{name}-{method}", marks=[pytest.mark.slow] if method in SAME_FORM else [])
    for name, own in FAMILY_PAGES.items()
    for method in own.family.methods or [""]
]


@pytest.mark.parametrize(("own", "method"), WAYS)
def test_every_method_goes_from_the_form_to_a_result(own: FamilyPage, method: str) -> None:
    dataset_id = own.add()
    access.service().allow_conditional(dataset_id, True, note="for chains among them")
    app = own.open(method)
    checked(app.text_input(key="epsilon").set_value("3").run())
    assert not errors(app)
    assert "Noise on " in words(app)
    price = app.session_state[access.THIS_RUN_KEY]
    assert price.plan.delta or price.share == Decimal("0.333334")
    assert "Rehearsal on synthetic data" in words(press(app, "Rehearse"))
    assert access.service().balance(dataset_id).left == 1
    assert not access.service().releases(dataset_id)
    text = words(press(app, "Review and spend"))
    predicts = f", to predict {own.target}" if own.target else ""
    assert f"{own.family.describe({'method': method})}{predicts}</td>" in text
    app.button(key="spend").click().run()
    assert access.service().balance(dataset_id).left == price.left_after
    assert "Finished." in words(checked(app))
    assert figures(app)
    [release] = access.service().releases(dataset_id)
    assert (release.kind, release.target) == (own.name, own.target)
    assert release.parameters.get("method", "") == method


@EVERY
def test_the_form_opens_with_the_defaults_and_a_wrong_epsilon_gives_a_sentence_and_no_way_to_spend(
    own: FamilyPage,
) -> None:
    dataset_id = own.add()
    app = open_page(own.page)
    plan = access.service().quote(own.request(dataset_id, "0.5")).plan
    for entry, sentence in (("0", "above 0"), ("much", "must be a number"), ("50", "left")):
        assert sentence in errors(checked(app.text_input(key="epsilon").set_value(entry).run()))
        assert button(app, "Review and spend").disabled
    app.text_input(key="epsilon").set_value("0.5").run()
    assert spent_on(app, dataset_id) == plan.parameters.model_dump(mode="json")


@pytest.mark.parametrize("own", PREDICTING.values(), ids=PREDICTING)
def test_a_target_that_was_not_chosen_gives_a_sentence(own: FamilyPage) -> None:
    columns = [{"name": name, "type": "boolean"} for name in ("a", "b")]
    schema = Schema.from_mapping({"name": "plain", "max_rows": 2000, "columns": columns})
    people = pd.DataFrame({"a": ["yes", "no"] * 50, "b": ["yes", "no"] * 50})
    access.service().add_dataset(people, schema, budget=Decimal(3))
    assert "Choose what should be predicted." in errors(open_page(own.page))


@EVERY
@pytest.mark.usefixtures("one_by_one")
def test_a_result_of_private_data_has_files_and_nothing_true_and_is_linked_to_from_other_pages(own: FamilyPage) -> None:
    run_id = own.submit(own.add())
    other = at_run("tree" if own.page != "tree" else "forest", run_id)
    assert f"Read this result on the page {own.family.title}" in links(other)
    assert "Certificate" not in words(other)
    app = own.at_run(run_id)
    text = words(app)
    assert "Finished." in text
    assert ("always saying" in text) == bool(own.target)
    assert "true values" not in " ".join(item.label for item in app.toggle).lower()
    assert "Compare methods" not in " ".join(item.label for item in app.expander)
    assert "Kind of guarantee" in words(_tab(app, "Certificate"))
    labels = [item.proto.label for item in _tab(app, "Download").get("download_button")]
    assert labels == ["Download JSON", "Download CSV", "Download HTML", *MORE.get(own.name, [])]


def _tab(app: AppTest, name: str) -> AppTest:
    """A part of a result, which stands in a tab of its own."""
    [key] = (str(key) for key in app.session_state.to_dict() if re.search(r"-tabs(-\d)?$", str(key)))
    app.session_state[key] = name
    return checked(app.run())


def _all_told(text: str, numbers: Any, form: str) -> bool:
    return not lacking(text, *(form.format(number) for row in numbers for number in row))


#: Where a page shows what is true, beside what its words say: given the page, its model and the true counts.
TRUTHS: dict[str, Callable[[AppTest, Any, Any], bool]] = {
    "tree": lambda app, _, counts: f"true count {counts[0][1]}" in figures(app)[0],
    "forest": lambda app, _, counts: (
        not lacking(words(app), *(f"<td>{no}</td><td>{yes}</td>" for no, yes in counts if no + yes))
    ),
    "ilp": lambda app, _, counts: _all_told(words(app), counts, "<span>{}</span> true"),
    "redescriptions": lambda app, model, _: (
        "true" in app.dataframe[0].value.columns and any("noisy = true" in figure for figure in figures(app))
    ),
    "ebm": lambda app, model, counts: _all_told(
        figures(app)[1], [counts[model.terms.index(model.ranked()[0])]], "true count {:,}"
    ),
}


@EVERY
def test_true_values_stand_beside_noisy_ones_on_public_data(own: FamilyPage) -> None:
    run_id = own.submit(own.add(public=True))
    app = own.at_run(run_id)
    before = words(app)
    assert "◇" not in before
    assert words(checked(app.toggle(key=f"run-{run_id}-truth").set_value(True).run())) != before
    if own.name in TRUTHS:
        [release] = access.service().releases()
        counts = access.service().true_counts(release) if own.target else ()
        assert TRUTHS[own.name](app, parse_model(release), counts)


@EVERY
def test_two_results_stand_side_by_side(own: FamilyPage) -> None:
    dataset_id = own.add(budget="20")
    for epsilon in ("3", "4"):
        own.submit(dataset_id, epsilon)
    newest, older = (certificate_lines(release)["Promise"] for release in access.service().releases())
    assert f'<th scope="row">Promise</th><td>{newest}</td><td>{older}</td>' in words(open_page("releases"))


@pytest.mark.parametrize("name", FAMILY_PAGES)
def test_no_name_is_markup_wherever_it_stands(name: str) -> None:
    target = hostile_names.DIED if FAMILY_PAGES[name].target else ""
    info = access.service().add_dataset(hostile_names.people(), hostile_names.SCHEMA, budget=Decimal(9), public=True)
    parameters = {"by": hostile_names.DIED, "crosstabs": [f"{hostile_names.LEFT} by {hostile_names.RIGHT}"]}
    chosen = parameters if name == "summaries" else QUICK.get(name, {})
    app = checked(FAMILY_PAGES[name].at_run(submit(info.id, name, "3", target, **chosen)))
    told = list(read_as_markdown(app))
    assert any("evil" in one for one in told)
    assert [one for one in told if hostile_names.LINK in one or hostile_names.IMAGE in one] == []
    html = "".join(str(item.value) for item in app.get("html"))
    assert hostile_names.ANCHOR not in html + "".join(told + figures(app))


#: Elements whose text is Markdown, and those whose label is; options of a radio are too.
TEXTS = ("markdown", "caption", "title", "header", "subheader", "error", "warning", "info", "success")
LABELS = (
    *("button", "checkbox", "expander", "number_input", "radio", "selectbox", "slider", "tab"),
    *("text_input", "toggle"),
)


def read_as_markdown(app: AppTest) -> Iterator[str]:
    yield from (str(one.value) for kind in TEXTS for one in app.get(kind))
    yield from (str(one.label) for kind in LABELS for one in app.get(kind))
    yield from (str(option) for one in app.radio for option in one.options)
