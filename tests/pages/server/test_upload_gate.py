"""Who may send files to the server, and how much at once."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Iterator
from contextlib import nullcontext
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
from starlette.requests import Request
from streamlit import config
from streamlit.proto.Common_pb2 import FileURLs
from streamlit.runtime.memory_uploaded_file_manager import MemoryUploadedFileManager
from streamlit.runtime.uploaded_file_manager import UploadedFile, UploadedFileRec

from dpcore.workspace.people.users import User
from pages.components.releases import importing
from pages.components.server import upload_gate
from pages.components.server.upload_gate import UploadGate
from pages.components.visitor import login
from tests.support.browsers.app_server import serve
from tests.support.browsers.streamlit_client import Session

MIB = 1 << 20
LARGEST = 1024 * MIB


@pytest.fixture(autouse=True)
def nobody() -> Iterator[None]:
    upload_gate._guests.clear()
    config.set_option("server.maxUploadSize", 1024)
    yield
    upload_gate._guests.clear()


@pytest.fixture
def come(monkeypatch: pytest.MonkeyPatch) -> Any:
    """Draw a page that asks for files, in a connection of this name."""

    def draw(session: str) -> None:
        context = SimpleNamespace(session_id=session)
        monkeypatch.setattr(upload_gate, "get_script_run_ctx", lambda: context)
        upload_gate.let_in()

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
    inside: _Inside, session: str, file: str = "f", length: object = 10, method: str = "PUT", base: str = ""
) -> int:
    said: list[Any] = []

    async def answer(message: Any) -> None:
        said.append(message)

    async def receive() -> Any:
        return {"type": "http.request", "body": b""}

    headers = [] if length is None else [(b"content-length", str(length).encode())]
    scope = {
        "type": "http",
        "method": method,
        "path": f"{base}/_stcore/upload_file/{session}/{file}",
        "headers": headers,
    }
    asyncio.run(UploadGate(inside)(scope, receive, answer))
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


def test_a_visitor_who_is_no_custodian_is_not_let_in(come: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(login, "may", lambda *_: False)
    come("analyst")
    assert send(_Inside(), "analyst") == 403


def test_leave_ends_with_the_login(come: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    come("office")
    monkeypatch.setattr(upload_gate.time, "time", lambda: time.monotonic() + 10**10)
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
    upload_gate.taken("one", "a")
    assert send(_Inside(), "three", "a", LARGEST) == 204


SMALL = 16 * MIB


@pytest.fixture
def bring(monkeypatch: pytest.MonkeyPatch) -> Any:
    """Draw a page that asks an analyst for small files."""

    def draw(session: str, name: str) -> None:
        visitor = User(name, frozenset({"analyst"}))
        monkeypatch.setattr(upload_gate, "get_script_run_ctx", lambda: SimpleNamespace(session_id=session))
        with monkeypatch.context() as patch:
            patch.setattr(login, "user", lambda: visitor)
            upload_gate.let_in(SMALL)

    return draw


def test_small_files_are_bounded_for_a_person_and_keep_nobody_else_waiting(bring: Any) -> None:
    for session, name in (("ann", "ann"), ("ann too", "ann"), ("bob", "bob")):
        bring(session, name)
    assert [send(_Inside(), session, "a", SMALL) for session in ("ann", "ann too", "bob")] == [204] * 3
    assert [send(_Inside(), session, "b", SMALL) for session in ("ann", "ann too", "bob")] == [429, 429, 204]
    assert send(_Inside(), "ann", "c", SMALL + 2 * MIB) == 413
    upload_gate.taken("ann too", "a")
    assert send(_Inside(), "ann", "b", SMALL) == 204


def test_small_files_leave_all_room_to_custodians(come: Any, bring: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(upload_gate, "SMALL_FILES_AT_ONCE", 3)
    answers = []
    for person in ("ann", "bob"):
        bring(person, person)
        answers += [send(_Inside(), person, file, SMALL + MIB) for file in ("a", "b")]
    assert answers == [204, 204, 204, 429]
    for session in ("one", "two"):
        come(session)
        assert [send(_Inside(), session, file, LARGEST + MIB) for file in ("a", "b")] == [204, 204]


def test_a_file_that_was_read_as_a_result_is_in_memory_no_more(bring: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    bring("ann", "ann")
    assert send(_Inside(), "ann", "f", 5) == 204
    manager = MemoryUploadedFileManager("/_stcore/upload_file")
    manager.add_file("ann", UploadedFileRec("f", "result.json", "", b"a lot"))
    context = SimpleNamespace(session_id="ann", uploaded_file_mgr=manager)
    monkeypatch.setattr(upload_gate, "get_script_run_ctx", lambda: context)
    page = SimpleNamespace(spinner=lambda _: nullcontext(), session_state={importing._TURN: 0}, rerun=lambda: None)
    monkeypatch.setattr(importing, "st", page)
    monkeypatch.setattr(importing.access, "note_outcome", lambda *_: None)
    [record] = manager.get_files("ann", ["f"])
    importing._take(UploadedFile(record, FileURLs()))
    assert manager.get_files("ann", ["f"]) == []
    assert upload_gate._guests["ann"].bytes == 0
    assert page.session_state[importing._TURN] == 1, "there is a place for another file"


def test_many_small_files_are_bounded_too(come: Any) -> None:
    come("office")
    answers = [send(_Inside(), "office", str(i), 1) for i in range(upload_gate.FILES_OF_ONE + 1)]
    assert answers == [204] * upload_gate.FILES_OF_ONE + [429]


@pytest.mark.parametrize("status", [400, 413, 500])
def test_what_was_refused_further_inside_is_not_held(come: Any, status: int) -> None:
    come("office")
    for _ in range(3):
        assert send(_Inside(status), "office", "a", LARGEST) == status
    assert upload_gate._guests["office"].bytes == 0


def test_what_broke_off_or_was_deleted_is_not_held(come: Any) -> None:
    come("office")
    with pytest.raises(ConnectionError):
        send(_Inside(0), "office", "a", LARGEST)
    assert upload_gate._guests["office"].bytes == 0
    assert send(_Inside(), "office", "b", LARGEST) == 204
    assert send(_Inside(), "office", "b", None, "DELETE") == 204
    assert upload_gate._guests["office"].bytes == 0


class _Runtime:
    """Streamlit's, as far as the door knows it: who is connected, and what it holds."""

    def __init__(self, *held: str) -> None:
        self.gone: set[str] = set()
        self.held = set(held)
        self.now = 1_000_000.0
        self.uploaded_file_mgr = SimpleNamespace(remove_session_files=self.held.discard)

    def is_active_session(self, session: str) -> bool:
        return session not in self.gone


