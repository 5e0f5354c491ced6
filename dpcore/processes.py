"""Who is at work: process identities that survive clock changes and reused process numbers."""

from __future__ import annotations

import os
import socket
import sys
from dataclasses import dataclass

import psutil

#: Start times are whole clock ticks; two processes of one number are never born this close.
_TOLERANCE = 0.5


@dataclass(frozen=True)
class ProcessIdentity:
    """One process of one machine: its number alone may be used again by another process."""

    host: str
    pid: int
    start: float

    @classmethod
    def mine(cls) -> ProcessIdentity:
        """Identity of this process."""
        pid = os.getpid()
        return cls(socket.gethostname(), pid, _start(psutil.Process(pid)))

    @property
    def local(self) -> bool:
        """Whether this machine can tell if the process lives."""
        return self.host == socket.gethostname()

    def dead(self) -> bool:
        """Whether the process is known to have ended. Another machine's never is."""
        if not self.local:
            return False
        try:
            process = psutil.Process(self.pid)
            ended = process.status() in (psutil.STATUS_ZOMBIE, psutil.STATUS_DEAD)
            return ended or abs(_start(process) - self.start) > _TOLERANCE
        except psutil.NoSuchProcess:
            return True

    def __str__(self) -> str:
        return f"{self.host} {self.pid} {self.start!r}"

    @classmethod
    def parse(cls, text: str) -> ProcessIdentity:
        """Read ``str(identity)`` back. Raises ``ValueError``."""
        host, pid, start = text.split()
        return cls(host, int(pid), float(start))


def _start(process: psutil.Process) -> float:
    """When a process began; on Linux since boot, so that setting the clock changes nothing."""
    created = process.create_time()
    return created - psutil.boot_time() if sys.platform == "linux" else created
