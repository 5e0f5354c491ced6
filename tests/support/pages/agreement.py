"""Numbers of one result, by their keys, as they are read off every place that shows them."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from html import unescape
from typing import Any

#: What a number is of: a row, and a figure in it.
Key = tuple[str, ...]
_NUMBER = r"(?:below |above )?[+−-]?[\d,]+(?:\.\d+)?%?"
#: ``9.4% (noise alone: 6.1% to 13%)``, ``0.69 (0.68 to 0.70)`` or ``1,234 (1,200 to 1,260)``.
RANGED = re.compile(rf"({_NUMBER}) \((?:noise alone:? )?({_NUMBER}) to ({_NUMBER})")


@dataclass(frozen=True)
class Told:
    """A number as it was told: it lies within ``half`` of ``value``."""

    value: float
    half: float = 1e-9

    def meets(self, other: Told) -> bool:
        """Whether both may be roundings of one number."""
        return abs(self.value - other.value) <= self.half + other.half + 1e-9


Sheet = dict[Key, Told]


def told(text: str) -> Told:
    """A printed number, with half a unit of its last digit."""
    words = text.strip().replace("−", "-").replace(",", "").lstrip("+±×")
    if words.startswith(("below ", "above ")):
        return Told(0.0005, 0.0005) if words.startswith("below") else Told(0.9995, 0.0005)
    digits = words.removesuffix("%")
    half = 0.5 * 10.0 ** -len(digits.partition(".")[2])
    scale = 0.01 if words.endswith("%") else 1.0
    return Told(float(digits) * scale, half * scale)


def ranged(key: Key, text: str) -> Sheet:
    """A figure with its interval; nothing if the text tells none."""
    found = RANGED.search(text)
    return {} if found is None else {(*key, end): told(own) for end, own in zip(ENDS, found.groups(), strict=True)}


ENDS = ("value", "low", "high")


def exactly(key: Key, value: float, low: float, high: float) -> Sheet:
    """The same of a number that is known to its last digit."""
    return {(*key, end): Told(float(own)) for end, own in zip(ENDS, (value, low, high), strict=True)}


def joined(sheets: Iterable[Sheet]) -> Sheet:
    """All of some sheets; a key that is told twice must be told alike."""
    whole: Sheet = {}
    for sheet in sheets:
        for key, own in sheet.items():
            assert whole.setdefault(key, own).meets(own), (key, whole[key], own)
    return whole


def disagreements(exact: Mapping[Key, Told], places: Mapping[str, Mapping[Key, Told]]) -> list[str]:
    """Every number that a place tells otherwise than the result itself, or that the result does not hold."""
    found = []
    for place, sheet in places.items():
        for key, own in sheet.items():
            if key not in exact:
                found.append(f"{place}: {key} is not in the result")
            elif not own.meets(exact[key]):
                found.append(f"{place}: {key} is {own.value}, in the result {exact[key].value}")
    return found


def cells(html: str) -> list[list[str]]:
    """Rows of all tables of a page, as plain text."""
    rows = re.findall(r"<tr[^>]*>(.*?)</tr>", html, re.DOTALL)
    return [[plain(cell) for cell in re.findall(r"<t[dh][^>]*>(.*?)</t[dh]>", row, re.DOTALL)] for row in rows]


def plain(html: str) -> str:
    """HTML without marks."""
    return " ".join(unescape(re.sub(r"<[^>]+>", " ", html)).split())


def markdown_cells(text: str) -> list[list[str]]:
    """Rows of all tables of a Markdown file, as plain text."""
    lines = [line for line in text.splitlines() if line.startswith("|")]
    rows = [re.split(r"(?<!\\)\|", line)[1:-1] for line in lines if not re.fullmatch(r"[|:\- ]+", line)]
    return [[" ".join(unescape(re.sub(r"\\(.)", r"\1", cell)).split()) for cell in row] for row in rows]


def bars(trace: Any) -> list[tuple[float, float, float]]:
    """Values of a chart's horizontal marks or bars, with the ends of their whiskers."""
    values, error = list(trace.x), trace.error_x
    if error.array is None:
        return [(value, value, value) for value in values]
    more = zip(values, error.arrayminus, error.array, strict=True)
    return [(value, value - below, value + above) for value, below, above in more]


def group_sheet(row: str, classes: Sequence[str], shown: int, group: Any) -> Sheet:
    """Noisy chance and counts of a rule, a clause or the end of a tree."""
    chance = exactly((row, classes[shown]), group.estimates[shown], *group.intervals[shown])
    return chance | {
        (row, "count", name): Told(float(count)) for name, count in zip(classes, group.noisy_counts, strict=True)
    }


def counted(row: str, text: str, classes: Sequence[str]) -> Sheet:
    """Counts behind names: ``no: 15 ±5 yes: 156 ±5``."""
    found = ((name, re.search(rf"(?:^|\s){re.escape(name)}: ([−-]?[\d,]+)", text)) for name in classes)
    return {(row, "count", name): told(number[1]) for name, number in found if number is not None}
