"""Every page under the eyes of axe, light and dark, and of the content security policy; nothing on it leads elsewhere.

What is on the pages was written to lead elsewhere: names, categories, descriptions and notes are
links, pictures and markup.

axe checks the rules of the Web Content Accessibility Guidelines that a program can check. What it
finds serious or critical fails the test; ``ALLOWED`` lists what Streamlit's own widgets do.
"""

from __future__ import annotations

import os
import re
from collections.abc import Iterator, Mapping
from decimal import Decimal
from pathlib import Path
from typing import Any, Literal

import pytest
from axe_playwright_python.sync_playwright import Axe
from playwright.sync_api import Browser, Page, expect

from dpcore.demo import DEMOS
from dpcore.service import Service
from dpcore.workspace.ledger.requests import RunRequest
from pages.components.visitor.menu import MENU
from tests.support.browsers.app_server import Server, invented, serve
from tests.support.browsers.browser_steps import choose, go, knows_the_tour, open_review, settle
from tests.support.files.hostile_names import DIED, EVERYTHING, LEFT, RIGHT, SCHEMA, Watch, people
from tests.support.refusals import listen
from tests.support.texts import lacking

DARK_PAGE = "rgb(15, 29, 36)"
#: Streamlit fades what is being drawn anew, such as the budget every few seconds.
AS_IF_IDLE = "[data-stale=true] { opacity: 1 !important; transition: none !important; }"
#: Rule and selector of what cannot be changed from outside of Streamlit; none so far.
ALLOWED: set[tuple[str, str]] = set()
#: Page of a result, algorithm, data set, target and parameters.
RESULTS: dict[str, tuple[str, str, str, Mapping[str, Any]]] = {
    "rule_list": ("rule_list", "people", DIED, {"pool_size": 500}),
    "tree": ("tree", "people", DIED, {}),
    "forest": ("forest", "people", DIED, {"method": "random_trees", "trees": 3}),
    "shape_functions": ("ebm", "people", DIED, {}),
    "redescriptions": ("redescriptions", "people", "", {}),
    "relational_rules": ("ilp", "trains", "direction", {}),
    "first_look": ("summaries", "people", "", {"by": DIED, "crosstabs": [f"{LEFT} by {RIGHT}"]}),
}


class Results(dict[str, str]):
    """Run of each family by its page; it is made when somebody asks for it."""

    def __init__(self, home: Path) -> None:
        super().__init__()
        self._home = home
        trains = DEMOS["trains"]()
        tables = {trains.schema.entity: trains.frame, **trains.children}
        with Service(home=home, workers=0) as service:
            told = service.add_dataset(people(), SCHEMA, budget=Decimal(9), public=True)
            engines = service.add_dataset(tables, trains.schema, budget=Decimal(9), public=True)
        self._datasets = {"people": told.id, "trains": engines.id}

    def __missing__(self, path: str) -> str:
        self[path] = self.made(*RESULTS[path])
        return self[path]

    def made(self, algorithm: str, data: str, target: str, parameters: Mapping[str, Any]) -> str:
        """A further run; somebody has written about it."""
        request = RunRequest(
            dataset_id=self._datasets[data],
            algorithm=algorithm,
            target=target,
            epsilon=Decimal("0.5"),
            parameters=parameters,
        )
        with Service(home=self._home, workers=0) as service:
            run: str = service.submit(request, os.urandom(9).hex())
            status = service.run(run)
            assert status.state == "done"
            service.note_release(status.release_id, EVERYTHING[:60], f"{EVERYTHING}\n{EVERYTHING}")
        return run


Filled = tuple[Server, Results]


@pytest.fixture(scope="module")
def filled(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Filled]:
    """Two data sets, with a tree and a first look before any page is opened."""
    home = tmp_path_factory.mktemp("filled") / "home"
    runs = Results(home)
    assert runs["tree"] != runs["first_look"]
    with serve(home, FROSTGLASS_WORKERS="0") as running:
        yield running, runs


