"""What a visitor reads of released redescriptions: found once, remembered, one of them chosen."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any, Self

import streamlit as st

from dpcore.models.redescriptions.released.reading import exact_agreement
from dpcore.released.release import Release

#: Readings that are remembered in a session; each may hold thousands of redescriptions.
_MOST_REMEMBERED = 4
_MEMORY = "redescriptions-read"
#: What comes first among those that are kept.
JACCARD, GAIN = "Jaccard index", "Gain over chance"
#: What tells a redescription from all others, whatever is asked for.
Identity = tuple[int, tuple[int, ...], tuple[int, ...]]


def remembered(release: Release, model: Any, constraints: Any) -> Any:
    """Redescriptions under some constraints; read off the release once in a session."""
    memory = st.session_state.setdefault(_MEMORY, {})
    wanted = (release.id, constraints)
    if wanted not in memory:
        with st.spinner("Reading the released trees …"):
            found = model.extract(release.domain, constraints)
        while len(memory) >= _MOST_REMEMBERED:
            del memory[next(iter(memory))]
        memory[wanted] = found
    return memory[wanted]


def identity(item: Any) -> Identity:
    """Pair of trees and leaves of both sides."""
    return item.pair, item.left_leaves, item.right_leaves


@dataclass(frozen=True)
class Reading:
    """Released redescriptions as they are read now.

    Attributes
    ----------
    threshold : float
        Noisy support from which they are kept.
    kept : tuple
        Those that are, best first: by what the Jaccard index exceeds chance by, or by the index.
    exact : tuple or None
        Exact numbers of every one that was found, if they are public and wanted.
    """

    release: Release
    model: Any
    found: Any
    threshold: float
    kept: tuple[Any, ...]
    exact: tuple[Any, ...] | None
    key: str

    @classmethod
    def of(
        cls,
        release: Release,
        model: Any,
        found: Any,
        threshold: float,
        tables: Sequence[Any] | None,
        key: str,
    ) -> Self:
        """Take those above the threshold; ``tables`` are the exact ones of public records."""
        exact = None if tables is None else exact_agreement(tables, found.found)
        kept = found.pruned(threshold)
        if st.session_state.get(order_key(key)) == JACCARD:
            kept = tuple(sorted(kept, key=lambda item: -item.jaccard))
        return cls(release, model, found, threshold, kept, exact, key)

    @cached_property
    def places(self) -> dict[Identity, int]:
        """Position of each redescription among those that were found."""
        return {identity(item): place for place, item in enumerate(self.found.found)}

    @property
    def chosen(self) -> Any | None:
        """The one to read: what was chosen last, else the best that is kept, if there is any."""
        wanted = st.session_state.get(choice_key(self.key))
        if wanted in self.places:
            return self.found.found[self.places[wanted]]
        return self.kept[0] if self.kept else None

    def exact_of(self, item: Any) -> Any | None:
        """Exact numbers of one of them, if they are known."""
        return None if self.exact is None else self.exact[self.places[identity(item)]]


def choice_key(key: str) -> str:
    """Where the one that the visitor wants to read is kept."""
    return f"{key}-wanted"


def order_key(key: str) -> str:
    """Where the chosen order is kept."""
    return f"{key}-order"


def turn_key(key: str) -> str:
    """Where choices made outside the table are counted."""
    return f"{key}-turn"


def choose(item: Any, key: str) -> None:
    """Read this one. For use in callbacks."""
    st.session_state[choice_key(key)] = identity(item)


def forget_row(key: str) -> None:
    """Take the mark off the row of the table. For use in callbacks."""
    st.session_state[turn_key(key)] = st.session_state.get(turn_key(key), 0) + 1
