"""A browser, and how long a test waits for a page: machines differ, and a loaded one is slow."""

from __future__ import annotations

import shutil
from collections.abc import Generator, Iterator
from contextlib import suppress
from datetime import UTC, datetime
from decimal import Decimal
from functools import partial
from pathlib import Path

import pytest
from playwright.sync_api import Browser, Page, WebSocket, expect, sync_playwright
from playwright.sync_api import Error as PlaywrightError

from dpcore.domain.schemas.schema import Schema
from dpcore.service import Service
from tests.support.browsers.app_server import SCHEMA_TEXT, Server, invented, serve
from tests.support.browsers.browser_steps import Store, knows_the_tour, store
from tests.support.browsers.identity_provider import WAIT
from tests.support.browsers.run_queue import Queue, queue_of, standing
from tests.support.browsers.run_queue import ward as own_ward

expect.set_options(timeout=WAIT)
#: Whether a test has failed.
FAILED = pytest.StashKey[bool]()
# The first has no windows and tabs to draw, and takes less of a core.
CHROMIUM_NAMES = ("chromium-headless-shell", "chromium", "chromium-browser", "google-chrome")
CHROMIUM_ARGS = (
    "--no-sandbox",
    "--disable-gpu",
    "--disable-dev-shm-usage",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
    "--no-first-run",
)


@pytest.fixture(scope="package")
def browser() -> Iterator[Browser]:
    """One for all tests that a process runs here; each has a context of its own."""
    path = next((found for name in CHROMIUM_NAMES if (found := shutil.which(name))), None)
    if path is None:
        pytest.fail("Install Chromium (make chromium), or leave out -m browser tests.")
    with sync_playwright() as playwright:
        running = playwright.chromium.launch(executable_path=path, args=list(CHROMIUM_ARGS))
        yield running
        running.close()


@pytest.fixture
def page(browser: Browser, request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[Page]:
    """A page of somebody who has been here before; if the test fails, what happened to it is told."""
    context = knows_the_tour(browser.new_context(viewport={"width": 1360, "height": 900}, reduced_motion="reduce"))
    page = context.new_page()
    told = _watched(page)
    yield page
    if request.node.stash.get(FAILED, False):
        print("\n".join(told))
        with suppress(PlaywrightError):
            page.screenshot(path=tmp_path / "page.png", full_page=True)
            print(f"The page at the end: {tmp_path / 'page.png'}\n{page.get_by_test_id('stMain').inner_text()}")
    context.close()


def _watched(page: Page) -> list[str]:
    """What is said on the console, and when connections and pages begin and end, as it happens."""
    told: list[str] = []

    def tell(what: str) -> None:
        told.append(f"{datetime.now(UTC):%H:%M:%S.%f} {what}")

    def connected(socket: WebSocket) -> None:
        tell("connected")
        socket.on("close", lambda _: tell("connection closed"))

    page.on("console", lambda said: tell(f"console: {said.text}"))
    page.on("pageerror", lambda error: tell(f"error: {error}"))
    page.on("framenavigated", lambda frame: tell(f"went to {frame.url}"))
    page.on("websocket", connected)
    return told


@pytest.hookimpl(wrapper=True)
def pytest_runtest_makereport(item: pytest.Item) -> Generator[None, pytest.TestReport, pytest.TestReport]:
    report = yield
    if report.failed:
        item.stash[FAILED] = True
    return report


@pytest.fixture(scope="package")
def shared(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Server]:
    """A server for all tests of this process that look at nothing but their own data set."""
    home = tmp_path_factory.mktemp("shared") / "home"
    with Service(home=home, workers=0):
        pass
    with serve(home) as running:
        yield running


@pytest.fixture
def stored(shared: Server) -> Store:
    """How a test stores a data set there."""
    return partial(store, shared)


@pytest.fixture
def ward(stored: Store) -> Server:
    """The same server, with a data set of the test's own chosen."""
    return stored(invented(), Schema.from_text(SCHEMA_TEXT))


@pytest.fixture
def untouched(tmp_path: Path) -> Iterator[Server]:
    """A server of the test's own, as a first visit finds it: one data set, no results."""
    home = tmp_path / "home"
    with Service(home=home, workers=0) as service:
        service.add_dataset(invented(), Schema.from_text(SCHEMA_TEXT), budget=Decimal(2), public=True)
    with serve(home) as running:
        yield running


@pytest.fixture(scope="package")
def alone(tmp_path_factory: pytest.TempPathFactory) -> Iterator[tuple[Service, Server]]:
    with standing(tmp_path_factory.mktemp("queue") / "home") as found:
        yield found


@pytest.fixture
def queue(alone: tuple[Service, Server]) -> Iterator[Queue]:
    """A queue of the test's own; what is left in it at the end is ended."""
    service, _ = alone
    found = queue_of(alone, own_ward(service))
    yield found
    for run in service.runs(found.dataset_id):
        if run.active:
            found.end(run.id)
