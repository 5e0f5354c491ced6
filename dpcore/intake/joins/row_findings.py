"""What rows as such would lose in a table, as their order. For the custodian's eyes only, as :mod:`examination` is."""

from __future__ import annotations

from dataclasses import asdict, dataclass, field
from hashlib import sha256
from typing import Any, ClassVar, Final

import numpy as np

from dpcore.data.building.row_buffer import has_order
from dpcore.domain.encoding import Block, people_of
from dpcore.domain.schemas.schema import ChildTable, Schema
from dpcore.intake.columns.corrections import Correction

#: Share of the values that are not missing that a column may lose without an explicit yes.
SHARE_LOST: Final = 0.05


def yes_to(place: str, told: str) -> str:
    """What accepts the loss that a sentence tells, and no other one of the same place; it quotes no value."""
    return f"{place} {sha256(told.encode('utf-8', 'surrogatepass')).hexdigest()[:16]}"


@dataclass(frozen=True)
class RowFinding:
    """What is to be known about the rows of a table."""

    place: str
    """By which name the loss is accepted."""
    sentence: str
    """What would be lost, and what to do."""
    needs_yes: bool
    """Whether the table is stored on an explicit yes only."""
    corrections: list[Correction] = field(default_factory=list)
    """What would mend it."""
    of_values: ClassVar[bool] = False

    @property
    def yes(self) -> str:
        """What accepts this loss, and no other one of the place."""
        return yes_to(self.place, self.sentence)

    @property
    def loses(self) -> bool:
        """Whether many rows would lose something."""
        return self.needs_yes

    def written(self) -> dict[str, object]:
        """The finding as JSON can hold it."""
        return asdict(self)

    @classmethod
    def read(cls, content: dict[str, Any]) -> RowFinding:
        """What :meth:`written` gave."""
        return cls(**content | {"corrections": [Correction(**each) for each in content["corrections"]]})


class OrderTally:
    """Counts the rows of a table that its ``order_by`` does not put in order.

    Parameters
    ----------
    table : str
        Name of the child table; empty for the main one.
    """

    def __init__(self, table: str, declared: Schema | ChildTable) -> None:
        keeping = declared.keeping
        self._column = keeping.order_by if has_order(declared) else None
        self._written, self._place = keeping.order_format, f"{table}.{self._column}" if table else self._column
        self._rows = self._missing = self._lost = 0
        self._example: str | None = None

    def add(self, block: Block) -> None:
        """Count the rows of a block; what is absent, the ingestion says."""
        if self._column is None or self._column not in block.frame.columns:
            return
        self._rows += len(block)
        without = np.isnan(block.order(self._column, self._written))
        strange = people_of(block.frame[self._column][without]).dropna()
        self._missing += int(without.sum()) - len(strange)
        self._lost += len(strange)
        if len(strange):
            least = min(strange)
            self._example = least if self._example is None else min(self._example, least)

    def findings(self) -> list[RowFinding]:
        """One, if there is something to say."""
        known = self._rows - self._missing
        if not self._lost and (known or not self._rows):
            return []
        what = f"in {self._lost:,} of the {known:,} rows with a value, such as {self._example!r}"
        advice = "say how its dates are written ('order_format'), or name another column"
        sentence = (
            f"'{self._place}' tells no order {what if known else 'at all, since every value is missing'}: {advice}. "
            "Else chance decides which of these rows come first and last."
        )
        return [RowFinding(str(self._place), sentence, self._lost > SHARE_LOST * known or not known)]
