"""Runs: what one would cost, spending on it, following it."""

from __future__ import annotations

import hashlib
import json
import time
from collections.abc import Callable
from dataclasses import dataclass, field
from decimal import Decimal
from functools import lru_cache, partial

from dpcore.data.execution.chosen import chosen_executor, cluster_address
from dpcore.domain.schemas.schema import Schema
from dpcore.errors import AccessError, BudgetError, NotFoundError, RequestError
from dpcore.privacy.budgets import EPSILON_LIMIT, EPSILON_STEP
from dpcore.privacy.losses import Loss
from dpcore.released.plan import RunPlan, form_sentence, guarantee_sentence, guaranteed_odds
from dpcore.service.base import ServiceBase, check_id
from dpcore.validation import is_key
from dpcore.workspace.files.descriptions import DatasetInfo
from dpcore.workspace.ledger.ledger_lines import RECORDS_GONE, Means, refusal_of
from dpcore.workspace.ledger.requests import Quote, RunRequest, RunStatus
from dpcore.workspace.people.users import ROLES
from dpcore.workspace.runs.machine import machine_of

_POLL_SECONDS = 0.1
#: Amounts that are asked for are whole multiples of it, unless a smaller one is exact.
_STEP = Decimal("0.0001")
#: How many plans a process remembers.
_PLANS = 128
_NOT_YOURS = (
    "The delta of a run follows from that of the data set's budget, which its custodian sets: leave it out. "
    "To promise more, choose a smaller epsilon."
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
        return chosen_executor().status()

    def quote(self, request: RunRequest) -> Quote:
        """Say what a run would cost and promise. Free; raises ``RequestError``."""
        return self.pricing(request.dataset_id)(request)

    def pricing(self, dataset_id: str) -> Callable[[RunRequest], Quote]:
        """What :meth:`quote` says of several runs on one data set, all seen from the budget of this moment."""
        dataset = self._usable(dataset_id)
        means = self._means(dataset)
        return lambda request: self._priced(dataset, self._exact(dataset, request), means)

    def _priced(self, dataset: DatasetInfo, request: RunRequest, means: Means) -> Quote:
        from dpcore.models.registry import get_learner

        in_form = _forms(dataset, request, means)
        plan = in_form(request.pure)
        hindrance, short_by = means.hindrance(plan.loss), _short_by(dataset, request, means, plan.loss)
        return Quote(
            plan=plan,
            forecast=machine_of(self._home).forecast(get_learner(request.algorithm).workload(plan)),
            cost=plan.price,
            adds=means.pots[0].adds(plan.loss),
            form=form_sentence(plan),
            may_be_pure=_may_be_pure(in_form),
            balance_before=means.balance,
            left_after=Decimal(0) if hindrance else means.left(plan.loss),
            hindrance=hindrance,
            short_by=short_by,
            runs_like_this_left=0 if hindrance else means.fitting(plan.loss, plan.loss),
            refusal=refusal_of(means, plan.loss, short_by) or "",
            guarantee=guarantee_sentence(plan),
            odds=guaranteed_odds(plan.epsilon, plan.delta, plan.promised),
            allowance=dataset.allowance,
        )

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
        dataset, request, plan = self._planned(request)
        hashed = _request_hash(request, plan)
        try:
            reservation = self._queue.reserve(request, self._user.name, plan.loss, nonce, hashed)
        except BudgetError as refused:
            raise BudgetError(self._priced(dataset, request, self._means(dataset)).refusal or str(refused)) from None
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

    def _planned(self, request: RunRequest) -> tuple[DatasetInfo, RunRequest, RunPlan]:
        """The data set of a request, the exact request, and its plan."""
        dataset = self._usable(request.dataset_id)
        exact = self._exact(dataset, request)
        return dataset, exact, _forms(dataset, exact, self._means(dataset))(exact.pure)

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
        from dpcore.models.summaries.released.cut_points import cut_points

        check_id(release_id, _NO_LOOK)
        found = self._released.release(release_id, reader=self._reader())
        if (found.dataset_id, found.kind) != (dataset.id, "summaries"):
            raise NotFoundError(_NO_LOOK)
        points = cut_points(parse_model(found), found.domain)
        if not points:
            raise RequestError("This first look tells of no column of numbers, so of no cut points.")
        return points

    def _means(self, dataset: DatasetInfo) -> Means:
        """What the caller may spend. Raises ``RequestError`` if there is nothing to run on."""
        if not self._store.present(dataset.id):
            raise RequestError(RECORDS_GONE)
        return self._ledger.means(dataset.id, self._user.name)


def _forms(dataset: DatasetInfo, request: RunRequest, means: Means) -> Callable[[bool], RunPlan]:
    """The plan of an exact request: pure, or in the form that suits the budget."""
    from dpcore.released.run_form import plan_under

    dataset.check_private()
    if request.parameters.get("delta") is not None:
        raise RequestError(_NOT_YOURS)
    asked = _Asked(repr(request), dataset.schema.hash, request, dataset.schema)
    return lambda pure: plan_under(means.nearest, partial(_plan, asked), pure=pure, most=means.run_cap)


@dataclass(frozen=True)
class _Asked:
    """What is to be planned: public choices and a public schema, which two texts stand for."""

    said: str
    schema_hash: str
    request: RunRequest = field(compare=False)
    schema: Schema = field(compare=False)


@lru_cache(maxsize=_PLANS)
def _plan(asked: _Asked, delta: Decimal, rho: Decimal | None = None) -> RunPlan:
    """The plan of a run; a page that is drawn again asks for the same few."""
    from dpcore.models.registry import get_learner

    request = asked.request
    return get_learner(request.algorithm).plan(
        asked.schema, request.target, request.epsilon, request.parameters, delta, rho
    )


def _short_by(dataset: DatasetInfo, request: RunRequest, means: Means, loss: Loss) -> Decimal:
    """By how much a run exceeds what is left: with so much more it is accepted, in the form that it then has.

    A higher cap may change the form of a run, so what it lacks in its present form is only the first guess.
    """
    guess, pot = means.short_by(loss), means.full(loss)
    if means.hindrance(loss) != "budget" or pot is None or not guess.is_finite():
        return guess

    def fits(more: Decimal) -> bool:
        try:
            plan = _forms(dataset, request, means.raised(pot, more))(request.pure)
        except BudgetError:
            return False
        return pot.raised(more).cap.accepts(pot.total + plan.loss)

    return smallest_raise(fits, guess)


def smallest_raise(fits: Callable[[Decimal], bool], guess: Decimal) -> Decimal:
    """About the smallest amount above 0 that fits: the guess, if less does not, else in steps of :data:`_STEP`.

    What is returned fits, unless nothing does up to the largest epsilon.
    """
    if fits(guess) and not fits(guess - EPSILON_STEP):
        return guess
    low, high = 0, int(guess / _STEP) + 1
    while not fits(high * _STEP):
        if high * _STEP > EPSILON_LIMIT:
            return guess
        low, high = high, 2 * high
    while high - low > 1:
        middle = (low + high) // 2
        low, high = (low, middle) if fits(middle * _STEP) else (middle, high)
    return high * _STEP


def _may_be_pure(in_form: Callable[[bool], RunPlan]) -> bool:
    """Whether a run has a delta, but need not."""
    try:
        return in_form(False).delta > 0 and not in_form(True).delta
    except BudgetError:
        return False


def _request_hash(request: RunRequest, plan: RunPlan) -> str:
    """SHA-256 of a request with every default filled in."""
    content = request.model_dump(mode="json")
    content["parameters"] = plan.parameters.model_dump(mode="json", exclude={"delta"})
    canonical = json.dumps(content, sort_keys=True, ensure_ascii=False)
    return hashlib.sha256(canonical.encode()).hexdigest()
