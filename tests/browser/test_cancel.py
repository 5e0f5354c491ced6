"""Clicks that come twice, or come late, on the buttons that stop runs."""

from __future__ import annotations

from decimal import Decimal

import pytest
from playwright.sync_api import Locator, Page, expect

from tests.support.browsers.browser_steps import settle
from tests.support.browsers.run_queue import Queue


def place_of(button: Locator) -> tuple[float, float]:
    settle(button.page)
    box = button.bounding_box()
    assert box is not None
    return round(box["x"] + box["width"] / 2), round(box["y"] + box["height"] / 2)


def hammer(page: Page, place: tuple[float, float]) -> None:
    """Clicks in one place, some of them after the page has been drawn anew."""
    for pause in (50, 300, 1200, 1200):
        page.mouse.click(*place)
        page.wait_for_timeout(pause)


def test_clicks_in_one_place_cancel_what_waits_and_cost_nothing(page: Page, queue: Queue) -> None:
    first, second, third = queue.add(), queue.add(), queue.add()
    queue.begin(first)
    queue.begin(second)
    page.set_viewport_size({"width": 1360, "height": 1500})
    page.goto(queue.url)
    cancel = page.get_by_role("button", name="Cancel run (free)")
    expect(cancel).to_be_visible()
    place = place_of(cancel)
    queue.end(first)
    expect(page.get_by_text("The run failed", exact=True)).to_be_visible()
    assert place_of(cancel) == place
    hammer(page, place)
    assert queue.states(second, third) == ["running", "cancelled"]
    assert not queue.asked_to_stop(second)
    assert queue.spent() == Decimal(1)


def test_a_click_on_a_run_that_has_just_begun_costs_nothing(page: Page, queue: Queue) -> None:
    run = queue.add()
    page.goto(queue.url)
    cancel = page.get_by_role("button", name="Cancel run (free)")
    expect(cancel).to_be_visible()
    place = place_of(cancel)
    queue.begin(run)
    hammer(page, place)
    assert queue.states(run) == ["running"]
    assert not queue.asked_to_stop(run)
    page.reload()  # The last of the clicks may yet open the question.
    page.get_by_role("button", name="Stop run …").click()
    dialog = page.get_by_role("dialog")
    expect(dialog).to_contain_text("ε 0.50 stays spent")
    expect(dialog.get_by_role("button", name="Stop the run")).to_be_disabled()
    dialog.get_by_text("I give up this result").click()
    dialog.get_by_role("button", name="Stop the run").click()
    expect(dialog).to_have_count(0)
    assert queue.asked_to_stop(run)


@pytest.mark.slow
def test_a_question_stays_while_another_run_begins(page: Page, queue: Queue) -> None:
    first, second = queue.add(), queue.add()
    queue.begin(first)
    page.goto(queue.url)
    expect(page.get_by_role("button", name="Cancel run (free)")).to_be_visible()
    page.get_by_role("button", name="Stop run …").click()
    dialog = page.get_by_role("dialog")
    expect(dialog).to_contain_text("ε 0.50 stays spent")
    dialog.evaluate("one => { one.dataset.before = 'yes' }")
    expect(page.get_by_text("Waiting for a free worker")).to_have_count(1)
    queue.begin(second)
    expect(page.get_by_text("Waiting for a free worker")).to_have_count(0)
    expect(dialog).to_have_attribute("data-before", "yes")  # The same one: it was never closed.
    dialog.get_by_text("I give up this result").click()
    dialog.get_by_role("button", name="Stop the run").click()
    expect(dialog).to_have_count(0)
    expect(page.get_by_role("button", name="Stop run …")).to_have_count(2)
    assert queue.asked_to_stop(first)
    assert not queue.asked_to_stop(second)
