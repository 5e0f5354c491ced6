"""What a person does on the pages, step by step, and what they wait for."""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import replace
from decimal import Decimal
from pathlib import Path
from typing import Any

import pytest
from playwright.sync_api import BrowserContext, Locator, Page, expect
from playwright.sync_api import Error as PlaywrightError

from dpcore.domain.schemas.schema import Schema
from pages.components.visitor import remembered
from tests.support.browsers.app_server import Server, spent
from tests.support.browsers.identity_provider import WAIT

#: A run of this many candidate lists lasts long enough to be held up under way, and ends soon on a busy machine too.
LONG_POOL = "150000"


def menu_link(page: Page, title: str) -> Locator:
    """A link of the menu."""
    return page.get_by_test_id("stSidebar").get_by_role("link", name=title)


def go(page: Page, title: str) -> None:
    """Follow the menu to a page."""
    menu_link(page, title).click()
    expect(page.get_by_role("heading", name=title, exact=True)).to_be_visible()


def settled(page: Page, pause: int = 800) -> None:
    """What was just done has reached the server, and the page is drawn with it."""
    page.wait_for_timeout(pause)
    drawn = page.get_by_test_id("stApp")
    expect(drawn).to_have_attribute("data-test-script-state", "notRunning")


def choose(page: Page, box: Locator, *options: str | re.Pattern[str], search: str = "") -> None:
    """Choose from a list, once the page is drawn: a list that is open closes when it gets other options meanwhile."""
    expect(box).to_be_visible()
    settled(page)
    for option in options:
        wanted = page.get_by_role("option", name=option).first
        for _ in range(6):
            if not wanted.is_visible():
                box.click()
                if search:
                    box.fill(search)
            try:
                wanted.click(timeout=5000)
                break
            except PlaywrightError:
                continue
        else:
            pytest.fail(f"the list offers no {option}")


def open_page(page: Page, server: Server, title: str) -> None:
    """Come to a page by its address."""
    page.goto(server.page(title.lower().replace(" ", "_")))
    expect(page.get_by_role("heading", name=title, exact=True)).to_be_visible()


def use_pool(page: Page, size: str) -> None:
    page.get_by_text("Advanced settings").click()
    page.get_by_text("Candidate pool", exact=True).click()
    settled(page)
    entry = page.get_by_label("Lists in the pool", exact=True)
    entry.fill(size)
    entry.press("Enter")
    settled(page)


def open_review(page: Page) -> None:
    """Open the review of a run of epsilon 0.5."""
    type_epsilon(page, "0.5")
    settled(page)
    page.get_by_role("button", name="Review and spend").click()
    expect(spend_button(page)).to_be_enabled()


def spend_button(page: Page):
    return page.get_by_role("button", name=re.compile("^Run and spend [\\d.]+ %$"))


def rehearsed(page: Page) -> None:
    """The first rehearsal of a server loads the engine, which takes a busy machine a while."""
    expect(page.get_by_text("Rehearsal on synthetic data.")).to_be_visible(timeout=4 * WAIT)


def finished(page: Page) -> None:
    """Runs give way to whatever else a machine has to do, so a busy one may need minutes for a small run."""
    expect(page.get_by_text("Finished.")).to_be_visible(timeout=10 * WAIT)


ONE_SPEND = (Decimal("0.5"), 1, 1)


def from_data_set_to_review(page: Page, ward: Server) -> None:
    """Set up a run that lasts, rehearse it for free and open its review."""
    page.goto(ward.page())
    card = page.locator("[class*=st-key-card-]", has_text=ward.dataset)  # Other tests may have stored data sets, too.
    card.get_by_text("Columns (4)").click()
    expect(card.get_by_text("Public demonstration data.")).to_be_visible()
    expect(card.get_by_text("20 to 100, in 8 bins")).to_be_visible()
    go(page, "Rule list")
    expect(page.get_by_text("Noise on a count: ±")).to_be_visible()
    use_pool(page, LONG_POOL)
    page.get_by_role("button", name="Rehearse (free)").click()
    rehearsed(page)
    assert spent(ward) == (0, 0, 0)
    open_review(page)
    dialog = page.get_by_role("dialog")
    expect(dialog).to_contain_text("stays spent")
    expect(dialog).to_contain_text("ε = 0.50 at δ = 8 · 10⁻⁶")
    expect(dialog).to_contain_text(re.compile(r"[\d.]+ % of the budget; \d+ such runs are left"))


def type_epsilon(page: Page, entry: str) -> None:
    field = page.get_by_label("Exact ε")
    field.fill(entry)
    field.press("Enter")


def settle(page: Page) -> None:
    """Wait until the page has been drawn."""
    expect(page.get_by_test_id("stStatusWidget")).to_have_count(0)
    expect(page.get_by_test_id("stApp")).to_have_attribute("data-test-script-state", "notRunning")
    page.wait_for_timeout(500)


def written_dossier(page: Page, folder: Path, results: int = 2) -> Path:
    """Write findings about the results that are chosen, and download the dossier."""
    findings = page.get_by_label("Findings", exact=True)
    findings.fill("The old die more often.")
    findings.press("Control+Enter")
    expect(page.get_by_text(f"The {results} results in this dossier").first).to_be_visible()
    settled(page, 1500)
    with page.expect_download() as download:
        page.get_by_role("button", name="Web page", exact=True).click()
    file = folder / "dossier.html"
    download.value.save_as(file)
    return file


def knows_the_tour(context: BrowserContext) -> BrowserContext:
    """A browser that has been here before: the tour does not open by itself."""
    context.add_cookies(
        [{"name": remembered.cookie(remembered.TOUR), "value": "seen", "domain": "localhost", "path": "/"}]
    )
    return context


def store(shared: Server, records: Any, schema: Schema) -> Server:
    """Store a public data set on that server; what comes back opens its pages with the data set chosen."""
    with shared.service() as service:
        info = service.add_dataset(records, schema, budget=Decimal(2), public=True)
        name = f"{info.name} {info.id}"
        service.rename_dataset(info.id, name)
    return replace(shared, dataset=name)


Store = Callable[[Any, Schema], Server]
