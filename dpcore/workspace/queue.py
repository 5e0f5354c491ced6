"""Job rows: the queue of runs and what became of each. The database is the queue.

States: ``queued`` -> ``running`` -> ``done``, ``failed``, ``cancelled`` or ``interrupted``. What
a run costs is never decided here: see :mod:`dpcore.workspace.ledger`.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping
from dataclasses import dataclass
from functools import partial
from typing import Any

import sqlalchemy as sa
from sqlalchemy.engine import Connection, Engine, RowMapping

from dpcore.errors import ConflictError, NotFoundError, RequestError
from dpcore.workspace.database import jobs, ledger_entries, read, utc_now, write
from dpcore.workspace.ledger import Ledger
from dpcore.workspace.ledger_lines import append_like, reservation_of
from dpcore.workspace.processes import ProcessIdentity
from dpcore.workspace.requests import ACTIVE_STATES, RunRequest, RunState, RunStatus

_J = jobs.c
_QUEUED = "Waiting for a free worker."
_RUNNING = "Running."
_DONE = "Done. The result is among the releases."
_INTERRUPTED = (
    "The run was interrupted because its process ended. Its budget stays spent, since records "
    "may have been read."
)
_INTERRUPTED_FREE = (
    "The run was interrupted because its process ended before a record was read. Nothing was spent."
)
_ENDED = (
    "The custodian has ended this run, since its process has vanished. Its budget stays spent: "
    "records may have been read."
)
_ENDED_FREE = (
    "The custodian has ended this run, since its process has vanished. No record was read; nothing "
    "was spent."
)
_NOT_STRANDED = (
    "This run has ended, is waiting, or its process can be seen from here: there is nothing to end "
    "by hand."
)


@dataclass(frozen=True)
class Job:
    """What a worker needs to know about a run that it has claimed."""

    run_id: str
    analyst: str
    request: RunRequest


class RunQueue:
    """Rows of the ``jobs`` table."""

    def __init__(self, engine: Engine) -> None:
        self._engine, self._ledger = engine, Ledger(engine)

    def claim(self, worker: ProcessIdentity, run_id: str | None = None) -> Job | None:
        """Take a queued run, the oldest unless one is named; no other worker can take it too."""
        chosen = sa.select(jobs).where(_J.state == "queued").order_by(_J.number).limit(1)
        if run_id is not None:
            chosen = chosen.where(_J.run_id == run_id)

        values = {"state": "running", "worker": str(worker), "message": _RUNNING}
        tried: list[int] = []

        def work(connection: Connection) -> Job | None:
            row = _claimed_before(connection, tried, values)
            row = row or connection.execute(chosen).mappings().one_or_none()
            if row is None:
                return None
            tried.append(row["number"])
            connection.execute(jobs.update().where(_J.number == row["number"]).values(**values))
            return Job(row["run_id"], row["analyst"], _request(row))

        return write(self._engine, work)

    def report(self, run_id: str, step: str, done: int, total: int) -> bool:
        """Store progress, or fail at once; return whether somebody asked the run to stop."""

        def work(connection: Connection) -> bool:
            values = {"step": step[:64], "done": done, "total": total}
            running = (_J.run_id == run_id) & (_J.state == "running")
            connection.execute(jobs.update().where(running).values(**values))
            asked = sa.select(_J.stop_asked).where(_J.run_id == run_id)
            return bool(connection.execute(asked).scalar())

        return write(self._engine, work, patience=0.0)

    def end(self, run_id: str, state: RunState, message: str) -> None:
        """Store how a run ended, unless it has ended already."""
        write(self._engine, lambda connection: end_job(connection, run_id, state, message))

    def ask_stop(self, run_id: str) -> None:
        """Ask a running worker to stop at its next step."""
        running = (_J.run_id == run_id) & (_J.state == "running")
        change = jobs.update().where(running).values(stop_asked=True)
        write(self._engine, lambda connection: connection.execute(change))

    def stranded(self, datasets: Collection[str]) -> list[RunStatus]:
        """Runs whose worker cannot be seen from here: it may live elsewhere, or be gone."""
        chosen = sa.select(_J.run_id, _J.worker).where(_J.state == "running")
        running = read(self._engine, lambda connection: connection.execute(chosen).all())
        unseen = {run for run, worker in running if not ProcessIdentity.parse(worker).local}
        return [status for status in self.statuses(datasets, active=True) if status.id in unseen]

    def end_stranded(self, run_id: str, reason: str, actor: str) -> None:
        """End a run whose worker cannot be seen from here. It is refunded if it read no record.

        If the worker lives after all and finishes, the result that was paid for is kept.

        Raises
        ------
        ConflictError
            If the worker can be seen, or the run is not running.
        RequestError
            If there is no reason.
        """
        if not reason.strip():
            raise RequestError("Say why the run is ended: the audit log keeps it.")
        if self.status(run_id).state != "running" or not self._unseen(run_id):
            raise ConflictError(_NOT_STRANDED)
        free = partial(end_job, state="interrupted", message=_ENDED_FREE)
        try:
            self._ledger.refund(run_id, reason, actor=actor, on_refunded=free)
        except ConflictError:
            write(self._engine, lambda connection: _end_spent(connection, run_id, reason, actor))

    def _unseen(self, run_id: str) -> bool:
        chosen = sa.select(_J.worker).where(_J.run_id == run_id)
        worker = read(self._engine, lambda connection: connection.execute(chosen).scalar())
        return worker is not None and not ProcessIdentity.parse(worker).local

    def status(self, run_id: str) -> RunStatus:
        """Where a run stands. Raises ``NotFoundError``."""
        self._mark_dead(run_id)

        def work(connection: Connection) -> RunStatus:
            row = connection.execute(_listing().where(_J.run_id == run_id)).mappings().first()
            if row is None:
                raise NotFoundError("There is no such run.")
            return _status(row)

        return read(self._engine, work)

    def statuses(
        self,
        datasets: Collection[str] | None = None,
        analyst: str | None = None,
        active: bool = False,
    ) -> list[RunStatus]:
        """Runs, newest first: those on some data sets, and of one analyst, or all."""
        self._mark_dead()
        chosen = _listing().order_by(_J.number.desc())
        if datasets is not None:
            chosen = chosen.where(_J.dataset_id.in_(datasets))
        if analyst is not None:
            chosen = chosen.where(_J.analyst == analyst)
        if active:
            chosen = chosen.where(_J.state.in_(ACTIVE_STATES))

        def work(connection: Connection) -> list[RunStatus]:
            return [_status(row) for row in connection.execute(chosen).mappings()]

        return read(self._engine, work)

    def _mark_dead(self, run_id: str | None = None) -> None:
        """End runs whose worker has died; what read no record costs nothing."""
        chosen = sa.select(_J.run_id, _J.worker).where(_J.state == "running")
        if run_id is not None:
            chosen = chosen.where(_J.run_id == run_id)
        running = read(self._engine, lambda connection: connection.execute(chosen).all())
        for dead in [run for run, worker in running if ProcessIdentity.parse(worker).dead()]:
            self._interrupt(dead)

    def _interrupt(self, run_id: str) -> None:
        """Refund a run that has touched no record: the ledger refuses that for any other."""
        free = partial(end_job, state="interrupted", message=_INTERRUPTED_FREE)
        try:
            self._ledger.refund(run_id, "interrupted before a record was touched", on_refunded=free)
        except ConflictError:
            self.end(run_id, "interrupted", _INTERRUPTED)


def _claimed_before(
    connection: Connection, tried: Collection[int], values: Mapping[str, str]
) -> RowMapping | None:
    """A run that an earlier attempt has claimed, if its acknowledgement was lost."""
    same = (_J.state == values["state"]) & (_J.worker == values["worker"])
    chosen = sa.select(jobs).where(_J.number.in_(tried), same)
    return connection.execute(chosen).mappings().first() if tried else None


def add_job(connection: Connection, run_id: str, analyst: str, request: RunRequest) -> None:
    """Queue a run, in the transaction that reserves its cost."""
    connection.execute(
        jobs.insert().values(
            run_id=run_id,
            dataset_id=request.dataset_id,
            analyst=analyst,
            request=request.model_dump_json(),
            state="queued",
            step="",
            done=0,
            total=0,
            message=_QUEUED,
            stop_asked=False,
            created=utc_now(),
        )
    )


def end_job(connection: Connection, run_id: str, state: RunState, message: str) -> None:
    """Store how a run ended. Only ``done`` may correct an earlier end: it comes with a release."""
    where = (_J.run_id == run_id) & _J.state.in_(ACTIVE_STATES)
    connection.execute(jobs.update().where(where).values(state=state, message=message))


def complete_job(connection: Connection, run_id: str, release_id: str) -> None:
    """Mark a run as done, in the transaction that commits its release."""
    values = {"state": "done", "message": _DONE, "release_id": release_id}
    connection.execute(jobs.update().where(_J.run_id == run_id).values(**values))


def _end_spent(connection: Connection, run_id: str, reason: str, actor: str) -> None:
    running = sa.select(_J.run_id).where(_J.run_id == run_id, _J.state == "running")
    if connection.execute(running).first() is None:
        raise ConflictError(_NOT_STRANDED)
    append_like(connection, "end", reservation_of(connection, run_id), note=reason, actor=actor)
    end_job(connection, run_id, "interrupted", _ENDED)


def _listing() -> sa.Select[Any]:
    """Job rows, each with whether its cost was refunded."""
    entries = ledger_entries.c
    refund = sa.exists().where(entries.run_id == _J.run_id, entries.kind == "refund")
    return sa.select(jobs, refund.label("refunded"))


def _request(row: RowMapping) -> RunRequest:
    return RunRequest.model_validate_json(row["request"])


def _status(row: RowMapping) -> RunStatus:
    return RunStatus(
        id=row["run_id"],
        state=row["state"],
        step=row["step"],
        done=row["done"],
        total=row["total"],
        release_id=row["release_id"],
        message=row["message"],
        charged=not row["refunded"],
        request=_request(row),
        analyst=row["analyst"],
        created=row["created"],
    )
