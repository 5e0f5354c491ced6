"""Rows that a table would lose because of their keys, counted while they are read.

They name nobody, or somebody or some row that the other table does not have. Of each person who has
to be known again a hash of 8 bytes is held, whose key nobody keeps, unless that of stored people is kept.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Final

import numpy as np

from dpcore.arrays import Array, Flags
from dpcore.data.building.division import named_rows, new_key
from dpcore.data.building.people import People
from dpcore.domain.encoding import Block
from dpcore.domain.schemas.schema import ChildTable, PrivacyUnit, Schema
from dpcore.intake.joins.row_findings import SHARE_LOST, RowFinding
from dpcore.privacy.randomness import SecureRandom

#: Hashes that wait to be sorted in, at least: sorting in a few at a time would be slow.
_CALM: Final = 200_000
#: Makes one hash of a person's and a row's.
_MIXER: Final = np.uint64(0x9E3779B97F4A7C15)
_ANYBODY: Final = "Without a key they could belong to anybody: fill it in in the file, if it is known."
_TWICE: Final = "Somebody whose key is written otherwise than before counts as another person."
_ALIKE: Final = "Check that both write '{key}' alike: leading zeros and endings such as '.0' count."


@dataclass(frozen=True)
class KeyOverlap:
    """How the keys of two joined files met."""

    left: tuple[int, int]
    right: tuple[int, int]
    """``left``, ``right``: rows of each file, and those of them that name nobody."""
    both: int
    """People who are in both."""


class KeyTally:
    """Counts the rows of the tables of a schema that would be lost; tables come before those that belong to them.

    Parameters
    ----------
    whole : bool
        Whether these are all rows: further ones may be about people who are stored already.
    stored : People, optional
        Those people, where further rows come to a table that keeps keys.
    """

    def __init__(self, schema: Schema, *, whole: bool, stored: People | None = None) -> None:
        self._schema = schema
        children = any(map(self._is_apart, schema.children))
        self._asked = stored is not None or (whole and children)
        self._keys = [new_key(SecureRandom())] if stored is None else [stored.keys[0]]
        self._people, self._stored = _Known(), None if stored is None else _known_of(stored)
        self._parents = {child.parent: _Known() for child in schema.children if child.parent is not None}
        self._counts: dict[str, Counter[str]] = {name: Counter() for name in ("", *(c.name for c in schema.children))}
        self._meeting: KeyOverlap | None = None

    def meet(self, meeting: KeyOverlap) -> None:
        """Take down how the keys of two joined files met."""
        self._meeting = meeting

    def add(self, block: Block, table: str) -> None:
        """Count the rows of a block; what is absent, the ingestion says."""
        child = next((child for child in self._schema.children if child.name == table), None)
        key = self._schema.privacy_unit.column if child is None else self._schema.key_of(child)
        needed = {key, *(() if child is None else child.links)}
        if key is None or not needed.issubset(block.frame.columns) or not (child is None or self._is_apart(child)):
            return
        self._counts[table]["rows"] += len(block)
        self._counts[table]["nobody"] += int((block.named(key, self._schema.privacy_unit)[0] < 0).sum())
        if not self._asked:
            return
        people, named = self._hashes(block, key, self._schema.privacy_unit)
        if child is None:
            self._add_main(people[named])
        else:
            self._add_child(block, child, people, named)

    def _is_apart(self, child: ChildTable) -> bool:
        """Whether a child table has rows that are not those of the main one."""
        return not child.from_rows or self._schema.privacy_unit.where is not None

    def _add_main(self, people: Array) -> None:
        self._people.add(people)
        if self._stored is not None:
            self._counts[""]["stored"] += int(self._stored.has(people).sum())

    def _add_child(self, block: Block, child: ChildTable, people: Array, kept: Flags) -> None:
        counts = self._counts[child.name]
        known = self._people.has(people)
        if self._stored is not None:
            known = known | self._stored.has(people)
        counts["unknown"] += int((kept & ~known).sum())
        kept = kept & known
        if child.parent is not None and child.parent_key is not None:
            rows, named = self._hashes(block, child.parent_key)
            known = self._parents[child.parent].has(people * _MIXER + rows)
            counts["unlinked"] += int((kept & ~named).sum())
            counts["orphans"] += int((kept & named & ~known).sum())
        if child.name in self._parents and child.row_key is not None:
            rows, named = self._hashes(block, child.row_key)
            self._parents[child.name].add((people * _MIXER + rows)[kept & named])

    def _hashes(self, block: Block, column: str, unit: PrivacyUnit | None = None) -> tuple[Array, Flags]:
        """A hash of what each row names, and which rows name something."""
        hashes, named = named_rows(block, column, self._keys, unit)
        return hashes[:, 0], named

    def findings(self) -> list[RowFinding]:
        """Of each table, where there is something to say."""
        found = [self._of_main(), *map(self._of_child, self._schema.children)]
        return [finding for finding in found if finding is not None]

    def told(self) -> str:
        """How many further rows are about people who were stored before; empty if these are all rows."""
        counts, key = self._counts[""], self._schema.privacy_unit.column
        if self._stored is None:
            return ""
        about = f"{_of(counts['stored'], counts['rows'] - counts['nobody'])} somebody in '{key}' who was stored before"
        return f"'{self._schema.entity}': {about}. {_TWICE}"

    def _of_main(self) -> RowFinding | None:
        place, key = self._schema.entity, str(self._schema.privacy_unit.column)
        if self._meeting is not None:
            return _of_joined(place, key, self._meeting)
        counts = self._counts[""]
        return _finding(place, counts["nobody"], counts["rows"], list(_unnamed(counts, key)), [_ANYBODY])

    def _of_child(self, child: ChildTable) -> RowFinding | None:
        counts, key = self._counts[child.name], self._schema.key_of(child)
        stored = "" if self._stored is None else ", nor stored before"
        parts = [*_unnamed(counts, key), *_unknown(counts, key, child, stored)]
        lost = sum(counts[kind] for kind in ("nobody", "unknown", "unlinked", "orphans"))
        advice = [_ANYBODY] if counts["nobody"] or counts["unlinked"] else []
        advice += [_ALIKE.format(key=key)] if counts["unknown"] else []
        advice += [_ALIKE.format(key=child.parent_key)] if counts["orphans"] else []
        return _finding(child.name, lost, counts["rows"], parts, advice)


def _unnamed(counts: Counter[str], key: str) -> Iterator[str]:
    if counts["nobody"]:
        yield f"{_of(counts['nobody'], counts['rows'])} nobody in '{key}'"


def _unknown(counts: Counter[str], key: str, child: ChildTable, stored: str) -> Iterator[str]:
    rows, there = counts["rows"], f"of '{child.parent}' in '{child.parent_key}'"
    if counts["unknown"]:
        yield f"{_of(counts['unknown'], rows)} somebody in '{key}' who is not in the main table{stored}"
    if counts["unlinked"]:
        yield f"{_of(counts['unlinked'], rows)} no row {there}"
    if counts["orphans"]:
        yield f"{_of(counts['orphans'], rows)} a row {there} that is not there"


def _of(lost: int, rows: int, where: str = "") -> str:
    return f"{lost:,} of {rows:,} rows{where} {'names' if lost == 1 else 'name'}"


def _finding(place: str, lost: int, rows: int, parts: list[str], advice: list[str]) -> RowFinding | None:
    if not lost:
        return None
    sentence = f"'{place}': {'; '.join(parts)}. These rows would be left out. {' '.join(advice)}"
    return RowFinding(place, sentence, lost > SHARE_LOST * rows)


def _of_joined(place: str, key: str, meeting: KeyOverlap) -> RowFinding | None:
    """Of two joined files: where all people of one are in the other, their keys are written alike."""
    sides = {"first": meeting.left, "second": meeting.right}
    absent = [_of(lost, rows, f" of the {side} file") for side, (rows, lost) in sides.items() if lost]
    unnamed = "; ".join(f"{part} nobody in '{key}'" for part in absent)
    sentences = [f"{unnamed}. These rows would be left out. {_ANYBODY}"] if unnamed else []
    (left, alone), (right, too) = ((rows - lost, rows - lost - meeting.both) for rows, lost in sides.values())
    if alone or too:
        sentences.append(
            f"{alone:,} of {left:,} people of the first file are not in the second, and {too:,} of {right:,} of the "
            f"second not in the first. What the other file says would be missing of them. {_ALIKE.format(key=key)}"
        )
    if not sentences:
        return None
    apart = min(alone - SHARE_LOST * left, too - SHARE_LOST * right) > 0
    needs_yes = apart or any(lost > SHARE_LOST * rows for rows, lost in sides.values())
    return RowFinding(place, f"'{place}': {' '.join(sentences)}", needs_yes)


def _known_of(people: People) -> _Known:
    known = _Known()
    for hashes in people.known():
        known.add(hashes)
    return known


class _Known:
    """Hashes that were met."""

    def __init__(self) -> None:
        self._sorted = np.zeros(0, dtype=np.uint64)
        self._new: list[Array] = []
        self._waiting = 0

    def add(self, hashes: Array) -> None:
        self._new.append(np.unique(hashes))
        self._waiting += len(self._new[-1])
        if self._waiting > max(len(self._sorted), _CALM):
            self._sort_in()

    def has(self, hashes: Array) -> Flags:
        """Which of these were met."""
        self._sort_in()
        if not len(self._sorted):
            return np.zeros(len(hashes), dtype=np.bool_)
        places = np.minimum(np.searchsorted(self._sorted, hashes), len(self._sorted) - 1)
        return np.asarray(self._sorted[places] == hashes)

    def _sort_in(self) -> None:
        if self._new:
            self._sorted = np.unique(np.concatenate([self._sorted, *self._new]))
            self._new, self._waiting = [], 0
