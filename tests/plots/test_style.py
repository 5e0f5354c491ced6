"""Colours of pages and figures on a light and on a dark ground, measured.

Contrasts are those of the Web Content Accessibility Guidelines 2: 4.5 for text, 3 for marks.
"""

from __future__ import annotations

import re
import tomllib
from pathlib import Path

import plotly.graph_objects as go
import pytest
from plotly.subplots import make_subplots

from dpcore.models.ebm.released.ebm_words import EBMWords
from dpcore.plots.ebm.ebm import shape_figure
from dpcore.plots.palette import DARK, in_the_dark
from dpcore.plots.style import COLOURS, INK, SOFT, clear_layout, lay_out
from tests.support.results.small_ebm import SCHEMA, TARGETS, small_ebm

ROOT = Path(__file__).resolve().parents[2]
STYLE = (ROOT / "assets" / "style.css").read_text()
THEME = tomllib.loads((ROOT / ".streamlit" / "config.toml").read_text())["theme"]
GROUNDS = ("light", "dark")
VARIABLE = re.compile(r"--([a-z0-9-]+): light-dark\((#[0-9a-f]{6}), (#[0-9a-f]{6})\);")
NAMED = {name: dict(zip(GROUNDS, pair, strict=True)) for name, *pair in VARIABLE.findall(STYLE)}
TEXT, MARK = 4.5, 3.0
#: What stands on what in the style sheet.
TEXTS = {
    "ink": ("page", "pane", "ice", "sidebar", "amber-pale", "green-pale", "violet-pale", "violet-stripe"),
    "ink-soft": ("page", "pane", "ice", "sidebar"),
    "teal-dark": ("page", "pane", "ice"),
    "amber": ("page", "pane", "ice", "amber-pale"),
    "red": ("sidebar", "page"),
    "green": ("green-pale",),
    "violet": ("violet-pale",),
    "on-teal": ("teal",),
    **{f"series-{code}": ("page", "pane") for code in range(6)},
}
MARKS = {
    "teal": ("page", "pane", "ice", "sidebar"),
    "teal-dark": ("pane",),
    "ink": ("band", "ice"),
    "truth": ("pane", "ice"),
    "edge": ("page", "pane"),
    "amber-mark": ("page", "pane", "amber-pale"),
    "green-mark": ("page", "pane"),
    "violet-mark": ("page", "pane"),
}
FIGURE_GROUNDS = ("#fbfdfe", "#ffffff")
FIGURE_MARKS = ("#6f8f9b", "#7b8b92", "#4b7f90", "#0f6e84", "#c4622d", "#0b5d70")
#: Numbers stand on these.
FIGURE_FILLS = ("#e58a52", "#f6c8a8", "#ffffff", "#a9d4de", "#5aa9bb")


def luminance(colour: str) -> float:
    parts = [int(colour[i : i + 2], 16) / 255 for i in (1, 3, 5)]
    red, green, blue = (c / 12.92 if c <= 0.04045 else ((c + 0.055) / 1.055) ** 2.4 for c in parts)
    return 0.2126 * red + 0.7152 * green + 0.0722 * blue


def contrast(one: str, other: str) -> float:
    high, low = sorted((luminance(one), luminance(other)), reverse=True)
    return (high + 0.05) / (low + 0.05)


def on(ground: str, colour: str) -> str:
    """A colour of a figure as it is on that ground."""
    return colour if ground == "light" else DARK[colour]


def test_the_measure_knows_its_ends():
    assert contrast("#000000", "#ffffff") == pytest.approx(21)
    assert contrast("#777777", "#ffffff") == pytest.approx(4.48, abs=0.01)


@pytest.mark.parametrize("ground", GROUNDS)
@pytest.mark.parametrize(("least", "pairs"), [(TEXT, TEXTS), (MARK, MARKS)], ids=["text", "marks"])
def test_what_stands_on_pages_is_readable(ground, least, pairs):
    measured = {
        (front, back): contrast(NAMED[front][ground], NAMED[back][ground])
        for front, backs in pairs.items()
        for back in backs
    }
    assert {pair: round(c, 2) for pair, c in measured.items() if c < least} == {}


@pytest.mark.parametrize("ground", GROUNDS)
def test_what_stands_in_figures_is_readable(ground):
    for back in FIGURE_GROUNDS:
        for text in (INK, SOFT, *COLOURS):
            assert contrast(on(ground, text), on(ground, back)) >= TEXT, (text, back)
        for mark in FIGURE_MARKS:
            assert contrast(on(ground, mark), on(ground, back)) >= MARK, (mark, back)
    for fill in FIGURE_FILLS:
        assert contrast(on(ground, INK), on(ground, fill)) >= TEXT, fill


