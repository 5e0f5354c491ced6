"""What a dictionary says of a data set, as far as it does, and what it leaves open."""

from __future__ import annotations

import html
import re
from collections.abc import Collection, Iterable, Mapping
from dataclasses import dataclass, field
from itertools import chain
from math import ceil, floor, isfinite
from typing import Any, Final

import numpy as np
from pydantic import TypeAdapter, ValidationError

from dpcore.domain.columns import MAX_CATEGORIES, RESERVED, folded
from dpcore.domain.dates import DateFormat, moment_of
from dpcore.domain.schemas.names import is_name
from dpcore.domain.schemas.origins import DICTIONARY, STANDARD
from dpcore.errors import IngestError
from dpcore.intake.columns.guesses import LEFT_OUT, as_written, guess

#: Said where a dictionary does not tell how many rows there may be.
NO_LIMIT: Final = (
    "It does not say how many rows there may be: give the row limit, a round number above the rows that there are. "
    "It becomes public."
)
#: Most columns of a table; of these, those of a data file are kept.
MAX_DESCRIBED: Final = 5_000
NUMERIC: Final = ("integer", "real")
LISTED: Final = ("categorical", "ordinal")
#: The type of a column of which no more is told than that it holds texts.
TEXT: Final = "text"
FREE_TEXT: Final = "free text"
NO_RANGE: Final = "dates without a known range: say in the schema which part of them counts, such as the year"
_TOO_MANY: Final = f"more than {MAX_CATEGORIES} categories"
_NO_NAMES: Final = "categories that are too long, or that the program uses itself"
_BY_NAME: Final = "by its name, identifies something or holds free text"
_LONGEST_LABEL, _LONGEST_DESCRIPTION, _LONGEST_VALUE_LABEL = 128, 500, 200
_SHOWN = 20
#: Bins of a column whose dictionary and name tell no cut points.
_BINS: Final = 8
#: A range of positive numbers is wide if its upper end is so many times the lower one; from 0 on, if it is so large.
_WIDE, _WIDE_FROM_0 = 200, 10_000
_SWITCHES: Final = ({"1": "yes", "0": "no"}, {"1": "true", "0": "false"})


@dataclass
class Draft:
    """A schema as far as a dictionary tells it."""

    form: str
    """What kind of dictionary it is."""
    content: dict[str, Any]
    """Of a schema; what is not known, often the row limit, is not in it."""
    left_out: dict[str, str] = field(default_factory=dict)
    """Columns that are not kept, and why."""
    notes: list[str] = field(default_factory=list)
    """Sentences about what was taken from elsewhere."""

    @property
    def unknown(self) -> list[str]:
        """A sentence for each kind of fact that is missing."""
        tables = [("", self.content), *((child["name"], child) for child in self.content.get("children", ()))]
        columns = [(_place(name, each["name"]), each) for name, table in tables for each in table["columns"]]
        ranges = [place for place, each in columns if each["type"] in NUMERIC and not {"lower", "upper"} <= {*each}]
        lists = [
            place
            for place, each in columns
            if each["type"] in LISTED and "categories" not in each and "derive" not in each
        ]
        kept = [name for name, table in tables[1:] if "max_rows_per_person" not in table]
        return [
            *_sentence("The lowest and the highest plausible value is not said of {}.", ranges),
            *_sentence("The categories are not listed of {}.", lists),
            *_sentence("How many rows of a person are kept is not said of the table {}.", kept),
        ]

    def within(self, header: Collection[str]) -> list[str]:
        """Keep the columns that a file of the main table has; a sentence about the others, if there are any.

        Raises
        ------
        IngestError
            If the file has none of them.
        """
        described = self.content["columns"]
        self.content["columns"] = [column for column in described if sources_of(column) <= {*header}]
        if not self.content["columns"]:
            raise IngestError("The data file has none of the columns of the dictionary. Their names must be the same.")
        person = self.content.get("privacy_unit", {}).get("column")
        absent = [column["name"] for column in described if column not in self.content["columns"]]
        return _sentence("Not in the data file: {}.", absent + ([person] if person and person not in header else []))

    def limit(self, max_rows: int | None) -> None:
        """Take a row limit, if one is given."""
        if max_rows is not None:
            self.content["max_rows"] = max_rows
            self.notes = [note for note in self.notes if note != NO_LIMIT]

    @property
    def sentences(self) -> list[str]:
        """All that there is to say about it."""
        reasons: dict[str, list[str]] = {}
        for name, reason in self.left_out.items():
            reasons.setdefault(reason, []).append(name)
        left_out = (_sentence(f"Left out ({reason}): {{}}.", names) for reason, names in reasons.items())
        return [*self.unknown, *self.notes, *chain.from_iterable(left_out)]


