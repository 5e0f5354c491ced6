"""Requests that no page of the app would send, and what every answer tells the browser."""

from __future__ import annotations

import re
import warnings
from collections.abc import Iterator
from contextlib import suppress
from datetime import UTC, datetime
from pathlib import Path

import httpx
import pytest
from starlette.applications import Starlette
from starlette.datastructures import Headers
from starlette.requests import Request
from starlette.responses import PlainTextResponse, Response
from starlette.routing import Route, WebSocketRoute
from starlette.websockets import WebSocket, WebSocketDisconnect
from streamlit import config
from websockets.exceptions import ConnectionClosed, InvalidStatus
from websockets.sync.client import connect

from dpcore.workspace.people.users import LOCAL_USER, User
from pages.components.server import gate
from pages.components.visitor import login as logins
from tests.support.browsers.app_server import Server, serve
from tests.support.browsers.identity_provider import COOKIE_SECRET, cookies_of
from tests.support.browsers.streamlit_client import Session
from tests.support.rows import for_each

with warnings.catch_warnings(record=True):  # It announces what a later version will import.
    from starlette.testclient import TestClient

HOME = "http://localhost:8501"
POLICY = "content-security-policy"
SOCKET = "ws://localhost:8501/_stcore/stream"
UPLOAD = "/_stcore/upload_file/a/b"


@pytest.fixture
def settings(monkeypatch: pytest.MonkeyPatch) -> dict[str, object]:
    """Options of the server, as a test wants them."""
    chosen: dict[str, object] = {
        "server.allowedHosts": [],
        "server.address": "localhost",
        "server.baseUrlPath": "",
        "server.corsAllowedOrigins": [],
    }
    ask = config.get_option
    monkeypatch.setattr(config, "get_option", lambda key: chosen.get(key, ask(key)))
    return chosen


async def _page(request: Request) -> Response:
    file = request.url.path.endswith("file")
    named = {"content-disposition": "attachment; filename=x"} if file else {}
    return PlainTextResponse("a page", headers=named)


async def _socket(socket: WebSocket) -> None:
    await socket.accept()
    with suppress(WebSocketDisconnect):
        await socket.receive_bytes()


@pytest.fixture
def client(settings: dict[str, object]) -> TestClient:
    inner = Starlette(
        routes=[
            WebSocketRoute("/_stcore/stream", _socket),
            Route("/{path:path}", _page, methods=["GET", "POST", "PUT", "DELETE"]),
        ]
    )
    return TestClient(gate.Gate(inner), base_url=HOME)


@for_each(
    ("address", "host", "fits"),
    [
        ("localhost", "localhost:8501", True),
        ("localhost", "127.0.0.1:8501", True),
        ("localhost", "[::1]:8501", True),
        ("localhost", "LOCALHOST", True),
        ("localhost", "evil.example:8501", False),
        ("localhost", "localhost.evil.example", False),
        ("localhost", "10.0.0.7:8501", False),
        ("localhost", "evil@localhost", False),
        ("localhost", "localhost/x", False),
        ("localhost", "localhost:x", False),
        ("localhost", "", False),
        ("10.0.0.7", "10.0.0.7:8501", True),
        ("10.0.0.7", "10.0.0.8:8501", False),
        ("ward-pc", "ward-pc:8501", True),
        ("0.0.0.0", "10.0.0.7", True),
        ("0.0.0.0", "[fe80::1]:8501", True),
        ("0.0.0.0", "ward.evil.example", False),
        (None, "10.0.0.7", True),
        (None, "10.0.0.7.evil.example", False),
    ],
)
def test_which_hosts_a_local_installation_answers_to(settings, address, host, fits) -> None:
    settings["server.address"] = address
    assert gate.host_allowed(host) is fits


@for_each(
    ("host", "fits"),
    [
        ("frostglass.example", True),
        ("Frostglass.example:443", True),
        ("localhost", False),
        ("a.frostglass.example", False),
        ("evil.example", False),
    ],
)
def test_which_hosts_a_deployment_answers_to(settings, host, fits) -> None:
    settings["server.allowedHosts"] = ["frostglass.example"]
    settings["server.address"] = "127.0.0.1"
    assert gate.host_allowed(host) is fits


