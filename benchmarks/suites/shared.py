"""What all commands of ``python -m benchmarks`` share: their options, and how one is made of what fills a report."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Collection
from pathlib import Path
from typing import Annotated, Any

import typer

from benchmarks.peers import PYTHON_VARIABLE
from benchmarks.records import write_json
from benchmarks.report import PAGE, Report, command_of, section, with_section

Quick = Annotated[bool, typer.Option("--quick", help="Fewer fits: under a minute.")]
Data = Annotated[list[str] | None, typer.Option("--data", help="Only this data set; repeatable.")]
Epsilon = Annotated[list[float] | None, typer.Option("--epsilon", help="Only this; repeatable.")]
Json = Annotated[Path | None, typer.Option("--json", help="Write the records to this file.")]
Markdown = Annotated[bool, typer.Option("--markdown", help="Print the section of docs/benchmarks.md instead.")]
Write = Annotated[bool, typer.Option("--write", help="Put that section in its place in docs/benchmarks.md.")]
Method = Annotated[list[str] | None, typer.Option("--method", help="Only this; repeatable.")]
Repeats = Annotated[int, typer.Option("--repeats", min=1, help="Cross-validations, each with another shuffle.")]
Peers = Annotated[
    Path | None,
    typer.Option(
        "--peers",
        envvar=PYTHON_VARIABLE,
        help="Python interpreter of an environment that has the peer program.",
    ),
]


def suite(app: typer.Typer, name: str) -> Callable[[Callable[..., None]], None]:
    """Make a function that fills a report a command, with the options that every report has."""

    def register(measure: Callable[..., None]) -> None:
        def command(json: Json, markdown: Markdown, write: Write, **choices: Any) -> None:
            place = f"{name}-rivals" if choices.get("rivals") else name
            if write:
                _place(place, "")
            report = Report(at_once=not markdown)
            measure(report, **choices)
            content = section(command_of(name, choices), report.parts)
            if markdown:
                typer.echo(content)
            if write:
                PAGE.write_text(_place(place, content), encoding="utf-8")
            if json is not None:
                write_json(report.records, json)

        _, *own = inspect.signature(measure, eval_str=True).parameters.values()
        shared = {"json": (Json, None), "markdown": (Markdown, False), "write": (Write, False)}
        parameters = own + [
            inspect.Parameter(option, inspect.Parameter.KEYWORD_ONLY, default=value, annotation=kind)
            for option, (kind, value) in shared.items()
        ]
        command.__signature__ = inspect.Signature(parameters)  # type: ignore[attr-defined]
        command.__annotations__ = {one.name: one.annotation for one in parameters}
        app.command(name, help=measure.__doc__)(command)

    return register


def _place(name: str, content: str) -> str:
    """The page with this section."""
    try:
        return with_section(PAGE.read_text(encoding="utf-8"), name, content)
    except ValueError as fault:
        raise typer.BadParameter(str(fault)) from None


def check_known(what: str, given: list[str] | None, known: Collection[str]) -> None:
    """Refuse what a suite has not got."""
    for name in given or []:
        if name not in known:
            raise typer.BadParameter(f"unknown {what} {name}; known: {', '.join(known)}")
