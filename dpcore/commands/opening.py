"""The service behind commands, and what they take from it: releases and amounts."""

from __future__ import annotations

from collections.abc import Callable
from decimal import Decimal
from pathlib import Path

from dpcore.released.release import Release
from dpcore.service import Service


def open_service() -> Service:
    """The service on the configured home folder; runs are executed in this process."""
    return Service(workers=0)


def find_release(text: str) -> Release:
    """A release by its id, or from its file. Raises ``NotFoundError`` or ``RequestError``."""
    path = Path(text)
    if not path.is_file():
        with open_service() as service:
            return service.release(text)
    return Release.from_json(path.read_text(encoding="utf-8", errors="replace"))


def read_amount(parse: Callable[[str], Decimal], typed: str | None) -> Decimal | None:
    """An amount typed by the user; absent stays absent."""
    return None if typed is None else parse(typed)
