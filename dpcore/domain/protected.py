"""What the promise of a schema leaves out: things that are in many records, where a record is about several."""

from __future__ import annotations

import re
from typing import Final

from dpcore.domain.schema import Schema

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
