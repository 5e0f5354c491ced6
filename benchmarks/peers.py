"""The Python interpreter of an environment with peer programs."""

from __future__ import annotations

import subprocess
from pathlib import Path

PYTHON_VARIABLE = "FROSTGLASS_PEERS_PYTHON"


def interpreter(given: Path | None, module: str, how_to: str) -> Path | None:
    """The interpreter of the peers' environment, if one is named.

    Raises
    ------
    RuntimeError
        If it cannot import ``module``; the message ends with ``how_to``.
    """
    if given is None:
        return None
    named = str(given)
    check = [named, "-c", f"import {module}; print({module}.__name__)"]
    try:
        found = subprocess.run(check, capture_output=True, text=True, check=False).stdout
    except OSError:
        found = ""
    if found.strip() != module:
        raise RuntimeError(f"{named} cannot import {module.partition('.')[0]}. {how_to}")
    return given
