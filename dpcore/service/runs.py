"""Runs: what one would cost, spending on it, following it."""

from __future__ import annotations

import hashlib
import json
import time
from collections.abc import Callable
from decimal import Decimal
from functools import partial

from dpcore.data.execution.executor_choice import cluster_address, configured_executor
from dpcore.errors import AccessError, BudgetError, NotFoundError, RequestError
from dpcore.released.plan import RunPlan
from dpcore.released.workload import DurationForecast
from dpcore.service.base import ServiceBase, check_id
from dpcore.validation import is_key
from dpcore.workspace.files.descriptions import DatasetInfo
from dpcore.workspace.ledger.accounts import Balance
from dpcore.workspace.ledger.ledger_lines import RECORDS_GONE
from dpcore.workspace.ledger.requests import Quote, RunRequest, RunStatus
from dpcore.workspace.people.users import ROLES
from dpcore.workspace.runs.machine import machine_of

_POLL_SECONDS = 0.1
_NOT_YOURS = (
    "The delta of a run follows from that of the data set's budget, which its custodian sets: leave it out. "
    "To promise more, choose a smaller epsilon."
)
_NEEDS_DELTA = (
    "This method needs a delta, and only pure runs are taken here: choose another method, or ask "
    "the custodian of the data set for a delta."
)
_NO_NONCE = "The nonce of a request has 1 to 128 letters, digits or signs of ASCII."
_NO_RUN = "There is no such run."
_NO_LOOK = "There is no such first look of this data set."


