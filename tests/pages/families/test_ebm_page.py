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
from dpcore.released.release import make_release
from dpcore.service import Service
from pages.components.families.shared import evaluation
from pages.components.visitor import access
from tests.support.pages.family_pages import by_hand
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


def made(monkeypatch: pytest.MonkeyPatch, *models: EBMModel) -> tuple[AppTest, str]:
    """The page Releases with results made by hand, and the key of the widgets of the first."""
    learner = get_learner("ebm")
    plans = [learner.plan(SCHEMA, TARGETS[model.task], Decimal(1), {}) for model in models]
    releases = [make_release("ebm", plan, model, secure=True) for plan, model in zip(plans, models, strict=True)]
    return by_hand(monkeypatch, *releases), f"release-{releases[0].id}"


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
    app, key = made(monkeypatch, small_ebm(task))
    assert app.selectbox(key=f"{key}-term").options[-1] == "<i>ward</i> (within the noise)"
    for place in range(4):
        assert len(figures(checked(app.selectbox(key=f"{key}-term").set_value(place).run()))) == 2
    html = "".join(item.value for item in app.get("html"))
    assert "&lt;i&gt;ward&lt;/i&gt;" in html
    assert not any(tag in html + "".join(figures(app)) for tag in ("<i>ward", "<b>A", "<b>died"))


def test_a_term_is_told_by_table_as_by_figure(monkeypatch):
    model = small_ebm()
    app, key = made(monkeypatch, model)
    glucose = [term.name for term in model.ranked()].index("glucose")
    text = words(checked(app.selectbox(key=f"{key}-term").set_value(glucose).run()))
    assert not lacking(text, *(f'<th scope="row">{name}</th>' for name in ("2 to 5.5", "above 5.5 to 7", "missing")))
    assert not lacking(text, *(f"<td>{score:+.2f}<br>".replace("-", "−") for (score,) in model.terms[1].scores))
    assert '<span class="neg">−4</span>' in text


def test_a_model_without_meaning_says_so_and_what_to_do(monkeypatch):
    [warning] = made(monkeypatch, small_ebm(flat=True))[0].warning
    assert not lacking(warning.value, "larger ε", "more people")


def test_more_than_three_classes_are_chosen_from(monkeypatch):
    model = small_ebm("multiclass")
    scores, errors = ([tuple((*own, 0.1) for own in getattr(t, n)) for t in model.terms] for n in ("scores", "errors"))
    terms = [
        term.model_copy(update={"scores": score, "errors": error})
        for term, score, error in zip(model.terms, scores, errors, strict=True)
    ]
    ends = {"intercept": (*model.intercept, 0.0), "intercept_error": (*model.intercept_error, 0.1), "evaluation": None}
    four = ends | {"classes": (*model.classes, "elsewhere"), "terms": tuple(terms)}
    app, key = made(monkeypatch, model.model_copy(update=four))
    for chosen, elsewhere in ((None, False), (["elsewhere"], True), ([], False)):
        if chosen is not None:
            checked(app.multiselect(key=f"{key}-outputs").set_value(chosen).run())
        shown = figures(app)[1]
        assert ("goes = elsewhere" in shown, "goes = home" in shown) == (elsewhere, not elsewhere)


@pytest.mark.parametrize("task", TARGETS)
def test_a_case_adds_up_to_the_prediction(monkeypatch, task):
    model, ward = small_ebm(task), "<i>ward</i>"
    app, key = made(monkeypatch, model)
    if task == "multiclass":
        assert "The prediction is goes = home Noisy chance of goes = home" in said(press(app, "How does it add up?"))
        checked(app.selectbox(key=f"{key}-case-output").set_value(1).run())
        assert "The prediction is goes = home Noisy chance of goes = care" in said(app)
    app.number_input(key=f"{key}-case-age").set_value(70)
    assert "parts need what is not known and add nothing, as on average" in said(press(app, "How does it add up?"))
    case = {"age": 70, "glucose": 5.5, ward: SCHEMA.column(ward).classes[0]}
    assert set(model.columns()) == set(case)
    app.number_input(key=f"{key}-case-glucose").set_value(5.5)
    app.selectbox(key=f"{key}-case-{ward}").set_value(case[ward])
    press(app, "How does it add up?")
    [predicted] = model.predict(pd.DataFrame([case]), SCHEMA)
    shown = f"{predicted:.1f} days" if task == "regression" else model.classes[predicted]
    assert not lacking(said(app), f"The prediction is {TARGETS[task]} = {shown}", "not this person")
    assert "all together" in figures(app)[-1]
    assert "age: 61 to 80" in words(app)


