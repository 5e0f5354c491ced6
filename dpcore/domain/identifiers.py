"""Texts that identify people: what is left of them where spelling does not count."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Callable
from typing import Final

#: Letters that no reader sees, beside those of the categories Cf and Cc.
_UNSEEN: Final = re.compile("[\u034f\u115f\u1160\u17b4\u17b5\u180b-\u180d\u3164\ufe00-\ufe0f\uffa0]")
_DASHES: Final = re.compile("[\u2010-\u2015\u2212\ufe58\ufe63\uff0d]")
_POINT_ZERO: Final = re.compile(r"(?<=\d)[.,]0+$")
#: Digits of numbers that are written with zeros before them, at most one less.
_WIDEST: Final = 13
_LEADING_ZEROS: Final = re.compile(r"(?<![\d.,])0+(?=\d)")


def _visible(text: str) -> str:
    if text.isascii() and text.isprintable():
        return text
    return _UNSEEN.sub("", "".join(sign for sign in text if unicodedata.category(sign) not in {"Cf", "Cc"}))


def _composed(text: str) -> str:
    return text if text.isascii() else _DASHES.sub("-", unicodedata.normalize("NFKC", text))


def _without_blanks(text: str) -> str:
    return "".join(text.split())


def _whole(text: str) -> str:
    return _POINT_ZERO.sub("", text) if text[:-1].rstrip("0").rstrip(".,").isdigit() else text


def _short(text: str) -> str:
    return _LEADING_ZEROS.sub("", text) if "0" in text else text


#: What does not count, in the order in which it is taken away, as people call it.
STEPS: Final[tuple[tuple[str, Callable[[str], str]], ...]] = (
    ("invisible letters", _visible),
    ("their Unicode form", _composed),
    ("blanks", _without_blanks),
    ("upper and lower case", str.casefold),
    ("an ending such as '.0'", _whole),
    ("leading zeros", _short),
)


def plain_key(text: str) -> tuple[str, int]:
    """What is left of an identifier, and which steps changed it: bit ``i`` for ``STEPS[i]``."""
    if text.isascii() and text.isdigit() and text[0] != "0":
        return text, 0
    changed = 0
    for place, (_, step) in enumerate(STEPS):
        plain = step(text)
        changed |= (plain != text) << place
        text = plain
    return text, changed


def spellings(text: str) -> list[str]:
    """Other ways in which an identifier is often written, itself left out."""
    plain, _ = plain_key(text)
    padded = [plain.zfill(width) for width in range(len(plain) + 1, _WIDEST)] if plain.isdigit() else []
    found = dict.fromkeys([plain, plain.upper(), text.lower(), text.upper(), f"{plain}.0", *padded])
    return [each for each in found if each != text]