class Runs(ServiceBase):
    """Part of :class:`dpcore.service.Service`."""

    @property
    def on_cluster(self) -> bool:
        """Whether a cluster answers the questions of runs."""
        return bool(cluster_address())

    def executor_status(self) -> str:
        """Custodian: who answers the questions of runs; a cluster's workers, and where its dashboard is.

        Raises
        ------
        ClusterError
            If the cluster does not answer.
        """
        self._require("custodian")
        return configured_executor().status()

    def quote(self, request: RunRequest) -> Quote:
        """Say what a run would cost and promise. Free; raises ``RequestError``."""
        return self._priced(*self._budget(request.dataset_id), request)

    def pricing(self, dataset_id: str) -> Callable[[RunRequest], Quote]:
        """What :meth:`quote` says of several runs on one data set, all seen from the budget of this moment."""
        return partial(self._priced, *self._budget(dataset_id))

    def _budget(self, dataset_id: str) -> tuple[DatasetInfo, Balance]:
        """A data set on which the caller may run something, and what may be spent. Raises ``RequestError``."""
        dataset = self._usable(dataset_id)
        if not self._store.present(dataset.id):
            raise RequestError(RECORDS_GONE)
        return dataset, self._ledger.balance(dataset.id, self._user.name)

    def _priced(self, dataset: DatasetInfo, balance: Balance, request: RunRequest) -> Quote:
        from dpcore.models.registry import get_learner, plan_run

        request = self._exact(dataset, request)
        dataset.check_private()
        if request.parameters.get("delta") is not None:
            raise RequestError(_NOT_YOURS)
        delta = Decimal(0) if request.pure else balance.run_delta
        if get_learner(request.algorithm).family.needs_delta and not delta:
            raise BudgetError(_NEEDS_DELTA)
        asked = request.target, request.epsilon, request.parameters, delta
        plan = plan_run(request.algorithm, dataset.schema, *asked)

        def forecaster() -> DurationForecast:
            return machine_of(self._home).forecast(get_learner(request.algorithm).workload(plan))

        return Quote(request, balance, plan, forecaster, dataset.allowance)

    def submit(self, request: RunRequest, nonce: str) -> str:
        """Reserve the cost and queue the run; return its id.

        The same nonce with the same request returns the same run and spends once. If that is still
        waiting, because whoever queued it came no further, it is started.

        Raises
        ------
        RequestError
            If the parameters cannot be honoured, or the nonce is none.
        BudgetError
            If the cost exceeds what is left or what one run may cost, or the caller is frozen; if the guarantee
            has a condition and the custodian does not allow that.
        ConflictError
            If the nonce was used for another request, or the caller has too many runs that have not ended.
        """
        if not is_key(nonce):
            raise RequestError(_NO_NONCE)
        quote = self.quote(request)
        try:
            reservation = self._queue.reserve(
                quote.request, self._user.name, quote.loss, nonce, _request_hash(quote.request, quote.plan)
            )
        except BudgetError as refused:
            raise BudgetError(self.quote(request).refusal or str(refused)) from None
        if reservation.created or self._queue.status(reservation.id).state == "queued":
            self._jobs.start(reservation.id)
        return reservation.id

    def run(self, run_id: str) -> RunStatus:
        """Where a run of the caller's stands. Raises ``NotFoundError``; custodians see all."""
        self._require(*ROLES)
        check_id(run_id, _NO_RUN)
        self._jobs.tend()
        status = self._queue.status(run_id)
        own = self._reader() in (None, status.analyst)
        if not own or not self._sees(self._store.dataset(status.request.dataset_id)):
            raise NotFoundError(_NO_RUN)
        return status

    def runs(self, dataset_id: str | None = None, active: bool = False) -> list[RunStatus]:
        """Runs of the caller, newest first: to custodians all; ``active``: queued or running."""
        seen = self._seen(dataset_id)
        self._jobs.tend()
        return self._queue.statuses(seen, self._reader(), active)

    def cancel(self, run_id: str, *, only_free: bool = False) -> RunStatus:
        """Stop a run of the caller's. It is refunded exactly if no record was touched yet.

        Parameters
        ----------
        only_free : bool
            Whether to stop it only if that gives its whole budget back.

        Raises
        ------
        ConflictError
            If ``only_free`` and the run has begun to read records: it goes on.
        AccessError
            If it is somebody else's: it would cost them what they get nothing for.
        """
        status = self.run(run_id)
        if status.analyst != self._user.name:
            raise AccessError("Only the person who started a run may stop it.")
        if status.active:
            self._queue.cancel(status.id, self._user.name, only_free=only_free)
        return self._queue.status(status.id)

    def stranded_runs(self, dataset_id: str | None = None) -> list[RunStatus]:
        """Custodian: runs whose process cannot be seen from this machine, newest first.

        It may be at work on another one, or have vanished with it.
        """
        self._require("custodian")
        seen = self._seen(dataset_id)
        self._jobs.tend()
        return self._queue.stranded(seen)

    def end_run(self, run_id: str, reason: str) -> RunStatus:
        """Custodian: end a run whose process has vanished. Refunded if it had read no record.

        Raises
        ------
        ConflictError
            If its process can be seen from here, or the run is not running.
        RequestError
            If there is no reason.
        """
        self._require("custodian")
        found = self.run(run_id).id
        self._queue.end_stranded(found, reason, self._user.name)
        return self.run(found)

    def wait(self, run_id: str, timeout: float = 600.0) -> RunStatus:
        """Block until a run ends or ``timeout`` seconds pass; return its status either way."""
        end = time.monotonic() + timeout
        while (status := self.run(run_id)).active and time.monotonic() < end:
            time.sleep(_POLL_SECONDS)
        return status

    def _exact(self, dataset: DatasetInfo, request: RunRequest) -> RunRequest:
        """The request with the id of its data set, and with the cut points of the first look that it names."""
        parameters = dict(request.parameters)
        if told := parameters.get("cuts_from"):
            points = self._cut_points(dataset, str(told))
            if parameters.get("cut_points") not in (None, (), [], points, list(points)):
                raise RequestError("Either name cut points, or the first look that tells them.")
            parameters["cut_points"] = points
        return request.model_copy(update={"dataset_id": dataset.id, "parameters": parameters})

    def _cut_points(self, dataset: DatasetInfo, release_id: str) -> tuple[str, ...]:
        from dpcore.models.released import parse_model
        from dpcore.models.summaries.released.reading import cut_points

        check_id(release_id, _NO_LOOK)
        found = self._released.release(release_id, reader=self._reader())
        if (found.dataset_id, found.kind) != (dataset.id, "summaries"):
            raise NotFoundError(_NO_LOOK)
        points = cut_points(parse_model(found), found.domain)
        if not points:
            raise RequestError("This first look tells of no column of numbers, so of no cut points.")
        return points


def _request_hash(request: RunRequest, plan: RunPlan) -> str:
    """SHA-256 of a request with every default filled in."""
    content = request.model_dump(mode="json")
    content["parameters"] = plan.parameters.model_dump(mode="json", exclude={"delta"})
    canonical = json.dumps(content, sort_keys=True, ensure_ascii=False)
    return hashlib.sha256(canonical.encode()).hexdigest()