@for_each("path", ["/", "/custodian", "/media/x", "/_stcore/health", "/static/a.js"])
def test_a_name_that_somebody_pointed_here_gets_no_page(client: TestClient, path: str) -> None:
    answer = client.get(path, headers={"host": "evil.example:8501"})
    assert (answer.status_code, "server.allowedHosts" in answer.text) == (400, True)
    assert client.get(path).status_code == 200


@for_each(
    ("headers", "opens"),
    [
        ({}, True),
        ({"origin": HOME}, True),
        ({"origin": "http://localhost:3000"}, False),
        ({"origin": "http://127.0.0.1:8501"}, False),
        ({"origin": "null"}, False),
        ({"origin": "https://evil.example"}, False),
        ({"host": "evil.example", "origin": "http://evil.example"}, False),
    ],
)
def test_web_sockets_and_changes_come_from_pages_of_this_server(client, headers, opens) -> None:
    assert client.put(UPLOAD, headers=headers).is_success is opens
    if opens:
        with client.websocket_connect(SOCKET, headers=headers) as socket:
            socket.send_bytes(b"x")
    else:
        with pytest.raises(WebSocketDisconnect), client.websocket_connect(SOCKET, headers=headers):
            pass


@for_each("base", ["", "app"])
@for_each(
    ("path", "is_open"),
    [
        ("/_stcore/health", True),
        ("/_stcore/host-config", True),
        ("/_stcore/metrics", False),
        ("/_stcore/script-health-check", False),
        ("/_stcore/agent/openapi.json", False),
        ("/_stcore/agent/mcp", False),
        ("/_stcore/bidi-components/x/y.js", False),
        ("/_stcore/health/../metrics", False),
        ("/%5Fstcore/metrics", False),
        ("/component/x/index.html", False),
        ("/health", True),
    ],
)
def test_doors_that_no_page_needs_are_closed(client, settings, base, path, is_open) -> None:
    settings["server.baseUrlPath"] = base
    answer = client.get(f"/{base}{path}" if base else path)
    assert answer.status_code == (200 if is_open else 404)


@for_each("path", ["/", "/custodian", "/_stcore/health", "/media/x"])
def test_only_uploads_and_programs_send_a_body(client: TestClient, path: str) -> None:
    for method in ("POST", "PUT", "DELETE", "PATCH"):
        assert client.request(method, path, content=b"x" * 10).status_code == 405
    assert client.put(UPLOAD, content=b"x").is_success
    assert client.post("/api/v1/runs", content=b"{}").status_code != 405
    assert (
        client.post("/api/v1/runs", content=b"{}", headers={"origin": "https://elsewhere.example"}).status_code == 403
    )


def test_strangers_can_hold_only_so_many_sockets(client, monkeypatch) -> None:
    def sender(headers: Headers) -> User:
        return LOCAL_USER if headers.get("cookie") == "known" else logins.STRANGER

    monkeypatch.setattr(logins, "sender", sender)
    monkeypatch.setattr(gate, "STRANGERS", 2)
    with client.websocket_connect(SOCKET) as first, client.websocket_connect(SOCKET) as second:
        with pytest.raises(WebSocketDisconnect), client.websocket_connect(SOCKET):
            pass
        with client.websocket_connect(SOCKET, headers={"cookie": "known"}) as third:
            third.send_bytes(b"x")
        first.send_bytes(b"x")
        second.send_bytes(b"x")
    with client.websocket_connect(SOCKET) as again:
        again.send_bytes(b"x")


def test_who_sends_texts_is_shown_out(client) -> None:
    """Streamlit takes bytes alone, and fails over anything else."""
    with client.websocket_connect(SOCKET) as stranger:
        stranger.send_text("words")
        with pytest.raises(WebSocketDisconnect) as end:
            stranger.receive_bytes()
    assert end.value.code == 1003