def faults(page: Page, *rules: str) -> list[str]:
    """What axe finds serious or critical, one line each; by all of its rules if none is named."""
    page.add_style_tag(content=AS_IF_IDLE)
    only = {"runOnly": list(rules)} if rules else {}
    options = {"resultTypes": ["violations"], **only}
    return [
        f"{page.url}: {rule['id']} at {node['target'][-1]}: {node['html'][:120]}"
        for rule in Axe().run(page, options=options).response["violations"]
        if rule["impact"] in {"serious", "critical"}
        for node in rule["nodes"]
        if (rule["id"], node["target"][-1]) not in ALLOWED
    ]


def darken(page: Page) -> None:
    page.emulate_media(color_scheme="dark")
    expect(page.get_by_test_id("stApp")).to_have_css("background-color", DARK_PAGE)


Ground = Literal["light", "dark"]


def window(browser: Browser, ground: Ground = "light") -> Page:
    """The empty window of a visitor whose system is light or dark."""
    context = browser.new_context(viewport={"width": 1280, "height": 900}, color_scheme=ground, reduced_motion="reduce")
    return knows_the_tour(context).new_page()


def visit(browser: Browser, server: Server, ground: Ground = "light") -> Page:
    """A visitor whose system is light or dark."""
    page = window(browser, ground)
    page.goto(server.url)
    expect(page.get_by_role("heading", name="Data sets", exact=True)).to_be_visible()
    return page


@pytest.mark.slow
def test_the_result_of_every_family_is_accessible(browser, filled):
    """Half of them on a light ground: the pieces that they are made of are the same."""
    server, runs = filled
    page = visit(browser, server)
    found = []
    for place, path in enumerate(RESULTS):
        if place == len(RESULTS) // 2:
            darken(page)
        page.goto(f"{server.url}/{path}?run={runs[path]}")
        expect(page.get_by_text("Finished.")).to_be_visible()
        settle(page)
        found += faults(page)
    page.context.close()
    assert found == []


def test_a_result_follows_the_visitor_and_leads_nowhere(browser: Browser, filled: Filled) -> None:
    server, runs = filled
    page = window(browser, "dark")
    heard, watch = listen(page), Watch(page)
    page.goto(f"{server.url}/tree?run={runs['tree']}")
    expect(page.get_by_text("Finished.")).to_be_visible()
    heading = page.locator(".js-plotly-plot text", has_text="Group: prediction").first
    expect(heading).to_have_css("fill", "rgb(169, 192, 201)")
    expect(page.locator(".fg-banner").first).to_have_css("color", "rgb(228, 239, 243)")
    watch.look()
    show_on(page, "Light")
    expect(page.locator(".fg-banner").first).to_have_css("color", "rgb(22, 48, 58)")
    expect(heading).to_have_css("fill", "rgb(70, 97, 107)")
    show_on(page, "Dark")
    go(page, "Report")
    choose(page, page.get_by_role("combobox", name="Results"), re.compile("."))
    page.keyboard.press("Escape")
    expect(page.get_by_test_id("stMultiSelect").locator("[data-tag]")).not_to_have_count(0)
    settle(page)
    watch.look()
    found = faults(page, "color-contrast")  # Of the options that were chosen.
    page.context.close()
    assert (found, heard, watch.found) == ([], [], [])


def show_on(page: Page, ground: str) -> None:
    """By the menu of the page, whatever the system of the visitor has."""
    page.get_by_role("button", name="Main menu").click()
    page.get_by_role("menuitemradio", name=ground).click()
    page.keyboard.press("Escape")


# A walk through all pages.


def open_every_tab(page: Page, watch: Watch) -> None:
    """Tabs inside of tabs may be others after a click."""
    for name in page.get_by_role("tab").all_inner_texts():
        page.get_by_role("tab", name=name, exact=True).first.click()
        settle(page)
        watch.look()


