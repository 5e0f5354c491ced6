"""Clicks that come twice, or come late, on the buttons that stop runs."""

from __future__ import annotations

import os
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, replace
from decimal import Decimal
from pathlib import Path

import pytest
from playwright.sync_api import Locator, Page, expect

from dpcore.domain.schemas.schema import Schema
from dpcore.service import Service
from dpcore.workspace.ledger.requests import RunRequest
from dpcore.workspace.runs.processes import ProcessIdentity
from tests.browser.test_accessibility import settle
from tests.support.app_server import SCHEMA_TEXT, Server, invented, serve

NOBODY = (sys.executable, "-c", "import sys; sys.stdin.read()")


@dataclass
class Queue:
    """Runs that go no further than this test lets them."""

    url: str
    service: Service
    dataset_id: str

    def add(self) -> str:
        request = RunRequest(dataset_id=self.dataset_id, target="died", epsilon=Decimal("0.5"), pure=True)
        return self.service.submit(request, os.urandom(9).hex())

    def begin(self, run: str) -> None:
        """As a worker does."""
        self.service._queue.claim(ProcessIdentity.mine(), run)
        self.service._ledger.touch(run)

    def end(self, run: str) -> None:
        self.service._queue.end(run, "failed", "The run failed.")

    def asked_to_stop(self, run: str) -> bool:
        return self.service._queue.report(run, "counts", 1, 2)

    def states(self, *runs: str) -> list[str]:
        return [self.service.run(run).state for run in runs]

    def spent(self) -> Decimal:
        balance = self.service.balance(self.dataset_id)
        return balance.spent + balance.reserved


def ward(service: Service) -> str:
    """A public data set with a name of its own; returns its id."""
    info = service.add_dataset(invented(), Schema.from_text(SCHEMA_TEXT), budget=Decimal(3), public=True)
    service.rename_dataset(info.id, f"ward {info.id}")
    return info.id


@contextmanager
def standing(home: Path) -> Iterator[tuple[Service, Server]]:
    """An application whose queue has no worker but the test."""
    with (
        Service(home, workers=1, worker_command=NOBODY) as service,
        serve(home, FROSTGLASS_WORKERS="0") as server,
    ):
        yield service, server


def queue_of(standing: tuple[Service, Server], dataset_id: str) -> Queue:
    """The queue as the page of rule lists shows it for a data set."""
    service, server = standing
    chosen = replace(server, dataset=service.dataset(dataset_id).name)
    return Queue(chosen.page("rule_list"), service, dataset_id)


@pytest.fixture(scope="module")
def alone(tmp_path_factory: pytest.TempPathFactory) -> Iterator[tuple[Service, Server]]:
    with standing(tmp_path_factory.mktemp("queue") / "home") as found:
        yield found


@pytest.fixture
def queue(alone: tuple[Service, Server]) -> Iterator[Queue]:
    """A queue of the test's own; what is left in it at the end is ended."""
    service, _ = alone
    found = queue_of(alone, ward(service))
    yield found
    for run in service.runs(found.dataset_id):
        if run.active:
            found.end(run.id)


def place_of(button: Locator) -> tuple[float, float]:
    settle(button.page)
    box = button.bounding_box()
    assert box is not None
    return round(box["x"] + box["width"] / 2), round(box["y"] + box["height"] / 2)


def hammer(page: Page, place: tuple[float, float]) -> None:
    """Clicks in one place, some of them after the page has been drawn anew."""
    for pause in (50, 300, 1200, 1200):
        page.mouse.click(*place)
        page.wait_for_timeout(pause)


def test_clicks_in_one_place_cancel_what_waits_and_cost_nothing(page: Page, queue: Queue) -> None:
    first, second, third = queue.add(), queue.add(), queue.add()
    queue.begin(first)
    queue.begin(second)
    page.set_viewport_size({"width": 1360, "height": 1500})
    page.goto(queue.url)
    cancel = page.get_by_role("button", name="Cancel run (free)")
    expect(cancel).to_be_visible()
    place = place_of(cancel)
    queue.end(first)
    expect(page.get_by_text("The run failed", exact=True)).to_be_visible()
    assert place_of(cancel) == place
    hammer(page, place)
    assert queue.states(second, third) == ["running", "cancelled"]
    assert not queue.asked_to_stop(second)
    assert queue.spent() == Decimal(1)


def test_a_click_on_a_run_that_has_just_begun_costs_nothing(page: Page, queue: Queue) -> None:
    run = queue.add()
    page.goto(queue.url)
    cancel = page.get_by_role("button", name="Cancel run (free)")
    expect(cancel).to_be_visible()
    place = place_of(cancel)
    queue.begin(run)
    hammer(page, place)
    assert queue.states(run) == ["running"]
    assert not queue.asked_to_stop(run)
    page.reload()  # The last of the clicks may yet open the question.
    page.get_by_role("button", name="Stop run …").click()
    dialog = page.get_by_role("dialog")
    expect(dialog).to_contain_text("ε 0.50 stays spent")
    expect(dialog.get_by_role("button", name="Stop the run")).to_be_disabled()
    dialog.get_by_text("I give up this result").click()
    dialog.get_by_role("button", name="Stop the run").click()
    expect(dialog).to_have_count(0)
    assert queue.asked_to_stop(run)


def test_a_question_stays_while_another_run_begins(page: Page, queue: Queue) -> None:
    first, second = queue.add(), queue.add()
    queue.begin(first)
    page.goto(queue.url)
    expect(page.get_by_role("button", name="Cancel run (free)")).to_be_visible()
    page.get_by_role("button", name="Stop run …").click()
    dialog = page.get_by_role("dialog")
    expect(dialog).to_contain_text("ε 0.50 stays spent")
    dialog.evaluate("one => { one.dataset.before = 'yes' }")
    expect(page.get_by_text("Waiting for a free worker")).to_have_count(1)
    queue.begin(second)
    expect(page.get_by_text("Waiting for a free worker")).to_have_count(0)
    expect(dialog).to_have_attribute("data-before", "yes")  # The same one: it was never closed.
    dialog.get_by_text("I give up this result").click()
    dialog.get_by_role("button", name="Stop the run").click()
    expect(dialog).to_have_count(0)
    expect(page.get_by_role("button", name="Stop run …")).to_have_count(2)
    assert queue.asked_to_stop(first)
    assert not queue.asked_to_stop(second)
