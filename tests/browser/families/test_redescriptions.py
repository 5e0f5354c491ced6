"""Redescriptions in a real browser: find, prune, click, read."""

from __future__ import annotations

import base64
import os
import re
import signal
from collections.abc import Iterator
from contextlib import contextmanager
from decimal import Decimal
from pathlib import Path
from typing import Any

import pytest
from playwright.sync_api import Locator, Page, expect
from streamlit.proto.ForwardMsg_pb2 import ForwardMsg

from dpcore.domain.conditions import pretty
from dpcore.models.redescriptions.released.redescription_set import RedescriptionSet
from dpcore.models.released import parse_model
from dpcore.workspace.ledger.requests import RunRequest
from tests.support.browsers.app_server import Server, spent
from tests.support.browsers.browser_steps import (
    ONE_SPEND,
    Store,
    choose,
    finished,
    open_page,
    open_review,
    settled,
    spend_button,
    store,
)
from tests.support.results.small_redescriptions import SCHEMA, two_sided_people

HALF = Decimal("0.5")
#: A data set, and a run that has found something in it.
Found = tuple[Server, str]


@pytest.fixture
def server(stored: Store) -> Server:
    return stored(two_sided_people(), SCHEMA)


@pytest.fixture(scope="module")
def found_before(shared: Server) -> Found:
    """A data set with one run that has ended, for all tests that only look at what it found."""
    own = store(shared, two_sided_people(), SCHEMA)
    with own.service() as service:
        request = RunRequest(dataset_id=service.dataset(own.dataset).id, algorithm="redescriptions", epsilon=HALF)
        run = service.submit(request, os.urandom(9).hex())
        assert service.run(run).state == "done"
    return own, run


def read_again(page: Page, found_before: Found) -> RedescriptionSet:
    """Open what that run found, and read what was released."""
    server, run = found_before
    page.goto(f"{server.url}/redescriptions?run={run}")
    finished(page)
    return released(page, server)


def run_once(page: Page, server: Server) -> RedescriptionSet:
    """Find some on the page, and read what was released."""
    open_page(page, server, "Redescriptions")
    expect(page.get_by_text("Noise on")).to_be_visible()
    open_review(page)
    spend_button(page).click()
    finished(page)
    return released(page, server)


def released(page: Page, server: Server) -> RedescriptionSet:
    expect(points(page)).to_be_visible()
    with server.service() as service:
        [release] = service.releases(service.dataset(server.dataset).id)
    found = parse_model(release).extract(release.domain)
    assert len(found.pruned(found.suggested_support)) > 1
    return found


def points(page: Page) -> Locator:
    return page.locator("[class*=-points] .js-plotly-plot:visible").last


def expect_kept(page: Page, number: int) -> None:
    """Wait until the figure shows so many as kept; what is hidden by the style sheet does not count."""
    expect(points(page).locator(".trace:has(.errorbar) .point:visible")).to_have_count(number)


def read_now(page: Page) -> Locator:
    """The card of the one that is read."""
    return page.locator("[class*=st-key-card-][class*=-read]")


def expect_ringed(page: Page, number: int) -> None:
    """Wait until this point, in the order of supports from 1, has a ring, and no other one has."""
    ringed = """plot => [...plot.querySelectorAll(".point.plotly-customdata")].flatMap(
        (ring, place) => getComputedStyle(ring).opacity > 0.5 ? [place + 1] : [])"""
    for _ in range(100):
        if points(page).evaluate(ringed) == [number]:
            return
        page.wait_for_timeout(100)
    assert points(page).evaluate(ringed) == [number]


@contextmanager
def held(server: Server) -> Iterator[None]:
    """The server answers nothing meanwhile."""
    os.kill(server.pid, signal.SIGSTOP)
    try:
        yield
    finally:
        os.kill(server.pid, signal.SIGCONT)


def click_point(page: Page, name: str, place: int) -> None:
    """Click a point of a series, wherever it lies."""
    page.mouse.click(*point_at(page, name, place))


def point_at(page: Page, name: str, place: int) -> tuple[float, float]:
    """Move the pointer to a point of a series."""
    points(page).scroll_into_view_if_needed()
    page.wait_for_timeout(500)
    x, y = points(page).evaluate(
        """(plot, [name, place]) => {
            const series = plot._fullData.filter(item => item.name.startsWith(name));
            const {xaxis, yaxis} = plot._fullLayout, box = plot.getBoundingClientRect();
            const [x, y] = series.flatMap(item => Array.from(item.x, (x, at) => [x, item.y[at]]))[place];
            return [box.x + xaxis._offset + xaxis.c2p(xaxis.d2c(x)),
                    box.y + yaxis._offset + yaxis.c2p(yaxis.d2c(y))];
        }""",
        [name, place],
    )
    page.mouse.move(x, y)
    page.wait_for_timeout(200)
    return x, y


