"""Every page under the eyes of axe, light and dark, and of the content security policy; a run by keyboard alone.

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
from dpcore.domain.schema import Schema
from dpcore.service import Service
from dpcore.workspace.requests import RunRequest
from pages.components.visitor.menu import MENU
from tests.browser.conftest import knows_the_tour
from tests.browser.test_browser import SCHEMA_TEXT, Server, choose, go, invented, open_review, rehearsed, serve, spent
from tests.support.refusals import listen

DARK_PAGE = "rgb(15, 29, 36)"
#: Streamlit fades what is being drawn anew, such as the budget every few seconds.
AS_IF_IDLE = "[data-stale=true] { opacity: 1 !important; transition: none !important; }"
#: Rule and selector of what cannot be changed from outside of Streamlit; none so far.
ALLOWED: set[tuple[str, str]] = set()
#: The same for the one list of the menu: its groups are no items, so its items have no list.
GROUPED = {
    "list": "ul[data-testid=stSidebarNavItems]",
    "listitem": "ul[data-testid=stSidebarNavItems] > div > li",
}
SIDES = {"left": ["age", "sex"], "right": ["diabetes", "died"]}
#: Algorithm, its page, the name of a data set, its target, its parameters.
RESULTS = (
    ("rule_list", "rule_list", "ward", "died", {"pool_size": 500}),
    ("tree", "tree", "ward", "died", {}),
    ("forest", "forest", "ward", "died", {"method": "random_trees", "trees": 3}),
    ("ebm", "shape_functions", "ward", "died", {}),
    ("redescriptions", "redescriptions", "ward", "", SIDES),
    ("ilp", "relational_rules", "trains", "direction", {}),
    ("summaries", "first_look", "ward", "", {"by": "died", "crosstabs": ["sex by diabetes"]}),
)
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


class Results(dict[str, str]):
    """Run of each family by its algorithm; it is made when somebody asks for it."""

    def __init__(self, home: Path) -> None:
        super().__init__()
        self._home = home
        trains = DEMOS["trains"]()
        with Service(home=home, workers=0) as service:
            ward = service.add_dataset(invented(), Schema.from_text(SCHEMA_TEXT), budget=Decimal(9), public=True)
            tables = {trains.schema.entity: trains.frame, **trains.children}
            engines = service.add_dataset(tables, trains.schema, budget=Decimal(9), public=True)
        self._datasets = {"ward": ward.id, "trains": engines.id}

    def __missing__(self, algorithm: str) -> str:
        [rest] = [rest for known, _, *rest in RESULTS if known == algorithm]
        self[algorithm] = self.made(algorithm, *rest)
        return self[algorithm]

    def made(self, algorithm: str, name: str, target: str, parameters: Mapping[str, Any]) -> str:
        """A further run."""
        request = RunRequest(
            dataset_id=self._datasets[name],
            algorithm=algorithm,
            target=target,
            epsilon=Decimal("0.5"),
            parameters=parameters,
        )
        with Service(home=self._home, workers=0) as service:
            run = service.submit(request, os.urandom(9).hex())
            assert service.run(run).state == "done"
        return run


@pytest.fixture(scope="module")
def filled(tmp_path_factory: pytest.TempPathFactory) -> Iterator[tuple[Server, dict[str, str]]]:
    """Two data sets, with a tree and a first look before any page is opened."""
    home = tmp_path_factory.mktemp("filled") / "home"
    runs = Results(home)
    assert runs["tree"] != runs["summaries"]
    with serve(home) as running:
        yield running, runs


def settle(page: Page) -> None:
    """Wait until the page has been drawn."""
    expect(page.get_by_test_id("stStatusWidget")).to_have_count(0)
    expect(page.get_by_test_id("stApp")).to_have_attribute("data-test-script-state", "notRunning")
    page.wait_for_timeout(500)


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
        if (rule["id"], node["target"][-1]) not in ALLOWED and not in_groups(page, rule["id"], node["target"][-1])
    ]


def in_groups(page: Page, rule: str, place: str) -> bool:
    """Whether it is the list of Streamlit's own menu, or an item of it: between them stand its groups."""
    selector = GROUPED.get(rule)
    return selector is not None and bool(page.locator(place).first.evaluate("(e, own) => e.matches(own)", selector))


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


