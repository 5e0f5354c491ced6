"""A program at a running application: the client, over HTTP, against the server's own routes."""

from __future__ import annotations

import asyncio
import json
import sys
from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from decimal import Decimal
from types import SimpleNamespace
from typing import Any

import httpx
import pytest
from starlette.applications import Starlette

import dpcore
from dpcore import Client, figures
from dpcore.client import RefusedError, RunFailedError, UnansweredError
from dpcore.errors import RequestError
from dpcore.released.release import Release
from dpcore.service import Service
from dpcore.workspace.people.users import User
from pages.components.server import programs
from pages.components.visitor import access
from tests.support.pages.page_tools import home
from tests.support.pages.ward_runs import add_ward
from tests.support.rows import for_each

__all__ = ["home"]
ANN = User("ann@x.org", frozenset({"analyst"}), datetime.now(UTC) + timedelta(hours=1))
NONCE = "a nonce of a run of Ann's"


def sent(method: str, url: str, **more: Any) -> httpx.Response:
    """What the server's own routes answer."""

    async def ask() -> httpx.Response:
        routes = httpx.ASGITransport(Starlette(routes=programs.ROUTES))
        async with httpx.AsyncClient(transport=routes, base_url="http://localhost:8501") as server:
            return await server.request(method, url, **more)

    return asyncio.run(ask())


class Wire(httpx.BaseTransport):
    """Carries requests to the server's routes; may lose answers on the way."""

    def __init__(self) -> None:
        self.lose = 0

    def handle_request(self, request: httpx.Request) -> httpx.Response:
        answer = sent(request.method, str(request.url), content=request.read(), headers=dict(request.headers))
        if self.lose:
            self.lose -= 1
            raise httpx.ReadError("cut off")
        return httpx.Response(answer.status_code, content=answer.content)


@pytest.fixture
def wire(monkeypatch: pytest.MonkeyPatch) -> Wire:
    monkeypatch.setattr("dpcore.client._PAUSE", 0.0)
    return Wire()


@pytest.fixture
def client(wire: Wire) -> Iterator[Client]:
    add_ward()
    access.installation().grant(access.installation().datasets()[0].id, ANN.name, Decimal(2), "for a study")
    token = access.installation().acting(ANN).issue_token().text
    with Client("http://localhost:8501", token, transport=wire) as made:
        yield made


def ann() -> Service:
    return access.installation().acting(ANN)


def test_budget_run_release(client: Client, monkeypatch: pytest.MonkeyPatch) -> None:
    before = client.budget("ward")
    assert (before.cap, before.left, before.largest) == (2, 1, ann().balance("ward").largest())
    seen: list[tuple[int, int]] = []
    release = client.run(
        "ward", "tree", target="died", epsilon=0.5, pure=True, blocks=[1], progress=lambda *n: seen.append(n)
    )
    assert release == ann().releases()[0]
    assert release.parameters["blocks"] == [1]
    assert client.release(release.id) == release
    assert client.budget("ward").spent * before.cap == release.certificate.epsilon == Decimal("0.5")
    access.installation().raise_caps("ward", budget=Decimal(4))
    access.installation().charge("ward", Decimal(2), Decimal("2e-6"), Decimal("0.2"), note="many small runs")
    after, own = client.budget("ward"), ann().balance("ward")
    assert (after.left, after.largest) == (own.left, own.largest())
    assert figures(release)
    assert "Certificate" in _in_notebook(monkeypatch, release)


def _in_notebook(monkeypatch: pytest.MonkeyPatch, release: Release) -> str:
    """What IPython shows, by the formatter that the package registers with it."""
    known: dict[tuple[str, str], Any] = {}
    formatter = SimpleNamespace(for_type_by_name=lambda module, name, shown: known.update({(module, name): shown}))
    shell = SimpleNamespace(display_formatter=SimpleNamespace(formatters={"text/html": formatter}))
    monkeypatch.setitem(sys.modules, "IPython", SimpleNamespace(get_ipython=lambda: shell))
    dpcore._show_in_notebooks()
    return str(known[Release.__module__, Release.__name__](release))


