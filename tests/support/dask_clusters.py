"""A Dask cluster of processes on this machine, and what can go wrong with it."""

from __future__ import annotations

import os
import signal
import socket
import subprocess
import sys
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path

from distributed import Client, Security

_PATIENCE = 60


class Cluster:
    """A scheduler and workers, each a process that may be killed.

    Parameters
    ----------
    folder : Path
        For logs.
    tls : mapping of str to str, optional
        Dask's settings of certificates; with them, all connections are encrypted.
    """

    def __init__(self, folder: Path, tls: Mapping[str, str] | None = None) -> None:
        self._folder, self._port = folder, free_port()
        self.address = f"{'tls' if tls else 'tcp'}://127.0.0.1:{self._port}"
        self._options = ["--protocol", "tls"] if tls else []
        self._environment = _environment() | {
            f"DASK_{name.upper().replace('.', '__').replace('-', '_')}": value for name, value in (tls or {}).items()
        }
        self.scheduler: subprocess.Popen[bytes] | None = None
        self.workers: list[subprocess.Popen[bytes]] = []

    def start_scheduler(self) -> None:
        """Start the scheduler, where it was if it was there before."""
        self.scheduler = self._start(
            "scheduler", "--host", "127.0.0.1", "--port", str(self._port), "--no-dashboard", *self._options
        )

    def start_worker(self) -> None:
        """Start a further worker of one thread."""
        self.workers.append(
            self._start(
                "worker", self.address, "--host", "127.0.0.1", "--nthreads", "1", "--no-nanny",
                "--local-directory", str(self._folder), "--death-timeout", str(_PATIENCE),
            )
        )  # fmt: skip

    def wait_for(self, workers: int) -> None:
        """Wait until so many workers are there."""
        with Client(self.address, timeout=_PATIENCE, set_as_default=False, security=Security()) as client:
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
            return subprocess.Popen(
                command, stdout=log, stderr=log, cwd=Path(__file__).parents[2], env=self._environment
            )


def _environment() -> dict[str, str]:
    return os.environ | {"OMP_NUM_THREADS": "1", "PYTHONPATH": str(Path(__file__).parents[2])}


def _kill(process: subprocess.Popen[bytes]) -> None:
    process.send_signal(signal.SIGKILL)
    process.wait()


@contextmanager
def dask_cluster(folder: Path, workers: int = 2, tls: Mapping[str, str] | None = None) -> Iterator[Cluster]:
    """A cluster that is ready, and is ended afterwards."""
    cluster = Cluster(folder, tls)
    try:
        cluster.start_scheduler()
        for _ in range(workers):
            cluster.start_worker()
        cluster.wait_for(workers)
        yield cluster
    finally:
        cluster.close()


def certificates(folder: Path) -> dict[str, str]:
    """Dask's settings of certificates that were made for a test."""
    made, settings = Security.temporary(), {}
    texts = {"ca-file": made.tls_ca_file}
    for role in ("client", "scheduler", "worker"):
        texts[f"{role}.cert"] = getattr(made, f"tls_{role}_cert")
        texts[f"{role}.key"] = getattr(made, f"tls_{role}_key")
    for name, text in texts.items():
        file = folder / f"{name}.pem"
        file.write_text(text)
        settings[f"distributed.comm.tls.{name}"] = str(file)
    return settings


def free_port() -> int:
    """A port that nobody listens on."""
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        port: int = taken.getsockname()[1]
        return port
