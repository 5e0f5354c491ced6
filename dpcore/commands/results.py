"""Commands that read releases."""

from __future__ import annotations

from typing import Annotated

import typer

from dpcore.commands.first_look import ask, synthesize
from dpcore.commands.redescriptions import redescriptions
from dpcore.commands.report import note, release_page
from dpcore.commands.shell import find_release, make_group, open_service

releases = make_group("Read what has been released; costs nothing.")


@releases.command("list")
def list_releases(
    dataset: Annotated[str | None, typer.Option(metavar="DATASET", help="Only those of this data set.")] = None,
) -> None:
    """List releases, newest first."""
    from dpcore.commands.plain_text import text_table
    from dpcore.privacy.budgets import alike, format_epsilon

    with open_service() as service:
        chosen = service.dataset(dataset).id if dataset else None
        names = {key: note.name for key, note in service.release_notes(chosen).items()}
        found = service.releases(chosen)
        costs = alike(format_epsilon(release.certificate.epsilon) for release in found)
        rows = [
            [
                release.id,
                names.get(release.id) or "-",
                release.kind,
                release.dataset_name,
                release.target or "-",
                cost,
                f"{release.certificate.created:%Y-%m-%d %H:%M}",
            ]
            for release, cost in zip(found, costs, strict=True)
        ]
    typer.echo(text_table(["id", "name", "model", "data set", "target", "epsilon", "time (UTC)"], rows))


@releases.command("show")
def show_release(
    release: Annotated[str, typer.Argument(help="Id of a release, or a release file.")],
    json: Annotated[bool, typer.Option("--json", help="Print the whole release as JSON.")] = False,
) -> None:
    """Print a release: the model, its quality and its certificate."""
    from dpcore.commands.text import release_text

    found = find_release(release)
    typer.echo(found.to_json() if json else release_text(found))


releases.command("redescriptions")(redescriptions)
releases.command("note")(note)
releases.command("html")(release_page)
releases.command("synthesize")(synthesize)
releases.command("ask")(ask)