@pytest.mark.parametrize(
    ("address", "limited"),
    [
        ("10.0.0.7", True),
        ("2001:db8::7", True),
        ("::ffff:10.0.0.7", True),
        ("127.0.0.1", False),
        ("::1", False),
        ("::ffff:127.0.0.1", False),
    ],
)
def test_one_address_cannot_hold_all_sockets_of_strangers(settings, monkeypatch, address: str, limited: bool) -> None:
    monkeypatch.setattr(logins, "sender", lambda _: logins.STRANGER)
    monkeypatch.setattr(gate, "STRANGERS_OF_ONE", 2)
    door = gate.Gate(Starlette(routes=[WebSocketRoute("/_stcore/stream", _socket)]))
    one, other = (TestClient(door, base_url=HOME, client=(name, 5)) for name in (address, "10.0.0.8"))
    with one.websocket_connect(SOCKET) as first, one.websocket_connect(SOCKET) as second:
        if limited:
            with pytest.raises(WebSocketDisconnect), one.websocket_connect(SOCKET):
                pass
        else:
            with one.websocket_connect(SOCKET) as third:
                third.send_bytes(b"x")
        with other.websocket_connect(SOCKET) as from_elsewhere:
            from_elsewhere.send_bytes(b"x")
        first.send_bytes(b"x")
        second.send_bytes(b"x")
    with one.websocket_connect(SOCKET) as again:
        again.send_bytes(b"x")
    assert not door._strangers


def test_a_class_without_roles_behind_one_address_is_told_apart_by_name(settings, monkeypatch) -> None:
    def sender(headers: Headers) -> User:
        return User(headers["cookie"], frozenset(), datetime(2999, 1, 1, tzinfo=UTC))

    monkeypatch.setattr(logins, "sender", sender)
    monkeypatch.setattr(gate, "STRANGERS_OF_ONE", 1)
    door = gate.Gate(Starlette(routes=[WebSocketRoute("/_stcore/stream", _socket)]))
    school = TestClient(door, base_url=HOME, client=("10.0.0.7", 5))
    ann, bob = {"cookie": "ann"}, {"cookie": "bob"}
    with (
        school.websocket_connect(SOCKET, headers=ann) as first,
        school.websocket_connect(SOCKET, headers=bob) as second,
    ):
        with pytest.raises(WebSocketDisconnect), school.websocket_connect(SOCKET, headers=ann):
            pass
        first.send_bytes(b"x")
        second.send_bytes(b"x")
    assert not door._strangers


@for_each("origin", ["http://[", "http://[::1", "//", "\x00"])
def test_an_origin_that_is_no_address_is_another_site(client, origin: str) -> None:
    answer = client.put("/_stcore/upload_file/x", headers={"origin": origin})
    assert (answer.status_code, "a page" in answer.text) == (403, False)


def test_a_file_needs_the_login_but_the_logo_does_not(client, monkeypatch) -> None:
    monkeypatch.setattr(logins, "logged_in", lambda headers: headers.get("cookie") == "known")
    assert client.get("/media/logo").text == "a page"
    refused = client.get("/media/file")
    assert (refused.status_code, "a page" in refused.text) == (403, False)
    assert "content-disposition" not in refused.headers
    kept = client.get("/media/file", headers={"cookie": "known"})
    assert (kept.text, kept.headers["cache-control"]) == ("a page", "no-store")


ROLES = '[analyst]\nemails = ["ann@x.org"]\n'


