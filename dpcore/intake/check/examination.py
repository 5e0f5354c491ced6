"""How the values of a file fit a schema, for the custodian's eyes only, before anything is stored.

An examination looks on while rows are read. Columns that would lose many of their values, or hold
one value only, need an explicit yes, and so do rows that are left out or lose their order: without it
nothing is stored.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Iterator, Sequence
from dataclasses import asdict, dataclass, field, replace
from heapq import nsmallest
from math import floor
from typing import Any, ClassVar, Final

import numpy as np
import pandas as pd

from dpcore.arrays import Cells, Floats, Ints
from dpcore.data.building.people import People
from dpcore.domain.columns import MISSING, RESERVED, BooleanColumn, IntegerColumn, NumericColumn
from dpcore.domain.encoding import MISSING_WORDS, Block, texts_of
from dpcore.domain.schemas.labels import cells_called
from dpcore.domain.schemas.schema import ChildTable, Schema
from dpcore.errors import LossError
from dpcore.intake.check.persons import PersonTally
from dpcore.intake.columns.corrections import Correction, corrections, unread_comma
from dpcore.intake.joins.keys import KeyTally
from dpcore.intake.joins.row_findings import SHARE_LOST, OrderTally, RowFinding, yes_to

#: Values that fit nowhere: so many different ones are told apart, and so many listed.
_MOST_KEPT, LISTED = 20_000, 20
#: A bin that holds more of all numbers than this share leaves little to be told of them.
_CROWDED: Final = 0.9


@dataclass(frozen=True)
class Finding:
    """How the values of one column fit."""

    table: str
    """Name of the child table; empty for the main one."""
    column: str
    rows: int
    missing: int
    """``rows``, ``missing``: all, and those without a value."""
    unmatched: int
    """Values that match no category, or are no number or no date."""
    below: int
    above: int
    """``below``, ``above``: numbers that are moved to a bound."""
    strange: list[tuple[str, int]]
    """The most frequent of those that match nothing."""
    kinds: int
    """How many different ones there are; at least, if there are very many."""
    cells: int
    """Categories, or bins, that values fall into."""
    binned: bool
    """Whether these are bins of numbers."""
    corrections: list[Correction] = field(default_factory=list)
    """What would make more of them fit."""
    #: Whether the schema says that no value is missing.
    never_missing: bool = False
    #: What is wrong with those that match nothing, where it is not the schema.
    wrong: str = ""
    #: What people call a bin of different numbers that holds nearly all of them, where there are others.
    crowded: str = ""
    of_values: ClassVar[bool] = True

    @property
    def known(self) -> int:
        """Values that are not missing."""
        return self.rows - self.missing

    @property
    def lost(self) -> int:
        """Values that would become another one, or none."""
        return self.unmatched + self.below + self.above

    @property
    def place(self) -> str:
        """Name of the column, with that of its table if that is not the main one."""
        return f"{self.table}.{self.column}" if self.table else self.column

    @property
    def needs_yes(self) -> bool:
        """Whether the column is stored on an explicit yes only."""
        return self.loses or self.cells < 2 or (self.never_missing and self.missing > 0)

    @property
    def loses(self) -> bool:
        """Whether it would lose many of its values."""
        return self.lost > SHARE_LOST * self.known

    @property
    def yes(self) -> str:
        """What accepts this loss, and no other one of the column. It quotes no value.

        Of very many different values it depends on the order of rows which are told apart.
        """
        told = self if self.kinds < _MOST_KEPT else replace(self, strange=[])
        return yes_to(self.place, told.sentence)

    @property
    def sentence(self) -> str:
        """What is to be known about it; empty if all is well."""
        parts = [*self._losses(), *self._sameness()]
        return f"'{self.place}': {'; '.join(parts)}." if parts else ""

    def _losses(self) -> Iterator[str]:
        if self.never_missing and self.missing:
            yield f"{self.missing:,} of {self.rows:,} values are missing, though the schema says that none is"
        if self.unmatched:
            listed = ", ".join(f"{text!r} {count:,}" for text, count in self.strange)
            more = f" and {self.kinds - len(self.strange):,} more" if self.kinds > len(self.strange) else ""
            fit = "fits" if self.unmatched == 1 else "fit"
            yield f"{self.unmatched:,} of {self.known:,} values {fit} nowhere: {listed}{more}"
        if self.wrong and self.loses:
            yield f"it {self.wrong}"
        for number, where in ((self.below, "below the lowest"), (self.above, "above the highest")):
            if number:
                yield f"{number:,} {'value is' if number == 1 else 'values are'} {where}"

    def _sameness(self) -> Iterator[str]:
        if not self.known:
            yield "every value is missing"
        elif self.cells < 2 and self.lost < self.known:
            yield "all values that fit lie in one bin" if self.binned else "all values that fit are the same"
        elif not self.cells:
            yield "no value fits"
        elif self.crowded:
            yield (
                f"more than {_CROWDED:.0%} of the values lie in one bin, {self.crowded}, so results tell little of "
                "them: choose cut points within it"
            )

    def written(self) -> dict[str, object]:
        """The finding as JSON can hold it."""
        return asdict(self)

    @classmethod
    def read(cls, content: dict[str, Any]) -> Finding:
        """What :meth:`written` gave."""
        found = [Correction(**each) for each in content["corrections"]]
        strange = [(str(text), int(count)) for text, count in content["strange"]]
        return cls(**content | {"corrections": found, "strange": strange})


#: Of the values of a column, or of the rows of a table.
AnyFinding = Finding | RowFinding


def read_finding(content: dict[str, object]) -> AnyFinding:
    """What ``written`` gave."""
    return Finding.read(content) if "column" in content else RowFinding.read(content)


class Examination:
    """Looks on while the tables of a schema are read.

    Parameters
    ----------
    accepted : collection of str
        Columns that may lose what they lose (``TABLE.COLUMN`` in a child table), tables that may
        lose rows, or the :attr:`Finding.yes` of those that may lose just that.
    learned : collection of str
        Columns of which something was learned: these may lose values.
    whole : bool
        Whether these are all rows of a table: further ones may well hold one value only, and be
        about people who are stored already.
    stored : People, optional
        Those people, where the table keeps keys.
    beside : sequence of str
        Columns of the main table that may identify people: see :mod:`dpcore.intake.profile.identifier_candidates`.
    """

    def __init__(
        self,
        schema: Schema,
        accepted: Collection[str] = (),
        *,
        learned: Collection[str] = (),
        whole: bool = True,
        stored: People | None = None,
        beside: Sequence[str] = (),
    ) -> None:
        self._accepted, self._learned, self._whole = frozenset(accepted), frozenset(learned), whole
        self._tables: dict[str, Schema | ChildTable] = {"": schema, **{child.name: child for child in schema.children}}
        self._tallies = {
            name: [_Tally(name, column) for column in table.columns] for name, table in self._tables.items()
        }
        self._orders = {name: OrderTally(name, table) for name, table in self._tables.items()}
        #: Also told how the keys of two files met, if they are joined.
        self.keys = KeyTally(schema, whole=whole, stored=stored)
        self._persons = PersonTally(schema, beside, stored)

    def of(self, chunks: Iterator[pd.DataFrame], table: str = "") -> Iterator[Block]:
        """The same rows, looked at on their way, with the codes of their values.

        The main table comes first, and then tables before those that belong to their rows.
        """
        for block in map(Block, chunks):
            if not self._tables[table].lacking(block.frame.columns):  # Else the ingestion says what is absent.
                for tally in self._tallies[table]:
                    tally.add(block)
            self._orders[table].add(block)
            self.keys.add(block, table)
            if not table:
                self._persons.add(block)
            yield block

    def findings(self) -> list[AnyFinding]:
        """Of every column, those of the main table first; then of rows, where there is something to say."""
        columns = [tally.finding() for tallies in self._tallies.values() for tally in tallies]
        orders = (finding for order in self._orders.values() for finding in order.findings())
        return [*columns, *self._persons.findings(), *self.keys.findings(), *orders]

    def told(self) -> str:
        """What there is to say of people once their rows are stored; empty where each row is one."""
        facts = self._persons.facts
        return " ".join(filter(None, [self.keys.told(), "" if facts is None else facts.sentence]))

    def check(self) -> None:
        """Raise ``LossError`` if something needs a yes that was not given."""
        refused = [finding for finding in self.findings() if self._is_refused(finding)]
        if refused:
            listed = "\n".join(f"- {finding.sentence} (accept: {finding.place})" for finding in refused)
            raise LossError(
                "Nothing is stored: this would lose values, rows or their order, tell nothing, or leave in doubt who a "
                f"person is. Correct the schema or the file, or accept what is found by its name.\n{listed}"
            )

    def _is_refused(self, finding: AnyFinding) -> bool:
        asked = finding.needs_yes if self._whole else finding.loses
        accepted = self._accepted | self._learned if finding.of_values else self._accepted
        return asked and accepted.isdisjoint({finding.place, finding.yes})


class _Tally:
    """Counts of one column."""

    def __init__(self, table: str, column: Any) -> None:
        self._table, self._column = table, column
        self._rows = self._missing = self._unmatched = self._below = self._above = 0
        self._cells = np.zeros(len(column.cells), dtype=np.int64)
        self._strange: Counter[str] = Counter()
        self._numeric, self._answers = isinstance(column, NumericColumn), isinstance(column, BooleanColumn)
        self._used: set[str] = set()
        self._range = np.inf, -np.inf

    def add(self, block: Block) -> None:
        self._rows += len(block)
        (encoded,) = block.encoded(self._column)
        self._cells += np.bincount(encoded.codes, minlength=len(self._cells))
        strange = self._categories(encoded.codes, block) if encoded.found is None else self._numbers(encoded.found)
        if len(strange):
            self._note(self._sources(block.frame, strange))

    def _numbers(self, numbers: Floats) -> Ints:
        """Count what lies beyond the bounds; the places of values that are no numbers."""
        least, most = self._range
        self._range = np.fmin.reduce(numbers, initial=least), np.fmax.reduce(numbers, initial=most)
        self._below += int((numbers < self._column.lower).sum())
        self._above += int((numbers > self._column.upper).sum())
        return np.flatnonzero(np.isnan(numbers))

    def _categories(self, codes: Cells, block: Block) -> Ints:
        """The places of values that match no category."""
        fits = codes < len(self._column.classes)
        if self._answers:
            self._used.update(texts_of(block.values(self._column)[fits].drop_duplicates()))
        return np.flatnonzero(~fits)

    def _sources(self, chunk: pd.DataFrame, places: Ints) -> list[str]:
        """What the file says where no value fits; of several sources, side by side."""
        sides = [texts_of(chunk[source].iloc[places]) for source in self._column.sources if source in chunk.columns]
        return [side[0] if len(sides) == 1 else _together(side) for side in zip(*sides, strict=True)]

    def _note(self, texts: list[str]) -> None:
        absent = {*MISSING_WORDS, *(code.lower() for code in self._column.missing_codes)}
        plain = set() if self._numeric else {cell.lower() for cell in self._column.classes}
        for text, count in Counter(texts).items():
            if text == MISSING or self._is_absent(text, absent - plain):
                self._missing += count
            else:
                self._unmatched += count
                if text in self._strange or len(self._strange) < _MOST_KEPT:
                    self._strange[text] += count

    def _is_absent(self, text: str, absent: Collection[str]) -> bool:
        return text.lower() in absent or bool(
            self._numeric and self._column.missing_codes and _is_number(text) and float(text) in self._codes
        )

    @property
    def _codes(self) -> set[float]:
        return {float(code) for code in self._column.missing_codes if _is_number(code)}

    def finding(self) -> Finding:
        used = [cell for cell, count in zip(self._column.cells, self._cells, strict=True) if count]
        whole = {
            "rows": self._rows,
            "missing": self._missing,
            "unmatched": self._unmatched,
            "below": self._below,
            "above": self._above,
        }
        unused = [cell for cell in self._column.classes if cell not in used]
        return Finding(
            self._table,
            self._column.name,
            **whole,
            strange=nsmallest(LISTED, self._strange.items(), key=lambda pair: (-pair[1], pair[0])),
            kinds=len(self._strange),
            cells=len([cell for cell in used if cell not in RESERVED]) + self._differs_within_its_bin(),
            binned=self._numeric,
            corrections=corrections(self._column, self._strange, unused, self._used) if self._unmatched else [],
            never_missing=self._column.missing == "never",
            wrong=unread_comma(self._column, self._strange),
            crowded=self._crowded() if self._numeric and self._column.inner_edges else "",
        )

    def _crowded(self) -> str:
        """The bin of nearly all numbers, if it is not one for a single number."""
        counts = self._cells[: len(self._column.classes)]
        largest = int(counts.argmax())
        if counts[largest] <= _CROWDED * counts.sum() or self._is_one_number(largest):
            return ""
        return cells_called(self._column)[largest]

    def _is_one_number(self, cell: int) -> bool:
        column = self._column
        ends = (column.lower - 1, *column.inner_edges, column.upper)
        return isinstance(column, IntegerColumn) and floor(ends[cell + 1]) - floor(ends[cell]) == 1

    def _differs_within_its_bin(self) -> bool:
        """Whether numbers without bins, as a target may be, are not all the same."""
        return bool(self._numeric and not self._column.inner_edges and self._range[0] < self._range[1])


def _together(sides: tuple[str, ...]) -> str:
    return "" if not all(sides) else " / ".join(sides)


def _is_number(text: str) -> bool:
    try:
        float(text)
    except ValueError:
        return False
    return True
