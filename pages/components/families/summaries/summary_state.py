"""What a visitor reads of a first look: worked out once, remembered."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any
from zlib import crc32

import streamlit as st

from dpcore.models.summaries.released.association import associations, most_notable_first
from dpcore.models.summaries.released.reading import readings
from dpcore.models.summaries.released.synthesis import expected_errors
from dpcore.models.summaries.released.table_one import differences, table_one
from dpcore.released.release import Release

#: Results that are remembered in a session, each with all that was read of it.
_MOST_REMEMBERED = 4
_MEMORY = "summaries-read"
#: What comes first among the columns.
IN_ORDER, STANDING_OUT = "As in the data set", "What stands out first"


@dataclass(frozen=True)
class Look:
    """A first look as it is read now.

    Attributes
    ----------
    truth : sequence of array or None
        True counts of each column, if they are public and wanted.
    """

    release: Release
    model: Any
    truth: Sequence[Any] | None
    key: str

    @property
    def schema(self) -> Any:
        """In the labels of people."""
        return self.release.domain

    @property
    def readings(self) -> list[Any]:
        """What is told of each column."""
        made: list[Any] = self._once("readings", lambda: readings(self.model, self.schema))
        return made

    @property
    def table_one(self) -> Any:
        """Columns by groups."""
        return self._once("table one", lambda: table_one(self.model, self.schema))

    @property
    def associations(self) -> list[Any]:
        """Pairs that were counted, the strongest first."""
        made: list[Any] = self._once("associations", lambda: associations(self.model))
        return made

    @property
    def seed(self) -> int:
        """Of the invented records of this release: the same each time."""
        return crc32(self.release.id.encode())

    def invented_errors(self, rows: int) -> dict[str, float]:
        """How far shares of so many invented records are off, and how many pairs they follow."""
        made: dict[str, float] = self._once(
            f"invented errors {rows}", lambda: expected_errors(self.model, rows, self.seed)
        )
        return made

    @property
    def differences(self) -> dict[int, Any]:
        """Standardised difference between the groups, of each column by its place; empty without groups."""
        if self.model.by is None:
            return {}
        made: dict[int, Any] = self._once("differences", lambda: differences(self.model, self.schema))
        return made

    def order(self) -> list[int]:
        """Places of the columns in the order that was chosen."""
        if st.session_state.get(order_key(self.key)) != STANDING_OUT:
            return list(range(len(self.readings)))
        made: list[int] = self._once(
            "order", lambda: most_notable_first(self.model.by, self.differences, self.readings)
        )
        return made

    def truth_of(self, place: int) -> Any | None:
        """True counts of one column, if they are known."""
        return None if self.truth is None else self.truth[place]

    def _once(self, what: str, make: Callable[[], Any]) -> Any:
        memory = st.session_state.setdefault(_MEMORY, {})
        if self.release.id not in memory:
            while len(memory) >= _MOST_REMEMBERED:
                del memory[next(iter(memory))]
            memory[self.release.id] = {}
        own = memory[self.release.id]
        if what not in own:
            own[what] = make()
        return own[what]


def order_key(key: str) -> str:
    """Where the chosen order is kept."""
    return f"{key}-order"
