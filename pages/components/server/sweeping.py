"""Removing what is old, every hour that the application runs."""

from __future__ import annotations

import logging
from threading import Event

from pages.components.visitor import access

SECONDS_BETWEEN_SWEEPS = 3600
_log = logging.getLogger("frostglass.app")


def sweep(ended: Event) -> None:
    """Now and then remove what is old, as each start does."""
    while not ended.wait(SECONDS_BETWEEN_SWEEPS):
        try:
            access.installation().sweep()
        except Exception as error:  # noqa: BLE001 - perhaps it goes next time
            _log.error("old uploads could not be removed: %s", type(error).__name__)
