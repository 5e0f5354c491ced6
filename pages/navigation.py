"""What surrounds every page: title, menu, data set, budget meter. Runs before each page."""

from __future__ import annotations

import streamlit as st

from pages.components.families import registry
from pages.components.kit import theme
from pages.components.kit.texts import ASSETS
from pages.components.run import meter, review
from pages.components.visitor import access, login, menu, tour


def frame() -> None:
    st.set_page_config(
        page_title="Frostglass", page_icon=str(ASSETS / "icon.svg"), layout="wide", initial_sidebar_state="auto"
    )
    st.html(ASSETS / "style.css")
    theme.declare()
    st.logo(str(ASSETS / "logo.svg"), size="large")
    if not (login.admit() and access.ready()):
        st.navigation(menu.every_page(), position="hidden")
        return
    access.keep_choice()
    page = st.navigation(menu.pages(), expanded=True)
    if not registry.sets_up(page.url_path):
        review.close_review()
    _choose_dataset()
    access.show_cost_of_this_run(None)
    tour.show(page.url_path)
    page.run()
    _finish(page.url_path)


def _choose_dataset() -> None:
    access.apply_choice()
    known = access.datasets()
    if known:
        st.sidebar.selectbox(
            "Data set",
            list(known),
            format_func=lambda dataset_id: known[dataset_id].name,
            key=access.DATASET_KEY,
            bind="query-params",
            on_change=access.forget_run,
        )


def _finish(page: str) -> None:
    dataset = access.chosen_dataset()
    with st.sidebar:
        if dataset is not None:
            meter.show(dataset)
            st.divider()
        tour.offer(page)
        login.show()


if __name__ == "__main__":
    frame()
