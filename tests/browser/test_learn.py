"""The lessons in a real browser: walk through all of them, press and slide, watch the pictures."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from pathlib import Path

import pytest
from playwright.sync_api import Locator, Page, expect

from tests.browser.test_browser import Server, choose, go, serve


@pytest.fixture
def empty(tmp_path: Path) -> Iterator[Server]:
    """A server without any data set: the lessons need none."""
    with serve(tmp_path / "home") as running:
        yield running


def lesson(page: Page, name: str) -> Locator:
    page.get_by_role("tab", name=name, exact=True).click()
    panel = page.get_by_role("tabpanel", name=name, exact=True)
    expect(panel.get_by_role("heading").first).to_be_visible()
    return panel


def picture(panel: Locator, words: str) -> None:
    """One picture is drawn, wide enough to be seen, and tells the same in words."""
    expect(panel.locator(f'[aria-label*="{words}"]')).to_have_count(1)
    drawn = panel.locator(".js-plotly-plot")
    expect(drawn).to_have_count(1)
    expect(drawn).to_be_visible()
    box = drawn.bounding_box()
    assert box is not None
    assert box["width"] > 500


def reveal(panel: Locator, question: str, answer: str) -> None:
    panel.get_by_text(question).click()
    expect(panel.get_by_text(answer)).to_be_visible()


def noise(page: Page) -> None:
    panel = lesson(page, "1 Noise")
    picture(panel, "1 noisy answer;")
    panel.get_by_role("button", name="Ask again").click()
    picture(panel, "2 noisy answers, from")
    reveal(panel, "A noisy count of 4", "It may well be empty")


def neighbours(page: Page) -> None:
    panel = lesson(page, "2 Neighbours")
    picture(panel, "factor of 1.65")
    choose(page, panel.get_by_role("combobox", name="Remove"), "Person 2")
    picture(panel, "every answer has the same chance")


def odds(page: Page) -> None:
    panel = lesson(page, "3 Odds")
    picture(panel, "between 6.3% and 15% after it")
    panel.get_by_role("slider").last.press("ArrowRight")
    picture(panel, "With epsilon 1, ")


def budget(page: Page) -> None:
    panel = lesson(page, "4 Budget")
    picture(panel, "The average of 50 noisy answers")
    panel.get_by_role("slider").first.press("End")
    expect(panel.get_by_text("The toy budget refuses")).to_be_visible()
    picture(panel, "The average of 91 noisy answers")


def histogram(page: Page) -> None:
    panel = lesson(page, "5 Histogram")
    picture(panel, "Noise of the answers to 15 questions")
    panel.get_by_role("slider").first.press("Home")
    picture(panel, "Noise of the answers to 1 question.")
    reveal(panel, "Is one histogram always better?", "Not if you need one number only")


def attacks(page: Page) -> None:
    panel = lesson(page, "6 Attacks")
    picture(panel, "50 noisy differences")
    panel.get_by_text("Who is in the data?").click()
    picture(panel, "The ceiling for noisy answers is 62.2%")
    panel.get_by_text("Everybody at once").click()
    picture(panel, "From exact counts 30 guesses are right")


def sandbox(page: Page) -> None:
    panel = lesson(page, "Sandbox")
    panel.get_by_role("slider").press("End")
    expect(panel.get_by_role("slider")).to_have_attribute("aria-valuetext", "2")
    panel.get_by_role("button", name="Ask (toy budget)").click()
    expect(panel.get_by_text("Refused: this question costs ε 2.00")).to_be_visible()
    panel.get_by_role("button", name="Reset the toy budget").click()
    expect(panel.get_by_text("Refused")).to_have_count(0)


@pytest.mark.parametrize(
    "lessons",
    [
        (noise, budget, sandbox),
        pytest.param((noise, neighbours, odds, budget, histogram, attacks, sandbox), marks=pytest.mark.slow),
    ],
)
def test_a_walk_through_the_lessons(page: Page, empty: Server, lessons: Iterable[Callable[[Page], None]]) -> None:
    faults: list[str] = []
    page.on("pageerror", lambda error: faults.append(str(error)))
    page.goto(empty.url)
    expect(page.get_by_role("heading", name="Data sets", exact=True)).to_be_visible()
    go(page, "Learn")
    expect(page.get_by_text("Nothing on this page touches a real budget")).to_be_visible()
    for walk in lessons:
        walk(page)
    expect(page.get_by_test_id("stException")).to_have_count(0)
    assert faults == []