def test_a_number_is_checked_beside_a_constant_guess(monkeypatch):
    app, _ = made(monkeypatch, small_ebm("regression"))
    text = words(app).replace("\\", "")
    assert [item.value for item in app.metric][:2] == ["6.2 days", "9.1 days"]
    assert not lacking(text, "typical error 6.2; one number for everyone: 9.1", "Errors are 32% smaller")
    assert '<th scope="row">5 to 10</th><td><div class="fg-counts"><span>40</span>' in text
    assert '<span class="neg">−3</span>' in text


RMSE = small_ebm("regression").evaluation.rmse
#: An error of which noise may hide much more.
HIDDEN = RMSE.model_copy(update={"noise_above": 40.0})


@pytest.mark.parametrize(
    ("change", "sentence"),
    [
        ({"rmse": None}, "Noise drowns the errors"),
        ({"constant_rmse": RMSE}, "read nothing into the picture"),
        ({"rmse": HIDDEN}, "Noise alone: 5.9 to 46.2 (95%)"),
    ],
)
def test_a_number_that_cannot_be_judged_is_not_praised(monkeypatch, change, sentence):
    model = small_ebm("regression")
    check = model.evaluation.model_copy(update=change)
    app, _ = made(monkeypatch, model.model_copy(update={"evaluation": check}))
    assert sentence in words(app)
    if check.rmse == HIDDEN:
        assert app.metric[0].value == "at least 5.9 days"
        told = [item.value for item in app.caption if "Noise alone: " in item.value]
        assert ["may hide huge errors of a few people" in one for one in told] == [True, False]
    else:
        assert "% smaller" not in words(app)


def test_a_number_is_predicted_from_the_form_to_the_result():
    dataset_id = add_stays(public=True)
    app = at_run(PAGE, fit_ebm(dataset_id, "5", "stay"))
    assert "adds to stay (days)" in figures(app)[1]
    assert "DPEBMRegressor" in words(app)
    app.toggle[0].set_value(True).run()
    assert "true records" in figures(checked(app))[1]


# Releases of several families


def test_two_results_are_compared_line_by_line(monkeypatch):
    text = words(made(monkeypatch, small_ebm(), small_ebm("regression"))[0])
    for name, left, right in (
        ("Stand out from the noise", "3 of 4", "3 of 4"),
        ("Noisy typical error (RMSE)", "does not apply", "6.2 (noise alone ±0.3)"),
        ("Noisy AUC", "0.81 (noise alone ±0.02)", "does not apply"),
    ):
        assert f'<th scope="row">{name}</th><td>{left}</td><td>{right}</td>' in text


def test_an_error_is_told_in_three_digits_with_its_noise():
    assert evaluation.error_words(RMSE) == "6.2 (noise alone ±0.3)"
    assert evaluation.error_words(None) == "not known"
    assert evaluation.error_words(HIDDEN) == "at least 5.9 (noise alone 5.9 to 46.2)"


# Methods side by side


def test_a_number_is_compared_by_its_error(monkeypatch):
    add_ward(public=True)
    scores = [MethodScore(0, Decimal(epsilon), 6.25, 6.0, 6.5, 900, "RMSE") for epsilon in ("0.1", "0.5", "2")]
    monkeypatch.setattr(Service, "compare_methods", lambda *_: scores)
    app = open_page(PAGE)
    [info] = access.service().datasets()
    app.selectbox(key=f"compare-ebm-target-{info.schema.hash[:8]}").set_value("age")
    app.multiselect(key="compare-methods-ebm").set_value([("ebm", "all_bins")])
    button(app, "Compare methods").click().run()
    app.session_state["methods-ebm"].thread.join(60)
    text = words(checked(app.run()))
    assert not lacking(text, "RMSE on people set aside", "<b>6.25</b> <small>6 to 6.5</small>", "the less the better")
    assert "tree without privacy" not in text
