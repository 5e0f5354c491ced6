"""A visitor without a browser: Streamlit's own protocol over its websocket.

A session does what the browser would do: it opens a page, draws what the server sends, sets
widgets, presses buttons and answers the requests to refresh a fragment. One costs a thread and
a few kilobytes, so that many fit into one test.
"""

from __future__ import annotations

import re
import time
from collections import Counter
from collections.abc import Callable, Iterator, Mapping
from contextlib import ExitStack
from dataclasses import dataclass
from html import unescape
from types import TracebackType
from typing import Any
from urllib.parse import urlsplit

import httpx
from streamlit.proto.BackMsg_pb2 import BackMsg
from streamlit.proto.Delta_pb2 import Delta
from streamlit.proto.ForwardMsg_pb2 import ForwardMsg
from streamlit.proto.WidgetStates_pb2 import WidgetState
from websockets.exceptions import ConnectionClosed
from websockets.sync.client import ClientConnection, connect

WAIT = 180.0
XSRF_COOKIE = "_streamlit_xsrf"
#: Which field of a widget's state holds a value, by the kind of widget.
_FIELDS = {
    "button": "trigger_value",
    "checkbox": "bool_value",
    "number_input": "double_value",
    "radio": "string_value",
    "selectbox": "string_value",
    "slider": "double_array_value",
    "text_area": "string_value",
    "text_input": "string_value",
    "multiselect": "string_array_value",
}
_TAGS = re.compile(r"<[^>]+>")
_ERROR = 1  # The format of an alert that is an error.
Path = tuple[int, ...]


@dataclass(frozen=True)
class Drawn:
    """One element on the page: its kind (``button``, ``html``, ``alert``), and what it holds."""

    kind: str
    proto: Any
    run: str
    fragment: str

    @property
    def text(self) -> str:
        """What a reader sees, without marks."""
        parts = (getattr(self.proto, name, "") for name in ("title", "label", "body", "message"))
        return unescape(_TAGS.sub(" ", " ".join(part for part in parts if part)))


@dataclass
class _Timer:
    """A fragment that wants to be drawn again every so many seconds."""

    interval: float
    due: float


