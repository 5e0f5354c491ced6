"""Trees made by hand, with noisy counts that are known."""

from __future__ import annotations

from decimal import Decimal

import numpy as np

from dpcore.domain.conditions import Condition
from dpcore.models.trees.learning.growth import Grown, freeze
from dpcore.models.trees.released.splits import split_by_category, split_on
from tests.support.tables.small_tables import schema_of

SCHEMA = schema_of(
    [
        {"name": "age", "type": "integer", "lower": 0, "upper": 100, "edges": [30, 60]},
        {"name": "dose", "type": "real", "lower": 0.5, "upper": 2.5, "bins": 2},
        {"name": "odor", "type": "categorical", "categories": ["foul", "none", "or so"]},
        {"name": "size", "type": "ordinal", "categories": ["low", "mid", "high"]},
        {"name": "one", "type": "categorical", "categories": ["only"]},
        {"name": "smoker", "type": "boolean"},
        {"name": "ill", "type": "boolean", "target": True},
        {"name": "stage", "type": "categorical", "categories": ["i", "ii", "iii"]},
    ],
    max_rows=500,
)


def split(column, first, last, schema=SCHEMA):
    return split_on(Condition(column=column, first=first, last=last), schema.column(column))


def leaf(*counts, label=None, cost="0.5"):
    return Grown(spent=Decimal(cost), noisy_counts=np.array(counts), count_epsilon=Decimal(cost), label=label)


def inner(chosen, *children, **more):
    return Grown(split=chosen, children=list(children), spent=Decimal("0.25"), **more)


def tree(root, target="ill"):
    return freeze(root, SCHEMA, SCHEMA.column(target).classes, Decimal(2))


def sample():
    """Age, then odor; a folded split below."""
    folded = inner(split("smoker", 1, 1), leaf(4, 6), leaf(5, 5), collapsed=True)
    low = inner(split_by_category(SCHEMA.column("odor")), leaf(1, 9), leaf(8, 2), leaf(3, 3), folded)
    return tree(inner(split("age", 0, 1), low, leaf(2, 40)))


def paths(grown, above=()):
    """Nodes from the root of a growing tree to each end."""
    here = (*above, grown)
    if not grown.children:
        yield here
    for child in grown.children:
        yield from paths(child, here)
