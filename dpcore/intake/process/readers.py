"""The processes that answer questions about uploads, one question after the other: see ``reader``."""

from __future__ import annotations

import json
import os
import re
import select
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any

from dpcore.errors import IngestError

#: Told now and then which table is being read and how many rows of it were; may raise to stop.
#: An empty name says that all is read and being written.
Watch = Callable[[str, int], None]

READER_COMMAND = (sys.executable, "-m", "dpcore.intake.process.reader")
#: Questions answered at once; further ones wait for their turn.
AT_ONCE = 2
_LOOK = 0.2
_ROOT = Path(__file__).resolve().parents[3]
#: What a reader may know of the environment.
_KEPT = re.compile(r"(HOME|LANG|LC_.*|LD_LIBRARY_PATH|NUMBA_.*|PATH|PYTHON.*|TMPDIR|TZ)$")
#: Beyond its own limit a reader is given so many seconds, then it is ended from here.
_GRACE = 10
_LOAD_SECONDS = 120
_LONGEST_ANSWER = 8 << 20

_NO_READER = "Files cannot be read now. Try again; if that does not help, tell the operator."


class Reader:
    """One running reader: answers one question after the other."""

    def __init__(self) -> None:
        self._process = subprocess.Popen(
            READER_COMMAND,
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
            env=_environment(),
            cwd=_ROOT,  # It outlives the folder of whoever starts it; the paths that it is told are whole.
            start_new_session=True,
        )
        self._rest = bytearray()
        self._loaded = self._busy = False

    @property
    def idle(self) -> bool:
        """Whether it can be asked, or will be ready to."""
        return not self._busy and self._process.poll() is None

    def end(self) -> None:
        """End it and whatever it has begun."""
        if self._process.returncode is None:  # Else its number may be another's by now.
            with suppress(ProcessLookupError):
                os.killpg(self._process.pid, signal.SIGKILL)
            self._process.wait()
        for pipe in (self._process.stdin, self._process.stdout):
            if pipe is not None:
                with suppress(OSError):
                    pipe.close()

    def get_ready(self, watch: Watch) -> None:
        """Wait until its libraries are loaded."""
        if not self._loaded:
            self._last(_LOAD_SECONDS, watch, "ready")
            self._loaded = True

    def answer(self, line: str, seconds: int, watch: Watch) -> dict[str, object]:
        """What is said to a question that may take so long."""
        assert self._process.stdin is not None
        self._process.stdin.write(line.encode() + b"\n")
        self._process.stdin.flush()
        return self._last(seconds + _GRACE, watch, "ended")

    def _last(self, seconds: float, watch: Watch, end: str) -> dict[str, object]:
        """What was said before the message that ends an answer, or that message itself."""
        said: dict[str, object] = {}
        self._busy = True
        for message in self._messages(seconds, watch):
            if end in message:
                self._busy = False
                return said or message
            if "step" not in message:
                said = message
        raise _Overdue

    def _messages(self, seconds: float, watch: Watch) -> Iterator[dict[str, object]]:
        until, place = time.monotonic() + seconds, ("", 0)
        while time.monotonic() < until:
            watch(*place)
            for message in self._read():
                if "step" in message:
                    place = (message["step"], message["rows"])
                yield message

    def _read(self) -> Iterator[dict[str, Any]]:
        """Messages that are there by now, or soon."""
        assert self._process.stdout is not None
        pipe = self._process.stdout.fileno()
        waiting = select.poll()  # Not select(), which knows no file beyond the 1,024th.
        waiting.register(pipe, select.POLLIN)
        if not waiting.poll(_LOOK * 1000):
            return
        piece = os.read(pipe, 1 << 16)
        if not piece or len(self._rest) > _LONGEST_ANSWER:
            raise _Overdue
        first, *later = piece.split(b"\n")
        self._rest += first  # A bytearray: a long answer is not copied piece by piece.
        if later:
            lines: list[bytes | bytearray] = [self._rest, *later[:-1]]
            self._rest = bytearray(later[-1])
            yield from map(json.loads, lines)


def _environment() -> dict[str, str]:
    """What a reader is told: nothing secret, and to do with one thread, as a copy of it must."""
    paths = [str(_ROOT), *filter(None, [os.environ.get("PYTHONPATH")])]
    kept = {name: value for name, value in os.environ.items() if _KEPT.match(name)}
    one = dict.fromkeys(("OPENBLAS_NUM_THREADS", "OMP_NUM_THREADS", "MKL_NUM_THREADS"), "1")
    return {**kept, **one, "MALLOC_ARENA_MAX": "2", "PYTHONPATH": os.pathsep.join(paths)}


class _Overdue(Exception):  # noqa: N818  Turned into a sentence before it leaves this module.
    """A reader does not answer, or has ended."""


def _nothing(_table: str, _rows: int) -> None:
    pass


_turns = threading.BoundedSemaphore(AT_ONCE)
_lock = threading.Lock()
_idle: list[Reader] = []


def start() -> None:
    """Let a reader load what it needs while this program does other things: a question is about to come."""
    with _lock:
        if not _idle:
            with suppress(OSError):  # Whoever asks is told.
                _idle.append(Reader())


def answered(question: str, seconds: int, watch: Watch | None) -> dict[str, object]:
    """What a reader says to a question, a line of JSON.

    Parameters
    ----------
    seconds : int
        Limit of the reader's own; it is ended soon after.
    watch : callable, optional
        Told of progress several times a second; what it raises ends the reading.

    Raises
    ------
    IngestError
        If there is no reader, or it does not answer.
    """
    tell = watch or _nothing
    with _reader(tell) as reader:
        return reader.answer(question, seconds, tell)


@contextmanager
def _reader(tell: Watch) -> Iterator[Reader]:
    """A reader for one question. One that did not answer is ended; another is kept for later."""
    while not _turns.acquire(timeout=_LOOK):
        tell("", 0)
    try:
        reader = _waiting_reader() or Reader()
        try:
            reader.get_ready(tell)
            yield reader
        finally:
            _keep(reader)
    except (_Overdue, OSError, ValueError):
        raise IngestError(_NO_READER) from None
    finally:
        _turns.release()


def _waiting_reader() -> Reader | None:
    with _lock:
        while _idle:
            reader = _idle.pop()
            if reader.idle:
                return reader
            reader.end()
    return None


def _keep(reader: Reader) -> None:
    """Keep a reader for later; one that was interrupted is ended."""
    if not reader.idle:
        reader.end()
        return
    with _lock:
        _idle.append(reader)
