"""What people of a hospital do at a human pace, each in a browser of their own."""

from __future__ import annotations

from playwright.sync_api import Locator, Page, expect

from tests.support.browsers.browser_steps import choose

OFFICE, ANN, BOB = "office@hospital.example", "ann@hospital.example", "bob@hospital.example"


ROLES = f"""
[custodian]
emails = ["{OFFICE}"]
[analyst]
claims.groups = ["research"]
"""


PEOPLE = {OFFICE: {}, ANN: {"groups": ["research"]}, BOB: {"groups": "research"}}


ANALYST = frozenset({"analyst"})


#: Milliseconds between two keys of people who type.
PACE = 90


def show(page: Page, view: str) -> None:
    """A view of the page Custodian."""
    page.get_by_test_id("stButtonGroup").get_by_text(view).first.click()


def typed(field: Locator, words: str) -> None:
    """Type over what a field holds, key by key, and see that nothing gets lost."""
    field.focus()
    field.press("ControlOrMeta+a")
    field.page.keyboard.type(words, delay=PACE)
    assert field.input_value() == words


def grant(page: Page, email: str, limit: str) -> None:
    """As a person does it: the outcome of the last press stands above while they type."""
    choose(page, page.get_by_role("combobox", name="Analyst").first, "Somebody else")
    address = page.get_by_role("textbox", name="E-mail address")
    entry, reason = page.get_by_label("Limit in all, ε"), page.get_by_label("Reason (kept in the")
    typed(address, email)
    for words in (limit, "a pilot study"):
        page.keyboard.press("Tab")
        page.keyboard.type(words, delay=PACE)
    for field, words in ((address, email), (entry, limit), (reason, "a pilot study")):
        assert field.input_value() == words
    page.get_by_role("button", name="Give this budget").click()
    expect(page.get_by_text("The budget is set.")).to_be_visible()
    expect(page.get_by_role("table").get_by_text(email)).to_be_visible()
    expect(entry).to_have_value("")