def shown_jaccard(item) -> str:
    return f"{item.jaccard:.2f} ({item.interval[0]:.2f} to {item.interval[1]:.2f})"


def test_from_the_form_to_the_one_that_is_read(page: Page, server: Server) -> None:
    """A click is ringed without the server, until another one is chosen in whatever way."""
    found = run_once(page, server)
    kept = found.pruned(found.suggested_support)
    assert spent(server) == ONE_SPEND
    order = sorted(found.found, key=lambda item: item.support)
    first, second = (1 + order.index(item) for item in (kept[0], kept[1]))
    expect(read_now(page)).to_contain_text(shown_jaccard(kept[0]))
    expect(page.get_by_role("figure", name=re.compile(f"Of {len(found.found):,} redescriptions"))).to_have_count(1)
    expect_ringed(page, first)
    with held(server):
        click_point(page, "kept", second - 1)
        expect_ringed(page, second)
    expect(read_now(page)).to_contain_text(shown_jaccard(kept[1]))
    expect(read_now(page).get_by_text(pretty(kept[1].left_query))).to_be_visible()
    expect_ringed(page, second)
    choose(page, read_now(page).get_by_role("combobox"), re.compile("."))
    expect(read_now(page)).to_contain_text(shown_jaccard(kept[0]))
    expect_ringed(page, first)
    click_point(page, "kept", second - 1)
    expect(read_now(page)).to_contain_text(shown_jaccard(kept[1]))
    expect_ringed(page, second)
    click_point(page, "kept", first - 1)
    expect_ringed(page, first)
    expect(read_now(page)).to_contain_text(shown_jaccard(kept[0]))
    page.get_by_role("tab", name="Download").click()
    with page.expect_download() as download:
        page.get_by_role("button", name="Download CSV").click()
    lines = Path(download.value.path()).read_text().splitlines()
    assert len(lines) == len(kept) + 1
    assert spent(server) == ONE_SPEND


def test_the_threshold_moves_by_keyboard_and_sends_only_what_it_changes(page: Page, found_before: Found) -> None:
    told: list[ForwardMsg] = []
    network = page.context.new_cdp_session(page)
    network.send("Network.enable")
    network.on("Network.webSocketFrameReceived", lambda event: told.append(message(event)))
    found = read_again(page, found_before)
    slider = page.locator("[class*=-support] input[type=range]")
    slider.focus()
    slider.press("Home")
    expect_kept(page, len(found.found))
    settled(page, 1000)
    assert any(figure_in(one) for one in told), "figures are sent when they are new"
    told.clear()
    slider.press("ArrowRight")
    expect(page.get_by_test_id("stSliderThumbValue").filter(has_text=re.compile("^1 person$"))).to_be_visible()
    settled(page, 1000)
    drawings = sum(one.WhichOneof("type") == "new_session" for one in told)
    assert drawings >= 1
    assert not any(map(figure_in, told)), "the style sheet moves the points"
    assert sum(one.ByteSize() for one in told) <= 20_000 * drawings
    set_aside_and_back(page, found)
    assert spent(found_before[0]) == ONE_SPEND


def set_aside_and_back(page: Page, found: RedescriptionSet) -> None:
    """What is not shown does not speak; a button leads back to the suggested threshold."""
    page.get_by_text("Show what is set aside").click()
    expect(points(page).get_by_text("set aside", exact=True)).to_have_count(0)
    settled(page, 1000)
    spoken = points(page).locator(".hovertext")
    last = len(found.pruned(1)) - 1
    point_at(page, "kept", last)
    expect(spoken).to_have_count(1)
    slider = page.locator("[class*=-support] input[type=range]")
    slider.focus()
    slider.press("End")
    expect(page.get_by_text("are set aside: none has")).to_have_count(2)
    expect_kept(page, 0)
    point_at(page, "kept", last)
    page.wait_for_timeout(500)
    expect(spoken).to_have_count(0)
    page.get_by_role("button", name="Back to the suggested").click()
    expect(page.get_by_text("This is where it stands.")).to_be_visible()
    expect_kept(page, len(found.pruned(found.suggested_support)))


def message(event: dict[str, Any]) -> ForwardMsg:
    """What the server told a page."""
    return ForwardMsg.FromString(base64.b64decode(event["response"]["payloadData"]))


def figure_in(one: ForwardMsg) -> bool:
    """Whether a message holds a figure itself, not only its name."""
    return one.WhichOneof("type") == "delta" and one.delta.new_element.WhichOneof("type") == "plotly_chart"