def test_a_lost_answer_spends_once(client: Client, wire: Wire) -> None:
    wire.lose = 3
    first = client.run("ward", "rule_list", target="died", epsilon="0.5", pool_size=200, nonce=NONCE)
    again = client.run("ward", "rule_list", target="died", epsilon="0.5", pool_size=200, nonce=NONCE)
    assert first == again
    assert len(ann().runs()) == 1
    after = client.budget("ward")
    assert (first.certificate.epsilon, first.certificate.delta) == (Decimal("0.5"), after.run_delta)
    assert after.spent == 1 - after.left == ann().balance("ward").spent > 0
    wire.lose = 9
    with pytest.raises(RefusedError, match="cannot be reached"):
        client.budget("ward")


@pytest.mark.parametrize(
    ("asked", "status", "told"),
    [
        ({"epsilon": 9}, 409, "left"),
        ({"epsilon": -1}, 409, "Epsilon"),
        ({"epsilon": 0.5, "algorithm": "rule_list", "sampler": "mcmc"}, 409, "only the custodian"),
        ({"epsilon": 0.5, "dataset": "nothing"}, 404, "no such data set"),
        ({"epsilon": 0.5, "algorithm": "oracle"}, 422, "oracle"),
        ({"epsilon": 0.5, "target": "nothing"}, 422, "nothing"),
        ({"epsilon": 0.5, "blocks": "two"}, 422, "blocks"),
        ({"epsilon": 0.5, "nonce": "short"}, 422, "nonce"),
    ],
)
def test_what_cannot_be_honoured_is_refused_in_a_sentence_and_costs_nothing(
    client: Client, asked: dict[str, Any], status: int, told: str
) -> None:
    request = {"dataset": "ward", "algorithm": "tree", "target": "died", **asked}
    with pytest.raises(RefusedError, match=told) as refusal:
        client.run(request.pop("dataset"), request.pop("algorithm"), **request)
    assert refusal.value.status == status
    assert client.budget("ward").left == 1


def test_a_token_is_needed_and_opens_no_more_than_its_owner_may(client: Client, wire: Wire) -> None:
    other = access.installation().acting(User("bob@x.org", frozenset({"analyst"}), ANN.expires))
    hers = client.run("ward", "tree", target="died", epsilon=0.5)
    for token, status in (("fgt_wrong", 401), (other.issue_token().text, 404)):
        with Client("https://frostglass.example", token, transport=wire) as stranger:
            with pytest.raises(RefusedError) as refusal:
                stranger.release(hers.id)
            assert refusal.value.status == status
    ann().end_tokens()
    with pytest.raises(RefusedError, match="not good"):
        client.release(hers.id)
    assert sent("GET", "/api/v1/budget?dataset=ward").status_code == 401


@pytest.mark.parametrize("content", [b"", b"{", b"[]", b"[" * 60_000, b'"' + b"x" * 70_000 + b'"', b"\xff", b"{}"])
def test_what_is_no_request_is_told_so(client: Client, content: bytes) -> None:
    token = {"authorization": client._http.headers["authorization"]}
    answer = sent("POST", "/api/v1/runs", content=content, headers=token)
    assert answer.status_code == 422
    assert set(answer.json()) == {"error"}


@pytest.mark.parametrize("epsilon", [True, None, [0.5], {}, "a half", float("inf"), 10**300])
def test_what_is_no_epsilon_is_never_taken_for_one(client: Client, epsilon: object) -> None:
    token = {"authorization": client._http.headers["authorization"]}
    asked = {"dataset": "ward", "algorithm": "tree", "target": "died", "epsilon": epsilon, "nonce": NONCE}
    answer = sent("POST", "/api/v1/runs", content=json.dumps(asked).encode(), headers=token)
    assert answer.status_code == 409
    assert answer.json()["error"].startswith("Epsilon must be")
    assert client.budget("ward").reserved == 0
    assert client.budget("ward").left == 1


def test_what_goes_wrong_on_the_server_says_nothing_of_it(client: Client, monkeypatch: pytest.MonkeyPatch) -> None:
    def broken(*_: object) -> None:
        raise ValueError("age 47")

    monkeypatch.setattr(Service, "balance", broken)
    with pytest.raises(RefusedError, match="Something went wrong") as refusal:
        client.budget("ward")
    assert refusal.value.status == 500


