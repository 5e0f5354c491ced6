"""Memory for what is kept of intermediate steps: a setting of the operator."""

from __future__ import annotations

from typing import Final

import psutil

from dpcore.validation import whole_number

#: MiB that may be kept; by default half of the memory.
_MEMORY: Final = "FROSTGLASS_MEMORY"


def cache_limit() -> int:
    """Bytes that may be kept of intermediate steps.

    Raises
    ------
    RequestError
        If the setting is not a whole number above 0.
    """
    chosen = whole_number(_MEMORY, example=8192)
    return psutil.virtual_memory().total // 2 if chosen is None else chosen << 20
