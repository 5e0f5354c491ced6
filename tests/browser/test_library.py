"""A result in six clicks from the first visit, and two of them compared in three, in a real browser."""

from __future__ import annotations

import pytest
from playwright.sync_api import Browser, expect

from tests.support.browsers.app_server import Server


@pytest.mark.slow
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
