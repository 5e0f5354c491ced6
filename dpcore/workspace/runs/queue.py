"""The queue of runs and what became of each. The database is the queue.

States: ``queued`` -> ``running`` -> ``done``, ``failed``, ``cancelled`` or ``interrupted``. What
a run costs is never decided here, but by :mod:`dpcore.workspace.ledger.ledger`: where a cost comes,
goes back or is charged, the row changes in the ledger's transaction. Reading changes nothing.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Mapping
from dataclasses import dataclass
from datetime import datetime
from typing import TYPE_CHECKING, Any, Final

import sqlalchemy as sa
from sqlalchemy.engine import Connection, Engine, RowMapping

from dpcore.errors import ConflictError, NotFoundError, RequestError
from dpcore.workspace.database.database_tables import jobs, ledger_entries, utc_now
from dpcore.workspace.database.transactions import asked_of, read, write
from dpcore.workspace.ledger.ledger import Ledger, Reservation
from dpcore.workspace.ledger.ledger_lines import append_like, reservation_of
from dpcore.workspace.ledger.requests import ACTIVE_STATES, RunRequest, RunState, RunStatus
from dpcore.workspace.runs.processes import ProcessIdentity

if TYPE_CHECKING:
    from dpcore.privacy.losses import Loss
    from dpcore.released.release import Release

#: Runs of one person that may wait or run at once, on all data sets: what costs nearly nothing keeps others waiting.
MOST_ACTIVE: Final = 20
_J = jobs.c
_ENOUGH = (
    f"You have {MOST_ACTIVE} runs that have not ended: start more once one of these is done, or cancel one that waits. "
    "Nothing was spent."
)
_QUEUED = "Waiting for a free worker."
_RUNNING = "Running."
_DONE = "Done. The result is among the releases."
_CANCELLED = "The run was cancelled before a record was read. Nothing was spent."
_NOT_FREE = "The run has begun to read records, so stopping it would not give its budget back. It goes on."
_CALLED_OFF = "The custodian has frozen your budget. No record was read; nothing was spent."
_INTERRUPTED = (
    "The run was interrupted because its process ended. Its budget stays spent, since records may have been read."
)
_INTERRUPTED_FREE = "The run was interrupted because its process ended before a record was read. Nothing was spent."
_ENDED = (
    "The custodian has ended this run, since its process has vanished. Its budget stays spent: "
    "records may have been read."
)
_ENDED_FREE = "The custodian has ended this run, since its process has vanished. No record was read; nothing was spent."
_NOT_STRANDED = "This run has ended, is waiting, or its process can be seen from here: there is nothing to end by hand."


@dataclass(frozen=True)
class Job:
    """What a worker needs to know about a run that it has claimed."""

    run_id: str
    analyst: str
    request: RunRequest


class RunQueue:
    """Rows of the ``jobs`` table, changed together with the lines of the ledger."""

    def __init__(self, engine: Engine) -> None:
        self._engine, self._ledger = engine, Ledger(engine)

    def reserve(
        self,
        request: RunRequest,
        analyst: str,
        loss: Loss,
        nonce: str,
        request_hash: str,
    ) -> Reservation:
        """Queue a run and reserve its cost, or neither.

        Raises what ``Ledger.reserve`` raises, and ``ConflictError`` if the analyst has too many runs that go on.
        """

        def add(connection: Connection, run_id: str) -> None:
            own = sa.select(sa.func.count()).where(_J.analyst == analyst, _J.state.in_(ACTIVE_STATES))
            if int(connection.execute(own).scalar() or 0) >= MOST_ACTIVE:
                raise ConflictError(_ENOUGH)
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

        return self._ledger.reserve(request.dataset_id, analyst, loss, nonce, request_hash, on_created=add)

    def claim(self, worker: ProcessIdentity, run_id: str | None = None) -> Job | None:
        """Take a queued run, the one whose turn it is unless one is named; no other worker can take it too."""

        def next_one(connection: Connection) -> sa.ColumnElement[bool]:
            return _J.number == next(iter(_in_turns(connection)), None) if run_id is None else _J.run_id == run_id

        values = {"state": "running", "worker": str(worker), "message": _RUNNING}
        tried: list[int] = []

        def transaction(connection: Connection) -> Job | None:
            row = _claimed_before(connection, tried, values)
            if row is None:
                chosen = sa.select(jobs).where(_J.state == "queued", next_one(connection))
                row = connection.execute(chosen).mappings().one_or_none()
            if row is None:
                return None
            tried.append(row["number"])
            connection.execute(jobs.update().where(_J.number == row["number"]).values(**values))
            return Job(row["run_id"], row["analyst"], _request(row))

        return write(self._engine, transaction)

    def report(self, run_id: str, step: str, done: int, total: int, ready: datetime | None = None) -> bool:
        """Store progress, or fail at once; return whether somebody asked the run to stop."""

        def transaction(connection: Connection) -> bool:
            values = {"step": step[:64], "done": done, "total": total, "ready": ready}
            running = (_J.run_id == run_id) & (_J.state == "running")
            connection.execute(jobs.update().where(running).values(**values))
            asked = sa.select(_J.stop_asked).where(_J.run_id == run_id)
            return bool(connection.execute(asked).scalar())

        return write(self._engine, transaction, patience=0.0)

    def complete(self, run_id: str, release: Release) -> None:
        """Store the release of a run, charge it and mark the run as done; all of it, or nothing."""

        def done(connection: Connection, run: str) -> None:
            self._mark_done(connection, run, release.id)

        self._ledger.commit(run_id, release, on_committed=done)

    def _mark_done(self, connection: Connection, run_id: str, release_id: str) -> None:
        values = {"state": "done", "message": _DONE, "release_id": release_id}
        connection.execute(jobs.update().where(_J.run_id == run_id).values(**values))

    def end(self, run_id: str, state: RunState, message: str) -> None:
        """Store how a run ended, unless it has ended already."""
        write(self._engine, lambda connection: _end(connection, run_id, state, message))

    def give_back(self, run_id: str, reason: str, state: RunState, message: str, actor: str | None = None) -> bool:
        """Refund a run and end it; return ``False`` if it has read records, or has ended."""

        def end(connection: Connection, run: str) -> None:
            _end(connection, run, state, message)

        try:
            self._ledger.refund(run_id, reason, actor=actor, on_refunded=end)
        except ConflictError:
            return False
        return True

    def cancel(self, run_id: str, actor: str, *, only_free: bool = False) -> None:
        """Refund a run that has not touched a record; ask any other to stop at its next step.

        Raises
        ------
        ConflictError
            If ``only_free`` and the run has touched a record: then it goes on. The ledger decides,
            in the transaction of the refund, so a run that begins in the same moment is not lost.
        """
        reason = "cancelled before a record was touched"
        if self.give_back(run_id, reason, "cancelled", _CANCELLED, actor):
            return
        if only_free:
            if self.status(run_id).active:  # Else it has ended meanwhile.
                raise ConflictError(_NOT_FREE)
            return
        running = (_J.run_id == run_id) & (_J.state == "running")
        change = jobs.update().where(running).values(stop_asked=True)
        write(self._engine, lambda connection: connection.execute(change))

    def call_off(self, datasets: Collection[str], analyst: str, actor: str) -> None:
        """Refund the runs of an analyst that have read no record, claimed or not; leave the others alone."""
        reason = "called off: the analyst was frozen"
        for status in self.statuses(datasets, analyst, active=True):
            self.give_back(status.id, reason, "cancelled", _CALLED_OFF, actor)

    def end_dead(self) -> None:
        """End the runs of workers that have died; what read no record costs nothing."""
        for run, worker in self._running():
            if worker.dead():
                reason = "interrupted before a record was touched"
                if not self.give_back(run, reason, "interrupted", _INTERRUPTED_FREE):
                    self.end(run, "interrupted", _INTERRUPTED)

    def stranded(self, datasets: Collection[str]) -> list[RunStatus]:
        """Runs whose worker cannot be seen from here: it may live elsewhere, or be gone."""
        unseen = self._unseen()
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
        if run_id not in self._unseen():
            raise ConflictError(_NOT_STRANDED)
        if not self.give_back(run_id, reason, "interrupted", _ENDED_FREE, actor):
            write(self._engine, lambda connection: _end_spent(connection, run_id, reason, actor))

    def _unseen(self) -> set[str]:
        return {run for run, worker in self._running() if not worker.local}

    def _running(self) -> list[tuple[str, ProcessIdentity]]:
        """Runs that a worker is at, each with that worker."""
        chosen = sa.select(_J.run_id, _J.worker).where(_J.state == "running")
        rows = read(self._engine, lambda connection: tuple(connection.execute(chosen).all()), question="running")
        return [(run, ProcessIdentity.parse(worker)) for run, worker in rows]

    def status(self, run_id: str) -> RunStatus:
        """Where a run stands. Raises ``NotFoundError``."""

        def transaction(connection: Connection) -> RunStatus:
            found = _statuses(connection, _listing().where(_J.run_id == run_id))
            if not found:
                raise NotFoundError("There is no such run.")
            return found[0]

        return read(self._engine, transaction, question=("run", run_id))

    def statuses(
        self,
        datasets: Collection[str] | None = None,
        analyst: str | None = None,
        active: bool = False,
    ) -> list[RunStatus]:
        """Runs, newest first: those on some data sets, and of one analyst, or all."""

        def transaction(connection: Connection) -> tuple[RunStatus, ...]:
            chosen = _listing().order_by(_J.number.desc())
            if datasets is not None:
                chosen = chosen.where(_J.dataset_id.in_(datasets))
            if analyst is not None:
                chosen = chosen.where(_J.analyst == analyst)
            if active:
                chosen = chosen.where(_J.state.in_(ACTIVE_STATES))
            return tuple(_statuses(connection, chosen))

        return list(read(self._engine, transaction, question=("runs", asked_of(datasets), analyst, active)))


def _claimed_before(connection: Connection, tried: Collection[int], values: Mapping[str, str]) -> RowMapping | None:
    """A run that an earlier attempt has claimed, if its acknowledgement was lost."""
    same = (_J.state == values["state"]) & (_J.worker == values["worker"])
    chosen = sa.select(jobs).where(_J.number.in_(tried), same)
    return connection.execute(chosen).mappings().first() if tried else None


def _end(connection: Connection, run_id: str, state: RunState, message: str) -> None:
    """Store how a run ended. Only ``done`` may correct an earlier end: it comes with a release."""
    where = (_J.run_id == run_id) & _J.state.in_(ACTIVE_STATES)
    connection.execute(jobs.update().where(where).values(state=state, message=message))


def _end_spent(connection: Connection, run_id: str, reason: str, actor: str) -> None:
    running = sa.select(_J.run_id).where(_J.run_id == run_id, _J.state == "running")
    if connection.execute(running).first() is None:
        raise ConflictError(_NOT_STRANDED)
    append_like(connection, "end", reservation_of(connection, run_id), note=reason, actor=actor)
    _end(connection, run_id, "interrupted", _ENDED)


def _in_turns(connection: Connection) -> dict[int, int]:
    """Waiting runs by number, in the order in which they are claimed, each with how many run or come before it.

    Next is the oldest run of whoever has the fewest running.
    """
    going_on = sa.select(_J.number, _J.analyst, _J.state).where(_J.state.in_(ACTIVE_STATES)).order_by(_J.number)
    rows = connection.execute(going_on).all()
    turns = Counter(row.analyst for row in rows if row.state == "running")
    first, waiting = turns.total(), []
    for row in rows:
        if row.state == "queued":
            turns[row.analyst] += 1
            waiting.append((turns[row.analyst], row.number))
    return {number: first + place for place, (_, number) in enumerate(sorted(waiting))}


def _listing() -> sa.Select[Any]:
    """Job rows, each with whether its cost was refunded."""
    entries = ledger_entries.c
    refund = sa.exists().where(entries.run_id == _J.run_id, entries.kind == "refund")
    return sa.select(jobs, refund.label("refunded"))


def _statuses(connection: Connection, chosen: sa.Select[Any]) -> list[RunStatus]:
    """What some rows of :func:`_listing` say."""
    rows = connection.execute(chosen).mappings().all()
    ahead = _in_turns(connection) if any(row["state"] == "queued" for row in rows) else {}
    return [_status(row, ahead.get(row["number"], 0)) for row in rows]


def _request(row: RowMapping) -> RunRequest:
    return RunRequest.model_validate_json(row["request"])


def _status(row: RowMapping, ahead: int) -> RunStatus:
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
        ready=row["ready"],
        ahead=ahead,
    )
