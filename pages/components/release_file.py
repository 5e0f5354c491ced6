"""One release as a page that opens without this app."""

from __future__ import annotations

from collections.abc import Callable

from dpcore.errors import NotFoundError
from dpcore.release import Release
from pages.components import access


def maker(release: Release) -> Callable[[], str]:
    """What makes the page, on the click that downloads it."""
    service = access.service()

    def make() -> str:
        from dpcore.report.page import release_page

        try:
            return service.release_page(release.id)
        except NotFoundError:  # A rehearsal is not stored.
            return release_page(release, stored=False)

    return make