@pytest.fixture
def login(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    import streamlit as st

    rules = tmp_path / "roles.toml"
    rules.write_text(ROLES)
    monkeypatch.setenv("FROSTGLASS_ROLES", str(rules))
    secrets = {"auth": {"client_id": "frostglass", "cookie_secret": COOKIE_SECRET}}
    monkeypatch.setattr(st, "secrets", secrets)
    monkeypatch.setattr(logins, "get_cookie_secret", lambda: COOKIE_SECRET)
    logins.forget()
    yield
    logins.forget()


def with_cookies(cookies: dict[str, str]) -> Headers:
    return Headers({"cookie": "; ".join(f"{name}={value}" for name, value in cookies.items())})


def test_whose_cookies_are_a_login(login: None) -> None:
    ann = cookies_of(HOME, "ann@x.org")
    # Not the last one: some of its bits may belong to nothing.
    forged = {name: value[:-6] + ("A" if value[-6] != "A" else "B") + value[-5:] for name, value in ann.items()}
    assert logins.logged_in(with_cookies(ann))
    for cookies in (
        {},
        forged,
        {next(iter(ann)): "\xff"},
        cookies_of(HOME, "bob@x.org"),
        cookies_of(HOME, "ann@x.org", exp=1),
        cookies_of(HOME, "ann@x.org", is_logged_in=False),
        cookies_of(HOME, "ann@x.org", exp=None),
    ):
        assert not logins.logged_in(with_cookies(cookies)), cookies


def test_half_a_login_lets_nobody_download(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("FROSTGLASS_ROLES", "/nowhere/roles.toml")
    logins.forget()
    assert not logins.logged_in(Headers({}))
    logins.forget()


# A server


@pytest.fixture(scope="module")
def server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Server]:
    with serve(tmp_path_factory.mktemp("gate") / "home") as running:
        yield running


def test_every_answer_of_the_server_carries_the_headers(server: Server) -> None:
    home = httpx.get(server.url)
    script = re.search(r'src="\.(/static/js/[^"]+)"', home.text)
    assert script is not None
    paths = (
        "/",
        "/custodian",
        "/health",
        script[1],
        "/media/none",
        "/_stcore/metrics",
        "/_stcore/health",
        "/none.js",
        "//x",
        "/static/..%5cx",
    )
    for path in paths:
        answer = httpx.get(f"{server.url}{path}")
        assert "frame-ancestors 'none'" in answer.headers[POLICY], path
        assert answer.headers["x-content-type-options"] == "nosniff", path
        assert answer.headers["x-frame-options"] == "DENY", path
    policy = home.headers[POLICY]
    [scripts] = [part for part in policy.split("; ") if part.startswith("script-src")]
    assert scripts.count("unsafe") == 1
    assert "'wasm-unsafe-eval'" in scripts
    assert "http" not in policy
    assert "sandbox" in httpx.get(f"{server.url}/media/none").headers[POLICY]


def test_wrong_frames_of_strangers_do_not_fill_the_log(server: Server) -> None:
    """Neither what they send nor a traceback is written down, and a line only now and then."""
    before = len(server.log.read_text())
    address = server.url.replace("http", "ws") + "/_stcore/stream"
    for frame in (b"\xff" * 40, "words of a stranger", b"words of a stranger" * 9) * 5:
        with suppress(ConnectionClosed), connect(address) as socket:
            socket.send(frame)
            while True:
                socket.recv(5)
    written = server.log.read_text()[before:]
    assert "words of a stranger" not in written
    assert "Traceback" not in written
    assert len(written.splitlines()) < 5, written


def test_the_server_closes_its_doors(server: Server) -> None:
    assert httpx.get(f"{server.url}/_stcore/metrics").status_code == 404
    assert httpx.get(f"{server.url}/_stcore/agent/openapi.json").status_code == 404
    assert httpx.post(f"{server.url}/_stcore/agent/mcp", json={}).status_code == 404
    assert httpx.get(f"{server.url}/_stcore/host-config").json()["allowedOrigins"] == []
    rebound = httpx.get(f"{server.url}/custodian", headers={"host": "evil.example"})
    assert rebound.status_code == 400


@pytest.mark.parametrize("origin", ["https://evil.example", "http://localhost:1", "null"])
def test_the_server_opens_no_socket_for_another_site(server: Server, origin: str) -> None:
    address = f"{server.url.replace('http', 'ws')}/_stcore/stream"
    with pytest.raises(InvalidStatus), connect(address, origin=origin):  # type: ignore[arg-type]
        pass
    with Session(server.url) as session:  # As a page of its own does.
        session.open()


def test_an_upload_needs_the_token_of_its_page(server: Server) -> None:
    upload = f"{server.url}{UPLOAD}"
    own = {"origin": server.url}
    assert httpx.put(upload, files={"file": b"x"}, headers=own).status_code == 403
    foreign = {"origin": "https://evil.example"}
    assert httpx.put(upload, files={"file": b"x"}, headers=foreign).status_code == 403
