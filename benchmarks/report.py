"""How every suite reports: parts as text or Markdown, and a marked place for them on the page."""

from __future__ import annotations

import io
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from pathlib import Path

from rich.console import Console
from rich.table import Table

from benchmarks.records import Record

#: A table, or sentences that belong to the tables around them.
Part = Table | str
PAGE = Path(__file__).parents[1] / "docs" / "benchmarks.md"
_WIDTH = 130


@dataclass
class Report:
    """What a suite shows, and every figure that it measured.

    Attributes
    ----------
    at_once : bool
        Whether tables are printed as they come.
    """

    at_once: bool
    parts: list[Part] = field(default_factory=list)
    records: list[Record] = field(default_factory=list)

    def show(self, *parts: Part) -> None:
        """Take in what belongs to the report."""
        self.parts += parts
        if self.at_once:
            print(text(parts), end="")


def text(parts: Iterable[Part]) -> str:
    """What a terminal shows."""
    console = Console(width=_WIDTH, file=io.StringIO())
    for part in parts:
        console.print(part)
    return console.file.getvalue()  # type: ignore[attr-defined]


def section(command: str, parts: Iterable[Part]) -> str:
    """What stands on the page: the command that measured, and its tables in Markdown."""
    return "\n\n".join([f"Measured by `{command}`:", *map(_markdown, parts)])


def _markdown(part: Part) -> str:
    if isinstance(part, str):
        return f"```text\n{part}\n```"
    heads = [str(column.header) for column in part.columns]
    rule = ["---:" if column.justify == "right" else "---" for column in part.columns]
    rows = zip(*(map(str, column.cells) for column in part.columns), strict=True)
    notes = [f"*{part.caption}*"] if part.caption else []
    lines = [_row(cells) for cells in (heads, rule, *rows)]
    return "\n\n".join([f"**{part.title}**", "\n".join(lines), *notes])


def _row(cells: Iterable[str]) -> str:
    return f"| {' | '.join(cell.strip().replace('|', chr(92) + '|') for cell in cells)} |"


def command_of(suite: str, choices: Mapping[str, object]) -> str:
    """The command; a path or an address is a machine's own, so it stands there by name."""
    words = ["python -m benchmarks", suite]
    for option, value in choices.items():
        if value is True:
            words.append(f"--{option}")
        elif isinstance(value, (list, int)) and value is not False:
            values = value if isinstance(value, list) else [value]
            words += [f'--{option} "{v}"' if " " in str(v) else f"--{option} {v}" for v in values]
        elif value:
            words.append(f"--{option} {option.upper()}")
    return " ".join(words)


def with_section(page: str, suite: str, content: str) -> str:
    """The page with another section of one suite.

    Raises
    ------
    ValueError
        If the page has no place for it.
    """
    begin, end = f"<!-- begin {suite} -->", f"<!-- end {suite} -->"
    before, found, rest = page.partition(begin)
    _, closed, after = rest.partition(end)
    if not (found and closed):
        raise ValueError(f"docs/benchmarks.md has no place for '{suite}': add the lines {begin} and {end}.")
    return f"{before}{begin}\n{content}\n{end}{after}"
