"""The figures that results consist of: each described once as a block, drawn for pages and files, and told in words."""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any, Final
from weakref import WeakKeyDictionary

from dpcore.plots.style import WIDTH
from dpcore.released.blocks import Figure

if TYPE_CHECKING:
    import plotly.graph_objects as go

    from dpcore.plots.printed.canvas import Canvas

#: Module of this package that has ``<kind>_figure`` and ``<kind>_alt``, both with the arguments of the block.
_MODULES: Final = {
    "columns_used": "trees.forest",
    "codes": "summaries.summaries_codes",
    "ilp": "ilp.ilp",
    "importance": "ebm.ebm",
    "overview": "summaries.summaries_overview",
    "pairs": "summaries.summaries_pairs",
    "redescriptions": "redescriptions.redescription_points",
    "rule_list": "rule_list",
    "shape": "ebm.ebm",
    "tree_sheet": "trees.tree",
}
#: Pixels that a figure on paper may be high before it shrinks.
_TALLEST: Final = 560
#: Height of its bars and rows, compared with that on a page.
_SQUEEZE: Final = 0.78
#: Sheets of the figures that some document still holds.
_SHEETS: Final[WeakKeyDictionary[Figure, tuple[Canvas, float]]] = WeakKeyDictionary()


def drawn(figure: Figure, *more: object) -> go.Figure:
    """A figure for plotly, in light colours; ``more`` are further arguments of its drawing."""
    made: go.Figure = _part(figure, "figure")(*figure.of, *more)
    return made


def alt(figure: Figure) -> str:
    """The figure in words, for a reader who cannot see it."""
    return str(_part(figure, "alt")(*figure.of))


def _part(figure: Figure, part: str) -> Any:
    return getattr(import_module(f"dpcore.plots.{_MODULES[figure.kind]}"), f"{figure.kind}_{part}")


def on_paper(figure: Figure) -> tuple[Canvas, float]:
    """The figure on a sheet, and the part of the width it may have that it takes; drawn once for all writers of it."""
    from dpcore.plots.printed.figure import printed

    if figure not in _SHEETS:
        canvas = printed(drawn(figure), WIDTH, _SQUEEZE)
        _SHEETS[figure] = canvas, min(1.0, _TALLEST / canvas.height)
    return _SHEETS[figure]
