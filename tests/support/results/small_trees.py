"""Trees made by hand, for what shows and reads them."""

from __future__ import annotations

from decimal import Decimal

import numpy as np

from dpcore.domain.conditions import Condition
from dpcore.models.trees.learning.growth import Grown, freeze
from dpcore.models.trees.released.forest_model import ForestModel
from dpcore.models.trees.released.splits import split_on
from dpcore.models.trees.released.tree_model import TreeModel
from tests.support.tables.small_tables import ward

COLUMNS = ("first", "second", "third", "fourth", "fifth", "sixth")
SCHEMA = ward(
    *({"name": name, "type": "boolean"} for name in COLUMNS),
    {"name": "died", "type": "boolean", "target": True},
    {"name": "ward", "type": "categorical", "categories": ["<b>A</b>", "B & C", "D"]},
    name="questions",
    max_rows=5000,
)


def full_tree(
    depth: int,
    *,
    folded_at: int | None = None,
    target: str = "died",
    seed: int = 0,
    columns: tuple[str, ...] = COLUMNS,
) -> TreeModel:
    """A tree that asks one column per level; every second node of a level may be folded."""
    draw = np.random.default_rng(seed)
    classes = SCHEMA.column(target).classes

    def grow(level: int, place: int) -> Grown:
        if level == depth:
            counts = draw.integers(-5, 200, len(classes))
            return Grown(spent=Decimal("0.2"), noisy_counts=counts, count_epsilon=Decimal("0.2"))
        split = split_on(Condition(column=columns[level], first=1, last=1), SCHEMA.column(columns[level]))
        children = [grow(level + 1, 2 * place + side) for side in (0, 1)]
        folded = level == folded_at and place % 2 == 0
        return Grown(split=split, children=children, spent=Decimal("0.1"), collapsed=folded)

    return freeze(grow(0, 0), SCHEMA, classes, Decimal(1))


def small_forest(trees: int = 3, target: str = "died") -> ForestModel:
    """Trees of different depth and columns."""
    grown = tuple(full_tree(1 + i % 3, target=target, seed=i, columns=COLUMNS[i % 2 :]) for i in range(trees))
    return ForestModel(classes=grown[0].classes, trees=grown, sharing="parts", budget=Decimal(1))
