"""Options that can be told apart: a browser sends back the words of what was chosen, not its place."""

from __future__ import annotations

from collections import Counter
from collections.abc import Hashable, Mapping
from typing import TypeVar

K = TypeVar("K", bound=Hashable)


def told_apart(words: Mapping[K, str]) -> dict[K, str]:
    """The same words; where several options read alike, all but the first are numbered."""
    seen: Counter[str] = Counter()
    told = {}
    for key, label in words.items():
        seen[label] += 1
        told[key] = label if seen[label] == 1 else f"{label} ({seen[label]})"
    return told
