"""The lessons and a classroom in a real browser: guess, press and slide, watch the pictures."""

from __future__ import annotations

import re

import pytest
from playwright.sync_api import Browser, Page, expect

from tests.browser.steps import choose, go, settled
from tests.support.app_server import Server


def lesson(page: Page, title: str, *, guesses: int = 1) -> None:
    """Open a lesson by the list, and guess."""
    if page.get_by_role("heading", name=title, exact=True).count() == 0:
        choose(page, page.get_by_role("combobox", name="Lesson"), title, search=title)
    expect(page.get_by_role("heading", name=title, exact=True)).to_be_visible()
    for _ in range(guesses):
        expect(page.get_by_text("Guess first.")).to_be_visible()
        settled(page)  # The lesson before may still be in sight, with its truth.
        before = page.get_by_text("The truth", exact=True).count()
        page.get_by_role("button", name="This is my guess").click()
        expect(page.get_by_text("The truth", exact=True)).to_have_count(before + 1)


def picture(page: Page, words: str) -> None:
    """One picture is drawn, wide enough to be seen, and tells the same in words."""
    expect(page.locator(f'[aria-label*="{words}"]')).to_have_count(1)
    drawn = page.locator(".js-plotly-plot")
    expect(drawn).to_have_count(1)
    expect(drawn).to_be_visible()
    box = drawn.bounding_box()
    assert box is not None
    assert box["width"] > 500


def reveal(page: Page, question: str, answer: str) -> None:
    page.get_by_text(question).click()
    expect(page.get_by_text(answer)).to_be_visible()


def slider(page: Page, label: str, key: str) -> None:
    page.get_by_role("slider", name=label).press(key)


def everybody(page: Page) -> None:
    lesson(page, "Everybody at once", guesses=2)
    picture(page, "From exact counts 30 guesses are right, from noisy counts")


def noise(page: Page) -> None:
    lesson(page, "Noise and counts")
    picture(page, "1 noisy answer;")
    page.get_by_role("button", name="Ask again").click()
    picture(page, "2 noisy answers, from")
    reveal(page, "A noisy count of 4", "It may well be empty")


def sensitivity(page: Page) -> None:
    lesson(page, "Sensitivity")
    picture(page, "at most 365 days of a stay are counted, 0 days are left out")
    slider(page, "Count at most", "Home")
    picture(page, "at most 5 days of a stay are counted")


def neighbours(page: Page) -> None:
    lesson(page, "Neighbours")
    picture(page, "factor of 1.65")
    page.get_by_role("radio", name="Person 2, 54 years").click()
    picture(page, "every answer has the same chance")
    expect(page.get_by_role("region", name="Taken out")).to_contain_text("Person 2")


def definition(page: Page) -> None:
    lesson(page, "The definition")
    picture(page, "1.65 times as much")
    expect(page.locator(".katex-display").first).to_be_visible()


def odds(page: Page) -> None:
    lesson(page, "Epsilon as odds")
    picture(page, "between 6.3% and 15% after it")
    slider(page, "ε of everything", "ArrowRight")
    picture(page, "With epsilon 1, ")


def coins(page: Page) -> None:
    lesson(page, "A coin for everybody")
    page.get_by_role("button", name="Toss the coins").click()
    expect(page.get_by_text("Toss 1.")).to_be_visible()
    picture(page, "20 noisy estimates")


def budget(page: Page) -> None:
    lesson(page, "Composition and the budget")
    picture(page, "The average of 50 noisy answers")
    slider(page, "Ask this often", "End")
    expect(page.get_by_text("The toy budget refuses")).to_be_visible()
    picture(page, "The average of 91 noisy answers")


def delta(page: Page) -> None:
    choose(page, page.get_by_role("combobox", name="Lesson"), "What delta is", search="What delta is")
    expect(page.get_by_role("button", name="This is my guess")).to_be_disabled()
    page.get_by_text("with exactly the chance δ").click()
    lesson(page, "What delta is")
    picture(page, "The area delta is 13%")


def histogram(page: Page) -> None:
    lesson(page, "Many questions, one measurement")
    picture(page, "Noise of the answers to 15 questions")
    slider(page, "Ages to ask about", "Home")
    picture(page, "Noise of the answers to 1 question.")
    reveal(page, "Is one histogram always better?", "Not if you need one number only")


def limits(page: Page) -> None:
    lesson(page, "What privacy does not prevent")
    picture(page, "20.0% after it if Ann took part, 20.0% if she stayed out")
    page.get_by_role("button", name="Next: Sandbox").click()


def sandbox(page: Page) -> None:
    expect(page.get_by_role("heading", name="Teacher's sandbox", exact=True)).to_be_visible()
    page.get_by_role("button", name="Ask (toy budget)").click()
    expect(page.get_by_label("Spent ε 0.20; Left for one question ε 0.80")).to_be_visible()
    slider(page, "ε of this question", "End")
    page.get_by_role("button", name="Ask (toy budget)").click()
    expect(page.get_by_text("Refused: this question costs ε 2.00")).to_be_visible()
    page.get_by_role("button", name="Reset the toy budget").click()
    expect(page.get_by_text("Refused")).to_have_count(0)


LESSONS = (
    everybody,
    noise,
    sensitivity,
    neighbours,
    definition,
    odds,
    coins,
    budget,
    delta,
    histogram,
    limits,
    sandbox,
)


@pytest.mark.slow
def test_a_walk_through_the_lessons(page: Page, shared: Server) -> None:
    faults: list[str] = []
    page.on("pageerror", lambda error: faults.append(str(error)))
    page.goto(shared.url)
    expect(page.get_by_role("heading", name="Data sets", exact=True)).to_be_visible()
    go(page, "Learn")
    expect(page.get_by_text("Nothing here touches a real budget")).to_be_visible()
    for walk in LESSONS:
        walk(page)
    expect(page.get_by_test_id("stException")).to_have_count(0)
    assert faults == []


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
