"""What programs may ask of a running application: budget, run, release, in place of a visitor at a page.

A program shows a token that its user got on a page, and may do what that user may do as an analyst
or a teacher: the same service answers, with the same rules, budgets and refusals. Nothing here
reads cookies, so no page of another site can ask in a visitor's name.
"""

from __future__ import annotations

import json
import logging
from collections.abc import Callable
from typing import Any

from pydantic import Field, ValidationError
from starlette.concurrency import run_in_threadpool
from starlette.requests import Request
from starlette.responses import JSONResponse, Response
from starlette.routing import Route

from dpcore.errors import (
    AccessError,
    AwayError,
    BudgetError,
    ConflictError,
    FrostglassError,
    InstallationError,
    LoginError,
    NotFoundError,
    RequestError,
)
from dpcore.frozen import FrozenModel
from dpcore.service import Service
from dpcore.validation import explain_validation
from dpcore.workspace.ledger.requests import RunRequest
from pages.components.visitor import access

#: Addresses below are for programs.
PLACE = "/api/v1/"
_LARGEST = 1 << 16
_NO_TOKEN = "Send a token as 'Authorization: Bearer ...'. Get one on the page Data sets."
_FAULT = "Something went wrong on the server. Nothing more than the run's price can have been spent."
_STATUS: tuple[tuple[type[FrostglassError], int], ...] = (
    (LoginError, 401),
    (AccessError, 403),
    (NotFoundError, 404),
    (ConflictError, 409),
    (BudgetError, 409),
    (AwayError, 503),
    (InstallationError, 503),
)
_log = logging.getLogger("frostglass.programs")


class _Asked(FrozenModel):
    """A run as a program asks for it: its data set by name or identifier."""

    dataset: str = Field(min_length=1, max_length=128)
    algorithm: str = Field(max_length=64)
    target: str = Field(default="", max_length=128)
    epsilon: Any
    parameters: dict[str, Any] = Field(default_factory=dict)
    pure: bool = False
    nonce: str = Field(min_length=16, max_length=128)


async def budget(request: Request) -> Response:
    """What the token's owner may still spend on a data set."""
    name = request.query_params.get("dataset", "")
    return await _answered(lambda: _budget(_service(request), name))


async def start_run(request: Request) -> Response:
    """Spend on a run. The same nonce with the same request is the same run, and spends once."""
    try:
        content = await _body(request)
    except RequestError as mistake:
        return _refused(mistake)
    return await _answered(lambda: _start(_service(request), content))


async def run(request: Request) -> Response:
    """Where a run stands."""
    return await _answered(lambda: _run(_service(request), request.path_params["run"]))


async def release(request: Request) -> Response:
    """A result, as it is stored."""
    return await _answered(lambda: json.loads(_service(request).release(request.path_params["release"]).to_json()))


ROUTES = [
    Route(f"{PLACE}budget", budget),
    Route(f"{PLACE}runs", start_run, methods=["POST"]),
    Route(PLACE + "runs/{run:str}", run),
    Route(PLACE + "releases/{release:str}", release),
]


def _service(request: Request) -> Service:
    """The service, acting as the owner of the token that was sent."""
    kind, _, token = request.headers.get("authorization", "").partition(" ")
    if kind.lower() != "bearer" or not token.strip():
        raise LoginError(_NO_TOKEN)
    return access.service_by(token.strip())


def _budget(service: Service, name: str) -> dict[str, str]:
    dataset = service.dataset(name)
    balance = service.balance(dataset.id)
    amounts = {name: getattr(balance, name) for name in ("cap", "delta", "run_delta", "spent", "reserved", "left")}
    amounts["largest"] = balance.largest()
    return {"dataset": dataset.name, **{name: f"{amount:f}" for name, amount in amounts.items()}}


def _start(service: Service, content: object) -> dict[str, str]:
    try:
        asked = _Asked.model_validate(content)
    except ValidationError as error:
        raise RequestError(explain_validation(error, whole="request")) from None
    request = RunRequest(
        dataset_id=service.dataset(asked.dataset).id,
        algorithm=asked.algorithm,
        target=asked.target,
        epsilon=asked.epsilon,
        parameters=asked.parameters,
        pure=asked.pure,
    )
    return {"run": service.submit(request, asked.nonce)}


def _run(service: Service, run_id: str) -> dict[str, Any]:
    status = service.run(run_id)
    told = ("id", "state", "step", "done", "total", "message", "charged", "ahead")
    found = {name: getattr(status, name) for name in told}
    return {**found, "release": status.release_id, "active": status.active}


async def _body(request: Request) -> object:
    content = bytearray()
    async for part in request.stream():
        content += part
        if len(content) > _LARGEST:
            raise RequestError("A request may have at most 64 KiB.")
    try:
        return json.loads(bytes(content))
    except (ValueError, RecursionError):
        raise RequestError("A request must be JSON.") from None


async def _answered(work: Callable[[], Any]) -> Response:
    try:
        content = await run_in_threadpool(work)
    except FrostglassError as mistake:
        return _refused(mistake)
    except Exception as error:  # noqa: BLE001 - no traceback leaves the server, whatever happened.
        _log.error("a program's request failed: %s", type(error).__name__)
        return _json({"error": _FAULT}, 500)
    return _json(content, 200)


def _refused(mistake: FrostglassError) -> Response:
    status = next((status for kind, status in _STATUS if isinstance(mistake, kind)), 422)
    return _json({"error": str(mistake)}, status)


def _json(content: Any, status: int) -> Response:
    return JSONResponse(content, status, headers={"Cache-Control": "no-store"})
