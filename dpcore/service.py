"""The one door to the engine: everything that pages and the command line may call."""

from __future__ import annotations

import hashlib
import json
import os
import time
from collections.abc import Callable, Mapping, Sequence
from contextlib import AbstractContextManager
from decimal import Decimal
from pathlib import Path
from types import TracebackType
from typing import TYPE_CHECKING, Any, Self

from dpcore.database import default_home, default_url, open_database, private_folder
from dpcore.errors import ConflictError, NotFoundError, RequestError
from dpcore.jobs import WORKER_COMMAND, JobRunner
from dpcore.ledger import Ledger
from dpcore.notes import read_notes, write_note
from dpcore.plan import RunPlan, guarantee_sentence, guaranteed_odds
from dpcore.privacy import parse_epsilon
from dpcore.release import Release
from dpcore.requests import (
    Balance,
    DatasetInfo,
    LedgerEntry,
    Quote,
    ReleaseNote,
    RunRequest,
    RunStatus,
)
from dpcore.runs import add_job
from dpcore.schema import Schema
from dpcore.store import Store

if TYPE_CHECKING:
    import numpy as np
    import pandas as pd
    from numpy.typing import NDArray

    from dpcore.comparison import MethodScore
    from dpcore.relations import Source
    from dpcore.report.application import Application
    from dpcore.table import Part

LOCAL_USER = "local"
#: Budget of each demonstration data set: enough to play, small enough to feel the meter.
DEMO_BUDGET = Decimal(20)
_POLL_SECONDS = 0.1


