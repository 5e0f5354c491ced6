"""The data set an address names stays chosen, however quickly one goes on from there."""

from __future__ import annotations

import json
from collections.abc import Iterator
from dataclasses import replace
from decimal import Decimal

import pytest
from playwright.sync_api import Page, Route, expect

from dpcore.domain.schemas.schema import Schema
from dpcore.service import Service
from tests.support.browsers.app_server import SCHEMA_TEXT, Server, invented, serve
from tests.support.browsers.browser_steps import choose, go, menu_link

#: Signs that mean something in an address, and letters that no address holds as they are.
ODD = "wärd & co = 50 % + #2?"
#: The menu is there well before the choice of the data set is.
LATE_CHOICE = """
import time
from streamlit.elements.widgets.selectbox import SelectboxMixin

drawn = SelectboxMixin.selectbox

def late(*given, **named):
    if named.get("key") == "dataset":
        time.sleep(1)
    return drawn(*given, **named)

SelectboxMixin.selectbox = late
"""


@pytest.fixture(scope="module")
def server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Server]:
    folder = tmp_path_factory.mktemp("choice")
    (folder / "sitecustomize.py").write_text(LATE_CHOICE)
    home = folder / "home"
    with Service(home=home, workers=0) as service:
        for name in ("ward 1", "ward 2", ODD):
            schema = Schema.from_text(SCHEMA_TEXT.replace("name: ward", f"name: {json.dumps(name)}"))
            service.add_dataset(invented(), schema, budget=Decimal(2), public=True)
    with serve(home, PYTHONPATH=str(folder), FROSTGLASS_WORKERS="0") as running:
        running.dataset = "ward 2"
        yield running


def test_the_data_set_of_the_address_stays_when_the_menu_is_quicker_until_another_is_chosen(
    page: Page, server: Server
) -> None:
    page.goto(server.page())
    menu_link(page, "Rule list").click()
    expect(page.get_by_role("heading", name="Rule list", exact=True)).to_be_visible()
    choice = page.get_by_label("Data set", exact=True)
    expect(choice).to_have_value("ward 2")
    expect(page).to_have_url(f"{server.url}/rule_list?dataset=ward+2")
    go(page, "Releases")
    expect(page).to_have_url(f"{server.url}/releases?dataset=ward+2")
    expect(choice).to_have_value("ward 2")
    page.reload()
    expect(choice).to_have_value("ward 2")
    page.go_back()
    expect(page.get_by_role("heading", name="Rule list", exact=True)).to_be_visible()
    choose(page, choice, "ward 1")
    expect(page).to_have_url(f"{server.url}/rule_list")
    go(page, "Releases")
    expect(choice).to_have_value("ward 1")
    page.go_back()
    expect(page.get_by_role("heading", name="Rule list", exact=True)).to_be_visible()
    expect(choice).to_have_value("ward 1")


@pytest.mark.slow
def test_it_stays_too_when_the_browser_draws_it_late(page: Page, server: Server) -> None:
    def later(route: Route) -> None:
        page.wait_for_timeout(2000)
        route.continue_()

    page.route("**/Selectbox*.js", later)
    go_on = menu_link(page, "Rule list")
    page.goto(server.page())
    expect(page.get_by_role("heading", name="Data sets", exact=True)).to_be_visible()
    expect(page.get_by_test_id("stApp")).to_have_attribute("data-test-script-state", "notRunning")
    go_on.click()
    expect(page.get_by_role("heading", name="Rule list", exact=True)).to_be_visible()
    expect(page.get_by_label("Data set", exact=True)).to_have_value("ward 2")
    expect(page).to_have_url(f"{server.url}/rule_list?dataset=ward+2")


@pytest.mark.slow
def test_a_link_on_a_page_keeps_a_data_set_of_any_name(page: Page, server: Server) -> None:
    choice = page.get_by_label("Data set", exact=True)
    page.goto(replace(server, dataset=ODD).page())
    expect(choice).to_have_value(ODD)
    for link, title in (("Continue to First look", "First look"), ("Help me choose", "Which method?")):
        page.get_by_test_id("stMain").get_by_role("link", name=link).click()
        expect(page.get_by_role("heading", name=title, exact=True)).to_be_visible()
        expect(choice).to_have_value(ODD)
        if title == "First look":
            go(page, "Data sets")
    page.reload()
    expect(page.get_by_role("heading", name="Which method?", exact=True)).to_be_visible()
    expect(choice).to_have_value(ODD)
