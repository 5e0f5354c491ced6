"""What a request must pass before a page sees it, and what every answer tells the browser.

An ASGI middleware around the whole app: pages, static files, downloads, uploads and web sockets.
It reads headers and addresses only, never a body.
"""

from __future__ import annotations

import ipaddress
import re
from base64 import b64encode
from collections import Counter
from functools import cache
from hashlib import sha256
from pathlib import Path
from urllib.parse import urlsplit

from starlette.datastructures import Headers, MutableHeaders
from starlette.responses import PlainTextResponse, Response
from starlette.types import ASGIApp, Message, Receive, Scope, Send
from streamlit import config, file_util
from streamlit.web.server.server_util import is_allowed_origin
from streamlit.web.server.starlette.starlette_websocket import is_host_allowed

from pages.components.server import programs
from pages.components.visitor import login

#: The addresses of Streamlit that its pages in the browser need. Everything else of it is closed:
#: its metrics, its interface for programs, its custom components.
_DOORS = ("health", "host-config", "stream")
_UPLOADS = "/_stcore/upload_file/"
_HOME_NAMES = ("localhost", "127.0.0.1", "::1")
_EVERYWHERE = ("", "0.0.0.0", "::")
_READING = ("GET", "HEAD", "OPTIONS")
#: Web sockets at once of people who have not logged in or have no role, where a login is needed.
STRANGERS = 100
#: Those of them that come from one address, or belong to one person without a role.
STRANGERS_OF_ONE = 20
_WRONG_HOST = (
    "Frostglass does not answer to this address. If you run it: name the address in "
    "server.allowedHosts, as docs/deployment.md says."
)
_WRONG_ORIGIN = "This request comes from another site."
_LOGIN_FIRST = "Log in first, then download the file again."

_HEADERS = {
    "X-Frame-Options": "DENY",
    "X-Content-Type-Options": "nosniff",
    "Referrer-Policy": "no-referrer",
    "Cross-Origin-Opener-Policy": "same-origin",
    "Cross-Origin-Resource-Policy": "same-origin",
    "Permissions-Policy": (
        "camera=(), microphone=(), geolocation=(), display-capture=(), usb=(), serial=(), "
        "payment=(), accelerometer=(), gyroscope=(), magnetometer=()"
    ),
}


@cache
def _policy() -> str:
    """What a page may load and do: scripts of this server alone, and nothing from elsewhere.

    Styles are written by Streamlit's scripts, fonts and icons come from data addresses, figures
    are drawn on blobs, and whole numbers are multiplied in WebAssembly, which can reach nothing
    that scripts cannot. Its one script between tags is known by its hash.
    """
    inline = " ".join(_hash(script) for script in _inline_scripts())
    return (
        f"default-src 'none'; script-src 'self' 'wasm-unsafe-eval' {inline}; "
        "style-src 'self' 'unsafe-inline'; "
        "img-src 'self' data: blob:; font-src 'self' data:; connect-src 'self'; "
        "manifest-src 'self'; form-action 'self'; base-uri 'none'; frame-ancestors 'none'"
    )


#: A download that is opened in place of being saved is inert.
_POLICY_OF_FILES = "default-src 'none'; style-src 'unsafe-inline'; img-src data:; sandbox; frame-ancestors 'none'"


def _inline_scripts() -> list[str]:
    page = (Path(file_util.get_static_dir()) / "index.html").read_text(encoding="utf-8")
    return re.findall(r"<script>(.*?)</script>", page, re.DOTALL)


def _hash(script: str) -> str:
    return f"'sha256-{b64encode(sha256(script.encode()).digest()).decode()}'"


class Gate:
    """Refuses what no page of the app would send, and marks every answer."""

    def __init__(self, app: ASGIApp) -> None:
        self._app = app
        self._strangers = Counter[str]()

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] not in ("http", "websocket"):
            await self._app(scope, receive, send)
            return
        place = _place(scope)
        refusal = _refusal(scope, place)
        if scope["type"] == "websocket":
            await self._socket(scope, receive, send, refusal)
            return
        marked = _marking(send, place)
        if refusal is not None:
            await refusal(scope, receive, marked)
        elif place.startswith("/media/") and not login.logged_in(Headers(scope=scope)):
            await self._app(scope, receive, _without_files(scope, receive, marked))
        else:
            await self._app(scope, receive, marked)

    async def _socket(self, scope: Scope, receive: Receive, send: Send, refusal: Response | None) -> None:
        sender = login.sender(Headers(scope=scope))
        stranger = not sender.roles
        # A class sits behind one address: whoever has logged in, though without a role, is told apart by name.
        source = sender.name if sender.known else _address(scope)
        if refusal is not None or (stranger and self._full(source)):
            await send({"type": "websocket.close", "code": 1008})
            return
        self._strangers[source] += stranger
        try:
            await self._app(scope, _without_texts(receive, send), send)
        finally:
            self._strangers[source] -= stranger
            self._strangers += Counter()  # Forget sources that have none.

    def _full(self, source: str) -> bool:
        """Whether there are as many strangers as there may be, or as many from one address or of one name."""
        many = bool(source) and self._strangers[source] >= STRANGERS_OF_ONE
        return many or self._strangers.total() >= STRANGERS