def upload(page: Page, file: Path) -> None:
    """A file, as far as the table in which its columns are declared."""
    go(page, "Custodian")
    page.locator("input[type=file]").set_input_files(file)
    expect(page.get_by_test_id("stDataFrame").first).to_be_visible()
    settle(page)


def watched(browser: Browser, ground: Ground, server: Server) -> tuple[Page, list[str], Watch]:
    """A visitor's first page, and who hears and sees what it does."""
    page = window(browser, ground)
    heard, watch = listen(page), Watch(page)
    page.goto(server.url)
    settle(page)
    assert "evil.example" in page.content()
    return page, heard, watch


def walk(page: Page, watch: Watch, *rules: str) -> list[str]:
    """Through every page and every view of the last one, Custodian; what axe finds."""
    found = []
    for entry in MENU:
        go(page, entry.title)
        settle(page)
        watch.look()
        found += faults(page, *rules)
    views = page.get_by_test_id("stButtonGroup").first.get_by_role("radio")
    for place in range(views.count()):
        views.nth(place).click()
        settle(page)
        watch.look()
    return found


def test_every_page_is_accessible_keeps_the_policy_and_leads_nowhere(browser: Browser, filled: Filled) -> None:
    page, heard, watch = watched(browser, "light", filled[0])
    found = walk(page, watch)
    page.context.close()
    assert (found, heard, watch.found) == ([], [], [])


@pytest.mark.slow
def test_results_files_and_reviews_keep_the_policy_and_lead_nowhere(
    browser: Browser, filled: Filled, tmp_path: Path
) -> None:
    """On a dark ground, by its colours only, for what else axe looks for does not depend on the ground."""
    server, runs = filled
    page, heard, watch = watched(browser, "dark", server)
    found = walk(page, watch, "color-contrast")
    for path in RESULTS:
        page.goto(f"{server.url}/{path}?run={runs[path]}")
        expect(page.get_by_text("Finished.")).to_be_visible()
        settle(page)
        open_every_tab(page, watch)
    for label in ("JSON", "CSV", "HTML"):
        with page.expect_download() as download:
            page.get_by_role("button", name=f"Download {label}").click()
        assert Path(download.value.path()).stat().st_size > 100
    file = tmp_path / "ward.csv"
    invented(50).to_csv(file, index=False)
    upload(page, file)
    page.emulate_media(color_scheme="light")
    settle(page)
    page.get_by_role("button", name="Remove").click()  # The desk would keep it for whoever comes next.
    settle(page)
    page.goto(server.url)
    go(page, "Rule list")
    open_review(page)
    watch.look()
    page.context.close()
    assert (found, heard, watch.found) == ([], [], [])


def test_a_fault_a_lure_and_a_violation_would_be_found(page: Page, filled: Filled) -> None:
    heard, watch = listen(page), Watch(page)
    page.goto(filled[0].url)
    settle(page)
    page.evaluate(
        """() => {
            document.body.insertAdjacentHTML('beforeend', '<img src="http://elsewhere.invalid/x">')
            document.body.append(Object.assign(document.createElement('script'), {text: 'ran = 1'}))
        }"""
    )
    page.wait_for_timeout(500)
    assert page.evaluate("typeof ran") == "undefined"
    assert {"img-src", "script-src-elem"} <= {
        word for line in heard if "policy violation" in line for word in line.split()
    }
    page.evaluate(
        "document.body.insertAdjacentHTML('beforeend', "
        '\'<a href="mailto:ann@evil.example">x</a><img src="https://evil.example/x">\')'
    )
    watch.look()
    told = "\n".join(watch.found)
    assert not lacking(told, ": mailto:ann@evil.example", ": https://evil.example/x")
    page.evaluate(
        "document.querySelector('h1').insertAdjacentHTML('afterend',"
        ' \'<p style="color:#999;background:#fff">pale</p><img src="x.png">\')'
    )
    found = "\n".join(faults(page))
    assert not lacking(found, "color-contrast", "image-alt")
