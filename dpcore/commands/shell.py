"""What all commands share: plain text for a terminal, one-line errors, exit codes, new files, the service."""

from __future__ import annotations

import io
import sys
import unicodedata
from collections.abc import Callable, Iterator, Mapping, MutableMapping, Sequence
from decimal import Decimal
from importlib import import_module
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, NoReturn

import typer
from typer.core import TyperGroup
from typer.exceptions import Abort, TyperException

from dpcore.errors import FrostglassError, RequestError

if TYPE_CHECKING:
    from dpcore.released.release import Release
    from dpcore.service import Service


def text_table(head: Sequence[str], rows: Sequence[Sequence[str]]) -> str:
    """Columns padded to equal width, two spaces between them; each cell on one line."""
    lines = [[one_line(cell) for cell in line] for line in (head, *rows)]
    widths = [max(len(line[i]) for line in lines) for i in range(len(head))]
    padded = ("  ".join(c.ljust(w) for c, w in zip(line, widths, strict=True)) for line in lines)
    return "\n".join(line.rstrip() for line in padded)


def one_line(typed: str | None) -> str:
    """What somebody typed, without anything that a terminal would obey."""
    shown = (typed or "").replace("\n", " ").replace("\r", " ").replace("\t", " ")
    return "".join(char if _is_harmless(char) else ascii(char)[1:-1] for char in shown)


def lines_of(typed: str) -> str:
    """The same of what may have several lines."""
    return "\n".join(map(one_line, typed.split("\n")))


def _is_harmless(char: str) -> bool:
    return char.isprintable() or unicodedata.category(char) == "Zs"


USER_MISTAKE = 2
FAILURE = 1
STOPPED = 130

Dataset = Annotated[str, typer.Argument(metavar="DATASET", help="Name or id of a stored data set.")]


class RunFailedError(Exception):
    """A run ended without a release; the message is fit for an analyst."""


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


class _Loaded(MutableMapping[str, Any]):
    """Commands by name, each loaded when it is asked for."""

    def __init__(self, places: Mapping[str, tuple[str, str]]) -> None:
        self._places, self._found = places, dict[str, Any]()

    def __getitem__(self, name: str) -> Any:
        if name not in self._found:
            place, does = self._places[name]
            module, _, member = place.partition(":")
            self._found[name] = _as_command(getattr(import_module(module), member), name, does)
        return self._found[name]

    def __setitem__(self, name: str, command: Any) -> None:
        self._found[name] = command

    def __delitem__(self, name: str) -> None:
        raise TypeError("commands stay")

    def __iter__(self) -> Iterator[str]:
        return iter(self._places)

    def __len__(self) -> int:
        return len(self._places)


def _as_command(found: typer.Typer | Callable[..., None], name: str, does: str) -> Any:
    """A group, which says of itself what the list of all says of it, or a function as a command."""
    if isinstance(found, typer.Typer):
        found.info.help = does
        return typer.main.get_command(found)
    alone = make_group()
    alone.command(name)(found)
    return typer.main.get_command(alone)


def make_program(text: str, places: Mapping[str, tuple[str, str]]) -> typer.Typer:
    """The group of all commands, by name; no module is loaded before one of its commands is wanted.

    Parameters
    ----------
    places : mapping of str to (str, str)
        Where each group or function is, ``module:name``, and what it does, for the list of all.
    """

    class Program(OneLineErrors):
        def __init__(self, **settings: Any) -> None:
            super().__init__(**settings | {"commands": {}})
            self.commands = _Loaded(places)

        def format_commands(self, ctx: Any, formatter: Any) -> None:  # noqa: ARG002
            with formatter.section("Commands"):
                formatter.write_dl([(name, does) for name, (_, does) in places.items()])

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


def open_service() -> Service:
    """The service on the configured home folder; runs are executed in this process."""
    from dpcore.service import Service

    return Service(workers=0)


def find_release(text: str) -> Release:
    """A release by its id, or from its file. Raises ``NotFoundError`` or ``RequestError``."""
    from dpcore.released.release import Release

    path = Path(text)
    if not path.is_file():
        with open_service() as service:
            return service.release(text)
    return Release.from_json(path.read_text(encoding="utf-8", errors="replace"))


def read_epsilon(text: str | None) -> Decimal | None:
    """An epsilon typed by the user; absent stays absent."""
    from dpcore.privacy.budgets import parse_epsilon

    return None if text is None else parse_epsilon(text)


def check_new(path: Path) -> None:
    """Refuse a file that could not be written, before anything is spent on its content."""
    if path.exists():
        raise RequestError(f"{path} exists already: choose another name or remove it.")
    if not path.absolute().parent.is_dir():
        raise RequestError(f"The folder {path.parent} does not exist.")


def write_new(path: Path, content: str | bytes) -> None:
    """Write a file that must not exist yet, and say so."""
    with path.open("xb") as stream:
        stream.write(content if isinstance(content, bytes) else content.encode())
    typer.echo(f"written: {path}", err=True)
