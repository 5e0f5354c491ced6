"""Relational rules in a real browser: choose trains, learn, read, draw, try a case."""

from __future__ import annotations

import re
from pathlib import Path

import pytest
from playwright.sync_api import Page, expect

from dpcore.demo import DEMOS
from dpcore.models.released import parse_model
from dpcore.plots.style import pretty
from dpcore.released.release import Release
from tests.browser.conftest import Store
from tests.browser.steps import ONE_SPEND, choose, click_until, finished, open_page, open_review, settled, spend_button
from tests.support.app_server import Server, spent
from tests.support.small_trains import SCHEMA, trains


@pytest.fixture
def server(stored: Store) -> Server:
    demo = DEMOS["trains"]()
    return stored({demo.schema.entity: demo.frame, **demo.children}, demo.schema)


@pytest.fixture
def numbers(stored: Store) -> Server:
    """Trains whose cars have numbers."""
    return stored(trains(), SCHEMA)


def releases(server: Server) -> list[Release]:
    with server.service() as service:
        return service.releases(service.dataset(server.dataset).id)


def open_rules(page: Page, server: Server) -> None:
    open_page(page, server, "Relational rules")
    expect(page.get_by_text("possible clauses")).to_be_visible()


def run_once(page: Page, server: Server) -> None:
    open_review(page)
    expect(page.get_by_role("dialog")).to_contain_text("inductive logic programming")
    spend_button(page).click()
    finished(page)


def tab(page: Page, name: str) -> None:
    page.get_by_role("tab", name=name, exact=True).click()


@pytest.mark.slow
def test_from_trains_to_a_case_of_ones_own(page: Page, server: Server) -> None:
    open_page(page, server, "Relational rules")
    expect(page.get_by_text("37 conditions make")).to_be_visible()
    expect(page.get_by_text("no private method can be reliable")).to_be_visible()
    assert spent(server) == (0, 0, 0)
    run_once(page, server)
    [release] = releases(server)
    model = parse_model(release)
    table = page.get_by_role("table").first
    expect(table).to_contain_text("direction(T, east) :-")
    expect(table).to_contain_text("Every other train")
    inner, outer = page.locator(".fg-scroll").first.evaluate("f => [f.scrollWidth, f.clientWidth]")
    assert inner <= outer
    tab(page, "In words")
    for sentence in model.reading(release.domain, release.target):
        expect(page.get_by_text(pretty(sentence)).first).to_be_visible()
    tab(page, "Prolog")
    expect(page.get_by_text("% Relational rules for direction = east")).to_be_visible()
    tab(page, "Chart")
    expect(page.get_by_role("figure", name=re.compile("The clauses cover .* train records"))).to_have_count(1)
    tab(page, "Cases")
    expect(page.get_by_text("Nobody's record.")).to_be_visible()
    expect(_drawn(page)).to_have_count(1)
    first = _alt(page)
    page.get_by_role("button", name="Another one").click()
    expect(_made_up(page).get_by_role("figure", name=first, exact=True)).to_have_count(0)
    expect(_drawn(page)).to_have_count(1)
    expect(page.get_by_text("Clause 1 covers it")).to_be_visible()
    choose(page, page.get_by_role("combobox", name="Start from"), "an empty case")
    expect(page.get_by_text("No clause covers it")).to_be_visible()
    tab(page, "Download")
    with page.expect_download() as download:
        page.get_by_role("button", name="Download Prolog").click()
    assert "direction(T, east) :-" in Path(download.value.path()).read_text()
    assert spent(server) == ONE_SPEND


def _made_up(page: Page):
    return page.locator("[class*=-made-up-train-diagram]")


def _drawn(page: Page):
    return _made_up(page).locator(".js-plotly-plot")


def _alt(page: Page) -> str:
    """What the picture says to those who cannot see it."""
    name = _made_up(page).locator("[aria-label^='A train of']").first.get_attribute("aria-label")
    assert name is not None
    return name


@pytest.mark.slow
def test_conditions_are_taken_out_one_after_another(page: Page, server: Server) -> None:
    open_rules(page, server)
    page.get_by_text("Conditions on car: all 37").click()
    for left in (36, 35):
        page.get_by_role("button", name=re.compile("^Remove ")).first.click()
        expect(page.get_by_text(f"Conditions on car: {left} of 37")).to_be_visible()
        expect(page.get_by_text(f"{left} conditions make")).to_be_visible()
    run_once(page, server)
    [release] = releases(server)
    assert len(release.parameters["literals"]) == 35


@pytest.mark.slow
def test_true_values_and_a_case_that_is_edited(page: Page, numbers: Server) -> None:
    open_rules(page, numbers)
    run_once(page, numbers)
    switch = page.get_by_text("Show true values beside noisy ones (public data only)")
    click_until(switch, page.get_by_text("◇"))
    with numbers.service() as service:
        counts = service.true_counts(releases(numbers)[0])
    expect(page.get_by_role("table").first).to_contain_text(f"{counts[0][1]} true")
    tab(page, "Cases")
    expect(page.get_by_text("Clause 1 covers it")).to_be_visible()
    grid = page.get_by_test_id("stDataFrame").last
    grid.scroll_into_view_if_needed()
    settled(page, 1000)
    box = grid.bounding_box()
    assert box is not None
    for row in range(3):  # No car is known to be short any more.
        page.mouse.click(box["x"] + 80, box["y"] + 35 * row + 53)
        page.wait_for_timeout(300)
        page.keyboard.press("Delete")
        settled(page, 1000)
    expect(page.get_by_text("Clause 1 covers it")).to_have_count(0)
    assert spent(numbers) == ONE_SPEND
