"""What a worker does with a run: claim, prepare, touch, spend, end.

A worker is a program of its own (``python -m dpcore.workspace.runs.worker``), not a member of a
``multiprocessing`` pool: a pool would import the caller's main module again (under Streamlit that
is the page being drawn), and the death of one member would take down the runs of all others.
A line on its standard input says that there may be work, and its end says that the application is
gone: the worker then finishes what it was paid for and ends too.
"""

from __future__ import annotations

import logging
import math
import os
import select
import sys
import time
from collections.abc import Callable
from datetime import datetime, timedelta
from functools import partial
from pathlib import Path

from dpcore.compiled import compilations
from dpcore.data.execution.executor_choice import configured_executor
from dpcore.data.table import PrivateTable
from dpcore.errors import CancelledError, ClusterError, ConflictError, FrostglassError, RequestError
from dpcore.learning.learner import Learner, Run
from dpcore.models.registry import LEARNERS, get_learner
from dpcore.privacy.randomness import SecureRandom
from dpcore.rehearsal import warm_up as warm_up_family
from dpcore.released.plan import UNCONDITIONAL, RunPlan
from dpcore.released.release import Release, make_release
from dpcore.released.workload import DurationForecast
from dpcore.workspace.database.database_tables import utc_now
from dpcore.workspace.database.installation import open_installation
from dpcore.workspace.database.transactions import be_patient
from dpcore.workspace.files.store import Store
from dpcore.workspace.ledger.ledger import Ledger
from dpcore.workspace.runs.calibration import calibrate
from dpcore.workspace.runs.machine import machine_of
from dpcore.workspace.runs.processes import ProcessIdentity
from dpcore.workspace.runs.queue import Job, RunQueue

_LOG = logging.getLogger("frostglass.jobs")
#: Writes of progress per step of a run; their times are fixed by counts, never by a clock.
PROGRESS_WRITES = 20
#: Seconds for which a worker waits for a database server that is away: a run must not be lost
#: because the server is restarted.
PATIENCE = 300.0
#: Parts in which the share of a run that is done is stored.
_PARTS = 1000
#: Seconds without progress after a report of it has failed.
_SILENCE = 30.0

_CANCELLED_SPENT = "The run was stopped after it had begun to read records. Its budget stays spent."
_FAILED_SPENT = (
    "The run failed after it had begun to read records. Its budget stays spent; why it failed "
    "is not shown, since that could depend on the records."
)
_OTHER_PRICE = (
    "It was reserved by another version of the program, which counted its cost in another way: start it again."
)
_NO_CLUSTER = (
    "The run could not start. Nothing was spent. The machines that work out results are not ready: "
    "please tell the custodian, whose log says what is missing."
)
_FAILED_FREE = "The run could not start. Nothing was spent; please tell the custodian."


class Worker:
    """What executes runs: connections to queue, ledger and store."""

    def __init__(self, home: Path, database_url: str) -> None:
        self._home, self._engine = home, (engine := open_installation(home, database_url))
        be_patient(engine, PATIENCE)
        self._queue, self._ledger, self._store = (
            RunQueue(engine),
            Ledger(engine),
            Store(home, engine),
        )

    def close(self) -> None:
        """Close the connections."""
        self._engine.dispose()

    def drain(self, run_id: str | None = None, wanted: Callable[[], bool] = lambda: True) -> None:
        """Execute queued runs, or the one that is named, until there is none or no more is wanted."""
        me = ProcessIdentity.mine()
        while wanted() and (job := self._queue.claim(me, run_id)) is not None:
            self._execute(job)

    def _execute(self, job: Job) -> None:
        """Execute a claimed run. Its end, good or bad, is in the database afterwards."""
        try:
            learner, plan, table, forecast = self._prepare(job)
            self._ledger.touch(job.run_id)
        except Exception as error:  # noqa: BLE001 - every failure becomes a fixed sentence
            self._refuse(job, error)
            return
        try:
            self._queue.complete(job.run_id, self._spend(job, learner, plan, table, forecast))
        except CancelledError:
            self._queue.end(job.run_id, "cancelled", _CANCELLED_SPENT)
        except Exception as error:  # noqa: BLE001 - its text may depend on records
            _LOG.error("run %s failed: %s", job.run_id, type(error).__name__)
            self._queue.end(job.run_id, "failed", _FAILED_SPENT)

    def _prepare(self, job: Job) -> tuple[Learner, RunPlan, PrivateTable, DurationForecast]:
        """Everything that can be checked from public values, before the point of no return."""
        request = job.request
        dataset = self._store.dataset(request.dataset_id)
        dataset.check_private()
        learner = get_learner(request.algorithm)
        paid = self._ledger.reserved(job.run_id)
        plan = learner.plan(dataset.schema, request.target, request.epsilon, request.parameters, paid.delta)
        same = ("epsilon", "delta", "without_rho")
        if any(getattr(plan.loss, name) != getattr(paid, name) for name in same) or plan.loss.rho > paid.rho:
            raise RequestError(_OTHER_PRICE)
        self._store.check_stored(dataset.id, plan.schema)
        table = self._store.table(dataset.id, configured_executor())
        table.check()
        return learner, plan, table, machine_of(self._home).forecast(learner.workload(plan))

    def _refuse(self, job: Job, error: Exception) -> None:
        """End a run that never touched a record and give its budget back."""
        if isinstance(error, ConflictError):
            return  # Cancelled meanwhile: the refund and the end are stored already.
        # Of a cluster, the log says more than the analyst is told: addresses.
        known = error if isinstance(error, ClusterError) else type(error).__name__
        _LOG.error("run %s did not start: %s", job.run_id, known)
        message = _FAILED_FREE
        if isinstance(error, ClusterError):
            message = _NO_CLUSTER
        elif isinstance(error, FrostglassError):
            message = f"The run could not start. Nothing was spent. {error}"[:1000]
        reason = "failed before a record was touched"
        if not self._queue.give_back(job.run_id, reason, "failed", message):
            # Touched in spite of the error, or cancelled: what the ledger says stays.
            self._queue.end(job.run_id, "failed", _FAILED_SPENT)

    def _spend(
        self, job: Job, learner: Learner, plan: RunPlan, table: PrivateTable, forecast: DurationForecast
    ) -> Release:
        """Read the records: the release that the run was paid for."""
        dataset = self._store.dataset(job.request.dataset_id)
        reports = Reports(job.run_id, partial(self._queue.report, job.run_id), forecast)
        model = learner.run(Run(table, plan, SecureRandom(), reports))
        return make_release(
            learner.name,
            plan,
            model,
            secure=True,
            dataset_id=dataset.id,
            dataset_name=dataset.title,
            conditional_allowed=not dataset.public and (dataset.conditional or plan.guarantee != UNCONDITIONAL),
        )


