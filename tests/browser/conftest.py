"""A browser, and how long a test waits for a page: machines differ, and a loaded one is slow."""

from __future__ import annotations

import shutil
from collections.abc import Iterator

import pytest
from playwright.sync_api import Browser, BrowserContext, Page, expect, sync_playwright

from pages.components.visitor import remembered
from tests.support.identity_provider import WAIT

expect.set_options(timeout=WAIT)
CHROMIUM_NAMES = ("chromium", "chromium-browser", "google-chrome")
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
        pytest.fail("Install Chromium (apt-get install chromium), or leave out -m browser tests.")
    with sync_playwright() as playwright:
        running = playwright.chromium.launch(executable_path=path, args=list(CHROMIUM_ARGS))
        yield running
        running.close()


def knows_the_tour(context: BrowserContext) -> BrowserContext:
    """A browser that has been here before: the tour does not open by itself."""
    context.add_cookies(
        [{"name": remembered.cookie(remembered.TOUR), "value": "seen", "domain": "localhost", "path": "/"}]
    )
    return context


@pytest.fixture
def page(browser: Browser) -> Iterator[Page]:
    context = knows_the_tour(browser.new_context(viewport={"width": 1360, "height": 900}, reduced_motion="reduce"))
    yield context.new_page()
    context.close()
