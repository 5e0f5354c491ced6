"""Keeps worker processes alive. What one of them does is in :mod:`dpcore.workspace.runs.worker`."""

from __future__ import annotations

import logging
import os
import subprocess
import sys
import threading
from collections.abc import Sequence
from contextlib import closing
from pathlib import Path

from dpcore.workspace.runs.queue import RunQueue

_LOG = logging.getLogger("frostglass.jobs")
WORKER_COMMAND = (sys.executable, "-m", "dpcore.workspace.runs.worker")


class JobRunner:
    """Keeps worker processes alive and wakes them when a run is queued.

    Parameters
    ----------
    workers : int
        Number of processes. With 0, runs are executed by :meth:`start` itself.
    warm : bool
        Whether to start them at once, in the background, or with the first run.
    command : sequence of str
        Program of a worker; home and database URL reach it through its environment.
    """

    def __init__(
        self,
        home: Path,
        database_url: str,
        queue: RunQueue,
        workers: int,
        command: Sequence[str] = WORKER_COMMAND,
        *,
        warm: bool = True,
    ) -> None:
        self._home, self._url, self._command = home, database_url, tuple(command)
        self._queue, self._wanted = queue, workers
        self._lock = threading.Lock()
        self._processes: list[subprocess.Popen[bytes]] = []
        queue.end_dead()
        if warm or queue.statuses(active=True):
            self.wake()

    def start(self, run_id: str) -> None:
        """Have a run executed if it is queued; one that has begun or ended is left alone."""
        if self._wanted:
            self.wake()
            return
        from dpcore.workspace.runs.worker import Worker  # With every learner: mostly programs of their own need it.

        with closing(Worker(self._home, self._url)) as worker:
            worker.drain(run_id)

    def wake(self) -> None:
        """Tell every worker that there may be work; a new one looks by itself."""
        with self._lock:
            living = [process for process in self._processes if _call(process)]
            started = [self._spawn() for _ in range(self._wanted - len(living))]
            self._processes = living + started

    def tend(self) -> None:
        """End the runs of workers that have died, and replace our own while runs are waiting."""
        self._queue.end_dead()
        with self._lock:
            dead = any(process.poll() is not None for process in self._processes)
        if dead and any(own.state == "queued" for own in self._queue.statuses(active=True)):
            self.wake()

    def close(self) -> None:
        """Let each worker finish its present run and end; do not wait for it."""
        with self._lock:
            self._wanted = 0
            for process in self._processes:
                _hang_up(process)
            self._processes = []

    def _spawn(self) -> subprocess.Popen[bytes]:
        root = str(Path(__file__).resolve().parents[3])
        paths = [root, *filter(None, [os.environ.get("PYTHONPATH")])]
        environment = {
            **os.environ,
            "PYTHONPATH": os.pathsep.join(paths),
            "FROSTGLASS_HOME": str(self._home),
            "FROSTGLASS_DATABASE_URL": self._url,
        }
        # A session of its own: Ctrl-C in the application's terminal must not kill a paid run.
        return subprocess.Popen(
            self._command,
            stdin=subprocess.PIPE,
            stdout=subprocess.DEVNULL,
            env=environment,
            start_new_session=True,
        )


def _call(process: subprocess.Popen[bytes]) -> bool:
    """Send a worker a line; return whether it lives."""
    if process.poll() is not None or process.stdin is None:
        return False
    try:
        process.stdin.write(b"\n")
        process.stdin.flush()
    except OSError:
        return False
    return True


def _hang_up(process: subprocess.Popen[bytes]) -> None:
    if process.stdin is not None:
        try:
            process.stdin.close()
        except OSError:
            _LOG.info("a worker had ended already")
    # Nobody waits for the worker, so a thread collects its exit status.
    threading.Thread(target=process.wait, daemon=True).start()
