"""The planner and the shaped rehearsal on the pages."""

from __future__ import annotations

from decimal import Decimal

import pytest
from streamlit.testing.v1 import AppTest

from dpcore.rehearsal import Point, QualityForecast
from dpcore.service import Service
from pages.components.run import planner
from pages.components.visitor import access
from tests.support.pages.page_tools import button, checked, open_page, press, words
from tests.support.pages.ward_runs import add_ward, fit, quote, submit
from tests.support.texts import lacking

MEANS = {"0.1": 0.6, "1": 0.8, "10": 0.9}


def made(used: tuple[str, ...] = (), close_from: Decimal | None = None, *, paired: bool = False) -> QualityForecast:
    points = tuple(Point(Decimal(epsilon), mean, mean - 0.02, mean + 0.02) for epsilon, mean in MEANS.items())
    return QualityForecast("accuracy", points, 0.55, 0.9 if used else None, paired, used, close_from)


@pytest.fixture
def answer(monkeypatch: pytest.MonkeyPatch) -> dict[str, QualityForecast]:
    """What the service answers, without the work."""
    given = {"outlook": made()}

    def outlook(self, request, progress, *, shaped=True):
        progress(24, 24)
        return given["outlook"]

    monkeypatch.setattr(Service, "outlook", outlook)
    return given


def ask(app: AppTest, wanted: float = 70) -> AppTest:
    app.number_input(key="planner_wanted").set_value(wanted).run()
    button(app, "Work it out").click().run()
    work = app.session_state["planner"]
    work.thread.join(60)
    return checked(app.run())


def test_one_sentence_answers_and_one_button_fills_the_entry(answer: dict[str, QualityForecast]) -> None:
    dataset_id = add_ward()
    app = ask(open_page("tree"))
    assert not lacking(words(app), "About ε = 0.32, ", " of the budget, should reach 70%", "spent nothing.")
    assert press(app, "Use ε = 0.32").session_state["epsilon"] == "0.32"
    service = access.service()
    assert service.balance(dataset_id).left == 1
    assert not service.runs(dataset_id)


def test_more_than_is_left_is_marked(answer: dict[str, QualityForecast]) -> None:
    add_ward(budget="2")
    app = ask(open_page("tree"), 88)
    text = words(app)
    assert "That does not fit: 100 % of the budget is left." in text
    assert text.count("no: more than is left") == 1


def test_what_is_in_the_way_is_named(answer: dict[str, QualityForecast]) -> None:
    dataset_id = add_ward(budget="20")
    app = ask(open_page("tree"), 88)
    access.installation().raise_caps(dataset_id, run_cap=Decimal(2))
    text = words(checked(app.run()))
    assert "but at most 2.00 is allowed for one run" in text
    assert text.count("no: more than one run may cost") == 1
    assert "more than is left" not in text
    access.installation().retire_dataset(dataset_id, note="the study has ended")
    assert planner._within(quote(dataset_id)) == "no: nothing more can be run"


def test_other_settings_ask_for_another_answer(answer: dict[str, QualityForecast]) -> None:
    add_ward()
    app = ask(open_page("tree"))
    assert "About ε = 0.32" in words(checked(app.segmented_control(key="epsilon_size").set_value("Large").run()))
    fit(str(access.service().datasets()[0].id))
    app.run()
    assert "Work it out again" in words(checked(app))


@pytest.mark.filterwarnings("ignore::pytest.PytestUnhandledThreadExceptionWarning")
def test_a_fault_is_a_sentence(monkeypatch: pytest.MonkeyPatch) -> None:
    def broken(self, request, progress, *, shaped=True):
        raise ValueError("secret")

    monkeypatch.setattr(Service, "outlook", broken)
    add_ward()
    app = open_page("tree")
    button(app, "Work it out").click().run()
    app.session_state["planner"].thread.join(60)
    text = words(checked(app.run()))
    assert "could not be worked out" in text
    assert "secret" not in text


def test_a_stopped_answer_can_be_asked_for_again(monkeypatch: pytest.MonkeyPatch) -> None:
    def endless(self, request, progress, *, shaped=True):
        while True:
            progress(1, 24)

    monkeypatch.setattr(Service, "outlook", endless)
    add_ward()
    app = open_page("tree")
    button(app, "Work it out").click().run()
    work = app.session_state["planner"]
    work.stop.set()
    work.thread.join(60)
    assert "Stopped." in words(checked(app.run()))


def test_rehearsals_use_earlier_results_unless_switched_off() -> None:
    dataset_id = add_ward()
    app = open_page("tree")
    assert not [item for item in app.toggle if "earlier results" in item.label]
    assert "from the schema alone" in words(press(app, "Rehearse"))
    submit(dataset_id, "tree", "1", "died")
    left = access.service().balance(dataset_id).left
    release = access.service().releases(dataset_id)[0]
    app = open_page("tree")
    assert f"to fit this earlier result: {release.id[:8]}." in words(press(app, "Rehearse"))
    app.toggle(key=f"shaped-{dataset_id}").set_value(False).run()
    assert "from the schema alone" in words(press(app, "Rehearse"))
    assert access.service().balance(dataset_id).left == left < 1


def test_the_whole_answer_comes_from_rehearsals() -> None:
    """Without a substitute for the service: a question, its work, and its answer."""
    dataset_id = add_ward()
    app = ask(open_page("tree"), 72)
    assert not lacking(words(app), "on invented records like these", planner.text("planner_schema"))
    assert access.service().balance(dataset_id).left == 1
