"""Background runs: worker processes that outlive pages, and what one of them does with a run.

Workers are separate programs (``python -m dpcore.workspace.workers``), not a ``multiprocessing``
pool: a pool would import the caller's main module again (under Streamlit that is the page being
drawn), and the death of one member would take down the runs of all others. The queue is the
database; a line on a worker's standard input says that there may be work, and its end says
that the application is gone: the worker then finishes what it was paid for and ends too.
"""

from __future__ import annotations

import logging
import math
import os
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Collection, Sequence
from pathlib import Path
from typing import Any

from sqlalchemy.engine import Connection

from dpcore.errors import CancelledError, ConflictError, FrostglassError
from dpcore.released.release import make_release
from dpcore.workspace.database import be_patient
from dpcore.workspace.installation import open_installation
from dpcore.workspace.ledger import Ledger
from dpcore.workspace.processes import ProcessIdentity
from dpcore.workspace.queue import Job, RunQueue, complete_job, end_job
from dpcore.workspace.requests import RunState, RunStatus
from dpcore.workspace.store import Store

_LOG = logging.getLogger("frostglass.jobs")
#: Writes of progress per step of a run; their times are fixed by counts, never by a clock.
PROGRESS_WRITES = 20
#: Seconds for which a worker waits for a database server that is away: a run must not be lost
#: because the server is restarted.
PATIENCE = 300.0
#: Seconds without progress after a report of it has failed.
_SILENCE = 30.0
WORKER_COMMAND = (sys.executable, "-m", "dpcore.workspace.workers")

_CANCELLED_FREE = "The run was cancelled before a record was read. Nothing was spent."
_NOT_FREE = (
    "The run has begun to read records, so stopping it would not give its budget back. It goes on."
)
_CALLED_OFF = "The custodian has frozen your budget. No record was read; nothing was spent."
_CANCELLED_SPENT = "The run was stopped after it had begun to read records. Its budget stays spent."
_FAILED_SPENT = (
    "The run failed after it had begun to read records. Its budget stays spent; why it failed "
    "is not shown, since that could depend on the records."
)
_FAILED_FREE = "The run could not start. Nothing was spent; please tell the custodian."


def run_job(home: Path, database_url: str, run_id: str) -> None:
    """Execute one queued run in this process; do nothing if it is not queued any more."""
    worker = _Worker(home, database_url)
    try:
        job = worker.runs.claim(ProcessIdentity.mine(), run_id)
        if job is not None:
            worker.execute(job)
    finally:
        worker.close()


def cancel_job(
    ledger: Ledger,
    runs: RunQueue,
    run_id: str,
    actor: str | None = None,
    *,
    only_free: bool = False,
) -> None:
    """Refund a run that has not touched a record; ask any other to stop at its next step.

    Raises
    ------
    ConflictError
        If ``only_free`` and the run has touched a record: then it goes on. The ledger decides,
        in the transaction of the refund, so a run that begins in the same moment is not lost.
    """
    reason = "cancelled before a record was touched"
    if _give_back(ledger, run_id, reason, "cancelled", _CANCELLED_FREE, actor):
        return
    if only_free:
        raise ConflictError(_NOT_FREE)
    runs.ask_stop(run_id)


def _give_back(
    ledger: Ledger,
    run_id: str,
    reason: str,
    state: RunState,
    message: str,
    actor: str | None = None,
) -> bool:
    """Refund a run and end it; return ``False`` if it has read records, or has ended."""

    def end(connection: Connection, run: str) -> None:
        end_job(connection, run, state, message)

    try:
        ledger.refund(run_id, reason, actor=actor, on_refunded=end)
    except ConflictError:
        return False
    return True


