"""How soon a first look of twenty columns is on the screen: from a data set that is chosen, by two clicks."""

from __future__ import annotations

import re
import tempfile
import time
from collections.abc import Iterator
from decimal import Decimal
from pathlib import Path
from typing import Any, Final

import psutil

from benchmarks.app_server import chromium, served, visitor
from benchmarks.records import Record, timed
from dpcore.demo import DEMOS
from dpcore.domain.schemas.schema import Schema
from dpcore.service import Service

_DATA: Final = "stroke"
#: Columns of the data set that are kept: the first, and the target with them.
_COLUMNS: Final = 20
_EPSILON: Final = 0.5
_GOAL: Final = 10.0
_PATIENCE: Final = 120_000


def run(suite: str, *, quick: bool) -> Iterator[Record]:
    """Seconds by the clock, each time with the data set chosen anew.

    Raises
    ------
    RuntimeError
        If no Chromium is on the path.
    """
    seconds: list[float] = []
    work: list[float] = []
    with tempfile.TemporaryDirectory() as folder:
        home = Path(folder) / "home"
        _fill(home)
        with served(home) as url, chromium() as browser:
            for turn in range(1 if quick else 5):
                page = visitor(browser, viewport={"width": 1360, "height": 900})
                before = _worked()
                seconds.append(_looked(page, url, first=not turn))
                work.append(_worked() - before)
                page.context.close()
    what = f"data set chosen to {_COLUMNS} columns on the screen"
    for name, turns in (("first", slice(1)), ("again", slice(1, None))):
        if seconds[turns]:
            method = f"{what}, {name}"
            yield Record(suite, _DATA, method, _EPSILON, "seconds", *timed(seconds[turns]), _GOAL, "goal")
            yield Record(
                suite,
                _DATA,
                method,
                _EPSILON,
                "CPU seconds of the server and its workers",
                *timed(work[turns]),
                None,
                "",
            )


def _worked() -> float:
    """CPU seconds that the server and its workers have taken so far: what a busy machine does not change."""
    programs = [each for each in psutil.Process().children(recursive=True) if "python" in each.name()]
    return sum(sum(each.cpu_times()[:2]) for each in programs)


def _fill(home: Path) -> None:
    """The data set, and another one that is chosen before it."""
    with Service(home=home, workers=0) as service:
        demo, other = DEMOS[_DATA](), DEMOS["breast_cancer"]()
        service.add_dataset(other.frame, other.schema, budget=Decimal(10), public=True)
        service.add_dataset(demo.frame, _shorter(demo.schema), budget=Decimal(10), public=True)


def _shorter(schema: Schema) -> Schema:
    others = [column for column in schema.columns if column.name not in schema.targets][: _COLUMNS - 1]
    target = schema.column(schema.targets[0])
    return schema.model_copy(update={"columns": (*others, target)})


def _looked(page: Any, url: str, *, first: bool) -> float:
    """Seconds of one first look; a machine's first one of a server also waits for what is loaded once."""
    page.goto(url)
    page.get_by_role("heading", name="Data sets", exact=True).wait_for(timeout=_PATIENCE)
    if first:
        page.wait_for_timeout(8000)  # The server has loaded what it loads after a start.
    card = page.locator("[class*='st-key-card-']").filter(has=page.get_by_role("heading", name=_DATA, exact=True))
    start = time.perf_counter()
    card.get_by_role("button", name="Select").first.click()
    page.get_by_role("link", name="Continue to First look").click()
    page.get_by_role("button", name="Review and spend").click()
    page.get_by_role("button", name=re.compile("^Run and spend")).click()
    columns = page.get_by_role("list", name="All columns").get_by_role("listitem").filter(has=page.locator("h4"))
    columns.nth(_COLUMNS - 1).wait_for(timeout=_PATIENCE)
    return time.perf_counter() - start
