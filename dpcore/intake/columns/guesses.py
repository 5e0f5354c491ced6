"""What a column probably is, by its name alone: no value is read.

Limits and cut points come from a table beside this module, which says for each line what it goes by.
"""

from __future__ import annotations

import csv
import math
import re
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any

from dpcore.domain.columns import format_number
from dpcore.domain.schemas.origins import STANDARD
from dpcore.intake.columns.identifiers import PERSON, names_people, rank, snake

_TABLE = Path(__file__).parents[1] / "standards" / "measurements.csv"
LEFT_OUT = "leave out"
#: An identifier of anything: of a person, but also of a visit, a ward or a device.
IDENTIFIER = re.compile(r"(^|_)(id|ids|nr|nbr|number|uuid|guid|uid|mrn|ssn|kennung|pseudonym)$|nummer$")
#: What ends in ``_id`` after one of these is a code with few values, not an identifier.
_CODED = re.compile(
    r"(^|_)(type|disposition|source|status|category|class|group|reason|specialty|concept|race|sex|gender|"
    r"ethnicity|kind|severity|stage)_id$"
)
_YES_NO = re.compile(r"^(is|has|had|on|any)_|_(flag|yn)$|^(male|female|died|dead|deceased|survived|alive)$")
_COUNT = re.compile(r"^(num|number|n|nbr|cnt|count)_|_(count|counts|cnt)$")
_SPAN = re.compile(r"(^|_)(minutes|hours|days|weeks|months|years|duration)($|_(since|to|until|before|after|in)_)")
_TEXT = re.compile(
    r"[a-z]*(name|address|comment|note|text|date|time|timestamp|phone|mail|remark)s?|dob|zip[a-z]*|postcode|post_?code"
)
#: A name with one of these is about the measurement, and no measurement itself.
_ABOUT = frozenset(
    {
        *("group", "category", "cat", "class", "range", "band", "status", "flag", "type", "code", "result"),
        *("test", "yn", "change", "unit", "units", "id", "date"),
    }
)
_SEXES: dict[str, object] = {
    "type": "categorical",
    "categories": ["female", "male"],
    "matching": "loose",
    "origin": STANDARD,
}


@dataclass(frozen=True)
class Measurement:
    """A line of the table of plausible ranges: what a name stands for in one unit."""

    name: str
    words: tuple[tuple[str, ...], ...]
    """The names it goes by, word by word."""
    fields: dict[str, Any]
    """Of a column of a schema."""
    units: tuple[tuple[str, ...], ...]
    """What in a name tells the unit, word by word."""
    presumed: bool
    """Whether this is the unit where a name tells none."""
    source: str
    """What the line goes by."""


@cache
def measurements() -> tuple[Measurement, ...]:
    """The table of plausible ranges of common measurements."""
    with _TABLE.open(encoding="utf-8", newline="") as file:
        return tuple(map(_line, csv.DictReader(file)))


def _line(line: dict[str, str]) -> Measurement:
    told = line["unit_words"].split("|")
    units = {_words(text) for text in [*told, snake(line["unit"])]} - {()}
    fields = {
        "type": line["type"],
        "lower": as_written(float(line["lower"])),
        "upper": as_written(float(line["upper"])),
        "edges": [as_written(float(edge)) for edge in line["edges"].split()],
        **({} if line["unit"] == "1" or line["unit"].startswith("{") else {"unit": line["unit"]}),
        "origin": STANDARD,
    }
    words = tuple(_words(text) for text in line["words"].split("|"))
    return Measurement(line["name"], words, fields, tuple(sorted(units)), "" in told, line["source"])


def _words(name: str) -> tuple[str, ...]:
    return tuple(_singular(word) for word in name.split("_") if word)


def _singular(word: str) -> str:
    return word[:-1] if len(word) > 3 and word.endswith("s") and not word.endswith("ss") else word


