"""A sheet in pixels: lines, areas, marks and texts, written as SVG or PNG."""

from __future__ import annotations

import io
import re
from collections.abc import Sequence
from dataclasses import dataclass, replace
from html import escape, unescape
from typing import Any, Final, Literal

from matplotlib import rc_context
from matplotlib.artist import Artist
from matplotlib.backends.backend_agg import FigureCanvasAgg
from matplotlib.figure import Figure
from matplotlib.font_manager import FontProperties
from matplotlib.lines import Line2D
from matplotlib.patches import Polygon, Rectangle
from matplotlib.text import Text
from matplotlib.typing import LineStyleType

from dpcore.plots.style import INK

Point = tuple[float, float]
#: Left, top, right and bottom edge.
Frame = tuple[float, float, float, float]
Across = Literal["left", "center", "right"]
Down = Literal["top", "center", "bottom"]

#: Pixels of an inch, and points of a pixel.
_INCH: Final = 96
_POINT: Final = 72 / _INCH
#: The letters that are at hand everywhere are wider than those of pages.
_WIDE: Final = 0.87
_LEADING: Final = 1.25
_FONT: Final = "DejaVu Sans"
_RULES: Final[dict[Any, Any]] = {"svg.fonttype": "none", "svg.hashsalt": "frostglass", "hatch.linewidth": 0.8}
_DASHES: Final[dict[str, LineStyleType]] = {
    "solid": "-",
    "dot": (0, (1.2, 1.8)),
    "dash": (0, (5, 3)),
    "dashdot": (0, (5, 2, 1.2, 2)),
    "longdash": (0, (8, 3)),
    "longdashdot": (0, (8, 2, 1.2, 2)),
}
_MARKS: Final[dict[str, str]] = {
    "circle": "o",
    "diamond": "D",
    "square": "s",
    "triangle-up": "^",
    "x": "X",
    "star": "*",
    "line-ns": "|",
}
_HATCHES: Final[dict[str, str]] = {"": "", "/": "////", "\\": "\\\\\\\\", "x": "xxxx", ".": "...", "-": "---"}
#: Diamonds and squares look larger than circles as wide.
_SLIMMER: Final = {"diamond": 0.75, "square": 0.88}
_TAG: Final = re.compile(r"<(/?)(b|i|br)\s*/?>")


@dataclass(frozen=True)
class _Piece:
    """Some words of a line, in one style."""

    words: str
    bold: bool = False
    italic: bool = False


