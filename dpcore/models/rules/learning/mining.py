"""Frequent itemsets as antecedents, mined privately level by level: charged.

Proof: ``docs/privacy/rule-list.md``, section 6.
"""

from __future__ import annotations

import itertools
import math
from collections import Counter, defaultdict
from collections.abc import Sequence
from dataclasses import replace
from decimal import Decimal
from typing import NamedTuple

import numpy as np

from dpcore.data.queries import itemset_counts, itemset_sensitivity
from dpcore.data.table import PrivateTable
from dpcore.domain.conditions import Condition
from dpcore.domain.schemas.schema import Part
from dpcore.learning.count_budget import CountBudget
from dpcore.models.rules.learning.antecedents import Antecedents, Itemset, candidate_literals
from dpcore.models.rules.released.rule_list_parameters import RuleListParameters
from dpcore.privacy.randomness import RandomSource, permutation

#: A level joins no more itemsets than this, those of highest noisy support.
_JOIN_LIMIT = 1_000
#: A level looks at no more candidates than this, a random subset of them.
_LEVEL_LIMIT = 20_000


class MiningResult(NamedTuple):
    """What mining found, and how much of its row-level budget it did not need."""

    antecedents: Antecedents
    left: Decimal


def mine_antecedents(
    table: PrivateTable,
    target: str,
    part: Part,
    parameters: RuleListParameters,
    budget: CountBudget,
    randomness: RandomSource,
) -> MiningResult:
    """Frequent itemsets with noisy supports, level by level (after Zeng, Naughton, Cai 2012).

    Candidates of a level are built from the noisy frequent sets of the level before, and its
    supports get noise for :func:`level_share` of what is left of ``budget``. Deviation: rows have one literal per
    column by construction, so none is truncated.
    """
    literals = candidate_literals(table.schema, target, parameters)
    met = most_met(literals)
    threshold = parameters.min_support * table.schema.max_rows
    candidates: list[Itemset] = [(item,) for item in range(len(literals))]
    found: list[tuple[int, Itemset]] = []
    left = budget.amount
    for further in reversed(range(parameters.longest)):
        if not candidates:
            break
        columns = [tuple(literals[item].column for item in itemset) for itemset in candidates]
        sensitivity = itemset_sensitivity(columns, met)
        share = level_share(replace(budget, amount=left), sensitivity.value, columns, further)
        left -= share
        exact = itemset_counts(table, target, part, Antecedents(literals, candidates).blocks)
        noisy = replace(budget, amount=share).mechanism(sensitivity).release(exact, randomness)
        ranked = sorted(zip(noisy.tolist(), candidates, strict=True), reverse=True)
        frequent = [pair for pair in ranked if pair[0] >= threshold]
        if not found and not frequent:
            frequent = ranked[:1]
        found += frequent
        joined = [itemset for _, itemset in frequent[:_JOIN_LIMIT]]
        candidates = _join(joined, literals, randomness)
    return MiningResult(_best(found, literals, parameters.most), left)


def most_met(literals: Sequence[Condition]) -> dict[str, int]:
    """Most literals of each column that one row can satisfy together."""
    cells: dict[str, Counter[int]] = defaultdict(Counter)
    for literal in literals:
        cells[literal.column].update(range(literal.first, literal.last + 1))
    return {column: max(counts.values()) for column, counts in cells.items()}


def check_levels(budget: CountBudget, parameters: RuleListParameters) -> None:
    """Refuse, before a record is seen, a row-level budget that some level could not use.

    Raises
    ------
    BudgetError
        If it is too small.
    """
    budget.first([1.0] * parameters.longest)


def level_share(left: CountBudget, sensitivity: int, columns: Sequence[tuple[str, ...]], further: int) -> Decimal:
    """Budget of a level, of what is left for it and the ``further`` levels below.

    In proportion to the roots of the sensitivities, which makes the sum of the noise scales
    least, or of the variances if it is Gaussian; the levels below count with the largest sensitivity that they
    may still have.

    Parameters
    ----------
    columns : sequence of tuple of str
        Columns of each candidate of this level.
    """
    size, known = len(columns[0]), len(set().union(*columns))
    below = [math.comb(known, larger) for larger in range(size + 1, size + further + 1)]
    reaches = [sensitivity, *(min(reach, _LEVEL_LIMIT) for reach in below if reach)]
    return left.first([math.sqrt(reach) for reach in reaches])


def _best(found: Sequence[tuple[int, Itemset]], literals: Sequence[Condition], most: int) -> Antecedents:
    """The itemsets of highest noisy support, shorter ones first."""
    best = sorted(found, reverse=True)[:most]
    kept = sorted((itemset for _, itemset in best), key=lambda itemset: (len(itemset), itemset))
    return Antecedents(literals, kept)


def _join(frequent: Sequence[Itemset], literals: Sequence[Condition], randomness: RandomSource) -> list[Itemset]:
    """Apriori step: sets one larger, all of whose subsets are (noisily) frequent."""
    known = set(frequent)
    groups: dict[Itemset, list[int]] = defaultdict(list)
    for itemset in sorted(frequent):
        groups[itemset[:-1]].append(itemset[-1])
    joined = [
        (*prefix, first, second)
        for prefix, tails in groups.items()
        for first, second in itertools.combinations(tails, 2)
        if literals[first].column != literals[second].column
        and all(subset in known for subset in itertools.combinations((*prefix, first, second), len(prefix) + 1))
    ]
    if len(joined) <= _LEVEL_LIMIT:
        return joined
    return [joined[i] for i in np.sort(permutation(randomness, len(joined))[:_LEVEL_LIMIT])]
