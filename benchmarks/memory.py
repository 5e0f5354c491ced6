"""The highest memory of a process since a moment, where the system tells; and a process for it."""

from __future__ import annotations

import ctypes
import gc
import json
import math
import subprocess
import sys
import threading
from pathlib import Path
from typing import Any

import psutil


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


class TreePeak:
    """The most memory that this process and those it started hold together, looked at again and again.

    Memory that several of them share counts once.

    Attributes
    ----------
    bytes : float
        The most so far; what is held between two looks is missed.
    """

    _EVERY = 0.05

    def __init__(self) -> None:
        self.bytes = 0.0
        self._ended = threading.Event()
        self._thread = threading.Thread(target=self._watch, daemon=True)

    def __enter__(self) -> TreePeak:
        self._thread.start()
        return self

    def __exit__(self, *_: object) -> None:
        self._ended.set()
        self._thread.join()

    def _watch(self) -> None:
        root = psutil.Process()
        while True:
            self.bytes = max(self.bytes, sum(map(_share, [root, *root.children(recursive=True)])))
            if self._ended.wait(self._EVERY):
                return


def _share(process: psutil.Process) -> float:
    """Bytes of memory of one process, with its part of what it shares; none, if it has ended."""
    try:
        held = process.memory_full_info()
    except psutil.Error:
        return 0.0
    return float(getattr(held, "pss", held.rss))


def in_fresh_process(module: str, *arguments: object) -> dict[str, Any]:
    """What ``python -m module arguments`` prints as JSON: its peak of memory is its own."""
    command = [sys.executable, "-m", module, *map(str, arguments)]
    root = Path(__file__).resolve().parent.parent
    done = subprocess.run(command, cwd=root, stdout=subprocess.PIPE, text=True, check=True)  # Its errors are shown.
    found: dict[str, Any] = json.loads(done.stdout)
    return found