@pytest.mark.parametrize(
    ("ground", "rules"),
    [("light", ()), pytest.param("dark", ("color-contrast",), marks=pytest.mark.slow)],
)
def test_every_page_of_the_menu_is_accessible_and_keeps_the_policy(browser, filled, ground, rules):
    page = window(browser, ground)
    heard = listen(page)
    page.goto(filled[0].url)
    settle(page)
    found = []
    for entry in MENU:
        go(page, entry.title)
        settle(page)
        found += faults(page, *rules)
    page.context.close()
    assert found == []
    assert heard == []


@pytest.mark.slow
def test_the_result_of_every_family_is_accessible(browser, filled):
    """Half of them on a light ground: the pieces that they are made of are the same."""
    server, runs = filled
    page = visit(browser, server)
    found = []
    for place, (algorithm, path, *_) in enumerate(RESULTS):
        if place == len(RESULTS) // 2:
            darken(page)
        page.goto(f"{server.url}/{path}?run={runs[algorithm]}")
        expect(page.get_by_text("Finished.")).to_be_visible()
        settle(page)
        found += faults(page)
    page.context.close()
    assert found == []


def test_chosen_options_can_be_read_on_a_dark_ground(browser, filled):
    page = visit(browser, filled[0], "dark")
    go(page, "Report")
    choose(page, page.get_by_role("combobox", name="Results"), re.compile("."))
    page.keyboard.press("Escape")
    expect(page.get_by_test_id("stMultiSelect").locator("[data-tag]")).not_to_have_count(0)
    settle(page)
    found = faults(page, "color-contrast")
    page.context.close()
    assert found == []


def test_axe_would_find_a_fault(page, filled):
    page.goto(filled[0].url)
    expect(page.get_by_role("heading", name="Data sets", exact=True)).to_be_visible()
    page.evaluate(
        "document.querySelector('h1').insertAdjacentHTML('afterend',"
        ' \'<p style="color:#999;background:#fff">pale</p><img src="x.png">\')'
    )
    found = "\n".join(faults(page))
    assert "color-contrast" in found
    assert "image-alt" in found


def test_pages_and_figures_follow_the_visitor(browser, filled):
    server, runs = filled
    page = visit(browser, server, "dark")
    page.goto(f"{server.url}/tree?run={runs['tree']}")
    expect(page.get_by_text("Finished.")).to_be_visible()
    heading = page.locator(".js-plotly-plot text", has_text="Group: prediction").first
    expect(heading).to_have_css("fill", "rgb(169, 192, 201)")
    expect(page.locator(".fg-banner").first).to_have_css("color", "rgb(228, 239, 243)")
    page.get_by_role("button", name="Main menu").click()
    page.get_by_role("menuitemradio", name="Light").click()
    page.keyboard.press("Escape")
    expect(page.locator(".fg-banner").first).to_have_css("color", "rgb(22, 48, 58)")
    expect(heading).to_have_css("fill", "rgb(70, 97, 107)")
    page.context.close()


# Keyboard


def tab_to(page: Page, name: str, most: int = 80, key: str = "Tab") -> None:
    """Press Tab until an element has the focus; every stop on the way must show it."""
    for _ in range(most):
        page.keyboard.press(key)
        told, ring = page.evaluate(FOCUSED)
        assert ring, f"no focus to be seen on {told}"
        if name in told and not told.startswith(("main", "body")):
            return
    pytest.fail(f"Tab does not reach {name}")


def test_a_rehearsal_and_the_review_by_keyboard_alone(page, ward):
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
    tab_to(page, "Review and spend")
    page.keyboard.press("Enter")
    expect(page.get_by_role("dialog")).to_contain_text("cannot be undone")
    settle(page)
    tab_to(page, "Run and spend ε = 0.50", most=10)
    page.keyboard.press("Escape")
    expect(page.get_by_role("dialog")).to_have_count(0)
    assert spent(ward) == (0, 0, 0)


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


