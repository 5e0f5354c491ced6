"""Stratified folds with a public seed, and the paired t test over them."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache

import numpy as np
import pandas as pd
from scipy.stats import ttest_rel

from benchmarks.datasets import BenchData, load
from dpcore.arrays import Flags, Floats32, Ints
from dpcore.data.building.ingest import frame_chunks, ingest
from dpcore.data.table import PrivateTable
from dpcore.domain.encoding import encode_columns
from dpcore.privacy.randomness import SeededRandom, permutation

#: False-alarm rate of one comparison.
ALPHA = 0.05
_SEED = 20_180


@dataclass(frozen=True)
class Encoded:
    """A whole data set as cell codes.

    Attributes
    ----------
    codes : array of shape (n_rows, n_columns)
        Cell codes of all columns but the target, in schema order.
    sizes : tuple of int
        Public number of cells of each column.
    labels : array of shape (n_rows,)
    """

    data: BenchData
    codes: Ints
    sizes: tuple[int, ...]
    labels: Ints

    @property
    def one_hot(self) -> Floats32:
        """One column per cell: shape (n_rows, sum of sizes)."""
        columns = zip(self.codes.T, self.sizes, strict=True)
        blocks = [np.eye(size, dtype=np.float32)[codes] for codes, size in columns]
        return np.concatenate(blocks, axis=1)


@dataclass(frozen=True)
class Fold:
    """One fold: training records as a table, test records as a frame with known classes."""

    encoded: Encoded
    table: PrivateTable
    training: Flags
    test: pd.DataFrame

    @property
    def test_labels(self) -> Ints:
        """Class codes of the test records."""
        return self.encoded.labels[~self.training]


@lru_cache(maxsize=1)
def encoded(name: str) -> Encoded:
    """Load a data set and encode it."""
    data = load(name)
    columns = [column for column in data.schema if column.name != data.target]
    codes = encode_columns(data.frame, data.schema, [column.name for column in data.schema])
    return Encoded(
        data,
        np.stack([codes[column.name] for column in columns], axis=1),
        tuple(len(column.cells) for column in columns),
        codes[data.target],
    )


def fold_numbers(labels: Ints, count: int, repeat: int) -> Ints:
    """Fold of each record: every class spread evenly, shuffled by the public seed and ``repeat``.

    Shape (n_rows,), numbers below ``count``.
    """
    order = permutation(SeededRandom(_SEED + repeat), len(labels))
    by_class = order[np.argsort(labels[order], kind="stable")]
    numbers = np.empty(len(labels), dtype=np.int64)
    numbers[by_class] = np.arange(len(labels)) % count
    return numbers


@lru_cache(maxsize=1)
def fold(name: str, count: int, repeat: int, number: int) -> Fold:
    """Set one fold apart and ingest the others."""
    whole = encoded(name)
    training = fold_numbers(whole.labels, count, repeat) != number
    frame = whole.data.frame
    randomness = SeededRandom(_SEED + number)
    table = ingest(frame_chunks(frame[training]), whole.data.schema, randomness)
    return Fold(whole, table, training, frame[~training])


def p_value(first: Sequence[float], second: Sequence[float]) -> float:
    """Two-sided paired t test over folds; 1 if they never differ, NaN for a single fold."""
    if len(first) < 2:
        return math.nan
    gaps = np.subtract(first, second)
    if np.ptp(gaps) == 0:
        return 1.0 if gaps[0] == 0 else 0.0
    return float(ttest_rel(first, second).pvalue)


def verdict(first: Sequence[float], second: Sequence[float]) -> str:
    """``+`` if ``first`` is significantly better, ``-`` if worse, ``=`` otherwise."""
    if not p_value(first, second) < ALPHA:
        return "="
    return "+" if float(np.mean(first)) > float(np.mean(second)) else "-"
