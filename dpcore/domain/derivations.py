"""How a stored column is made of the columns of a file, when it is not one of them.

A derivation is public, and makes a value of one row alone: from the age at an event out of two
dates to the chapter that a code belongs to. So rows of one person tell of no other, as without it.
"""

from __future__ import annotations

from collections.abc import Collection
from datetime import date, datetime
from functools import cached_property
from typing import Annotated, Any, Final, Literal, Self

from pydantic import (
    BeforeValidator,
    Discriminator,
    Field,
    Tag,
    TypeAdapter,
    ValidationError,
    field_validator,
    model_validator,
)

from dpcore.domain.codes import NAMES, TABLES, Level, System, group_of, levels_of
from dpcore.domain.dates import EARLIEST, LATEST, DateFormat, is_iso_day, moment_of, tells_hours
from dpcore.domain.schemas.names import Name, SchemaPart
from dpcore.domain.schemas.origins import STANDARD

MAX_MAPPED = 100_000
DatePart = Literal["year", "quarter", "month", "weekday", "hour", "year-quarter", "year-month"]
#: Most quarters or months of many years that a column lists.
MAX_PERIODS = 1_000
#: The name of a column, or a day that everybody knows.
Side = Annotated[Name, BeforeValidator(lambda side: side.isoformat() if type(side) is date else side)]

_WEEKDAYS: Final = ("Monday", "Tuesday", "Wednesday", "Thursday", "Friday", "Saturday", "Sunday")
_MONTHS: Final = (
    *("January", "February", "March", "April", "May", "June"),
    *("July", "August", "September", "October", "November", "December"),
)
#: Least number of each part of a date, and names from there on.
_PARTS: Final[dict[str, tuple[int, tuple[str, ...]]]] = {
    "quarter": (1, ("Q1", "Q2", "Q3", "Q4")),
    "month": (1, _MONTHS),
    "weekday": (1, _WEEKDAYS),
    "hour": (0, tuple(f"{hour:02d}:00" for hour in range(24))),
}


class _Derivation(SchemaPart):
    """What derivations of every kind say."""

    @property
    def sources(self) -> tuple[str, ...]:
        """Columns of the file that it is made of."""
        raise NotImplementedError

    @property
    def words(self) -> str:
        """What it makes, for people."""
        raise NotImplementedError

    @property
    def keeps_made(self) -> bool:
        """Whether it leaves values alone that it has made before."""
        return False

    @property
    def known(self) -> Collection[str]:
        """Codes that it knows by name, even if they are spelled like an absent value."""
        return ()

    def facts(self, kind: str) -> dict[str, object]:  # noqa: ARG002
        """What a column of this type says unless its schema does: its categories, its bounds."""
        return {}

    def read(self, value: object, text: str) -> object:
        """What counts of one value, which may be of any type, and of its text; ``None``: nothing."""
        raise NotImplementedError

    def made(self, *parts: object) -> object:
        """The value of the stored column, from what was read of each source."""
        return parts[0]


class Renamed(_Derivation):
    """The column of the file that is called otherwise there."""

    column: Name

    @property
    def sources(self) -> tuple[str, ...]:
        return (self.column,)

    @property
    def words(self) -> str:
        return f"'{self.column}' of the file"

    @property
    def keeps_made(self) -> bool:
        return True

    def read(self, value: object, text: str) -> object:  # noqa: ARG002
        return value


class _OfDates(_Derivation):
    """Made of dates."""

    format: DateFormat = ""
    """How dates are written in the file, in the letters of ``strptime``; ISO 8601, if empty."""
    earliest: date = EARLIEST
    latest: date = LATEST
    """``earliest``, ``latest``: days outside stand for no date."""

    @model_validator(mode="after")
    def _readable(self) -> Self:
        if self.earliest > self.latest:
            raise ValueError("the earliest day must not be after the latest")
        return self

    def read(self, value: object, text: str) -> date | None:  # noqa: ARG002
        found = moment_of(value, self.format)
        within = found is not None and self.earliest <= _day(found) <= self.latest
        return found if within else None


