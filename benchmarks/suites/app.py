"""The application in a browser: how soon a person sees an answer, what its pages weigh, and pictures of them."""

from __future__ import annotations

import os
import re
import sys
import tempfile
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from concurrent.futures import ProcessPoolExecutor
from contextlib import contextmanager
from decimal import Decimal
from functools import lru_cache
from multiprocessing import get_context
from pathlib import Path
from typing import Any, Final
from unittest.mock import patch

import numpy as np
import psutil

from benchmarks.browser import Scales, chromium, rested, served, visitor
from benchmarks.declared import Suite
from benchmarks.results import Cell, Layout, Result
from dpcore.demo import DEMOS
from dpcore.domain.schemas.schema import Schema
from dpcore.service import Service
from dpcore.workspace.ledger.requests import RunRequest
from pages.components.custodian import audit_log
from pages.components.visitor import access
from pages.components.visitor.menu import MENU

_ROOT: Final = Path(__file__).resolve().parents[2]
_SIZE: Final = {"viewport": {"width": 1360, "height": 900}}
_PATIENCE: Final = 120_000
RESULTS: Final = 200
#: Algorithm, target and parameters of a result.
Kind = tuple[str, str, dict[str, Any]]
#: The results of one table, again and again.
KINDS: Final[tuple[Kind, ...]] = (
    ("rule_list", "stroke_within_year", {"pool_size": 500}),
    ("tree", "stroke_within_year", {}),
    ("forest", "stroke_within_year", {"method": "random_trees", "trees": 5}),
    ("ebm", "stroke_within_year", {}),
    ("summaries", "", {"by": "stroke_within_year"}),
    ("redescriptions", "", {}),
)


def store(home: Path, name: str, kinds: Sequence[Kind], epsilon: str, budget: int) -> str:
    """A demonstration data set with results; the number of the last one."""
    demo, number = DEMOS[name](), ""
    with Service(home=home, workers=0) as service:
        source = {demo.schema.entity: demo.frame, **demo.children} if demo.children else demo.frame
        info = service.add_dataset(source, demo.schema, budget=Decimal(budget), public=True)
        for algorithm, target, chosen in kinds:
            given = {"dataset_id": info.id, "algorithm": algorithm, "target": target, "epsilon": Decimal(epsilon)}
            request = RunRequest(**given, parameters=chosen)
            number = service.wait(service.submit(request, os.urandom(9).hex()), 600).id
    return number


_VISITED: Final = ("Releases", "Custodian", "Rule list", "Data sets")
_STEPS: Final = (
    "start to first page",
    "first page in a running app",
    *(f"open page {name}" for name in _VISITED),
    "choose another epsilon",
)
_LEDGER: Final = {"ledger, a page at a time": audit_log.LINES, "ledger, all lines at once": sys.maxsize}
_DEMO, _MANY = "demonstration", f"{RESULTS} results"


def _measure(cell: Cell, options: Mapping[str, Any]) -> dict[str, float]:
    if cell.data == _DEMO:
        seconds = _visit(Path(options["home"]), cell.seed, 5 if options["quick"] else 15)[cell.method]
        return {"seconds": float(np.median(seconds))}
    home, repeats = Path(options["many"]), 3 if options["quick"] else 9
    if cell.method in _LEDGER:
        return _ledger(home, _LEDGER[cell.method], repeats)
    title = cell.method.removeprefix("page ")
    return {"CPU seconds of the server": drawn(home, title, repeats), **_weights(home)[title]}


@contextmanager
def _homes(options: dict[str, Any]) -> Iterator[dict[str, str]]:
    """A home with the demonstrations, and one with many results of every family for one table in turn."""
    results = RESULTS // 10 if options["quick"] else RESULTS
    with tempfile.TemporaryDirectory() as folder:
        home, many = Path(folder) / "home", Path(folder) / "many"
        with Service(home=home, workers=0) as service:
            service.add_demo_datasets()
        # As workers do: what fits leave in a process would slow the pages that are drawn in it.
        with ProcessPoolExecutor(1, mp_context=get_context("spawn")) as apart:
            kinds = [KINDS[number % len(KINDS)] for number in range(results)]
            apart.submit(store, many, "stroke", kinds, "0.1", 1000).result()
        yield {"home": str(home), "many": str(many)}


