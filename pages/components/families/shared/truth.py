"""True values of a release, for data sets marked public only."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import TypeVar

import streamlit as st

from dpcore.released.release import Release
from pages.components.kit import drawing
from pages.components.kit.markup import text
from pages.components.visitor import access

T = TypeVar("T")


@dataclass(frozen=True)
class Truth:
    """True counts per rule, node or group of votes, and class, of the public records used."""

    counts: tuple[tuple[int, ...], ...]

    def share(self, place: int, label: int) -> float | None:
        """True share of a class among the records of one place; ``None`` if there are none."""
        total = sum(self.counts[place])
        return self.counts[place][label] / total if total else None


def of_release(release: Release) -> Truth:
    """Ask the service, which refuses for private data."""
    return Truth(access.service().true_counts(release))


def ask(release: Release, key: str) -> Truth | None:
    """Offer true values beside noisy ones; ``None`` unless they are wanted."""
    return wanted(release, key, of_release)


def wanted(release: Release, key: str, read: Callable[[Release], T]) -> T | None:
    """What ``read`` tells of the public records, if the visitor wants it."""
    shown = st.toggle("Show true values beside noisy ones (public data only)", key=f"{key}-truth")
    with drawing.placeholder():
        if not shown:
            return None
        st.caption(text("true_values"))
        truth, problem = access.attempt(lambda: read(release))
        if problem:
            st.warning(problem)
    return truth