@pytest.fixture
def runtime(monkeypatch: pytest.MonkeyPatch) -> _Runtime:
    found = _Runtime("one", "two", "office")
    monkeypatch.setattr(upload_gate, "exists", lambda: True)
    monkeypatch.setattr(upload_gate, "get_instance", lambda: found)
    monkeypatch.setattr(upload_gate.time, "time", lambda: found.now)
    return found


def test_who_comes_back_may_send_without_a_new_page(come: Any, runtime: _Runtime) -> None:
    come("one")
    come("office")
    runtime.gone.add("one")
    assert send(_Inside(), "office", "a") == 204  # The door looks who is there.
    runtime.now += 120
    runtime.gone.clear()
    assert send(_Inside(), "one", "a") == 204


def test_what_is_held_for_who_broke_off_counts_until_it_is_let_go(come: Any, runtime: _Runtime) -> None:
    for session in ("one", "two", "office"):
        come(session)
    for session in ("one", "two"):
        for file in ("a", "b"):
            assert send(_Inside(), session, file, LARGEST) == 204
    runtime.gone |= {"one", "two"}
    assert send(_Inside(), "office", "a", LARGEST) == 429
    assert runtime.held == {"one", "two", "office"}
    runtime.now += upload_gate.AWAY + 1
    assert send(_Inside(), "office", "a", LARGEST) == 204
    assert runtime.held == {"office"}
    assert set(upload_gate._guests) == {"office"}


def test_only_so_many_who_broke_off_are_known(come: Any, runtime: _Runtime, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(upload_gate, "AWAY_AT_ONCE", 2)
    for number, session in enumerate(("one", "two", "three")):
        come(session)
        runtime.gone.add(session)
        runtime.now += number + 1
    come("office")
    assert set(upload_gate._guests) == {"two", "three", "office"}


def test_a_hold_stays_until_its_file_is_deleted_indeed(come: Any) -> None:
    come("office")
    assert send(_Inside(), "office", "a", LARGEST) == 204
    assert send(_Inside(403), "office", "a", None, "DELETE") == 403
    assert upload_gate._guests["office"].bytes == LARGEST
    assert send(_Inside(), "office", "a", None, "DELETE") == 204
    assert upload_gate._guests["office"].bytes == 0


def test_a_file_on_its_way_is_held_whatever_else_is_said_of_it(come: Any) -> None:
    come("office")

    class Receiving(_Inside):
        async def __call__(self, scope: Any, receive: Any, send: Any) -> None:
            await asyncio.to_thread(self.meanwhile)
            await super().__call__(scope, receive, send)

        def meanwhile(self) -> None:
            assert said("DELETE") == 204
            assert said("PUT") == 409
            assert upload_gate._guests["office"].bytes == LARGEST

    def said(method: str) -> int:
        return send(_Inside(), "office", "a", 1, method)

    assert send(Receiving(), "office", "a", LARGEST) == 204
    assert send(_Inside(), "office", "a", 5) == 204
    assert upload_gate._guests["office"].bytes == 5


def test_an_upload_of_which_nothing_comes_is_ended(come: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    come("office")
    monkeypatch.setattr(upload_gate, "SILENCE", 0.01)

    async def reading(scope: Any, receive: Any, _send: Any) -> None:
        await Request(scope, receive).body()

    async def nothing() -> Any:
        await asyncio.Event().wait()

    said: list[Any] = []

    async def answer(message: Any) -> None:
        said.append(message)

    scope = {
        "type": "http",
        "method": "PUT",
        "path": "/_stcore/upload_file/office/a",
        "headers": [(b"content-length", b"10")],
    }
    asyncio.run(UploadGate(reading)(scope, nothing, answer))
    assert said[0]["status"] == 408
    assert b"Upload it again" in said[1]["body"]
    assert upload_gate._guests["office"].bytes == 0


def test_a_page_whose_connection_broke_off_goes_on_sending(tmp_path: Path) -> None:
    with serve(tmp_path / "home") as server:
        with Session(server.url) as page:
            page.open("custodian")
            assert page.upload(b"x") == 204
        with Session(server.url) as other:
            other.wait(lambda: not _takes(page))
            other.open("custodian")
            assert other.upload(b"x") == 204
        with Session(server.url, resumes=page.name) as back:
            back.wait(lambda: _takes(back))


def _takes(session: Session) -> bool:
    return session.upload(b"x") == 204


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
        asyncio.run(UploadGate(inside)(scope, None, answer))  # type: ignore[arg-type]
    assert inside.reached == 3
