"""What surrounds every page: title, menu, data set, budget meter. Runs before each page."""

from __future__ import annotations

from typing import Any

import streamlit as st

from pages.components.families import registry
from pages.components.kit import drawing, figure, markup
from pages.components.kit.markup import ASSETS, text
from pages.components.run import counting, meter, review
from pages.components.visitor import access, for_programs, login, menu


def frame() -> None:
    drawing.begin()
    st.set_page_config(
        page_title="Frostglass", page_icon=str(ASSETS / "icon.svg"), layout="wide", initial_sidebar_state="auto"
    )
    figure.declare_ground()
    st.logo(str(ASSETS / "logo.svg"), size="large")
    if not (login.admit() and access.ready()):
        menu.note_address(st.navigation(menu.every_page(), position="hidden").url_path)
        return
    access.keep_choice()
    page = st.navigation(menu.pages(), position="hidden")
    menu.return_after_login(page.url_path)
    if not login.user().roles:
        _without_a_role(page)
        return
    if not registry.sets_up(page.url_path):
        review.close_review()
    with st.sidebar:
        _choose_dataset()
        budget = st.container()
        menu.draw()
    counting.render()
    access.show_cost_of_this_run(None)
    page.run()
    menu.tour(page.url_path)
    with budget:
        if (dataset := access.chosen_dataset()) is not None:
            meter.render(dataset)
    with st.sidebar:
        menu.offer_tour(page.url_path)
        login.render(for_programs.log_out)


def _without_a_role(page: Any) -> None:
    """Lessons and classrooms, which touch no data set, for somebody who may see none."""
    markup.notice("plain", "You have no role here.", text("no_role"))
    page.run()
    with st.sidebar:
        menu.draw()
        login.render()


def _choose_dataset() -> None:
    known = access.datasets()
    access.apply_choice(known)
    if known:
        st.selectbox(
            "Data set",
            list(known),
            format_func=lambda dataset_id: known[dataset_id].name,
            key=access.DATASET_KEY,
            bind="query-params",
            on_change=access.forget_run,
        )


if __name__ == "__main__":
    frame()
