"""The page Shape functions: from the form to the result, and a sentence for each mistake."""

from __future__ import annotations

from decimal import Decimal

import numpy as np
import pandas as pd
import pytest
from streamlit.testing.v1 import AppTest

from dpcore.domain.schemas.schema import Schema
from dpcore.models.comparison import MethodScore
from dpcore.models.ebm.released.ebm_model import EBMModel
from dpcore.models.registry import get_learner
from dpcore.released.release import Release, make_release
from dpcore.service import Service
from pages.components.families.shared import number_check
from pages.components.visitor import access
from tests.support.pages.page_tools import at_run, button, checked, errors, figures, open_page, press, words
from tests.support.pages.ward_runs import add_ward, submit
from tests.support.results.small_ebm import SCHEMA, TARGETS, small_ebm
from tests.support.texts import lacking

PAGE = "shape_functions"


def fit_ebm(dataset_id: str, epsilon: str = "1", target: str = "died", **more: object) -> str:
    return submit(dataset_id, "ebm", epsilon, target, **more)


def add_stays(*, public: bool = False) -> str:
    """Invented stays in days: the old stay longer."""
    columns = [
        {"name": "age", "type": "integer", "lower": 20, "upper": 100, "bins": 8},
        {"name": "stay", "type": "real", "lower": 0, "upper": 40, "bins": 1, "unit": "days", "target": True},
    ]
    schema = Schema.from_mapping({"name": "stays", "max_rows": 3000, "columns": columns})
    draw = np.random.default_rng(0)
    age = draw.integers(20, 101, 2500)
    stay = np.clip(age / 5 + draw.normal(0, 2, 2500), 0, 40)
    frame = pd.DataFrame({"age": age, "stay": stay})
    return str(access.service().add_dataset(frame, schema, budget=Decimal(9), public=public).id)


def by_hand(monkeypatch: pytest.MonkeyPatch, *models: EBMModel) -> list[str]:
    """Let the page Releases show machines made by hand; returns the keys of their widgets."""
    dataset_id = add_ward()
    releases = [_release(model, dataset_id) for model in models]
    monkeypatch.setattr(Service, "releases", lambda *_: releases)
    return [f"release-{release.id}" for release in releases]


def _release(model: EBMModel, dataset_id: str, *, secure: bool = True) -> Release:
    plan = get_learner("ebm").plan(SCHEMA, TARGETS[model.task], Decimal(1), {})
    return make_release("ebm", plan, model, secure=secure, dataset_id=dataset_id)


def said(app: AppTest) -> str:
    return "".join(f"{item.proto.title} {item.value}" for item in app.success).replace("\\", "")


# Configure


def test_without_a_delta_in_the_budget_a_sentence_says_whom_to_ask():
    add_ward(delta="0")
    app = open_page(PAGE)
    assert not lacking(errors(app), "This method needs a delta", "ask the custodian")
    assert button(app, "Review and spend").disabled


def test_a_number_without_groups_can_be_predicted_here_and_only_here():
    add_stays()
    [target] = [box for box in open_page(PAGE).selectbox if box.label.startswith("What should")]
    assert any(option.startswith("stay") for option in target.options)
    [target] = [box for box in open_page("tree").selectbox if box.label.startswith("What should")]
    assert not any(option.startswith("stay") for option in target.options)


# Delta


def test_a_review_without_delta_does_not_speak_of_it():
    add_ward(delta="0")
    app = open_page("tree")
    assert "δ" not in app.sidebar.get("html")[-1].value
    dialog = words(press(app, "Review and spend")).partition("What you are about to do")[2]
    assert "δ" not in dialog.partition("</table>")[0]
    assert "What δ means" not in words(app)


# Result


@pytest.mark.parametrize("task", TARGETS)
def test_every_task_is_shown_with_all_its_terms(monkeypatch, task):
    [key] = by_hand(monkeypatch, small_ebm(task))
    app = open_page("releases")
    box = app.selectbox(key=f"{key}-term")
    assert box.options[-1] == "<i>ward</i> (within the noise)"
    for place in range(4):
        assert len(figures(checked(app.selectbox(key=f"{key}-term").set_value(place).run()))) == 2
    html = "".join(item.value for item in app.get("html"))
    assert "&lt;i&gt;ward&lt;/i&gt;" in html
    assert not any(tag in html + "".join(figures(app)) for tag in ("<i>ward", "<b>A", "<b>died"))