def sources_of(column: Mapping[str, Any]) -> set[str]:
    """The columns of a file that a column of a draft is made of."""
    derive = column.get("derive", {})
    return {str(derive.get("of", derive.get("column", column["name"])))}


def _place(table: str, column: str) -> str:
    return f"{table}.{column}" if table else column


def _sentence(form: str, names: list[str]) -> list[str]:
    """The sentence about some names, if there are any."""
    shown = ", ".join(f"'{name}'" for name in names[:_SHOWN])
    more = f" and {len(names) - _SHOWN:,} more" if len(names) > _SHOWN else ""
    return [form.replace("{}", shown + more)] if names else []


@dataclass
class Gathered:
    """The columns of one table while its dictionary is read."""

    table: str = ""
    columns: list[dict[str, Any]] = field(default_factory=list)
    left_out: dict[str, str] = field(default_factory=dict)
    by_name: list[str] = field(default_factory=list)
    names: set[str] = field(default_factory=set)

    def take(self, column: Mapping[str, Any]) -> None:
        """Add a column as far as it is known; its name may tell the rest."""
        name = column["name"]
        known = {field: value for field, value in column.items() if value not in ("", None, [], {})}
        if reason := known.pop(LEFT_OUT, ""):
            self.leave(name, reason)
            return
        whole = _whole(known)
        if whole["type"] == LEFT_OUT:
            self.leave(name, _BY_NAME)
            return
        if whole.get("origin") == STANDARD:
            self.by_name.append(_place(self.table, name))
        self.add(whole)

    def add(self, column: dict[str, Any]) -> None:
        """Add a column as it is."""
        if column["name"] in self.names:
            raise IngestError(f"The dictionary describes the column '{column['name']}' twice. Remove one of them.")
        if len(self.names) == MAX_DESCRIBED:
            raise IngestError(f"The dictionary describes more than {MAX_DESCRIBED:,} columns of a table. Divide it.")
        self.names.add(column["name"])
        self.columns.append(column)

    def leave(self, name: str, reason: str) -> None:
        """Leave a column out."""
        self.left_out[_place(self.table, name)] = reason

    def notes(self) -> list[str]:
        """What was taken from elsewhere."""
        return _sentence("From the table of plausible values that comes with the program: {}.", self.by_name)


def _whole(known: dict[str, Any]) -> dict[str, object]:
    """A column with what its name tells beyond what is known, and where its facts come from."""
    kind = known.get("type")
    named = guess(known["name"], kind if kind in NUMERIC else "text" if kind else None)
    if kind == TEXT:
        kind = known["type"] = named["type"]
    if _told(known):
        return {**_shaped(known, named), "origin": DICTIONARY}
    if named["type"] == LEFT_OUT:
        return named
    if named.get("origin") == STANDARD and _same_unit(known, named):
        merged = {**{name: value for name, value in named.items() if name != "edges"}, **known}
        if "categories" in merged or merged["lower"] < merged["upper"]:
            return _shaped({**merged, "origin": STANDARD}, named)
    numbers_of_things = kind in NUMERIC and named["type"] not in NUMERIC
    return {**known, "type": named["type"] if numbers_of_things else kind or named["type"], "origin": DICTIONARY}


def _told(column: Mapping[str, object]) -> bool:
    """Whether a dictionary tells all that a column needs, but for cut points."""
    kind = column.get("type")
    listed = kind in LISTED and "categories" in column
    return kind == "boolean" or listed or "derive" in column or {"lower", "upper"} <= column.keys()


def _same_unit(known: Mapping[str, object], named: Mapping[str, object]) -> bool:
    return not known.get("unit") or known["unit"] == named.get("unit")


def _shaped(column: dict[str, object], named: Mapping[str, Any]) -> dict[str, object]:
    """A column with numbers gets cut points: its own, the usual ones of its name, or others by its range alone."""
    if column["type"] not in NUMERIC or {"edges", "bins"} & column.keys() or not {"lower", "upper"} <= column.keys():
        return column
    edges = named.get("edges", ()) if _same_unit(column, named) else ()
    usual = [edge for edge in edges if column["lower"] <= edge < column["upper"]]
    return {**column, **({"edges": usual} if len(usual) > 1 else _by_range(column))}


def _by_range(column: Mapping[str, Any]) -> dict[str, object]:
    """Equal bins; over several powers of ten, where most numbers are likely to be small, bins that grow with these."""
    low, high = float(column["lower"]), float(column["upper"])
    if low < 0 or high < (_WIDE_FROM_0 if low == 0 else _WIDE * low):
        return {"bins": _BINS}
    points = np.geomspace(low or high / _WIDE_FROM_0, high, _BINS + 1)[1:-1]
    rounded = (float(f"{point:.2g}") for point in points)
    kept = {as_written(float(floor(edge)) if column["type"] == "integer" else edge) for edge in rounded}
    return {"edges": sorted(edge for edge in kept if low <= edge < high)}


