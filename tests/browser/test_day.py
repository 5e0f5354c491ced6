"""One day with a login: a custodian and two analysts, each in a browser of their own."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from contextlib import ExitStack
from decimal import Decimal
from pathlib import Path

import pytest
from playwright.sync_api import Browser, BrowserContext, Page, expect

from dpcore.domain.schemas.schema import Schema
from dpcore.privacy.budgets import percent
from dpcore.workspace.people.users import User
from tests.support.browsers.app_server import SCHEMA_TEXT, Server, invented, serve
from tests.support.browsers.browser_steps import choose, finished, go, settled, type_epsilon, written_dossier
from tests.support.browsers.hospital_day import ANALYST, ANN, BOB, OFFICE, PEOPLE, ROLES, grant, show
from tests.support.browsers.identity_provider import arrive, log_in, provider

#: Nine decimals: the ledger and the dossier keep every digit, the meter rounds what is spent up.
ODD = "0.333333333"


@pytest.fixture
def server(tmp_path: Path) -> Iterator[Server]:
    with provider(PEOPLE) as people:
        guard = people.guard(tmp_path, ROLES)
        with serve(tmp_path / "home", **guard, FROSTGLASS_WORKERS="2") as running:
            yield running


@pytest.fixture
def visit(browser: Browser, server: Server) -> Iterator[Callable[[str], Page]]:
    with ExitStack() as stack:

        def come(email: str) -> Page:
            context: BrowserContext = browser.new_context(
                viewport={"width": 1360, "height": 900}, reduced_motion="reduce"
            )
            stack.callback(context.close)
            page = context.new_page()
            if email == ANN:
                log_in(page, server.url, email)
            else:
                arrive(page, server.url, email, **PEOPLE[email])
            expect(page.get_by_role("heading", name="Data sets", exact=True)).to_be_visible()
            return page

        yield come


def price(page: Page, title: str, epsilon: str) -> None:
    """Set a run up as far as its price."""
    go(page, title)
    expect(page.get_by_text("Noise on a count").first).to_be_visible()
    settled(page)  # What is proposed in a form is shown with the drawing that proposes it.
    type_epsilon(page, epsilon)
    settled(page)


def open_review(page: Page) -> None:
    page.get_by_role("button", name="Review and spend").click()
    expect(page.get_by_role("button", name="Run and spend")).to_be_enabled()


def spend(page: Page) -> None:
    page.get_by_role("button", name="Run and spend").click()


def meter_says(page: Page, spent: str, of: str = "1") -> None:
    """The meter, while no run is being set up and none is waiting. It is drawn after the page."""
    share = Decimal(spent) / Decimal(of)
    lines = page.locator(".fg-meter .fg-legend li")
    expect(lines).to_have_text([f"Spent{percent(share)}", f"Left{percent(1 - share, up=False)}"])


def at_work(office: Page, visit: Callable[[str], Page]) -> tuple[Page, Page]:
    """Two analysts with a budget of the custodian's, each of whom has made a run while the other's was under way."""
    show(office, "Analysts")
    grant(office, ANN, "1")
    grant(office, BOB, "1")

    ann, bob = visit(ANN), visit(BOB)
    price(ann, "Rule list", "0.75")
    price(bob, "Rule list", ODD)
    for page in (ann, bob):
        open_review(page)
    for page in (ann, bob):  # Both are at work before either has finished.
        spend(page)
    for page in (ann, bob):
        finished(page)
    meter_says(ann, "0.75")
    meter_says(bob, ODD)
    return ann, bob


def ask_for_more(ann: Page, office: Page) -> None:
    """Ann runs out, asks for more and gets it."""
    price(ann, "Tree", "0.5")
    expect(ann.get_by_text("A run of up to ε = 0.25 would fit.")).to_be_visible()
    expect(ann.get_by_role("button", name="Review and spend")).to_be_disabled()
    expect(ann.get_by_label("How much more, ε")).to_have_value("0.25")
    ann.get_by_label("Reason (the custodian reads it)").fill("one tree for the application")
    ann.get_by_role("button", name="Ask the custodian").click()
    expect(ann.get_by_text("the custodian has not answered yet")).to_be_visible()
    go(office, "Data sets")
    go(office, "Custodian")
    show(office, "Requests (1)")
    expect(office.get_by_text("one tree for the application")).to_be_visible()
    expect(office.get_by_label("New limit in all, ε")).to_have_value("1.25")
    office.get_by_role("button", name="Grant", exact=True).click()
    expect(office.get_by_text("The request is granted.")).to_be_visible()


def share(server: Server, ann: Page, bob: Page, hers: str) -> None:
    """What is Ann's is hidden from Bob until she shares it; the custodian's page never exists."""
    bob.goto(hers)
    expect(bob.get_by_text("no such run").first).to_be_visible()
    bob.goto(f"{server.url}/custodian")
    expect(bob.get_by_text("Page not found")).to_be_visible()
    bob.keyboard.press("Escape")
    go(bob, "Releases")
    expect(bob.get_by_role("combobox", name="Result", exact=True)).to_be_visible()
    offers(bob, results=1)
    go(ann, "Releases")
    toggle = ann.get_by_text("Share with everybody who may see this data set")
    toggle.click()
    expect(ann.get_by_text("Everybody who may see this data set can read it.")).to_be_visible()
    go(bob, "Data sets")
    go(bob, "Releases")
    expect(bob.get_by_role("combobox", name="Result", exact=True)).to_be_visible()
    offers(bob, results=2)


def test_a_day(server: Server, visit: Callable[[str], Page]) -> None:
    with server.service() as service:
        schema = Schema.from_text(SCHEMA_TEXT)
        custodian = service.acting(User(OFFICE, frozenset({"custodian"})))
        custodian.add_dataset(invented(), schema, budget=Decimal(3), delta=Decimal(0), analyst_cap=Decimal(0))
    office = visit(OFFICE)
    go(office, "Custodian")
    ann, bob = at_work(office, visit)
    hers = ann.url
    ask_for_more(ann, office)
    share(server, ann, bob, hers)
    agree(server, ann, office, own="0.75", limit="1.25", runs=2)


def offers(page: Page, results: int) -> None:
    """So many results are on the page Releases."""
    settled(page, 1500)
    page.get_by_role("combobox", name="Result", exact=True).click()
    expect(page.get_by_role("option")).to_have_count(results)
    page.keyboard.press("Escape")


def dossier(page: Page, folder: Path) -> str:
    """Everything of an analyst in a report, as it is downloaded."""
    go(page, "Report")
    for name in ("Rule list for died", "Tree for died"):
        choose(page, page.get_by_role("combobox", name="Results"), re.compile(name))
    page.keyboard.press("Escape")
    return written_dossier(page, folder).read_text(encoding="utf-8")


def agree(server: Server, ann: Page, office: Page, *, own: str, limit: str, runs: int) -> Decimal:
    """Meters and ledger say the same, to the last digit; what all runs together spent."""
    left, everything = Decimal(limit) - Decimal(own), Decimal(own) + Decimal(ODD)
    with server.service() as service:
        [dataset] = service.datasets()
        lines = service.ledger_entries(dataset.id)
        mine = service.acting(User(ANN, ANALYST)).balance(dataset.id)
        whole = service.total_balance(dataset.id)
    assert sum(line.epsilon for line in lines if line.kind == "commit") == everything
    assert (mine.total.epsilon, mine.left, whole.total.epsilon) == (Decimal(own), left / Decimal(limit), everything)
    meter_says(ann, own, of=limit)
    go(office, "Data sets")
    settled(office, 1500)
    meter_says(office, str(everything), of="3")
    kinds = [line.kind for line in lines]
    assert kinds.count("reserve") == kinds.count("touch") == kinds.count("commit") == runs
    assert [line.actor for line in lines if line.kind in ("ask", "grant", "share")] == [
        OFFICE,
        OFFICE,
        ANN,
        OFFICE,
        ANN,
    ]
    return everything