def test_a_run_that_ends_without_a_result_says_why(client: Client, monkeypatch: pytest.MonkeyPatch) -> None:
    asked = client._ask

    def ended(method: str, place: str, **more: Any) -> dict[str, Any]:
        found = asked(method, place, **more)
        return {**found, "release": None, "message": "It was stopped."} if place.startswith("runs/") else found

    monkeypatch.setattr(client, "_ask", ended)
    with pytest.raises(RunFailedError, match="It was stopped"):
        client.run("ward", "tree", target="died", epsilon=0.5)


def test_waiting_ends_and_the_run_goes_on(client: Client, monkeypatch: pytest.MonkeyPatch) -> None:
    asked = client._ask

    def waiting(method: str, place: str, **more: Any) -> dict[str, Any]:
        found = asked(method, place, **more)
        return {**found, "active": True} if place.startswith("runs/") else found

    monkeypatch.setattr(client, "_ask", waiting)
    with pytest.raises(TimeoutError, match=NONCE):
        client.run("ward", "tree", target="died", epsilon=0.5, timeout=0, nonce=NONCE)
    monkeypatch.setattr(client, "_ask", asked)
    assert client.run("ward", "tree", target="died", epsilon=0.5, nonce=NONCE) == ann().releases()[0]


def answering(posted: httpx.Response | None, then: httpx.Response | None = None) -> Client:
    """A client of a server that answers so to what spends, and to everything else; ``None``: not at all."""

    def answer(request: httpx.Request) -> httpx.Response:
        chosen = posted if request.method == "POST" else then
        if chosen is None:
            raise httpx.ReadError("cut off")
        return chosen

    return Client("http://localhost:1", "fgt_x", transport=httpx.MockTransport(answer))


@pytest.mark.parametrize(
    ("posted", "then", "run"),
    [
        (httpx.Response(200, json={"run": "run-7"}), httpx.Response(502, content=b"<html>"), "run-7"),
        (httpx.Response(200, json={"run": "run-7"}), httpx.Response(401, json={"error": "Get a token."}), "run-7"),
        (httpx.Response(200, json={"run": "run-7"}), None, "run-7"),
        (None, None, None),
        (httpx.Response(502, content=b"<html>"), None, None),
        (httpx.Response(500, json={"error": "Something went wrong."}), None, None),
        (httpx.Response(403, content=b"<html>"), None, None),
        (httpx.Response(200, json={}), None, None),
    ],
)
def test_what_may_be_spent_is_never_said_to_be_refused(
    wire: Wire, posted: httpx.Response | None, then: httpx.Response | None, run: str | None
) -> None:
    with answering(posted, then) as client, pytest.raises(UnansweredError) as lost:
        client.run("ward", "tree", target="died", epsilon=0.5)
    assert lost.value.run == run
    assert f"nonce={lost.value.nonce!r}" in str(lost.value)
    assert ("run-7 was accepted" if run else "not known whether") in str(lost.value)


def test_a_refusal_after_a_lost_answer_does_not_say_that_nothing_is_spent(client: Client, wire: Wire) -> None:
    def ends_tokens(request: httpx.Request) -> httpx.Response:
        answer = wire.handle_request(request)
        if answer.status_code != 200:
            return answer
        ann().end_tokens()
        raise httpx.ReadError("cut off")

    client._http._transport = httpx.MockTransport(ends_tokens)
    with pytest.raises(UnansweredError, match="token") as lost:
        client.run("ward", "tree", target="died", epsilon=0.5, nonce=NONCE)
    assert lost.value.nonce == NONCE
    assert len(ann().runs()) == 1


@for_each("url", ["http://frostglass.example", "frostglass.example", "ftp://localhost", "http://", ""])
def test_no_token_is_sent_in_the_clear(url: str) -> None:
    with pytest.raises(RequestError, match="https://"):
        Client(url, "fgt_x")


@for_each("content", [b"<html>", b"[]", json.dumps("x").encode()])
def test_another_server_is_told_apart(content: bytes) -> None:
    silent = httpx.MockTransport(lambda _: httpx.Response(200, content=content))
    with (
        Client("http://localhost:1", "fgt_x", transport=silent) as made,
        pytest.raises(RefusedError, match="not Frost"),
    ):
        made.budget("ward")