class Session:
    """One tab of one visitor.

    Parameters
    ----------
    url
        Where the app is served, for instance ``http://localhost:8501``.
    cookies
        Cookies of the visitor, for instance after a login.
    refresh
        Whether to answer requests to refresh a fragment, as a browser does.
    resumes
        Name of a session that broke off and is to go on.
    """

    def __init__(
        self,
        url: str,
        cookies: Mapping[str, str] | None = None,
        *,
        refresh: bool = True,
        resumes: str = "",
    ) -> None:
        self._url = url.rstrip("/")
        self._refresh = refresh
        self._open = ExitStack()
        self._cookies = dict(cookies or {})
        self._socket = self._open.enter_context(_connect(self._url, self._cookies, resumes))
        #: The name by which the server knows it.
        self.name = resumes
        self._drawn: dict[Path, Drawn] = {}
        self._values: dict[str, WidgetState] = {}
        self._timers: dict[str, _Timer] = {}
        #: How often each fragment was drawn to its end; under the empty name, the whole page.
        self._finished: Counter[str] = Counter()
        self._run = ""
        self.pages: dict[str, str] = {}
        self.page_hash = ""
        self.query = ""
        self.redirect = ""
        self.missing_page = False

    def __enter__(self) -> Session:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self._open.close()

    # Acting

    def open(self, page: str = "", query: str = "") -> None:
        """Follow a link to a page (its place in the address), and wait until it is drawn."""
        self.query, self.missing_page = query, False
        self.page_hash = self.pages.get(page, "")
        self.rerun(page_name="" if self.page_hash else page)

    def rerun(self, *changes: WidgetState, wait: bool = True, **client_state: str) -> None:
        """Send the page's state with changes, and wait until the page is drawn again."""
        message = BackMsg()
        state = message.rerun_script
        state.query_string = self.query
        state.page_script_hash = self.page_hash
        state.widget_states.widgets.extend(self._values.values())
        state.widget_states.widgets.extend(changes)
        for name, value in client_state.items():
            setattr(state, name, value)
        before, part = self._finished[""], client_state.get("fragment_id", "")
        drawn = self._finished[part]
        self._socket.send(message.SerializeToString())
        if wait:
            self.wait(lambda: self._finished[""] > before or self._finished[part] > drawn)

    def set(self, kind: str, label: str, value: Any, *, wait: bool = True) -> None:
        """Give a widget a value, whether it offers that value or not."""
        widget = self.find(kind, label)
        field = "int_value" if _whole_number(kind, widget.proto) else _FIELDS[kind]
        self.force(widget.proto.id, field, value, wait=wait, fragment_id=widget.fragment)

    def force(self, widget_id: str, field: str, value: Any, *, wait: bool = True, fragment_id: str = "") -> None:
        """Send any value in any field for any widget, known or not."""
        state = WidgetState(id=widget_id)
        if isinstance(value, (list, tuple)):
            getattr(state, field).data.extend(value)
        else:
            setattr(state, field, value)
        self._values[widget_id] = state
        self.rerun(wait=wait, fragment_id=fragment_id)

    def press(self, label: str, *, times: int = 1, wait: bool = True) -> None:
        """Press a button, several times in a row before any answer if wanted."""
        button = self.find("button", label)
        pressed = WidgetState(id=button.proto.id, trigger_value=True)
        for last in range(times - 1, -1, -1):
            self.rerun(pressed, wait=wait and not last, fragment_id=button.fragment)

    def upload(self, content: bytes, file: str = "file") -> int:
        """Send a file as a widget would; return the status of the answer."""
        token = self._cookies[XSRF_COOKIE]
        answer = httpx.put(
            f"{self._url}/_stcore/upload_file/{self.name}/{file}",
            files={"file": content},
            headers={"X-Xsrftoken": token, "origin": self._url},
            cookies=self._cookies,
            timeout=WAIT,
        )
        return answer.status_code

    def send(self, frame: bytes) -> None:
        """Send bytes that need not mean anything."""
        self._socket.send(frame)

    def wait(self, until: Callable[[], object], seconds: float = WAIT) -> None:
        """Take in what the server sends until something holds."""
        end = time.monotonic() + seconds
        while not until():
            if time.monotonic() > end:
                raise TimeoutError(f"The page does not get there. It shows: {self.words()[:2000]}")
            self._refresh_what_is_due()
            self.listen(0.1)

    def listen(self, seconds: float) -> None:
        """Take in one message, if one comes in this time, and all that wait behind it."""
        try:
            while True:
                self._take(ForwardMsg.FromString(_bytes(self._socket.recv(timeout=seconds))))
                seconds = 0
        except TimeoutError:
            return

    def hangs_up(self, seconds: float = WAIT) -> bool:
        """Whether the server ends the connection within this time."""
        end = time.monotonic() + seconds
        try:
            while time.monotonic() < end:
                self.listen(0.1)
        except ConnectionClosed:
            return True
        return False

    # Reading

    @property
    def refreshing(self) -> set[str]:
        """The fragments that are to be drawn again every so many seconds."""
        return set(self._timers)

    def times_drawn(self, fragment: str = "") -> int:
        """How often a fragment was drawn to its end by itself; without one, the whole page."""
        return self._finished[fragment]

    def all(self, kind: str) -> Iterator[Drawn]:
        """Every element of a kind, in the order of the page."""
        return (self._drawn[path] for path in sorted(self._drawn) if self._drawn[path].kind == kind)

    def find(self, kind: str, label: str) -> Drawn:
        """The element of a kind whose text holds a label."""
        for drawn in self.all(kind):
            if label in drawn.text:
                return drawn
        raise LookupError(f"No {kind} says {label!r}. The page shows: {self.words()[:2000]}")

    def has(self, kind: str, label: str = "") -> bool:
        return any(label in drawn.text for drawn in self.all(kind))

    def words(self, block: str = "") -> str:
        """All texts of the page, or of its first block of a kind, for example ``dialog``."""
        start = next((p for p in sorted(self._drawn) if self._drawn[p].kind == block), None)
        if block and start is None:
            return ""
        within = [p for p in sorted(self._drawn) if start is None or p[: len(start)] == start]
        return " ".join(" ".join(self._drawn[path].text for path in within).split())

    def html(self, part: str) -> str:
        """The body of the first piece of HTML that holds some text."""
        return next(str(d.proto.body) for d in self.all("html") if part in d.proto.body)

    def errors(self) -> list[str]:
        """What is written in red."""
        return [d.text.strip() for d in self.all("alert") if d.proto.format == _ERROR]

    def tracebacks(self) -> list[str]:
        """Faults of the program that reached the page: there should be none."""
        return [f"{d.proto.type}: {d.proto.message}" for d in self.all("exception")]

    # What the server says

    def _take(self, message: ForwardMsg) -> None:
        kind = message.WhichOneof("type")
        handler = getattr(self, f"_on_{kind}", None)
        if handler is not None:
            handler(message)

    def _on_new_session(self, message: ForwardMsg) -> None:
        self.page_hash = message.new_session.page_script_hash
        self.name = message.new_session.initialize.session_id
        self._run = message.metadata.run.script_run_id
        if not message.metadata.run.fragment_ids:
            self._timers.clear()

    def _on_navigation(self, message: ForwardMsg) -> None:
        navigation = message.navigation
        self.pages = {page.url_pathname: page.page_script_hash for page in navigation.app_pages}
        self.page_hash = navigation.page_script_hash or self.page_hash

    def _on_page_info_changed(self, message: ForwardMsg) -> None:
        self.query = message.page_info_changed.query_string

    def _on_page_not_found(self, _message: ForwardMsg) -> None:
        self.missing_page = True

    def _on_auth_redirect(self, message: ForwardMsg) -> None:
        self.redirect = message.auth_redirect.url

    def _on_auto_rerun(self, message: ForwardMsg) -> None:
        wish = message.auto_rerun
        due = time.monotonic() + wish.interval
        self._timers[wish.fragment_id] = _Timer(wish.interval, due)

    def _on_stop_auto_rerun(self, message: ForwardMsg) -> None:
        for fragment in message.stop_auto_rerun.fragment_ids:
            self._timers.pop(fragment, None)

    def _on_delta(self, message: ForwardMsg) -> None:
        path = tuple(message.metadata.delta_path)
        drawn = _drawn(message.delta, self._run)
        if drawn is None:
            return
        before = self._drawn.get(path)
        if before is not None and before.kind != drawn.kind:
            self._forget(lambda other, _: other[: len(path)] == path)
        self._drawn[path] = drawn
        if getattr(drawn.proto, "set_value", False):
            self._values.pop(drawn.proto.id, None)

    def _on_script_finished(self, message: ForwardMsg) -> None:
        run, status = message.metadata.run, message.script_finished
        if status == ForwardMsg.FINISHED_EARLY_FOR_RERUN:
            return
        whole, parts = run.script_run_id, set(run.fragment_ids)
        self._forget(lambda _, old: old.run != whole and (not parts or old.fragment in parts))
        self._finished.update(parts or {""})

    def _forget(self, gone: Callable[[Path, Drawn], bool]) -> None:
        self._drawn = {path: old for path, old in self._drawn.items() if not gone(path, old)}

    def _refresh_what_is_due(self) -> None:
        now = time.monotonic()
        for fragment, timer in list(self._timers.items()) if self._refresh else []:
            if timer.due <= now:
                timer.due = now + timer.interval
                message = BackMsg()
                state = message.rerun_script
                state.query_string, state.page_script_hash = self.query, self.page_hash
                state.fragment_id, state.is_auto_rerun = fragment, True
                state.widget_states.widgets.extend(self._values.values())
                self._socket.send(message.SerializeToString())


