"""What happens when a page meets an error that nobody foresaw."""

from __future__ import annotations

import logging
import time
import traceback
from pathlib import Path

import streamlit as st

from pages.components.kit.markup import text

_log = logging.getLogger("frostglass.pages")
#: How long a kind of message stays out of the log, and how many kinds are told apart.
_SECONDS, _MOST_KINDS = 60.0, 100


class WithoutValues(logging.Filter):
    """Keeps the text of an error out of the log: it could quote a record."""

    def filter(self, record: logging.LogRecord) -> bool:
        record.exc_info = record.exc_text = record.stack_info = None
        return True


class RateLimited(WithoutValues):
    """Lets each kind of message into the log once a minute: strangers may cause as many as they like."""

    def __init__(self) -> None:
        super().__init__()
        self._next: dict[str, float] = {}

    def filter(self, record: logging.LogRecord) -> bool:
        kind, now = record.msg, time.monotonic()
        if now < self._next.get(kind, now):
            return False
        if len(self._next) >= _MOST_KINDS:
            self._next.clear()
        self._next[kind] = now + _SECONDS
        return super().filter(record)


def quiet_log() -> None:
    """Streamlit logs uncaught errors with their text; let it say only that there was one, and of messages seldom."""
    logging.getLogger("streamlit.error_util").addFilter(WithoutValues())
    logging.getLogger("streamlit.web.server.starlette.starlette_websocket").addFilter(RateLimited())


def note(fault: Exception, what: str) -> None:
    """Log the type and the place of an error that stopped something, not its text."""
    [*_, last] = traceback.extract_tb(fault.__traceback__)
    place = f"{Path(last.filename).name}, line {last.lineno}"
    _log.error("%s stopped with %s in %s", what, type(fault).__name__, place)


def report(fault: Exception) -> bool:
    """Show a fixed page instead of an uncaught error."""
    note(fault, "a page")
    st.error(text("fault"), title="This page could not be shown")
    return True
