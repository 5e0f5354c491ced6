"""What releases reveal about the records: sizes of groups. Post-processing: costs nothing.

Everything here is read off releases, which are public: nothing sees a stored record.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from dpcore.models.released import family_of, parse_model
from dpcore.released.evidence import Evidence, Groups
from dpcore.released.release import Release


@dataclass(frozen=True)
class Knowledge:
    """What one release reveals of the sizes of groups."""

    release: Release
    evidence: Evidence
    """How to read its model."""
    groups: tuple[Groups, ...]
    rows: float
    """Records of all parts together, with noise."""

    @property
    def model(self) -> Any:
        """The released model."""
        return self.evidence.model


def read(release: Release) -> Knowledge:
    """Read the groups off a release of any family."""
    evidence = family_of(release).evidence(parse_model(release))
    groups = tuple(evidence.groups())
    totals = [float(group.counts.sum()) for group in groups]
    rows = float((np.sum if evidence.apart else np.median)(totals)) if totals else 0.0
    if release.parameters.get("evaluate", False):
        rows /= 1 - release.domain.holdout_percent / 100
    return Knowledge(release, evidence, groups, rows)
