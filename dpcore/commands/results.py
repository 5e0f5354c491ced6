"""Commands that list releases, name them, and put them into files."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from dpcore.commands.opening import open_service
from dpcore.commands.shell import Dataset, check_new, lines_of, text_table, write_new
from dpcore.privacy.budgets import plain_epsilon
from dpcore.workspace.results.dossier import Application


def list_releases(
    dataset: Annotated[str | None, typer.Option(metavar="DATASET", help="Only those of this data set.")] = None,
) -> None:
    """List releases, newest first."""
    with open_service() as service:
        chosen = service.dataset(dataset).id if dataset else None
        names = {key: note.name for key, note in service.release_notes(chosen).items()}
        found = service.releases(chosen)
        costs = [plain_epsilon(release.certificate.epsilon) for release in found]
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


_FILE = typer.Option(help="File to write; it must not exist yet.")


def report(
    dataset: Dataset,
    releases: Annotated[list[str], typer.Argument(metavar="RELEASE...", help="Ids of releases of this data set.")],
    output: Annotated[Path, _FILE],
    title: Annotated[str, typer.Option(help="Title of the dossier.")] = "",
    applicant: Annotated[str, typer.Option(help="Who asks for access.")] = "",
    request: Annotated[str, typer.Option(help="What is asked for, and for which use.")] = "",
    finding: Annotated[list[str] | None, typer.Option(metavar="TEXT", help="A finding; repeat it.")] = None,
    hypothesis: Annotated[list[str] | None, typer.Option(metavar="TEXT", help="A hypothesis; repeat it.")] = None,
    justification: Annotated[str, typer.Option(help="Why these epsilons were chosen.")] = "",
    settings: Annotated[str, typer.Option(help="How settings of the runs were chosen.")] = "",
    curator: Annotated[str, typer.Option(help="Who holds the records, for the registry.")] = "",
    region: Annotated[str, typer.Option(help="Region that the records are about, for the registry.")] = "",
) -> None:
    """Put releases of a data set together into one file, to attach to a request for access.

    The ending of its name says in which form: .pdf to print, .docx for Word, .html with every
    number, .md.zip for Markdown with figures, .yaml for the public registry of deployments, .zip
    with everything for output checking. It holds the chosen releases with figures, numbers and
    certificates, what they and everything else cost, and what they do not show. Making it costs
    nothing.
    """
    check_new(output)
    form = _form(output)
    written = Application(
        title=title,
        applicant=applicant,
        request=request,
        findings="\n".join(finding or []),
        hypotheses="\n".join(hypothesis or []),
        justification=justification,
        settings=settings,
        curator=curator,
        region=region,
    )
    with open_service() as service:
        content = service.dossier(dataset, releases, written, form)
    write_new(output, content)


def _form(output: Path) -> str:
    """The form that the name of a file asks for."""
    name = output.name.lower()
    if name.endswith((".md.zip", ".markdown.zip", "-markdown.zip")):
        return "md"
    return output.suffix.lower().removeprefix(".")


def release_page(
    release: Annotated[str, typer.Argument(help="Id of a release.")],
    output: Annotated[Path, _FILE],
) -> None:
    """Write one release as a file of HTML that needs no network, with its name and note."""
    check_new(output)
    with open_service() as service:
        content = service.release_page(release)
    write_new(output, content)


def note(
    release: Annotated[str, typer.Argument(help="Id of a release.")],
    name: Annotated[str | None, typer.Option(help="Its name, one line; empty takes it away.")] = None,
    text: Annotated[str | None, typer.Option("--note", help="A note on it; empty takes it away.")] = None,
) -> None:
    """Give a release a name and a note. Both are free and may be changed at any time."""
    with open_service() as service:
        found = service.release(release)
        before = service.release_notes(found.dataset_id).get(found.id)
        kept = (before.name, before.note) if before else ("", "")
        written = service.note_release(
            found.id,
            kept[0] if name is None else name,
            kept[1] if text is None else text,
        )
    typer.echo(lines_of(f"name: {written.name or '-'}\nnote: {written.note or '-'}"))