@pytest.mark.parametrize("ground", GROUNDS)
def test_whiskers_stand_out_from_the_bars_of_shapes(ground):
    told = EBMWords(small_ebm("multiclass"), SCHEMA, TARGETS["multiclass"])
    figure = shape_figure(told, told.model.terms[2], [0, 1, 2])
    shown = figure if ground == "light" else in_the_dark(figure)
    bars = [trace for trace in shown.data if trace.error_x.color]
    assert len(bars) == 3
    for bar in bars:
        *fill, opacity = (float(part) for part in bar.marker.color[5:-1].split(","))
        for back in FIGURE_GROUNDS:
            behind = (int(on(ground, back)[i : i + 2], 16) for i in (1, 3, 5))
            seen = (round(opacity * own + (1 - opacity) * under) for own, under in zip(fill, behind, strict=True))
            assert contrast(bar.error_x.color, "#" + "".join(f"{part:02x}" for part in seen)) >= TEXT


def test_every_colour_of_the_style_sheet_has_a_name_and_two_values():
    rules = STYLE[STYLE.index("}", STYLE.index(":root {")) :]
    assert re.findall(r"#[0-9a-f]{3,8}\b(?=[^{}]*;)", rules) == []
    used = set(re.findall(r"var\(--([a-z0-9-]+)\)", STYLE)) - {"depth"}
    assert used - {"shade"} <= set(NAMED)
    assert set(NAMED) <= used


@pytest.mark.parametrize("ground", GROUNDS)
def test_streamlit_and_the_style_sheet_have_the_same_colours(ground):
    theme = THEME[ground]
    same = {
        "backgroundColor": "page",
        "textColor": "ink",
        "primaryColor": "teal",
        "secondaryBackgroundColor": "ice",
        "borderColor": "ice-deep",
        "blueColor": "teal",
        "blueBackgroundColor": "ice",
        "blueTextColor": "ink",
    }
    assert {key: theme[key] for key in same} == {key: NAMED[n][ground] for key, n in same.items()}
    assert contrast(theme["linkColor"], theme["backgroundColor"]) >= TEXT


def test_classes_have_the_same_colours_in_tables_and_figures():
    for code, colour in enumerate(COLOURS):
        assert NAMED[f"series-{code}"] == {"light": colour, "dark": DARK[colour]}
        assert f".fg-series-{code} {{ color: var(--series-{code}); }}" in STYLE


def test_every_colour_of_a_figure_has_a_partner():
    found = {
        (path.name, colour.lower())
        for path in (ROOT / "dpcore" / "plots").glob("*.py")
        if path.name != "palette.py"
        for colour in re.findall(r"#[0-9a-fA-F]{6}\b", path.read_text())
    }
    assert found
    assert {place for place in found if place[1] not in DARK} == set()


def test_a_figure_in_the_dark_changes_its_colours_and_nothing_else():
    figure = go.Figure(
        go.Bar(
            x=["white", "#ffffff"],
            y=[1, 2],
            text=["white", INK],
            name="#16303a",
            marker={"color": [COLOURS[0], "rgba(11,114,133,0.2)"], "line": {"color": INK}},
        )
    )
    figure.update_layout(clear_layout(), meta={"width": 7})
    dark = in_the_dark(figure)
    bar = dark.data[0]
    assert list(bar.x) == ["white", "#ffffff"]
    assert list(bar.text) == ["white", INK]
    assert bar.name == "#16303a"
    assert list(bar.marker.color) == ["#4fc0d6", "rgba(79,192,214,0.2)"]
    assert bar.marker.line.color == "#e4eff3"
    assert dark.layout.meta["width"] == 7
    assert dark.layout.font.color == "#e4eff3"
    assert dark.layout.template.layout.xaxis.gridcolor == "#2d4550"
    assert dark.layout.paper_bgcolor == "rgba(0,0,0,0)"
    assert figure.layout.font.color == INK


def test_a_layout_keeps_annotations_and_places_of_axes() -> None:
    figure = make_subplots(rows=2, cols=1, shared_xaxes=True)
    figure.add_annotation(text="here", x=1, y=1)
    places = figure.layout.yaxis.domain, figure.layout.yaxis2.domain
    lay_out(figure, {"nticks": 3}, {"title": "above"}, yaxis2={"title": "below"}, height=300)
    assert (figure.layout.yaxis.domain, figure.layout.yaxis2.domain) == places
    assert figure.layout.xaxis.matches == "x2"
    assert (figure.layout.yaxis.title.text, figure.layout.yaxis2.title.text) == ("above", "below")
    assert [note.text for note in figure.layout.annotations] == ["here"]
    assert figure.layout.font.color == INK
