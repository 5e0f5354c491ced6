"""Moves between rule lists: swap two rules, add one, delete one."""

from __future__ import annotations

import numpy as np

from dpcore.arrays import Floats, Ints
from dpcore.compiled import kernel


@kernel
def move_count(length: int, longest: int) -> int:
    """How many of swap, add and delete are possible."""
    return int(length >= 2) + int(length < longest) + int(length >= 1)


@kernel
def nth_unused(state: Ints, length: int, offset: int) -> int:
    """The ``offset``-th antecedent, in order, that is not in the list."""
    chosen = offset
    moved = True
    while moved:
        below = 0
        for j in range(length):
            if state[j] <= chosen:
                below += 1
        moved = chosen != offset + below
        chosen = offset + below
    return chosen


@kernel
def propose(state: Ints, length: int, antecedents: int, noise: Floats, proposal: Ints) -> int:
    """Write a proposal and return its length: swap, add or delete, uniform among the possible."""
    longest = len(state)
    for j in range(longest):
        proposal[j] = state[j]
    move = int(noise[0] * move_count(length, longest))
    if length < 2:
        move += 1
    if move >= 1 and length >= longest:
        move += 1
    if move == 0:
        first = int(noise[1] * length)
        second = int(noise[2] * (length - 1))
        if second >= first:
            second += 1
        proposal[first], proposal[second] = state[second], state[first]
        return length
    if move == 1:
        added = nth_unused(state, length, int(noise[1] * (antecedents - length)))
        place = int(noise[2] * (length + 1))
        for j in range(length, place, -1):
            proposal[j] = state[j - 1]
        proposal[place] = added
        return length + 1
    place = int(noise[1] * length)
    for j in range(place, length - 1):
        proposal[j] = state[j + 1]
    proposal[length - 1] = -1
    return length - 1


@kernel
def log_hastings(length: int, proposed: int, longest: int, antecedents: int) -> float:
    """Logarithm of Q(state | proposal) / Q(proposal | state).

    The position of an added rule is one of length + 1 and the deleted rule one of the same
    number, so these cancel; what is left is the choice of antecedent and of the kind of move.
    """
    result = np.log(move_count(length, longest)) - np.log(move_count(proposed, longest))
    if proposed > length:
        result += np.log(antecedents - length)
    elif proposed < length:
        result -= np.log(antecedents - proposed)
    return float(result)
