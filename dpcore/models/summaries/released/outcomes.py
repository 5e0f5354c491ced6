"""How one column follows all others together, by the pairs that it was counted in.

Records that follow pairs alone have the least structure that the pairs allow; real ones have more of it, which no
pair tells. So a part of the records gets the value that the pairs together make most likely, the others one by
chance; and all chances are fitted to the pairs again. The part is what the pairs together tell of the column: where
they tell nearly all, real records hardly ever leave it to chance. Post-processing: free.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

import numpy as np

from dpcore.arrays import Floats, Ints
from dpcore.models.summaries.released.estimates import Pair

_ROUNDS: Final = 20
_LEAST: Final = 1e-9


def outcomes(
    codes: Mapping[int, Ints], axis: int, tables: Mapping[Pair, Floats], generator: np.random.Generator
) -> Ints:
    """Cells of one axis for records whose other cells are known; those that they have, if no pair tells of it.

    Parameters
    ----------
    codes : mapping of int to array of shape (n_records,)
    tables : mapping of (int, int) to array
        Counts of two axes.
    """
    told = [
        (codes[pair[1] if pair[0] == axis else pair[0]], table.T if pair[0] == axis else table)
        for pair, table in tables.items()
        if axis in pair
    ]
    if not told:
        return codes[axis]
    classes = told[0][1].shape[1]
    even = np.full((classes, len(codes[axis])), 1 / classes)
    chances = _fitted(even, told)
    part = sure(chances)
    likeliest = np.eye(classes)[:, chances.argmax(axis=0)]
    chances = _fitted((1 - part) * chances + part * likeliest, told)
    limits = np.cumsum(chances, axis=0)[:-1]
    return np.asarray((generator.random(chances.shape[1]) > limits).sum(axis=0))


def sure(chances: Floats) -> float:
    """Share of the records that follow the most likely value: of guesses wrong without the pairs, that right with them.

    Parameters
    ----------
    chances : array of shape (n_classes, n_records)

    Returns
    -------
    float
        From 0, if the pairs tell nothing, to 1, if they leave nothing open.
    """
    least, most = chances.mean(axis=1).max(), chances.max(axis=0).mean()
    return float((most - least) / max(1 - least, _LEAST))


def _fitted(chances: Floats, told: list[tuple[Ints, Floats]]) -> Floats:
    """Chances with which the records have the pairs, by alternate scaling.

    Parameters
    ----------
    chances : array of shape (n_classes, n_records)
        One class after the other, as sums and counts are quickest.
    told : list of (array of shape (n_records,), array of shape (n_cells, n_classes))
        Cells of another axis, and the counts of both.
    """
    shares = [(cells, (table / np.maximum(table.sum(axis=1, keepdims=True), _LEAST)).T) for cells, table in told]
    for _ in range(_ROUNDS):
        for cells, wanted in shares:
            now = np.stack([np.bincount(cells, own, wanted.shape[1]) for own in chances])
            found = now / np.maximum(now.sum(axis=0), _LEAST)
            chances = chances * ((wanted + _LEAST) / (found + _LEAST))[:, cells]
            chances /= chances.sum(axis=0)
    return chances
