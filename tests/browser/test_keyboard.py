"""By keyboard alone, with a focus that can be seen: a rehearsal and its review, and a whole day."""

from __future__ import annotations

import pytest
from playwright.sync_api import Page, expect

from tests.support.browsers.app_server import spent
from tests.support.browsers.browser_steps import ONE_SPEND, finished, rehearsed, settle

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
    expect(page.get_by_role("dialog")).to_contain_text("stays spent")
    settle(page)
    tab_to(page, "Run and spend", most=10)


def test_a_rehearsal_the_review_and_the_run_by_keyboard_alone(page, ward):
    page.goto(ward.page())
    expect(page.get_by_role("heading", name="Data sets", exact=True)).to_be_visible()
    settle(page)
    tab_to(page, "Rule list")
    page.keyboard.press("Enter")
    expect(page.get_by_role("heading", name="Rule list", exact=True)).to_be_visible()
    settle(page)
    for name in ("Data set", "What should be predicted?", "Exact ε"):
        tab_to(page, name)
    page.keyboard.press("ControlOrMeta+a")
    page.keyboard.type("0.5")
    tab_to(page, "Rehearse (free)")
    settle(page)
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