def test_a_term_is_told_by_table_as_by_figure(monkeypatch):
    model = small_ebm()
    [key] = by_hand(monkeypatch, model)
    app = open_page("releases")
    glucose = [term.name for term in model.ranked()].index("glucose")
    text = words(checked(app.selectbox(key=f"{key}-term").set_value(glucose).run()))
    for name in ("2 to 5.5", "above 5.5 to 7", "missing"):
        assert f'<th scope="row">{name}</th>' in text
    for (score,) in model.terms[1].scores:
        assert f"<td>{score:+.2f}<br>".replace("-", "−") in text
    assert '<span class="neg">−4</span>' in text


def test_a_model_without_meaning_says_so_and_what_to_do(monkeypatch):
    by_hand(monkeypatch, small_ebm(flat=True))
    [warning] = open_page("releases").warning
    assert not lacking(warning.value, "larger ε", "more people")


def test_more_than_three_classes_are_chosen_from(monkeypatch):
    model = small_ebm("multiclass")
    four = {
        "classes": (*model.classes, "elsewhere"),
        "intercept": (*model.intercept, 0.0),
        "intercept_error": (*model.intercept_error, 0.1),
        "evaluation": None,
        "terms": tuple(
            term.model_copy(
                update={
                    "scores": tuple((*score, 0.123) for score in term.scores),
                    "errors": tuple((*error, 0.1) for error in term.errors),
                }
            )
            for term in model.terms
        ),
    }
    [key] = by_hand(monkeypatch, model.model_copy(update=four))
    app = open_page("releases")
    assert "goes = elsewhere" not in figures(app)[1]
    app.multiselect(key=f"{key}-outputs").set_value(["elsewhere"]).run()
    assert "goes = elsewhere" in figures(checked(app))[1]
    assert "goes = home" not in figures(app)[1]
    assert "goes = home" in figures(checked(app.multiselect(key=f"{key}-outputs").set_value([]).run()))[1]


@pytest.mark.parametrize("task", TARGETS)
def test_a_case_adds_up_to_the_prediction(monkeypatch, task):
    model = small_ebm(task)
    [key] = by_hand(monkeypatch, model)
    app = open_page("releases")
    app.number_input(key=f"{key}-case-age").set_value(70)
    assert "parts need what is not known and add nothing, as on average" in said(press(app, "How does it add up?"))
    ward = "<i>ward</i>"
    case = {"age": 70, "glucose": 5.5, ward: SCHEMA.column(ward).classes[0]}
    assert set(model.columns()) == set(case)
    app.number_input(key=f"{key}-case-glucose").set_value(5.5)
    app.selectbox(key=f"{key}-case-{ward}").set_value(case[ward])
    button(app, "How does it add up?").click().run()
    [predicted] = model.predict(pd.DataFrame([case]), SCHEMA)
    shown = f"{predicted:.1f} days" if task == "regression" else model.classes[predicted]
    assert f"The prediction is {TARGETS[task]} = {shown}" in said(checked(app))
    assert "all together" in figures(app)[-1]
    assert "age: 61 to 80" in words(app)
    assert "not this person" in said(app)


def test_each_class_of_a_case_can_be_looked_at(monkeypatch):
    [key] = by_hand(monkeypatch, small_ebm("multiclass"))
    app = open_page("releases")
    button(app, "How does it add up?").click().run()
    assert "The prediction is goes = home Noisy chance of goes = home" in said(app)
    app.selectbox(key=f"{key}-case-output").set_value(1).run()
    assert "The prediction is goes = home Noisy chance of goes = care" in said(checked(app))


