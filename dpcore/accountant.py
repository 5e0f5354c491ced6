"""An in-memory budget for estimators: copies share it, so no fold of a cross-validation is free.

The durable budget of a stored data set is :class:`dpcore.ledger.Ledger`.
"""

from __future__ import annotations

import threading
from decimal import Decimal
from typing import Any, Protocol

from dpcore.errors import BudgetError
from dpcore.privacy import format_epsilon, parse_epsilon


class Accountant(Protocol):
    """What an estimator needs of a budget."""

    def spend(self, epsilon: Decimal, label: str) -> None:
        """Charge ``epsilon`` before any record is read, or raise ``BudgetError``."""
        ...


class BudgetAccountant:
    """A capped budget by sequential composition.

    Copying (``copy.deepcopy``, ``sklearn.base.clone``) returns the same object. Pickling is
    refused, because a copy in another process would spend a budget of its own.

    Parameters
    ----------
    cap : Decimal, int, float or str
        Total epsilon that may be spent.
    """

    def __init__(self, cap: object) -> None:
        self.cap = parse_epsilon(cap)
        self.entries: list[tuple[str, Decimal]] = []
        self._lock = threading.Lock()

    @property
    def spent(self) -> Decimal:
        """Sum of all charges."""
        return sum((epsilon for _, epsilon in self.entries), Decimal(0))

    @property
    def left(self) -> Decimal:
        """What may still be spent."""
        return self.cap - self.spent

    def spend(self, epsilon: Decimal, label: str) -> None:
        """Charge ``epsilon``.

        Raises
        ------
        BudgetError
            If it is no usable amount, or less than that is left; nothing is charged then.
        """
        epsilon = parse_epsilon(epsilon)
        with self._lock:
            if epsilon > self.left:
                raise BudgetError(
                    f"This fit needs epsilon {format_epsilon(epsilon)}, but "
                    f"{format_epsilon(self.left, up=False)} of {format_epsilon(self.cap)} is left."
                )
            self.entries.append((label, epsilon))

    def __copy__(self) -> BudgetAccountant:
        return self

    def __deepcopy__(self, memo: dict[int, Any]) -> BudgetAccountant:
        return self

    def __reduce__(self) -> Any:
        raise TypeError("an in-memory budget cannot be shared between processes: run with n_jobs=1")
