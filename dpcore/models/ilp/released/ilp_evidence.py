"""What a released theory reveals of the records."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from dpcore.arrays import Array, Floats, Ints
from dpcore.released.evidence import Evidence, Groups, Records, by_class


class ILPEvidence(Evidence):
    """How many records each clause covers first, and their classes."""

    def groups(self) -> Iterator[Groups]:
        """Records by the first clause that covers them."""
        yield by_class(self._clause, self.model.groups, self.model.count_margin)

    def columns(self) -> set[str]:
        """Columns of the atoms."""
        return {atom.column for clause in self.model.clauses for atom in clause.atoms}

    def probabilities(self, records: Records) -> Floats:
        """Estimates of the first clause that covers a record."""
        return np.array([g.estimates for g in self.model.groups])[self._clause(records)]

    def predicted(self, records: Records) -> Array:
        """Label of the first clause that covers a record."""
        return np.asarray(self.model.labels)[self._clause(records)]

    def _clause(self, records: Records) -> Ints:
        model = self.model
        return records.once(model, lambda: model.first_clause(records.tables, records.schema))
