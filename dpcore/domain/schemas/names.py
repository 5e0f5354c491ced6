"""What parts of a schema are made of."""

from __future__ import annotations

import unicodedata
from typing import Annotated

from pydantic import AfterValidator, ConfigDict, Field

from dpcore.frozen import FrozenModel

_LONGEST = 128


def is_name(text: str) -> bool:
    """Whether something may be called so."""
    return 0 < len(text) <= _LONGEST and not has_controls(text)


def has_controls(text: str) -> bool:
    """Whether a text holds signs that are no letters, such as line breaks."""
    return any(unicodedata.category(character) == "Cc" for character in text)


def plain_name(name: str) -> str:
    """A name without line breaks and without blanks at its ends; others stay as they are."""
    return " ".join(name.split()) if has_controls(name) or name != name.strip() else name


def _plain(name: str) -> str:
    if has_controls(name):
        raise ValueError("names and labels must not contain control characters")
    return name


OneLine = AfterValidator(_plain)
Name = Annotated[str, Field(min_length=1, max_length=_LONGEST), OneLine]


class SchemaPart(FrozenModel):
    """Base of everything in a schema: spaces around a text do not count."""

    model_config = ConfigDict(str_strip_whitespace=True)
