"""A page that Streamlit ends is asked for anew."""

from __future__ import annotations

import pytest
from playwright.sync_api import Page, WebSocketRoute, expect
from streamlit.proto.BackMsg_pb2 import BackMsg
from streamlit.proto.ForwardMsg_pb2 import ForwardMsg

from tests.support.browsers.app_server import Server
from tests.support.browsers.browser_steps import settled


def nowhere() -> bytes:
    """A message about a place that no page has."""
    message = ForwardMsg()
    message.metadata.delta_path[:] = [0, 99, 0]
    message.delta.add_block.allow_empty = True
    return message.SerializeToString()


@pytest.mark.timeout(300)
def test_a_page_that_was_told_of_a_place_it_does_not_have_comes_back_but_not_again_and_again(
    page: Page, ward: Server
) -> None:
    sockets: list[WebSocketRoute] = []

    def through(socket: WebSocketRoute) -> None:
        socket.connect_to_server()
        sockets.append(socket)

    page.route_web_socket("**/_stcore/stream**", through)
    page.goto(ward.page("rule_list"))
    for _ in range(2):
        expect(page.get_by_role("heading", name="Rule list", exact=True)).to_be_visible()
        expect(page.get_by_label("Exact ε")).to_be_visible()
        settled(page)
        page.evaluate("window.before = true")
        opened = len(sockets)
        sockets[-1].send(nowhere())
        if opened == 1:
            page.wait_for_function("window.before === undefined")
    expect(page.get_by_role("heading", name="Rule list", exact=True)).to_have_count(0)
    page.wait_for_timeout(1500)
    assert page.evaluate("window.before") is True, "it was loaded again at once"
    page.evaluate("sessionStorage.setItem('frostglass-mended', '1')")  # As half a minute later.
    page.reload()
    expect(page.get_by_role("heading", name="Rule list", exact=True)).to_be_visible()


@pytest.mark.slow
def test_a_part_that_refreshes_itself_leaves_the_page_what_it_is(page: Page, ward: Server) -> None:
    """A browser that is slow may not know yet on which page it is when it asks."""
    answered: list[bool] = []

    def through(socket: WebSocketRoute) -> None:
        server = socket.connect_to_server()

        def ask(sent: str | bytes) -> None:
            message = BackMsg()
            if isinstance(sent, bytes):
                message.ParseFromString(sent)
            if message.rerun_script.is_auto_rerun:
                message.rerun_script.page_script_hash = ""
                sent = message.SerializeToString()
                answered.append(True)
            server.send(sent)

        socket.on_message(ask)

    faults: list[str] = []
    page.on("pageerror", lambda fault: faults.append(str(fault)))
    page.route_web_socket("**/_stcore/stream**", through)
    page.goto(ward.page("rule_list"))
    expect(page.get_by_label("Exact ε")).to_be_visible()
    page.evaluate("window.before = true")
    for _ in range(100):
        page.wait_for_timeout(100)
        if answered:
            break
    settled(page, 1500)
    assert answered
    assert not faults
    expect(page.get_by_label("Exact ε")).to_be_visible()
    assert page.evaluate("window.before") is True
