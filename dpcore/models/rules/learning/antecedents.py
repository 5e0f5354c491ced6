"""Antecedents: the conjunctions a rule list may use, and those that cost nothing."""

from __future__ import annotations

import hashlib
from collections import defaultdict
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from dpcore.arrays import Ints, Words
from dpcore.data.bits import conjunctions
from dpcore.data.partition import Partition
from dpcore.domain.conditions import Condition, parse_conjunction, schema_conditions
from dpcore.domain.schemas.schema import Part, Schema
from dpcore.errors import RequestError
from dpcore.models.rules.released.rule_list_parameters import RuleListParameters
from dpcore.privacy.randomness import RandomSource, permutation
from dpcore.released.parameters import chosen_cuts

Itemset = tuple[int, ...]
#: Up to this many conjunctions are shuffled to take a random subset.
_SHUFFLE_LIMIT = 200_000
#: Conjunctions whose bit vectors are in memory at once while their supports are counted.
_BLOCK = 512


@dataclass(frozen=True)
class Antecedents:
    """A list of conjunctions, shorter ones first."""

    literals: Sequence[Condition]
    itemsets: Sequence[Itemset]
    """Positions in ``literals`` of each conjunction."""

    def __len__(self) -> int:
        return len(self.itemsets)

    @property
    def sizes(self) -> Ints:
        """Number of literals of each conjunction."""
        return np.array([len(itemset) for itemset in self.itemsets], dtype=np.int64)

    def conditions(self, position: int) -> tuple[Condition, ...]:
        """Literals of one conjunction."""
        return tuple(self.literals[item] for item in self.itemsets[position])

    def only(self, chosen: Iterable[int]) -> Antecedents:
        """Those at some positions."""
        return Antecedents(self.literals, [self.itemsets[position] for position in chosen])

    def vectors(self, partition: Partition) -> Words:
        """Bit vector of each conjunction over the records of a partition: (n_conjunctions, n_words)."""
        return itemset_vectors(partition.literals(self.literals), self.itemsets)

    def blocks(self, partition: Partition) -> Iterator[Words]:
        """The same, some conjunctions at a time: all together may need too much memory."""
        literals = partition.literals(self.literals)
        for start in range(0, len(self.itemsets), _BLOCK):
            yield itemset_vectors(literals, self.itemsets[start : start + _BLOCK])

    @cached_property
    def digest(self) -> str:
        """A name for these very conjunctions."""
        return hashlib.sha256(f"{self.literals!r} {self.itemsets!r}".encode()).hexdigest()


def kept_vectors(partition: Partition, target: str, part: Part, antecedents: Antecedents) -> tuple[Words, Words]:
    """Bit vectors of the antecedents, and of the classes of a part."""
    return partition.cached(
        ("antecedents", antecedents.digest, target, part),
        lambda: (antecedents.vectors(partition), partition.class_members(target, part)),
    )


def itemset_vectors(literals: Words, itemsets: Sequence[Itemset]) -> Words:
    """Bit vector of each itemset, from those of the literals."""
    longest = max((len(itemset) for itemset in itemsets), default=1)
    members = np.array([i + (0,) * (longest - len(i)) for i in itemsets], dtype=np.int64).reshape(-1, longest)
    lengths = np.array([len(itemset) for itemset in itemsets], dtype=np.int64)
    return conjunctions(literals, members, lengths)


def candidate_literals(schema: Schema, target: str, parameters: RuleListParameters) -> list[Condition]:
    """Public literals that a run may combine. Mining uses one literal per column and record."""
    thresholds = parameters.numeric_literals == "thresholds" and parameters.antecedents == "public"
    literals = schema_conditions(
        schema,
        target,
        thresholds=thresholds,
        reserved=parameters.reserved_literals,
        cuts=chosen_cuts(schema, parameters),
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
    for size in range(1, parameters.longest + 1):
        room = parameters.most - len(chosen)
        later = parameters.longest - size
        share = room if size == 1 or later == 0 else -(-room // (later + 1))
        chosen += _random_conjunctions(literals, size, share, randomness)
    return Antecedents(literals, chosen)


def _random_conjunctions(
    literals: Sequence[Condition], size: int, wanted: int, randomness: RandomSource
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


def _conjunction(number: int, columns: Sequence[Sequence[int]], ways: Sequence[Sequence[int]], size: int) -> Itemset:
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


def _by_column(literals: Sequence[Condition]) -> list[list[int]]:
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
    literals: dict[Condition, int] = {}
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
