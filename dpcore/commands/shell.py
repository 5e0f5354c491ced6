"""What all commands share: plain text for a terminal, the option of a data set, new files."""

from __future__ import annotations

import unicodedata
from collections.abc import Sequence
from pathlib import Path
from typing import Annotated

import typer

from dpcore.errors import RequestError


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


Dataset = Annotated[str, typer.Argument(metavar="DATASET", help="Name or id of a stored data set.")]


class RunFailedError(Exception):
    """A run ended without a release; the message is fit for an analyst."""


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


def put(text: str, output: Path | None) -> None:
    """Write a new file, or print what it would hold."""
    if output is None:
        typer.echo(text, nl=False)
    else:
        write_new(output, text)
