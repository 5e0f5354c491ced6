"""What every part of the service shares: the installation behind it, and who is calling.

Each public method first asks who calls: an ended login, a missing role, or a data set that the
caller may not see is refused here, whatever a page has shown or hidden.
"""

from __future__ import annotations

import copy
from collections.abc import Sequence
from contextlib import ExitStack
from pathlib import Path
from types import TracebackType
from typing import Self

from dpcore.data.cache_limit import cache_limit
from dpcore.errors import AccessError, LoginError, NotFoundError
from dpcore.validation import whole_number
from dpcore.workspace.database.database import chosen_home, default_url
from dpcore.workspace.database.engines import private_folder
from dpcore.workspace.database.home import usable
from dpcore.workspace.database.installation import open_installation
from dpcore.workspace.files.descriptions import DatasetInfo
from dpcore.workspace.files.staging import clear_old, spool
from dpcore.workspace.files.store import Store
from dpcore.workspace.ledger.grants import Grants
from dpcore.workspace.ledger.ledger import Ledger
from dpcore.workspace.people.class_rooms import ClassRooms
from dpcore.workspace.people.users import LOCAL_USER, ROLES, Role, User
from dpcore.workspace.results.sharing import Released
from dpcore.workspace.runs.queue import RunQueue
from dpcore.workspace.runs.runner import WORKER_COMMAND, JobRunner
from dpcore.workspace.upkeep.orphans import Orphans
from dpcore.workspace.upkeep.upkeep import Upkeep

#: Background processes, unless the operator wants another number.
_WORKERS = 2
_NO_DATASET = "There is no such data set."


class ServiceBase:
    """An installation, entered as one user.

    Parameters
    ----------
    home : str or Path, optional
        Folder of data sets and database. Default: ``FROSTGLASS_HOME`` or the platform's place.
    database_url : str, optional
        Default: ``FROSTGLASS_DATABASE_URL`` or a SQLite file in ``home``.
    workers : int, optional
        Background processes that execute runs. 0 executes each run inside ``submit``, in this
        process: what the command line wants. Default: ``FROSTGLASS_WORKERS`` or 2.
    worker_command : sequence of str, optional
        Program of a worker, for tests.
    warm : bool
        Whether the background processes start now; see :meth:`warm_up`.
    """

    def __init__(
        self,
        home: str | Path | None = None,
        database_url: str | None = None,
        *,
        workers: int | None = None,
        worker_command: Sequence[str] = WORKER_COMMAND,
        warm: bool = True,
    ) -> None:
        cache_limit()  # A faulty setting is told now, before anything is spent.
        folder = chosen_home(home).resolve()
        with usable(folder):
            url = database_url or default_url(folder)
            engine = open_installation(folder, url)
            self._home, self._engine = folder, engine
            self._store, self._rooms = Store(folder, engine), ClassRooms(engine)
            private_folder(spool(folder))
            self.sweep()
        self._ledger, self._grants, self._queue = Ledger(engine), Grants(engine), RunQueue(engine)
        self._released, self._orphans, self._upkeep = Released(engine), Orphans(engine, self._store), Upkeep(engine)
        count = _default_workers() if workers is None else workers
        self._jobs = JobRunner(folder, url, self._queue, count, worker_command, warm=warm)
        self._user = LOCAL_USER

    @property
    def user(self) -> User:
        """Who is calling: the local user, unless made by :meth:`acting`."""
        return self._user

    def acting(self, user: User) -> Self:
        """The same installation, entered as somebody else."""
        other = copy.copy(self)
        other._user = user
        return other

    def warm_up(self) -> None:
        """Start the background processes now, rather than with the first run."""
        self._jobs.wake()

    def sweep(self) -> None:
        """Remove what dead processes left half-way in, what custodians left too long, and rooms of yesterday."""
        with ExitStack() as parts:  # Each of them is done, even if another one fails.
            parts.callback(self._rooms.sweep)
            parts.callback(self._store.sweep)
            parts.callback(clear_old, self._home)

    def close(self) -> None:
        """Let the workers finish what they are doing and end. Also ``with Service() as s:``."""
        self._jobs.close()
        self._engine.dispose()

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self.close()

    def _require(self, *roles: Role) -> None:
        """Let the caller go on if the login is good and one of these roles is theirs.

        Raises
        ------
        LoginError
            If the login has ended.
        AccessError
            If no role fits.
        """
        self._require_login()
        if not self._user.roles.intersection(roles):
            raise AccessError(f"This needs the role {' or '.join(roles)}, which you do not have here.")

    def _require_login(self) -> None:
        """Let the caller go on if the login is good, whatever the roles: for what touches no data set.

        Raises
        ------
        LoginError
            If there is no login, or it has ended.
        """
        if self._user.expired():
            raise LoginError("Your login has ended. Log in again; nothing of yours is lost.")
        if not self._user.known:
            raise LoginError("Log in first.")

    def _visible(self, dataset_id: str) -> DatasetInfo:
        """A data set that the caller may know of. Raises ``NotFoundError``."""
        self._require(*ROLES)
        check_id(dataset_id, _NO_DATASET)
        dataset = self._store.dataset(dataset_id)
        if not self._sees(dataset):
            raise NotFoundError(_NO_DATASET)
        return dataset

    def _usable(self, dataset_id: str) -> DatasetInfo:
        """A data set on which the caller may run something: teachers, on public ones alone, whatever else they are."""
        self._require("analyst", "teacher")
        dataset = self._visible(dataset_id)
        if not dataset.public:
            self._require("analyst")
        return dataset

    def _sees(self, dataset: DatasetInfo) -> bool:
        return dataset.public or bool(self._user.roles & {"custodian", "analyst"})

    def _seen(self, dataset_id: str | None) -> set[str]:
        """Identifiers of the data set asked for, or of all that the caller may know of."""
        self._require(*ROLES)
        if dataset_id is not None:
            return {self._visible(dataset_id).id}
        return {dataset.id for dataset in self._store.datasets() if self._sees(dataset)}

    def _people(self, dataset_id: str) -> set[str]:
        """Identifiers of all data sets about the same people: those that share its budget."""
        population = self._visible(dataset_id).population
        return {dataset.id for dataset in self._store.datasets() if dataset.population == population}

    def _reader(self) -> str | None:
        """Whose releases and runs the caller may read; ``None``: everybody's."""
        return None if "custodian" in self._user.roles else self._user.name


def check_id(text: str, told: str) -> None:
    """Refuse what cannot be an identifier, before a database has to."""
    if not text.isprintable():
        raise NotFoundError(told)


def _default_workers() -> int:
    chosen = whole_number("FROSTGLASS_WORKERS", example=_WORKERS, least=0)
    return _WORKERS if chosen is None else chosen
