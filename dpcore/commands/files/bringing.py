"""What the commands do that store, append to and check files."""

from __future__ import annotations

import sys
from collections.abc import Collection
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

import typer
import yaml

from dpcore.commands.files.several_tables import choices_of, reading_as, source_of
from dpcore.commands.opening import open_service, read_amount
from dpcore.commands.shell import check_new, write_new
from dpcore.commands.text_ledger import balance_text
from dpcore.domain.schemas.learnable_schema import LearnableSchema
from dpcore.errors import RequestError
from dpcore.intake.columns.corrections import corrected
from dpcore.intake.dictionaries.drafts import NO_LIMIT, Draft
from dpcore.intake.process.repeats import divide_repeats
from dpcore.intake.process.uploads import ask
from dpcore.intake.sources.choices import Choices, choosing
from dpcore.intake.sources.parts import is_database
from dpcore.privacy.budgets import parse_delta, parse_epsilon, parse_limit
from dpcore.service import Service
from dpcore.workspace.files.descriptions import DatasetInfo

if TYPE_CHECKING:
    from dpcore.intake.joins.relations import Source


@dataclass(frozen=True)
class Files:
    """Files as a command names them, and how they are read."""

    files: list[Path]
    right: Path | None
    table: list[str] | None
    encoding: str | None
    decimal_comma: bool
    sheet: str | None

    @property
    def choices(self) -> Choices:
        """How they are read."""
        return choices_of(self.encoding, self.decimal_comma, self.sheet)

    def source(self, entity: str) -> Source:
        """What the service is given, by the name of the main table. Raises ``RequestError``."""
        return source_of(self.files[0], entity, self.table, self.right, self.files[1:])

    def described(self, schema: Path | None, dictionary: Path | None, max_rows: int | None) -> LearnableSchema:
        """The schema that a file holds, or that a dictionary tells of the files; what there is to say is said."""
        if (schema is None) == (dictionary is None):
            raise RequestError("Give either --schema or --dictionary.")
        if schema is not None:
            if max_rows is not None:
                raise RequestError("A schema tells the row limit itself: leave --max-rows out.")
            return LearnableSchema.from_file(schema)
        files = self.files if self.right is None else []
        draft = Draft(**ask("dictionary", [dictionary], path=dictionary))
        absent: list[str] = []
        if files and not draft.content.get("children") and not is_database(files[0]):
            with choosing(self.choices):
                header = ask("header", files, path=files if len(files) > 1 else files[0])
                absent = draft.within(header)
                divide_repeats(draft, header, files)
        if draft.unknown:
            raise RequestError(
                f"{' '.join(draft.unknown)} Write them into a schema: 'schema template --dictionary {dictionary} "
                "--data FILE'."
            )
        if "max_rows" not in draft.content and max_rows is None:
            raise RequestError(f"{NO_LIMIT} Give it with --max-rows.")
        draft.limit(max_rows)
        wanted = LearnableSchema.from_mapping(draft.content)
        for sentence in [*draft.sentences, *absent]:
            typer.echo(sentence, err=True)
        return wanted


@dataclass(frozen=True)
class Amounts:
    """Amounts of a new budget, as they were typed."""

    budget: str | None
    learn: str | None
    delta: str | None
    analyst_cap: str | None
    run_cap: str | None

    def read(self) -> dict[str, Any]:
        """The same as numbers, by their names. Raises ``RequestError``."""
        return {
            "budget": read_amount(parse_epsilon, self.budget),
            "analyst_cap": read_amount(parse_limit, self.analyst_cap),
            "run_cap": read_amount(parse_epsilon, self.run_cap),
            "learn": read_amount(parse_epsilon, self.learn),
            "delta": read_amount(parse_delta, self.delta),
        }


def store(given: Files, wanted: LearnableSchema, amounts: Amounts, **how: Any) -> None:
    """Store a data set and open its budget; ``how`` is for the service."""
    read = amounts.read()
    source, told = given.source(wanted.schema.entity), list[str]()
    with reading_as(source, given.choices), open_service() as service:
        info = service.add_dataset(
            source,
            wanted,
            right=given.right,
            watch=_follow,
            tell=told.append,
            **read,
            **how,
        )
        _say_stored(service, info)
        for sentence in filter(None, told):
            typer.echo(sentence)
        if info.schema.learned is not None:
            typer.echo(info.schema.learned.words)
        if info.sharing:
            typer.echo(info.sharing)


def append_files(dataset: str, given: Files, *, max_rows: int | None, accepted: Collection[str]) -> None:
    """Store the next version of a data set, with further rows."""
    with open_service() as service:
        source = given.source(service.dataset(dataset).schema.entity)
        with reading_as(source, given.choices):
            info = service.append_rows(
                dataset, source, right=given.right, max_rows=max_rows, accepted=accepted, watch=_follow, tell=typer.echo
            )
        _say_stored(service, info)


def _say_stored(service: Service, info: DatasetInfo) -> None:
    typer.echo(f"stored: '{info.title}' ({info.id}), {balance_text(service.total_balance(info.id))}")


def examine(given: Files, wanted: LearnableSchema, fix: Path | None) -> None:
    """Say how files fit a schema; ``fix`` is the file for a corrected one. Ends with 1 if something would be lost."""
    if fix is not None:
        check_new(fix)
    source = given.source(wanted.schema.entity)
    with reading_as(source, given.choices), open_service() as service:
        findings = service.examine(source, wanted, right=given.right, watch=_follow)
    for sentence in wanted.sentences:
        typer.echo(f"LEARNS {sentence}")
    told = [finding for finding in findings if finding.sentence]
    for finding in sorted(told, key=lambda finding: not finding.needs_yes):
        typer.echo(f"{'LOSES' if finding.needs_yes else 'note '}  {finding.sentence}")
        for correction in finding.corrections:
            typer.echo(f"         {correction.words}{_in_schema(correction.change)}")
        if finding.needs_yes:
            typer.echo(f"         If it is meant so: --accept '{finding.place}'")
    if fix is not None:
        changes = {each.place: each.corrections[0].change for each in told if each.of_values and each.corrections}
        write_new(fix, replace(wanted, schema=corrected(wanted.schema, changes)).to_yaml())
    wanting = [finding for finding in told if finding.needs_yes]
    columns, unfit = (sum(each.of_values for each in kind) for kind in (findings, told))
    losing = sum(each.of_values for each in wanting)
    if wanted.questions:
        typer.echo(
            f"{len(wanted.questions)} columns are to be learned privately: store with 'data add --learn EPSILON'"
        )
    typer.echo(f"{columns} columns: {columns - unfit} fit, {losing} would lose values or tell nothing")
    if wanting:
        raise typer.Exit(1)


def _in_schema(change: dict[str, Any]) -> str:
    """How the schema says what a correction of the person changes."""
    written = yaml.safe_dump(change, default_flow_style=True, allow_unicode=True, width=1_000).strip()
    return f": in the schema, {written[1:-1]}" if "privacy_unit" in change else ""


def _follow(table: str, rows: int) -> None:
    """Say on a terminal how far the reading is."""
    if sys.stderr.isatty() and rows:
        typer.echo(f"\rreading '{table}': {rows} rows", err=True, nl=False)
