"""What a result says, whatever the form in which it is shown: sentences, tables with typed cells, figures.

A family makes blocks of a release (:attr:`dpcore.released.family.ReleasedFamily.read`); a writer for each form renders
them: terminal, page, web page, PDF, Word, Markdown, notebook. A block knows no form.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Final, Literal, TypeVar

from dpcore.numerals import whole
from dpcore.released.noisy_counts import Numbers, told_share

#: Rows of one table that are printed, and of one that few read; the downloads of a release hold all.
MOST_ROWS, FEW_ROWS = 100, 12
_TWO: Final = 2
#: Moves a text in by one level.
_STEP: Final = "\u2003"

Grade = Literal["good", "fair", "none", "unknown"]


@dataclass(frozen=True)
class Heading:
    """A heading inside a section."""

    words: str


@dataclass(frozen=True)
class Headline:
    """How good a model is, before anything that could be read as a finding."""

    grade: Grade
    """``none``: not shown to be better than chance. ``unknown``: not checked, or noise hides it."""
    headline: str
    sentence: str


@dataclass(frozen=True)
class Paragraph:
    """A paragraph; ``lead`` are its first words, in bold."""

    words: str
    lead: str = ""
    kind: Literal["plain", "small", "warning", "note"] = "plain"
    """``small`` explains, ``note`` was written by a person beside a result."""


@dataclass(frozen=True)
class Bullets:
    """A list; each entry has first words in bold, which may be empty, and others."""

    entries: tuple[tuple[str, str], ...]

    @classmethod
    def of(cls, *sentences: str) -> Bullets:
        """A list without words in bold."""
        return cls(tuple(("", sentence) for sentence in sentences))

    @property
    def sentences(self) -> list[str]:
        """The words of every entry."""
        return [words for _, words in self.entries]

    def cut(self, most: int) -> Bullets:
        """The same with no more entries than anybody reads; the last says how many are left out."""
        rest = len(self.entries) - most
        if rest <= 0:
            return self
        more = "1 more sentence is" if rest == 1 else f"{whole(rest)} more sentences are"
        return Bullets((*self.entries[:most], ("", f"{more} left out here.")))


@dataclass(frozen=True)
class Facts:
    """Short facts beside each other."""

    values: Mapping[str, str]


@dataclass(frozen=True)
class Code:
    """Lines of a program."""

    words: str


# Cells of tables


@dataclass(frozen=True)
class Noisy:
    """A figure with its interval for the noise, both written already: ``45% (44% to 46%)``, ``12 ±3``."""

    figure: str
    interval: str

    def __str__(self) -> str:
        """As text."""
        bare = self.interval.startswith("±") or not self.interval
        return f"{self.figure} {self.interval}".strip() if bare else f"{self.figure} ({self.interval})"


@dataclass(frozen=True)
class Inner:
    """A text that belongs to a row above, set in by ``depth`` levels."""

    words: str
    depth: int = 1

    def __str__(self) -> str:
        """As text."""
        return _STEP * self.depth + self.words


@dataclass(frozen=True)
class Doubt:
    """Says that noise hides something."""

    words: str

    def __str__(self) -> str:
        """As text."""
        return self.words


@dataclass(frozen=True)
class Several:
    """Several figures of the same people, one below the other."""

    figures: tuple[Noisy, ...]

    def __str__(self) -> str:
        """As text."""
        return "; ".join(map(str, self.figures))


Cell = str | Noisy | Inner | Doubt | Several


def count_cell(count: float, margin: float) -> Noisy:
    """A noisy count with the noise that it carries."""
    return Noisy(whole(count), f"±{whole(margin)}")


@dataclass(frozen=True)
class Table:
    """A table."""

    caption: str
    head: tuple[str, ...]
    rows: tuple[tuple[Cell, ...], ...]
    """Those that are shown."""
    all_rows: int
    """How many there are."""
    remainder: int = 0
    """How many rows at the end are of everybody who is in no other: they are shown whatever is left out."""
    kind: Literal["plain", "pairs", "totals", "schema"] = "plain"
    """``pairs``: a name and a value in each row."""

    @classmethod
    def of(
        cls,
        caption: str,
        head: Sequence[str],
        rows: Iterable[Sequence[Cell]],
        most: int = MOST_ROWS,
        *,
        remainder: int = 0,
        kind: Literal["plain", "pairs", "totals", "schema"] = "plain",
    ) -> Table:
        """A table with as many of ``rows`` as are shown."""
        every = [tuple(row) for row in rows]
        return cls(caption, tuple(head), tuple(every), len(every), remainder, kind).cut(most)

    @classmethod
    def pairs(cls, caption: str, values: Mapping[str, str], first: str = "What", second: str = "Value") -> Table:
        """Names and values."""
        return cls.of(caption, (first, second), values.items(), len(values), kind="pairs")

    @property
    def texts(self) -> tuple[tuple[str, ...], ...]:
        """The rows as texts."""
        return tuple(tuple(map(str, row)) for row in self.rows)

    @property
    def remark(self) -> str:
        """What is said of rows that are left out; empty if there are none."""
        if self.all_rows <= len(self.rows):
            return ""
        which = f"The first {len(self.rows) - self.remainder}" + (" and the last" if self.remainder else "")
        return f"{which} of {whole(self.all_rows)} rows; the downloads of the result hold all."

    def cut(self, most: int) -> Table:
        """The same with at most so many rows, that of everybody else among them."""
        if len(self.rows) <= most:
            return self
        last = len(self.rows) - self.remainder
        return dataclasses.replace(self, rows=(*self.rows[: max(0, most - self.remainder)], *self.rows[last:]))


@dataclass(frozen=True)
class Group:
    """Some people of a model: who they are, and their noisy numbers for each class."""

    name: str
    sign: str
    """``name``, ``sign``: what it is called as text, such as ``1. IF``, and where signs stand apart, such as ``IF``;
    either may be empty."""
    conditions: tuple[str, ...]
    """All hold. Of the people who are in no other group, words for them."""
    numbers: Numbers
    """The rule, node or clause."""
    margin: int
    """Noise on each count stays within plus or minus this, at 95 %."""
    place: int = 0
    """Of its true numbers among all."""
    prediction: int | None = None
    """Class that is predicted, where groups say so."""
    code: str = ""
    """The same as a program."""
    mark: str = ""
    """Whether the group predicts, if not every one does."""


@dataclass(frozen=True)
class Groups:
    """People in groups, each with the noisy chances and counts of the classes."""

    caption: str
    who: str
    """What a group is called."""
    groups: tuple[Group, ...]
    target: str
    classes: tuple[str, ...]
    shown: int
    """Class whose chance is shown where one of them is."""
    most: int = MOST_ROWS
    remainder: bool = False
    """Whether the last group is of everybody who is in no other."""

    @property
    def outcome(self) -> str:
        """The class whose chance is shown."""
        return f"{self.target} = {self.classes[self.shown]}"

    def cut(self, most: int) -> Groups:
        """The same with no more rows, as a table of texts."""
        return dataclasses.replace(self, most=min(most, self.most))

    @property
    def table(self) -> Table:
        """One row for each group; with more than two classes, one for each group and class."""
        several = len(self.classes) > _TWO
        head = [self.who, self.target, "Noisy chance (noise alone)", "Noisy count"]
        rows = [
            (self._words(group), label, _chance(group, code), _count(group, code))
            for group in self.groups
            for code, label in enumerate(self.classes)
        ]
        if several:
            return Table.of(self.caption, head, rows, self.most, remainder=self.remainder * len(self.classes))
        head = [self.who, f"Noisy chance of {self.outcome} (noise alone)"]
        head += [f"Noisy count: {label}" for label in self.classes]
        codes = range(len(self.classes))
        short: list[list[Cell]] = [
            [self._words(group), _chance(group, self.shown), *(_count(group, code) for code in codes)]
            for group in self.groups
        ]
        return Table.of(self.caption, head, short, self.most, remainder=int(self.remainder))

    def _words(self, group: Group) -> str:
        """Who is in a group, as text: ``2. age > 60 and ward = stroke unit → yes``."""
        predicted = "" if group.prediction is None else f" → {self.classes[group.prediction]}"
        mark = f" ({group.mark})" if group.mark else ""
        return f"{group.name} {' and '.join(group.conditions)}{predicted}{mark}"


def _chance(group: Group, code: int) -> str:
    return told_share(group.numbers, code, group.margin)


def _count(group: Group, code: int) -> Noisy:
    return count_cell(group.numbers.noisy_counts[code], group.margin)


@dataclass(frozen=True, eq=False)
class Figure:
    """A figure, described once: :mod:`dpcore.plots.figures` draws it, and tells it in words."""

    kind: str
    """Which one."""
    title: str
    of: tuple[object, ...]
    """What it shows: the arguments of its drawing and of its words."""
    name: str = "figure"
    """Its own within a file, fit for file names."""

    @property
    def caption(self) -> str:
        """What stands below it."""
        return f"{self.title}. The numbers are noisy."


#: What writers of files know.
Written = Heading | Paragraph | Bullets | Facts | Table | Figure | Code
Block = Written | Headline | Groups
_Kind = TypeVar("_Kind")


def written(block: Block) -> Written:
    """A block as writers of files know it."""
    if isinstance(block, Groups):
        return block.table
    return Paragraph(block.sentence, lead=f"{block.headline}.") if isinstance(block, Headline) else block


def only(blocks: Iterable[Block], kind: type[_Kind]) -> list[_Kind]:
    """The blocks of one kind, in order."""
    return [block for block in blocks if isinstance(block, kind)]