# No page asks its browser for what the content security policy refuses.


def open_every_tab(page: Page) -> None:
    """Tabs inside of tabs may be others after a click."""
    for name in page.get_by_role("tab").all_inner_texts():
        page.get_by_role("tab", name=name, exact=True).first.click()
        settle(page)


def upload(page: Page, file: Path) -> None:
    """A file, as far as the table in which its columns are declared."""
    go(page, "Custodian")
    page.locator("input[type=file]").set_input_files(file)
    expect(page.get_by_test_id("stDataFrame").first).to_be_visible()
    settle(page)


#: Who walks through the menu to see whether it is accessible listens too: here it is the long form that does.
@pytest.mark.parametrize(
    ("titles", "results"),
    [
        (["Custodian"], RESULTS[:1]),
        pytest.param([entry.title for entry in MENU], RESULTS[1:], marks=pytest.mark.slow),
    ],
)
def test_no_page_violates_the_policy(
    page: Page, filled: tuple[Server, dict[str, str]], tmp_path: Path, titles, results
) -> None:
    server, runs = filled
    heard = listen(page)
    page.goto(server.url)
    settle(page)
    for title in titles:
        go(page, title)
        settle(page)
    views = page.get_by_test_id("stButtonGroup").first.get_by_role("radio")
    for place in range(views.count()):
        views.nth(place).click()
        settle(page)
    for algorithm, path, *_ in results:
        page.goto(f"{server.url}/{path}?run={runs[algorithm]}")
        expect(page.get_by_text("Finished.")).to_be_visible()
        settle(page)
        open_every_tab(page)
    for label in ("JSON", "CSV", "HTML"):
        with page.expect_download() as download:
            page.get_by_role("button", name=f"Download {label}").click()
        assert Path(download.value.path()).stat().st_size > 100
    file = tmp_path / "ward.csv"
    invented(50).to_csv(file, index=False)
    upload(page, file)
    darken(page)
    settle(page)
    page.get_by_role("button", name="Remove").click()  # The desk would keep it for whoever comes next.
    settle(page)
    page.goto(server.url)
    go(page, "Rule list")
    open_review(page)
    assert heard == []


def test_the_listener_would_hear_of_a_violation(page: Page, filled: tuple[Server, dict[str, str]]) -> None:
    heard = listen(page)
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


@pytest.mark.slow
def test_a_tree_fits_a_narrow_window_and_branches_scroll_in_their_own_frame(
    browser: Browser, filled: tuple[Server, Results]
) -> None:
    server, runs = filled
    context = knows_the_tour(browser.new_context(viewport={"width": 800, "height": 900}, reduced_motion="reduce"))
    page = context.new_page()
    page.goto(f"{server.url}/tree?run={runs.made('tree', 'ward', 'died', {'method': 'diffp_id3'})}")
    expect(page.locator(".js-plotly-plot").first).to_be_visible()
    settle(page)
    frame = page.locator("[class*=-diagram]:visible")
    said = page.get_by_text("Wider than the page")
    inner, outer = frame.evaluate("frame => [frame.scrollWidth, frame.clientWidth]")
    assert inner <= outer
    expect(said.locator("visible=true")).to_have_count(0)
    page.get_by_text("Branches", exact=True).click()
    expect(page.get_by_role("radio", name="Branches")).to_be_checked()
    settle(page)
    inner, outer = frame.evaluate("frame => [frame.scrollWidth, frame.clientWidth]")
    assert inner > outer
    whole = page.evaluate("[document.body.scrollWidth, window.innerWidth]")
    assert whole[0] <= whole[1]
    assert not faults(page)
    said.focus()
    for _ in range(5):
        page.keyboard.press("ArrowRight")
    page.wait_for_function("frame => frame.scrollLeft > 0", arg=frame.element_handle())
    context.close()
