"""What the ledger refuses, and how amounts are checked, before a line of it is written."""

from __future__ import annotations

from decimal import Decimal

from sqlalchemy.engine import Connection, RowMapping

from dpcore.errors import BudgetError, ConflictError, RequestError
from dpcore.privacy.budgets import exact_amount, largest_delta, parse_epsilon, parse_limit
from dpcore.privacy.filters import DELTA_STEP
from dpcore.privacy.losses import NOT_STATED, RHO_LIMIT, RHO_STEP, Loss
from dpcore.released.plan import UNCONDITIONAL
from dpcore.released.release import Certificate, Release
from dpcore.workspace.files.populations import members
from dpcore.workspace.files.store import parse_schema
from dpcore.workspace.ledger.ledger_lines import cap_state_of, loss_of
from dpcore.workspace.people.users import canonical_name

_TOO_LARGE = (
    "This delta is too large: with it somebody's record might be given away. Use at most {most} on this data set, "
    "or 0 to take runs without a delta only."
)
TOO_LARGE_TO_JOIN = (
    "The delta of the budget that these people have is too large for so many rows: somebody's record might be given "
    "away. Lower it to at most {most} first, or lower 'max_rows'."
)
_BELOW_ASIDE = (
    "Categories of this data set were learned, for which {aside} of its delta is set aside: nothing bounds what was "
    "spent at a delta that is not above it. Choose a larger one."
)
_NOT_PURE = "Runs with a delta were made on this data set, so nothing bounds them at a delta of 0: choose one above it."


def parse_caps(
    cap: Decimal | None, delta: Decimal | None, analyst_cap: Decimal | None, run_cap: Decimal | None
) -> dict[str, Decimal | None]:
    """Caps as the ledger keeps them. Raises ``BudgetError``."""
    return {
        "cap": None if cap is None else parse_epsilon(cap),
        "delta_cap": None if delta is None else exact_delta(delta),
        "analyst_cap": None if analyst_cap is None else parse_limit(analyst_cap),
        "run_cap": None if run_cap is None else parse_epsilon(run_cap),
    }


def check_delta(connection: Connection, dataset_id: str, delta: Decimal, told: str = _TOO_LARGE) -> None:
    """See that a delta is well below one in the most rows of any data set of an account."""
    most = largest_delta(max(parse_schema(row["schema"]).max_rows for row in members(connection, dataset_id)))
    if delta > most:
        raise BudgetError(told.format(most=exact_amount(most)))


def check_past_delta(connection: Connection, dataset_id: str, delta: Decimal, aside: Decimal) -> None:
    """See that a delta bounds what was spent before, and is above what is set aside."""
    if delta == 0 and cap_state_of(connection, dataset_id).total.delta:
        raise BudgetError(_NOT_PURE)
    if delta and delta <= aside:
        raise BudgetError(_BELOW_ASIDE.format(aside=exact_amount(aside)))


def exact_delta(delta: Decimal) -> Decimal:
    """A delta as the ledger keeps it. Raises ``BudgetError``."""
    if not isinstance(delta, Decimal) or not delta.is_finite() or not 0 <= delta < 1:
        raise BudgetError("Delta must be 0, or a number above 0 and below 1.")
    if delta % DELTA_STEP:
        raise BudgetError("Delta must have at most 15 decimal places.")
    return delta


def exact_amounts(loss: Loss) -> dict[str, Decimal]:
    """The loss of a run or charge as the ledger keeps it. Raises ``BudgetError``."""
    if not loss.rho.is_finite():
        raise BudgetError("Say what this costs in zero-concentrated differential privacy (rho): nothing bounds it.")
    if loss.delta and not loss.rho:
        raise BudgetError("What has a delta has a rho above 0: say which, as on its certificate.")
    if loss.rho > RHO_LIMIT:
        raise BudgetError(f"Rho must be at most {RHO_LIMIT}: a larger one promises nothing.")
    if loss.rho % RHO_STEP:
        raise BudgetError("Rho must have at most 12 decimal places.")
    return {"epsilon": parse_epsilon(loss.epsilon), "delta": exact_delta(loss.delta), "rho": loss.rho}


def check_labels(analyst: str, nonce: str) -> None:
    """See that a run names its analyst and its nonce as the ledger keeps them."""
    if canonical_name(analyst) != analyst:
        raise RequestError("The name of an analyst is not in the form that the ledger keeps.")
    if not 1 <= len(nonce) <= 128:
        raise RequestError("The nonce of a run must have 1 to 128 characters.")


def check_same(earlier: RowMapping, dataset_id: str, analyst: str, request_hash: str) -> None:
    """See that a nonce was used for the same request before."""
    names = ("dataset_id", "analyst", "request_hash")
    if tuple(earlier[name] for name in names) != (dataset_id, analyst, request_hash):
        raise ConflictError("This review was already used for a different run. Open a new review and spend there.")


def check_release(release: Release, row: RowMapping, dataset: RowMapping) -> None:
    """See that a release is what was reserved, on the data set that it was reserved for."""
    certificate: Certificate = release.certificate
    reserved = loss_of(row)
    cost = (certificate.epsilon, certificate.delta) == (reserved.epsilon, reserved.delta)
    rho = NOT_STATED if certificate.rho is None else certificate.rho
    if not cost or (rho == NOT_STATED) != (reserved.without_rho > 0) or rho > reserved.rho:
        raise RequestError("The release did not cost what was reserved, so it is not stored.")
    if certificate.private and (certificate.guarantee == UNCONDITIONAL) == (reserved.without_rho > 0):
        raise RequestError("The guarantee of the release is not the one that was reserved, so it is not stored.")
    if reserved.without_rho and not (dataset["public"] or certificate.conditional_allowed):
        raise RequestError("The release does not say that its condition was allowed, so it is not stored.")
    if sum(certificate.budget_split.values(), Decimal(0)) != certificate.epsilon:
        raise RequestError("The release's budget split is not its cost, so it is not stored.")
    if any(part > certificate.epsilon for part in certificate.parallel_split.values()):
        raise RequestError("A parallel step spent more than was reserved, so it is not stored.")
    # Not the hash that was stored: origins of schemas are not as old as some data sets.
    stored = parse_schema(dataset["schema"]).hash
    expected = (row["dataset_id"], stored, stored)
    if (release.dataset_id, certificate.schema_hash, release.domain.hash) != expected:
        raise RequestError("The release is about another data set or schema; it is not stored.")
    if not certificate.private and not dataset["public"]:
        raise RequestError("The release of a private data set is not private, so it is not stored.")
