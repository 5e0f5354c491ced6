"""How far one row can move an answer."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal


@dataclass(frozen=True)
class Sensitivity:
    """How far one row can move the answer of a query."""

    value: int
    """Largest change, in the norm named, between neighbouring tables of the domain."""
    norm: Literal["L1", "L2", "Linf"]
    monotone: bool
    """Whether adding a row moves every entry in the same direction."""