def test_a_number_is_checked_beside_a_constant_guess(monkeypatch):
    by_hand(monkeypatch, small_ebm("regression"))
    app = open_page("releases")
    text = words(app)
    assert [item.value for item in app.metric][:2] == ["6.2 days", "9.1 days"]
    assert "typical error 6.2; one number for everyone: 9.1" in text.replace("\\", "")
    assert "Errors are 32% smaller" in text
    assert '<th scope="row">5 to 10</th><td><div class="fg-counts"><span>40</span>' in text
    assert '<span class="neg">−3</span>' in text


@pytest.mark.parametrize(
    ("change", "sentence"),
    [
        ({"rmse": None}, "Noise drowns the errors"),
        ({"constant_rmse": small_ebm("regression").evaluation.rmse}, "read nothing into the picture"),
    ],
)
def test_a_number_that_cannot_be_judged_is_not_praised(monkeypatch, change, sentence):
    model = small_ebm("regression")
    check = model.evaluation.model_copy(update=change)
    by_hand(monkeypatch, model.model_copy(update={"evaluation": check}))
    text = words(open_page("releases"))
    assert sentence in text
    assert "% smaller" not in text


def test_a_number_is_predicted_from_the_form_to_the_result():
    dataset_id = add_stays(public=True)
    app = at_run(PAGE, fit_ebm(dataset_id, "5", "stay"))
    assert "adds to stay (days)" in figures(app)[1]
    assert "DPEBMRegressor" in words(app)
    app.toggle[0].set_value(True).run()
    assert "true records" in figures(checked(app))[1]


# Releases of several families


def test_two_results_are_compared_line_by_line(monkeypatch):
    by_hand(monkeypatch, small_ebm(), small_ebm("regression"))
    text = words(open_page("releases"))
    for name, left, right in (
        ("Stand out from the noise", "3 of 4", "3 of 4"),
        ("Noisy typical error (RMSE)", "does not apply", "6.2 (noise alone ±0.3)"),
        ("Noisy AUC", "0.81 (noise alone ±0.02)", "does not apply"),
    ):
        row = f'<th scope="row">{name}</th><td>{left}</td><td>{right}</td>'
        assert row in text


def test_an_error_is_told_in_three_digits_with_its_noise():
    check = small_ebm("regression").evaluation
    assert number_check.error_words(check.rmse) == "6.2 (noise alone ±0.3)"
    assert number_check.error_words(None) == "not known"
    hidden = check.rmse.model_copy(update={"noise_above": 40.0})
    assert number_check.error_words(hidden) == "at least 5.9 (noise alone 5.9 to 46.2)"


def test_an_error_of_which_noise_hides_more_is_told_as_the_least(monkeypatch):
    model = small_ebm("regression")
    hidden = model.evaluation.rmse.model_copy(update={"noise_above": 40.0})
    check = model.evaluation.model_copy(update={"rmse": hidden})
    by_hand(monkeypatch, model.model_copy(update={"evaluation": check}))
    app = open_page("releases")
    assert app.metric[0].value == "at least 5.9 days"
    told = [item.value for item in app.caption if "Noise alone: " in item.value]
    assert "Noise alone: 5.9 to 46.2 (95%)" in told[0]
    assert ["may hide huge errors of a few people" in one for one in told] == [True, False]


# Methods side by side


def test_a_number_is_compared_by_its_error(monkeypatch):
    add_ward(public=True)
    scores = [MethodScore(0, Decimal(epsilon), 6.25, 6.0, 6.5, 900, "RMSE") for epsilon in ("0.1", "0.5", "2")]
    monkeypatch.setattr(Service, "compare_methods", lambda *_: scores)
    app = open_page(PAGE)
    app.selectbox(key=f"compare-ebm-target-{_schema_key()}").set_value(_age())
    app.multiselect(key="compare-methods-ebm").set_value([("ebm", "all_bins")])
    button(app, "Compare methods").click().run()
    app.session_state["methods-ebm"].thread.join(60)
    text = words(checked(app.run()))
    assert not lacking(text, "RMSE on people set aside", "<b>6.25</b> <small>6 to 6.5</small>", "the less the better")
    assert "tree without privacy" not in text


def _schema_key() -> str:
    [info] = access.service().datasets()
    return info.schema.hash[:8]


def _age() -> str:
    return "age"
