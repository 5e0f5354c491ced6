"""Every result so far: find, reopen, name, download, compare. All of it is free."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import streamlit as st

from dpcore.release import Release
from dpcore.requests import ReleaseNote
from pages.components import (
    access,
    comparison,
    families,
    markup,
    progress,
    release_filter,
    release_names,
    result,
    runs_list,
)


def page() -> None:
    st.title("Releases", anchor=False)
    markup.lead("Every result so far. Opening, naming, downloading and comparing them is free.")
    dataset = access.chosen_dataset()
    if dataset is None:
        markup.empty("No data set yet", "Results appear here once a data set exists and was used.")
        return
    progress.watch_active(dataset.id)
    everything = st.toggle("Show results of all data sets", key="all-releases")
    shown = None if everything else dataset.id
    releases = access.service().releases(shown)
    if releases:
        _find(releases, access.service().release_notes(shown))
    else:
        *some, last = (family.title for family in families.FAMILIES.values())
        markup.empty(
            "No results yet", f"Set up a run on one of the pages {', '.join(some)} and {last}."
        )
    runs_list.show(dataset.id)


def _find(releases: Sequence[Release], notes: Mapping[str, ReleaseNote]) -> None:
    kept = release_filter.choose(releases, notes)
    if kept:
        _browse(kept, notes)
    else:
        markup.empty("No result fits", "Ask for less in the filter above, or clear it.")


def _browse(releases: Sequence[Release], notes: Mapping[str, ReleaseNote]) -> None:
    names = {
        release.id: release_names.label(release, notes.get(release.id)) for release in releases
    }
    reading, comparing = st.tabs(["Read one", "Compare two"], key="releases-view")
    with reading:
        chosen = st.selectbox(
            "Result", list(names), format_func=names.__getitem__, key=release_names.OPEN
        )
        release_names.show(next(r for r in releases if r.id == chosen), notes.get(chosen))
        result.show(next(r for r in releases if r.id == chosen), key=f"release-{chosen}")
    with comparing:
        comparison.show(releases, names)


page()
