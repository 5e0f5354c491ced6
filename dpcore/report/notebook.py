"""Releases in notebooks: how one shows itself, and its figures."""

from __future__ import annotations

import plotly.graph_objects as go

from dpcore.models.readable import blocks_of
from dpcore.plots.figures import drawn
from dpcore.released.blocks import Figure, only
from dpcore.released.release import Release
from dpcore.report.forms.page import result_part
from dpcore.report.result import result_blocks, title_of


def shown(release: Release) -> str:
    """A part of a page: what it is, in words, its tables and its certificate; :func:`figures` has the figures."""
    blocks = [block for block in result_blocks(release) if not isinstance(block, Figure)]
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
    return [drawn(figure) for figure in only(blocks_of(release), Figure)]
