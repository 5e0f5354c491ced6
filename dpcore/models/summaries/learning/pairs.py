"""Which pairs of columns go together, chosen privately."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from typing import Final

import numpy as np

from dpcore.arrays import Ints
from dpcore.learning.learner import Run
from dpcore.models.summaries.learning.accounting import Noise
from dpcore.models.summaries.learning.summary_queries import table_counts
from dpcore.models.summaries.learning.summary_workload import COMPARING
from dpcore.models.summaries.released.estimates import Estimates, Pair

#: Steps per record of an expected count: differences are whole numbers of them, exactly.
STEPS: Final = 16
#: Mean size of a standard normal variable.
_MEAN_SIZE: Final = math.sqrt(2 / math.pi)
#: Cells that are counted at once.
_AT_ONCE: Final = 4_000_000


def find_pairs(run: Run, noise: Noise, known: Estimates) -> tuple[list[Pair], list[Ints]]:
    """Pairs, one after another by the exponential mechanism, with their exact tables.

    The utility of a pair is the sum of sizes of the differences between its table and the one that
    its columns would make if they had nothing to do with each other, by what was released of them;
    less what the noise on its counts will be, which is public.
    """
    division = noise.division
    tables = _all_tables(run, noise)
    if not division.chooses:
        return list(division.candidates), tables
    deviations = _deviations(noise)
    distances = np.array(
        [
            distance(table, known, pair) - round(STEPS * _MEAN_SIZE * deviations[pair] * table.size)
            for pair, table in zip(division.candidates, tables, strict=True)
        ],
        dtype=np.int64,
    )
    chooser, left = noise.chooser(STEPS), list(range(len(tables)))
    chosen = [left.pop(chooser.select(distances[left], run.randomness)) for _ in range(division.pairs)]
    return [division.candidates[own] for own in chosen], [tables[own] for own in chosen]


def _all_tables(run: Run, noise: Noise) -> list[Ints]:
    division, tables = noise.division, []
    for batch in batches(division.candidates, division.cells):
        tables += table_counts(run.table, division.axes, division.sizes, batch)
        run.progress(COMPARING, len(tables), len(division.candidates))
    return tables


def batches(pairs: Sequence[Pair], cells: Callable[[Pair], int]) -> list[list[Pair]]:
    """Pairs in their order, so many at once as have not too many cells."""
    made: list[list[Pair]] = [[]]
    room = _AT_ONCE
    for pair in pairs:
        own = cells(pair)
        if made[-1] and own > room:
            made.append([])
            room = _AT_ONCE
        made[-1].append(pair)
        room -= own
    return made


def distance(table: Ints, known: Estimates, pair: Pair) -> int:
    """Sum of sizes of the differences to a table of independent columns, in steps: a whole number."""
    rows, columns = (known.consistent((axis,)) for axis in pair)
    total = max(rows.sum(), 1.0)
    alone = np.rint(STEPS * np.outer(rows, columns) / total).astype(np.int64)
    return int(np.abs(STEPS * table - alone).sum())


def _deviations(noise: Noise) -> dict[Pair, float]:
    """Of each candidate, the noise on a count if it and others like it are found."""
    pairs = noise.division.pairs
    made = {}
    for pair in noise.division.candidates:
        cells = noise.division.cells(pair)
        if cells not in made:
            whole = noise.found([pair])[pair]
            # With a share of one in so many its noise is wider: by the root of them, or by all of them.
            made[cells] = noise.deviation(whole) * (math.sqrt(pairs) if noise.gaussian else pairs)
    return {pair: made[noise.division.cells(pair)] for pair in noise.division.candidates}
