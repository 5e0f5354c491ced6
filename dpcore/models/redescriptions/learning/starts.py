"""What the first tree of a search is grown for."""

from __future__ import annotations

from dataclasses import dataclass
from decimal import Decimal
from itertools import pairwise
from typing import Final

import numpy as np

from dpcore.arrays import Words
from dpcore.data.partition import Partition
from dpcore.domain.columns import Column, View
from dpcore.domain.conditions import Condition
from dpcore.domain.schemas.schema import Schema
from dpcore.models.redescriptions.learning.redescription_queries import LEVERAGE
from dpcore.models.redescriptions.learning.views import VIEWS, Sets, Sides, literal_sets, opposite
from dpcore.privacy.mechanisms import ExponentialMechanism
from dpcore.privacy.randomness import RandomSource, uniforms

#: Most classes of a target; the cells of a longer column are put together evenly.
MOST_CLASSES: Final = 16


@dataclass(frozen=True)
class SearchStart:
    """Target of the first tree of a search.

    Attributes
    ----------
    view : str
        View of the first tree; the target is on the other one.
    text : str
        What the target is, in words.
    classes : Sets
        The records of each class, disjoint.
    """

    view: View
    text: str
    classes: Sets


def class_count(schema: Schema, columns: tuple[str, ...]) -> int:
    """Most classes of a target made from one of some columns."""
    cells: list[int] = [len(schema.column(name).cells) for name in columns]
    return min(MOST_CLASSES, max(cells))


def random_start(sides: Sides, randomness: RandomSource) -> SearchStart:
    """An attribute of either view at random, each of its public cells a class.

    As published, but for the classes: the paper reads bins off the records, so that one record
    may move the label of every other. Costs nothing: the choice does not look at records.
    """
    names = sides.columns["left"] + sides.columns["right"]
    name = names[int(uniforms(randomness, 1)[0] * len(names))]
    column = sides.table.schema.column(name)
    groups = tuple(Condition(column=name, first=first, last=last) for first, last in _groups(column))
    view = opposite("left" if name in sides.columns["left"] else "right")
    return SearchStart(view, name, literal_sets(groups))


def _groups(column: Column) -> list[tuple[int, int]]:
    """First and last cell of each class of a column."""
    edges = np.linspace(0, len(column.cells), min(MOST_CLASSES, len(column.cells)) + 1)
    bounds = np.rint(edges).astype(int)
    return [(int(a), int(b) - 1) for a, b in pairwise(bounds)]


def linked_start(
    sides: Sides,
    number: int,
    used: set[str],
    epsilon: Decimal,
    randomness: RandomSource,
) -> SearchStart:
    """A literal that goes with one of the other view, chosen by the exponential mechanism.

    Utility of a pair of literals: :func:`dpcore.models.redescriptions.learning.redescription_queries.leverages`.
    Columns in ``used`` are left out, as long as others remain, and those of the chosen pair are
    added: so searches begin in different places. Row-level cost: ``epsilon``.

    Parameters
    ----------
    number : int
        Number of the search: the first tree of even ones is on the left.
    """
    free = {view: _free(sides.literals[view], used) for view in VIEWS}
    table = sides.leverages[np.ix_(free["left"], free["right"])]
    mechanism = ExponentialMechanism(LEVERAGE.value, epsilon, LEVERAGE.monotone)
    chosen = divmod(mechanism.select(table.ravel(), randomness), table.shape[1])
    places = {view: free[view][place] for view, place in zip(VIEWS, chosen, strict=True)}
    used |= {sides.literals[view][place].column for view, place in places.items()}
    first: View = "left" if number % 2 == 0 else "right"
    other = opposite(first)
    literal = sides.literals[other][places[other]]
    return SearchStart(first, literal.text(sides.table.schema), Sets(_either, (literal,), 2))


def _either(partition: Partition, literal: Condition) -> Words:
    """The records that satisfy a literal, and those that do not."""
    holds, everyone = partition.literals([literal])[0], partition.members("all")
    return np.stack([holds, ~holds & everyone])


def _free(literals: tuple[Condition, ...], used: set[str]) -> list[int]:
    places = [place for place, item in enumerate(literals) if item.column not in used]
    return places or list(range(len(literals)))
