"""Removing what is old, every hour that the application runs."""

from __future__ import annotations

import logging
from collections.abc import Callable
from threading import Event

from dpcore.service import Service

SECONDS_BETWEEN_SWEEPS = 3600
_log = logging.getLogger("frostglass.app")


def sweep(ended: Event, opened: Callable[[], Service]) -> None:
    """Now and then remove what is old, as each start does, from the installation that is ``opened``."""
    while not ended.wait(SECONDS_BETWEEN_SWEEPS):
        try:
            opened().sweep()
        except Exception as error:  # noqa: BLE001 - perhaps it goes next time
            _log.error("old uploads could not be removed: %s", type(error).__name__)
