"""A Dask cluster of processes on this machine, and what can go wrong with it."""

from __future__ import annotations

import os
import resource
import socket
import threading
from collections.abc import Iterator, Mapping
from contextlib import contextmanager, suppress
from pathlib import Path

from distributed import Client, Security

from tests.support.servers.ports import free_port
from tests.support.tables.small_tables import ward
from tests.support.workspaces.forked import Process, started

_PATIENCE = 60
_ROOT = Path(__file__).parents[3]


class Relay:
    """A connection to an address that can be cut, and healed again.

    Parameters
    ----------
    address : str
        Like ``tcp://127.0.0.1:8786``.
    """

    def __init__(self, address: str) -> None:
        scheme, host, port = address.replace("//", "").split(":")
        self._there = (host, int(port))
        self._door = socket.create_server(("127.0.0.1", 0))
        self.address = f"{scheme}://127.0.0.1:{self._door.getsockname()[1]}"
        self._pairs: list[socket.socket] = []
        self._passing, self._open = threading.Event(), True
        self._passing.set()
        threading.Thread(target=self._welcome, daemon=True).start()

    def silence(self) -> None:
        """Let nothing through; nobody is told."""
        self._passing.clear()

    def reset(self) -> None:
        """Break all connections, and those that are tried from now on."""
        self._open = False
        self._break()

    def heal(self) -> None:
        """Let new connections through. Those that were silent are broken: nothing comes in late."""
        self._break()
        self._open = True
        self._passing.set()

    def _welcome(self) -> None:
        while True:
            here, _ = self._door.accept()
            with suppress(OSError):
                there = socket.create_connection(self._there)
                self._pairs += [here, there]
                if not self._open:
                    self._break()
                for source, target in ((here, there), (there, here)):
                    threading.Thread(target=self._pass, args=(source, target), daemon=True).start()

    def _pass(self, source: socket.socket, target: socket.socket) -> None:
        with suppress(OSError):
            while content := source.recv(1 << 16):
                self._passing.wait()
                target.sendall(content)
        self._end(source, target)

    def _break(self) -> None:
        while self._pairs:
            self._end(self._pairs.pop())

    def _end(self, *ends: socket.socket) -> None:
        for end in ends:
            with suppress(OSError):
                end.shutdown(socket.SHUT_RDWR)
                end.close()


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
        self._environment = (
            os.environ
            | {"OMP_NUM_THREADS": "1"}
            | {
                f"DASK_{name.upper().replace('.', '__').replace('-', '_')}": value
                for name, value in (tls or {}).items()
            }
        )
        self.scheduler: Process | None = None
        self.workers: list[Process] = []

    def start_scheduler(self) -> None:
        """Start the scheduler, where it was if it was there before."""
        self.scheduler = self._start(
            "scheduler", "--host", "127.0.0.1", "--port", str(self._port), "--no-dashboard", *self._options
        )

    def start_worker(self, scheduler: str = "", memory: str = "0", home: Path = _ROOT) -> None:
        """Start a further worker of one thread, which may know the scheduler by another address.

        Workers with more than ``memory`` take no questions; ``home`` is where it finds the program.
        """
        self.workers.append(
            self._start(
                "worker", scheduler or self.address, "--host", "127.0.0.1", "--nthreads", "1", "--no-nanny",
                "--memory-limit", memory,
                "--local-directory", str(self._folder), "--death-timeout", str(_PATIENCE), home=home,
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

    def fill_disks(self) -> None:
        """Let no worker write another byte to any file."""
        for worker in self.workers:
            resource.prlimit(worker.pid, resource.RLIMIT_FSIZE, (0, 0))

    def close(self) -> None:
        """End everything."""
        for process in [*self.workers, *filter(None, [self.scheduler])]:
            _kill(process)

    def _start(self, what: str, *more: str, home: Path = _ROOT) -> Process:
        """Forked, unless it lacks the program or is to find no compiled code."""
        environment = self._environment | {"PYTHONPATH": str(home)}
        anew = home != _ROOT or "NUMBA_CACHE_DIR" in environment
        program, log = f"distributed.cli.dask_{what}", self._folder / f"{what}.log"
        return started(program, more, home, environment, log, anew=anew)


def _kill(process: Process) -> None:
    process.kill()
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


SCHEMA = ward(
    {"name": "age", "type": "integer", "lower": 0, "upper": 100, "bins": 5},
    {"name": "sex", "type": "categorical", "categories": ["f", "m"]},
    max_rows=1000,
)
