"""How the Markov chains of a result go, for data sets marked public only."""

from __future__ import annotations

from typing import Any

import pandas as pd
import streamlit as st

from dpcore.numerals import measured, percent, whole
from dpcore.plots.chain_courses import chains_alt, chains_figure
from dpcore.released.release import Release
from pages.components.kit import figure
from pages.components.kit.markup import text
from pages.components.visitor import access

CONDITION = "conditional on convergence"


def chains(release: Release, key: str) -> None:
    """Offer to run the chains again, if the result has any."""
    if release.certificate.guarantee == CONDITION:
        with st.expander("Convergence of the chains (public data only)"):
            st.markdown(text("chain_courses"))
            _courses(release, f"{key}-chains-{release.id[:8]}")


@st.fragment
def _courses(release: Release, key: str) -> None:
    if st.button("Run the chains", key=f"{key}-run"):
        with st.spinner("The chains are running."):
            found, problem = access.attempt(lambda: access.service().chain_courses(release))
        if problem:
            st.warning(problem)
        st.session_state[key] = found
    if courses := st.session_state.get(key):
        _figures(courses, key)


def _figures(courses: list[Any], key: str) -> None:
    rows = [
        {
            "Draw": place + 1,
            "R-hat": measured(own.r_hat),
            "Effective sample size": whole(round(own.effective_size)),
            "Proposals accepted": percent(own.acceptance),
            "Thesis's criterion met": f"{own.settled} of {len(own.scores)} chains",
        }
        for place, own in enumerate(courses)
    ]
    st.dataframe(pd.DataFrame(rows), hide_index=True)
    for place, own in enumerate(courses):
        figure.render(chains_figure(own.scores), key=f"{key}-{place}", alt=chains_alt(own.scores))
