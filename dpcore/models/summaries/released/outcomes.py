"""How one column follows all others together, by the pairs that it was counted in.

Records that follow pairs alone have the least structure that the pairs allow; real ones have more of it, which no
pair tells. So a part of the records gets the value that the pairs together make most likely, the others one by
chance; and all chances are fitted to the pairs again. The part was chosen on public tables. Post-processing: free.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

import numpy as np

from dpcore.arrays import Floats, Ints
from dpcore.models.summaries.released.estimates import Pair

#: Share of the records that follow the most likely value.
SURE: Final = 0.8
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
    even = np.full((len(codes[axis]), classes), 1 / classes)
    chances = _fitted(even, told)
    sure = np.eye(classes)[chances.argmax(axis=1)]
    chances = _fitted((1 - SURE) * chances + SURE * sure, told)
    limits = np.cumsum(chances, axis=1)[:, :-1]
    return np.asarray((generator.random(len(chances))[:, None] > limits).sum(axis=1))


def _fitted(chances: Floats, told: list[tuple[Ints, Floats]]) -> Floats:
    """Chances with which the records have the pairs, by alternate scaling."""
    for _ in range(_ROUNDS):
        for cells, table in told:
            now = np.stack([np.bincount(cells, own, len(table)) for own in chances.T], axis=1)
            shares = table / np.maximum(table.sum(axis=1, keepdims=True), _LEAST)
            found = now / np.maximum(now.sum(axis=1, keepdims=True), _LEAST)
            chances = chances * ((shares + _LEAST) / (found + _LEAST))[cells]
            chances /= chances.sum(axis=1, keepdims=True)
    return chances
