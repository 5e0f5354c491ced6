"""What became of an attack."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class AttackResult:
    """One attack on one installation."""

    name: str
    tried: str
    seen: str
    """``name``, ``tried``, ``seen``: what it is, what was tried, and what came of it."""
    succeeded: bool