@lru_cache(maxsize=1)
def _visit(home: Path, _turn: int, repeats: int) -> dict[str, list[float]]:
    """Start the application and use it: seconds until a person sees each answer."""
    times: dict[str, list[float]] = {}
    with chromium() as browser:
        page = visitor(browser, **_SIZE)

        def note(what: str, action: Callable[[], object], name: str) -> None:
            start = time.perf_counter()
            action()
            page.get_by_role("heading", name=name, exact=True).wait_for(timeout=30_000)
            times.setdefault(what, []).append(time.perf_counter() - start)

        start = time.perf_counter()
        with served(home) as url:
            page.goto(url)
            page.get_by_role("heading", name="Data sets", exact=True).wait_for(timeout=30_000)
            times[_STEPS[0]] = [time.perf_counter() - start]
            time.sleep(8)
            note(_STEPS[1], lambda: page.goto(url), "Data sets")
            for _ in range(repeats):
                for name in _VISITED:
                    note(f"open page {name}", page.get_by_role("link", name=name, exact=True).first.click, name)
            times[_STEPS[-1]] = _use_chooser(page, repeats)
    return times


def _use_chooser(page: Any, repeats: int) -> list[float]:
    """Move between epsilon presets: the meter must follow."""
    from playwright.sync_api import expect

    page.get_by_role("link", name="Rule list", exact=True).first.click()
    adds, seconds = page.locator(".fg-meter li", has_text="This run"), []
    adds.wait_for()
    for turn in range(repeats):
        before = adds.inner_text()
        button = page.get_by_text(f"{('Small', 'Large')[turn % 2]}: ").first
        start = time.perf_counter()
        button.click()
        expect(adds).not_to_have_text(before, timeout=10_000)
        seconds.append(time.perf_counter() - start)
    return seconds


def drawn(home: Path, title: str, repeats: int) -> float:
    """CPU seconds of the server for drawing a page again, without a browser."""
    entry = next(own for own in MENU if own.title == title)
    with _installed(home) as app:
        if entry is not MENU[0]:
            app.switch_page(entry.path).run()
        return float(np.median([_once(app) for _ in range(repeats)]))


def _ledger(home: Path, lines: int, repeats: int) -> dict[str, float]:
    """What the custodian's ledger takes, as it is shown a page at a time, and if all of it were sent."""
    with patch.object(audit_log, "LINES", lines), _installed(home) as app:
        app.switch_page("custodian.py").run()
        app.segmented_control(key="custodian-view").set_value("Audit log").run()
        seconds = float(np.median([_once(app) for _ in range(repeats)]))
        size = sum(len(table.proto.SerializeToString()) for table in app.dataframe)
    return {"CPU seconds of the server": seconds, "kilobytes of its table": size / 1000}


def _once(app: Any) -> float:
    start = time.process_time()
    app.run()
    seconds = time.process_time() - start
    if app.exception:
        raise RuntimeError(app.exception[0].message)
    return seconds


@contextmanager
def _installed(home: Path) -> Iterator[Any]:
    """Pages of this process show the data of a folder."""
    from streamlit.testing.v1 import AppTest

    with patch.dict(os.environ, {"FROSTGLASS_HOME": str(home), "FROSTGLASS_WORKERS": "0"}):
        os.environ.pop("FROSTGLASS_DATABASE_URL", None)
        try:
            app = AppTest.from_file(str(_ROOT / "pages" / "navigation.py"), default_timeout=60)
            app.run()
            yield app
        finally:
            access.installation().close()
            access.forget()


