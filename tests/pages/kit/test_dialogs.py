"""Dialogs: one at a time, the page beneath waits, and an answer draws it."""

from __future__ import annotations

from streamlit.testing.v1 import AppTest


def page() -> None:
    import streamlit as st

    from pages.components.kit import drawing

    state = st.session_state
    drawing.begin()
    state["drawn"] = state.get("drawn", 0) + 1

    @drawing.dialog("A question", on_dismiss=lambda: None)
    def ask() -> None:
        st.button("Yes", key="yes", on_click=answer)

    def answer() -> None:
        state["asked"] = False
        drawing.dialog_answered()

    if state.get("asked", True):
        ask()
    if state.pop("wanted", False):
        drawing.again()
        drawing.follow_dialog()
        state["waited"] = True


def test_what_refreshes_itself_waits_for_the_dialog():
    app = AppTest.from_function(page)
    app.session_state["wanted"] = True
    app.run()
    assert (app.session_state["drawn"], app.session_state["waited"]) == (1, True)
    assert [button.key for button in app.button] == ["yes"]


def test_without_a_dialog_it_draws_the_page():
    app = AppTest.from_function(page)
    app.session_state["wanted"], app.session_state["asked"] = True, False
    app.run()
    assert app.session_state["drawn"] == 2
    assert "waited" not in app.session_state


def test_an_answer_closes_it():
    app = AppTest.from_function(page).run()
    app.button(key="yes").click().run()
    assert not app.button
    assert not app.exception
