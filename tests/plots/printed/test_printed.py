"""Figures on paper: what a page draws is drawn, in its place, and nothing is left out in silence."""

from __future__ import annotations

import io
import math
import re
from collections.abc import Iterator
from functools import cache
from html import unescape
from itertools import pairwise
from typing import Any
from xml.etree import ElementTree as ET

import plotly.graph_objects as go
import pytest
from PIL import Image

from dpcore.plots.printed import traces
from dpcore.plots.printed.canvas import Canvas
from dpcore.plots.printed.figure import printed
from dpcore.plots.printed.panels import panels
from dpcore.plots.printed.scales import number_words
from dpcore.plots.style import WIDTH, clear_layout
from tests.support.results import reports
from tests.support.results.content import Picture, content
from tests.support.rows import for_each

FRAME = (100.0, 10.0, 500.0, 210.0)


class Recorder(Canvas):
    """A sheet that notes what is put on it."""

    def __init__(self) -> None:
        super().__init__(600, 300)
        self.areas: list[list[tuple[float, float]]] = []
        self.lines: list[list[tuple[float, float]]] = []
        self.marks: list[tuple[float, float]] = []

    def area(self, points: Any, *_more: Any, **_others: Any) -> None:
        self.areas.append(list(points))

    def line(self, points: Any, *_more: Any, **_others: Any) -> None:
        self.lines.append(list(points))

    def mark(self, at: Any, *_more: Any, **_others: Any) -> None:
        self.marks.append(at)


def drawn(figure: go.Figure) -> Recorder:
    recorder = Recorder()
    for panel in panels(figure, FRAME):
        traces.draw(recorder, panel, figure.layout)
    return recorder


def plain(told: str) -> str:
    return unescape(re.sub(r"</?(b|i|br)\s*/?>", "", told)).strip()


def written(figure: go.Figure) -> Iterator[str]:
    """Everything that plotly would write beside numbers along axes."""
    for trace in figure.data:
        if trace.type == "scatter" and "text" in (trace.mode or ""):
            yield from (part for told in trace.text for part in str(told).split("<br>") if part)
    for axis in (*figure.select_xaxes(), *figure.select_yaxes()):
        if axis.visible is not False:
            yield from (axis.title.text or "").split("<br>")
    for note in figure.layout.annotations:
        yield note.text


@cache
def sheets(case: str) -> list[tuple[Picture, Canvas]]:
    return [(picture, printed(picture.figure, WIDTH)) for picture in content(reports.release(case)).pictures]


@pytest.mark.parametrize("case", reports.CASES)
def test_every_figure_of_every_family_is_drawn(case: str) -> None:
    for picture, canvas in sheets(case):
        svg = canvas.svg(picture.title, picture.alt)
        root = ET.fromstring(svg)
        names = {element.tag.rpartition("}")[2] for element in root.iter()}
        assert not names & {"script", "a", "image", "foreignObject"}
        assert [root[0].text, root[1].text] == [picture.title, picture.alt]
        told = "".join("".join(element.itertext()) for element in root.iter() if element.tag.endswith("}text"))
        for words in written(picture.figure):
            assert plain(words).replace(" ", "") in told.replace(" ", ""), words


@pytest.mark.parametrize("case", ["rule list", "tree", "relational rules", "first look"])
def test_nothing_stands_beyond_the_sheet(case: str) -> None:
    for _, canvas in sheets(case):
        for text in canvas._axes.texts:
            box = text.get_window_extent(canvas._agg.get_renderer())
            assert box.x0 >= -2, text.get_text()
            assert box.x1 <= canvas.width + 2, text.get_text()
            assert box.y0 >= -2, text.get_text()
            assert box.y1 <= canvas.height + 2, text.get_text()


def test_a_png_has_its_dots() -> None:
    canvas = printed(sheets("forest")[0][0].figure, 480)
    with Image.open(io.BytesIO(canvas.png(200))) as image:
        assert image.size == pytest.approx((1000, canvas.height / 96 * 200), abs=1)


def test_the_same_figure_is_the_same_file() -> None:
    figure = sheets("forest")[0][0].figure
    first, second = (printed(figure, WIDTH) for _ in range(2))
    assert first.svg("a", "b") == second.svg("a", "b")
    assert first.png() == second.png()


# Places


def test_bars_are_as_long_as_their_numbers() -> None:
    figure = go.Figure(go.Bar(orientation="h", x=[1.0, 2.0, -1.0], y=["a", "b", "c"]))
    figure.update_xaxes(range=[-2, 2])
    figure.update_yaxes(autorange="reversed")
    lengths = [max(x for x, _ in area) - min(x for x, _ in area) for area in drawn(figure).areas]
    assert lengths == pytest.approx([100, 200, 100])
    middles = [sum(y for _, y in area) / 4 for area in drawn(figure).areas]
    assert middles == sorted(middles), "the first stands on top"


