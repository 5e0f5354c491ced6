"""Identifiers that are alike, by comparing each with each."""

from __future__ import annotations

from collections.abc import Callable, Iterable


def alike_by_pairs(ids: Iterable[str], plain: Callable[[str], tuple[str, int]]) -> tuple[int, int]:
    """How many identifiers are like another one, and how many groups of such there are."""
    known = sorted(ids)
    groups = {tuple(two for two in known if plain(two)[0] == plain(one)[0]) for one in known}
    several = [group for group in groups if len(group) > 1]
    return sum(map(len, several)), len(several)
