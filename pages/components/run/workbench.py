"""The page of one family: set up, review, run, read, and compare its methods."""

from __future__ import annotations

import streamlit as st

from dpcore.workspace.ledger.requests import RunStatus
from pages.components.families import registry
from pages.components.families.registry import Family
from pages.components.families.shared.inputs import FormContext
from pages.components.kit import drawing, markup
from pages.components.releases import result
from pages.components.run import compare_methods, progress, review
from pages.components.run import set_up as setting_up
from pages.components.visitor import access, menu


def page(family: Family) -> None:
    """Draw the page."""
    st.title(family.title, anchor=False)
    markup.lead(family.lead)
    dataset = access.chosen_dataset()
    if dataset is None:
        markup.empty("No data set yet", "Start with public demonstration data, or add your own.")
        menu.link("data_sets.py", "Go to Data sets")
        return
    if review.follow():  # What has just begun must be in sight.
        st.session_state[_form_key(family)] = False
    review.render()
    with drawing.placeholder():
        named, shown = progress.render(dataset.id)
        if named is not None and named.release_id is not None:
            _read(named, named.release_id, family)
    with drawing.placeholder():
        context = FormContext(dataset, access.service().releases(dataset.id))
        if not shown and result.latest(context, family):
            shown = "latest"
    if not _set_up(context, family, shown):
        access.show_cost_of_this_run(None)  # The meter belongs to what is in sight.
    if dataset.public and compare_methods.offered(family):
        compare_methods.render(dataset, family)


def _form_key(family: Family) -> str:
    return f"set-up-{family.name}"


def _set_up(context: FormContext, family: Family, shown: str) -> bool:
    """The form of a run, and whether it is in sight.

    At first it is open if nothing else is shown, and it opens again once nothing is. What comes
    by itself leaves it as it is: somebody may be typing in it.
    """
    key, before, state = _form_key(family), f"beside-{family.name}", st.session_state
    if key not in state or (state.get(before) and not shown):
        state[key] = not shown
    state[before] = shown
    # The words stay the same: the browser knows it by them.
    with st.expander("**Set up a run**", key=key, on_change="rerun") as form:
        setting_up.render(context, family)
    return bool(form.open)


def _read(run: RunStatus, release_id: str, family: Family) -> None:
    """The result of the run in the address, or the way to the page that shows it."""
    own = registry.of_request(run.request)
    if own.name == family.name:
        release, problem = access.attempt(lambda: access.service().release(release_id))
        if release is None:
            st.error(problem)
        else:
            result.render(release, key=f"run-{run.id}")
        return
    menu.link(
        own.page,
        f"Read this result on the page {own.title}",
        query_params={access.RUN_PARAMETER: run.id},
    )
