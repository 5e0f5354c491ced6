"""Who may send files to the server, and how much at once."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Iterator
from types import SimpleNamespace
from typing import Any

import pytest
from streamlit import config

from pages.components import upload_door, who
from pages.components.upload_door import UploadDoor
from tests.page_tools import home

__all__ = ["home"]
MIB = 1 << 20
LARGEST = 1024 * MIB


@pytest.fixture(autouse=True)
def nobody() -> Iterator[None]:
    upload_door._guests.clear()
    config.set_option("server.maxUploadSize", 1024)
    yield
    upload_door._guests.clear()


@pytest.fixture
def come(monkeypatch: pytest.MonkeyPatch) -> Any:
    """Draw a page that asks for files, in a connection of this name."""

    def draw(session: str) -> None:
        context = SimpleNamespace(session_id=session)
        monkeypatch.setattr(upload_door, "get_script_run_ctx", lambda: context)
        upload_door.let_in()

    return draw


class _Inside:
    """The application: it takes what reaches it, or answers as it is told."""

    def __init__(self, status: int = 204) -> None:
        self.status, self.reached = status, 0

    async def __call__(self, scope: Any, receive: Any, send: Any) -> None:
        self.reached += 1
        if self.status == 0:
            raise ConnectionError
        await send({"type": "http.response.start", "status": self.status, "headers": []})
        await send({"type": "http.response.body", "body": b""})


def send(
    inside: _Inside, session: str, file: str = "f", length: object = 10, method: str = "PUT",
    base: str = "",
) -> int:  # fmt: skip
    said: list[Any] = []

    async def answer(message: Any) -> None:
        said.append(message)

    async def receive() -> Any:
        return {"type": "http.request", "body": b""}

    headers = [] if length is None else [(b"content-length", str(length).encode())]
    scope = {
        "type": "http", "method": method, "path": f"{base}/_stcore/upload_file/{session}/{file}",
        "headers": headers,
    }  # fmt: skip
    asyncio.run(UploadDoor(inside)(scope, receive, answer))
    return int(said[0]["status"])


def test_a_stranger_is_refused_before_a_byte_is_read() -> None:
    inside = _Inside()
    for method in ("PUT", "POST"):
        for base in ("", "/somewhere"):
            assert send(inside, "stranger", method=method, base=base) == 403
    assert inside.reached == 0


def test_whom_a_page_has_asked_may_send(come: Any) -> None:
    come("office")
    inside = _Inside()
    assert send(inside, "office") == 204
    assert send(inside, "stranger") == 403
    assert inside.reached == 1


def test_a_visitor_who_is_no_custodian_is_not_let_in(
    come: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(who, "may", lambda *_: False)
    come("analyst")
    assert send(_Inside(), "analyst") == 403


def test_leave_ends_with_the_login(come: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    come("office")
    monkeypatch.setattr(upload_door.time, "time", lambda: time.monotonic() + 10**10)
    assert send(_Inside(), "office") == 403


def test_a_file_says_how_long_it_is_and_is_not_too_long(come: Any) -> None:
    come("office")
    assert send(_Inside(), "office", length=None) == 411
    assert send(_Inside(), "office", length="-5") == 411
    assert send(_Inside(), "office", length=LARGEST + 2 * MIB) == 413
    assert send(_Inside(), "office", length=LARGEST) == 204


def test_a_connection_holds_only_so_much_and_all_together_too(come: Any) -> None:
    for session in ("one", "two", "three"):
        come(session)
    assert send(_Inside(), "one", "a", LARGEST) == 204
    assert send(_Inside(), "one", "b", LARGEST) == 204
    assert send(_Inside(), "one", "c", LARGEST) == 429
    assert send(_Inside(), "two", "a", LARGEST) == 204
    assert send(_Inside(), "two", "b", LARGEST) == 204
    assert send(_Inside(), "three", "a", LARGEST) == 429
    upload_door.taken("one", "a")
    assert send(_Inside(), "three", "a", LARGEST) == 204


def test_many_small_files_are_bounded_too(come: Any) -> None:
    come("office")
    answers = [send(_Inside(), "office", str(i), 1) for i in range(upload_door.FILES_OF_ONE + 1)]
    assert answers == [204] * upload_door.FILES_OF_ONE + [429]


@pytest.mark.parametrize("status", [400, 413, 500])
def test_what_was_refused_further_inside_is_not_held(come: Any, status: int) -> None:
    come("office")
    for _ in range(3):
        assert send(_Inside(status), "office", "a", LARGEST) == status
    assert upload_door._guests["office"].bytes == 0


def test_what_broke_off_or_was_deleted_is_not_held(come: Any) -> None:
    come("office")
    with pytest.raises(ConnectionError):
        send(_Inside(0), "office", "a", LARGEST)
    assert upload_door._guests["office"].bytes == 0
    assert send(_Inside(), "office", "b", LARGEST) == 204
    assert send(_Inside(), "office", "b", None, "DELETE") == 204
    assert upload_door._guests["office"].bytes == 0


def test_connections_that_are_gone_are_forgotten(
    come: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    come("gone")
    send(_Inside(), "gone", "a", LARGEST)
    runtime = SimpleNamespace(is_active_session=lambda session: session != "gone")
    monkeypatch.setattr(upload_door, "exists", lambda: True)
    monkeypatch.setattr(upload_door, "get_instance", lambda: runtime)
    come("office")
    assert send(_Inside(), "office", "a", LARGEST) == 204
    assert set(upload_door._guests) == {"office"}


def test_other_requests_pass() -> None:
    inside = _Inside()
    said: list[Any] = []

    async def answer(message: Any) -> None:
        said.append(message)

    for scope in (
        {"type": "http", "method": "GET", "path": "/health", "headers": []},
        {"type": "http", "method": "OPTIONS", "path": "/_stcore/upload_file/a/b", "headers": []},
        {"type": "websocket", "path": "/_stcore/stream", "headers": []},
    ):
        asyncio.run(UploadDoor(inside)(scope, None, answer))  # type: ignore[arg-type]
    assert inside.reached == 3
