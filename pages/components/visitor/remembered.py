"""What a browser remembers from one visit to the next: a few cookies, brought by a picture without content.

Pages run beside a web socket, and no script of ours runs in the browser: only an answer to a request
can set a cookie. So a page shows an empty picture whose address says what is to be remembered.
"""

from __future__ import annotations

import re
from urllib.parse import quote, unquote, urlencode

import streamlit as st
from starlette.requests import Request
from starlette.responses import Response

#: Whether the tour was seen, the page on which a login ended, and what tells browsers apart in a classroom.
TOUR, PLACE, SEAT = "tour", "place", "seat"
#: How long each is remembered, in seconds.
SECONDS = {TOUR: 365 * 24 * 3600, PLACE: 3600, SEAT: 24 * 3600}
ADDRESS = "remember"
_NOTHING = '<svg xmlns="http://www.w3.org/2000/svg" width="1" height="1"/>'
_VALUE = re.compile(r"[\w=&%+.~?-]{0,400}", re.ASCII)


def cookie(name: str) -> str:
    """Name of the cookie."""
    return f"frostglass-{name}"


def fits(name: str, value: str) -> bool:
    """Whether this may be remembered at all."""
    return name in SECONDS and _VALUE.fullmatch(value) is not None


def remember(name: str, value: str) -> None:
    """Have the browser remember this; an empty value forgets what was."""
    if fits(name, value):
        st.html(f'<img class="fg-nothing" alt="" src="{ADDRESS}?{urlencode({"name": name, "value": value})}">')


def remembered(name: str) -> str:
    """What the browser remembered when it came; empty if nothing."""
    kept: object = st.context.cookies.get(cookie(name))
    value = unquote(kept) if isinstance(kept, str) else ""  # Without a server there are none.
    return value if fits(name, value) else ""


async def answer(request: Request) -> Response:
    """An empty picture, and a cookie; no cookie for what no page of this server asks for."""
    given = Response(_NOTHING, media_type="image/svg+xml", headers={"Cache-Control": "no-store"})
    name, value = request.query_params.get("name", ""), request.query_params.get("value", "")
    own = request.headers.get("sec-fetch-site", "same-origin") == "same-origin"
    if own and fits(name, value):
        given.set_cookie(
            cookie(name),
            quote(value, safe=""),
            max_age=SECONDS[name] if value else 0,
            httponly=True,
            samesite="lax",
            secure=request.url.scheme == "https",
        )
    return given
