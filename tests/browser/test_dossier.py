"""From results to a dossier in a real browser, and the dossier on its own, without a network."""

from __future__ import annotations

import os
from decimal import Decimal
from pathlib import Path

import pytest
from playwright.sync_api import Browser, Page, expect

from dpcore.report.dossier import Dossier
from dpcore.report.forms.page import dossier_page
from dpcore.workspace.ledger.requests import RunRequest
from tests.support.browsers.app_server import Server
from tests.support.browsers.browser_steps import choose, open_page, written_dossier
from tests.support.results import reports


@pytest.fixture
def server(ward: Server) -> Server:
    """A data set with a rule list and a tree, which has a name."""
    with ward.service() as service:
        info = service.dataset(ward.dataset)
        for algorithm, epsilon in (("rule_list", "0.5"), ("tree", "0.7")):
            chosen = {"algorithm": algorithm, "target": "died", "epsilon": Decimal(epsilon), "pure": True}
            request = RunRequest(dataset_id=info.id, **chosen)
            status = service.run(service.submit(request, os.urandom(8).hex()))
            assert status.state == "done"
        service.note_release(status.release_id, "Who dies", "")
    return ward


def opened_alone(browser: Browser, file: Path) -> tuple[Page, list[str]]:
    """A file in a browser without a network, and everything but the file that it asks for."""
    context = browser.new_context(offline=True)
    alone, asked = context.new_page(), list[str]()
    alone.on("request", lambda request: asked.append(request.url))
    alone.on("dialog", lambda dialog: asked.append(f"dialog {dialog.message}"))
    alone.on("pageerror", lambda error: asked.append(f"error {error}"))
    alone.goto(file.as_uri())
    expect(alone.locator("figure .main-svg").first).to_be_visible()
    return alone, [url for url in asked if url != file.as_uri()]


def pages_of(pdf: bytes) -> int:
    return pdf.count(b"/Type /Page\n") + pdf.count(b"/Type /Page/")


def test_from_results_to_a_dossier(page: Page, server: Server, browser: Browser, tmp_path: Path) -> None:
    open_page(page, server, "Report")
    expect(page.get_by_text("Choose at least one result")).to_be_visible()
    choose(page, page.get_by_role("combobox", name="Results"), "Who dies · Tree for died", "Rule list for died")
    page.keyboard.press("Escape")
    file = written_dossier(page, tmp_path)
    with page.expect_download() as download:
        page.get_by_role("button", name="Download as PDF").click()
    assert Path(download.value.path()).read_bytes().startswith(b"%PDF")
    alone, asked = opened_alone(browser, file)
    assert asked == []
    expect(alone.get_by_role("heading", name="Result 2: Who dies")).to_be_visible()
    expect(alone.get_by_text("The old die more often.")).to_be_visible()
    totals = alone.get_by_role("table", name="Privacy budget, exact")
    expect(totals.get_by_role("row").nth(1)).to_contain_text("1.20")
    assert pages_of(alone.pdf(prefer_css_page_size=True)) >= 4
    alone.context.close()


@pytest.mark.slow
def test_a_hostile_dossier_does_nothing(browser: Browser, tmp_path: Path) -> None:
    chosen = [reports.release(case) for case in reports.CASES]
    notes = {release.id: reports.note(release) for release in chosen}
    file = tmp_path / "hostile.html"
    file.write_text(
        dossier_page(Dossier(reports.dataset(), chosen, notes, reports.balance("20"), reports.WRITTEN).whole),
        encoding="utf-8",
    )
    alone, asked = opened_alone(browser, file)
    expect(alone.locator("figure .main-svg").last).to_be_visible()
    assert asked == []
    # Fields of colours are drawn as pictures that stand in the file; a picture runs nothing.
    pictures = alone.locator(".main-svg image").evaluate_all("all => all.map(e => e.href.baseVal)")
    assert pictures
    assert all(picture.startswith("data:image/png;base64,") for picture in pictures)
    addresses = alone.evaluate(
        "() => [...document.querySelectorAll('*:not(.main-svg image)')].flatMap(e => ['href', 'xlink:href', 'src']"
        ".map(n => e.getAttribute(n))).filter(a => a && !a.startsWith('#'))"
    )
    assert addresses == []
    sheet = alone.evaluate("() => document.documentElement.scrollWidth <= document.documentElement.clientWidth")
    assert sheet, "nothing is wider than the page"
    assert pages_of(alone.pdf(prefer_css_page_size=True)) > len(chosen)
    alone.context.close()