@lru_cache(maxsize=1)
def _weights(home: Path) -> dict[str, dict[str, float]]:
    """Kilobytes of the first visit to each page, one after the other in one tab."""
    found = {}
    with served(home) as url, chromium() as browser:
        page = visitor(browser, **_SIZE)
        scales = Scales(page)
        for number, entry in enumerate(MENU):
            if number:
                page.get_by_test_id("stSidebarNav").get_by_role("link", name=entry.title, exact=True).click()
            else:
                page.goto(url)
            page.get_by_role("heading", name=entry.title, exact=True).wait_for(timeout=30_000)
            rested(page)
            files, messages = scales.taken()
            found[entry.title] = {"kilobytes of messages": messages / 1000, "kilobytes of files": files / 1000}
    return found


APP = Suite(
    "app",
    _measure,
    (_DEMO, _MANY),
    (*_STEPS, *(f"page {entry.title}" for entry in MENU), *_LEDGER),
    [Layout(rows=("data", "method"), columns=("metric",), spread=False)],
    seeds=3,
    once=(*(f"page {entry.title}" for entry in MENU), *_LEDGER),
    skip=lambda cell: (cell.method in _STEPS) != (cell.data == _DEMO),
    prepare=_homes,
    published=[
        Result(_DEMO, "goal of first pages", None, "seconds", 3.0),
        Result(_DEMO, "goal of others", None, "seconds", 0.3),
        Result(_MANY, "goal", None, "CPU seconds of the server", 0.3),
    ],
)

