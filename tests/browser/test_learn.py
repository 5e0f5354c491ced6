"""The lessons and a classroom in a real browser: guess, press and slide, watch the pictures."""

from __future__ import annotations

import re

import pytest
from playwright.sync_api import Browser, Page, expect

from tests.support.browsers.app_server import Server


def picture(page: Page, words: str) -> None:
    """One picture is drawn, wide enough to be seen, and tells the same in words."""
    expect(page.locator(f'[aria-label*="{words}"]')).to_have_count(1)
    drawn = page.locator(".js-plotly-plot")
    expect(drawn).to_have_count(1)
    expect(drawn).to_be_visible()
    box = drawn.bounding_box()
    assert box is not None
    assert box["width"] > 500


@pytest.mark.slow
def test_a_class_room(page: Page, browser: Browser, shared: Server) -> None:
    faults: list[str] = []
    page.on("pageerror", lambda error: faults.append(str(error)))
    page.goto(f"{shared.url}/class_room")
    expect(page.get_by_role("heading", name="Classroom", exact=True)).to_be_visible()
    page.get_by_role("button", name="Open a room").click()
    shown = page.get_by_role("region", name="Code of the room")
    expect(shown).to_contain_text(re.compile("[A-Z0-9]{6}"))
    code = shown.locator("b").inner_text()
    student = browser.new_context(viewport={"width": 1000, "height": 900}, reduced_motion="reduce").new_page()
    student.goto(f"{shared.url}/class_room?room={code}")
    expect(student.get_by_role("textbox", name="Code of the room")).to_have_value(code)
    student.get_by_role("textbox", name="Your name, if you like").fill("Ann")
    student.get_by_role("button", name="Join", exact=True).click()
    student.get_by_role("button", name="Ask", exact=True).click()
    picture(student, "1 answer. Their mean is")
    picture(page, "1 answer. Their mean is")  # The board has drawn itself again.
    page.get_by_role("button", name="Show the true counts").click()
    picture(student, "the true count is 123")
    student.reload()
    expect(student.get_by_text("You are Ann.")).to_be_visible()
    student.context.close()
    expect(page.get_by_test_id("stException")).to_have_count(0)
    assert faults == []
