"""What became of an attack."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class AttackResult:
    """One attack on one installation.

    Attributes
    ----------
    name, tried, seen : str
        What it is, what was tried, and what came of it.
    succeeded : bool
    """

    name: str
    tried: str
    seen: str
    succeeded: bool
