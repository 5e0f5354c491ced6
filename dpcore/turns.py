"""Taking turns: one process or thread at a time, by a lock that ends with its holder.

The operating system keeps the lock and wakes who waits for it, so nobody polls, and a killed
holder blocks nobody. Where it has no such lock (Windows), there are no turns: whoever uses them
for order alone still has the database's own lock.
"""

from __future__ import annotations

import os
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path


@contextmanager
def turn(path: Path) -> Iterator[None]:
    """Wait for the turn that a file stands for, and have it until the block ends.

    The file is made if it is absent and never removed: a removed one would be a second queue.
    """
    handle = os.open(path, os.O_RDWR | os.O_CREAT, 0o600)
    try:
        with holding(handle):
            yield
    finally:
        os.close(handle)


@contextmanager
def holding(handle: int) -> Iterator[None]:
    """Hold the lock of an open file."""
    if sys.platform == "win32":
        yield
        return
    import fcntl

    fcntl.flock(handle, fcntl.LOCK_EX)
    try:
        yield
    finally:
        fcntl.flock(handle, fcntl.LOCK_UN)  # By name: a forked child may have the file open too.


@contextmanager
def claimed(path: Path) -> Iterator[None]:
    """Make a file that says, until the block ends, that somebody is at work beside it.

    The file appears with its lock held. It may be moved meanwhile, alone or with its folder.
    """
    fresh = path.with_name(f"{path.name}.new")
    with turn(fresh):
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
