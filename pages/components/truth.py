"""True values of a released list, for data sets marked public only."""

from __future__ import annotations

from dataclasses import dataclass

from dpcore.release import Release
from pages.components import access


@dataclass(frozen=True)
class Truth:
    """True counts per rule and class of the public records that a list was learned from."""

    counts: tuple[tuple[int, ...], ...]

    def share(self, rule: int, label: int) -> float | None:
        """True share of a class among the records of a rule; ``None`` if there are none."""
        total = sum(self.counts[rule])
        return self.counts[rule][label] / total if total else None


def of_release(release: Release) -> Truth:
    """Ask the service, which refuses for private data."""
    return Truth(access.service().true_counts(release))
