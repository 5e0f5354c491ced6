"""Tables and what people wrote as plain text for a terminal."""

from __future__ import annotations

import unicodedata
from collections.abc import Sequence


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
