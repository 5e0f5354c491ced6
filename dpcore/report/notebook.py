"""Releases in notebooks: how one shows itself, and its figures."""

from __future__ import annotations

import plotly.graph_objects as go

from dpcore.released.release import Release
from dpcore.report.blocks import Drawing
from dpcore.report.contents import content
from dpcore.report.forms.page import result_part
from dpcore.report.result import result_blocks, title_of


def shown(release: Release) -> str:
    """A part of a page: what it is, in words, its tables and its certificate; :func:`figures` has the figures."""
    blocks = [block for block in result_blocks(release) if not isinstance(block, Drawing)]
    return result_part(title_of(release, None), blocks)


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
