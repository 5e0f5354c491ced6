"""Dates as they stand in files: each is read from its own value alone, and none raises."""

from __future__ import annotations

import re
from datetime import date, datetime
from typing import Annotated, Final

import numpy as np
from pydantic import AfterValidator, Field

#: The first and the last day that count unless a schema says otherwise: what lies outside, such as
#: 9999-12-31, stands for no date.
EARLIEST: Final = date(1900, 1, 1)
LATEST: Final = date(2299, 12, 31)
_ISO_DAY: Final = re.compile(r"[0-9]{4}-[0-9]{2}-[0-9]{2}", re.ASCII)
_FINE: Final = frozenset({"ns", "ps", "fs", "as"})
_SOME_DAY: Final = datetime(2001, 2, 13, 16, 5, 6)


def is_iso_day(text: str) -> bool:
    """Whether a text is a day as ISO 8601 writes it: ``2024-03-31``."""
    return len(text) == 10 and isinstance(moment_of(text), date)


def _checked(written: str) -> str:
    """Raise ``ValueError`` if a day that is written in this format cannot be read back."""
    if not written:
        return written
    try:
        found = datetime.strptime(_SOME_DAY.strftime(written), written)
    except (ValueError, re.error):
        found = None
    if found is None or found.date() != _SOME_DAY.date():
        raise ValueError("a format needs day, month and year, such as '%d.%m.%Y' or '%m/%d/%Y %H:%M'")
    return written


#: How dates are written, in the letters of ``strptime``; ISO 8601, if empty.
DateFormat = Annotated[str, Field(max_length=64), AfterValidator(_checked)]


def tells_hours(written: str) -> bool:
    """Whether times in this format have an hour."""
    return datetime.strptime(_SOME_DAY.strftime(written), written).hour == _SOME_DAY.hour


def moment_of(value: object, written: str = "") -> date | None:
    """The date, or date and time, that a value is or writes; ``None`` if it is neither.

    Text is read as ISO 8601, or else in the format ``written``. A number is no date: what day it
    would be depends on who wrote it. A time with a zone counts as its own clock shows it.
    """
    try:
        if isinstance(value, str):
            return _of_text(value.strip(), written)
        if isinstance(value, np.datetime64):
            fine = np.datetime_data(value.dtype)[0] in _FINE
            value = (value.astype("datetime64[us]") if fine else value).item()  # No moment, if far out of range.
        if isinstance(value, datetime):
            clock = (value.hour, value.minute, value.second, value.microsecond)
            return datetime(value.year, value.month, value.day, *clock)
        return value if type(value) is date else None
    except Exception:  # noqa: BLE001  whatever a value does, it must not stop the others
        return None


def _of_text(text: str, written: str) -> date | None:
    if written:
        return datetime.strptime(text, written).replace(tzinfo=None)
    if _ISO_DAY.match(text) is None:
        return None
    if len(text) == 10:
        return date.fromisoformat(text)
    found = datetime.fromisoformat(text)
    return found if found.tzinfo is None else found.replace(tzinfo=None)
