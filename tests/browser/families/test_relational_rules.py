"""Relational rules in a real browser: choose trains, learn, read, draw, try a case."""

from __future__ import annotations

import re
from pathlib import Path

import pytest
from playwright.sync_api import Page, expect

from dpcore.demo import DEMOS
from dpcore.domain.conditions import pretty
from dpcore.models.released import parse_model
from dpcore.released.release import Release
from tests.support.browsers.app_server import Server, spent
from tests.support.browsers.browser_steps import (
    ONE_SPEND,
    Store,
    choose,
    finished,
    open_page,
    open_review,
    spend_button,
)


@pytest.fixture
def server(stored: Store) -> Server:
    demo = DEMOS["trains"]()
    return stored({demo.schema.entity: demo.frame, **demo.children}, demo.schema)


def releases(server: Server) -> list[Release]:
    with server.service() as service:
        return service.releases(service.dataset(server.dataset).id)


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
