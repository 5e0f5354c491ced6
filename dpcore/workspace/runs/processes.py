"""Who is at work: process identities that survive clock changes and reused process numbers.

Containers may share the name of a machine without seeing each other's processes. So a process is
known by its machine's name, and on Linux also by machine, boot and process namespace.
"""

from __future__ import annotations

import os
import socket
import sys
from dataclasses import dataclass
from functools import cache
from pathlib import Path

import psutil

#: Start times are whole clock ticks; two processes of one number are never born this close.
_TOLERANCE = 0.5
#: Number that Linux gives the process namespace of the machine itself.
_WHOLE_MACHINE = 0xEFFFFFFC


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
        return cls(_here(), pid, _start(psutil.Process(pid)))

    @property
    def local(self) -> bool:
        """Whether this process could see that one, if it lives."""
        # Identities of early versions are the name of the machine alone.
        return self.host in (_here(), socket.gethostname())

    def dead(self) -> bool:
        """Whether the process is known to have ended. Another machine's never is."""
        if not self.local:
            return _rebooted(self.host)
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


@cache
def _here() -> str:
    """Name of this machine; on Linux also machine, boot and process namespace."""
    name = socket.gethostname()
    if sys.platform != "linux":
        return name
    machine, boot = (_first_letters(path) for path in ("/etc/machine-id", "/proc/sys/kernel/random/boot_id"))
    namespace = os.stat("/proc/self/ns/pid").st_ino  # noqa: PTH116 - a link to no file
    return f"{name}/{machine}/{boot}/{namespace}"


def _first_letters(path: str) -> str:
    try:
        return Path(path).read_text(encoding="ascii").strip()[:8] or "-"
    except OSError:
        return "-"


def _rebooted(host: str) -> bool:
    """Whether a host is this very machine before its last start."""
    then, now = host.split("/"), _here().split("/")
    if len(then) != len(now) or len(now) == 1 or "-" in now:
        return False
    whole = then[3] == now[3] == str(_WHOLE_MACHINE)
    return whole and then[:2] == now[:2] and then[2] != now[2]