def test_bars_in_groups_stand_beside_each_other() -> None:
    figure = go.Figure([go.Bar(x=[0, 1], y=[3, 4]), go.Bar(x=[0, 1], y=[1, 2])])
    spans = sorted((min(x for x, _ in area), max(x for x, _ in area)) for area in drawn(figure).areas)
    assert all(right <= left + 1e-6 for (_, right), (left, _) in pairwise(spans))


def test_bars_that_overlay_stand_in_one_place() -> None:
    figure = go.Figure([go.Bar(x=[0], y=[3]), go.Bar(x=[0], y=[1])])
    figure.update_layout(barmode="overlay")
    first, second = ({x for x, _ in area} for area in drawn(figure).areas)
    assert first == second


def test_whiskers_reach_as_far_as_they_say() -> None:
    figure = go.Figure(
        go.Scatter(
            x=[5], y=["a"], mode="markers", error_x={"array": [2], "arrayminus": [1], "symmetric": False, "width": 0}
        )
    )
    figure.update_xaxes(range=[0, 10])
    [line] = drawn(figure).lines
    assert sorted(x for x, _ in line) == pytest.approx([100 + 40 * 4, 100 + 40 * 7])


def test_logarithms_and_gaps() -> None:
    figure = go.Figure(go.Scatter(x=[1, 10, None, 100], y=[0, 1, 2, 3], mode="lines+markers"))
    figure.update_xaxes(type="log", range=[0, 2])
    found = drawn(figure)
    assert [x for x, _ in found.marks] == pytest.approx([100, 300, 500])
    assert len(found.lines) == 1, "a gap is no line"


def test_a_map_has_the_colours_of_its_scale() -> None:
    map_of = go.Heatmap(z=[[0.0]], x=[0], y=[0], zmin=0, zmax=1, colorscale=[[0, "#000000"], [1, "#ffffff"]])
    [trace] = go.Figure(map_of).data
    assert [traces.shade_of(trace, value) for value in (-1, 0, 0.5, 1, 2)] == [
        "#000000",
        "#000000",
        "#808080",
        "#ffffff",
        "#ffffff",
    ]


@for_each(
    ("value", "form", "words"),
    [
        (0.25, ".0%", "25%"),
        (0.8, ".2~f", "0.8"),
        (1.0, ".2~f", "1"),
        (-1234.5, None, "−1,234.5"),
        (3, None, "3"),
        (-5000.0, ",d", "−5,000"),
    ],
)
def test_numbers_are_written_as_on_pages(value: float, form: str | None, words: str) -> None:
    assert number_words(value, form) == words


def test_more_words_around_need_more_room_and_take_none() -> None:
    short = go.Figure(go.Bar(orientation="h", x=[1], y=["a"]), layout=clear_layout(height=300))
    long = go.Figure(go.Bar(orientation="h", x=[1], y=["a" * 40]), layout=clear_layout(height=300))
    for figure in (short, long):
        figure.update_layout(margin={"l": 10, "r": 10, "t": 10, "b": 10})
    assert printed(short, 500).height == printed(long, 500).height >= 300


# What is not drawn is refused


@for_each(
    "figure",
    [
        go.Figure(go.Pie(values=[1, 2])),
        go.Figure(go.Scatter(x=[0, 1], y=[0, 1], line={"shape": "hv"})),
        go.Figure(go.Scatter(x=[0, 1], y=[0, 1], fill="tozeroy")),
        go.Figure(go.Bar(x=[0], y=[1], text=["a"])),
        go.Figure([go.Bar(x=[0], y=[1])], layout={"barmode": "stack"}),
        go.Figure(go.Bar(x=[0], y=[1]), layout={"annotations": [{"text": "a", "x": 0, "y": 0, "showarrow": True}]}),
        go.Figure(go.Bar(x=[0], y=[1]), layout={"shapes": [{"type": "circle", "x0": 0, "x1": 1, "y0": 0, "y1": 1}]}),
    ],
)
def test_what_cannot_be_drawn_is_refused(figure: go.Figure) -> None:
    with pytest.raises(NotImplementedError):
        printed(figure, 500)


def test_text_is_measured_as_it_is_written() -> None:
    canvas = Canvas(400, 100)
    wide, _ = canvas.extent("<b>16%</b> (7%)", 13)
    parts = canvas.extent("<b>16%</b>", 13)[0] + canvas.extent("(7%)", 13)[0]
    assert wide > parts + 2, "the space between counts"
    assert math.isclose(canvas.extent("a<br>b", 13)[1], 2 * canvas.extent("a", 13)[1])
