"""What a format has no words for: it stands beside what the format knows, under a key of this program.

So a schema that is written in a format and read again is the same, and what others change in the
words of the format counts.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final

from dpcore.errors import IngestError

#: The key in formats whose objects may have any.
KEY: Final = "frostglass"
FOREIGN: Final = f"What stands under '{KEY}' in the dictionary is not as it was written. Write it anew."


def beyond(wanted: Mapping[str, object], read: Mapping[str, object]) -> dict[str, object]:
    """The fields that are read otherwise than they should be; ``None`` for those that should not be there."""
    names = [*wanted, *(name for name in read if name not in wanted)]
    return {name: wanted.get(name) for name in names if not _same(wanted.get(name), read.get(name))}


def _same(one: object, other: Any) -> bool:
    return bool(one == other) and (not isinstance(one, dict) or list(one) == list(other))


def completed(read: Mapping[str, object], rest: object) -> dict[str, object]:
    """The fields that were written, from those that are read and what was beyond them.

    Raises
    ------
    IngestError
        If the rest was not written by this program.
    """
    if not isinstance(rest, Mapping):
        raise IngestError(FOREIGN)
    return {name: value for name, value in {**read, **rest}.items() if value is not None}
