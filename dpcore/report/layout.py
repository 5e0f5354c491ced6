"""How wide the columns of a printed table are, and how large its figures."""

from __future__ import annotations

from typing import Final

from dpcore.plots.printed.canvas import Canvas
from dpcore.plots.printed.figure import printed
from dpcore.report.blocks import Drawing, Grid
from dpcore.report.contents import WIDTH

#: Characters of a column that count for its width.
_NARROW, _WIDE = 7, 64
_FIXED: Final = {"pairs": (0.3, 0.7), "schema": (0.2, 0.15, 0.28, 0.17, 0.2)}
#: Pixels that a figure on paper may be high before it shrinks, and the part of the width that it takes at most.
_TALLEST: Final = 560
_SHARE: Final = 0.82
#: Height of bars and rows, compared with that on a page.
_SQUEEZE: Final = 0.78


def shares(grid: Grid) -> list[float]:
    """Part of the width for each column: more for longer words."""
    if grid.kind in _FIXED:
        return list(_FIXED[grid.kind])
    table = grid.table
    longest = [max(len(row[place]) for row in (table.head, *table.rows)) for place in range(len(table.head))]
    weights = [min(max(length, _NARROW), _WIDE) ** 0.75 for length in longest]
    return [weight / sum(weights) for weight in weights]


def on_paper(drawing: Drawing) -> tuple[Canvas, float]:
    """A figure, and the part of the width of the text that it takes."""
    canvas = printed(drawing.picture.figure, WIDTH, _SQUEEZE)
    return canvas, _SHARE * min(1.0, _TALLEST / canvas.height)
