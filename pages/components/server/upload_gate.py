"""Who may send files, and how much at once: a layer around the application.

Streamlit takes files from whoever has a connection, and holds them in memory. Here a connection may
send some only once a page has asked its visitor for them, custodians for data, others for small ones; and
what is on its way or waits in memory is bounded, for each connection and for all together: small files
by the person who sends them, and apart from data, so that nobody's results keep a custodian waiting.
"""

from __future__ import annotations

import asyncio
import re
import time
from collections.abc import Awaitable, Callable, Iterable, MutableMapping
from dataclasses import dataclass, field
from threading import Lock
from typing import Any

from starlette.requests import ClientDisconnect
from starlette.responses import PlainTextResponse
from streamlit import config
from streamlit.runtime import exists, get_instance
from streamlit.runtime.memory_uploaded_file_manager import MemoryUploadedFileManager
from streamlit.runtime.scriptrunner import get_script_run_ctx

from dpcore.workspace.people.users import ROLES
from pages.components.visitor import login

Scope = MutableMapping[str, Any]
Receive = Callable[[], Awaitable[Any]]
Send = Callable[[Any], Awaitable[None]]
App = Callable[[Scope, Receive, Send], Awaitable[None]]

#: Largest files that all connections together may have on their way or in memory.
FILES_AT_ONCE = 4
#: Small files of the largest size that one person may, in all connections; and all of them together.
SMALL_FILES_OF_ONE, SMALL_FILES_AT_ONCE = 2, 32
#: Small files of one connection that may wait in memory.
FILES_OF_ONE = 48
#: Without a page that asks again, a connection may send files for so long.
SECONDS = 12 * 3600
#: A connection that broke off is known for so many seconds: longer than Streamlit waits for its
#: browser to come back, and lets it go on where it was.
AWAY = 300
#: Such connections that are known at once; Streamlit waits for as many.
AWAY_AT_ONCE = 128
#: An upload of which nothing comes for so many seconds is ended.
SILENCE = 60
#: Most bytes around a file in a request.
_FRAME = 1 << 20
_NOT_LET_IN = "Only an open page that asks for a file may send one. Reload the page and try again."
_BROKE_OFF = "Nothing more came of the file. Upload it again."
_ADDRESS = re.compile(r"/_stcore/upload_file/(?P<session>[^/]+)/(?P<file>[^/]+)/?$")


@dataclass
class _Guest:
    """A connection that may send files."""

    until: float
    #: Bytes of the largest file that it may send; ``None``: what the server takes.
    largest: int | None = None
    #: Whose connection it is.
    person: str = ""
    #: Bytes of each file that is on its way or waits to be taken.
    holds: dict[str, int] = field(default_factory=dict)
    #: The files that are on their way.
    coming: set[str] = field(default_factory=set)
    #: When its connection was found to have broken off; ``None`` while there is one.
    left: float | None = None

    @property
    def bytes(self) -> int:
        return sum(self.holds.values())


_guests: dict[str, _Guest] = {}
_lock = Lock()


def let_in(largest: int | None = None) -> None:
    """Let the visitor's connection send files. For pages, where they ask for some.

    ``largest``: bytes of the largest; visitors who are no custodians may send small ones alone.
    """
    context = get_script_run_ctx()
    if context is None or not (login.may("custodian") or (largest is not None and login.may(*ROLES))):
        return
    person, expires = login.user().name, login.user().expires
    until = time.time() + SECONDS
    if expires is not None:
        until = min(until, expires.timestamp())
    with _lock:
        _forget_who_has_left()
        guest = _guests.setdefault(context.session_id, _Guest(until, largest))
        guest.person = person
        guest.until = until
        if largest is None:
            guest.largest = None


def taken(session: str, file: str) -> None:
    """A file is no longer held in memory."""
    with _lock:
        guest = _guests.get(session)
        if guest is not None and file not in guest.coming:
            guest.holds.pop(file, None)


def let_go(files: Iterable[Any]) -> None:
    """Take files that the visitor's page has received out of memory."""
    context = get_script_run_ctx()
    manager = context.uploaded_file_mgr if context else None
    if context is None or not isinstance(manager, MemoryUploadedFileManager):
        return
    for file in files:
        manager.remove_file(context.session_id, file.file_id)
        taken(context.session_id, file.file_id)


