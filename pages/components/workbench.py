"""The page of one family: set up, review, run, read, and compare its methods."""

from __future__ import annotations

import streamlit as st

from dpcore.requests import RunStatus
from pages.components import (
    access,
    compare_methods,
    families,
    markup,
    menu,
    progress,
    result,
    review,
)
from pages.components import set_up as setting_up
from pages.components.families import Family


def page(family: Family) -> None:
    """Draw the page."""
    st.title(family.title, anchor=False)
    markup.lead(family.lead)
    dataset = access.chosen_dataset()
    if dataset is None:
        markup.empty("No data set yet", "Start with public demonstration data, or add your own.")
        menu.link("data_sets.py", "Go to Data sets")
        return
    review.follow()
    named, shown = progress.show(dataset.id)
    if named is not None and named.release_id is not None:
        _read(named, family)
    if shown:
        # A new key closes it, so that what has just happened is in sight.
        with st.expander("**Set up another run**", key=f"again-{family.name}-{shown}"):
            setting_up.show(dataset, family)
        access.show_cost_of_this_run(None)  # The meter belongs to what is in sight.
    else:
        st.header("Set up a run", anchor=False)
        setting_up.show(dataset, family)
    if dataset.public and family.methods and family.targeted:
        compare_methods.show(dataset, family)
    review.show()


def _read(run: RunStatus, family: Family) -> None:
    """The result of the run in the address, or the way to the page that shows it."""
    own = families.of_request(run.request)
    if own.name == family.name:
        release_id = run.release_id
        assert release_id is not None
        release, problem = access.attempt(lambda: access.service().release(release_id))
        if release is None:
            st.error(problem)
        else:
            result.show(release, key=f"run-{run.id}")
        return
    menu.link(
        own.page,
        f"Read this result on the page {own.title}",
        query_params={access.RUN_PARAMETER: run.id},
    )
