"""An in-memory budget for estimators: copies share it, so no fold of a cross-validation is free.

The durable budget of a stored data set is :class:`dpcore.workspace.ledger.ledger.Ledger`.
"""

from __future__ import annotations

import os
import threading
from decimal import Decimal
from typing import Final, NamedTuple, NoReturn, Protocol

from dpcore.errors import BudgetError
from dpcore.numerals import small
from dpcore.privacy.budgets import exact_amount, format_epsilon, parse_delta, parse_epsilon
from dpcore.privacy.filters import ADDED_SHARE, PrivacyFilter
from dpcore.privacy.losses import Loss, total_loss

_ONE_PROCESS: Final = (
    "An in-memory budget cannot be copied to other processes or files: run with n_jobs=1; to save an "
    "estimator, save its release, release_.to_json(), from which from_release makes it again."
)
#: Delta of a budget for which none is given: well below one in 100,000 people.
USUAL_DELTA: Final = Decimal("0.000001")


class Accountant(Protocol):
    """What an estimator needs of a budget."""

    @property
    def filter(self) -> PrivacyFilter:
        """The bound on all fits together, by which the form of each is chosen."""
        ...

    def spend(self, loss: Loss, label: str) -> None:
        """Charge a fit before any record is read, or raise ``BudgetError``."""
        ...


class Charge(NamedTuple):
    """One line of an in-memory budget."""

    label: str
    loss: Loss


class BudgetAccountant:
    """A cap on (epsilon, delta) for everything that is charged, however it was chosen.

    A fit is accepted if all charges together keep the cap: by adding up epsilons and deltas, or
    in zero-concentrated DP, in which many small fits cost far less than their sum (see
    :class:`~dpcore.privacy.filters.PrivacyFilter`; proof: ``docs/privacy/accounting.md``).
    Copying (``copy.deepcopy``, ``sklearn.base.clone``) returns the same object. Pickling is
    refused, and so is spending in a forked process, because a copy in another process would spend a budget of its own:
    of a fitted estimator save the release.

    Parameters
    ----------
    cap : Decimal, int, float or str
        Epsilon that all fits together may cost.
    delta_cap : Decimal, int, float or str
        The delta of that bound; 0 accepts pure fits only. It should be well below one in the
        number of people.

    Attributes
    ----------
    filter : PrivacyFilter
        What decides which fits are accepted, and in which form they are made.
    entries : list of Charge
        Every charge, oldest first.
    """

    def __init__(self, cap: object, delta_cap: object = USUAL_DELTA) -> None:
        self.filter = PrivacyFilter(parse_epsilon(cap), parse_delta(delta_cap))
        self.entries: list[Charge] = []
        self._lock = threading.Lock()
        self._process = os.getpid()

    @property
    def cap(self) -> Decimal:
        """Epsilon that all fits together may cost."""
        return self.filter.epsilon

    @property
    def delta_cap(self) -> Decimal:
        """The delta of that bound."""
        return self.filter.delta

    @property
    def total(self) -> Loss:
        """Sums of all charges."""
        return total_loss(entry.loss for entry in self.entries)

    @property
    def spent(self) -> Decimal:
        """Epsilon, at ``delta_cap``, of all charges together; rounded up."""
        return self.filter.spent(self.total)

    @property
    def share(self) -> Decimal:
        """Share of the budget that all charges take, from 0 to 1."""
        return self.filter.share(self.total)

    @property
    def left(self) -> Decimal:
        """Largest epsilon of a fit that would still be accepted: of one that composes, if there is a delta."""
        return self.filter.largest(self.total)

    def spend(self, loss: Loss, label: str) -> None:
        """Charge a fit.

        Raises
        ------
        BudgetError
            If all charges would exceed the cap, or in a process forked after the budget was made; nothing is
            charged then.
        """
        if os.getpid() != self._process:
            raise BudgetError(_ONE_PROCESS)
        with self._lock:
            if not self.filter.accepts(self.total + loss):
                raise BudgetError(self._refusal(loss))
            self.entries.append(Charge(label, loss))

    def _refusal(self, loss: Loss) -> str:
        if loss.delta and not self.delta_cap:
            return (
                "This budget has delta 0, so it takes fits that are pure only: choose another "
                "method, or a budget with a delta."
            )
        after = self.filter.spent(self.total + loss)
        if not after.is_finite():
            return (
                "With a fit that has a delta and no bound in zero-concentrated DP, all deltas together may be at "
                f"most {exact_amount(self.delta_cap * ADDED_SHARE)}: ask for a smaller one, or choose another method."
            )
        return (
            f"This fit would bring what is spent from epsilon {format_epsilon(self.spent)} to "
            f"{format_epsilon(after)} at delta "
            f"{small(self.delta_cap)}, above the cap of {format_epsilon(self.cap)}. A fit of up to epsilon "
            f"{format_epsilon(self.left, up=False)} would fit."
        )

    def __copy__(self) -> BudgetAccountant:
        return self

    def __deepcopy__(self, memo: dict[int, object]) -> BudgetAccountant:
        return self

    def __reduce__(self) -> NoReturn:
        raise TypeError(_ONE_PROCESS)
