"""What is shown of public records only: true values beside noisy ones, and how Markov chains went."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, TypeVar

import streamlit as st

from dpcore.numerals import measured, percent, whole
from dpcore.plots.chain_courses import chains_alt, chains_figure
from dpcore.released.release import Release
from pages.components.kit import drawing, figure
from pages.components.kit.markup import text
from pages.components.visitor import access

T = TypeVar("T")


@dataclass(frozen=True)
class Truth:
    """True counts per rule, node or group of votes, and class, of the public records used."""

    counts: tuple[tuple[int, ...], ...]

    def share(self, place: int, label: int) -> float | None:
        """True share of a class among the records of one place; ``None`` if there are none."""
        total = sum(self.counts[place])
        return self.counts[place][label] / total if total else None


def of_release(release: Release) -> Truth:
    """Ask the service, which refuses for private data."""
    return Truth(access.service().true_counts(release))


def ask(release: Release, key: str) -> Truth | None:
    """Offer true values beside noisy ones; ``None`` unless they are wanted."""
    return wanted(release, key, of_release)


def wanted(release: Release, key: str, read: Callable[[Release], T]) -> T | None:
    """What ``read`` tells of the public records, if the visitor wants it."""
    shown = st.toggle("Show true values beside noisy ones (public data only)", key=f"{key}-truth")
    with drawing.placeholder():
        if not shown:
            return None
        st.caption(text("true_values"))
        truth, problem = access.attempt(lambda: read(release))
        if problem:
            st.warning(problem)
    return truth


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
    st.dataframe(rows, hide_index=True)
    for place, own in enumerate(courses):
        figure.render(chains_figure(own.scores), key=f"{key}-{place}", alt=chains_alt(own.scores))
