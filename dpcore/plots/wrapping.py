"""How wide text in a figure is, and text in lines that are no wider than its box."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Final
from unicodedata import east_asian_width

#: Pixels of a letter at the size of 13, rounded up: in the font of pages, most are narrower than these.
_LETTER: Final = 6.6
#: Of one that takes a whole square, as in Chinese.
_SQUARE: Final = 13.0
_NARROW: Final = dict.fromkeys(" !'(),-.:;I[]fijlrt|", 4.2)
_BROAD: Final = dict.fromkeys("%&@CDGHMNOQRUWmw…", 9.8)
_CAPITAL: Final = dict.fromkeys("ABEFJKLPSTVXYZ", 8.8)
_WIDTHS: Final = _NARROW | _BROAD | _CAPITAL


def wide(text: str) -> float:
    """Pixels that a text takes."""
    return sum(_WIDTHS.get(letter) or (_SQUARE if east_asian_width(letter) in "FW" else _LETTER) for letter in text)


def wrapped(text: str, room: float, most: int) -> tuple[str, ...]:
    """A text in at most ``most`` lines of that many pixels; what does not fit is left out."""
    lines = [""]
    for piece in _pieces(text, room):
        if lines[-1] and wide((lines[-1] + piece).strip()) > room:
            lines.append("")
        lines[-1] += piece
    lines = [line.strip() for line in lines]
    if len(lines) <= most:
        return tuple(lines)
    last = lines[most - 1]
    while last and wide(f"{last} …") > room:
        last = last.rpartition(" ")[0]
    return (*lines[: most - 1], f"{last} …".strip())


def fits(text: str, room: float, most: int) -> bool:
    """Whether a text fits into so many lines, no word of it parted."""
    return max(map(wide, text.split()), default=0.0) <= room and len(wrapped(text, room, len(text))) <= most


def _pieces(text: str, room: float) -> Iterator[str]:
    """What stays on one line: words, each with the space before it; too long ones end at a ``_``, or anywhere."""
    for word in text.split():
        start = " "
        for part in re.split(r"(?<=_)", word) if wide(word) > room else [word]:
            rest = part
            while rest:
                end = len(rest)
                while end > 1 and wide(rest[:end]) > room:
                    end -= 1
                yield start + rest[:end]
                start, rest = "", rest[end:]