def _without_texts(receive: Receive, send: Send) -> Receive:
    """End a connection that sends texts, as no page does, before Streamlit fails over one."""

    async def next_message() -> Message:
        message = await receive()
        if message["type"] != "websocket.receive" or message.get("bytes") is not None:
            return message
        await send({"type": "websocket.close", "code": 1003})
        return {"type": "websocket.disconnect", "code": 1003}

    return next_message


def _address(scope: Scope) -> str:
    """Where a connection comes from; nothing if a proxy on this machine does not say."""
    name: str = (scope.get("client") or ("", 0))[0]
    if not _in_digits(name):
        return name
    address = ipaddress.ip_address(name)
    # A server of IPv6 and IPv4 on one socket is told an IPv4 address as part of an IPv6 one.
    address = getattr(address, "ipv4_mapped", None) or address
    return "" if address.is_loopback else str(address)


def _place(scope: Scope) -> str:
    """The address below the path that the app is served at."""
    base = config.get_option("server.baseUrlPath").strip("/")
    path: str = scope["path"]
    return path.removeprefix(f"/{base}") if base else path


def _refusal(scope: Scope, place: str) -> Response | None:
    """The answer to a request that goes no further."""
    headers = Headers(scope=scope)
    hosts = headers.getlist("host")
    if len(hosts) != 1 or not host_allowed(hosts[0]):
        return PlainTextResponse(_WRONG_HOST, 400)
    changes = scope["type"] == "websocket" or scope["method"] not in _READING
    if changes and not _same_origin(headers.getlist("origin"), hosts[0]):
        return PlainTextResponse(_WRONG_ORIGIN, 403)
    if not _is_open(place):
        return PlainTextResponse("Not found", 404)
    if scope["type"] == "http" and changes and not place.startswith((_UPLOADS, programs.PLACE)):
        return PlainTextResponse("Method not allowed", 405)
    return None


def host_allowed(host: str) -> bool:
    """Whether the app answers to a name: a page of another site can point its own name here.

    Those of ``server.allowedHosts``. If there are none: this machine's own names and the address
    that it serves; if it serves all, any address in digits, since no site has such a name.
    """
    if config.get_option("server.allowedHosts"):
        return is_host_allowed(host)
    name = _name(host)
    served = (config.get_option("server.address") or "").strip("[]").lower()
    if name in _HOME_NAMES or (name and name == served):
        return True
    return served in _EVERYWHERE and _in_digits(name)


def _name(host: str) -> str:
    """The name in a Host header, or nothing if it is none."""
    try:
        parts = urlsplit(f"//{host}")
        _ = parts.port  # Raises if it is not a number.
    except ValueError:
        return ""
    return (parts.hostname or "") if parts.netloc == host and "@" not in host else ""


def _in_digits(name: str) -> bool:
    try:
        ipaddress.ip_address(name)
    except ValueError:
        return False
    return True


def _same_origin(origins: list[str], host: str) -> bool:
    """Whether a request comes from a page of this server; programs name no origin."""
    if not origins:
        return True
    [origin, *more] = origins
    try:
        same = urlsplit(origin).netloc.lower() == host.lower() or is_allowed_origin(origin)
    except ValueError:  # It is not an address.
        return False
    return same and not more


def _is_open(place: str) -> bool:
    if place.startswith("/component/"):
        return False
    if not place.startswith("/_stcore"):
        return True
    return place.startswith(_UPLOADS) or place in {f"/_stcore/{door}" for door in _DOORS}


def _marking(send: Send, place: str) -> Send:
    """Send with the headers of every answer; those of a download are stricter."""

    async def marked(message: Message) -> None:
        if message["type"] == "http.response.start":
            headers = MutableHeaders(scope=message)
            headers.update(_HEADERS)
            file = place.startswith("/media/")
            headers["Content-Security-Policy"] = _POLICY_OF_FILES if file else _policy()
            if file:
                headers["Cache-Control"] = "no-store"
        await send(message)

    return marked


def _without_files(scope: Scope, receive: Receive, send: Send) -> Send:
    """Send what is shown on a page, such as the logo, but no file to keep."""
    refused = False

    async def checked(message: Message) -> None:
        nonlocal refused
        if message["type"] == "http.response.start":
            refused = "content-disposition" in MutableHeaders(scope=message)
            if refused:
                await PlainTextResponse(_LOGIN_FIRST, 403)(scope, receive, send)
        if not refused:
            await send(message)

    return checked
