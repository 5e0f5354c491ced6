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
    drawn, found = own.redrawn(_DRAWS, seed), []
    for pair in pairs:
        kept = tuple(_seen(own, axis) for axis in pair)
        told = min(map(len, kept)) > 1
        strength = _strength(own, drawn, pair, kept) if told else Amount(0.0, 0.0, 1.0)
        found.append(Association(pair, strength))
    return sorted(found, key=lambda one: -one.strength.value)


def _strength(own: Estimates, drawn: Estimates, pair: Axes, kept: tuple[list[int], ...]) -> Amount:
    """Cramér's V among some cells of both axes, with its interval."""
    table, again = (one.table(pair)[..., kept[0], :][..., kept[1]] for one in (own, drawn))
    variance = own.deviation(pair) ** 2
    value = float(cramer_v(table, variance))

    def alone() -> Floats:
        return cramer_v(_independent(table) + again - table, variance)

    # What is drawn carries the noise of the release, and its own on top.
    return turned(value, cramer_v(again, 2 * variance), most=1.0, alone=alone)


def cramer_v(table: Floats, variance: float) -> Floats:
    """Cramér's V of noisy tables, whose every count has noise of this variance: shape (...) of (..., rows, columns)."""
    height, width = table.shape[-2:]
    alone = np.maximum(_independent(table), 1.0)
    by_noise = variance * (1 - 1 / height) * (1 - 1 / width)
    square = (((table - alone) ** 2 - by_noise) / alone).sum(axis=(-1, -2))
    most = np.maximum(table.sum(axis=(-1, -2)), 1.0) * (min(height, width) - 1)
    return np.asarray(np.minimum(1.0, np.sqrt(np.maximum(square, 0.0) / most)))


def _independent(table: Floats) -> Floats:
    """What a table would be if rows and columns had nothing to do with each other."""
    rows, columns = (np.maximum(table.sum(axis=axis, keepdims=True), 1.0) for axis in (-1, -2))
    return np.asarray(rows * columns / np.maximum(table.sum(axis=(-1, -2), keepdims=True), 1.0))


def _seen(own: Estimates, axis: int) -> list[int]:
    counts, deviation = own.table((axis,)), own.deviation((axis,))
    return [place for place, count in enumerate(counts) if count > _SEEN * deviation]
