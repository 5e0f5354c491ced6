"""Files of HTML that open anywhere: one release as a page, several as a dossier.

A file holds everything that it shows. Its first lines forbid the browser to fetch anything, and
every text from outside is escaped by the templates.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import cache
from pathlib import Path

from jinja2 import Environment, FileSystemLoader, StrictUndefined
from markupsafe import Markup

from dpcore.models.readable import heading
from dpcore.plots.figures import alt, drawn
from dpcore.plots.style import WIDTH
from dpcore.released.blocks import Figure, Written
from dpcore.released.release import Release
from dpcore.report.document import Document
from dpcore.report.result import result_blocks, title_of
from dpcore.workspace.files.descriptions import ReleaseNote

TEMPLATES = Path(__file__).with_name("templates")
#: Pixels of a sheet that a figure may take, and how far it may shrink for it.
_HEIGHT, _SMALLEST = 900, 0.6
_CHART = {"staticPlot": True, "displayModeBar": False}


def release_page(release: Release, note: ReleaseNote | None = None, *, stored: bool = True) -> str:
    """One release as a file of HTML that needs nothing else.

    Parameters
    ----------
    stored : bool
        ``False`` for a rehearsal on invented records, which the file then says.
    """
    return _render(
        "release.html",
        title=title_of(release, note),
        kind=heading(release),
        release=release,
        blocks=result_blocks(release, note),
        stored=stored,
    )


def result_part(title: str, blocks: Sequence[Written]) -> str:
    """A part of a page about one result, for a place that has styles of its own and runs no script."""
    return _templates().get_template("notebook.html").render(title=title, blocks=blocks)


def dossier_page(document: Document) -> str:
    """A dossier as a file of HTML that needs nothing else."""
    return _render("dossier.html", document=document, title=document.title)


def _drawn(block: Figure) -> Markup:
    """A figure that stands still and fits on a sheet."""
    from plotly.io import to_html

    figure = drawn(block)
    meta = figure.layout.meta
    width = max(WIDTH, int(meta["width"])) if meta else WIDTH
    height = float(figure.layout.height or 450)
    figure.update_layout(width=width, height=height, autosize=False)
    shrink = max(_SMALLEST, min(1.0, _HEIGHT / height))
    shrink = min(shrink, WIDTH / width)
    markup = to_html(
        figure, config=_CHART, include_plotlyjs=False, include_mathjax=False, full_html=False, div_id=block.name
    )
    return Markup('<div style="zoom: {:.3f}">').format(shrink) + Markup(markup) + Markup("</div>")


@cache
def _templates() -> Environment:
    found = Environment(
        loader=FileSystemLoader(TEMPLATES),
        autoescape=True,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    found.filters["drawn"], found.filters["alt"] = _drawn, alt
    found.filters["kind"] = lambda block: type(block).__name__
    return found


def _render(template: str, **values: object) -> str:
    from plotly.offline import get_plotlyjs

    style = (TEMPLATES / "style.css").read_text(encoding="utf-8")
    return _templates().get_template(template).render(style=Markup(style), script=Markup(get_plotlyjs()), **values)
