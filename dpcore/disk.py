"""A disk without room, told apart from other faults, and said in a sentence."""

from __future__ import annotations

import errno
import shutil
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from dpcore.errors import FullError, IngestError

FULL = (
    "The disk of this computer is full. Nothing was stored; the uploaded files are kept. "
    "Make room on it, or ask whoever runs it to, then try again."
)
_NO_ROOM = (errno.ENOSPC, errno.EDQUOT)
#: NumPy does not say why it could not write: with less than this left, it was for want of room.
_LITTLE = 1 << 20


@contextmanager
def needing_room(folder: Path) -> Iterator[None]:
    """Say so if there is no room for what is stored, in a folder or in the database.

    Raises
    ------
    IngestError
        If there is none.
    """
    try:
        yield
    except Exception as error:
        if is_full(error, folder):
            raise IngestError(FULL) from None
        raise


def is_full(error: Exception, folder: Path) -> bool:
    """Whether writing into a folder, or into the database, failed because there is no room."""
    if isinstance(error, OSError) and error.errno is None:
        return shutil.disk_usage(folder).free < _LITTLE
    return isinstance(error, FullError) or (isinstance(error, OSError) and error.errno in _NO_ROOM)
