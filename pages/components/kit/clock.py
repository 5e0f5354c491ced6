"""Times as the visitor's own clock shows them."""

from __future__ import annotations

from contextlib import suppress
from datetime import UTC, datetime, tzinfo
from zoneinfo import ZoneInfo, ZoneInfoNotFoundError

import streamlit as st


def local_time(time: datetime) -> datetime:
    """The same moment in the visitor's time zone."""
    return time.astimezone(_zone())


def _zone() -> tzinfo:
    """The visitor's time zone, as the browser tells it."""
    with suppress(ZoneInfoNotFoundError, ValueError):
        return ZoneInfo(st.context.timezone or "UTC")
    return UTC
