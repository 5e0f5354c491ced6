"""A release as files; free."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Final

import streamlit as st

from dpcore.released.release import Release
from dpcore.spreadsheets import frame_csv
from pages.components.families.shared import release_file
from pages.components.kit import made_file

#: What files are (MIME) by their endings; others are plain text.
_KINDS: Final = {"csv": "text/csv"}


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
    left, right, middle, *others = st.columns(3 + len(more))
    left.download_button(
        "Download JSON",
        release.to_json(),
        f"{name}.json",
        "application/json",
        key=f"{key}-json",
        on_click="ignore",
        width="stretch",
    )
    right.download_button(
        "Download CSV",
        frame_csv(table),
        f"{name}.csv",
        "text/csv",
        key=f"{key}-csv",
        on_click="ignore",
        width="stretch",
    )
    middle.download_button(
        "Download HTML",
        made_file.later(release_file.page_maker(release), f"{name}.html", "text/html"),
        f"{name}.html",
        "text/html",
        key=f"{key}-html",
        on_click="ignore",
        width="stretch",
    )
    for place, file in zip(others, more, strict=True):
        place.download_button(
            f"Download {file.label}",
            file.content,
            f"{name}{file.tail}",
            file.kind,
            key=f"{key}-{file.name or file.ending}",
            on_click="ignore",
            width="stretch",
        )
