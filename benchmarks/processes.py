"""Other processes: environments of rival programs, made with ``venv`` and ``pip`` in a folder that is kept, and memory.

The folder is the one that ``FROSTGLASS_RIVALS`` names, or one beside temporary files.
"""

from __future__ import annotations

import ctypes
import gc
import math
import os
import subprocess
import sys
import tempfile
import threading
import venv
from pathlib import Path
from typing import Any, Final

import numpy as np
import psutil

from benchmarks.declared import LeftOutError

FOLDER_VARIABLE: Final = "FROSTGLASS_RIVALS"
_INSTALLING: Final = 900
_PEER: Final = Path(__file__).parent / "peer.py"
#: Programs by a short name, each with what is installed for it.
PROGRAMS: Final = {
    "smartnoise": "smartnoise-synth==1.0.8",
    "dpmm": "dpmm==0.1.9",
    "interpret": "interpret-core==0.7.8",
    "diffprivlib": "diffprivlib==0.6.6 scikit-learn==1.7.2",
}
#: What is installed in place of all that a program asks for: AIM and MST need none of the gigabytes of PyTorch.
_NEEDED: Final = {"smartnoise": "Faker==40.63.0 disjoint-set==0.9.0 mbi==1.1.0 smartnoise-sql==1.0.10"}


def environment(program: str) -> Path:
    """The Python of a program's environment, which is made at the first time.

    Raises
    ------
    LeftOutError
        If it cannot be installed.
    """
    folder = Path(os.environ.get(FOLDER_VARIABLE) or Path(tempfile.gettempdir()) / "frostglass-rivals")
    place = folder / PROGRAMS[program].replace("==", "-").replace(" ", "-")
    python, ready = place / "bin" / "python", place / "ready"
    if not ready.exists():
        print(f"Installing {PROGRAMS[program]} into {place} ...", file=sys.stderr)
        venv.create(place, with_pip=True, clear=True)
        pip, needed = [str(python), "-m", "pip", "install", "--quiet"], _NEEDED.get(program, "").split()
        try:
            called([*pip, *(["--no-deps"] if needed else []), *PROGRAMS[program].split()], _INSTALLING)
            if needed:
                called([*pip, *needed], _INSTALLING)
        except LeftOutError as fault:  # Of the network, not of the program: it is tried again.
            raise LeftOutError(f"it could not be installed: {fault}") from None
        ready.touch()
    return python


def called(command: list[str], seconds: float | None = None) -> str:
    """What a command prints.

    Raises
    ------
    LeftOutError
        If it fails, or takes longer than so many seconds by the clock.
    """
    try:
        done = subprocess.run(command, capture_output=True, text=True, check=False, timeout=seconds)
    except subprocess.TimeoutExpired:
        raise LeftOutError(f"not finished in {seconds:g} s", within=seconds) from None
    if done.returncode != 0:
        said = done.stderr.strip().splitlines()
        raise LeftOutError(f"it failed: {said[-1][:200] if said else 'no message'}")
    return done.stdout


def asked(program: str, what: str, problem: dict[str, Any], seconds: float | None = None) -> dict[str, Any]:
    """What a rival program answers to a problem: arrays by name, among them its ``seconds``.

    Raises
    ------
    LeftOutError
        As :func:`environment` and :func:`called`.
    """
    python = environment(program)
    with tempfile.TemporaryDirectory() as place:
        told, answer = Path(place) / "problem.npz", Path(place) / "answer.npz"
        np.savez(told, **problem)
        called([str(python), str(_PEER), program, what, str(told), str(answer)], seconds)
        with np.load(answer, allow_pickle=False) as found:
            return dict(found)


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
