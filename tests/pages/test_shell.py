"""The first page that a browser gets: with the style sheet, whatever it has kept of an older one."""

from __future__ import annotations

import re
import warnings
from pathlib import Path
from urllib.parse import urljoin

import pytest
from starlette.applications import Starlette
from starlette.requests import Request
from starlette.responses import HTMLResponse, JSONResponse, Response
from starlette.routing import Route
from streamlit import file_util

from pages.components.kit.texts import ASSETS
from pages.components.server import shell

with warnings.catch_warnings(record=True):  # It announces what a later version will import.
    from starlette.testclient import TestClient

PAGE = (Path(file_util.get_static_dir()) / "index.html").read_text(encoding="utf-8")
LINK = re.compile(r'<link rel="stylesheet" href="\./(style-[0-9a-f]{16}\.css)">')
SCRIPT = re.compile(r'<script src="\./(mend-[0-9a-f]{16}\.js)"></script>')


async def _page(request: Request) -> Response:
    """As Streamlit does: a browser that has kept the page need not get it again."""
    if request.headers.get("if-none-match") == "kept":
        return Response(status_code=304)
    return HTMLResponse(PAGE, headers={"etag": "kept", "last-modified": "yesterday", "cache-control": "no-cache"})


async def _other(_request: Request) -> Response:
    return JSONResponse({"text": '<div id="root">'}, headers={"etag": "kept"})


@pytest.fixture(scope="module")
def client() -> TestClient:
    routes = [Route("/data.json", _other), Route("/health", _other), Route("/{path:path}", _page)]
    return TestClient(shell.Shell(Starlette(routes=routes)))


@pytest.mark.parametrize(
    "path", ["/", "/rule_list", "/releases?dataset=a.b", "/below/rule_list", "/ward-0.1/", "/apis/media-2.0/rule_list"]
)
@pytest.mark.parametrize("headers", [{}, {"if-none-match": "kept"}, {"range": "bytes=0-9"}])
def test_every_page_names_the_sheet_behind_the_styles_of_its_head(client, path, headers) -> None:
    answer = client.get(path, headers=headers)
    assert answer.status_code == 200
    [found] = LINK.finditer(answer.text)
    head, root = answer.text.index("</head>"), answer.text.index('<div id="root">')
    assert head < found.start() < root
    assert "<title>Frostglass</title>" in answer.text
    assert int(answer.headers["content-length"]) == len(answer.content)
    assert not {"etag", "last-modified"} & set(answer.headers)
    assert answer.headers["cache-control"] == "no-cache"
    sheet = client.get(urljoin(path, found[1]))
    assert sheet.text == (ASSETS / "style.css").read_text(encoding="utf-8")
    assert sheet.headers["content-type"].startswith("text/css")
    assert "immutable" in sheet.headers["cache-control"]
    [named] = SCRIPT.findall(answer.text)
    script = client.get(urljoin(path, named))
    assert script.text == (ASSETS / "mend.js").read_text(encoding="utf-8")
    assert script.headers["content-type"].startswith("text/javascript")


@pytest.mark.parametrize("path", ["/data.json", "/health"])
def test_what_is_no_page_stays_as_it_is(client, path: str) -> None:
    answer = client.get(path)
    assert answer.json() == {"text": '<div id="root">'}
    assert answer.headers["etag"] == "kept"
