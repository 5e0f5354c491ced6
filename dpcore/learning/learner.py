"""What every learner is: it plans on public inputs, and runs on a table."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable
from decimal import Decimal
from typing import Any, ClassVar

from pydantic import BaseModel

from dpcore.domain.schema import Schema
from dpcore.privacy.randomness import RandomSource
from dpcore.released.family import ReleasedFamily
from dpcore.released.plan import RunPlan

#: Called with a step name and how many of how many equal units of that step are done. The
#: sequence of calls depends on public inputs, and on nothing else that will not be released.
Progress = Callable[[str, int, int], None]


def no_progress(step: str, done: int, total: int) -> None:
    """Ignore progress."""


class Learner(ABC):
    """One algorithm, as the service sees it: the side of a family that sees records."""

    #: What it releases, and all that is said of it.
    family: ClassVar[ReleasedFamily]

    @property
    def name(self) -> str:
        """Machine name, also the ``kind`` of its releases."""
        return self.family.name

    @property
    def title(self) -> str:
        """Name shown to people."""
        return self.family.title

    @property
    def targeted(self) -> bool:
        """Whether it predicts a column."""
        return self.family.targeted

    @property
    def parameters(self) -> type[BaseModel]:
        """Pydantic model of its parameters."""
        return self.family.parameters

    @abstractmethod
    def plan(self, schema: Schema, target: str, epsilon: Decimal, parameters: Any) -> RunPlan:
        """Validate a request and say what it costs. Raises ``RequestError``; sees no record."""

    @abstractmethod
    def run(
        self, table: Any, plan: RunPlan, randomness: RandomSource, progress: Progress
    ) -> BaseModel:
        """Spend the plan's budget on the table and return the released model."""
