"""Random 80/20 splits with a public seed, the same for every program, and what a fit scores."""

from __future__ import annotations

import time
from dataclasses import dataclass
from functools import lru_cache

import numpy as np
import pandas as pd
from sklearn.metrics import roc_auc_score

from benchmarks.datasets import BenchData, load
from dpcore.arrays import Flags, Floats
from dpcore.data.building.ingest import frame_chunks, ingest
from dpcore.data.table import PrivateTable
from dpcore.domain.columns import NumericColumn
from dpcore.privacy.randomness import SeededRandom, permutation

_SEED = 20_210
_TEST_SHARE = 0.2
AUC, RMSE = "AUC", "RMSE"


@dataclass(frozen=True)
class Whole:
    """A data set whose target is known for every record.

    Attributes
    ----------
    truth : array of shape (n_rows,)
        1 for the second class and 0 for the first, or the numeric target.
    bounds : (float, float) or None
        Public bounds of a numeric target.
    """

    data: BenchData
    truth: Floats
    bounds: tuple[float, float] | None

    @property
    def metric(self) -> str:
        """What predictions are scored by."""
        return AUC if self.bounds is None else RMSE

    def tests(self, splits: int) -> Flags:
        """Test records of each split: shape (n_splits, n_rows)."""
        return np.stack([_test_records(len(self.truth), number) for number in range(splits)])

    def score(self, test: Flags, predicted: Floats) -> float:
        """AUC or root mean squared error on the test records."""
        truth = self.truth[test]
        if self.bounds is None:
            return float(roc_auc_score(truth, predicted))
        return float(np.sqrt(np.mean((truth - predicted) ** 2)))


@dataclass(frozen=True)
class Split:
    """Training records, encoded, and test records.

    Attributes
    ----------
    seconds : float
        What encoding the training records took.
    """

    whole: Whole
    table: PrivateTable
    training: pd.DataFrame
    test: Flags
    seconds: float

    @property
    def test_frame(self) -> pd.DataFrame:
        """Test records with all columns."""
        return self.whole.data.frame[self.test]

    def score(self, predicted: Floats) -> float:
        """AUC or root mean squared error on the test records."""
        return self.whole.score(self.test, predicted)


@lru_cache(maxsize=1)
def whole(name: str) -> Whole:
    """Load a data set; records without a target are left out."""
    data = load(name)
    column = data.schema.column(data.target)
    frame = data.frame.dropna(subset=[data.target]).reset_index(drop=True)
    known = BenchData(name, frame, data.schema)
    if isinstance(column, NumericColumn):
        truth = pd.to_numeric(frame[data.target]).to_numpy(dtype=np.float64)
        return Whole(known, truth, (column.lower, column.upper))
    truth = (frame[data.target].astype(str) == column.classes[1]).to_numpy(dtype=np.float64)
    return Whole(known, truth, None)


def split(name: str, number: int) -> Split:
    """Set a fifth of the records apart and encode the others."""
    everything = whole(name)
    test = _test_records(len(everything.truth), number)
    training = everything.data.frame[~test]
    start = time.perf_counter()
    table = ingest(frame_chunks(training), everything.data.schema, SeededRandom(_SEED + number))
    return Split(everything, table, training, test, time.perf_counter() - start)


def _test_records(rows: int, number: int) -> Flags:
    order = permutation(SeededRandom(_SEED + number), rows)
    test = np.zeros(rows, dtype=np.bool_)
    test[order[: round(_TEST_SHARE * rows)]] = True
    return test
