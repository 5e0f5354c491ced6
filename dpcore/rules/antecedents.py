"""Antecedents: the conjunctions a rule list may use, from public knowledge or private mining."""

from __future__ import annotations

import itertools
from collections import defaultdict
from collections.abc import Sequence
from dataclasses import dataclass
from decimal import Decimal

import numpy as np
from numpy.typing import NDArray

from dpcore.bits import Words, conjunctions
from dpcore.errors import RequestError
from dpcore.literals import Literal, bit_vectors, parse_conjunction, schema_literals
from dpcore.mechanisms import GeometricMechanism
from dpcore.privacy import BudgetSplit
from dpcore.queries import itemset_counts, itemset_sensitivity
from dpcore.randomness import RandomSource, permutation
from dpcore.rules.parameters import RuleListParameters
from dpcore.schema import Schema
from dpcore.table import Part, PrivateTable

Itemset = tuple[int, ...]
#: Up to this many conjunctions are shuffled to take a random subset.
_SHUFFLE_LIMIT = 200_000
#: Itemsets whose bit vectors are in memory at once while their supports are counted.
_BLOCK = 512
#: A mining level joins no more itemsets than this, those of highest noisy support.
_JOIN_LIMIT = 1_000
#: A mining level looks at no more candidates than this, a random subset of them.
_LEVEL_LIMIT = 20_000


@dataclass(frozen=True)
class Antecedents:
    """A list of conjunctions, shorter ones first.

    Attributes
    ----------
    literals : sequence of Literal
    itemsets : sequence of tuple of int
        Positions in ``literals`` of each conjunction.
    """

    literals: Sequence[Literal]
    itemsets: Sequence[Itemset]

    def __len__(self) -> int:
        return len(self.itemsets)

    @property
    def sizes(self) -> NDArray[np.int64]:
        """Number of literals of each conjunction."""
        return np.array([len(itemset) for itemset in self.itemsets], dtype=np.int64)

    def conditions(self, position: int) -> tuple[Literal, ...]:
        """Literals of one conjunction."""
        return tuple(self.literals[item] for item in self.itemsets[position])

    def bit_vectors(self, table: PrivateTable) -> Words:
        """Bit vector of each conjunction over the records."""
        return _itemset_vectors(bit_vectors(table, self.literals), self.itemsets)


def _itemset_vectors(literals: Words, itemsets: Sequence[Itemset]) -> Words:
    longest = max(len(itemset) for itemset in itemsets)
    members = np.array([i + (0,) * (longest - len(i)) for i in itemsets], dtype=np.int64)
    lengths = np.array([len(itemset) for itemset in itemsets], dtype=np.int64)
    return conjunctions(literals, members, lengths)


def candidate_literals(
    schema: Schema, target: str, parameters: RuleListParameters
) -> list[Literal]:
    """Public literals that a run may combine. Mining uses one literal per column and record."""
    thresholds = parameters.numeric_literals == "thresholds" and parameters.antecedents == "public"
    literals = schema_literals(
        schema, target, thresholds=thresholds, reserved=parameters.reserved_literals
    )
    if not literals:
        raise RequestError(
            "No conditions can be made: the data set needs a column besides the target with "
            "at least two bins or categories."
        )
    return literals


