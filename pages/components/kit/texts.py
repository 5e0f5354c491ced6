"""Help texts, kept as Markdown files in ``assets/help``, words used in several places, and options told apart."""

from __future__ import annotations

from collections import Counter
from collections.abc import Hashable, Mapping
from functools import cache
from pathlib import Path
from typing import TypeVar

from dpcore.report.names import METHODS, STEPS, step_name

__all__ = ["ASSETS", "METHODS", "STEPS", "step_name", "text", "texts"]
ASSETS = Path(__file__).resolve().parents[3] / "assets"


@cache
def texts() -> Mapping[str, str]:
    """Every help text by name: that of a file, or ``topic_part`` for a part of a file about a topic."""
    found = {}
    for path in (ASSETS / "help").glob("*.md"):
        whole, *parts = f"\n{path.read_text(encoding='utf-8')}".split("\n## ")
        found[path.stem] = whole.strip()
        for part in parts:
            name, _, words = part.partition("\n")
            found[f"{path.stem}_{name}"] = words.strip()
    return {name: words for name, words in found.items() if words}


def text(name: str) -> str:
    """The help text called ``name``."""
    return texts()[name]


K = TypeVar("K", bound=Hashable)


def distinct_labels(words: Mapping[K, str]) -> dict[K, str]:
    """The same words; where several options read alike, all but the first are numbered."""
    seen: Counter[str] = Counter()
    told = {}
    for key, label in words.items():
        seen[label] += 1
        told[key] = label if seen[label] == 1 else f"{label} ({seen[label]})"
    return told