#: Notes milliseconds from a key or a button that goes down to the first frame after styles have changed.
_WATCH: Final = """() => {
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
_CENTRE: Final = """place => {
    const rings = document.querySelectorAll("[class*=-points] .point.plotly-customdata");
    const box = rings[rings.length - 1 - place % rings.length].getBoundingClientRect();
    return [box.x + box.width / 2, box.y + box.height / 2];
}"""


def _move(page: Any, turn: int) -> None:
    """One step to and fro."""
    page.locator("[class*=-support] input[type=range]").press(("ArrowLeft", "ArrowRight")[turn % 2])


def _click(page: Any, turn: int) -> None:
    """One after the other, those with the largest support first."""
    place = page.evaluate(_CENTRE, turn)
    page.mouse.move(*place)
    page.wait_for_timeout(300)
    page.mouse.click(*place)


_ACTS: Final[dict[str, Callable[[Any, int], None]]] = {"threshold moved": _move, "point clicked": _click}
#: So many made-up ones, beside those of a release.
_MADE_UP: Final = {"300 made-up redescriptions": 300, "1000 made-up redescriptions": 1000}
_OF_A_RELEASE: Final = "redescriptions of a release"


def _measure_reading(cell: Cell, options: Mapping[str, Any]) -> dict[str, float]:
    """Seconds from an input to the changed figure: the median of its turns, in a browser of its own."""
    home, many = Path(options["home"]), _MADE_UP.get(cell.data)
    script = ("benchmarks/many_redescriptions.py", str(many)) if many else ()
    with served(home, *script) as url, chromium() as browser:
        page = visitor(browser, viewport={"width": 1280, "height": 1400})
        page.goto(url if many else f"{url}/redescriptions?run={options['run']}")
        figure = page.locator("[class*=-points] .js-plotly-plot")
        figure.wait_for(timeout=60_000)
        rested(page)
        page.evaluate(_WATCH)
        for turn in range(4 if options["quick"] else 16):
            _ACTS[cell.method](page, turn)
            page.wait_for_function("count => window.noted.length === count", arg=turn + 1, timeout=30_000)
            page.wait_for_timeout(2000)  # What the server answers has come by then, and can disturb nothing.
        seconds = [milliseconds / 1000 for milliseconds in page.evaluate("window.noted")]
    return {"seconds": float(np.median(seconds))}


@contextmanager
def _with_redescriptions(_: dict[str, Any]) -> Iterator[dict[str, str]]:
    with tempfile.TemporaryDirectory() as folder:
        home = Path(folder) / "home"
        yield {"home": str(home), "run": store(home, "checkups", [("redescriptions", "", {})], "4", 10)}


READING = Suite(
    "app-reading",
    _measure_reading,
    (_OF_A_RELEASE, *_MADE_UP),
    tuple(_ACTS),
    [Layout(rows=("data",), digits=3)],
    prepare=_with_redescriptions,
    published=[Result(name, "goal", None, "seconds", 0.15) for name in (_OF_A_RELEASE, *_MADE_UP)],
)

#: Columns of the data set that are kept: the first, and the target with them.
_COLUMNS: Final = 20
_FIRST, _AGAIN = "the first of a server", "again"


def _measure_first_look(cell: Cell, options: Mapping[str, Any]) -> dict[str, float]:
    """Seconds by the clock, and of the server and its workers, until all columns are drawn."""
    looks = _looks(Path(options["home"]), cell.seed, 2 if options["quick"] else 5)
    own = looks[:1] if cell.method == _FIRST else looks[1:]
    seconds, work = np.median(own, axis=0)
    return {"seconds": float(seconds), "CPU seconds of the server and its workers": float(work)}


@lru_cache(maxsize=1)
def _looks(home: Path, _turn: int, times: int) -> list[tuple[float, float]]:
    """Each time with the data set chosen anew."""
    found = []
    with served(home) as url, chromium() as browser:
        for turn in range(times):
            page = visitor(browser, **_SIZE)
            before = _worked()
            seconds = _looked(page, url, first=not turn)
            found.append((seconds, _worked() - before))
            page.context.close()
    return found


def _worked() -> float:
    """CPU seconds that the server and its workers have taken so far: what a busy machine does not change."""
    programs = [each for each in psutil.Process().children(recursive=True) if "python" in each.name()]
    return sum(sum(each.cpu_times()[:2]) for each in programs)


@contextmanager
def _with_stroke(_: dict[str, Any]) -> Iterator[dict[str, str]]:
    """The data set, and another one that is chosen before it."""
    with tempfile.TemporaryDirectory() as folder:
        home = Path(folder) / "home"
        with Service(home=home, workers=0) as service:
            demo, other = DEMOS["stroke"](), DEMOS["breast_cancer"]()
            service.add_dataset(other.frame, other.schema, budget=Decimal(10), public=True)
            service.add_dataset(demo.frame, _shorter(demo.schema), budget=Decimal(10), public=True)
        yield {"home": str(home)}


def _shorter(schema: Schema) -> Schema:
    others = [column for column in schema.columns if column.name not in schema.targets][: _COLUMNS - 1]
    return schema.model_copy(update={"columns": (*others, schema.column(schema.targets[0]))})


def _looked(page: Any, url: str, *, first: bool) -> float:
    """Seconds of one first look; a machine's first one of a server also waits for what is loaded once."""
    page.goto(url)
    page.get_by_role("heading", name="Data sets", exact=True).wait_for(timeout=_PATIENCE)
    if first:
        page.wait_for_timeout(8000)  # The server has loaded what it loads after a start.
    card = page.locator("[class*='st-key-card-']").filter(has=page.get_by_role("heading", name="stroke", exact=True))
    start = time.perf_counter()
    card.get_by_role("button", name="Select").first.click()
    page.get_by_role("link", name="Continue to First look").click()
    page.get_by_role("button", name="Review and spend").click()
    page.get_by_role("button", name=re.compile("^Run and spend")).click()
    columns = page.get_by_role("list", name="All columns").get_by_role("listitem").filter(has=page.locator("h4"))
    columns.nth(_COLUMNS - 1).wait_for(timeout=_PATIENCE)
    return time.perf_counter() - start


FIRST_LOOK = Suite(
    "app-first-look",
    _measure_first_look,
    ("stroke, 20 columns",),
    (_FIRST, _AGAIN),
    [Layout(rows=("method",), columns=("metric",))],
    prepare=_with_stroke,
    published=[Result("stroke, 20 columns", "goal", None, "seconds", 10.0)],
)
