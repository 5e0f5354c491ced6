"""Numbers with a comma: what is said of them where nobody said what the comma means."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Final

#: Share of the values that have to be numbers, with or without a comma.
_MOST: Final = 0.95
_PLAIN: Final = re.compile(r"[+-]?(\d+\.?\d*|\.\d+)([eE][+-]?\d+)?")
_WITH_COMMA: Final = re.compile(r"[+-]?(\d+|[1-9]\d{0,2}(\.\d{3})+),\d+")
#: With a comma that may as well stand between thousands.
_UNCLEAR: Final = re.compile(r"[+-]?[1-9]\d{0,2},\d{3}")
_DECIMALS = (
    "holds numbers with a decimal comma: tick 'Decimal comma' (--decimal-comma) for a CSV file, or export a file of "
    "another kind with numbers"
)
_EITHER = (
    "holds numbers with a comma that may stand before decimals or between thousands: tick 'Decimal comma' "
    "(--decimal-comma) if decimals follow it, or else export the file without it"
)


def comma_in(texts: Mapping[str, int]) -> str:
    """What is wrong where texts are numbers with a comma, and what to do; empty if they are none.

    Parameters
    ----------
    texts : mapping of str to int
        Texts, and how often each occurs.
    """
    commas = [text for text in texts if _WITH_COMMA.fullmatch(text)]
    numbers = sum(texts[text] for text in [*commas, *filter(_PLAIN.fullmatch, texts)])
    if not commas or numbers < _MOST * sum(texts.values()):
        return ""
    return _EITHER if all(map(_UNCLEAR.fullmatch, commas)) else _DECIMALS
