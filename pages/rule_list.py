"""Set up, review, run and read a private rule list."""

from __future__ import annotations

import streamlit as st

from pages.components import access, markup, progress, result, review, set_up


def page() -> None:
    st.title("Rule list", anchor=False)
    markup.lead("A short list of IF / ELSE IF rules that predicts one column, learned privately.")
    dataset = access.chosen_dataset()
    if dataset is None:
        markup.empty("No data set yet", "Add one on the page Custodian, or go to Data sets.")
        return
    review.follow_run()
    named, shown = progress.show(dataset.id)
    if named is not None and named.release_id is not None:
        result.show(access.service().release(named.release_id), key=f"run-{named.id}")
    if shown:
        # A new key closes it, so that what has just happened is in sight.
        with st.expander("**Set up another run**", key=f"again-{shown}"):
            set_up.show(dataset)
        access.show_cost_of_this_run(None)  # The meter belongs to what is in sight.
    else:
        st.header("Set up a run", anchor=False)
        set_up.show(dataset)
    review.show()


page()