class Canvas:
    """A sheet of ``width`` by ``height`` pixels, counted from the top left."""

    def __init__(self, width: float, height: float) -> None:
        self.width, self.height = width, height
        self._figure = Figure(figsize=(width / _INCH, height / _INCH), dpi=_INCH)
        self._agg = FigureCanvasAgg(self._figure)
        self._axes = self._figure.add_axes((0.0, 0.0, 1.0, 1.0))
        self._axes.set_axis_off()
        self._axes.set_xlim(0, width)
        self._axes.set_ylim(height, 0)
        self._layer = 1.0

    def svg(self, title: str, description: str) -> str:
        """The sheet as SVG that tells its title and its description to who cannot see it."""
        told = io.StringIO()
        with rc_context(_RULES):
            self._figure.savefig(told, format="svg", transparent=True, metadata={"Date": None, "Creator": None})
        start, found, rest = told.getvalue().partition("<svg ")
        inside = f"<title>{escape(title)}</title><desc>{escape(description)}</desc>"
        head, end, body = rest.partition(">")
        return f'{start}{found}role="img" {head}{end}{inside}{body}'

    def png(self, dpi: int = 200) -> bytes:
        """The sheet as PNG on white."""
        told = io.BytesIO()
        with rc_context(_RULES):
            self._figure.savefig(told, format="png", dpi=dpi, facecolor="#ffffff", metadata={"Software": None})
        return told.getvalue()

    # What is drawn

    def line(
        self, points: Sequence[Point], colour: str, width: float = 1.0, dash: str = "solid", frame: Frame | None = None
    ) -> None:
        """A line through ``points``; what lies beyond ``frame`` is cut off."""
        xs, ys = zip(*points, strict=True)
        shade, alpha = paint(colour)
        drawn = Line2D(
            xs,
            ys,
            color=shade,
            alpha=alpha,
            linewidth=width * _POINT,
            linestyle=_DASHES[dash],
            solid_joinstyle="miter",
            solid_capstyle="butt",
        )
        self._add(drawn, frame)

    def area(
        self,
        points: Sequence[Point],
        fill: str,
        edge: str = "",
        width: float = 0.0,
        dash: str = "solid",
        hatch: str = "",
        frame: Frame | None = None,
    ) -> None:
        """A filled outline; ``hatch`` is a pattern of plotly."""
        shade, alpha = paint(fill)
        line, line_alpha = paint(edge) if edge and width else ("none", 0.0)
        drawn = Polygon(
            list(points),
            closed=True,
            facecolor=(shade, alpha),
            edgecolor=(line, line_alpha) if line != "none" else (INK, 1.0) if hatch else "none",
            linewidth=width * _POINT,
            linestyle=_DASHES[dash],
            hatch=_HATCHES[hatch] or None,
            joinstyle="miter",
        )
        self._add(drawn, frame)

    def mark(
        self,
        at: Point,
        symbol: str,
        size: float,
        colour: str,
        edge: str = "",
        width: float = 0.0,
        opacity: float = 1.0,
        frame: Frame | None = None,
    ) -> None:
        """One mark of plotly's names; ``size`` is its diameter."""
        name = symbol.removesuffix("-open")
        hollow = symbol.endswith("-open")
        line = edge or colour
        stroke = width or (1.5 if hollow or name == "line-ns" else 0.0)
        drawn = Line2D(
            [at[0]],
            [at[1]],
            linestyle="none",
            marker=_MARKS[name],
            markersize=size * _SLIMMER.get(name, 1.0) * _POINT,
            markerfacecolor="none" if hollow else colour,
            markeredgecolor=colour if hollow else line,
            markeredgewidth=stroke * _POINT,
            alpha=opacity,
        )
        self._add(drawn, frame)

    def text(
        self,
        at: Point,
        told: str,
        size: float,
        colour: str = INK,
        across: Across = "left",
        down: Down = "center",
        angle: float = 0.0,
    ) -> None:
        """Text with plotly's marks for bold, italic and new lines; ``angle`` turns it about ``at``, clockwise."""
        lines = _lines(told)
        step = size * _WIDE * _LEADING
        for number, pieces in enumerate(lines):
            above = {"top": number, "center": number - (len(lines) - 1) / 2, "bottom": number - len(lines) + 1}[down]
            if angle:
                self._turned(at, pieces, size, colour, across, down, angle, above * step)
            else:
                self._straight((at[0], at[1] + above * step), pieces, size, colour, across, down)

    def extent(self, told: str, size: float) -> Point:
        """Width and height of a text."""
        lines = _lines(told)
        widths = [sum(self._wide(piece, size) for piece in pieces) for pieces in lines]
        return max(widths, default=0.0), len(lines) * size * _WIDE * _LEADING

    # Inside

    def _straight(
        self, at: Point, pieces: Sequence[_Piece], size: float, colour: str, across: Across, down: Down
    ) -> None:
        widths = [self._wide(piece, size) for piece in pieces]
        left = at[0] - sum(widths) * {"left": 0.0, "center": 0.5, "right": 1.0}[across]
        for piece, wide in zip(pieces, widths, strict=True):
            # Readers of SVG drop spaces at the start of a text.
            words = piece.words.lstrip(" ")
            room = (len(piece.words) - len(words)) * self._space(piece, size)
            if words:
                self._write((left + room, at[1]), replace(piece, words=words), size, colour, "left", down)
            left += wide

    def _turned(
        self,
        at: Point,
        pieces: Sequence[_Piece],
        size: float,
        colour: str,
        across: Across,
        down: Down,
        angle: float,
        shift: float,
    ) -> None:
        """Text at an angle is in one style; its lines stand beside each other."""
        words = "".join(piece.words for piece in pieces)
        place = (at[0] + (shift if angle < 0 else -shift), at[1]) if abs(angle) == 90 else (at[0], at[1] + shift)
        self._write(place, _Piece(words), size, colour, across, down, angle)

    def _write(
        self, at: Point, piece: _Piece, size: float, colour: str, across: Across, down: Down, angle: float = 0.0
    ) -> None:
        upright: Any = {
            "top": "top",
            "center": "center_baseline",
            "bottom": "bottom",
        }[down]
        drawn = Text(
            at[0],
            at[1],
            piece.words,
            color=colour,
            fontproperties=_font(piece, size),
            horizontalalignment=across,
            verticalalignment=upright,
            rotation=-angle,
            rotation_mode="anchor",
            parse_math=False,
        )
        self._layer += 1e-4
        drawn.set_zorder(self._layer)
        self._axes.add_artist(drawn)
        drawn.set_clip_on(False)

    def _wide(self, piece: _Piece, size: float) -> float:
        words = piece.words.strip(" ")
        spaces = len(piece.words) - len(words)
        return self._measured(words, piece, size) + (spaces * self._space(piece, size) if spaces else 0.0)

    def _space(self, piece: _Piece, size: float) -> float:
        return self._measured("n n", piece, size) - self._measured("nn", piece, size)

    def _measured(self, words: str, piece: _Piece, size: float) -> float:
        renderer: Any = self._agg.get_renderer()  # type: ignore[no-untyped-call]
        wide, _, _ = renderer.get_text_width_height_descent(words, _font(piece, size), ismath=False)
        return float(wide)

    def _add(self, drawn: Artist, frame: Frame | None) -> None:
        self._layer += 1e-4
        drawn.set_zorder(self._layer)
        self._axes.add_artist(drawn)
        if frame is None:
            drawn.set_clip_on(False)
            return
        left, top, right, bottom = frame
        clip = Rectangle((left, top), right - left, bottom - top, transform=self._axes.transData)
        drawn.set_clip_path(clip)


def paint(colour: str) -> tuple[str, float]:
    """A colour and its opacity."""
    if not colour.startswith("rgba("):
        return colour, 1.0
    *shares, opacity = colour[5:-1].split(",")
    return "#" + "".join(f"{int(share):02x}" for share in shares), float(opacity)


def _font(piece: _Piece, size: float) -> FontProperties:
    return FontProperties(
        family=_FONT,
        size=size * _WIDE * _POINT,
        weight="bold" if piece.bold else "normal",
        style="italic" if piece.italic else "normal",
    )


def _lines(told: str) -> list[list[_Piece]]:
    """The lines of a text, each in pieces of one style."""
    lines: list[list[_Piece]] = [[]]
    bold = italic = False
    start = 0
    for tag in [*_TAG.finditer(told), None]:
        words = unescape(told[start : tag.start() if tag else len(told)])
        if words:
            lines[-1].append(_Piece(words, bold, italic))
        if tag is None:
            break
        start = tag.end()
        opens = not tag.group(1)
        if tag.group(2) == "br":
            lines.append([])
        elif tag.group(2) == "b":
            bold = opens
        else:
            italic = opens
    return lines