class PartOfDate(_OfDates):
    """The year, quarter, month, day of the week (1 is Monday) or hour of a date; or a quarter or month of its year."""

    part: DatePart
    of: Name

    @model_validator(mode="after")
    def _has_hours(self) -> Self:
        if self.part == "hour" and self.format and not tells_hours(self.format):
            raise ValueError("dates in this format have no hour")
        return self

    @model_validator(mode="after")
    def _countable(self) -> Self:
        if len(self._periods) > MAX_PERIODS:
            most = f"{MAX_PERIODS:,} {self._one}s"
            raise ValueError(f"needs 'earliest' and 'latest' with no more than {most} between them")
        return self

    @property
    def sources(self) -> tuple[str, ...]:
        return (self.of,)

    @property
    def words(self) -> str:
        return f"the {self.part.replace('-', ' and ')} of '{self.of}'"

    @property
    def _one(self) -> str:
        """What a column is in that goes through the years."""
        return self.part.removeprefix("year-")

    @cached_property
    def _periods(self) -> dict[str, str]:
        """Every quarter or month from the earliest to the latest day, and what people call it; of other parts none."""
        if not self.part.startswith("year-"):
            return {}
        each = 12 if self._one == "month" else 4
        first, last = (day.year * each + (day.month - 1) * each // 12 for day in (self.earliest, self.latest))
        names = [name[:3] for name in _PARTS[self._one][1]]
        numbers = (divmod(number, each) for number in range(first, last + 1))
        return {self._written(year, place + 1): f"{names[place]} {year}" for year, place in numbers}

    def _written(self, year: int, place: int) -> str:
        return f"{year}-{place:02d}" if self._one == "month" else f"{year}-Q{place}"

    def facts(self, kind: str) -> dict[str, object]:
        if self._periods and kind in {"categorical", "ordinal"}:
            return {"categories": list(self._periods), "labels": dict(self._periods)}
        if self.part not in _PARTS:
            return {}
        first, names = _PARTS[self.part]
        numbers = range(first, first + len(names))
        if kind in {"integer", "real"}:
            return {"lower": first, "upper": numbers[-1], "edges": list(numbers[:-1])}
        return {
            "categories": [str(number) for number in numbers],
            "labels": {str(number): name for number, name in zip(numbers, names, strict=True)},
        }

    def made(self, *parts: Any) -> object:
        (moment,) = parts
        if moment is not None and self.part == "weekday":
            return moment.isoweekday()
        if moment is not None and self.part == "quarter":
            return (moment.month + 2) // 3
        if moment is not None and self._periods:
            return self._written(moment.year, moment.month if self._one == "month" else (moment.month + 2) // 3)
        return getattr(moment, self.part, None)  # A day alone has no hour.


class _Between(_OfDates):
    """The time from one date to another; either may be a day that everybody knows."""

    to: Side

    @model_validator(mode="after")
    def _of_columns(self) -> Self:
        if not self.sources:
            raise ValueError("one of the two dates must be a column")
        return self

    @property
    def _sides(self) -> tuple[str, str]:
        raise NotImplementedError

    @property
    def sources(self) -> tuple[str, ...]:
        return tuple(dict.fromkeys(side for side in self._sides if not is_iso_day(side)))

    def made(self, *parts: Any) -> int | None:
        start, end = (parts[side] if isinstance(side, int) else side for side in self._ends)
        return None if start is None or end is None else self._count(_day(start), _day(end))

    @cached_property
    def _ends(self) -> tuple[date | int, ...]:
        """For each side the day that everybody knows, or which of the sources it is."""
        return tuple(date.fromisoformat(s) if is_iso_day(s) else self.sources.index(s) for s in self._sides)

    @staticmethod
    def _count(start: date, end: date) -> int:
        raise NotImplementedError


class DaysBetween(_Between):
    """Days from one date to another, negative if that comes first."""

    days_from: Side

    @property
    def words(self) -> str:
        return f"days from {_quoted(self.days_from)} to {_quoted(self.to)}"

    @property
    def _sides(self) -> tuple[str, str]:
        return self.days_from, self.to

    @staticmethod
    def _count(start: date, end: date) -> int:
        return (end - start).days


class YearsBetween(_Between):
    """Full years from one date to another, as an age is counted."""

    years_from: Side

    @property
    def words(self) -> str:
        return f"full years from {_quoted(self.years_from)} to {_quoted(self.to)}"

    @property
    def _sides(self) -> tuple[str, str]:
        return self.years_from, self.to

    @staticmethod
    def _count(start: date, end: date) -> int:
        return end.year - start.year - ((end.month, end.day) < (start.month, start.day))


class _OfCode(_Derivation):
    """Made of a code. A text that is none stays as it is, and so is another or a missing one."""

    code: Name

    @property
    def sources(self) -> tuple[str, ...]:
        return (self.code,)

    @property
    def keeps_made(self) -> bool:
        return True


class GroupOfCode(_OfCode):
    """The group of a code in a classification: ICD-10, ICD-9-CM or ATC."""

    system: System
    level: Level

    @property
    def words(self) -> str:
        level = f"level {self.level}" if self.level.isdigit() else self.level
        return f"the {level} of '{self.code}' in {NAMES[self.system]}"

    @field_validator("level", mode="before")
    @classmethod
    def _as_text(cls, level: object) -> object:
        return str(level) if isinstance(level, int) else level

    @model_validator(mode="after")
    def _known_level(self) -> Self:
        if self.level not in levels_of(self.system):
            raise ValueError(f"the levels of {self.system} are {', '.join(levels_of(self.system))}")
        return self

    def facts(self, kind: str) -> dict[str, object]:
        table = TABLES[self.system].get(self.level)
        if table is None or kind not in {"categorical", "ordinal"}:
            return {}
        labels = {group.name: group.label for group in table}
        return {"categories": list(labels), "labels": labels, "origin": STANDARD}

    def read(self, value: object, text: str) -> str:  # noqa: ARG002
        return group_of(self.system, self.level, text)


class MappedCode(_OfCode):
    """What a code is mapped to by a table of the schema."""

    mapping: dict[Name, Name] = Field(min_length=1, max_length=MAX_MAPPED)

    @model_validator(mode="after")
    def _stays(self) -> Self:
        for made in self.mapping.values():
            if self.mapping.get(made, made) != made:
                raise ValueError(f"'{made}' is the group of a code, and a code of another group")
        return self

    @property
    def known(self) -> Collection[str]:
        return self.mapping

    @property
    def words(self) -> str:
        return f"the group of '{self.code}' by a mapping of {len(self.mapping)} codes"

    def facts(self, kind: str) -> dict[str, object]:
        listed = kind in {"categorical", "ordinal"}
        return {"categories": list(dict.fromkeys(self.mapping.values()))} if listed else {}

    def read(self, value: object, text: str) -> str:  # noqa: ARG002
        return self.mapping.get(text, text)


class StartOfCode(_OfCode):
    """The first signs of a code."""

    prefix: int = Field(ge=1, le=32)

    @property
    def words(self) -> str:
        return f"the first {self.prefix} signs of '{self.code}'"

    def read(self, value: object, text: str) -> str:  # noqa: ARG002
        return text[: self.prefix].rstrip()


_KINDS: Final[dict[str, type[_Derivation]]] = {
    "part": PartOfDate,
    "days_from": DaysBetween,
    "years_from": YearsBetween,
    "system": GroupOfCode,
    "mapping": MappedCode,
    "prefix": StartOfCode,
    "column": Renamed,
}


def _kind(content: object) -> str | None:
    """Which derivation it is: each has a field that no other has."""
    has = content.__contains__ if isinstance(content, dict) else lambda name: hasattr(content, name)
    return next((name for name in _KINDS if has(name)), None)


Derivation = Annotated[
    Annotated[PartOfDate, Tag("part")]
    | Annotated[DaysBetween, Tag("days_from")]
    | Annotated[YearsBetween, Tag("years_from")]
    | Annotated[GroupOfCode, Tag("system")]
    | Annotated[MappedCode, Tag("mapping")]
    | Annotated[StartOfCode, Tag("prefix")]
    | Annotated[Renamed, Tag("column")],
    Discriminator(
        _kind,
        custom_error_type="derivation",
        custom_error_message="needs one of: part, days_from, years_from, code with system, mapping or prefix, column",
    ),
]


_ADAPTER: Final[TypeAdapter[Any]] = TypeAdapter(Derivation)


def facts_of(content: dict[str, object], fields: Collection[str]) -> dict[str, object]:
    """What is written of a column, with what its derivation says of categories or bounds left out."""
    try:
        derive = _ADAPTER.validate_python(content["derive"])
    except (KeyError, ValidationError):  # None is given, or a faulty one, which is told of in its place.
        return content
    kind = str(content.get("type"))
    facts = {name: fact for name, fact in derive.facts(kind).items() if name in fields}
    if any(content.get(name) is not None for name in ("categories", "lower", "upper")):
        return content
    if content.get("bins") is not None:
        facts.pop("edges", None)
    return facts | {name: value for name, value in content.items() if value is not None}


def _quoted(side: str) -> str:
    return side if is_iso_day(side) else f"'{side}'"


def _day(moment: date) -> date:
    return moment.date() if isinstance(moment, datetime) else moment
