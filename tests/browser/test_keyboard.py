"""By keyboard alone, with a focus that can be seen: a rehearsal and its review, and a whole day."""

from __future__ import annotations

import os
from decimal import Decimal
from pathlib import Path

import pytest
from playwright.sync_api import Page, expect

from dpcore.domain.schemas.schema import Schema
from dpcore.service import Service
from dpcore.workspace.ledger.requests import RunRequest
from tests.browser.steps import ONE_SPEND, finished, rehearsed
from tests.browser.test_accessibility import settle
from tests.support.app_server import SCHEMA_TEXT, invented, serve, spent

#: The focused element, and whether something shows that it is.
FOCUSED = """() => {
    const element = document.activeElement
    if (element === document.body) return ['body', true]  // The turn of the browser's own buttons.
    const table = element.closest('[data-testid=stDataFrame]')
    const ring = [element, element.parentElement, element.parentElement.parentElement, table].some(
        part => part && (parseFloat(getComputedStyle(part).outlineWidth) > 0
            && getComputedStyle(part).outlineStyle !== 'none'
            || getComputedStyle(part).boxShadow !== 'none'))
    const name = element.getAttribute('aria-label') || element.innerText || ''
    return [element.tagName.toLowerCase() + ' ' + name.trim().slice(0, 80), ring]
}"""


def tab_to(page: Page, name: str, most: int = 80, key: str = "Tab") -> None:
    """Press Tab until an element has the focus; every stop on the way must show it."""
    for _ in range(most):
        page.keyboard.press(key)
        told, ring = page.evaluate(FOCUSED)
        assert ring, f"no focus to be seen on {told}"
        if name in told and not told.startswith(("main", "body")):
            return
    pytest.fail(f"Tab does not reach {name}")


def review(page: Page) -> None:
    """Open the review, as far as the button that spends."""
    tab_to(page, "Review and spend")
    page.keyboard.press("Enter")
    expect(page.get_by_role("dialog")).to_contain_text("cannot be undone")
    settle(page)
    tab_to(page, "Run and spend ε = 0.50", most=10)


def test_a_rehearsal_the_review_and_the_run_by_keyboard_alone(page, ward):
    page.goto(ward.page())
    expect(page.get_by_role("heading", name="Data sets", exact=True)).to_be_visible()
    settle(page)
    tab_to(page, "Rule list")
    page.keyboard.press("Enter")
    expect(page.get_by_role("heading", name="Rule list", exact=True)).to_be_visible()
    settle(page)
    for name in ("Data set", "What should be predicted?", "Exact ε", "Rehearse (free)"):
        tab_to(page, name)
    page.keyboard.press("Enter")
    rehearsed(page)
    settle(page)
    assert spent(ward) == (0, 0, 0)
    review(page)
    page.keyboard.press("Escape")
    expect(page.get_by_role("dialog")).to_have_count(0)
    page.wait_for_timeout(500)
    assert spent(ward) == (0, 0, 0)  # A dismissed review spends nothing.
    review(page)
    page.keyboard.press("Enter")
    finished(page)
    assert spent(ward) == ONE_SPEND


def press(page: Page, key: str, stays: str) -> None:
    """Press a key; once the page is drawn anew, the focus is where it was, or where it belongs."""
    page.keyboard.press(key)
    settle(page)
    told, ring = page.evaluate(FOCUSED)
    for _ in range(20):
        if stays in told and ring:
            break
        page.wait_for_timeout(500)  # A busy machine has not even begun to draw.
        told, ring = page.evaluate(FOCUSED)
    assert stays in told, f"after {key} the focus is on {told}"
    assert ring, f"no focus to be seen on {told}"


def turn_to(page: Page, title: str) -> None:
    """By the menu to another page."""
    tab_to(page, title, most=120)
    press(page, "Enter", title)
    expect(page.get_by_role("heading", name=title, exact=True)).to_be_visible()


@pytest.mark.slow
def test_a_whole_day_by_keyboard_alone(page, tmp_path):
    """From the choice of the data set to the dossier with nothing but Tab, arrows, Enter, Space and Escape."""
    with Service(home=tmp_path / "home", workers=0) as service:
        for name in ("clinic", "ward"):
            schema = Schema.from_text(SCHEMA_TEXT.replace("name: ward", f"name: {name}"))
            ward = service.add_dataset(invented(), schema, budget=Decimal(2), public=True)
        tree = RunRequest(dataset_id=ward.id, algorithm="tree", target="died", epsilon=Decimal("0.5"))
        assert service.wait(service.submit(tree, os.urandom(9).hex()), 60).state == "done"
    with serve(tmp_path / "home") as server:
        page.goto(server.url)
        expect(page.get_by_role("heading", name="Data sets", exact=True)).to_be_visible()
        settle(page)
        tab_to(page, "Select this data set")
        press(page, "Enter", "Selected")
        # Set up, rehearse, review.
        turn_to(page, "Rule list")
        expect(page.get_by_role("combobox", name="Data set")).to_have_value("ward")
        tab_to(page, "What should be predicted?")
        page.keyboard.press("ArrowDown")
        expect(page.get_by_role("option").first).to_be_visible()
        press(page, "Escape", "What should be predicted?")
        tab_to(page, "Strict (ε 0.1)")
        press(page, "Space", "Strict (ε 0.1)")
        expect(page.get_by_label("Exact ε")).to_have_value("0.1")
        press(page, "ArrowRight", "Balanced (ε 0.5)")
        press(page, "Space", "Balanced (ε 0.5)")
        expect(page.get_by_label("Exact ε")).to_have_value("0.5")
        tab_to(page, "Keep this run free of δ")
        press(page, "Space", "Keep this run free of δ")
        press(page, "Space", "Keep this run free of δ")
        tab_to(page, "Rehearse (free)")
        press(page, "Enter", "Rehearse (free)")
        rehearsed(page)
        tab_to(page, "Review and spend")
        press(page, "Enter", "What you are about to do")
        press(page, "Escape", "Review and spend")
        # Spend: the form folds, so what had the focus is gone; what comes next is what stood below it.
        press(page, "Enter", "What you are about to do")
        tab_to(page, "Run and spend ε = 0.50", most=10)
        page.keyboard.press("Enter")
        expect(page.get_by_text("Finished.")).to_be_visible()
        settle(page)
        tab_to(page, "Compare methods", most=1)
        tab_to(page, "Set up a run", most=2, key="Shift+Tab")
        # Read.
        tab_to(page, "In words", key="Shift+Tab")
        press(page, "ArrowRight", "Chart")
        expect(page.locator(".js-plotly-plot").first).to_be_visible()
        press(page, "ArrowRight", "Hold-out check")
        press(page, "ArrowRight", "Predict a case")
        tab_to(page, "Which rule fits?")
        press(page, "Enter", "Which rule fits?")
        expect(page.get_by_text("died = yes").last).to_be_visible()
        # Compare.
        turn_to(page, "Releases")
        tab_to(page, "Read one")
        press(page, "ArrowRight", "Compare")
        expect(page.get_by_role("tabpanel")).to_contain_text("Decision tree")
        # Report.
        turn_to(page, "Report")
        tab_to(page, "Results")
        page.keyboard.press("ArrowDown")
        expect(page.get_by_role("option").first).to_be_visible()
        press(page, "Enter", "Results")
        press(page, "Escape", "Results")
        tab_to(page, "Download")
        with page.expect_download() as download:
            page.keyboard.press("Enter")
        assert Path(download.value.path()).stat().st_size > 1000
