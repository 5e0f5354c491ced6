"""Every result so far: reopen, download, compare. All of it is free."""

from __future__ import annotations

from collections.abc import Sequence

import streamlit as st

from dpcore.privacy import format_epsilon
from dpcore.release import Release
from pages.components import access, comparison, families, markup, progress, result, runs_list

OPEN = "release"


def page() -> None:
    st.title("Releases", anchor=False)
    markup.lead("Every result so far. Opening, downloading and comparing them is free.")
    dataset = access.chosen_dataset()
    if dataset is None:
        markup.empty("No data set yet", "Results appear here once a data set exists and was used.")
        return
    progress.watch_active(dataset.id)
    everything = st.toggle("Show results of all data sets", key="all-releases")
    releases = access.service().releases(None if everything else dataset.id)
    if releases:
        _browse(releases)
    else:
        *some, last = (family.title for family in families.FAMILIES.values())
        markup.empty(
            "No results yet", f"Set up a run on one of the pages {', '.join(some)} and {last}."
        )
    runs_list.show(dataset.id)


def _browse(releases: Sequence[Release]) -> None:
    names = {release.id: _name(release) for release in releases}
    reading, comparing = st.tabs(["Read one", "Compare two"], key="releases-view")
    with reading:
        chosen = st.selectbox("Result", list(names), format_func=names.__getitem__, key=OPEN)
        result.show(next(r for r in releases if r.id == chosen), key=f"release-{chosen}")
    with comparing:
        comparison.show(releases, names)


def _name(release: Release) -> str:
    card, family = release.certificate, families.of_release(release)
    return (
        f"{family.heading(release.target)} · ε {format_epsilon(card.epsilon)} · "
        f"{card.created:%Y-%m-%d %H:%M} UTC · {release.dataset_name} · {release.id[:6]}"
    )


page()