class _Worker:
    """What executes runs: connections to ledger, store and queue."""

    def __init__(self, home: Path, database_url: str) -> None:
        self._engine = engine = open_installation(home, database_url)
        be_patient(engine, PATIENCE)
        self._silent_until = -math.inf
        self.ledger, self.runs = Ledger(engine), RunQueue(engine)
        self.store = Store(home, engine)

    def close(self) -> None:
        """Close the connections."""
        self._engine.dispose()

    def drain(self) -> None:
        """Execute queued runs until there are none."""
        me = ProcessIdentity.mine()
        while (job := self.runs.claim(me)) is not None:
            self.execute(job)

    def execute(self, job: Job) -> None:
        """Execute a claimed run. Its end, good or bad, is in the database afterwards."""
        try:
            learner, plan = self._prepare(job)
            self.ledger.touch(job.run_id)
        except Exception as error:  # noqa: BLE001 - every failure becomes a fixed sentence
            self._refuse(job, error)
            return
        try:
            self._spend(job, learner, plan)
        except CancelledError:
            self.runs.end(job.run_id, "cancelled", _CANCELLED_SPENT)
        except Exception as error:  # noqa: BLE001 - its text may depend on records
            _LOG.error("run %s failed: %s", job.run_id, type(error).__name__)
            self.runs.end(job.run_id, "failed", _FAILED_SPENT)

    def _prepare(self, job: Job) -> tuple[Any, Any]:
        """Everything that can be checked from public values, before the point of no return."""
        from dpcore.models.registry import get_learner

        request = job.request
        dataset = self.store.dataset(request.dataset_id)
        dataset.check_private()
        learner = get_learner(request.algorithm)
        plan = learner.plan(dataset.schema, request.target, request.epsilon, request.parameters)
        self.store.check_stored(dataset.id, plan.schema)
        return learner, plan

    def _refuse(self, job: Job, error: Exception) -> None:
        """End a run that never touched a record and give its budget back."""
        if isinstance(error, ConflictError):
            return  # Cancelled meanwhile: the refund and the end are stored already.
        _LOG.error("run %s did not start: %s", job.run_id, type(error).__name__)
        message = _FAILED_FREE
        if isinstance(error, FrostglassError):
            message = f"The run could not start. Nothing was spent. {error}"[:1000]
        reason = "failed before a record was touched"
        if not _give_back(self.ledger, job.run_id, reason, "failed", message):
            # Touched in spite of the error, or cancelled: what the ledger says stays.
            self.runs.end(job.run_id, "failed", _FAILED_SPENT)

    def _spend(self, job: Job, learner: Any, plan: Any) -> None:
        """Read the records, and store the release in the transaction that charges it."""
        from dpcore.learning.learner import Run
        from dpcore.privacy.randomness import SecureRandom

        dataset = self.store.dataset(job.request.dataset_id)
        progress = throttled(lambda *place: self._report(job, *place))
        model = learner.run(Run(self.store.table(dataset.id), plan, SecureRandom(), progress))
        release = make_release(
            learner.name,
            plan,
            model,
            secure=True,
            dataset_id=dataset.id,
            dataset_name=dataset.name,
        )
        self.ledger.commit(
            job.run_id,
            release,
            on_committed=lambda connection, run: complete_job(connection, run, release.id),
        )

    def _report(self, job: Job, step: str, done: int, total: int) -> None:
        """Store progress if that is possible. A run that is paid for goes on if it is not."""
        if time.monotonic() < self._silent_until:
            return
        try:
            stop = self.runs.report(job.run_id, step, done, total)
        except Exception as error:  # noqa: BLE001 - whatever it is, it is not worth a run
            _LOG.warning("no progress of run %s: %s", job.run_id, type(error).__name__)
            self._silent_until = time.monotonic() + _SILENCE
            return
        if stop:
            raise CancelledError(_CANCELLED_SPENT)


