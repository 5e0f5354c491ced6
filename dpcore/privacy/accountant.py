"""An in-memory budget for estimators: copies share it, so no fold of a cross-validation is free.

The durable budget of a stored data set is :class:`dpcore.workspace.ledger.Ledger`.
"""

from __future__ import annotations

import threading
from decimal import Decimal
from typing import Any, NamedTuple, Protocol

from dpcore.errors import BudgetError
from dpcore.privacy.budgets import format_epsilon, parse_delta, parse_epsilon


class Accountant(Protocol):
    """What an estimator needs of a budget."""

    def spend(self, epsilon: Decimal, label: str, delta: Decimal = Decimal(0)) -> None:
        """Charge a guarantee before any record is read, or raise ``BudgetError``."""
        ...


class Charge(NamedTuple):
    """One line of an in-memory budget."""

    label: str
    epsilon: Decimal
    delta: Decimal


class BudgetAccountant:
    """A capped budget by sequential composition.

    Copying (``copy.deepcopy``, ``sklearn.base.clone``) returns the same object. Pickling is
    refused, because a copy in another process would spend a budget of its own.

    Parameters
    ----------
    cap : Decimal, int, float or str
        Total epsilon that may be spent.
    delta_cap : Decimal, int, float, str or None
        Total delta that may be spent; ``None`` only adds it up.

    Attributes
    ----------
    entries : list of Charge
        Every charge, oldest first.
    """

    def __init__(self, cap: object, delta_cap: object | None = None) -> None:
        self.cap = parse_epsilon(cap)
        self.delta_cap = None if delta_cap is None else parse_delta(delta_cap)
        self.entries: list[Charge] = []
        self._lock = threading.Lock()

    @property
    def spent(self) -> Decimal:
        """Sum of all epsilons charged."""
        return sum((entry.epsilon for entry in self.entries), Decimal(0))

    @property
    def left(self) -> Decimal:
        """Epsilon that may still be spent."""
        return self.cap - self.spent

    @property
    def delta_spent(self) -> Decimal:
        """Sum of all deltas charged."""
        return sum((entry.delta for entry in self.entries), Decimal(0))

    def spend(self, epsilon: Decimal, label: str, delta: Decimal = Decimal(0)) -> None:
        """Charge ``epsilon`` and ``delta``.

        Raises
        ------
        BudgetError
            If they are not usable amounts, or less than that is left; nothing is charged then.
        """
        epsilon, delta = parse_epsilon(epsilon), parse_delta(delta)
        with self._lock:
            if epsilon > self.left:
                raise BudgetError(
                    f"This fit needs epsilon {format_epsilon(epsilon)}, but "
                    f"{format_epsilon(self.left, up=False)} of {format_epsilon(self.cap)} is left."
                )
            if self.delta_cap is not None and self.delta_spent + delta > self.delta_cap:
                left = (self.delta_cap - self.delta_spent).normalize()
                raise BudgetError(
                    f"This fit needs delta {delta:f}, but {left:f} of {self.delta_cap:f} is left."
                )
            self.entries.append(Charge(label, epsilon, delta))

    def __copy__(self) -> BudgetAccountant:
        return self

    def __deepcopy__(self, memo: dict[int, Any]) -> BudgetAccountant:
        return self

    def __reduce__(self) -> Any:
        raise TypeError("an in-memory budget cannot be shared between processes: run with n_jobs=1")
