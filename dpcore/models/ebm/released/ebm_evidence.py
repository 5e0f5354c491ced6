"""What a released boosting machine reveals of the records."""

from __future__ import annotations

from collections.abc import Iterator
from functools import partial

import numpy as np

from dpcore.arrays import Array, Floats, Ints
from dpcore.models.ebm.released.axis import Axis
from dpcore.models.ebm.released.ebm_model import Term
from dpcore.released.evidence import Evidence, Groups, Records


class EBMEvidence(Evidence):
    """How many records are in each bin, and what they score."""

    @property
    def number(self) -> bool:
        """Whether the machine predicts a number."""
        return bool(self.model.task == "regression")

    @property
    def additive(self) -> bool:
        """Machines add up scores."""
        return True

    def groups(self) -> Iterator[Groups]:
        """Records by the bins of each term."""
        for term in self.model.terms:
            counts = np.asarray(term.noisy_counts, dtype=np.float64)
            bins = term.axes[0] if len(term.axes) == 1 else None
            yield Groups(partial(_bin, term), counts, float(max(term.count_errors)), bins)

    def predicted(self, records: Records) -> Array:
        """Numbers within their bounds, or the likeliest class."""
        if self.number:
            return np.asarray(np.clip(self._scores(records)[:, 0], *self.model.bounds))
        return super().predicted(records)

    def probabilities(self, records: Records) -> Floats:
        """Class probabilities of the scores."""
        found: Floats = self.model.probabilities(self._scores(records))
        return found

    def _scores(self, records: Records) -> Floats:
        """Sum of the intercept and the terms: shape (n_rows, n_outputs)."""
        total = np.tile(np.asarray(self.model.intercept, dtype=np.float64), (records.rows, 1))
        for term in self.model.terms:
            total += np.asarray(term.scores)[_bin(term, records)]
        return total


def _bin(term: Term, records: Records) -> Ints:
    codes = np.zeros(records.rows, dtype=np.int64)
    for axis in term.axes:
        codes = codes * len(axis) + _bins(axis, records)
    return codes


def _bins(axis: Axis, records: Records) -> Ints:
    """Bin of each record on an axis."""
    if axis.edges is None:
        return np.asarray(axis.groups, dtype=np.int64)[records.cells(axis.column)]
    return axis.codes_of_numbers(records.main[axis.column].to_numpy(dtype=np.float64))
