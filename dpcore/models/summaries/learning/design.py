"""How much noise each table gets, so that the error over all cells that are told is smallest."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import lru_cache
from typing import Final

import numpy as np

from dpcore.models.summaries.released.estimates import Axes, cells_beside, parts_of, spread

#: Shares are whole multiples of one in so many: equal on every machine.
PARTS: Final = 2_000
_ROUNDS: Final = 120
#: A table whose share is below this, and of which others tell every part, is not asked for.
_LEAST: Final = 0.2


@lru_cache(maxsize=64)
def shares_of(sizes: tuple[int, ...], wanted: tuple[tuple[Axes, float], ...], *, gaussian: bool) -> dict[Axes, int]:
    """Share of the budget of each table, in parts; 0 of one that others tell well enough.

    The sum over all cells that are wanted of importance times standard deviation is made smallest,
    by multiplicative steps along its gradient.

    Parameters
    ----------
    sizes : tuple of int
        Cells of each axis.
    wanted : tuple of (axes, float)
        Tables, and how important an error in one of their cells is.
    gaussian : bool
        Whether the precision of a table grows with its share, as with Gaussian noise; else with
        the square of it.
    """
    tables = [axes for axes, _ in wanted]
    parts = list(dict.fromkeys(part for axes in tables for part in parts_of(axes)))
    place = {part: number for number, part in enumerate(parts)}
    told, moved = np.zeros((len(parts), len(tables))), np.zeros((len(tables), len(parts)))
    for number, axes in enumerate(tables):
        for part in parts_of(axes):
            told[place[part], number] = 1 / cells_beside(sizes, axes, part)
            moved[number, place[part]] = spread(sizes, axes, part)
    weights = np.array([importance * cells_beside(sizes, axes, ()) for axes, importance in wanted])
    share = np.full(len(tables), 1 / len(tables))
    for _ in range(_ROUNDS):
        precision = told @ (share if gaussian else share**2)
        deviations = np.sqrt(moved @ (1 / precision))
        gain = told.T @ ((weights / (2 * deviations)) @ moved / precision**2)
        share *= np.sqrt(gain * (1.0 if gaussian else 2 * share))
        share = np.maximum(share / share.sum(), 1e-9)
    return _rounded(tables, share)


def _rounded(tables: Sequence[Axes], share: np.ndarray) -> dict[Axes, int]:
    """Whole parts; what is hardly asked for is left to the tables that hold all its parts."""
    mean = 1 / len(tables)
    within = [any(set(own) < set(other) for other in tables) for own in tables]
    kept = {
        axes: max(1, round(float(own) * PARTS * len(tables)))
        for axes, own, spare in zip(tables, share, within, strict=True)
        if not (spare and own < _LEAST * mean)
    }
    return {axes: kept.get(axes, 0) for axes in tables}


def asked(shares: Mapping[Axes, int]) -> list[Axes]:
    """The tables that are asked for."""
    return [axes for axes, own in shares.items() if own]
