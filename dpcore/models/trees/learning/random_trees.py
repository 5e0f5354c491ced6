"""Forests: trees drawn at random, and adaptive trees on random columns.

:func:`grow_random_forest` follows Jagannathan, Pillaipakkamnatt, Wright (2012);
:func:`grow_adaptive_forest` is RFDiffP (Borhan 2018, Algorithm 2, corrected). Proofs:
``docs/privacy/trees.md``.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from decimal import Decimal

from dpcore.domain.columns import Column
from dpcore.models.trees.learning.contingency import NodeData, Share
from dpcore.models.trees.learning.driver import Level, Place, grow
from dpcore.models.trees.learning.greedy import AttributeSampler, grow_adaptive
from dpcore.models.trees.learning.growth import Grown
from dpcore.models.trees.released.splits import Split
from dpcore.models.trees.released.tree_parameters import ForestSettings
from dpcore.privacy.randomness import RandomSource, permutation


@dataclass(frozen=True)
class GrownForest:
    """Trees that are still growing, with what each was given.

    Attributes
    ----------
    trees : list of Grown
    budgets : list of Decimal
        Row-level budget of each tree. They may sum to more than the whole: trees on parts
        cost their largest, and a tree passes on what it leaves.
    """

    trees: list[Grown]
    budgets: list[Decimal]


#: Called with the number of trees that are done.
Done = Callable[[int], None]


def _not_told(trees: int) -> None:
    """Nobody asks."""


def grow_adaptive_forest(
    data: NodeData,
    budget: Decimal,
    parameters: ForestSettings,
    randomness: RandomSource,
    done: Done = _not_told,
) -> GrownForest:
    """Grow the trees of an RFDiffP forest (Borhan 2018, Algorithm 2), unpruned.

    Guarantee: ``budget`` is the row-level epsilon, or rho, of all trees together.

    Deviation: a bootstrap sample may hold one record many times, which the noise does not
    cover. Instead each tree sees its own random part of the records with the whole budget
    (``sharing="parts"``), or all records with a part of the budget and what the trees before
    it left (``sharing="split"``).

    Raises
    ------
    BudgetError
        If the budget is too small for so many trees.
    """
    sampler = column_sampler(len(data.features), parameters.attributes, randomness)

    def one(part: NodeData, given: Decimal) -> Grown:
        return grow_adaptive(part, given, parameters, randomness, sampler)

    return _share(data, budget, parameters, randomness, one, done)


def grow_random_forest(
    data: NodeData,
    budget: Decimal,
    parameters: ForestSettings,
    randomness: RandomSource,
    done: Done = _not_told,
) -> GrownForest:
    """Grow trees whose splits are drawn from the schema; only leaves look at records.

    Guarantee: ``budget`` is the row-level epsilon, or rho, of all trees together.

    Raises
    ------
    BudgetError
        If the budget is too small for so many trees.
    """

    def one(part: NodeData, given: Decimal) -> Grown:
        return grow_random(part, given, parameters.depth, randomness)

    return _share(data, budget, parameters, randomness, one, done)


def _share(
    data: NodeData,
    budget: Decimal,
    parameters: ForestSettings,
    randomness: RandomSource,
    one: Callable[[NodeData, Decimal], Grown],
    done: Done,
) -> GrownForest:
    forest = GrownForest([], [])
    if parameters.sharing == "parts":
        first, second = randomness.words(2).tolist()
        shares = [Share((first, second), parameters.trees, number) for number in range(parameters.trees)]
        offers = [(replace(data, share=share), budget) for share in shares]
    else:
        offers = [(data, data.form.part(budget, parameters.trees))] * parameters.trees
    left = Decimal(0)
    for number, (part, offer) in enumerate(offers):
        given = offer + left
        tree = one(part, given)
        forest.trees.append(tree)
        forest.budgets.append(given)
        # On parts of their own, trees owe each other nothing.
        left = given - tree.most_spent() if parameters.sharing == "split" else Decimal(0)
        done(number + 1)
    return forest


def column_sampler(n_columns: int, most: int | None, randomness: RandomSource) -> AttributeSampler:
    """Draw 1 to ``most`` columns, any number equally likely, then that many at random.

    ``None`` is log2(n_columns) + 1, rounded down.
    """
    limit = int(math.log2(max(1, n_columns))) + 1 if most is None else most

    def sample(columns: Sequence[Column]) -> Sequence[Column]:
        wanted = 1 + draw_below(min(limit, len(columns)), randomness)
        return [columns[place] for place in permutation(randomness, len(columns))[:wanted]]

    return sample


def draw_below(limit: int, randomness: RandomSource) -> int:
    """A whole number from 0 to ``limit`` - 1, uniform up to ``limit`` / 2^64."""
    return int(randomness.words(1)[0]) * limit >> 64


def grow_random(data: NodeData, budget: Decimal, depth: int, randomness: RandomSource) -> Grown:
    """Draw a tree from the schema, then buy the class counts of its leaves with all the budget.

    Columns are drawn evenly among those that can still be split, then a cut point. A node is
    not split if the tree would have more leaves than records, were all nodes split like those
    on its path: Jagannathan et al. bound the depth likewise.
    """

    schema = data.schema

    def visit(place: Place, room: int, _: Level) -> Split | Decimal:
        candidates = data.candidates(place.region) if place.depth < depth else []
        widest = min(room, schema.max_rows // place.spread)
        candidates = [item for item in candidates if item.branches <= widest]
        if not candidates:
            return place.left
        chosen = candidates[draw_below(len(candidates), randomness)]
        return chosen.split(draw_below(len(chosen), randomness), schema)

    return grow(data, budget, visit, randomness)
