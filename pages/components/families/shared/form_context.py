"""What the form of a run is drawn for; read once for each drawing of a page."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from dpcore.domain.schemas.schema import Schema
from dpcore.released.release import Release
from dpcore.workspace.files.descriptions import DatasetInfo


@dataclass(frozen=True)
class FormContext:
    """A data set, and its results that the visitor may read.

    Attributes
    ----------
    dataset : DatasetInfo
    releases : sequence of Release
        Newest first.
    """

    dataset: DatasetInfo
    releases: Sequence[Release]

    @property
    def schema(self) -> Schema:
        """That of the data set."""
        return self.dataset.schema
