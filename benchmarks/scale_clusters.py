"""What a Dask cluster on this machine costs beside threads of one process, and what crosses its wires.

Every figure is measured in a fresh process with fresh workers: ``python -m benchmarks.scale_clusters
CASE FOLDER WORKERS``; without workers, questions are answered by that process.
"""

from __future__ import annotations

import json
import os
import pickle
import socket
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Collection, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import numpy as np
import psutil

from benchmarks.memory import in_fresh_process
from benchmarks.records import Record
from benchmarks.scale import SUITE, generate, work_of
from dpcore.arrays import Ints
from dpcore.data.execution.executors import LOCAL, Executor
from dpcore.data.partition import Partition
from dpcore.data.table import PrivateTable

#: Seconds that a cluster may take longer than threads, as a share.
GOAL = 0.15
#: What the deployment guide advises for schedulers and workers.
_SETTINGS = {
    "DASK_DISTRIBUTED__SCHEDULER__REUSE_BROADCAST_COMM": "True",
    "DASK_DISTRIBUTED__WORKER__PROFILE__ENABLED": "False",
    "DASK_DISTRIBUTED__ADMIN__TICK__INTERVAL": "500ms",
}
#: Empty questions, to learn what a question takes in itself.
_TRIPS = 200


class Counted:
    """An executor that counts questions, and bytes: sent to all workers, and of one worker's answer."""

    def __init__(self, executor: Executor) -> None:
        self._executor = executor
        self.forget()

    def forget(self) -> None:
        """Begin again at zero."""
        self.questions, self.sent, self.answered = 0, 0, 0

    def check(self, partitions: Sequence[Partition]) -> None:
        """As the executor does."""
        self._executor.check(partitions)

    def total(self, kernel: Callable[..., Any], partitions: Sequence[Partition], *public: Any, **named: Any) -> Any:
        """As the executor does."""
        found = self._executor.total(kernel, partitions, *public, **named)
        self.questions += 1
        self.sent += len(pickle.dumps((kernel, public, named), protocol=5))
        self.answered += sum(np.asarray(one).nbytes for one in (found if isinstance(found, tuple) else (found,)))
        return found


def places(partition: Partition) -> Ints:
    """The least that can be asked: what is left is the way there and back."""
    return np.array([partition.rows])


def measure(case: str, folder: Path, workers: int) -> dict[str, float]:
    """Seconds of one case by the clock and of all cores, its questions and their bytes."""
    with tempfile.TemporaryDirectory() as temporary, _executor(workers, Path(temporary)) as (executor, processes):
        counted = Counted(executor)
        small = Path(temporary) / "small"
        small.mkdir()
        generate(small, 1000 * (workers + 1), workers + 1)
        table = PrivateTable.open(small, counted)
        table.check()
        work_of(case, table)()  # Compiles what it needs, here and there.
        before = _burnt(processes)
        trips = [_seconds(lambda: table.total(places)) for _ in range(_TRIPS)]
        each = (_burnt(processes) - before) / _TRIPS
        table = PrivateTable.open(folder, counted)
        table.check()  # As before every run: the workers open it.
        work = work_of(case, table)
        counted.forget()
        before = _burnt(processes)
        seconds = _seconds(work)
        return {
            "seconds": seconds,
            "core seconds": _burnt(processes) - before,
            "questions": counted.questions,
            "bytes of a question": counted.sent / counted.questions,
            "bytes of an answer": counted.answered / counted.questions,
            "milliseconds there and back": 1e3 * statistics.median(trips),
            "core milliseconds of an empty question": 1e3 * each,
        }


def _seconds(work: Callable[[], object]) -> float:
    start = time.perf_counter()
    work()
    return time.perf_counter() - start


def _burnt(processes: Sequence[psutil.Process]) -> float:
    times = [process.cpu_times() for process in processes]
    return float(sum(one.user + one.system for one in times))


@contextmanager
def _executor(workers: int, folder: Path) -> Iterator[tuple[Executor, list[psutil.Process]]]:
    """An executor, and the processes that work for it: this one, a scheduler, workers that share the cores."""
    if not workers:
        yield LOCAL, [psutil.Process()]
        return
    from dpcore.data.execution.clusters import ClusterExecutor

    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    threads = max(1, (os.cpu_count() or 1) // workers)
    address, here = f"tcp://127.0.0.1:{port}", ["--host", "127.0.0.1", "--no-dashboard"]
    commands = [["scheduler", *here, "--port", str(port)]]
    for _ in range(workers):
        own = ["--nthreads", str(threads), "--no-nanny", "--local-directory", str(folder)]
        commands.append(["worker", address, *here, *own])
    environment = {**os.environ, **_SETTINGS}
    with (folder / "log").open("wb") as log:
        running = [
            subprocess.Popen(
                [sys.executable, "-m", f"distributed.cli.dask_{name}", *more], stdout=log, stderr=log, env=environment
            )
            for name, *more in commands
        ]
        try:
            executor = ClusterExecutor(address)
            _wait_for(workers, address)
            yield executor, [psutil.Process(), *(psutil.Process(one.pid) for one in running)]
        finally:
            for process in running:
                process.kill()
                process.wait()


def _wait_for(workers: int, address: str) -> None:
    from distributed import Client

    with Client(address, timeout=60, set_as_default=False) as client:
        client.wait_for_workers(workers, timeout=60)


def run(rows: int, folder: Path, workers: Sequence[int], cases: Collection[str], turns: int) -> Iterator[Record]:
    """Every case by threads and by clusters, in turns: others who use the machine disturb all alike."""
    if not (folder / "schema.json").exists():
        folder.mkdir(parents=True, exist_ok=True)
        generate(folder, rows)
    data = f"{rows:,} people, {os.cpu_count()} cores"
    for case in cases:
        found = [
            {count: in_fresh_process("benchmarks.scale_clusters", case, folder, count) for count in (0, *workers)}
            for _ in range(turns)
        ]
        yield from _records(data, f"{case}, threads", found, 0)
        for count in workers:
            yield from _records(data, f"{case}, Dask x {count}", found, count)
            yield _more(data, f"{case}, Dask x {count}", found, count)


def _records(data: str, what: str, found: Sequence[dict[int, dict[str, float]]], count: int) -> Iterator[Record]:
    for metric in found[0][count]:
        yield _record(data, what, metric, [one[count][metric] for one in found])


def _more(data: str, what: str, found: Sequence[dict[int, dict[str, float]]], count: int) -> Record:
    ratios = [one[count]["seconds"] / one[0]["seconds"] - 1 for one in found]
    return _record(data, what, "seconds more than threads, share", ratios, GOAL)


def _record(data: str, what: str, metric: str, values: Sequence[float], goal: float | None = None) -> Record:
    spread = statistics.stdev(values) if len(values) > 1 else float("nan")
    source = "goal, at most" if goal else ""
    return Record(SUITE, data, what, None, metric, statistics.median(values), spread, len(values), goal, source)


if __name__ == "__main__":
    print(json.dumps(measure(sys.argv[1], Path(sys.argv[2]), int(sys.argv[3]))))
