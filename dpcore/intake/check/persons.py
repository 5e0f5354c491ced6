"""Who is a person in a file: how many there are, and where the column that says so is likely to say it wrongly.

Found while rows are read, for the custodian's eyes only, and kept nowhere. Counts are exact.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Final

import numpy as np

from dpcore.arrays import Array
from dpcore.data.building.division import hashes_of, new_key
from dpcore.data.building.people import People
from dpcore.domain.encoding import Block
from dpcore.domain.identifiers import STEPS, plain_key, spellings
from dpcore.domain.schemas.schema import Schema
from dpcore.intake.check.key_counts import KeyCounts
from dpcore.intake.check.placeholders import Frequent
from dpcore.intake.columns.corrections import Correction
from dpcore.intake.columns.identifiers import PERSON, REPEATS, rank
from dpcore.intake.joins.row_findings import SHARE_LOST, RowFinding
from dpcore.numerals import percent
from dpcore.privacy.randomness import SecureRandom

#: So many people, with so many rows each, are more likely wards or groups.
_FEW_PEOPLE, _MANY_ROWS, _LEAST_ROWS = 100, 10, 100
_SPOILED: Final = re.compile(r"[+-]?\d([.,]\d+[eE][+-]?|[eE]\+)\d+|#+(REF!|VALUE!|N/?A|NAME\?|NUM!|DIV/0!)?", re.ASCII)
#: A float holds whole numbers of so many digits; of longer ones it holds some.
_EXACT_DIGITS: Final = 15
_ROUNDED: Final = re.compile(r"\d{5,}0{4,}", re.ASCII)
_LONG: Final = 9
#: Share of the long numbers that have to look rounded, and different ones that there must be.
_MOST, _SEVERAL = 0.9, 10
#: Different spellings that are remembered, to show two that are alike.
_REMEMBERED, _SHOWN = 20_000, 2


@dataclass(frozen=True)
class PersonFacts:
    """People and rows of the main table."""

    column: str
    """Which column names the person."""
    rows: int
    unnamed: int
    """``rows``, ``unnamed``: all rows, and those that name nobody."""
    people: int
    median: int
    largest: int
    """``median``, ``largest``: rows of a person."""
    limit: int
    dropped: int
    """``limit``, ``dropped``: rows that are kept of a person, and rows beyond it."""

    @property
    def sentence(self) -> str:
        """All of it in words."""
        people = "1 person" if self.people == 1 else f"{self.people:,} people"
        each = f"{self.median:,} {'row' if self.median == 1 else 'rows'} of each (median), at most {self.largest:,}"
        lost = f" {self.dropped:,} rows are beyond the {self.limit:,} kept of a person." if self.dropped else ""
        return f"'{self.column}' names {people} in {self.rows - self.unnamed:,} rows: {each}.{lost}"


class PersonTally:
    """Counts people while the rows of the main table are read.

    Parameters
    ----------
    beside : sequence of str
        Columns that may identify people, too: see :mod:`dpcore.intake.profile.identifier_candidates`.
    stored : People, optional
        People whose rows are stored already.
    """

    def __init__(self, schema: Schema, beside: Sequence[str] = (), stored: People | None = None) -> None:
        self._schema, self._unit = schema, schema.privacy_unit
        self._key = new_key(SecureRandom()) if stored is None else stored.keys[0]
        self._before = KeyCounts()
        for hashes in () if stored is None else stored.known():
            self._before.add(*np.unique(hashes, return_counts=True))
        self._stored_alike = KeyCounts()
        self._counts, self._frequent = KeyCounts(), Frequent()
        self._beside = {name: KeyCounts() for name in beside if name not in REPEATS}
        self._rows = self._unnamed = self._repeated = 0
        self._forms: Counter[str] = Counter()
        self._example = ""
        self._spelled: dict[str, str] = {}
        self._alike: list[tuple[str, str]] = []

    def add(self, block: Block) -> None:
        """Count the rows of a block; what is absent, the ingestion says."""
        self._rows += len(block)
        self._repeated += _repeating(block)
        for name, counts in self._beside.items():
            if name in block.frame.columns:
                places, names = block.named(name)
                counts.add(self._hashes(names), np.bincount(places[places >= 0], minlength=len(names)))
        if self._unit.column is None or self._unit.column not in block.frame.columns:
            return
        places, names = block.named(self._unit.column, self._unit)
        rows = np.bincount(places[places >= 0], minlength=len(names))
        self._unnamed += int((places < 0).sum())
        keys = self._hashes(names)
        self._frequent.add(keys, names, rows)
        self._look_at_spelling(keys, names, rows)
        self._look_at_forms(names, rows, block.frame[self._unit.column].dtype)

    def _hashes(self, names: Array) -> Array:
        return hashes_of(names, [self._key])[:, 0] if len(names) else np.zeros(0, dtype=np.uint64)

    def _look_at_spelling(self, keys: Array, names: Array, rows: Array) -> None:
        plain = [plain_key(name) for name in names]
        steps = np.asarray([changed for _, changed in plain], dtype=np.uint8)
        other = keys.copy()
        changed = np.flatnonzero(steps)
        other[changed] = self._hashes(np.asarray([plain[place][0] for place in changed], dtype=object))
        self._counts.add(keys, rows, other, steps)
        for name, (left, _) in zip(names, plain, strict=True):
            if len(self._spelled) >= _REMEMBERED and left not in self._spelled:
                continue
            first = self._spelled.setdefault(left, name)
            if first != name and len(self._alike) < _SHOWN:
                self._alike.append((first, name))
        self._compare_with_stored(keys, names)

    def _compare_with_stored(self, keys: Array, names: Array) -> None:
        """Note whose identifiers are not stored, but are otherwise spelled."""
        before = self._before.counted["key"]
        if not len(before):
            return
        new = np.flatnonzero(~np.isin(keys, before))
        others = [(place, other) for place in new for other in spellings(names[place])]
        there = np.isin(self._hashes(np.asarray([other for _, other in others], dtype=object)), before)
        alike = sorted({place for (place, _), known in zip(others, there, strict=True) if known})
        self._stored_alike.add(keys[alike], np.ones(len(alike), dtype=np.int64))

    def _look_at_forms(self, names: Array, rows: Array, kind: object) -> None:
        """Count what spreadsheets and floating-point numbers make of identifiers."""
        tally, single = self._forms, kind == np.float32
        tally["names"] += len(names)
        for name, count in zip(names, rows.tolist(), strict=True):
            if _SPOILED.fullmatch(name):
                tally["spoiled"] += count
                self._example = self._example or name
            elif len(name) >= _LONG - single and name.isdigit() and name.isascii():
                tally["long"] += 1
                tally["round"] += _ROUNDED.fullmatch(name) is not None
                tally["inexact"] += single or _is_inexact(name)

    @property
    def facts(self) -> PersonFacts | None:
        """Of the column that names the person; ``None`` where each row is one, or nobody is named."""
        each = self._people["rows"]
        if self._unit.column is None or not len(each):
            return None
        limit = self._unit.max_rows_per_person
        return PersonFacts(
            column=self._unit.column,
            rows=int(each.sum()) + self._unnamed,
            unnamed=self._unnamed,
            people=len(each),
            median=int(np.median(each)),
            largest=int(each.max()),
            limit=limit,
            dropped=0 if self._summed_up else int(np.maximum(each - limit, 0).sum()),
        )

    @property
    def _people(self) -> Array:
        """Counts of the people of these rows and of those that are stored."""
        before = self._before.counted
        if len(before):
            self._counts.add(before["key"], before["rows"])
            self._before = KeyCounts()
        return self._counts.counted

    @property
    def _summed_up(self) -> bool:
        """Whether no row is lost where a person has several."""
        children = any(child.from_rows for child in self._schema.children)
        return children or any(column.summary is not None for column in self._schema.columns)

    def findings(self) -> list[RowFinding]:
        """What is to be known about people; those that are likely to be mistakes need a yes."""
        facts = self.facts
        if facts is None:
            found = [*self._instruments(), *self._identifier_beside()]
        else:
            told = RowFinding(f"{self._schema.entity}:people", facts.sentence, needs_yes=False)
            more = [self._rounded(facts), self._placeholders(facts), self._spellings(facts)]
            found = [told, *self._instruments(), *self._identifier_beside(), *self._columns(facts), *filter(None, more)]
        return found

    def _asked(self, kind: str, sentence: str, *corrections: Correction) -> RowFinding:
        return RowFinding(f"{self._schema.entity}:{kind}", sentence, needs_yes=True, corrections=list(corrections))

    def _instruments(self) -> Iterator[RowFinding]:
        if self._repeated and self._unit.where is None:
            yield self._asked(
                "repeating-instruments",
                f"{self._repeated:,} of {self._rows:,} rows are of repeating instruments of REDCap, so what stands in "
                "the other rows of a record would be missing or lost. Make a table of each instrument: 'schema "
                "template' does it from the data dictionary and this file.",
            )

    def _columns(self, facts: PersonFacts) -> Iterator[RowFinding]:
        """Rows beyond the limit, and a column of few values."""
        better = [
            self._named_instead(name)
            for name, counts in self._beside.items()
            if len(counts.counted) > facts.people and _has_many(counts)
        ]
        share = facts.dropped / facts.rows
        if share > SHARE_LOST and self._unit.keep == "random":
            kept = "1 row" if facts.limit == 1 else f"{facts.limit:,} rows"
            sentence = (
                f"{kept} of a person {'is' if facts.limit == 1 else 'are'} kept, so {facts.dropped:,} of "
                f"{facts.rows:,} rows ({percent(share)}) would be left out. If '{facts.column}' names the person, keep "
                "more rows of each; else name another column."
            )
            yield self._asked("rows-dropped", sentence, *better)
        mean = (facts.rows - facts.unnamed) / facts.people
        few = facts.people <= _FEW_PEOPLE and mean >= _MANY_ROWS and facts.rows >= _LEAST_ROWS
        if few and rank(facts.column) != PERSON:
            sentence = (
                f"'{facts.column}' has {facts.people:,} different values in {facts.rows:,} rows. If these are not "
                "people but groups of them, such as wards, nobody is protected: name the column of the person."
            )
            yield self._asked("few-people", sentence, *better)

    def _identifier_beside(self) -> Iterator[RowFinding]:
        """A column that is likely to name the person, where the schema says that another, or each row, does."""
        for name, counts in self._beside.items():
            if not _repeats(name, counts) or not self._may_be_finer_than(name, counts):
                continue
            mine = "Each row counts as a person" if self._unit.column is None else f"'{self._unit.column}' names people"
            known = int(counts.counted["rows"].sum())
            yield self._asked(
                "other-identifier",
                f"{mine}, but '{name}' looks like an identifier and repeats: {len(counts.counted):,} different "
                f"values in {known:,} rows. If it names the person, someone with several rows is protected for one of "
                "them only: name it as the person.",
                self._named_instead(name),
            )
            return

    def _may_be_finer_than(self, name: str, counts: KeyCounts) -> bool:
        """Whether what counts as a person now may be a part of one whom the other column names."""
        if self._unit.column is None:
            return True
        people = len(self._people)
        if len(counts.counted) >= people:
            return False
        alone = people == int(self._people["rows"].sum())
        mine, other = rank(self._unit.column), rank(name)
        return (alone and mine <= other) or mine < PERSON == other

    def _named_instead(self, name: str) -> Correction:
        return Correction(f"Name '{name}' as the person", {"privacy_unit": {"column": name}})

    def _rounded(self, facts: PersonFacts) -> RowFinding | None:
        tally, again = self._forms, "Export the file again, with this column as text."
        if tally["spoiled"]:
            return self._asked(
                "mangled",
                f"{tally['spoiled']:,} of {facts.rows:,} rows have an identifier that a spreadsheet has spoiled, such "
                f"as {self._example!r}: different people became one, and {facts.people:,} are left. {again}",
            )
        most = max(2, _MOST * tally["long"], 0.5 * tally["names"])
        if tally["round"] >= most or tally["inexact"] >= max(_SEVERAL, most):
            return self._asked(
                "mangled",
                f"The long numbers in '{facts.column}' are rounded, as spreadsheets and floating-point numbers do: "
                f"different people may have become one, and {facts.people:,} are left. {again}",
            )
        return None

    def _placeholders(self, facts: PersonFacts) -> RowFinding | None:
        found = self._frequent.placeholders(self._people)
        if not found:
            return None
        listed = ", ".join(f"'{name}' ({rows:,} rows)" for name, rows in found.items())
        absent = [*self._unit.missing_codes, *found]
        return self._asked(
            "placeholders",
            f"{sum(found.values()):,} of {facts.rows:,} rows have an identifier that may stand for people who are not "
            f"known: {listed}; others have {facts.median:,} (median). Each such text counts as one person.",
            Correction("Treat these as missing identifiers", {"privacy_unit": {"missing_codes": absent}}),
        )

    def _spellings(self, facts: PersonFacts) -> RowFinding | None:
        several, groups, differing = self._counts.alike()
        stored = len(self._stored_alike.counted)
        if stored:
            return self._asked(
                "look-alike",
                f"{stored:,} identifiers differ only in spelling from one that is stored, as in leading zeros or in "
                "upper and lower case, and would count as further people: write them as before.",
            )
        if not several:
            return None
        what = " or ".join(name for place, (name, _) in enumerate(STEPS) if differing >> place & 1)
        pairs = ", ".join(f"{one!r} and {other!r}" for one, other in self._alike)
        return self._asked(
            "look-alike",
            f"{several:,} identifiers differ from another one only in {what}"
            f"{f', such as {pairs}' if pairs else ''}: {facts.people:,} people as they are written, "
            f"{facts.people - several + groups:,} if spelling does not count.",
            Correction("Count them as one person, whatever the spelling", {"privacy_unit": {"matching": "loose"}}),
        )


def _is_inexact(digits: str) -> bool:
    """Whether a long number is one that a float, or a spreadsheet with 15 digits, would keep as it is."""
    beyond = len(digits) - _EXACT_DIGITS
    return beyond > 0 and (digits.endswith("0" * beyond) or 2**53 < int(digits) == int(float(digits)))


def _repeating(block: Block) -> int:
    """Rows of repeating instruments of REDCap."""
    there = [name for name in REPEATS if name in block.frame.columns]
    if len(there) < len(REPEATS):
        return 0
    return int(np.any([block.named(name)[0] >= 0 for name in there], axis=0).sum())


def _has_many(counts: KeyCounts) -> bool:
    """Whether a column has as many values as one of people has."""
    rows = counts.counted["rows"]
    return len(rows) > 2 and len(rows) >= min(10, 0.1 * rows.sum())


def _repeats(name: str, counts: KeyCounts) -> bool:
    """Whether a column has many values, some of them in several rows."""
    rows = counts.counted["rows"]
    again = int((rows > 1).sum())
    return _has_many(counts) and again >= (1 if rank(name) == PERSON else max(2, 0.01 * len(rows)))
