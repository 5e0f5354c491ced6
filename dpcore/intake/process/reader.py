"""The program that reads uploads, so that no other has to: ``python -m dpcore.intake.process.reader``.

A file from anywhere may take all memory, never end, or bring its reader down. So each question
about one is answered by a process of its own, under the limits of
:class:`dpcore.intake.process.limits.Limits`: a copy of this program (by ``fork``, so that libraries are
loaded once), which answers one question and is gone, with everything that it read. Questions and
answers are lines of JSON; the rows of an upload leave the process in the stored form alone, which
it writes into a folder that it is given. What libraries print, which may quote values, is thrown
away.
"""

from __future__ import annotations

import json
import os
import resource
import select
import signal
import sys
from collections.abc import Callable, Mapping
from contextlib import suppress
from pathlib import Path
from typing import Any, BinaryIO

from dpcore.errors import FrostglassError
from dpcore.intake.sources.choices import Choices, choosing
from dpcore.intake.sources.sources import knowing
from dpcore.validation import storable

#: Without questions for so many seconds, this program ends.
_IDLE = 600
_OPEN_FILES = 128


def main() -> None:
    """Answer questions from standard input until it ends."""
    answers = os.fdopen(os.dup(1), "wb", buffering=0)
    _silence()
    known = _load()
    _say(answers, ready=True)
    questions = sys.stdin.buffer
    while select.select([questions], [], [], _IDLE)[0]:
        line = questions.readline()
        if not line:
            return
        child = os.fork()
        if not child:
            _answer(known, json.loads(line), answers)
            os._exit(0)
        _until_ended_or_left(child, questions)
        _, status = os.waitpid(child, 0)
        with suppress(BrokenPipeError):  # Whoever asked has gone.
            _say(answers, ended=os.waitstatus_to_exitcode(status))


def _until_ended_or_left(child: int, questions: BinaryIO) -> None:
    """Wait for a copy, and end it if whoever asked has gone: nobody wants its answer."""
    if not hasattr(os, "pidfd_open"):
        return
    try:
        ended = os.pidfd_open(child)
    except OSError:  # No such thing on this machine: its limits of time end it.
        return
    try:
        waiting = select.poll()
        waiting.register(questions, 0)  # A hang-up is told all the same.
        waiting.register(ended, select.POLLIN)
        if ended not in (place for place, _ in waiting.poll()):
            os.kill(child, signal.SIGKILL)
    finally:
        os.close(ended)


def _silence() -> None:
    nowhere = os.open(os.devnull, os.O_RDWR)
    for stream in (1, 2):
        os.dup2(nowhere, stream)


def _load() -> Mapping[str, Callable[..., object]]:
    """Load what answers questions, once for all copies of this program."""
    import duckdb  # noqa: F401
    import pyarrow

    from dpcore.intake.process.answers import ANSWERS

    pyarrow.set_cpu_count(1)
    return ANSWERS


def _say(answers: BinaryIO, **message: object) -> None:
    answers.write(json.dumps(message, default=str).encode() + b"\n")


def _answer(known: Mapping[str, Callable[..., object]], question: Mapping[str, Any], answers: BinaryIO) -> None:
    """Answer one question, in a process of its own."""
    _confine(**question["limits"])

    def tell(step: str, rows: int) -> None:
        _say(answers, step=step, rows=rows)

    try:
        with choosing(Choices(**question["choices"])), knowing(question["addresses"]):
            result = known[question["ask"]](tell, **question["with"])
    except FrostglassError as error:
        _say(answers, fault=type(error).__name__, text=storable(str(error)))  # It may quote what a file holds.
    except MemoryError:
        _say(answers, failed="memory")
    except Exception as error:  # noqa: BLE001 - its text may quote values; its kind is enough
        _say(answers, failed="unforeseen", kind=type(error).__name__)
    else:
        _say(answers, result=result)


def _confine(memory: int, seconds: int, written: int) -> None:
    """Let the system end this process if it takes more than it may."""
    limits = {
        resource.RLIMIT_AS: memory,
        resource.RLIMIT_FSIZE: written,
        resource.RLIMIT_NOFILE: _OPEN_FILES,
        resource.RLIMIT_CORE: 0,  # A core dump would hold records.
    }
    for kind, most in limits.items():
        _limit(kind, most)
    _limit(resource.RLIMIT_CPU, seconds, 5)
    signal.signal(signal.SIGALRM, signal.SIG_DFL)
    signal.setitimer(signal.ITIMER_REAL, seconds)
    os.nice(5)
    with suppress(OSError):  # Where memory runs short, Linux ends this process before any other.
        Path("/proc/self/oom_score_adj").write_text("1000", encoding="ascii")


def _limit(kind: int, most: int, grace: int = 0) -> None:
    """Set one limit, or the one that is there already if it is lower.

    With a grace the process is warned, by a signal that tells why it ends, before it is killed.
    """
    there = resource.getrlimit(kind)[1]
    hard = min(most + grace, sys.maxsize if there == resource.RLIM_INFINITY else there)
    with suppress(ValueError, OSError):  # Not every system knows every limit.
        resource.setrlimit(kind, (min(most, hard - bool(grace)), hard))


if __name__ == "__main__":
    main()
