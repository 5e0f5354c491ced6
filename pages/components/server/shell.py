"""The empty page that a browser gets first: with the style sheet, the name of the application and what mends it.

Written by a script of Streamlit the sheet would come with a piece of the page that browsers fetch
by themselves: on a busy machine seconds after the first words, which have no colours until then,
and no ring that shows the focus.
"""

from __future__ import annotations

from hashlib import sha256

from starlette.datastructures import MutableHeaders
from starlette.responses import Response
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from pages.components.kit.markup import ASSETS


def _named(file: str) -> tuple[str, bytes]:
    """A name for a file and its content: another content has another name, so that no browser keeps an old one."""
    content, (stem, ending) = (ASSETS / file).read_bytes(), file.split(".")
    return f"{stem}-{sha256(content).hexdigest()[:16]}.{ending}", content


_STYLE, _SHEET = _named("style.css")
_MEND, _SCRIPT = _named("mend.js")
_FILES = {_STYLE: (_SHEET, "text/css"), _MEND: (_SCRIPT, "text/javascript")}
_FOR_EVER = {"Cache-Control": "public, max-age=31536000, immutable"}
#: The sheet stands behind Streamlit's own styles, over which it wins, and before what pages write.
_BEFORE = b'<div id="root">'
_CHANGES = (
    (_BEFORE, f'<link rel="stylesheet" href="./{_STYLE}"><script src="./{_MEND}"></script>'.encode() + _BEFORE),
    (b"<title>Streamlit</title>", b"<title>Frostglass</title>"),
)
#: Folders in which there are no pages.
_ELSEWHERE = {"_stcore", "media", "static", "api"}
#: By these a browser could be told to show the page that it has kept, or be sent it packed.
_SHORTENED = (b"if-none-match", b"if-modified-since", b"range", b"accept-encoding")


class Shell:
    """A layer around the application that changes the first page, whatever its address, and has what it names."""

    def __init__(self, app: ASGIApp) -> None:
        self._app = app

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        name = scope["path"].rpartition("/")[2] if scope["type"] == "http" else ""
        if name in _FILES:
            content, kind = _FILES[name]
            await Response(content, media_type=kind, headers=_FOR_EVER)(scope, receive, send)
        elif scope["type"] != "http" or not _may_be_page(scope["path"]):
            await self._app(scope, receive, send)
        else:
            headers = [header for header in scope["headers"] if header[0].lower() not in _SHORTENED]
            await self._app({**scope, "headers": headers}, receive, _Changing(send))


class _Changing:
    """Send an answer on, changed if it is a page."""

    def __init__(self, send: Send) -> None:
        self._send = send
        self._start: Message | None = None
        self._body = b""

    async def __call__(self, message: Message) -> None:
        if message["type"] == "http.response.start" and _is_page(message):
            self._start = message
        elif message["type"] == "http.response.body" and self._start is not None:
            self._body += message.get("body", b"")
            if not message.get("more_body"):
                await self._changed(self._start)
        else:
            await self._send(message)

    async def _changed(self, start: Message) -> None:
        body = self._body
        for old, new in _CHANGES:
            body = body.replace(old, new, 1)
        headers = MutableHeaders(scope=start)
        for name in ("etag", "last-modified"):  # They tell of the page as it was.
            del headers[name]
        if self._body:  # There is none where only the headers were asked for.
            headers["content-length"] = str(len(body))
        await self._send(start)
        await self._send({"type": "http.response.body", "body": body})


def _may_be_page(path: str) -> bool:
    """Whether its name is not that of a file, whatever the folders are called below which the application is."""
    *folders, name = path.split("/")
    return "." not in name and _ELSEWHERE.isdisjoint([*folders, name])


def _is_page(start: Message) -> bool:
    return bool(start["status"] == 200 and MutableHeaders(scope=start).get("content-type", "").startswith("text/html"))
