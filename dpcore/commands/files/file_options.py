"""Options of commands that read files: which tables, and how they are written."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

TableOption = Annotated[
    list[str] | None,
    typer.Option(
        "--table",
        metavar="NAME=FILE",
        help="A further table about the same people, such as car=cars.csv. May be repeated.",
    ),
]
EncodingOption = Annotated[
    str | None,
    typer.Option(
        metavar="NAME",
        help="How letters are written in files that are not UTF-8, such as windows-1252.",
    ),
]
DecimalOption = Annotated[
    bool,
    typer.Option(
        "--decimal-comma",
        help="Numbers in CSV files have a comma before their decimals, and points may stand between thousands.",
    ),
]
SheetOption = Annotated[
    str | None, typer.Option(metavar="NAME", help="Sheet of an Excel file that is read; default: the first.")
]
OutputOption = Annotated[Path | None, typer.Option("--output", "-o", help="New file; default: standard output.")]
