"""How fast the application answers in a real browser, what its pages weigh, and pictures of them."""

from __future__ import annotations

import tempfile
import time
from collections.abc import Callable, Iterator
from concurrent.futures import ProcessPoolExecutor
from multiprocessing import get_context
from pathlib import Path
from typing import Any

from benchmarks import app_pages
from benchmarks.app_server import chromium, served, visitor
from benchmarks.records import Record, timed
from dpcore.service import Service

SUITE = "app"


def run(*, quick: bool) -> Iterator[Record]:
    """Start the application several times and use it; seconds until a person sees the answer.

    Raises
    ------
    RuntimeError
        If no Chromium is on the path.
    """
    times: dict[str, list[float]] = {}
    with tempfile.TemporaryDirectory() as folder:
        home = Path(folder) / "home"
        with Service(home=home, workers=0) as service:
            service.add_demo_datasets()
        for _ in range(1 if quick else 3):
            _one_visit(home, times, repeats=5 if quick else 15)
    goals = {"start to first page": 3.0, "first page in a running app": 3.0}
    for what, seconds in times.items():
        yield Record(
            SUITE,
            "demonstration",
            what,
            None,
            "seconds",
            *timed(seconds),
            goals.get(what, 0.3),
            "goal",
        )
    yield from _with_many_results(quick=quick)


def _with_many_results(*, quick: bool) -> Iterator[Record]:
    results = app_pages.RESULTS // 10 if quick else app_pages.RESULTS
    with tempfile.TemporaryDirectory() as folder:
        home = Path(folder) / "home"
        # As workers do: what fits leave in a process would slow the pages that are drawn in it.
        with ProcessPoolExecutor(1, mp_context=get_context("spawn")) as apart:
            apart.submit(app_pages.fill, home, results).result()
        yield from app_pages.drawn(SUITE, home, results, repeats=3 if quick else 9)
        yield from app_pages.ledger(SUITE, home, results, repeats=3 if quick else 9)
        with served(home) as url, chromium() as browser:
            yield from app_pages.weighed(SUITE, browser, url, results)


def _one_visit(home: Path, times: dict[str, list[float]], repeats: int) -> None:
    with chromium() as browser:
        page = visitor(browser, viewport={"width": 1360, "height": 900})

        def seen(name: str) -> None:
            page.get_by_role("heading", name=name, exact=True).wait_for(timeout=30_000)

        def note(what: str, action: Callable[[], object], name: str) -> None:
            start = time.perf_counter()
            action()
            seen(name)
            times.setdefault(what, []).append(time.perf_counter() - start)

        start = time.perf_counter()
        with served(home) as url:
            page.goto(url)
            seen("Data sets")
            times.setdefault("start to first page", []).append(time.perf_counter() - start)
            time.sleep(8)
            note("first page in a running app", lambda: page.goto(url), "Data sets")
            for _ in range(repeats):
                for name in ("Releases", "Custodian", "Rule list", "Data sets"):
                    link = page.get_by_role("link", name=name, exact=True).first
                    note(f"open page {name}", link.click, name)
            _use_chooser(page, times, repeats)


def _use_chooser(page: Any, times: dict[str, list[float]], repeats: int) -> None:
    """Move between epsilon presets: the meter must follow."""
    from playwright.sync_api import expect

    page.get_by_role("link", name="Rule list", exact=True).first.click()
    adds = page.locator(".fg-meter li", has_text="This run adds")
    adds.wait_for()
    for turn in range(repeats):
        before = adds.inner_text()
        button = page.get_by_text(f"{('Strict', 'Detailed')[turn % 2]} (").first
        start = time.perf_counter()
        button.click()
        expect(adds).not_to_have_text(before, timeout=10_000)
        times.setdefault("choose another epsilon", []).append(time.perf_counter() - start)
