"""Commands that spend part of a budget on a private model: one for each family."""

from __future__ import annotations

import uuid
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer
from pydantic import BaseModel, ValidationError

from dpcore.commands.groups import make_group
from dpcore.commands.options import with_options
from dpcore.commands.shell import Dataset, RunFailedError, check_new, write_new
from dpcore.commands.text import quote_text, release_text
from dpcore.errors import RequestError
from dpcore.models.released import FAMILIES
from dpcore.released.release import Release
from dpcore.validation import explain_validation
from dpcore.workspace.ledger.requests import RunRequest

if TYPE_CHECKING:
    from dpcore.rehearsal import Rehearsal
    from dpcore.service import Service

Target = Annotated[str, typer.Option(metavar="COLUMN", help="What to predict.")]
Epsilon = Annotated[
    str,
    typer.Option(metavar="EPSILON", help="What the run promises: less is more private."),
]
QuoteOnly = Annotated[bool, typer.Option("--quote", help="Only say what it would promise and take: free.")]
Rehearse = Annotated[
    bool,
    typer.Option("--rehearse", help="Run on made-up records, shaped by schema and earlier releases: free."),
]
Output = Annotated[
    Path | None,
    typer.Option(
        "--output",
        "-o",
        help="New file for the release, as JSON. Default: release-ID.json in this folder.",
    ),
]
Pure = Annotated[
    bool,
    typer.Option("--pure", help="Promise epsilon alone and no delta, if there is a choice, with more noise."),
]
Nonce = Annotated[
    str | None,
    typer.Option(help="Repeating a command with the same nonce spends once. Default: random."),
]
_SPENDS = """
This takes a share of the data set's budget for good, prints what was found and writes the release
as JSON. Look first with --quote (share and promise) and --rehearse (what the result will look like); both are
free. So is reading a release again: see 'release --help'.
"""


def fit(
    parameters: BaseModel,
    algorithm: str,
    dataset: Dataset,
    target: Target,
    epsilon: Epsilon,
    quote: QuoteOnly = False,
    rehearse: Rehearse = False,
    output: Output = None,
    nonce: Nonce = None,
    pure: Pure = False,
) -> None:
    """Quote, rehearse or spend; print the release and write it to a file."""
    if quote and rehearse:
        raise RequestError("Choose one of --quote and --rehearse.")
    if output is not None:
        check_new(output)
    from dpcore.commands.opening import open_service  # Help needs the families alone.

    release: Release
    with open_service() as service:
        request = _request(
            dataset_id=service.dataset(dataset).id,
            algorithm=algorithm,
            target=target,
            epsilon=epsilon,
            parameters=parameters.model_dump(mode="json"),
            pure=pure,
        )
        if quote:
            typer.echo(quote_text(service.quote(request)))
            return
        if rehearse:
            release = rehearsed = service.rehearse(request)
            typer.echo(_rehearsal_heading(rehearsed))
        else:
            release = _spend(service, request, nonce or uuid.uuid4().hex)
    if output is not None or not rehearse:
        write_new(output or Path(f"release-{release.id}.json"), release.to_json() + "\n")
    typer.echo(release_text(release))


def _rehearsal_heading(rehearsed: Rehearsal) -> str:
    used = len(rehearsed.shaped_by)
    shape = (
        f"shaped by what {used} earlier release{'s' if used > 1 else ''} revealed"
        if used
        else "shaped by the schema alone"
    )
    return f"REHEARSAL on made-up records, {shape}; nothing was spent.\n"


def _request(**asked: Any) -> RunRequest:
    try:
        return RunRequest(**asked)
    except ValidationError as error:
        raise RequestError(explain_validation(error)) from None


def _spend(service: Service, request: RunRequest, nonce: str) -> Release:
    quote = service.quote(request)
    if quote.affordable:
        typer.echo(f"This takes {quote.forecast.text}.", err=True)
    status = service.wait(service.submit(request, nonce))
    if status.state != "done" or status.release_id is None:
        raise RunFailedError(status.message)
    return service.release(status.release_id)


app = make_group()
for own in FAMILIES.values():
    app.command(own.name.replace("_", "-"), help=f"{own.lead}\n{_SPENDS}")(
        with_options(
            own.parameters,
            fit,
            before="quote",
            fixed={"algorithm": own.name} | ({} if own.targeted else {"target": ""}),
            without=("delta",),  # It follows from that of the data set's budget.
        )
    )
