"""``release redescriptions``: read a release of redescriptions again, with other constraints."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from dpcore.commands.options import with_options
from dpcore.commands.shell import check_new, find_release, write_new
from dpcore.errors import RequestError
from dpcore.models.redescriptions.released.extraction import Constraints
from dpcore.spreadsheets import frame_csv

if TYPE_CHECKING:
    from dpcore.models.redescriptions.released.redescription_model import RedescriptionModel
    from dpcore.models.redescriptions.released.redescription_set import RedescriptionSet


def _redescriptions(
    constraints: Constraints,
    release: Annotated[str, typer.Argument(help="Id of a release, or a release file.")],
    csv: Annotated[Path | None, typer.Option(help="New file for all that are found, as a table.")] = None,
) -> None:
    """Read the redescriptions of a release under other constraints, as often as you like: free."""
    from dpcore.commands.text import blocks_text
    from dpcore.models.redescriptions.released.reading import read_found

    if csv is not None:
        check_new(csv)
    found = _extracted(release, constraints)
    typer.echo(blocks_text(read_found(found, 0)))
    if csv is not None:
        write_new(csv, frame_csv(found.to_frame()))


def _extracted(text: str, constraints: Constraints) -> RedescriptionSet:
    from dpcore.models.readable import readable
    from dpcore.models.redescriptions.released.redescription_family import REDESCRIPTIONS
    from dpcore.models.released import parse_model

    release = find_release(text)
    if release.kind != REDESCRIPTIONS.name:
        raise RequestError(f"This release is a '{release.kind}': choose one of redescriptions, or use 'release show'.")
    release = readable(release)
    model: RedescriptionModel = parse_model(release)
    return model.extract(release.domain, constraints)


redescriptions = with_options(Constraints, _redescriptions, before="csv")
