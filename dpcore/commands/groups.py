"""Groups of commands: each command is loaded when it is called, and fails in one line with an honest exit code."""

from __future__ import annotations

import ast
import io
import sys
from collections.abc import Mapping
from importlib import import_module
from pathlib import Path
from typing import Any, NoReturn

import typer
from typer.core import TyperGroup
from typer.exceptions import Abort, TyperException

from dpcore.commands.shell import RunFailedError, one_line
from dpcore.errors import FrostglassError

USER_MISTAKE = 2
FAILURE = 1
STOPPED = 130
#: Where a command is, as ``module.function`` of this package; or what a group does, and where it or its commands are.
Place = str | tuple[str, str | Mapping[str, str]]


def _fail(message: str, code: int) -> NoReturn:
    typer.echo(f"error: {one_line(message)}", err=True)
    sys.exit(code)


class OneLineErrors(TyperGroup):
    """Turns every failure into one line on standard error and an honest exit code."""

    def main(self, *args: Any, **extra: Any) -> Any:
        """Run the command line and leave the process: 0 done, 2 user mistake, 1 failure."""
        extra["standalone_mode"] = False
        for stream in (sys.stdout, sys.stderr):
            if isinstance(stream, io.TextIOWrapper):  # What a terminal cannot show ends no command.
                stream.reconfigure(errors="replace")
        try:
            code = super().main(*args, **extra)
        except Abort:
            _fail("stopped.", STOPPED)
        except TyperException as error:
            _fail_usage(error)
        except FrostglassError as error:
            _fail(str(error), USER_MISTAKE)
        except RunFailedError as error:
            _fail(str(error), FAILURE)
        except OSError as error:
            _fail(f"{_name_of(error)}: {error.strerror or 'cannot be used'}.", FAILURE)
        except Exception as error:  # noqa: BLE001 - a traceback could show private values
            _fail(f"the program failed ({type(error).__name__}).", FAILURE)
        sys.exit(code if isinstance(code, int) else 0)


def _name_of(error: OSError) -> str:
    """The file that an error is about: its whole path only if that is what was typed."""
    if not isinstance(error.filename, str | Path):
        return "a file"
    typed = str(error.filename) in sys.argv
    return str(error.filename) if typed else Path(error.filename).name


def _fail_usage(error: Any) -> NoReturn:
    message = str(error.format_message()) if hasattr(error, "format_message") else str(error)
    if "\n" in message:  # a group called without a command: the message is its help
        typer.echo(message, err=True)
        sys.exit(USER_MISTAKE)
    _fail(message, USER_MISTAKE)


def _command(name: str, place: Place) -> Any:
    """A group, which says of itself what the list of all says of it, or a function as a command."""
    text, where = ("", place) if isinstance(place, str) else place
    if not isinstance(where, str):
        return typer.main.get_command(make_program(text, where))
    module, _, member = where.rpartition(".")
    found = getattr(import_module(f"{__package__}.{module}"), member)
    if isinstance(found, typer.Typer):
        found.info.help = text
        return typer.main.get_command(found)
    alone = make_group()
    alone.command(name)(found)
    return typer.main.get_command(alone)


def _says(place: Place) -> str:
    """What a command does: the start of its docstring, read from its file, as loading it would take long."""
    if not isinstance(place, str):
        return place[0]
    module, _, member = place.rpartition(".")
    file = Path(__file__).parent.joinpath(*module.split(".")).with_suffix(".py")
    for node in ast.parse(file.read_bytes()).body:
        if isinstance(node, ast.FunctionDef) and node.name == member:
            return (ast.get_docstring(node) or "").partition("\n\n")[0]
    return ""


def make_program(text: str, places: Mapping[str, Place]) -> typer.Typer:
    """The group of some commands, by name; no module is loaded before one of its commands is wanted."""

    class Program(OneLineErrors):
        def __init__(self, **settings: Any) -> None:
            super().__init__(**settings | {"commands": dict.fromkeys(places)})

        def get_command(self, ctx: Any, cmd_name: str) -> Any:  # noqa: ARG002
            return _command(cmd_name, places[cmd_name]) if cmd_name in places else None

        def format_commands(self, ctx: Any, formatter: Any) -> None:  # noqa: ARG002
            with formatter.section("Commands"):
                formatter.write_dl([(name, _says(place)) for name, place in places.items()])

    program = make_group(text, Program)
    program.callback()(_nothing)  # With commands of its own, typer would not take it for a group.
    return program


def _nothing() -> None:
    pass


def make_group(text: str = "", kind: type[TyperGroup] = OneLineErrors) -> typer.Typer:
    """A group of commands in the house style: plain text, no tracebacks."""
    return typer.Typer(
        cls=kind,
        help=text,
        no_args_is_help=True,
        rich_markup_mode=None,
        add_completion=False,
        pretty_exceptions_enable=False,
        context_settings={"help_option_names": ["-h", "--help"], "max_content_width": 100},
    )
