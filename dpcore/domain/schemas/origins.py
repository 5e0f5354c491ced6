"""Where the public facts of a schema come from, and what that does to a guarantee.

Facts are bounds, categories, bins, column names and the row limit. A further origin is one more
name here, with its words and whether it breaks the promise.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Final, Literal

Origin = Literal[
    "declared",
    "known",
    "dictionary",
    "standard table",
    "learned privately",
    "looked up",
    "inferred from records",
]
DECLARED: Final = "declared"
KNOWN: Final = "known"
DICTIONARY: Final = "dictionary"
STANDARD: Final = "standard table"
LEARNED: Final = "learned privately"
LOOKED_UP: Final = "looked up"
INFERRED: Final = "inferred from records"


@dataclass(frozen=True)
class OriginMeaning:
    """What an origin means to a reader."""

    words: str
    """Where the facts come from."""
    problem: str = ""
    """Why no result that rests on them is private; empty if it can be."""


_STANDINGS: dict[Origin, OriginMeaning] = {
    DECLARED: OriginMeaning(
        "declared by whoever answers for the records; whether any were read off them, by hand or "
        "as a suggestion of the program, is not recorded"
    ),
    KNOWN: OriginMeaning("known to whoever answers for the records without looking at them"),
    DICTIONARY: OriginMeaning("taken from a data dictionary, which was written without these records"),
    STANDARD: OriginMeaning("taken from a table of plausible ranges or codes that comes with the program"),
    LEARNED: OriginMeaning("learned from the records with privacy noise, paid for out of the same budget"),
    LOOKED_UP: OriginMeaning(
        "looked up in the values by whoever answers for the records, who made them public: that an "
        "extreme or a rare value occurs is outside the guarantee"
    ),
    INFERRED: OriginMeaning(
        "read off the records by the program, because no schema was given",
        "No schema was declared: bounds, categories and the number of rows were read off the "
        "records, so the result may show one person's own value.",
    ),
}


def refusal_of(origins: Iterable[Origin]) -> str:
    """Why records are not stored as private with such facts; empty if they can be."""
    problem = problem_of(origins)
    if not problem:
        return ""
    return (
        f"No result on this data set would be private. {problem} Write a schema from what is "
        "known without looking at these records."
    )


def words_of(origins: Iterable[Origin]) -> str:
    """Where facts of several origins come from."""
    return "; ".join(_STANDINGS[origin].words for origin in origins)


def problem_of(origins: Iterable[Origin]) -> str:
    """Why no result that rests on facts of these origins is private; empty if it can be."""
    return " ".join(filter(None, (_STANDINGS[origin].problem for origin in origins)))
