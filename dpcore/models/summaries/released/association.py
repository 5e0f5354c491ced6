"""How strongly two columns go together, from a noisy table of both."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

import numpy as np

from dpcore.arrays import Floats
from dpcore.models.summaries.released.estimates import Axes, Estimates
from dpcore.models.summaries.released.model import SummaryModel
from dpcore.models.summaries.released.reading import Amount
from dpcore.models.summaries.released.turned import turned

#: A category is left out if its count is below so many deviations of the noise on it.
_SEEN: Final = 3.0
_DRAWS: Final = 200


@dataclass(frozen=True)
class Association:
    """Two axes and Cramér's V: 0 if they have nothing to do with each other, 1 if one follows the other."""

    axes: Axes
    strength: Amount


def associations(model: SummaryModel, seed: int = 1) -> list[Association]:
    """All pairs that were counted, the strongest first. What noise adds on average is taken off.

    Where noise hides all but one category of a column, nothing is told: anything from 0 to 1 fits.
    """
    own, pairs = model.estimates, model.pairs
    if not pairs:
        return []
    drawn = own.redrawn(_DRAWS, seed)
    found = []
    for pair in pairs:
        kept = [_seen(own, axis) for axis in pair]
        value, again = float(cramer_v(own, pair, kept)), cramer_v(drawn, pair, kept)
        told = min(map(len, kept)) > 1
        found.append(Association(pair, turned(value, again, most=1.0) if told else Amount(0.0, 0.0, 1.0)))
    return sorted(found, key=lambda one: -one.strength.value)


def cramer_v(own: Estimates, pair: Axes, kept: list[list[int]]) -> Floats:
    """Cramér's V among some cells of both axes: shape (...), as the tables have."""
    table = own.table(pair)
    if min(map(len, kept)) < 2:
        return np.zeros(table.shape[:-2])
    table = table[..., kept[0], :][..., kept[1]]
    rows, columns = (np.maximum(table.sum(axis=axis, keepdims=True), 1.0) for axis in (-1, -2))
    total = np.maximum(table.sum(axis=(-1, -2), keepdims=True), 1.0)
    alone = np.maximum(rows * columns / total, 1.0)
    by_noise = own.deviation(pair) ** 2 * (1 - 1 / len(kept[0])) * (1 - 1 / len(kept[1]))
    square = (((table - alone) ** 2 - by_noise) / alone).sum(axis=(-1, -2))
    most = total[..., 0, 0] * (min(map(len, kept)) - 1)
    return np.asarray(np.minimum(1.0, np.sqrt(np.maximum(square, 0.0) / most)))


def _seen(own: Estimates, axis: int) -> list[int]:
    counts, deviation = own.table((axis,)), own.deviation((axis,))
    return [place for place, count in enumerate(counts) if count > _SEEN * deviation]
