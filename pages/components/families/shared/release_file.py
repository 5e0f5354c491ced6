"""One release as a page that opens without this app."""

from __future__ import annotations

from collections.abc import Callable
from html import escape

from dpcore.errors import FrostglassError
from dpcore.rehearsal import Rehearsal
from dpcore.released.release import Imported, Release
from dpcore.report.forms.page import release_page
from dpcore.workspace.files.descriptions import ReleaseNote
from pages.components.kit.markup import text
from pages.components.visitor import access

_SENTENCE = (
    '<!doctype html><html lang="en"><meta charset="utf-8"><title>No file</title>'
    "<h1>This file could not be made</h1><p>{}</p></html>"
)


def page_maker(release: Release) -> Callable[[], str]:
    """What makes the page, on the click that downloads it."""
    service = access.service()

    def make() -> str:
        if isinstance(release, Rehearsal):  # It is not stored.
            return release_page(release, stored=False)
        if isinstance(release, Imported):
            made = release.certificate.created
            return release_page(release, ReleaseNote(release.id, "", text("imported_note"), "", made))
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
