"""Bit kernels on plain lists of booleans."""

from __future__ import annotations

from collections.abc import Sequence

Flags = Sequence[bool]


def pack(flags: Flags, words: int) -> list[int]:
    """Words as integers, row ``r`` in bit ``r % 64`` of word ``r // 64``."""
    packed = [0] * words
    for row, flag in enumerate(flags):
        if flag:
            packed[row // 64] += 2 ** (row % 64)
    return packed


def conjunction(literals: Sequence[Flags], members: Sequence[int]) -> list[bool]:
    """Rows that satisfy every literal in ``members``."""
    return [all(literals[m][row] for m in members) for row in range(len(literals[0]))]


def count_both(vector: Flags, mask: Flags) -> int:
    """Rows in both."""
    return sum(1 for a, b in zip(vector, mask, strict=True) if a and b)


def capture(rule: Flags, labels: Sequence[int | None], remaining: Flags, classes: int) -> tuple[list[int], list[bool]]:
    """Captured rows per class, and rows left over; a label of None is in no class."""
    counts = [0] * classes
    after = list(remaining)
    for row, present in enumerate(remaining):
        if present and rule[row]:
            after[row] = False
            counts[labels[row]] += 1
    return counts, after
