"""The highest memory of this process since a moment, where the system tells."""

from __future__ import annotations

import ctypes
import gc
import math
from pathlib import Path


def forget_peak() -> None:
    """Give unused memory back and reset the high-water mark, where the system can.

    Memory that was freed but kept would otherwise hide what is taken next.
    """
    gc.collect()
    trim = getattr(ctypes.CDLL(None), "malloc_trim", None)
    if trim is not None:
        trim(0)
    try:
        Path("/proc/self/clear_refs").write_text("5", encoding="ascii")
    except OSError:
        return


def peak() -> float:
    """Highest resident memory so far, in bytes; NaN where the system does not tell."""
    status = Path("/proc/self/status")
    lines = status.read_text(encoding="ascii").splitlines() if status.exists() else []
    return next((int(x.split()[1]) * 1024.0 for x in lines if x.startswith("VmHWM")), math.nan)
