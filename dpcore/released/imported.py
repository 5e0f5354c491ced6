"""A release that came as a file: like any other, but of no ledger that this installation knows."""

from __future__ import annotations

from pydantic import ValidationError

from dpcore.errors import RequestError
from dpcore.released.release import Release


class Imported(Release):
    """A release whose certificate nobody here can vouch for."""


def imported(text: str) -> Imported:
    """Read an import back. Raises ``RequestError`` if it is no release of this format."""
    try:
        return Imported.model_validate_json(text)
    except ValidationError:
        raise RequestError("An imported result can no longer be read.") from None
