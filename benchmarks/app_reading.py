"""How soon the figure of redescriptions follows a threshold that is moved, and a point that is clicked."""

from __future__ import annotations

import os
import tempfile
from collections.abc import Callable, Iterator
from decimal import Decimal
from pathlib import Path
from typing import Any

from benchmarks.app_pages import rested
from benchmarks.app_server import chromium, served, visitor
from benchmarks.records import Record, timed
from dpcore.demo import DEMOS
from dpcore.service import Service
from dpcore.workspace.ledger.requests import RunRequest

_GOAL = 0.15
_EPSILON = Decimal(4)
#: So many made-up ones, beside those of a release.
_MANY = (300, 1000)
_PAGE = "benchmarks/many_redescriptions.py"
#: Milliseconds between two moves: what the server answers has come by then, and can disturb nothing.
_REST = 2000
#: Notes milliseconds from a key or a button that goes down to the first frame after styles have changed.
_WATCH = """() => {
    window.noted = [];
    const figure = document.querySelector("[class*=-points] .js-plotly-plot");
    const styles = {
        keydown: () => {
            const {transform, visibility} = getComputedStyle(figure.querySelector(".shapelayer path"));
            return transform + visibility;
        },
        mousedown: () => [...figure.querySelectorAll(".point.plotly-customdata")].map(
            ring => getComputedStyle(ring).opacity).join(),
    };
    for (const kind in styles) addEventListener(kind, () => {
        const start = performance.now(), before = styles[kind]();
        const look = () => {
            if (styles[kind]() !== before) requestAnimationFrame(() => window.noted.push(performance.now() - start));
            else requestAnimationFrame(look);
        };
        look();
    }, true);
}"""
_CENTRE = """place => {
    const rings = document.querySelectorAll("[class*=-points] .point.plotly-customdata");
    const box = rings[rings.length - 1 - place % rings.length].getBoundingClientRect();
    return [box.x + box.width / 2, box.y + box.height / 2];
}"""


def run(suite: str, *, quick: bool) -> Iterator[Record]:
    """Seconds from an input to the changed figure, in a browser of its own.

    Raises
    ------
    RuntimeError
        If no Chromium is on the path.
    """
    turns = 4 if quick else 16
    with tempfile.TemporaryDirectory() as folder:
        home = Path(folder) / "home"
        number = _fill(home)
        with served(home) as url, chromium() as browser:
            yield from _followed(suite, browser, f"{url}/redescriptions?run={number}", "redescriptions", turns)
        for many in _MANY:
            with served(home, _PAGE, str(many)) as url, chromium() as browser:
                yield from _followed(suite, browser, url, "made-up redescriptions", turns)


def _followed(suite: str, browser: Any, url: str, kind: str, turns: int) -> Iterator[Record]:
    """Both, on one page."""
    page = visitor(browser, viewport={"width": 1280, "height": 1400})
    page.goto(url)
    figure = page.locator("[class*=-points] .js-plotly-plot")
    figure.wait_for(timeout=60_000)
    rested(page)
    count = figure.locator(".point.plotly-customdata").count()
    page.evaluate(_WATCH)
    for what, act in (("threshold moved", _move), ("point clicked", _click)):
        seconds = timed(_noted(page, act, turns))
        yield Record(suite, f"{count} {kind}", what, None, "seconds", *seconds, _GOAL, "goal")
    page.close()


def _fill(home: Path) -> str:
    """A data set with one result; returns its number."""
    demo = DEMOS["checkups"]()
    with Service(home=home, workers=0) as service:
        info = service.add_dataset(demo.frame, demo.schema, budget=Decimal(10), public=True)
        request = RunRequest(dataset_id=info.id, algorithm="redescriptions", epsilon=_EPSILON)
        return service.wait(service.submit(request, os.urandom(9).hex()), 600).id


def _noted(page: Any, act: Callable[[Any, int], None], turns: int) -> list[float]:
    """Seconds of each turn."""
    for turn in range(turns):
        act(page, turn)
        page.wait_for_function("count => window.noted.length === count", arg=turn + 1, timeout=30_000)
        page.wait_for_timeout(_REST)
    return [milliseconds / 1000 for milliseconds in page.evaluate("window.noted.splice(0)")]


def _move(page: Any, turn: int) -> None:
    """One step to and fro."""
    page.locator("[class*=-support] input[type=range]").press(("ArrowLeft", "ArrowRight")[turn % 2])


def _click(page: Any, turn: int) -> None:
    """One after the other, those with the largest support first."""
    place = page.evaluate(_CENTRE, turn)
    page.mouse.move(*place)
    page.wait_for_timeout(300)
    page.mouse.click(*place)