def _connect(url: str, cookies: dict[str, str], resumes: str) -> ClientConnection:
    """Shake hands as the browser does: the forgery token stands in a cookie and beside it."""
    if XSRF_COOKIE not in cookies:
        answer = httpx.get(f"{url}/_stcore/health", cookies=cookies, timeout=WAIT)
        cookies[XSRF_COOKIE] = answer.cookies.get(XSRF_COOKIE, "")
    parts = urlsplit(url)
    return connect(
        f"ws://{parts.netloc}{parts.path}/_stcore/stream",
        origin=f"{parts.scheme}://{parts.netloc}",
        subprotocols=["streamlit", cookies[XSRF_COOKIE] or "none", *filter(None, [resumes])],
        additional_headers={"Cookie": "; ".join(f"{k}={v}" for k, v in cookies.items())},
        open_timeout=WAIT,
        max_size=None,
    )


def _bytes(frame: str | bytes) -> bytes:
    assert isinstance(frame, bytes)
    return frame


def _whole_number(kind: str, proto: Any) -> bool:
    return kind == "number_input" and proto.data_type == proto.INT


def _drawn(delta: Delta, run: str) -> Drawn | None:
    kind = delta.WhichOneof("type")
    if kind == "new_element":
        inner = delta.new_element.WhichOneof("type")
        return Drawn(inner, getattr(delta.new_element, inner), run, delta.fragment_id)
    if kind == "add_block":
        inner = delta.add_block.WhichOneof("type") or "block"
        proto = getattr(delta.add_block, inner, delta.add_block)
        return Drawn(inner, proto, run, delta.fragment_id)
    return None
