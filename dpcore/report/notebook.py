"""Releases in notebooks: how one shows itself, and its figures."""

from __future__ import annotations

import plotly.graph_objects as go

from dpcore.released.release import Release
from dpcore.report.contents import content
from dpcore.report.page import fragment

#: Tables that are shown; files hold all.
_MOST_TABLES = 2


def shown(release: Release) -> str:
    """A part of a page: what it is, in words, its first tables and its certificate. Needs no script."""
    return fragment("notebook.html", release, most_tables=_MOST_TABLES)


def figures(release: Release) -> list[go.Figure]:
    """Plotly figures of a release, as reports show them, the most telling first. Free.

    Parameters
    ----------
    release : Release
        From an estimator (``model.release_``), a file or a :class:`dpcore.Client`.

    Returns
    -------
    list of plotly.graph_objects.Figure
        Empty for a family that is read as text.
    """
    return [picture.figure for picture in content(release).pictures]
