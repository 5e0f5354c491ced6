"""Attacks on a whole installation, through its service and ledger: each must fail (``audit --attacks``)."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from dpcore.attacks.chains import chain_attack
from dpcore.attacks.learning import learning_attack
from dpcore.attacks.result import AttackResult

__all__ = ["ATTACKS", "AttackResult", "chain_attack", "learning_attack"]
#: Every attack, in its long form.
ATTACKS: Sequence[Callable[[], AttackResult]] = (chain_attack, learning_attack)
