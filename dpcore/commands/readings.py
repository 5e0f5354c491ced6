"""Commands that read a release, for free: the whole of it, answers, invented records, other redescriptions."""

from __future__ import annotations

from enum import StrEnum
from functools import partial
from pathlib import Path
from typing import Annotated, Any

import typer

from dpcore.commands.opening import find_release
from dpcore.commands.options import with_options
from dpcore.commands.shell import check_new, write_new
from dpcore.commands.text import blocks_text, release_text
from dpcore.domain.conditions import parse_conjunction
from dpcore.errors import RequestError
from dpcore.models.readable import readable
from dpcore.models.redescriptions.released.extraction import Constraints
from dpcore.models.redescriptions.released.reading import read_found
from dpcore.models.redescriptions.released.redescription_family import REDESCRIPTIONS
from dpcore.models.redescriptions.released.redescription_model import RedescriptionModel
from dpcore.models.redescriptions.released.redescription_set import RedescriptionSet
from dpcore.models.released import parse_model
from dpcore.models.summaries.released.crosstab import how_many
from dpcore.models.summaries.released.synthesis import WHAT_IT_IS, expected_errors, files_of, invented
from dpcore.numerals import whole
from dpcore.spreadsheets import frame_csv


class Kind(StrEnum):
    """Forms of files."""

    CSV = "csv"
    PARQUET = "parquet"


def show(
    release: Annotated[str, typer.Argument(help="Id of a release, or a release file.")],
    json: Annotated[bool, typer.Option("--json", help="Print the whole release as JSON.")] = False,
) -> None:
    """Print a release: the model, its quality and its certificate."""
    found = find_release(release)
    typer.echo(found.to_json() if json else release_text(found))


def ask(
    release: Annotated[str, typer.Argument(help="Id of a first look, or its file.")],
    question: Annotated[
        str, typer.Argument(help="For example: age > 60 and sex = female. Of columns that were counted together.")
    ],
) -> None:
    """Say how many records satisfy some conditions, by a first look; costs nothing."""
    found, model = _first_look(release)
    told = how_many(model, parse_conjunction(question, found.domain))
    share = told.value / max(model.estimates.total, 1.0)
    typer.echo(
        f"About {whole(told.value)} records ({whole(told.low)} to {whole(told.high)} for the noise, 95%), "
        f"{100 * share:.3g}% of all."
    )


def _first_look(name: str) -> tuple[Any, Any]:
    """A release of the family and its model."""
    found = find_release(name)
    if found.kind != "summaries":
        raise RequestError(
            f"This is a release of the kind '{found.kind}': name a first look, as 'fit summaries' makes it."
        )
    return found, parse_model(found)


def synthesize(
    release: Annotated[str, typer.Argument(help="Id of a first look, or its file.")],
    out: Annotated[Path, typer.Option(metavar="FOLDER", help="Where the files go; made if it is not there.")],
    rows: Annotated[
        int | None, typer.Option(min=1, max=10_000_000, help="Records. Default: about as many as were counted.")
    ] = None,
    kind: Annotated[Kind, typer.Option("--format", help="Form of the files.")] = Kind.CSV,
    seed: Annotated[int | None, typer.Option(min=0, help="The same seed draws the same records.")] = None,
) -> None:
    """Draw invented records that follow a first look, one file for each table; costs nothing."""
    found, model = _first_look(release)
    wanted = max(1, round(model.estimates.total)) if rows is None else rows
    made = files_of(found, invented(model, found.domain, wanted, seed), kind.value)
    existing = [name for name in made if (out / f"{name}.{kind.value}").exists()]
    if existing:
        raise RequestError(f"'{out / existing[0]}.{kind.value}' is there already: name another folder.")
    out.mkdir(parents=True, exist_ok=True)
    for name, content in made.items():
        path = out / f"{name}.{kind.value}"
        path.write_bytes(content)
        typer.echo(f"{path}: written.")
    errors = expected_errors(model, wanted, seed)
    typer.echo("\n".join(WHAT_IT_IS))
    off = f"{100 * errors['columns']:.2g} points on average"
    typer.echo(f"Noise and drawing move the share of a cell of a column by up to {off}.")
    if errors["pairs kept"]:
        typer.echo(
            f"{whole(errors['pairs kept'])} pairs of columns follow what was counted, "
            f"each share within {100 * errors['pairs']:.2g} points on average."
        )


@partial(with_options, Constraints, before="csv")
def redescriptions(
    constraints: Constraints,
    release: Annotated[str, typer.Argument(help="Id of a release, or a release file.")],
    csv: Annotated[Path | None, typer.Option(help="New file for all that are found, as a table.")] = None,
) -> None:
    """Read the redescriptions of a release under other constraints, as often as you like: free."""
    if csv is not None:
        check_new(csv)
    found = _extracted(release, constraints)
    typer.echo(blocks_text(read_found(found, 0)))
    if csv is not None:
        write_new(csv, frame_csv(found.to_frame()))


def _extracted(text: str, constraints: Constraints) -> RedescriptionSet:
    release = find_release(text)
    if release.kind != REDESCRIPTIONS.name:
        raise RequestError(f"This release is a '{release.kind}': choose one of redescriptions, or use 'release show'.")
    release = readable(release)
    model: RedescriptionModel = parse_model(release)
    return model.extract(release.domain, constraints)
