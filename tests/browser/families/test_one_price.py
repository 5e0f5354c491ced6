"""One price: the epsilon that is picked is shown, to its last digit, wherever the run is spoken of, in every family."""

from __future__ import annotations

import re
from decimal import Decimal
from pathlib import Path

import pytest
from playwright.sync_api import Locator, Page, expect
from typer.testing import CliRunner

from dpcore.client import Client
from dpcore.commands import app as command_line
from dpcore.demo import DEMOS
from dpcore.privacy.budgets import at_delta
from pages.components.families import registry
from pages.components.visitor.menu import MENU
from tests.support.browsers.app_server import Server
from tests.support.browsers.browser_steps import (
    Store,
    choose,
    finished,
    go,
    open_page,
    settled,
    spend_button,
    type_epsilon,
    written_dossier,
)

EPSILON = "0.271828183"
PAGES = [entry.title for entry in MENU for family in registry.FAMILIES.values() if entry.path == family.page]


@pytest.fixture
def server(stored: Store) -> Server:
    demo = DEMOS["stroke"]()
    return stored(demo.frame, demo.schema)


def percents(shown: Locator) -> Decimal:
    """The share of the budget that a text shows, in percent."""
    return Decimal(re.search(r"([\d.]+) %", shown.inner_text())[1])  # type: ignore[index]


def run_on(page: Page, title: str, promise: str) -> Decimal:
    """Run a family with its defaults; returns what its button says that it takes."""
    go(page, title)
    expect(page.get_by_text("Noise on").first).to_be_visible()
    settled(page)
    type_epsilon(page, EPSILON)
    settled(page)
    page.get_by_role("button", name="Review and spend").click()
    expect(spend_button(page)).to_be_enabled()
    dialog = page.get_by_role("dialog")
    expect(dialog.get_by_role("row", name="Promises")).to_contain_text(promise)
    expect(spend_button(page)).to_be_in_viewport(ratio=1)
    assert len(re.findall(r"\S*\w\S*", dialog.inner_text())) <= 80, "a review is short"
    price = percents(spend_button(page))
    assert percents(dialog.get_by_role("row", name="Takes")) == price
    spend_button(page).click()
    finished(page)
    page.get_by_role("tab", name="Certificate").click()
    certificate = page.get_by_role("table").filter(has_text="Certificate")
    expect(certificate.get_by_role("row", name="Promise")).to_contain_text(f"ε = {EPSILON},")
    return price


def reported(page: Page, folder: Path, results: int) -> str:
    """The dossier of all results."""
    go(page, "Report")
    choose(page, page.get_by_role("combobox", name="Results"), *[re.compile("·")] * results)
    page.keyboard.press("Escape")
    return written_dossier(page, folder, results).read_text(encoding="utf-8")


def typed_out(server: Server, monkeypatch: pytest.MonkeyPatch, *words: str) -> list[list[str]]:
    """Lines of a command about the data set, each parted at its columns."""
    monkeypatch.setenv("FROSTGLASS_HOME", str(server.home))
    told = CliRunner().invoke(command_line, [*words, server.dataset], catch_exceptions=False).stdout
    return [re.split(r" {2,}", line.strip()) for line in told.splitlines()]


@pytest.mark.slow
def test_seven_methods_show_the_epsilon_that_was_picked_and_their_shares_add_up_to_the_meter(
    page: Page, server: Server, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    with server.service() as service:
        dataset, token = service.dataset(server.dataset).id, service.issue_token().text
        promise = f"ε = {EPSILON}{at_delta(service.balance(dataset).run_delta)}"
    page.set_viewport_size({"width": 1280, "height": 720})
    open_page(page, server, PAGES[0])
    prices = [run_on(page, title, promise) for title in PAGES]
    assert len(prices) == 7
    expect(page.locator(".fg-meter")).to_be_in_viewport(ratio=1)
    assert len(set(prices)) == 1, "the same epsilon takes the same share in every family"
    lines = page.locator(".fg-meter .fg-legend li")
    go(page, "Releases")
    settled(page, 1500)
    expect(lines.first).to_contain_text(f"{sum(prices)} %")
    expect(lines.last).to_contain_text(f"{100 - sum(prices)} %")
    expect(page.get_by_test_id("stDataFrame").locator("td", has_text=EPSILON)).to_have_count(len(prices))
    assert reported(page, tmp_path, len(prices)).count(f"<dt>ε</dt><dd>{EPSILON}</dd>") == len(prices)
    assert [EPSILON in line for line in typed_out(server, monkeypatch, "release", "list", "--dataset")].count(True) == 7
    spent = [line for line in typed_out(server, monkeypatch, "ledger", "show") if "commit" in line]
    assert [EPSILON in line for line in spent] == [True] * len(prices)
    with Client(server.url, token) as client, server.service() as service:
        assert client.budget(dataset).spent * 100 == sum(prices)
        for release in service.releases(dataset):
            assert client.release(release.id).certificate.epsilon == Decimal(EPSILON)