class _Answer:
    """What the application answers on its way out."""

    good = False

    def watching(self, send: Send) -> Send:
        async def watch(message: Any) -> None:
            if message["type"] == "http.response.start":
                self.good = message["status"] < 300
            await send(message)

        return watch


class UploadGate:
    """The layer itself."""

    def __init__(self, app: App) -> None:
        self._app = app

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        found = _ADDRESS.search(scope["path"]) if scope["type"] == "http" else None
        if found is None or scope["method"] not in {"PUT", "POST", "DELETE"}:
            await self._app(scope, receive, send)
            return
        session, file = found["session"], found["file"]
        if scope["method"] == "DELETE":
            answer = _Answer()
            await self._app(scope, receive, answer.watching(send))
            if answer.good:
                taken(session, file)
            return
        refusal = _admit(session, file, _length(scope))
        if refusal is not None:
            await refusal(scope, receive, send)
            return
        await self._pass_on(session, file, scope, receive, send)

    async def _pass_on(self, session: str, file: str, scope: Scope, receive: Receive, send: Send) -> None:
        """Let a file in; what was refused further inside, or broke off, is not held."""
        answer = _Answer()
        try:
            await self._app(scope, _impatient(receive), answer.watching(send))
        except ClientDisconnect:
            await PlainTextResponse(_BROKE_OFF, 408)(scope, receive, send)
        finally:
            with _lock:
                _guests[session].coming.discard(file)
            if not answer.good:
                taken(session, file)


def _impatient(receive: Receive) -> Receive:
    """Wait for the next piece of an upload, but not forever."""

    async def next_piece() -> Any:
        try:
            return await asyncio.wait_for(receive(), SILENCE)
        except TimeoutError:
            return {"type": "http.disconnect"}

    return next_piece


def _length(scope: Scope) -> int | None:
    for name, value in scope["headers"]:
        if name.lower() == b"content-length" and value.isdigit():
            return int(value)
    return None


def _admit(session: str, file: str, length: int | None) -> PlainTextResponse | None:
    """Note that a file is coming, or say why it may not."""
    largest = config.get_option("server.maxUploadSize") * 1024 * 1024 + _FRAME
    if length is None:
        return PlainTextResponse("Say how long the file is.", 411)
    if length > largest:
        return PlainTextResponse("The file is too large.", 413)
    with _lock:
        _forget_who_has_left()
        guest = _guests.get(session)
        if guest is None or guest.until < time.time():
            return PlainTextResponse(_NOT_LET_IN, 403)
        if guest.largest is not None and length > guest.largest + _FRAME:
            return PlainTextResponse("The file is too large.", 413)
        if file in guest.coming:
            return PlainTextResponse("This file is on its way already.", 409)
        if not _has_room(guest, length, largest):
            return PlainTextResponse("Too many files at once. Try again in a while.", 429)
        guest.holds[file] = length
        guest.coming.add(file)
    return None


def _has_room(guest: _Guest, length: int, largest: int) -> bool:
    """Whether one more file of this length may come, the largest of all being ``largest``."""
    alike = [other for other in _guests.values() if (other.largest is None) == (guest.largest is None)]
    if guest.largest is None:
        own, mine, most = [guest], 2 * largest, FILES_AT_ONCE * largest
    else:
        small = guest.largest + _FRAME
        own = [other for other in alike if other.person == guest.person]
        mine, most = SMALL_FILES_OF_ONE * small, SMALL_FILES_AT_ONCE * small
    few = len(guest.holds) < FILES_OF_ONE
    return few and _held(own) + length <= mine and _held(alike) + length <= most


def _held(guests: Iterable[_Guest]) -> int:
    return sum(guest.bytes for guest in guests)


def _forget_who_has_left() -> None:
    """Forget connections that will not come back, and what Streamlit holds for them."""
    if not exists():
        return
    runtime, now = get_instance(), time.time()
    for session, guest in _guests.items():
        guest.left = None if runtime.is_active_session(session) else guest.left or now
    away = [(guest.left, name) for name, guest in _guests.items() if guest.left and not guest.coming]
    for place, (left, session) in enumerate(sorted(away, reverse=True)):
        if place >= AWAY_AT_ONCE or now - left > AWAY:
            runtime.uploaded_file_mgr.remove_session_files(session)
            del _guests[session]
