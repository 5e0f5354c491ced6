"""People who type at a human pace, in a real browser, while the page around them changes."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator
from dataclasses import replace
from decimal import Decimal
from functools import partial

import pytest
from playwright.sync_api import Browser, Page, expect

from dpcore.domain.schemas.schema import Schema
from dpcore.workspace.people.users import User
from tests.support.browsers.app_server import SCHEMA_TEXT, Server, invented, serve
from tests.support.browsers.hospital_day import ANALYST, OFFICE, PACE, PEOPLE, ROLES, show, typed
from tests.support.browsers.identity_provider import arrive, provider
from tests.support.browsers.run_queue import Queue

#: The key by which Streamlit draws a page anew, pressed where nobody types.
DRAW_ANEW = (
    "document.body.dispatchEvent(new KeyboardEvent('keydown', {key: 'r', code: 'KeyR', keyCode: 82, bubbles: true}))"
)
FIELDS = "[data-testid=stTextInputField], [data-testid=stNumberInputField], [data-testid=stTextArea] textarea"


def fill_out(page: Page, changes: Iterable[Callable[[], object]] = ()) -> int:
    """Type into every field in sight and leave each with the tabulator, which sends it.

    After each field comes the next of the changes to the page, and no wait.
    """
    coming = iter(changes)
    fields = page.get_by_test_id("stMain").locator(FIELDS)
    done = 0
    while done < fields.count():
        field = fields.nth(done)
        done += 1
        if field.is_visible() and field.is_enabled():
            whole = field.get_attribute("step") == "1"
            number = field.get_attribute("type") == "number"
            typed(field, "12" if whole else "0.25" if number else f"0.{done:02}")
            field.press("Tab")
            next(coming, lambda: None)()
    return done


def open_everything(page: Page) -> None:
    """Open what is folded."""
    page.wait_for_timeout(1000)
    for box in page.get_by_test_id("stMain").locator("details:not([open]) > summary").all():
        if box.is_visible():
            box.click()
    page.wait_for_timeout(700)


@pytest.fixture(scope="module")
def hospital(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Server]:
    """An installation with a login."""
    folder = tmp_path_factory.mktemp("hospital")
    with (
        provider(PEOPLE) as people,
        serve(folder / "home", **people.guard(folder, ROLES), FROSTGLASS_WORKERS="0") as server,
    ):
        yield server


@pytest.fixture
def office(browser: Browser, hospital: Server) -> Iterator[tuple[Server, Page]]:
    """Its page Custodian, with a data set of the test's own chosen."""
    with hospital.service() as service:
        name = f"ward {len(service.datasets()) + 1}"
        schema = Schema.from_text(SCHEMA_TEXT.replace("name: ward", f"name: {name}"))
        service.add_dataset(invented(), schema, budget=Decimal(40))
    server = replace(hospital, dataset=name)
    context = browser.new_context(viewport={"width": 1360, "height": 900}, reduced_motion="reduce")
    page = context.new_page()
    arrive(page, hospital.url, OFFICE, server.page("custodian").removeprefix(f"{hospital.url}/"))
    expect(page.get_by_role("heading", name="Custodian", exact=True)).to_be_visible()
    yield server, page
    context.close()


@pytest.mark.slow
def test_an_answer_is_typed_while_other_requests_come_and_go(office: tuple[Server, Page]) -> None:
    server, page = office
    with server.service() as service:
        dataset = service.dataset(server.dataset)
        for name in ("eve", "ann"):
            asking = User(f"{name}@hospital.example", ANALYST)
            service.acting(asking).ask(dataset.id, Decimal(1), "one more tree")
        show(page, "Requests")
        limits, answers = (page.get_by_label(words) for words in ("New limit", "Answer (the"))
        expect(limits).to_have_count(2)
        typed(limits.nth(1), "1.5")
        typed(answers.nth(1), "only if the ")
        # Another custodian answers the first one; the page is drawn anew by a press elsewhere.
        service.answer(service.budget_requests(dataset.id)[0].number, None, "not now")
        page.evaluate(DRAW_ANEW)
        page.keyboard.type("first one helped", delay=PACE)
        expect(limits).to_have_count(1)
        assert answers.input_value() == "only if the first one helped"
        assert limits.input_value() == "1.5"


@pytest.mark.slow
def test_a_run_is_set_up_while_runs_of_another_tab_come_and_go(page: Page, queue: Queue) -> None:
    page.goto(queue.url)
    expect(page.get_by_text("Noise on a count: ±")).to_be_visible()
    open_everything(page)
    first, second = queue.add(), queue.add()
    assert fill_out(page) > 8  # What is sent draws the page, and with it the new cards.
    cancel, stop = (page.get_by_role("button", name=re.compile(w)) for w in ("^Cancel", "^Stop"))
    expect(cancel).to_have_count(2)
    moves = (queue.begin, first), (queue.begin, second), (queue.end, first), (queue.end, second)
    fill_out(page, [partial(move, run) for move, run in moves])
    expect(stop).to_have_count(0)
    expect(page.get_by_text("The run failed", exact=True)).to_be_visible()
    typed(page.get_by_label("Exact ε"), "0.375")
