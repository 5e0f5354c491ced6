"""Every result so far: find, reopen, name, download, compare. All of it is free."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import streamlit as st

from dpcore.released.release import Imported, Release
from dpcore.workspace.files.descriptions import ReleaseNote, Sharing
from pages.components.families import registry
from pages.components.kit import drawing, markup
from pages.components.releases import comparison, importing, library, release_filter, release_names, result, sharing
from pages.components.run import progress, runs_list
from pages.components.visitor import access, login


def page() -> None:
    st.title("Releases", anchor=False)
    markup.lead("Every result so far. Opening, naming, downloading and comparing them is free.")
    dataset = access.chosen_dataset()
    if dataset is None:
        markup.empty("No data set yet", "Results appear here once a data set exists and was used.")
        return
    with drawing.placeholder():
        progress.watch_active(dataset.id)
    everything = st.toggle("Show results of all data sets", key="all-releases")
    shown = None if everything else dataset.id
    released = access.service().releases(shown)
    imports, lost = importing.imports_read(released)
    importing.offer(lost)
    releases = [*released, *imports]
    if releases:
        _find(releases, access.service().release_notes(shown), sharing.read_sharing(shown))
    else:
        markup.empty("No results yet", _how_to_begin())
    runs_list.render(dataset.id)


def _how_to_begin() -> str:
    if not login.may("analyst", "teacher"):
        return "What analysts find appears here."
    *some, last = (family.title for family in registry.FAMILIES.values())
    return f"Set up a run on one of the pages {', '.join(some)} and {last}."


def _find(releases: Sequence[Release], notes: Mapping[str, ReleaseNote], readers: Mapping[str, Sharing]) -> None:
    kept = release_filter.choose(releases, notes, sharing.others(readers))
    if kept:
        _browse(kept, notes, readers)
    else:
        markup.empty("No result fits", "Ask for less in the filter above, or clear it.")


def _browse(releases: Sequence[Release], notes: Mapping[str, ReleaseNote], readers: Mapping[str, Sharing]) -> None:
    by = sharing.others(readers)
    with drawing.placeholder():
        if len(releases) > 1:
            library.render(releases, notes, by)
    names = release_names.labels(releases, notes, by)
    reading, comparing = st.tabs(["Read one", "Compare"], key="releases-view")
    with reading:
        chosen = st.selectbox("Result", list(names), format_func=names.__getitem__, key=release_names.OPEN)
        release = next(release for release in releases if release.id == chosen)
        if isinstance(release, Imported):
            importing.remove(release)
        else:
            release_names.render(release, notes.get(chosen), own=sharing.is_own(chosen, readers))
            sharing.render(chosen, readers)
        result.render(release, key=f"release-{chosen}")
    with comparing:
        comparison.render(releases, names)


page()
