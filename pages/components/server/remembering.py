"""The address whose answer sets a cookie: see :mod:`pages.components.visitor.remembered`."""

from __future__ import annotations

from urllib.parse import quote

from starlette.requests import Request
from starlette.responses import Response

from pages.components.visitor import remembered

_NOTHING = '<svg xmlns="http://www.w3.org/2000/svg" width="1" height="1"/>'


async def remember(request: Request) -> Response:
    """An empty picture, and a cookie; no cookie for what no page of this server asks for."""
    answer = Response(_NOTHING, media_type="image/svg+xml", headers={"Cache-Control": "no-store"})
    name, value = request.query_params.get("name", ""), request.query_params.get("value", "")
    own = request.headers.get("sec-fetch-site", "same-origin") == "same-origin"
    if own and remembered.fits(name, value):
        answer.set_cookie(
            remembered.cookie(name),
            quote(value, safe=""),
            max_age=remembered.SECONDS[name] if value else 0,
            httponly=True,
            samesite="lax",
            secure=request.url.scheme == "https",
        )
    return answer