def is_code(name: str) -> bool:
    """Whether a name says that numbers are codes of few things, such as ``admission_type_id``."""
    return _CODED.search(snake(name)) is not None


def guess(name: str, declared: str | None = None) -> dict[str, Any]:
    """Draft of a column by its name, and by the type that a file declares.

    Parameters
    ----------
    declared : {"boolean", "integer", "real", "text"} or None
        ``None`` if the file declares none. A guess never contradicts it.

    Returns
    -------
    dict
        Fields of a column of a schema; incomplete where only the values or a person can tell.
        The type is ``"leave out"`` for identifiers and free text.
    """
    fields = {"type": "boolean"} if declared == "boolean" else _agreeing(_by_name(snake(name)), declared)
    return {"name": name, **fields}


def _by_name(plain: str) -> dict[str, object]:
    if _YES_NO.search(plain):
        return {"type": "boolean"}
    if measured := _measured(plain):
        return measured
    if plain in {"sex", "gender"}:
        return _SEXES
    if _CODED.search(plain):
        return {"type": "categorical", "matching": "loose"}
    if _COUNT.search(plain) or (_SPAN.search(plain) and not _ABOUT & set(plain.split("_"))):
        return {"type": "integer", "lower": 0}
    text = any(_TEXT.fullmatch(word) for word in plain.split("_"))
    if text or rank(plain) == PERSON or names_people(plain) or IDENTIFIER.search(plain):
        return {"type": LEFT_OUT}
    return {}


def _agreeing(fields: dict[str, Any], declared: str | None) -> dict[str, object]:
    """A guess without what a declared type rules out."""
    kind = fields.get("type")
    if kind is None:
        return {"type": declared if declared in {"integer", "real"} else "categorical"}
    if declared == "text" and kind in {"integer", "real"}:
        return {"type": "categorical"}
    if declared not in {"integer", "real"}:
        return fields
    if "categories" in fields:
        return {"type": "categorical"}
    if kind == "integer" or (kind == "real" and declared == "integer"):
        whole = {"lower": math.floor, "upper": math.ceil} if declared == "integer" else {}
        bounds = {name: up(fields[name]) for name, up in whole.items() if name in fields}
        return {**fields, "type": declared, **bounds}
    return fields


def _measured(plain: str) -> dict[str, object]:
    """Fields of the measurement that a name stands for; only the type where it does not tell the unit."""
    words = _words(plain)
    if _ABOUT & set(words):
        return {}
    found = [(len(way), line, rest) for line in measurements() for way in line.words for rest in _without(words, way)]
    if not found:
        return {}
    longest = max(length for length, *_ in found)
    lines = [(line, rest) for length, line, rest in found if length == longest]
    told = [line for line, rest in lines if any(_holds(rest, unit) for unit in line.units)]
    if not told and not any(_holds(rest, unit) for _, rest in lines for unit in _all_units()):
        told = [line for line, _ in lines if line.presumed]
    return told[0].fields if told else {"type": "real"}


@cache
def _all_units() -> frozenset[tuple[str, ...]]:
    units = {unit for line in measurements() for unit in line.units}
    return frozenset(unit for unit in units if len("_".join(unit)) > 2)


def _without(words: tuple[str, ...], way: tuple[str, ...]) -> list[tuple[str, ...]]:
    """What else a name says beside the words of a measurement; a short word must stand first."""
    places = range(len(words) - len(way) + 1) if len("".join(way)) > 2 else range(min(1, len(words)))
    return [words[:place] + words[place + len(way) :] for place in places if words[place : place + len(way)] == way]


def _holds(words: tuple[str, ...], part: tuple[str, ...]) -> bool:
    return any(words[place : place + len(part)] == part for place in range(len(words) - len(part) + 1))


def as_written(number: float) -> float | int:
    """A number as people write it: whole ones without a point."""
    text = format_number(number)
    return int(text) if text.lstrip("-").isdigit() else number
