"""How much a run has to do, counted from public values alone, and what that takes on a machine."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Final

#: A share of the work that is told as done stays below all of it until the run has ended.
_NOT_YET_ALL: Final = 0.99
#: From this share on the pace of the run itself tells more than the forecast.
_PACE_KNOWN: Final = 0.1
_MINUTE, _HOUR = 60, 3600
#: Shorter runs are not told to the second.
_SHORT: Final = 5
_MEGABYTE: Final = 10**6


@dataclass(frozen=True)
class Work:
    """Work of one kind of step, in units whose price can be measured on any machine."""

    words: float = 0.0
    """Words of bit vectors that are combined and counted."""
    places: float = 0.0
    """Places of the table that are looked up and added to a count."""
    draws: float = 0.0
    """Numbers that a mechanism draws."""
    calls: float = 0.0
    """Questions to the table with what is done about their answers, whatever their size."""
    cores: int | None = None
    """Most cores that can share words and places; ``None``: all."""


@dataclass(frozen=True)
class Workload:
    """All work of a run: a function of its plan, so of public values."""

    steps: Mapping[str, Work]
    """By the names under which the run reports its progress, in their order."""
    bytes: float
    """Most memory that it takes at once, beside what every process needs."""


@dataclass(frozen=True)
class DurationForecast:
    """What a run will take on one machine, if nothing else runs there."""

    steps: Mapping[str, float]
    """Seconds of each step, in order."""
    bytes: float

    @property
    def seconds(self) -> float:
        """Seconds of the whole run."""
        return sum(self.steps.values())

    def share(self, step: str, done: int, total: int) -> float:
        """Share of the run that is done after a report: it grows, and is not 1 before the end."""
        names = list(self.steps)
        if step not in names or not self.seconds:
            return 0.0
        before = sum(self.steps[name] for name in names[: names.index(step)])
        here = self.steps[step] * min(1.0, done / total if total > 0 else 0.0)
        return min(_NOT_YET_ALL, (before + here) / self.seconds)

    def left(self, share: float, elapsed: float) -> float:
        """Seconds until the end, after a report: at the pace so far, once that can be told."""
        pace = elapsed / share if share > _PACE_KNOWN else self.seconds
        return (1 - share) * pace

    @property
    def text(self) -> str:
        """In words, rounded: "about 40 seconds and 300 MB of memory on this machine"."""
        return f"{duration(self.seconds)} and {_size(self.bytes)} of memory on this machine"


def duration(seconds: float) -> str:
    """Some seconds in round words."""
    if seconds < _SHORT:
        return "a few seconds"
    if seconds < 1.5 * _MINUTE:
        return f"about {5 * max(1, round(seconds / 5))} seconds"
    if seconds < 1.5 * _HOUR:
        return f"about {round(seconds / _MINUTE)} minutes"
    return f"about {round(seconds / _HOUR)} hours"


def _size(count: float) -> str:
    """Bytes to two digits, in MB or GB."""
    size = count / _MEGABYTE
    digits = 1 - math.floor(math.log10(max(1.0, size)))
    size = round(size, digits)
    return f"{size / 1000:.2g} GB" if size >= 1000 else f"{size:.0f} MB"
