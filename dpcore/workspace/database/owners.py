"""Whose a new file is. What root makes belongs to whom the folder around it belongs.

Otherwise one command that was run as root would lock the service out of its own home folder.
"""

from __future__ import annotations

import os
import sys
from contextlib import suppress
from pathlib import Path


def hand_over(path: Path) -> None:
    """Give what was just made to the owner of its folder, if root has made it."""
    if sys.platform == "win32" or os.geteuid() != 0:
        return
    folder = path.parent.stat()
    with suppress(OSError):  # Some file systems allow it to nobody.
        os.chown(path, folder.st_uid, folder.st_gid, follow_symlinks=False)


def open_private(path: Path, flags: int = os.O_RDWR) -> int:
    """Open a file; if it is absent, make one that only its owner may read."""
    new = not path.exists()
    handle = os.open(path, flags | os.O_CREAT, 0o600)
    if new:
        hand_over(path)
    return handle
