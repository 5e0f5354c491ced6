"""True values of a released list, for data sets marked public only."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from dpcore.release import Release
from dpcore.schema import MISSING
from pages.components import access


@dataclass(frozen=True)
class Truth:
    """True counts per rule and class over all public records."""

    counts: tuple[tuple[int, ...], ...]

    def share(self, rule: int, label: int) -> float | None:
        """True share of a class among the people a rule catches; ``None`` if it catches nobody."""
        total = sum(self.counts[rule])
        return self.counts[rule][label] / total if total else None


def of_release(release: Release, model: Any) -> Truth:
    """Apply a released list to the public records that it was learned from.

    Raises
    ------
    RequestError
        If the data set is not marked public: the service refuses.
    """
    from dpcore.encoding import encode

    frame = access.service().true_table(release.dataset_id).replace(MISSING, None)
    caught = model.predict_rules(frame, release.domain)
    target = encode(release.domain.column(release.target), frame[release.target])[0]
    counts = np.zeros((len(model.rules), len(model.classes)), dtype=int)
    known = target < len(model.classes)
    np.add.at(counts, (caught[known], target[known].astype(int)), 1)
    return Truth(tuple(tuple(int(n) for n in row) for row in counts))
