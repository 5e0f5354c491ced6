"""Processes that begin with everything imported, which is what takes time; they share nothing else."""

from __future__ import annotations

import multiprocessing
import os
import subprocess
import sys
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from importlib import import_module
from multiprocessing.connection import Connection
from pathlib import Path
from types import ModuleType

import dask
import pytest

from dpcore.workspace.runs.runner import JobRunner

#: Forks each process from one that has imported what is named here.
CONTEXT = multiprocessing.get_context("forkserver")
CONTEXT.set_forkserver_preload(
    [
        "dpcore.data.execution.executor_choice",
        "dpcore.intake.process.storing",
        "dpcore.models.registry",
        "dpcore.service",
        "distributed.cli.dask_scheduler",
        "distributed.cli.dask_worker",
        "tests.support.workspaces.accounts",
        "tests.support.workspaces.fake_worker",
        "tests.support.workspaces.homes",
        "tests.support.workspaces.kill_points",
        "pages.components.families.registry",
        "streamlit.web.cli",
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


@contextmanager
def _without_main() -> Iterator[None]:
    """A process would run the main program again under another name; tests of pages put theirs in its place."""
    main = sys.modules["__main__"]
    sys.modules["__main__"] = ModuleType("__main__")
    try:
        yield
    finally:
        sys.modules["__main__"] = main


class Forked:
    """A process with which can be done what is done with a program that was started."""

    def __init__(self, work: Callable[..., None], *given: object) -> None:
        self._process = CONTEXT.Process(target=work, args=given, daemon=True)
        with _without_main():
            self._process.start()
        self.pid = self._process.pid

    def poll(self) -> int | None:
        return self._process.exitcode

    def wait(self, timeout: float | None = None) -> int | None:
        self._process.join(timeout)
        return self._process.exitcode

    def terminate(self) -> None:
        self._process.terminate()

    def kill(self) -> None:
        self._process.kill()


class ForkedWorker(Forked):
    """A fake worker."""

    def __init__(self, home: str, url: str) -> None:
        lines, writer = CONTEXT.Pipe(duplex=False)
        environment = {**os.environ, "FROSTGLASS_HOME": home, "FROSTGLASS_DATABASE_URL": url}
        super().__init__(_work, environment, lines)
        lines.close()
        self.stdin = os.fdopen(os.dup(writer.fileno()), "wb")


class ForkedProgram(Forked):
    """The program of a module with ``main``; what it says goes to the end of a file."""

    def __init__(
        self, program: str, arguments: Sequence[str], folder: Path, environment: Mapping[str, str], log: Path
    ) -> None:
        super().__init__(_run, program, [*arguments], folder, dict(environment), log)


Process = subprocess.Popen[bytes] | ForkedProgram


def started(
    program: str,
    arguments: Sequence[str],
    folder: Path,
    environment: Mapping[str, str],
    log: Path,
    *,
    anew: bool = False,
) -> Process:
    """The program of a module, forked, or ``anew``: with nothing imported before. What it says ends a file."""
    if not anew:
        return ForkedProgram(program, arguments, folder, environment, log)
    with log.open("ab") as stream:
        command = [sys.executable, "-m", program, *arguments]
        return subprocess.Popen(command, stdout=stream, stderr=stream, cwd=folder, env=environment)


def _run(program: str, arguments: list[str], folder: Path, environment: Mapping[str, str], log: Path) -> None:
    os.environ.clear()
    os.environ.update(environment)
    os.chdir(folder)
    with log.open("ab") as stream:
        os.dup2(stream.fileno(), 1)
        os.dup2(stream.fileno(), 2)
    dask.config.refresh()  # It was read off the environment when it was imported.
    sys.argv = [program, *arguments]
    import_module(program).main()


def _work(environment: Mapping[str, str], lines: Connection) -> None:
    from tests.support.workspaces import fake_worker

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
