"""What happens when a page meets an error that nobody foresaw."""

from __future__ import annotations

import logging
import traceback
from pathlib import Path

import streamlit as st

from pages.components.kit.texts import text

_log = logging.getLogger("frostglass.pages")


class WithoutValues(logging.Filter):
    """Keeps the text of an error out of the log: it could quote a record."""

    def filter(self, record: logging.LogRecord) -> bool:
        record.exc_info = record.exc_text = record.stack_info = None
        return True


def quiet_log() -> None:
    """Streamlit logs uncaught errors with their text; let it say only that there was one."""
    logging.getLogger("streamlit.error_util").addFilter(WithoutValues())


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
