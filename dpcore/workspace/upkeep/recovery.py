"""After a disaster: going on by hand with the database and the home folder that are there.

What the ledger has forgotten stays forgotten, so this is never done by itself. It leaves a line
in the audit log of every data set, closes their budgets if asked to, and gives both sides a new
identifier, and with it a new witness: a copy of either that is in use elsewhere is refused from then on.
"""

from __future__ import annotations

import uuid
from decimal import Decimal
from pathlib import Path

import sqlalchemy as sa
from sqlalchemy.engine import Connection

from dpcore.errors import RequestError
from dpcore.workspace.database.database import open_database
from dpcore.workspace.database.database_tables import datasets, jobs
from dpcore.workspace.database.engines import sqlite_file
from dpcore.workspace.database.file_locks import file_lock
from dpcore.workspace.database.home import Home, disk_errors_explained
from dpcore.workspace.database.installation import Facts, look, name_database, newest_line
from dpcore.workspace.database.transactions import write
from dpcore.workspace.database.witness import Line
from dpcore.workspace.ledger.ledger_lines import append, find_caps, kept_note
from dpcore.workspace.ledger.requests import ACTIVE_STATES

_NOTHING_WRONG = "Home folder and database belong together: there is nothing to accept."
_CHANGED = (
    "This is not the code of the present state. See what is wrong now, and its code, with "
    "'python -m dpcore installation show'."
)
_UNKNOWN_END = (
    "The database was brought back from a copy while this run was under way. Its budget stays "
    "spent, since records may have been read since."
)


def accept(folder: Path, url: str, *, code: str, note: str, close: bool, actor: str | None = None) -> Facts:
    """Bind a home folder and a database that do not fit, as they are; return what was wrong.

    Parameters
    ----------
    code : str
        :attr:`Facts.code` of the present state: who types it has read what is wrong.
    note : str
        Why; kept in the ledger of every data set.
    close : bool
        Whether to let nothing more be spent on any data set until its budget is raised.

    Raises
    ------
    RequestError
        If nothing is wrong, the code is of another state, or there is no note.
    InstallationError
        If the database cannot be read, or the home folder cannot be used.
    """
    if not note.strip():
        raise RequestError("Say in the note what happened, and what is known of what was spent.")
    with disk_errors_explained(folder), file_lock((home := Home(folder)).queue):
        facts = look(home, url)
        if facts.fault is None:
            raise RequestError(_NOTHING_WRONG)
        if code != facts.code:
            raise RequestError(_CHANGED)
        reason = kept_note(note, after=_place(facts))
        identifier = uuid.uuid4().hex
        _put_aside(url, code)
        engine = open_database(url)

        def transaction(connection: Connection) -> Line:
            name_database(connection, identifier)
            _end_runs(connection)
            for dataset_id, population in connection.execute(sa.select(datasets.c.id, datasets.c.population)).all():
                append(connection, "accept", dataset_id, note=reason, actor=actor)
                if close and dataset_id == population:
                    _close(connection, dataset_id, actor)
            return newest_line(connection)

        newest = write(engine, transaction)
        engine.dispose()
        home.bind(identifier, newest)
        if facts.binding is not None:
            home.witness.retire(facts.binding.installation)
    return facts


def _put_aside(url: str, code: str) -> None:
    """Keep what is left of a lost SQLite file from being mixed into a new one."""
    file = sqlite_file(url)
    if file is None or (file.exists() and file.stat().st_size):
        return
    for ending in ("-wal", "-shm"):
        remains = file.with_name(file.name + ending)
        if remains.exists():
            remains.rename(file.with_name(f"{remains.name}.lost-{code}"))


def _place(facts: Facts) -> str:
    return f"The ledger ended at line {facts.newest.number}; line {facts.seen} had been seen."


def _end_runs(connection: Connection) -> None:
    """End what the copy takes for waiting or running, and refund nothing of it.

    A run that had read no record when the copy was made may have read some since.
    """
    active = jobs.c.state.in_(ACTIVE_STATES)
    values = {"state": "interrupted", "message": _UNKNOWN_END}
    connection.execute(jobs.update().where(active).values(**values))


def _close(connection: Connection, population: str, actor: str | None) -> None:
    caps = find_caps(connection, population)
    if caps is not None:
        closed = {**caps, "cap": Decimal(0)}
        why = "closed until what the ledger has forgotten is entered"
        append(connection, "caps", population, note=why, actor=actor, **closed)
