"""Who is protected, where two schemas differ in that, and what the promise of one leaves out."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import Final

from dpcore.domain.schemas.schema import Schema

#: What records are called that are about two things, or more, which other records are about, too.
_OF_SEVERAL: Final = frozenset(
    {
        "pair",
        "couple",
        "edge",
        "link",
        "match",
        "duel",
        "game",
        "interaction",
        "comparison",
        "relation",
        "relationship",
        "friendship",
        "contact",
        "meeting",
        "message",
        "call",
        "transfer",
        "transaction",
        "trade",
    }
)


def protected_thing(schema: Schema) -> str:
    """Who or what is protected, in a word: whom a column names, or else what each row is."""
    named = schema.privacy_unit.column is not None and not schema.children
    return "person" if named else schema.entity


def shared_things(schema: Schema) -> str:
    """What is not protected, if the names of a schema tell of records that are about several things; or nothing.

    Names are all that is known of that before a record is seen: a schema that calls a pair a person
    gets no warning.
    """
    named = [schema.entity, schema.privacy_unit.column or ""]
    words = {word for name in named for word in re.split(r"[^a-z]+", name.lower())}
    if not any({word, word.removesuffix("s")} & _OF_SEVERAL for word in words):
        return ""
    return (
        f"Protected is each {schema.entity} alone. If the same person or thing is part of several of them, it is "
        "protected in each but not in all together: what it has in common everywhere may show. If people are to be "
        "protected, let 'privacy_unit' name the column of the person."
    )


@dataclass(frozen=True)
class UnitDifference:
    """How two schemas, whose data sets share a budget, differ in who a person is."""

    words: str
    """What each of them says."""
    consequence: str
    """What that means for the promise."""

    def sentence(self, name: str) -> str:
        """Both, to be read before the data set joins the budget of the one of this name."""
        return f"'{name}' and this data set define a person differently: {self.words}. {self.consequence}"


def unit_difference(known: Schema, new: Schema) -> UnitDifference | None:
    """How a new data set's privacy unit differs from that of a known one about the same people, if it does."""
    before, after = known.privacy_unit, new.privacy_unit
    named = before.column is not None, after.column is not None
    if any(named):
        one, two = ((unit.column, unit.max_rows_per_person, unit.matching) for unit in (before, after))
        same = one == two
    else:
        same = known.entity == new.entity
    if same:
        return None
    if not all(named) and any(named):
        consequence = (
            "Where each row counts as a person, only single rows are protected: the results can reveal more about a "
            "person with several rows than the shared budget allows."
        )
    elif before.column != after.column:
        consequence = (
            "The shared budget bounds what the results reveal about a person only if both columns identify the same "
            "people."
        )
    elif all(named):
        consequence = (
            "The shared budget covers a person with all rows that are kept, so it holds if the column identifies the "
            "same people in both."
        )
    else:
        consequence = (
            f"The shared budget covers a {known.entity} and a {new.entity} together only if a row of each is about "
            "the same person."
        )
    return UnitDifference(f"there, {_unit_words(known)}; here, {_unit_words(new)}", consequence)


def _unit_words(schema: Schema) -> str:
    unit = schema.privacy_unit
    if unit.column is None:
        return f"each row is one {schema.entity}"
    rows = "1 row" if unit.max_rows_per_person == 1 else f"at most {unit.max_rows_per_person} rows"
    spelling = "" if unit.matching == "exact" else " however it is spelled"
    return f"the column '{unit.column}' identifies a {protected_thing(schema)}{spelling} ({rows} kept)"
