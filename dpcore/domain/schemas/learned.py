"""What may be learned privately of a column, and the certificate of what was."""

from __future__ import annotations

from datetime import datetime
from decimal import Decimal
from typing import Literal

from pydantic import Field

from dpcore.domain.schemas.names import Name, SchemaPart
from dpcore.numerals import small

#: Bins of equal mass, unless another number is asked for.
USUAL_BINS = 10
#: Most categories and bins: see :mod:`dpcore.domain.columns`.
_MOST_CATEGORIES, _MOST_BINS = 1000, 256


class ColumnQuestion(SchemaPart):
    """What is to be learned of one column."""

    bins: int = Field(default=USUAL_BINS, ge=2, le=_MOST_BINS)
    """Of a numeric column: bins that hold about as many rows each."""
    bounds: bool = False
    """Of a numeric column: whether the bounds become the .5 % and the 99.5 % quantile. Numbers beyond are then moved
    there."""
    most: int = Field(default=_MOST_CATEGORIES, ge=1, le=_MOST_CATEGORIES)
    """Of a categorical column: most categories, the most frequent ones."""


class LearningCertificate(SchemaPart):
    """What was learned privately, and what it cost the people of the data set."""

    columns: tuple[Name, ...]
    """Whose facts were learned."""
    left_out: tuple[Name, ...] = ()
    """Of these, those of which no category was frequent enough: they are not stored."""
    mechanisms: tuple[str, ...]
    definition: Literal["pure", "approximate"]
    asked: Decimal
    """The epsilon that was asked for."""
    epsilon: Decimal
    delta: Decimal
    """``epsilon``, ``delta``: the learning alone is (epsilon, delta)-DP."""
    rho: Decimal
    threshold_delta: Decimal
    """``rho``, ``threshold_delta``: what the account is charged: but for an event of chance ``threshold_delta``, the
    learning is rho-zero-concentrated DP."""
    rows_per_person: int
    max_rows: int
    """``rows_per_person``, ``max_rows``: of a person, and of the data set, at most."""
    time: datetime
    engine_version: str

    @property
    def words(self) -> str:
        """All of it, in sentences."""
        named = ", ".join(f"'{name}'" for name in self.columns)
        lost = ", ".join(f"'{name}'" for name in self.left_out)
        beside = f", delta = {small(self.delta)}" if self.delta else ""
        return (
            f"Learned privately on {self.time:%Y-%m-%d} by Frostglass {self.engine_version}: facts of {named}. "
            f"Differentially private with epsilon = {_exact(self.epsilon)}{beside} for one person with at most "
            f"{self.rows_per_person} rows added or removed; the "
            f"budget is charged rho = {_exact(self.rho)}. Mechanisms: {'; '.join(self.mechanisms)}."
        ) + (f" No category of {lost} was frequent enough, so it is not stored." if lost else "")


def _exact(amount: Decimal) -> str:
    return f"{amount.normalize():f}"
