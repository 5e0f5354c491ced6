"""Chosen results as one file, to attach to a request for access. Free."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from html import escape

import streamlit as st

from dpcore.released.release import Release
from dpcore.report.totals import Total
from dpcore.workspace.dossier import MOST_RELEASES, Application
from dpcore.workspace.requests import DatasetInfo
from pages.components.families.shared import release_file
from pages.components.kit import made_file, markup
from pages.components.kit.texts import text
from pages.components.releases import release_names, sharing
from pages.components.report import draft, form
from pages.components.visitor import access


def page() -> None:
    st.title("Report", anchor=False)
    markup.lead(
        "Put results together into one file, to attach to a request for access to the records. Making it is free."
    )
    dataset = access.chosen_dataset()
    if dataset is None:
        markup.empty("No data set yet", "A report needs a data set with results.")
        return
    releases = access.service().releases(dataset.id)
    if not releases:
        markup.empty("No results yet", "A report is made of results: there are none so far.")
        return
    kept = draft.take_over(dataset.id, {release.id for release in releases})
    chosen = _choose(dataset, releases)
    written, refusal = access.attempt(lambda: form.application(dataset.id))
    draft.tell(dataset.id, kept)
    if written is None:
        st.error(refusal)
        return
    _finish(dataset, chosen, written)


def _choose(dataset: DatasetInfo, releases: Sequence[Release]) -> list[Release]:
    """Results to include, in the order in which they were made."""
    st.subheader("Results to include", anchor=False)
    notes = access.service().release_notes(dataset.id)
    by = sharing.others(sharing.read(dataset.id))
    names = {r.id: release_names.label(r, notes.get(r.id), by.get(r.id, "")) for r in reversed(releases)}
    part = draft.RESULTS
    wanted = st.multiselect(
        "Results",
        list(names),
        format_func=names.__getitem__,
        key=draft.key(dataset.id, part),
        max_selections=MOST_RELEASES,
        placeholder="Choose one or more",
        on_change=draft.keep,
        args=(dataset.id, part),
    )
    return [release for release in reversed(releases) if release.id in wanted]


def _finish(dataset: DatasetInfo, chosen: Sequence[Release], written: Application) -> None:
    st.subheader("The dossier", anchor=False)
    if not chosen:
        st.info("Choose at least one result above. Then the dossier can be downloaded here.")
        return
    service, ids = access.service(), [release.id for release in chosen]
    sums, refusal = access.attempt(lambda: service.dossier_totals(dataset.id, ids))
    if sums is None:
        st.error(refusal)
        return
    _costs(sums)
    name = f"frostglass-dossier-{dataset.name}.html"
    st.download_button(
        "Download the dossier (HTML)",
        made_file.later(_maker(dataset, chosen, written), name, "text/html"),
        name,
        "text/html",
        type="primary",
        icon=":material/description:",
        on_click="ignore",
        key="report-download",
    )
    st.caption(text("report_print"))


def _costs(sums: Sequence[Total]) -> None:
    """What the dossier will say about privacy, in its own words."""
    rows = [markup.row([escape(cell) for cell in (_capital(s.what), s.epsilon, s.delta)]) for s in sums]
    markup.table("What it cost in privacy, exactly", ["What", "ε", "δ"], rows)
    markup.sentences(f"{_capital(s.what)}: {s.odds}" for s in sums)


def _capital(words: str) -> str:
    return words[:1].upper() + words[1:]


def _maker(dataset: DatasetInfo, chosen: Sequence[Release], written: Application) -> Callable[[], str]:
    """What makes the file, on the click that downloads it."""
    service, ids = access.service(), [release.id for release in chosen]
    return lambda: release_file.or_sentence(lambda: service.dossier(dataset.id, ids, written))


page()