class Reports:
    """Progress of a run, stored if that is possible: a run that is paid for goes on if it is not.

    About :data:`PROGRESS_WRITES` calls per step are passed on at most, chosen by counts alone. What
    is stored is the share of the whole run's work, and when the rest should be done.

    Parameters
    ----------
    report : callable
        Stores progress; returns whether somebody asked the run to stop.
    forecast : DurationForecast
        Of the run, from its plan.
    """

    def __init__(
        self, run_id: str, report: Callable[[str, int, int, datetime], bool], forecast: DurationForecast
    ) -> None:
        self._run_id, self._report, self._forecast = run_id, report, forecast
        self._start = time.monotonic()
        self._last: tuple[str, int] | None = None
        self._silent_until = -math.inf

    def __call__(self, step: str, done: int, total: int) -> None:
        """Take note of progress. Raises ``CancelledError`` if the run is to stop."""
        place = (step, PROGRESS_WRITES if done >= total else done * PROGRESS_WRITES // total)
        if place == self._last:
            return
        self._last = place
        if time.monotonic() < self._silent_until:
            return
        try:
            share = self._forecast.share(step, done, total)
            left = self._forecast.left(share, time.monotonic() - self._start)
            stop = self._report(step, round(share * _PARTS), _PARTS, utc_now() + timedelta(seconds=left))
        except Exception as error:  # noqa: BLE001 - whatever it is, it is not worth a run
            _LOG.warning("no progress of run %s: %s", self._run_id, type(error).__name__)
            self._silent_until = time.monotonic() + _SILENCE
            return
        if stop:
            raise CancelledError(_CANCELLED_SPENT)


def warm_up(before_each: Callable[[], None] = lambda: None) -> None:
    """Import and compile what first runs would otherwise have to wait for, family by family.

    What runs need by default comes first. If any of it had to be compiled, so has what other methods and targets
    need.
    """
    compiled = compilations()
    for by_default in (True, False):
        for learner in LEARNERS.values():
            before_each()
            warm_up_family(learner, by_default=by_default)
        if compilations() == compiled:
            return


def work(*, warm: bool) -> None:
    """Be a worker: execute queued runs, first those waiting, then at every line of input.

    While it warms up, which takes minutes where nothing is compiled yet, a run waits for one family at most.
    """
    if hasattr(os, "nice"):
        os.nice(5)  # Pages stay responsive while runs use every core.
    home = Path(os.environ["FROSTGLASS_HOME"])
    worker = Worker(home, os.environ["FROSTGLASS_DATABASE_URL"])
    look = partial(worker.drain, wanted=_application_is_there)
    if warm:
        warm_up(look)
        calibrate(home)  # Without figures of this machine, runs are told by usual ones.
    look()
    while _heard():
        look()


def _heard() -> bool:
    """Wait for lines of input; whether there are any, and not its end."""
    return bool(os.read(sys.stdin.fileno(), 4096))


def _application_is_there() -> bool:
    """Whether the input goes on. Lines that have come are read: the queue is looked at next, as they ask."""
    try:
        while select.select([sys.stdin], [], [], 0)[0]:
            if not _heard():
                return False
    except OSError:  # Windows does not tell it of pipes.
        pass
    return True


def main(*, warm: bool = True) -> None:
    """Run :func:`work`; an unforeseen end is logged by the type of its cause only."""
    logging.basicConfig(format="%(levelname)s %(name)s: %(message)s")
    logging.getLogger("frostglass.witness").setLevel(logging.ERROR)  # The application has said it.
    try:
        work(warm=warm)
    except Exception as error:  # noqa: BLE001 - a traceback could hold values
        _LOG.error("worker ended: %s", type(error).__name__)
        sys.exit(1)


if __name__ == "__main__":
    main()
