"""Taking turns: one process or thread at a time, by a lock that ends with its holder.

The operating system keeps the lock and wakes who waits for it, so nobody polls, and a killed
holder blocks nobody. Where it has no such lock (Windows), there are no turns: whoever uses them
for order alone still has the database's own lock.
"""

from __future__ import annotations

import os
import sys
import threading
from collections.abc import Iterator
from concurrent.futures import Future
from contextlib import contextmanager
from pathlib import Path
from typing import Final

from dpcore.errors import AwayError
from dpcore.workspace.database.owners import open_private

#: Seconds after which a turn is not waited for any longer. Who has it may be waiting for the lock
#: of SQLite, which takes half as long at most.
TIMEOUT: Final = 120.0
_HELD_UP = (
    "Another process of this installation has held this one up for minutes. Nothing was changed. "
    "Try again; if it stays like this, stop the process that hangs."
)


@contextmanager
def file_lock(path: Path) -> Iterator[None]:
    """Wait for the turn that a file stands for, and have it until the block ends.

    The file is made if it is absent and never removed: a removed one would be a second queue.

    Raises
    ------
    AwayError
        If the turn does not come within :data:`TIMEOUT`.
    """
    handle = open_private(path)
    try:
        with holding(handle):
            yield
    finally:
        os.close(handle)


@contextmanager
def holding(handle: int) -> Iterator[None]:
    """Hold the lock of an open file, which the caller closes. Raises ``AwayError``."""
    if sys.platform == "win32":
        yield
        return
    import fcntl

    try:
        fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        _queue(handle, TIMEOUT)
    try:
        yield
    finally:
        fcntl.flock(handle, fcntl.LOCK_UN)  # By name: a forked child may have the file open too.


def _queue(handle: int, seconds: float) -> None:
    """Wait for the lock of an open file. Its queue has no time limit: a thread waits in it.

    The lock belongs to the open file, not to the thread, and comes to whoever has the file open.
    """
    import fcntl

    own, came, given_up = os.dup(handle), Future[None](), threading.Event()

    def stand() -> None:
        try:
            fcntl.flock(own, fcntl.LOCK_EX)
            if given_up.is_set():
                fcntl.flock(own, fcntl.LOCK_UN)
            came.set_result(None)
        except OSError as error:
            came.set_exception(error)
        finally:
            os.close(own)

    threading.Thread(target=stand, daemon=True).start()
    try:
        came.result(seconds)
    except BaseException as error:
        given_up.set()
        fcntl.flock(handle, fcntl.LOCK_UN)
        if isinstance(error, TimeoutError):
            raise AwayError(_HELD_UP) from None
        raise


@contextmanager
def claimed(path: Path) -> Iterator[None]:
    """Make a file that says, until the block ends, that somebody is at work beside it.

    The file appears with its lock held. It may be moved meanwhile, alone or with its folder.
    """
    fresh = path.with_name(f"{path.name}.new")
    with file_lock(fresh):
        fresh.replace(path)
        yield


def is_claimed(path: Path) -> bool:
    """Whether somebody who lives is at work beside this file, on whatever machine.

    Where there are no such locks the answer is yes: better to leave something lying about.
    """
    if sys.platform == "win32":
        return True
    import fcntl

    with path.open("rb") as stream:
        try:
            fcntl.flock(stream, fcntl.LOCK_SH | fcntl.LOCK_NB)
        except BlockingIOError:
            return True
    return False
