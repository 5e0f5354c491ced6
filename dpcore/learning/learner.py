"""What every learner is: it plans on public inputs, and runs on a table."""

from __future__ import annotations

from collections.abc import Callable
from decimal import Decimal
from typing import Any, Protocol

from pydantic import BaseModel

from dpcore.domain.schema import Schema
from dpcore.privacy.randomness import RandomSource
from dpcore.released.plan import RunPlan

#: Called with a step name and how many of how many equal units of that step are done. The
#: sequence of calls depends on public inputs, and on nothing else that will not be released.
Progress = Callable[[str, int, int], None]


def no_progress(step: str, done: int, total: int) -> None:
    """Ignore progress."""


class Learner(Protocol):
    """One algorithm, as the service sees it."""

    #: Machine name, also the ``kind`` of its releases.
    name: str
    #: Name shown to people.
    title: str
    #: Whether it predicts a column. One that does not takes the empty target, and the columns
    #: of its two views are ``left`` and ``right`` of its plan's parameters.
    targeted: bool
    #: Pydantic model of its parameters.
    parameters: type[BaseModel]

    def plan(self, schema: Schema, target: str, epsilon: Decimal, parameters: Any) -> RunPlan:
        """Validate a request and say what it costs. Raises ``RequestError``; sees no record."""
        ...

    def run(
        self, table: Any, plan: RunPlan, randomness: RandomSource, progress: Progress
    ) -> BaseModel:
        """Spend the plan's budget on the table and return the released model."""
        ...
