"""What the Markov chains of all families share: the chance that a step is taken, and how a chain went."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Generic

from dpcore.arrays import Flags, Floats
from dpcore.compiled import kernel
from dpcore.privacy.randomness import State


@dataclass(frozen=True)
class Chain(Generic[State]):
    """A Metropolis-Hastings chain that has taken all its steps. Only ``final`` may be released.

    Attributes
    ----------
    final : object
        Last state.
    scores : array of shape (steps,)
        Log target after each step. For data sets marked public only.
    taken : array of bool, shape (steps,)
        Whether a step took its proposal. For data sets marked public only.
    """

    final: State
    scores: Floats
    taken: Flags


@kernel
def acceptance(odds: float) -> float:
    """Chance that a lazy chain takes a proposal of these log-odds: half of Metropolis's.

    With a chance of one half a step stays whatever is proposed, so no chain is periodic.
    """
    return 0.5 * math.exp(min(odds, 0.0))
