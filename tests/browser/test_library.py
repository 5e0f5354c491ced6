"""A result in six clicks from the first visit, and two of them compared in three, in a real browser."""

from __future__ import annotations

import os
import re
from decimal import Decimal

import pytest
from playwright.sync_api import Browser, Locator, Page, expect

from dpcore.workspace.ledger.requests import RunRequest
from tests.browser.steps import go, settled
from tests.support.app_server import Server

_ROW = 35


@pytest.fixture
def server(ward: Server) -> Server:
    """A data set with two results."""
    with ward.service() as service:
        dataset = service.dataset(ward.dataset).id
        for algorithm in ("tree", "rule_list"):
            request = RunRequest(dataset_id=dataset, algorithm=algorithm, target="died", epsilon=Decimal("0.5"))
            assert service.run(service.submit(request, os.urandom(8).hex())).state == "done"
    return ward


def tick(table: Locator, row: int) -> None:
    """The box before a row of a table that is drawn on a canvas."""
    settled(table.page)  # A click on a table that is being drawn anew is lost.
    table.click(position={"x": 15, "y": _ROW * row + 50})


@pytest.mark.slow
def test_two_results_are_compared_in_three_clicks(page: Page, server: Server) -> None:
    page.goto(server.page())
    go(page, "Releases")
    table = page.get_by_test_id("stDataFrame").first
    expect(table).to_be_visible()
    tick(table, 1)
    expect(page.get_by_label("Result", exact=True)).to_have_value(re.compile("Tree for died"))
    tick(table, 0)
    expect(page.get_by_label("Result", exact=True)).to_have_value(re.compile("Rule list for died"))
    page.get_by_role("tab", name="Compare").click()
    expect(page.get_by_label("First result")).to_have_value(re.compile("Rule list for died|Tree for died"))
    expect(page.get_by_role("table", name=re.compile("column by column"))).to_be_visible()
    expect(page.get_by_role("table", name="Quality")).to_be_visible()
    expect(page.get_by_role("table", name="Certificates")).to_be_hidden()


def test_from_the_first_visit_to_a_result_in_six_clicks(browser: Browser, untouched: Server) -> None:
    """By the tour and the page that proposes a method; two minutes are far more than it takes."""
    context = browser.new_context(viewport={"width": 1360, "height": 900}, reduced_motion="reduce")
    page, clicks = context.new_page(), 0
    page.goto(untouched.url)
    for name in ("Which method? Help me choose", "Set this run up", "Review and spend", "Run and spend"):
        button = page.get_by_role("button", name=name)
        expect(button).to_be_enabled()
        button.click()
        clicks += 1
    expect(page.get_by_text("Finished.", exact=False).first).to_be_visible()
    expect(page.get_by_role("tab", name="Certificate")).to_be_visible()
    assert clicks <= 6
    cookies = {cookie["name"]: cookie["value"] for cookie in context.cookies()}
    assert cookies["frostglass-tour"] == "seen", "it does not open again"
    context.close()
