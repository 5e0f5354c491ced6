"""What a file is made of, whatever its form: paragraphs, tables, figures, in the order in which they are read."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Final, Literal

from dpcore.numerals import whole
from dpcore.report.contents import WIDTH, Picture
from dpcore.report.tables import Table

if TYPE_CHECKING:
    from dpcore.plots.printed.canvas import Canvas

#: Characters of a column that count for its width.
_NARROW, _WIDE = 7, 64
_FIXED: Final = {"pairs": (0.26, 0.74), "schema": (0.16, 0.19, 0.29, 0.1, 0.26)}
#: Pixels that a figure on paper may be high before it shrinks.
_TALLEST: Final = 560
#: Height of its bars and rows, compared with that on a page.
_SQUEEZE: Final = 0.78


@dataclass(frozen=True)
class Heading:
    """A heading inside a section."""

    words: str


@dataclass(frozen=True)
class Paragraph:
    """A paragraph; ``lead`` are its first words, in bold.

    Attributes
    ----------
    kind : {"plain", "small", "warning", "note"}
        ``small`` explains, ``note`` was written by a person beside a result.
    """

    words: str
    lead: str = ""
    kind: Literal["plain", "small", "warning", "note"] = "plain"


@dataclass(frozen=True)
class Bullets:
    """A list; each entry has first words in bold, which may be empty, and others."""

    entries: tuple[tuple[str, str], ...]

    @classmethod
    def of(cls, *sentences: str) -> Bullets:
        """A list without words in bold."""
        return cls(tuple(("", sentence) for sentence in sentences))


@dataclass(frozen=True)
class Facts:
    """Short facts beside each other."""

    values: Mapping[str, str]


@dataclass(frozen=True)
class Grid:
    """A table.

    Attributes
    ----------
    kind : {"plain", "pairs", "totals", "schema"}
        ``pairs``: a name and a value in each row.
    """

    table: Table
    kind: Literal["plain", "pairs", "totals", "schema"] = "plain"

    @classmethod
    def pairs(cls, caption: str, values: Mapping[str, str], first: str = "What", second: str = "Value") -> Grid:
        """Names and values."""
        return cls(Table.of(caption, (first, second), values.items(), most=len(values)), "pairs")

    @property
    def shares(self) -> list[float]:
        """Part of the width for each column on paper: more for longer words."""
        if self.kind in _FIXED:
            return list(_FIXED[self.kind])
        head, rows = self.table.head, self.table.rows
        # The words of a head may stand in two lines.
        longest = [max(len(name) // 2, *(len(row[place]) for row in rows), 0) for place, name in enumerate(head)]
        weights = [min(max(length, _NARROW), _WIDE) ** 0.75 for length in longest]
        return [weight / sum(weights) for weight in weights]

    @property
    def remark(self) -> str:
        """What is said of rows that are left out; empty if there are none."""
        table = self.table
        if table.all_rows <= len(table.rows):
            return ""
        which = f"The first {len(table.rows) - table.remainder}" + (" and the last" if table.remainder else "")
        return f"{which} of {whole(table.all_rows)} rows; the downloads of the result hold all."


@dataclass(frozen=True)
class Drawing:
    """A figure; ``name`` is its own within a file, fit for file names."""

    picture: Picture
    name: str

    @property
    def caption(self) -> str:
        """What stands below it."""
        return f"{self.picture.title}. The numbers are noisy."

    @cached_property
    def on_paper(self) -> tuple[Canvas, float]:
        """The figure on a sheet, and the part of the width it may have that it takes."""
        from dpcore.plots.printed.figure import printed

        canvas = printed(self.picture.figure, WIDTH, _SQUEEZE)
        return canvas, min(1.0, _TALLEST / canvas.height)


@dataclass(frozen=True)
class Code:
    """Lines of a program."""

    words: str


Block = Heading | Paragraph | Bullets | Facts | Grid | Drawing | Code


@dataclass(frozen=True)
class Section:
    """A part with a heading; ``result`` tells whether it is about one release."""

    title: str
    blocks: tuple[Block, ...]
    result: bool = False


@dataclass(frozen=True)
class Document:
    """A whole file.

    Attributes
    ----------
    facts : mapping of str to str
        What stands below the title.
    """

    title: str
    facts: Mapping[str, str]
    sections: tuple[Section, ...]

    @property
    def drawings(self) -> list[Drawing]:
        """Every figure, in order."""
        return [block for section in self.sections for block in section.blocks if isinstance(block, Drawing)]