def public_antecedents(
    schema: Schema, target: str, parameters: RuleListParameters, randomness: RandomSource
) -> Antecedents:
    """Conjunctions over the schema: all single literals first, then a random subset. Free."""
    literals = candidate_literals(schema, target, parameters)
    chosen: list[Itemset] = []
    for size in range(1, parameters.max_antecedent_length + 1):
        room = parameters.max_antecedents - len(chosen)
        later = parameters.max_antecedent_length - size
        share = room if size == 1 or later == 0 else -(-room // (later + 1))
        chosen += _random_conjunctions(literals, size, share, randomness)
    return Antecedents(literals, chosen)


def _random_conjunctions(
    literals: Sequence[Literal], size: int, wanted: int, randomness: RandomSource
) -> list[Itemset]:
    """At most ``wanted`` distinct conjunctions of ``size`` literals on distinct columns.

    All conjunctions are numbered; distinct random numbers are turned back into conjunctions.
    """
    columns = _by_column(literals)
    ways = _ways([len(group) for group in columns], size)
    numbers = _distinct_numbers(ways[-1][size], wanted, randomness)
    return [_conjunction(number, columns, ways, size) for number in numbers]


def _ways(group_sizes: Sequence[int], size: int) -> list[list[int]]:
    """Entry [i][k]: how many conjunctions of k literals the first i columns allow."""
    table = [[1] + [0] * size]
    for count in group_sizes:
        last = table[-1]
        table.append([1] + [last[k] + count * last[k - 1] for k in range(1, size + 1)])
    return table


def _distinct_numbers(total: int, wanted: int, randomness: RandomSource) -> list[int]:
    """``min(wanted, total)`` distinct numbers below ``total``, in increasing order."""
    if wanted <= 0 or total == 0:
        return []
    if total <= max(_SHUFFLE_LIMIT, 4 * wanted):
        return sorted(int(number) for number in permutation(randomness, total)[:wanted])
    found: set[int] = set()
    while len(found) < wanted:
        high, low = randomness.words(2)
        found.add((int(high) << 64 | int(low)) % total)
    return sorted(found)


def _conjunction(
    number: int, columns: Sequence[Sequence[int]], ways: Sequence[Sequence[int]], size: int
) -> Itemset:
    """The conjunction with a number: from the last column on, is it used, and with what?"""
    chosen: list[int] = []
    for i in range(len(columns), 0, -1):
        without = ways[i - 1][size]
        if size == 0 or number < without:
            continue
        place, number = divmod(number - without, ways[i - 1][size - 1])
        chosen.append(columns[i - 1][place])
        size -= 1
    return tuple(reversed(chosen))


def _by_column(literals: Sequence[Literal]) -> list[list[int]]:
    groups: dict[str, list[int]] = defaultdict(list)
    for position, literal in enumerate(literals):
        groups[literal.column].append(position)
    return list(groups.values())


def given_antecedents(schema: Schema, target: str, texts: Sequence[str]) -> Antecedents:
    """Read antecedents such as ``age > 60 and hypertension = yes``. Free.

    Raises
    ------
    RequestError
        If one cannot be read, uses the target, or uses a column twice.
    """
    literals: dict[Literal, int] = {}
    itemsets: dict[Itemset, None] = {}
    for text in texts:
        parts = parse_conjunction(text, schema)
        columns = [part.column for part in parts]
        if target in columns:
            raise RequestError(f"The target '{target}' cannot be part of a condition.")
        if len(set(columns)) != len(columns):
            raise RequestError(f"'{text}' uses a column twice: combine them into one condition.")
        itemsets[tuple(sorted(literals.setdefault(p, len(literals)) for p in parts))] = None
    return Antecedents(list(literals), sorted(itemsets, key=len))


def split_by_level(epsilon: Decimal, parameters: RuleListParameters) -> BudgetSplit:
    """Equal budgets for the levels of mining.

    Raises
    ------
    BudgetError
        If epsilon is too small to be split.
    """
    levels = range(1, parameters.max_antecedent_length + 1)
    return BudgetSplit.by_weights(epsilon, {str(level): 1 for level in levels})


def mine_antecedents(
    table: PrivateTable,
    target: str,
    part: Part,
    parameters: RuleListParameters,
    epsilon: Decimal,
    randomness: RandomSource,
) -> Antecedents:
    """Frequent itemsets with noisy supports, level by level (after Zeng, Naughton, Cai 2012).

    Each level gets an equal share of ``epsilon`` and two-sided geometric noise on all its
    supports. Candidates of a level are built from the noisy frequent sets of the level before.
    Deviation: rows have one literal per column by construction, so none is truncated.
    """
    literals = candidate_literals(table.schema, target, parameters)
    vectors = bit_vectors(table, literals)
    levels = range(1, parameters.max_antecedent_length + 1)
    split = split_by_level(epsilon, parameters)
    threshold = parameters.min_support * table.schema.max_rows
    candidates: list[Itemset] = [(item,) for item in range(len(literals))]
    found: list[tuple[int, Itemset]] = []
    for level in levels:
        if not candidates:
            break
        sensitivity = itemset_sensitivity([1] * len(_by_column(literals)), level, len(candidates))
        mechanism = GeometricMechanism(sensitivity.value, split[str(level)])
        blocks = (candidates[i : i + _BLOCK] for i in range(0, len(candidates), _BLOCK))
        counts = np.concatenate(
            [itemset_counts(table, target, part, _itemset_vectors(vectors, b)) for b in blocks]
        )
        noisy = mechanism.release(counts, randomness)
        ranked = sorted(zip(noisy.tolist(), candidates, strict=True), reverse=True)
        frequent = [pair for pair in ranked if pair[0] >= threshold]
        if level == 1 and not frequent:
            frequent = ranked[:1]
        found += frequent
        joined = [itemset for _, itemset in frequent[:_JOIN_LIMIT]]
        candidates = _join(joined, literals, randomness)
    best = sorted(found, reverse=True)[: parameters.max_antecedents]
    kept = sorted((itemset for _, itemset in best), key=lambda itemset: (len(itemset), itemset))
    return Antecedents(literals, kept)


def _join(
    frequent: Sequence[Itemset], literals: Sequence[Literal], randomness: RandomSource
) -> list[Itemset]:
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
        and all(
            subset in known
            for subset in itertools.combinations((*prefix, first, second), len(prefix) + 1)
        )
    ]
    if len(joined) <= _LEVEL_LIMIT:
        return joined
    return [joined[i] for i in np.sort(permutation(randomness, len(joined))[:_LEVEL_LIMIT])]
