"""Conditions of a redescription in plain words.

Every text has one reading. "And" and "or" are never mixed without brackets; what "no" denies is
said with "neither .. nor" or "at most one of"; values of several years are "in both" or "in 2008 or
2009". Trees send unknown values of ordered columns where high ones go, or where low ones go: if
that matters more than once, it is said once, at the end.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import chain

from dpcore.models.redescriptions.released.formal import EVERYONE, NOBODY, Saying, listed, saying
from dpcore.models.redescriptions.released.tree_pair import Box, Domain

#: A column and the cells that it may have.
Condition = tuple[str, int]
_NUMBERS = ("no", "one", "two", "three", "four", "five", "six", "seven", "eight", "nine")


def plain(boxes: Sequence[Box], domain: Domain) -> str:
    """A union of boxes as a clinician would say it, such as ``diabetes in 2008 or 2009``."""
    if not boxes:
        return NOBODY
    if not all(boxes):
        return EVERYONE
    whole = _factored([tuple(box.items()) for box in boxes], domain)
    text = _Text(domain, aside=False)
    said = text.either(whole)
    if len(text.unknown) < 2 or not (text.high or text.low):
        return said
    other = any(words != "missing" for words in text.unknown)
    words = "other and missing count" if other else "missing counts"
    end = "high" if text.high else "low"
    return f"{_Text(domain, aside=True).either(whole)} ({words} as {end})"


def condition_count(boxes: Sequence[Box]) -> int:
    """Number of conditions on single columns."""
    return sum(len(box) for box in boxes)


@dataclass(frozen=True)
class _All:
    """Conditions that must all hold, and one of some others."""

    conditions: tuple[Condition, ...]
    rest: _Either | None = None


@dataclass(frozen=True)
class _Either:
    """Single conditions and groups of them, one of which must hold."""

    single: tuple[Condition, ...]
    groups: tuple[_All, ...]


def _factored(boxes: Sequence[tuple[Condition, ...]], domain: Domain) -> _Either:
    """Put what several boxes have in common in front of them, so that it is said once."""
    single = tuple(box[0] for box in boxes if len(box) == 1)
    longer = [box for box in boxes if len(box) > 1]
    groups: list[_All] = []
    while longer:
        counts = Counter(chain.from_iterable(longer))
        shared, times = min(counts.items(), key=lambda item: (-item[1], domain.place(item[0][0]), item[0][1]))
        if times == 1:
            groups += [_All(box) for box in longer]
            break
        rest = [tuple(one for one in box if one != shared) for box in longer if shared in box]
        longer = [box for box in longer if shared not in box]
        groups.append(_joined(shared, _factored(rest, domain)))
    return _Either(single, tuple(groups))


def _joined(shared: Condition, rest: _Either) -> _All:
    if not rest.single and len(rest.groups) == 1:
        return _All((shared, *rest.groups[0].conditions), rest.groups[0].rest)
    return _All((shared,), rest)


class _Text:
    """Writes conditions down and remembers what it said of unknown values."""

    def __init__(self, domain: Domain, *, aside: bool) -> None:
        self._domain, self._aside = domain, aside
        self.unknown: list[str] = []
        self.high = self.low = True

    def either(self, whole: _Either) -> str:
        """Alternatives, joined by "or"."""
        parts = self._phrases(whole.single, "or")
        parts += [(self._all(group), True) for group in whole.groups]
        return _bracketed(parts, " or ")

    def _all(self, group: _All) -> str:
        parts = self._phrases(group.conditions, "and")
        if group.rest is not None:
            parts.append((self.either(group.rest), True))
        return _bracketed(parts, " and ")

    def _phrases(self, conditions: Sequence[Condition], link: str) -> list[tuple[str, bool]]:
        """One phrase for conditions that differ in the year only, and one for all that is denied.

        With each, whether it needs brackets beside others.
        """
        groups: dict[object, list[Saying]] = {}
        for name, cells in conditions:
            one = saying(name, cells, self._domain)
            same = "no" if one.kind == "no" else (one.stem, bool(one.year), one.value, one.unknown)
            groups.setdefault(same, []).append(one)
        said = []
        for group in groups.values():
            dated = [group] if group[0].kind == "no" or group[0].year else [[one] for one in group]
            said += [self._phrase(items, link) for items in dated]
        return said

    def _phrase(self, group: Sequence[Saying], link: str) -> tuple[str, bool]:
        first = group[0]
        if first.kind == "no":
            return _denied(group, link), link == "or" and len(group) > 1
        self.high &= first.high
        self.low &= first.low
        tail = ""
        if first.unknown:
            self.unknown.append(first.unknown)
            tail = "" if self._aside else f" (or {first.unknown})"
        value = f" {first.value}" if first.value else ""
        return f"{first.stem}{value}{_years(group, link)}{tail}", first.several


def _bracketed(parts: Sequence[tuple[str, bool]], link: str) -> str:
    if len(parts) == 1:
        return parts[0][0]
    return link.join(f"({text})" if mixed else text for text, mixed in parts)


def _years(group: Sequence[Saying], link: str) -> str:
    years = sorted(one.year for one in group if one.year)
    if not years:
        return ""
    every = {1: "", 2: "both "}.get(len(years), "all of ") if link == "and" else ""
    return f" in {every}{listed(years, link)}"


def _denied(group: Sequence[Saying], link: str) -> str:
    """Yes/no columns that are not yes: none of them, or not all of them."""
    names = [f"{one.stem} in {one.year}" if one.year else one.stem for one in group]
    if len(group) == 1:
        return f"no {names[0]} on record"
    if len({one.stem for one in group}) == 1 and all(one.year for one in group):
        years = sorted(one.year for one in group)
        return f"{group[0].stem} on record in {_few_of(years, link)}"
    return f"{_few_of(names, link)} on record"


def _few_of(names: Sequence[str], link: str) -> str:
    """None of some if each is denied ("and"); not all of them if one is ("or")."""
    if link == "or":
        return f"at most {_number(len(names) - 1)} of {listed(names, 'and')}"
    if len(names) == 2:
        return f"neither {names[0]} nor {names[1]}"
    return f"none of {listed(names, 'and')}"


def _number(count: int) -> str:
    return _NUMBERS[count] if count < len(_NUMBERS) else str(count)
