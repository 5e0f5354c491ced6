"""What all commands that spend a budget share: options, request, run, output."""

from __future__ import annotations

import uuid
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer
from pydantic import ValidationError

from dpcore.commands.shell import RunFailedError, check_new, open_service, write_new
from dpcore.commands.text import quote_text, release_text
from dpcore.errors import RequestError
from dpcore.privacy.budgets import parse_epsilon
from dpcore.validation import explain_validation

if TYPE_CHECKING:
    from dpcore.rehearsal import Rehearsal
    from dpcore.released.release import Release
    from dpcore.service import Service
    from dpcore.workspace.requests import RunRequest

Target = Annotated[str, typer.Option(metavar="COLUMN", help="What to predict.")]
Epsilon = Annotated[
    str, typer.Option(metavar="EPSILON", help="What to spend: less is more private.")
]
Evaluate = Annotated[
    bool, typer.Option(help="Hold people out and evaluate on them, at no extra cost.")
]
QuoteOnly = Annotated[
    bool, typer.Option("--quote", help="Only say what it would cost and promise: free.")
]
Rehearse = Annotated[
    bool,
    typer.Option(
        "--rehearse", help="Run on made-up records, shaped by schema and earlier releases: free."
    ),
]
Output = Annotated[
    Path | None,
    typer.Option(
        "--output",
        "-o",
        help="New file for the release, as JSON. Default: release-ID.json in this folder.",
    ),
]
Nonce = Annotated[
    str | None,
    typer.Option(help="Repeating a command with the same nonce spends once. Default: random."),
]


@dataclass(frozen=True)
class FitRequest:
    """What one command line asks for: what to fit, and what to do about it.

    Attributes
    ----------
    target : str
        Column to be predicted; empty for a learner that predicts none.
    """

    algorithm: str
    dataset: str
    target: str
    epsilon: str
    parameters: dict[str, Any]
    quote: bool
    rehearse: bool
    output: Path | None
    nonce: str | None


def fit(asked: FitRequest) -> None:
    """Quote, rehearse or spend; print the release and write it to a file."""
    if asked.quote and asked.rehearse:
        raise RequestError("Choose one of --quote and --rehearse.")
    if asked.output is not None:
        check_new(asked.output)
    release: Release
    with open_service() as service:
        request = _request(service, asked)
        if asked.quote:
            typer.echo(quote_text(service.quote(request)))
            return
        if asked.rehearse:
            release = rehearsed = service.rehearse(request)
            typer.echo(_rehearsal_heading(rehearsed))
        else:
            release = _spend(service, request, asked.nonce or uuid.uuid4().hex)
    typer.echo(release_text(release))
    if asked.output is not None or not asked.rehearse:
        write_new(asked.output or Path(f"release-{release.id}.json"), release.to_json() + "\n")


def _rehearsal_heading(rehearsed: Rehearsal) -> str:
    used = len(rehearsed.shaped_by)
    shape = (
        f"shaped by what {used} earlier release{'s' if used > 1 else ''} revealed"
        if used
        else "shaped by the schema alone"
    )
    return f"REHEARSAL on made-up records, {shape}; nothing was spent.\n"


def _request(service: Service, asked: FitRequest) -> RunRequest:
    from dpcore.workspace.requests import RunRequest

    try:
        return RunRequest(
            dataset_id=service.dataset(asked.dataset).id,
            algorithm=asked.algorithm,
            target=asked.target,
            epsilon=parse_epsilon(asked.epsilon),
            parameters=asked.parameters,
        )
    except ValidationError as error:
        raise RequestError(explain_validation(error)) from None


def _spend(service: Service, request: RunRequest, nonce: str) -> Release:
    status = service.wait(service.submit(request, nonce))
    if status.state != "done" or status.release_id is None:
        raise RunFailedError(status.message)
    return service.release(status.release_id)