def throttled(report: Callable[[str, int, int], None]) -> Callable[[str, int, int], None]:
    """Pass on about :data:`PROGRESS_WRITES` calls per step at most, chosen by counts alone."""
    last: tuple[str, int] | None = None

    def progress(step: str, done: int, total: int) -> None:
        nonlocal last
        place = (step, PROGRESS_WRITES if done >= total else done * PROGRESS_WRITES // total)
        if place != last:
            last = place
            report(step, done, total)

    return progress


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
        engine: Any,
        workers: int,
        command: Sequence[str] = WORKER_COMMAND,
        *,
        warm: bool = True,
    ) -> None:
        self._home, self._url, self._command = home, database_url, tuple(command)
        self._ledger, self.runs = Ledger(engine), RunQueue(engine)
        self._lock = threading.Lock()
        self._processes: list[subprocess.Popen[bytes]] = []
        self._wanted = workers
        self._recover(warm)

    def _recover(self, warm: bool) -> None:
        """Mark runs of dead workers as interrupted; start workers if asked, or if runs wait."""
        if self.runs.statuses(active=True) or warm:
            self._wake()

    def warm_up(self) -> None:
        """Start the workers before there is work for them."""
        self._wake()

    def start(self, run_id: str) -> None:
        """Have a queued run executed."""
        if self._wanted == 0:
            run_job(self._home, self._url, run_id)
        else:
            self._wake()

    def cancel(
        self, run_id: str, actor: str | None = None, *, only_free: bool = False
    ) -> RunStatus:
        """Stop a run; refund it exactly if no record was touched. See :func:`cancel_job`."""
        if self.status(run_id).active:
            cancel_job(self._ledger, self.runs, run_id, actor, only_free=only_free)
        return self.status(run_id)

    def call_off(self, dataset_id: str, analyst: str, actor: str) -> None:
        """Refund the runs of an analyst that no worker has begun; leave the others alone."""
        for status in self.runs.statuses({dataset_id}, analyst, active=True):
            reason = "called off: the analyst was frozen"
            _give_back(self._ledger, status.id, reason, "cancelled", _CALLED_OFF, actor)

    def status(self, run_id: str) -> RunStatus:
        """Where a run stands; replaces workers that have died while runs are waiting."""
        status = self.runs.status(run_id)
        self._tend(status.state == "queued")
        return status

    def statuses(
        self, datasets: Collection[str], analyst: str | None = None, active: bool = False
    ) -> list[RunStatus]:
        """Runs on data sets, newest first, with the same care for dead workers."""
        found = self.runs.statuses(datasets, analyst, active)
        self._tend(any(status.state == "queued" for status in found))
        return found

    def close(self) -> None:
        """Let each worker finish its present run and end; do not wait for it."""
        with self._lock:
            self._wanted = 0
            for process in self._processes:
                _hang_up(process)
            self._processes = []

    def _tend(self, waiting: bool) -> None:
        """Replace dead workers while runs are waiting."""
        with self._lock:
            dead = any(process.poll() is not None for process in self._processes)
        if waiting and dead:
            self._wake()

    def _wake(self) -> None:
        """Tell every worker that there may be work; a new one looks by itself."""
        with self._lock:
            living = [process for process in self._processes if _call(process)]
            started = [self._spawn() for _ in range(self._wanted - len(living))]
            self._processes = living + started

    def _spawn(self) -> subprocess.Popen[bytes]:
        root = str(Path(__file__).resolve().parents[2])
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


def work(warm_up: Callable[[], None] | None = None) -> None:
    """Be a worker: execute queued runs, first those waiting, then at every line of input."""
    if hasattr(os, "nice"):
        os.nice(5)  # Pages stay responsive while runs use every core.
    worker = _Worker(Path(os.environ["FROSTGLASS_HOME"]), os.environ["FROSTGLASS_DATABASE_URL"])
    if warm_up is not None:
        warm_up()
    worker.drain()
    while sys.stdin.buffer.readline():
        worker.drain()


def main(warm_up: Callable[[], None] | None = None) -> None:
    """Run :func:`work`; an unforeseen end is logged by the type of its cause only."""
    logging.basicConfig(format="%(levelname)s %(name)s: %(message)s")
    try:
        work(warm_up)
    except Exception as error:  # noqa: BLE001 - a traceback could hold values
        _LOG.error("worker ended: %s", type(error).__name__)
        sys.exit(1)


def load_engine() -> None:
    """Import what a first run would otherwise have to wait for."""
    from dpcore.models.registry import LEARNERS
    from dpcore.rehearsal import warm_up

    for learner in LEARNERS.values():
        warm_up(learner)


if __name__ == "__main__":
    main(load_engine)
