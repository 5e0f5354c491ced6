"""A release to hand on: its certificate in words, and its files. All of it is free."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from html import escape
from typing import Any, Final

import streamlit as st

from dpcore.errors import FrostglassError
from dpcore.rehearsal import Rehearsal
from dpcore.released.release import Imported, Release
from dpcore.report.certificate import certificate_lines
from dpcore.report.forms.page import release_page
from dpcore.spreadsheets import frame_csv
from dpcore.workspace.files.descriptions import ReleaseNote
from pages.components.kit import made_file, markup
from pages.components.kit.markup import text
from pages.components.visitor import access

_SENTENCE = (
    '<!doctype html><html lang="en"><meta charset="utf-8"><title>No file</title>'
    "<h1>This file could not be made</h1><p>{}</p></html>"
)
#: What files are (MIME) by their endings; others are plain text.
_KINDS: Final = {"csv": "text/csv"}


def certificate(release: Release) -> None:
    """Every field of the certificate."""
    markup.pairs_table("Certificate", ("What", "Value"), certificate_lines(release))


def page_maker(release: Release) -> Callable[[], str]:
    """What makes the page, on the click that downloads it."""
    service = access.service()

    def make() -> str:
        if isinstance(release, Rehearsal):  # It is not stored.
            return release_page(release, stored=False)
        if isinstance(release, Imported):
            made = release.certificate.created
            return release_page(release, ReleaseNote(release.id, "", text("imported"), "", made))
        return or_sentence(lambda: service.release_page(release.id))

    return make


def or_sentence(make: Callable[[], str]) -> str:
    """A file; or, if it may not be made any more, a page that says why.

    A page of the app cannot say so: it is not drawn again for a download.
    """
    try:
        return make()
    except FrostglassError as refusal:
        return _SENTENCE.format(escape(str(refusal)))


@dataclass(frozen=True)
class File:
    """One more form of a release.

    Attributes
    ----------
    label : str
        What its button says after ``Download``.
    ending : str
        Of its name, without the dot.
    name : str
        What of the release it holds, where other files have the same ending.
    """

    label: str
    ending: str
    content: str
    name: str = ""

    @property
    def tail(self) -> str:
        """What stands behind the name of the release: ``-codes.csv``."""
        return f"-{self.name}.{self.ending}" if self.name else f".{self.ending}"

    @property
    def kind(self) -> str:
        """What it is (MIME)."""
        return _KINDS.get(self.ending, "text/plain")


def file_name(release: Release) -> str:
    """Name of a file without its ending: what is predicted or, without a target, the family."""
    return f"frostglass-{release.target or release.kind}-{release.id[:8]}"


def render(release: Release, model: Any, key: str, csv: str, more: Sequence[File] = (), twin: Any = None) -> None:
    """JSON, a page to read anywhere, CSV of the table twin, which holds ``csv``, and ``more``.

    ``twin`` is the table twin of a model that cannot make it without the release.
    """
    st.markdown(
        f"Downloading is free. JSON holds everything; CSV holds {csv}; HTML is a page with text, "
        "figures and certificate, to read or print without this app."
    )
    table = model.to_frame() if twin is None else twin
    name = file_name(release)
    made = made_file.later(page_maker(release), f"{name}.html", "text/html")
    files: list[tuple[str, Any, str, str, str]] = [
        ("JSON", release.to_json(), ".json", "application/json", "json"),
        ("CSV", frame_csv(table), ".csv", "text/csv", "csv"),
        ("HTML", made, ".html", "text/html", "html"),
        *((file.label, file.content, file.tail, file.kind, file.name or file.ending) for file in more),
    ]
    for place, (label, content, tail, kind, part) in zip(st.columns(len(files)), files, strict=True):
        place.download_button(
            f"Download {label}",
            content,
            f"{name}{tail}",
            kind,
            key=f"{key}-{part}",
            on_click="ignore",
            width="stretch",
        )
