"""What was measured, kept in a file, one thing a line, so that a suite goes on where it ended."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any


class KeptLines:
    """Things in a file, or nowhere.

    Parameters
    ----------
    path : Path or None
        A file of JSON lines, made with the first of them.
    """

    def __init__(self, path: Path | None) -> None:
        self._path = path

    def lines(self) -> list[dict[str, Any]]:
        """All that was kept, in order. A line that was cut off is left out."""
        if self._path is None or not self._path.exists():
            return []
        return [own for line in self._path.read_text().splitlines() if (own := _read(line)) is not None]

    def keep(self, *things: dict[str, Any]) -> None:
        """Add some things. They begin a line of their own, though the last one was cut off."""
        if self._path is not None:
            cut = self._path.exists() and not self._path.read_text().endswith("\n")
            with self._path.open("a") as file:
                file.write("\n" * cut + "".join(json.dumps(thing) + "\n" for thing in things))


def _read(line: str) -> dict[str, Any] | None:
    try:
        content: dict[str, Any] = json.loads(line)
    except json.JSONDecodeError:
        return None
    return content
