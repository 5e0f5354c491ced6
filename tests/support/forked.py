"""Processes that begin with everything imported, which is what takes time; they share nothing else."""

from __future__ import annotations

import multiprocessing
import os
import sys
from collections.abc import Callable, Mapping
from multiprocessing.connection import Connection

import pytest

from dpcore.workspace.runner import JobRunner

#: Forks each process from one that has imported what is named here.
CONTEXT = multiprocessing.get_context("forkserver")
CONTEXT.set_forkserver_preload(
    [
        "dpcore.data.chosen",
        "dpcore.models.registry",
        "dpcore.service",
        "tests.support.accounts",
        "tests.support.fake_worker",
        "tests.support.homes",
    ]
)
#: The command of a worker that is forked, where :func:`fork_workers` is in force.
FORKED = ("forked",)


def at_once(work: Callable[..., None], place: str, count: int) -> list[int | None]:
    """Exit codes of many processes that begin in the same moment."""
    start = CONTEXT.Barrier(count)
    crowd = [CONTEXT.Process(target=work, args=(place, number, start)) for number in range(count)]
    for process in crowd:
        process.start()
    for process in crowd:
        process.join(timeout=300)
    return [process.exitcode for process in crowd]


class ForkedWorker:
    """A fake worker; what the application does with a program that it has started can be done with it."""

    def __init__(self, home: str, url: str) -> None:
        lines, writer = CONTEXT.Pipe(duplex=False)
        environment = {**os.environ, "FROSTGLASS_HOME": home, "FROSTGLASS_DATABASE_URL": url}
        self._process = CONTEXT.Process(target=_work, args=(environment, lines), daemon=True)
        self._process.start()
        lines.close()
        self.stdin = os.fdopen(os.dup(writer.fileno()), "wb")
        self.pid = self._process.pid

    def poll(self) -> int | None:
        return self._process.exitcode

    def wait(self, timeout: float | None = None) -> int | None:
        self._process.join(timeout)
        return self._process.exitcode


def _work(environment: Mapping[str, str], lines: Connection) -> None:
    from tests.support import fake_worker

    os.environ.clear()
    os.environ.update(environment)
    sys.stdin = os.fdopen(lines.fileno(), closefd=False)
    fake_worker.main()


def fork_workers(monkeypatch: pytest.MonkeyPatch) -> None:
    """Let the command :data:`FORKED` fork a fake worker instead of starting a program."""
    spawn = JobRunner._spawn

    def fork(self: JobRunner) -> object:
        return ForkedWorker(str(self._home), self._url) if self._command == FORKED else spawn(self)

    monkeypatch.setattr(JobRunner, "_spawn", fork)
