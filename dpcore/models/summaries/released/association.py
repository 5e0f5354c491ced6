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
    kept = {pair: tuple(_seen(own, axis) for axis in pair) for pair in pairs}
    told = {pair: _Told(own, pair, cells) for pair, cells in kept.items() if min(map(len, cells)) > 1}
    drawn: dict[Axes, list[tuple[Floats, Floats]]] = {pair: [] for pair in told}
    for again in own.redraws(seed) if told else ():
        for pair, one in told.items():
            drawn[pair].append(one.moved(again))
    found = [
        Association(pair, told[pair].strength(drawn[pair]) if pair in told else Amount(0.0, 0.0, 1.0)) for pair in pairs
    ]
    return sorted(found, key=lambda one: -one.strength.value)


class _Told:
    """A table of some cells of two axes, of which Cramér's V is told."""

    def __init__(self, own: Estimates, pair: Axes, kept: tuple[list[int], ...]) -> None:
        self.pair, self.kept, self.variance = pair, kept, own.deviation(pair) ** 2
        self.table = self._of(own)

    def moved(self, drawn: Estimates) -> tuple[Floats, Floats]:
        """What other noise makes of it, and of a table of independence: shape (n_draws,) each."""
        again = self._of(drawn)
        alone = _independent(self.table) + again - self.table
        # What is drawn carries the noise of the release, and its own on top.
        return cramer_v(again, 2 * self.variance), cramer_v(alone, self.variance)

    def strength(self, drawn: list[tuple[Floats, Floats]]) -> Amount:
        """Cramér's V with its interval."""
        again, alone = (np.concatenate(one) for one in zip(*drawn, strict=True))
        return turned(float(cramer_v(self.table, self.variance)), again, most=1.0, alone=alone)

    def _of(self, estimates: Estimates) -> Floats:
        return np.asarray(estimates.table(self.pair)[..., self.kept[0], :][..., self.kept[1]])


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