def listed(
    values: Iterable[object], labels: Mapping[str, str], missing: Iterable[object] = (), kind: str = "categorical"
) -> dict[str, object]:
    """What a column with these values is; with labels of codes, and codes for missing values."""
    absent = [text for text in map(as_text, missing) if text]
    known = [text for text in dict.fromkeys(map(as_text, values)) if text and text not in absent]
    told = {value: plain_text(labels.get(value, ""), _LONGEST_VALUE_LABEL) for value in known}
    told = {value: label for value, label in told.items() if label and label != value}
    codes = {"missing_codes": absent} if absent else {}
    if len(known) > MAX_CATEGORIES:
        return {LEFT_OUT: _TOO_MANY}
    if not all(is_name(text) and text not in RESERVED for text in [*known, *absent]):
        return {LEFT_OUT: _NO_NAMES}
    if {value: folded(told.get(value, value)) for value in known} in _SWITCHES:
        return {"type": "boolean", **codes}
    return {"type": kind, "categories": known, "labels": told, **codes}


def as_text(value: object) -> str:
    """A value as it stands in rows: whole numbers without a point."""
    if isinstance(value, bool):
        return str(value).lower()
    if isinstance(value, float) and value.is_integer():
        return str(int(value))
    return str(value).strip()


def plain_text(text: object, most: int) -> str:
    """A text for people on one line, without marks of HTML, at most so long."""
    bare = html.unescape(re.sub(r"<[^<>]*>", " ", str(text or "")[: 50 * most]))
    return " ".join("".join(sign if sign.isprintable() else " " for sign in bare).split())[:most].strip()


def column_texts(name: str, label: object = "", description: object = "") -> dict[str, Any]:
    """The fields of a column that people read. Raises ``IngestError`` if it cannot be called so."""
    name = str(name).strip()
    if not is_name(name):
        raise IngestError(f"The dictionary has a column '{name[:40]}' whose name is empty, too long or not plain text.")
    shown = plain_text(label, _LONGEST_LABEL)
    return {
        "name": name,
        "label": "" if shown == name else shown,
        "description": plain_text(description, _LONGEST_DESCRIPTION),
    }


def number(value: object) -> float | None:
    """A number that a dictionary gives, if it is one."""
    try:
        found = float(str(value).strip().replace(",", "."))
    except ValueError:
        return None
    return as_written(found) if isfinite(found) else None


def bounded(kind: str, lower: object, upper: object) -> dict[str, object]:
    """A numeric column as far as its limits are numbers; whole ones for whole numbers."""
    low, high = number(lower), number(upper)
    if kind == "integer":
        low, high = (None if low is None else ceil(low)), (None if high is None else floor(high))
    if low is not None and high is not None and low >= high:
        low = high = None
    return {"type": kind, "lower": low, "upper": high}


def part_of(name: str, form: str, lower: object, upper: object) -> dict[str, object]:
    """What is kept of dates in a known range: the year, or of one year the month; others are left out."""
    first, last = (moment_of(str(side or "").strip()[:10], "") for side in (lower, upper))
    if first is None or last is None or first >= last or not _can_be_read(form):
        return {LEFT_OUT: NO_RANGE}
    part = "month" if first.year == last.year else "year"
    derived = {"part": part, "of": name, **({"format": form} if form else {})}
    if part == "month":
        return {"name": f"{name} month", "type": "ordinal", "derive": derived}
    return {"name": f"{name} year", "type": "integer", "derive": derived, "lower": first.year, "upper": last.year}


def _can_be_read(form: str) -> bool:
    try:
        TypeAdapter(DateFormat).validate_python(form)
    except ValidationError:
        return False
    return True


def draft_of(
    form: str, main: Gathered, head: Mapping[str, object], person: str | None, more: Iterable[str] = ()
) -> Draft:
    """The draft of one table, whose rows are about the ``person`` that a column names.

    Raises
    ------
    IngestError
        If no column is left.
    """
    notes = [*main.notes(), *more]
    columns = [column for column in main.columns if column["name"] != person]
    if not columns:
        raise IngestError("The dictionary describes no column that can be kept.")
    left_out = {name: reason for name, reason in main.left_out.items() if name != person}
    unit = {"privacy_unit": {"column": person, "max_rows_per_person": 1}} if person else {}
    content = {**unit, **head, "columns": columns}
    if "max_rows" not in content:
        notes.append(NO_LIMIT)
    if not content.get("privacy_unit"):
        notes.append("It names no column that identifies a person: each row counts as one person.")
    return Draft(form, content, left_out, notes)
