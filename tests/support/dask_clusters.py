"""A Dask cluster of processes on this machine, and what can go wrong with it."""

from __future__ import annotations

import os
import signal
import socket
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from distributed import Client

_PATIENCE = 60


class Cluster:
    """A scheduler and workers, each a process that may be killed."""

    def __init__(self, folder: Path) -> None:
        self._folder, self._port = folder, free_port()
        self.address = f"tcp://127.0.0.1:{self._port}"
        self.scheduler: subprocess.Popen[bytes] | None = None
        self.workers: list[subprocess.Popen[bytes]] = []

    def start_scheduler(self) -> None:
        """Start the scheduler, where it was if it was there before."""
        self.scheduler = self._start("scheduler", "--host", "127.0.0.1", "--port", str(self._port), "--no-dashboard")

    def start_worker(self) -> None:
        """Start a further worker of one thread."""
        self.workers.append(
            self._start(
                "worker", self.address, "--host", "127.0.0.1", "--nthreads", "1", "--no-dashboard", "--no-nanny",
                "--local-directory", str(self._folder), "--death-timeout", str(_PATIENCE),
            )
        )  # fmt: skip

    def wait_for(self, workers: int) -> None:
        """Wait until so many workers are there."""
        with Client(self.address, timeout=_PATIENCE, set_as_default=False) as client:
            if workers:
                client.wait_for_workers(workers, timeout=_PATIENCE)

    def kill_scheduler(self) -> None:
        """As a power cut would."""
        assert self.scheduler is not None
        _kill(self.scheduler)

    def kill_worker(self) -> None:
        """As the machine would that runs short of memory."""
        _kill(self.workers.pop(0))

    def close(self) -> None:
        """End everything."""
        for process in [*self.workers, *filter(None, [self.scheduler])]:
            _kill(process)

    def _start(self, what: str, *more: str) -> subprocess.Popen[bytes]:
        command = [sys.executable, "-m", "distributed.cli.dask_" + what, *more]
        with (self._folder / f"{what}.log").open("ab") as log:
            return subprocess.Popen(command, stdout=log, stderr=log, cwd=Path(__file__).parents[2], env=_environment())


def _environment() -> dict[str, str]:
    return os.environ | {"OMP_NUM_THREADS": "1", "PYTHONPATH": str(Path(__file__).parents[2])}


def _kill(process: subprocess.Popen[bytes]) -> None:
    process.send_signal(signal.SIGKILL)
    process.wait()


@contextmanager
def dask_cluster(folder: Path, workers: int = 2) -> Iterator[Cluster]:
    """A cluster that is ready, and is ended afterwards."""
    cluster = Cluster(folder)
    try:
        cluster.start_scheduler()
        for _ in range(workers):
            cluster.start_worker()
        cluster.wait_for(workers)
        yield cluster
    finally:
        cluster.close()


def free_port() -> int:
    """A port that nobody listens on."""
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        port: int = taken.getsockname()[1]
        return port