class Service:
    """Data sets, budgets, runs and releases of one installation.

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
        folder = private_folder(Path(home) if home else default_home()).resolve()
        url = database_url or default_url(folder)
        engine = open_database(url)
        self._engine = engine
        self._ledger = Ledger(engine)
        self._store = Store(folder, engine)
        self._store.sweep()
        count = _default_workers() if workers is None else workers
        self._jobs = JobRunner(folder, url, engine, count, worker_command, warm=warm)

    def warm_up(self) -> None:
        """Start the background processes now, rather than with the first run."""
        self._jobs.warm_up()

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

    # Data sets

    def datasets(self) -> list[DatasetInfo]:
        """Every data set, oldest first."""
        return self._store.datasets()

    def dataset(self, dataset_id: str) -> DatasetInfo:
        """One data set by id or, failing that, by name. Raises ``NotFoundError``."""
        return self._store.dataset(dataset_id)

    def add_dataset(
        self,
        source: Source | pd.DataFrame,
        schema: Schema,
        *,
        right: str | Path | None = None,
        budget: Decimal,
        analyst_cap: Decimal | None = None,
        run_cap: Decimal | None = None,
        public: bool = False,
        truth: str = "",
    ) -> DatasetInfo:
        """Ingest a data set and open its budget; all or nothing.

        Parameters
        ----------
        source : str, Path, DataFrame or mapping
            CSV or Parquet file, or a frame. For a schema with child tables, a mapping from the
            names of its tables to such, or one SQLite or DuckDB file with tables of these names:
            see :func:`dpcore.relations.rows_for`.
        right : str, Path or None
            A second file about the same people: see :func:`dpcore.joining.chunks_for`.

        Raises
        ------
        IngestError
            If the file cannot become a data set; for the custodian's eyes.
        BudgetError
            If a cap is not a usable epsilon.
        ConflictError
            If a data set of the schema's name exists.
        """
        from dpcore.ingest import ingest
        from dpcore.randomness import SecureRandom
        from dpcore.relations import rows_for

        caps = [parse_epsilon(budget)]
        limits = [None if cap is None else parse_epsilon(cap) for cap in (analyst_cap, run_cap)]
        self._store.check_name(schema.name)
        rows, children = rows_for(schema, source, right)
        table = ingest(rows, schema, SecureRandom(), children)
        return self._store.add_dataset(
            schema.name,
            schema,
            table,
            public,
            truth=truth if public else "",
            on_added=lambda connection, dataset_id: self._ledger.open_account(
                dataset_id, *caps, *limits, within=connection
            ),
        )

    def incoming(self) -> AbstractContextManager[Path]:
        """Give a private folder for a file on its way to :meth:`add_dataset`.

        It is removed afterwards, or by the next start if this process is killed.
        """
        return self._store.incoming()

    def add_demo_datasets(self) -> list[DatasetInfo]:
        """Make the public demonstration data sets that are not there yet."""
        from dpcore.demo import DEMOS

        return [self._demo(name, make) for name, make in DEMOS.items()]

    def true_counts(self, release: Release) -> tuple[tuple[int, ...], ...]:
        """Exact counterparts of a release's counts, on the records that it was learned from.

        Raises
        ------
        RequestError
            If the data set is not marked public.
        """
        from dpcore.algorithms import parse_model, public_records

        table = self._store.table(self._public(release.dataset_id).id)
        records = public_records(release.kind, table, _part(release))
        counts: tuple[tuple[int, ...], ...] = parse_model(release).count_records(
            records, release.domain, release.target
        )
        return counts

    def true_tables(self, release: Release) -> list[NDArray[np.int64]]:
        """Exact counterparts of the tables of redescriptions, one for each pair of trees.

        Raises
        ------
        RequestError
            If the data set is not marked public.
        """
        from dpcore.algorithms import parse_model

        dataset = self._public(release.dataset_id)
        frame = self._store.table(dataset.id).public_frame(_part(release))
        tables: list[NDArray[np.int64]] = parse_model(release).exact_tables(frame, release.domain)
        return tables

    def compare_methods(
        self,
        dataset_id: str,
        target: str,
        methods: Sequence[tuple[str, Mapping[str, Any]]],
        epsilons: Sequence[str],
        repeats: int,
        progress: Callable[[int, int], None],
    ) -> list[MethodScore]:
        """Exact quality of methods over epsilons. Free: nothing of a public data set is secret.

        Raises
        ------
        RequestError
            If the data set is not marked public, or a method cannot be used.
        """
        from dpcore.comparison import compare_methods

        table = self._store.table(self._public(dataset_id).id)
        wanted = [parse_epsilon(epsilon) for epsilon in epsilons]
        return compare_methods(table, target, methods, wanted, repeats, progress)

    def plain_tree_accuracy(self, dataset_id: str, target: str) -> float:
        """Accuracy of a tree that is not private, as a ceiling; public data sets only."""
        from dpcore.comparison import plain_tree_accuracy

        return plain_tree_accuracy(self._store.table(self._public(dataset_id).id), target)

    def _public(self, dataset_id: str) -> DatasetInfo:
        dataset = self.dataset(dataset_id)
        if not dataset.public:
            raise RequestError("The records of this data set are private: nobody may see them.")
        return dataset

    # Budgets

    def balance(self, dataset_id: str, analyst: str | None = LOCAL_USER) -> Balance:
        """What is spent and left for an analyst (``None``: for all analysts together)."""
        return self._ledger.balance(self.dataset(dataset_id).id, analyst)

    def raise_caps(
        self,
        dataset_id: str,
        *,
        budget: Decimal | None = None,
        analyst_cap: Decimal | None = None,
        run_cap: Decimal | None = None,
        note: str = "",
    ) -> Balance:
        """Custodian: change the caps given; the ledger keeps every change."""
        found = self.dataset(dataset_id).id
        self._ledger.raise_caps(
            found, cap=budget, analyst_cap=analyst_cap, run_cap=run_cap, note=note
        )
        return self._ledger.balance(found)

    def charge(
        self, dataset_id: str, epsilon: Decimal, delta: Decimal = Decimal(0), *, note: str
    ) -> Balance:
        """Custodian: enter what was spent outside of this ledger; see ``docs/deployment.md``."""
        found = self.dataset(dataset_id).id
        self._ledger.charge(found, epsilon, delta, note=note)
        return self._ledger.balance(found)

    def ledger_entries(self, dataset_id: str) -> list[LedgerEntry]:
        """Every line of a data set's ledger, oldest first."""
        return self._ledger.entries(self.dataset(dataset_id).id)

    # Runs

    def quote(self, request: RunRequest, analyst: str = LOCAL_USER) -> Quote:
        """Say what a run would cost and promise. Free; raises ``RequestError``."""
        dataset, plan = self._plan(request)
        balance, refusal = self._ledger.quote(dataset.id, analyst, plan.epsilon)
        cost, limit = plan.epsilon, balance.left
        if balance.run_cap is not None:
            limit = min(limit, balance.run_cap)
        left_after = max(Decimal(0), balance.left - cost)
        return Quote(
            plan=plan,
            cost=cost,
            balance_before=balance,
            left_after=left_after,
            runs_like_this_left=int(left_after // cost),
            affordable=refusal is None,
            shortfall=max(Decimal(0), cost - limit),
            refusal=refusal or "",
            guarantee=guarantee_sentence(plan),
            odds=guaranteed_odds(cost, plan.guarantee),
        )

    def submit(self, request: RunRequest, nonce: str, analyst: str = LOCAL_USER) -> str:
        """Reserve the cost and queue the run; return its id.

        The same nonce with the same request returns the same run and spends once.

        Raises
        ------
        RequestError
            If the parameters cannot be honoured.
        BudgetError
            If the cost exceeds what is left or what one run may cost.
        ConflictError
            If the nonce was used for another request.
        """
        dataset, plan = self._plan(request)
        exact = request.model_copy(update={"dataset_id": dataset.id})
        reservation = self._ledger.reserve(
            dataset.id,
            analyst,
            plan.epsilon,
            plan.delta,
            nonce,
            _request_hash(exact, plan),
            on_created=lambda connection, run_id: add_job(connection, run_id, analyst, exact),
        )
        if reservation.created:
            self._jobs.start(reservation.id)
        return reservation.id

    def run(self, run_id: str) -> RunStatus:
        """Where a run stands. Raises ``NotFoundError``."""
        return self._jobs.status(run_id)

    def runs(
        self, dataset_id: str | None = None, analyst: str | None = None, active: bool = False
    ) -> list[RunStatus]:
        """Runs, newest first; ``active`` keeps those queued or running."""
        found = None if dataset_id is None else self.dataset(dataset_id).id
        return self._jobs.statuses(found, analyst, active)

    def cancel(self, run_id: str) -> RunStatus:
        """Stop a run. It is refunded exactly if no record was touched yet."""
        return self._jobs.cancel(run_id)

    def wait(self, run_id: str, timeout: float = 600.0) -> RunStatus:
        """Block until a run ends or ``timeout`` seconds pass; return its status either way."""
        end = time.monotonic() + timeout
        while (status := self.run(run_id)).active and time.monotonic() < end:
            time.sleep(_POLL_SECONDS)
        return status

    def rehearse(self, request: RunRequest) -> Release:
        """Run a request on synthetic data drawn from the schema: free, not stored, seeded."""
        from dpcore.algorithms import get_learner
        from dpcore.rehearsal import rehearse

        dataset, plan = self._plan(request)
        return rehearse(get_learner(request.algorithm), dataset.schema, plan)

    # Releases

    def release(self, release_id: str) -> Release:
        """One release by its id. Raises ``NotFoundError``."""
        return self._store.release(release_id)

    def releases(self, dataset_id: str | None = None) -> list[Release]:
        """Releases, newest first."""
        found = None if dataset_id is None else self.dataset(dataset_id).id
        return self._store.releases(found)

    def note_release(
        self, release_id: str, name: str, note: str, author: str = LOCAL_USER
    ) -> ReleaseNote:
        """Name a release and write a note beside it: free, and to be changed at any time.

        Raises
        ------
        RequestError
            If the name or the note is too long.
        NotFoundError
            If there is no such release.
        """
        return write_note(self._engine, self.release(release_id).id, name, note, author)

    def release_notes(self, dataset_id: str | None = None) -> dict[str, ReleaseNote]:
        """Names and notes by release; releases without any are left out."""
        found = None if dataset_id is None else self.dataset(dataset_id).id
        return read_notes(self._engine, found)

    def release_page(self, release_id: str) -> str:
        """One release as a file of HTML that opens anywhere, with its name and note."""
        from dpcore.report.page import release_page

        found = self.release(release_id)
        return release_page(found, self.release_notes(found.dataset_id).get(found.id))

    def dossier(self, dataset_id: str, release_ids: Sequence[str], application: Application) -> str:
        """Chosen releases of one data set as a file of HTML, with all that was spent on it.

        Raises
        ------
        RequestError
            If no release is chosen, too many are, or one is of another data set.
        NotFoundError
            If there is no such data set or release.
        """
        from dpcore.report.page import dossier

        dataset = self.dataset(dataset_id)
        chosen = [self.release(release_id) for release_id in release_ids]
        return dossier(
            dataset,
            chosen,
            self.release_notes(dataset.id),
            self.balance(dataset.id, None),
            application,
            self.releases(dataset.id),
        )

    def _plan(self, request: RunRequest) -> tuple[DatasetInfo, RunPlan]:
        from dpcore.algorithms import get_learner

        dataset = self.dataset(request.dataset_id)
        learner = get_learner(request.algorithm)
        plan = learner.plan(dataset.schema, request.target, request.epsilon, request.parameters)
        return dataset, plan

    def _demo(self, name: str, make: Any) -> DatasetInfo:
        try:
            return self._store.dataset(name)
        except NotFoundError:
            demo = make()
        tables = {demo.schema.entity: demo.frame, **demo.children}
        source = tables if demo.children else demo.frame
        try:
            return self.add_dataset(
                source, demo.schema, budget=DEMO_BUDGET, public=True, truth=demo.truth
            )
        except ConflictError:  # Another process was faster.
            return self._store.dataset(demo.schema.name)


def _part(release: Release) -> Part:
    """People that a release was learned from."""
    return "train" if release.certificate.parallel_split else "all"


def _request_hash(request: RunRequest, plan: RunPlan) -> str:
    """SHA-256 of a request with every default filled in."""
    content = request.model_dump(mode="json")
    content["parameters"] = plan.parameters.model_dump(mode="json")
    canonical = json.dumps(content, sort_keys=True, ensure_ascii=False)
    return hashlib.sha256(canonical.encode()).hexdigest()


def _default_workers() -> int:
    text = os.environ.get("FROSTGLASS_WORKERS", "2")
    if not text.isdigit():
        raise RequestError("FROSTGLASS_WORKERS must be a whole number, for example 2.")
    return int(text)
