"""Typed text is never lost: whatever comes and goes on a page, what people type in stays in place.

Each page that the menu knows is drawn, something happens, and it is drawn again: every widget that
is there before and after must stand in the same containers, and be known by the same name.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from decimal import Decimal
from typing import Any

import pytest
from streamlit.testing.v1 import AppTest

from dpcore.service import Service
from dpcore.workspace.people.users import ROLES
from pages.components.report import draft
from pages.components.visitor import access, menu
from tests.support.pages.page_tools import ROOT, checked, open_page
from tests.support.pages.page_visitors import ANN, BOB, person, result_of_visitor
from tests.support.pages.places import Place, moved, places, without_key
from tests.support.pages.ward_runs import add_ward, run_status

NAMES = tuple(entry.path.removesuffix(".py") for entry in menu.MENU)
#: Who may open every page, with a login.
EVERYBODY = person("office", *ROLES)
Patch = pytest.MonkeyPatch


def test_every_input_has_a_name_of_its_own():
    assert without_key(ROOT / "pages") == []


# What happens while a page is open


def a_message(patch: Patch, _app: AppTest, _dataset_id: str) -> None:
    """Every place that tells of an outcome tells of one."""
    patch.setattr(access, "_said", lambda _: ("A problem.", ""))


def a_run(patch: Patch, _app: AppTest, dataset_id: str) -> None:
    """Another tab has started a run."""
    status, run = run_status(dataset_id, "a-run", "running", analyst=access.service().user.name), Service.run
    patch.setattr(Service, "runs", lambda *_, active=False: [status])
    patch.setattr(Service, "run", lambda self, key: status if key == "a-run" else run(self, key))


def its_end(_patch: Patch, app: AppTest, dataset_id: str) -> None:
    """Such a run is over, and its result is there to be read."""
    app.query_params[access.RUN_PARAMETER] = access.service().runs(dataset_id)[0].id


def a_run_that_is_unknown(_patch: Patch, app: AppTest, _dataset_id: str) -> None:
    app.query_params[access.RUN_PARAMETER] = "nobody-knows-it"


def the_tour(_patch: Patch, app: AppTest, _dataset_id: str) -> None:
    app.button(key="tour-show").click()


def a_fault_of_the_data_base(patch: Patch, _app: AppTest, dataset_id: str) -> None:
    """What is being written cannot be kept."""
    at = draft.key(dataset_id, "title")
    patch.setattr(draft, "_unkept", lambda: {at: "Try again."})
    patch.setattr(draft, "_lost", lambda _: "Something is gone.")


def a_request(_patch: Patch, _app: AppTest, dataset_id: str) -> None:
    """An analyst asks for more."""
    access.installation().acting(BOB).ask(dataset_id, Decimal(1), "one more tree")


def an_answer(_patch: Patch, _app: AppTest, dataset_id: str) -> None:
    """Another custodian answers the oldest request."""
    office = access.installation()
    first = next(one for one in office.budget_requests(dataset_id) if one.state == "open")
    office.answer(first.number, None, "not now")


def a_freeze(_patch: Patch, _app: AppTest, dataset_id: str) -> None:
    access.installation().freeze(dataset_id, ANN.name, "a break")
    access.installation().freeze(dataset_id, access.service().user.name, "a break")


def spending(_patch: Patch, _app: AppTest, dataset_id: str) -> None:
    """Another tab has spent nearly all that was left."""
    result_of_visitor(dataset_id, "1.9")


#: What happens, at once and one after the other.
SITUATIONS = (
    (a_message, the_tour, a_fault_of_the_data_base, a_request, a_run),
    (its_end, an_answer),
    (a_run_that_is_unknown, spending, a_freeze),
)


def opened(name: str) -> tuple[AppTest, str]:
    """A page of an installation with a result, two requests and no tour."""
    dataset_id = add_ward(budget="2.5", public=True)
    result_of_visitor(dataset_id, "0.5")
    access.installation().acting(ANN).ask(dataset_id, Decimal(1), "a tree")
    access.installation().acting(person("eve", "analyst")).ask(dataset_id, Decimal(1), "a list")
    app = open_page(name)
    if name == "data_sets":
        app.button(key="tour-hide").click().run()
    return app, dataset_id


def views(app: AppTest) -> Iterator[str]:
    """Open each view that the page has, if it has several."""
    key = f"{app.title[0].value.lower()}-view"
    if key not in app.session_state or key not in {group.key for group in app.button_group}:
        yield ""
        return
    for label in app.button_group(key=key).options:
        title = label.partition(" (")[0]
        checked(app.button_group(key=key).set_value(title).run())
        yield title


@contextmanager
def happening(events: Sequence[Callable[..., None]], app: AppTest, dataset_id: str) -> Iterator[None]:
    """Draw the page after something has happened; afterwards what can be undone is."""
    with pytest.MonkeyPatch.context() as patch:
        for event in events:
            event(patch, app, dataset_id)
        checked(app.run())
        yield
    app.query_params.pop(access.RUN_PARAMETER, None)
    if the_tour in events:
        app.button(key="tour-hide").click()
    checked(app.run())


def what_moves(name: str) -> list[str]:
    """Faults of a page in all situations."""
    app, dataset_id = opened(name)
    faults: list[str] = []
    for events in SITUATIONS:
        drawn: dict[str, dict[str, Place]] = {view: places(app) for view in views(app)}
        with happening(events, app, dataset_id):
            for view in views(app):
                assert places(app), "a page without any widget proves nothing"
                faults += [f"{events[0].__name__} {view}: {words}" for words in moved(drawn[view], app)]
    return faults


@pytest.mark.parametrize("name", NAMES)
def test_whatever_happens_every_input_stays_in_its_place(name, visit):
    visit(EVERYBODY)
    faults = what_moves(name)
    assert not faults, "\n".join(faults)


@pytest.mark.parametrize(
    "name", ["rule_list", *(pytest.param(name, marks=pytest.mark.slow) for name in ("releases", "custodian"))]
)
def test_so_it_does_without_a_login(name):
    faults = what_moves(name)
    assert not faults, "\n".join(faults)


def test_a_message_above_a_form_without_a_slot_is_found():
    def script() -> None:
        import streamlit as st

        if st.session_state.get("told"):
            st.success("Done.")
        with st.container():
            st.text_input("Name", key="name")

    app = AppTest.from_function(script).run()
    before = places(app)
    app.session_state["told"] = True
    assert len(moved(before, app.run())) == 1


# What a visitor does


TYPED = {"text_input", "text_area", "number_input", "date_input"}
#: Buttons that are left alone: they log out or take long.
NOT_PRESSED = ("log-out", "methods-", "ask-ask", "planner-ask")


def deeds(app: AppTest) -> list[tuple[str, str, int]]:
    """Kind and key of what can be used on a page, and how often: once for each choice."""
    kinds = ("text_input", "text_area", "number_input", "checkbox", "toggle", "radio", "button")
    return [
        (kind, widget.key, place)
        for kind in kinds
        for widget in app.main.get(kind)
        if widget.key and not any(part in widget.key for part in NOT_PRESSED)
        for place in range(len(widget.options) if kind == "radio" else 1)
    ]


def use(widget: Any, place: int) -> None:
    """Type nonsense or another number, press it, or choose what stands in a place."""
    if widget.type == "button":
        widget.click()
    elif widget.type == "radio":
        widget.set_value(widget.options[place])
    elif widget.type in {"checkbox", "toggle"}:
        widget.set_value(not widget.value)
    elif widget.type == "number_input":
        widget.set_value(widget.min if widget.min is not None else 1)
    else:
        widget.set_value("no sense")


def what_is_moved_by_use(name: str) -> list[str]:
    """Faults of a page while a visitor uses everything on it, one after the other."""
    app, _ = opened(name)
    faults: list[str] = []
    for view in views(app):
        for kind, key, place in deeds(app):
            widget = next((one for one in app.main.get(kind) if one.key == key), None)
            if widget is None:
                continue
            before = {name: at for name, at in places(app).items() if at.kind in TYPED}
            use(widget, place)
            checked(app.run())
            faults += [f"{view} {key} {place}: {words}" for words in moved(before, app)]
    return faults


@pytest.mark.parametrize(
    "name", ["rule_list", *(pytest.param(n, marks=pytest.mark.slow) for n in NAMES if n != "rule_list")]
)
def test_whatever_a_visitor_does_fields_stay_in_their_places(name, visit):
    visit(EVERYBODY)
    faults = what_is_moved_by_use(name)
    assert not faults, "\n".join(faults)
