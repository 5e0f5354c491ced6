"""Schemas, trees and noise for tests of reading redescriptions."""

from __future__ import annotations

import numpy as np

from dpcore.arrays import Ints
from dpcore.domain.conditions import Condition
from dpcore.domain.schemas.schema import Schema
from dpcore.models.redescriptions.released.tree_pair import Tree, TreePair


def geometric(scale: float, shape: tuple[int, ...], seed: int) -> Ints:
    """Two-sided geometric noise, not from the engine."""
    draw, rate = np.random.default_rng(seed), 1 - np.exp(-1 / scale)
    return np.asarray(draw.geometric(rate, shape) - draw.geometric(rate, shape))


def exact_margin(scale: float, counts: int) -> int:
    """Smallest number that the sum of so many independent noises stays within, in 95 of 100 cases: worked out."""
    ratio, size = np.exp(-1 / scale), 2 ** int(np.ceil(np.log2(200 + 80 * scale * np.sqrt(counts))))
    angles = 2 * np.pi * np.arange(size) / size
    one = (1 - ratio) ** 2 / (1 - 2 * ratio * np.cos(angles) + ratio**2)
    chances = np.fft.ifft(one**counts).real
    within = chances[0] + 2 * np.concatenate([[0.0], np.cumsum(chances[1 : size // 2])])
    return int(np.argmax(within >= 0.95 - 1e-12))


def wide_schema(depth: int) -> Schema:
    """A yes/no column for every level of a tree on either side."""
    columns = [
        {"name": f"{view}_{level}", "type": "boolean", "view": view}
        for view in ("left", "right")
        for level in range(depth)
    ]
    return Schema.from_mapping({"name": "wide", "max_rows": 100_000, "columns": columns})


def level_tree(view: str, depth: int) -> Tree:
    """A tree that asks one column on every level, so that every leaf can be reached."""
    splits = [Condition(column=f"{view}_{level}", first=1, last=1) for level in range(depth) for _ in range(2**level)]
    return Tree(view=view, splits=tuple(splits))  # type: ignore[arg-type]


def pair_of(
    noisy: Ints,
    scale: float,
    noisy_left: Ints | None = None,
    left_scale: float | None = None,
) -> TreePair:
    """Trees of :func:`wide_schema` with these noisy counts."""
    left, right = (int(size).bit_length() - 1 for size in noisy.shape)
    return TreePair(
        start=0,
        round=0,
        target="a test",
        left=level_tree("left", left),
        right=level_tree("right", right),
        noisy_counts=tuple(tuple(int(count) for count in row) for row in noisy),
        count_scale=scale,
        noisy_left=None if noisy_left is None else tuple(int(count) for count in noisy_left),
        left_scale=left_scale,
    )
