"""Chosen results as one file, to attach to a request for access. Free."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from html import escape

import streamlit as st

from dpcore.errors import FrostglassError
from dpcore.released.release import Release
from dpcore.report.forms.forms import FORMS, instead
from dpcore.report.totals import Total
from dpcore.workspace.files.descriptions import DatasetInfo
from dpcore.workspace.results.dossier import MOST_RELEASES, Application
from pages.components.kit import made_file, markup
from pages.components.kit.markup import text
from pages.components.releases import release_names, sharing
from pages.components.report import draft, form
from pages.components.visitor import access

#: Forms that stand beside each other, the first one for most people.
_USUAL = ("pdf", "docx", "html", "md")


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
    by = sharing.others(sharing.read_sharing(dataset.id))
    names = release_names.labels(releases[::-1], notes, by)
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
    _downloads(dataset, chosen, written)


def _downloads(dataset: DatasetInfo, chosen: Sequence[Release], written: Application) -> None:
    """A button for each form of the dossier; the one that most people want first."""
    private = all(release.certificate.private for release in chosen)
    with st.container(horizontal=True):
        for form in _USUAL:
            _download(form, dataset, chosen, written)
    st.caption(text("report_forms"))
    with st.expander("For registries and output checkers", icon=":material/verified_user:"):
        for form in (form for form in FORMS if form not in _USUAL):
            st.markdown(f"**{FORMS[form].title}**: {FORMS[form].lead}.")
            if form == "yaml" and not private:
                st.info(text("report_no_entry"))
            _download(form, dataset, chosen, written, disabled=form == "yaml" and not private)


def _download(
    form: str, dataset: DatasetInfo, chosen: Sequence[Release], written: Application, *, disabled: bool = False
) -> None:
    kind = FORMS[form]
    name = kind.file_name(dataset.name)
    st.download_button(
        f"Download as {kind.title}" if form == _USUAL[0] else kind.title,
        made_file.later(_maker(form, dataset, chosen, written), name, kind.mime),
        name,
        kind.mime,
        type="primary" if form == _USUAL[0] else "secondary",
        icon=":material/download:",
        help=None if form == _USUAL[0] else f"{kind.lead[:1].upper()}{kind.lead[1:]}.",
        on_click="ignore",
        disabled=disabled,
        key=f"report-download-{form}",
    )


def _costs(sums: Sequence[Total]) -> None:
    """What the dossier will say about privacy, in its own words."""
    rows = [markup.row([escape(cell) for cell in (s.what, s.epsilon, s.delta, s.guarantee)]) for s in sums]
    markup.table("What it cost in privacy, exactly", ["What", "ε", "δ", "Guarantee"], rows)


def _maker(form: str, dataset: DatasetInfo, chosen: Sequence[Release], written: Application) -> Callable[[], bytes]:
    """What makes the file, on the click that downloads it; or one that says why it could not be made.

    A page of the app cannot say so: it is not drawn again for a download.
    """
    service, ids = access.service(), [release.id for release in chosen]

    def make() -> bytes:
        try:
            return service.dossier(dataset.id, ids, written, form)
        except FrostglassError as refusal:
            return instead(form, str(refusal))

    return make


page()
