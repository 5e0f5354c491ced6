"""Groups of codes in classifications that everybody can look up: ICD-10, ICD-9-CM and ATC.

The tables beside this module hold where each chapter and block begins and ends: of ICD-10 as the WHO
published it in 2019 (with room for codes that ICD-10-CM adds to a chapter), of ICD-9-CM as of 2014,
its last year, and the first two levels of the ATC of 2024; labels are shortened. Of finer levels
(category, ATC 3 and 4) a group is the first signs of a code, and a schema lists those that count.
"""

from __future__ import annotations

import csv
import re
from bisect import bisect_right
from collections import defaultdict
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Final, Literal

System = Literal["icd10", "icd9", "atc"]
Level = Literal["chapter", "block", "category", "1", "2", "3", "4"]
#: What the systems are called.
NAMES: Final = {"icd10": "ICD-10", "icd9": "ICD-9-CM", "atc": "ATC"}
_LEVELS: Final[dict[str, tuple[str, ...]]] = {
    "icd10": ("chapter", "block", "category"),
    "icd9": ("chapter", "block", "category"),
    "atc": ("1", "2", "3", "4"),
}
#: Where a code of a system has the signs that groups are told by.
_HEADS: Final = {
    "icd10": re.compile(r"([A-Z][0-9][0-9A-Z])\.?[0-9A-Z]{0,4}[-*+!†]?"),
    "icd9": re.compile(r"(V[0-9]{2}|E[0-9]{3}|[0-9]{3}|[0-9]{1,2}(?=\.|$))(?:\.?[0-9]{0,2})"),
    "atc": re.compile(r"([A-Z](?:[0-9]{2}(?:[A-Z](?:[A-Z](?:[0-9]{2})?)?)?)?)"),
}
_ATC_SIGNS: Final = {"1": 1, "2": 3, "3": 4, "4": 5}


@dataclass(frozen=True)
class CodeGroup:
    """A chapter or block: its name in a schema, its title, and the codes that it begins and ends with."""

    name: str
    label: str
    first: str
    last: str


def _table(system: str) -> dict[str, tuple[CodeGroup, ...]]:
    found: dict[str, list[CodeGroup]] = defaultdict(list)
    with (Path(__file__).parent / "code_tables" / f"{system}.csv").open(encoding="utf-8", newline="") as file:
        for line in csv.DictReader(file):
            first, last = line["first"], line["last"]
            between = first if first == last else f"{first}-{last}"
            found[line["level"]].append(CodeGroup(line.get("name") or between, line["label"], first, last))
    return {level: tuple(sorted(groups, key=lambda group: group.first)) for level, groups in found.items()}


#: The groups of each system's levels that are listed, by the codes that they begin with.
TABLES: Final = {system: _table(system) for system in _LEVELS}


def levels_of(system: str) -> tuple[str, ...]:
    """Levels of a system, from coarse to fine."""
    return _LEVELS[system]


@cache
def groups_of(system: str, level: str) -> frozenset[str]:
    """Names of the groups of a level that is listed."""
    return frozenset(group.name for group in TABLES[system][level])


def group_of(system: str, level: str, text: str) -> str:
    """The group that a code is in; a text that is no code of the system stays what it is."""
    matched = _HEADS[system].fullmatch(text.upper())
    if matched is None:
        return text
    head = matched[1].zfill(3) if system == "icd9" else matched[1]
    if system == "atc":
        return head[: _ATC_SIGNS[level]] if len(head) >= _ATC_SIGNS[level] else text
    if level == "category":
        return head
    table = TABLES[system][level]
    place = bisect_right(table, head, key=lambda group: group.first) - 1
    return table[place].name if place >= 0 and head <= table[place].last else text
