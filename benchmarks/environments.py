"""Environments of rival programs, made with ``venv`` and ``pip`` in a folder that is kept.

The folder is the one that ``FROSTGLASS_RIVALS`` names, or one beside temporary files.
"""

from __future__ import annotations

import os
import subprocess
import sys
import tempfile
import venv
from pathlib import Path
from typing import Final

FOLDER_VARIABLE: Final = "FROSTGLASS_RIVALS"
_INSTALLING: Final = 900
_TOO_LONG: Final = "it could not be installed in time"
#: Programs by a short name, each with what is installed for it.
PROGRAMS: Final = {
    "smartnoise": "smartnoise-synth==1.0.8",
    "dpmm": "dpmm==0.1.9",
    "interpret": "interpret-core==0.7.8",
    "diffprivlib": "diffprivlib==0.6.6 scikit-learn==1.7.2",
}
#: What is installed in place of all that a program asks for: AIM and MST need none of the gigabytes of PyTorch.
_NEEDED: Final = {"smartnoise": "Faker==40.63.0 disjoint-set==0.9.0 mbi==1.1.0 smartnoise-sql==1.0.10"}


class LeftOutError(Exception):
    """A rival has no figures; the text says why."""


class UnfinishedError(LeftOutError):
    """It took too long."""


def folder() -> Path:
    """Where they are kept."""
    return Path(os.environ.get(FOLDER_VARIABLE) or Path(tempfile.gettempdir()) / "frostglass-rivals")


def environment(program: str) -> Path:
    """The Python of a program's environment, which is made at the first time.

    Raises
    ------
    LeftOutError
        If it cannot be installed; never ``UnfinishedError``, by which a program is known to be slow.
    """
    place = folder() / PROGRAMS[program].replace("==", "-").replace(" ", "-")
    python, ready = place / "bin" / "python", place / "ready"
    if not ready.exists():
        print(f"Installing {PROGRAMS[program]} into {place} ...", file=sys.stderr)
        venv.create(place, with_pip=True, clear=True)
        pip, needed = [str(python), "-m", "pip", "install", "--quiet"], _NEEDED.get(program, "").split()
        try:
            called([*pip, *(["--no-deps"] if needed else []), *PROGRAMS[program].split()], _INSTALLING, _TOO_LONG)
            if needed:
                called([*pip, *needed], _INSTALLING, _TOO_LONG)
        except UnfinishedError as fault:
            raise LeftOutError(str(fault)) from None  # Of the network, not of the program: nobody keeps it.
        ready.touch()
    return python


def called(command: list[str], seconds: int, too_long: str) -> str:
    """What a command prints.

    Raises
    ------
    LeftOutError
        If it fails; ``UnfinishedError`` if it takes too long.
    """
    try:
        done = subprocess.run(command, capture_output=True, text=True, check=False, timeout=seconds)
    except subprocess.TimeoutExpired:
        raise UnfinishedError(too_long) from None
    if done.returncode != 0:
        said = done.stderr.strip().splitlines()
        raise LeftOutError(f"it failed: {said[-1][:200] if said else 'no message'}")
    return done.stdout
