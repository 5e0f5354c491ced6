"""The main flows in a real browser, against a server with a folder of its own."""

from __future__ import annotations

import re
from pathlib import Path

import pytest
from playwright.sync_api import Browser, Page, expect

from tests.support.browsers.app_server import Server, held_up, spent
from tests.support.browsers.browser_steps import ONE_SPEND, finished, from_data_set_to_review, spend_button


def test_from_data_set_to_result_with_five_clicks_a_reload_and_a_second_tab(page: Page, ward: Server) -> None:
    from_data_set_to_review(page, ward)
    spend_button(page).evaluate("button => { for (let i = 0; i < 5; i++) button.click() }")  # They spend once.
    with held_up(ward):
        expect(page.get_by_role("button", name="Stop run …")).to_be_visible()
        page.reload()
        expect(page.get_by_role("button", name="Stop run …")).to_be_visible()
        second = page.context.new_page()
        second.goto(ward.page("rule_list"))
        expect(second.get_by_role("button", name="Stop run …")).to_be_visible()
    finished(second)
    second.close()
    finished(page)
    expect(page.get_by_text("Rehearsal on synthetic data.")).to_have_count(0)
    expect(page.get_by_role("table").first).to_contain_text("Everyone else")
    expect(page.get_by_role("tab", name="Chart")).to_have_count(1)
    page.get_by_role("tab", name="Chart").click()
    expect(page.locator(".js-plotly-plot").first).to_be_visible()
    page.get_by_role("tab", name="Predict a case").click()
    page.get_by_role("button", name="Which rule fits?").click()
    expect(page.get_by_text("Noisy chance of died = yes:")).to_be_visible()
    page.get_by_role("tab", name="Download").click()
    with page.expect_download() as download:
        page.get_by_role("button", name="Download JSON").click()
    assert '"rule_list"' in Path(download.value.path()).read_text()
    assert spent(ward) == ONE_SPEND


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
