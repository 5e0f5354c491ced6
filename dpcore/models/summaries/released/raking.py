"""Weights of records with which they follow many tables at once, as surveys are weighted (Deming, Stephan 1940)."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

import numpy as np

from dpcore.arrays import Floats, Ints
from dpcore.models.summaries.released.estimates import Pair

_ROUNDS: Final = 25
#: Part of the way that one table moves weights, and the furthest: they settle where tables contradict each other.
_POWER: Final = 0.7
_FURTHEST: Final = 5.0


def raked(codes: Mapping[int, Ints], tables: Mapping[Pair, Floats]) -> Floats:
    """Weights of records, with mean 1.

    Parameters
    ----------
    codes : mapping of int to array of shape (n_records,)
        Cell of each record in each axis.
    tables : mapping of (int, int) to array
        Counts of two axes, with the same total each.
    """
    records = len(next(iter(codes.values())))
    weights = np.ones(records)
    flat = {pair: codes[pair[0]] * table.shape[1] + codes[pair[1]] for pair, table in tables.items()}
    shares = {pair: table.ravel() / max(float(table.sum()), 1.0) for pair, table in tables.items()}
    for _ in range(_ROUNDS):
        for pair, wanted in shares.items():
            found = np.bincount(flat[pair], weights, minlength=len(wanted)) / records
            ratio = np.divide(wanted, found, out=np.ones_like(wanted), where=found > 0)
            weights *= (np.clip(ratio, 1 / _FURTHEST, _FURTHEST) ** _POWER)[flat[pair]]
        weights *= records / weights.sum()
    return weights


def chosen(weights: Floats, count: int, generator: np.random.Generator) -> Ints:
    """Places of so many records, each as often as its weight asks but for rounding, in a random order."""
    below = np.cumsum(weights)
    points = (np.arange(count) + generator.random()) / max(count, 1) * below[-1]
    places = np.minimum(np.searchsorted(below, points, side="right"), len(weights) - 1)
    return generator.permutation(places)
