"""Where a Markov chain is after its real number of steps, and where it would end, over all its states.

A chain is private on the condition that its last state has the stationary distribution. A replay
compares what is promised so, and holds the chain to that condition: the exact distribution of its last
state may hardly differ from the stationary one.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from functools import lru_cache, singledispatch
from itertools import pairwise, permutations, product
from typing import Any

import numpy as np
from scipy.sparse import csr_array

from dpcore.arrays import Floats, Ints, Words
from dpcore.audit.replay.probabilities import softmax_logs
from dpcore.data.partition import Partition
from dpcore.data.table import PrivateTable
from dpcore.learning.chains import acceptance
from dpcore.models.redescriptions.learning.redescription_queries import STEPS, crossed, pair_scores, purities
from dpcore.models.redescriptions.learning.tree_chains import PairWalk, TreeWalk
from dpcore.models.redescriptions.learning.views import Sets, leaf_sets
from dpcore.models.rules.learning.moves import log_hastings, propose
from dpcore.models.rules.learning.prior import ListPrior
from dpcore.models.rules.learning.samplers import ListWalk
from dpcore.privacy.randomness import SeededRandom

#: More states than this are not enumerated.
MOST_STATES = 50_000

State = tuple[int, ...]


@dataclass(frozen=True)
class Moves:
    """Proposals of a chain: from a state to another, with which chance, and Hastings's correction of each."""

    here: Ints
    there: Ints
    chances: Floats
    corrections: Floats


@dataclass(frozen=True)
class StationaryState:
    """Last state of a chain on one table, over all states, in an order that records do not change."""

    limit: Floats
    """Log-probabilities of the stationary distribution: shape (n_states,)."""
    arrived: Floats
    """Shape (n_states,). Probabilities after all steps. Exact but for rounding: from the start and the proposals of the
    chain's own code, for every word that it may draw, by as many products with its transition matrix as it has steps.
    """

    @property
    def distance(self) -> float:
        """Total variation distance of the two."""
        return float(np.abs(np.exp(self.limit) - self.arrived).sum()) / 2


def settled(first: Any, second: Any) -> tuple[StationaryState, StationaryState]:
    """Last states of a chain on two tables.

    Raises
    ------
    ValueError
        If there are too many states, or the chain is not known here.
    """
    weights = log_weights(first), log_weights(second)
    start, moves = starts(first), proposals(first)
    one, two = (StationaryState(softmax_logs(own), _arrived(own, start, moves, first.steps)) for own in weights)
    return one, two


def _arrived(weights: Floats, start: Floats, moves: Moves, steps: int) -> Floats:
    gains = weights[moves.there] - weights[moves.here] + moves.corrections
    flows = moves.chances * np.array([acceptance(gain) for gain in gains.tolist()])
    count, chances = len(weights), start
    stays = 1.0 - np.bincount(moves.here, weights=flows, minlength=count)
    into = csr_array((flows, (moves.there, moves.here)), shape=(count, count))
    for _ in range(steps):
        chances = stays * chances + into @ chances
    return chances


@singledispatch
def log_weights(walk: object) -> Floats:
    """Log-weight of every state of a chain."""
    raise ValueError(f"a replay does not know the chain {type(walk).__name__}")


@singledispatch
def starts(walk: object) -> Floats:
    """Chance of every state to be the first. No record has a part in it."""
    raise ValueError(f"a replay does not know the chain {type(walk).__name__}")


@singledispatch
def proposals(walk: object) -> Moves:
    """All proposals of a chain. No record has a part in them."""
    raise ValueError(f"a replay does not know the chain {type(walk).__name__}")


class FixedUniforms(SeededRandom):
    """A source whose uniform numbers are given."""

    def __init__(self, numbers: Sequence[float]) -> None:
        super().__init__(0)
        self._numbers = iter(numbers)

    def words(self, count: int) -> Words:
        """The next ones, as the words that they are made from."""
        return np.array([int(next(self._numbers) * 2**53) << 11 for _ in range(count)], dtype=np.uint64)


# Rule lists


@log_weights.register
def _(walk: ListWalk) -> Floats:
    prior, states = walk.prior, _lists(len(walk.prior.sizes), walk.prior.max_rules)
    lists, lengths = _padded(states, prior.max_rules), np.array([len(own) for own in states])
    utilities = walk.problem.utilities(lists.astype(np.int16), lengths)
    public = [prior.log_probability(np.array(own, dtype=np.int64)) for own in states]
    return np.asarray(walk.weight * utilities + walk.prior_power * np.array(public))


@starts.register
def _(walk: ListWalk) -> Floats:
    states = {own: place for place, own in enumerate(_lists(len(walk.prior.sizes), walk.prior.max_rules))}
    found, before = np.zeros(len(states)), 0.0
    for length, chance in enumerate(walk.prior.length_weights.tolist()):
        for numbers, part in _drawn(walk.prior, length, [0] * len(walk.prior.counts)):
            state, size = walk.start(FixedUniforms([before + chance / 2, *numbers]))
            found[states[tuple(state[:size].tolist())]] += chance * part
        before += chance
    return found


def _drawn(prior: ListPrior, left: int, taken: Sequence[int]) -> Iterator[tuple[list[float], float]]:
    """Uniform numbers for every way to draw so many more rules, each with its chance."""
    if left == 0:
        yield [], 1.0
        return
    free = prior.counts - taken
    weights = np.where(free > 0, prior.size_weights, 0.0) / prior.size_weights[free > 0].sum()
    for size in np.flatnonzero(weights):
        middle, more = float(weights[:size].sum() + weights[size] / 2), list(taken)
        more[size] += 1
        for numbers, chance in _drawn(prior, left - 1, more):
            for place in range(free[size]):
                yield [middle, (place + 0.5) / free[size], *numbers], chance * weights[size] / free[size]


@proposals.register
def _(walk: ListWalk) -> Moves:
    return _list_moves(len(walk.prior.sizes), walk.prior.max_rules, propose, log_hastings)


@lru_cache(maxsize=64)
def _list_moves(count: int, most: int, move: Callable[..., int], correction: Callable[..., float]) -> Moves:
    """Proposals by the chain's own functions: they are kept as long as these are the same."""
    states = {own: place for place, own in enumerate(_lists(count, most))}
    found, proposal = [], np.empty(most, dtype=np.int64)
    for state, here in states.items():
        length, padded = len(state), _padded([state], most)[0]
        firsts, seconds = _cells(length, count - length), _cells(length - 1, length + 1)
        for (kind, one), (first, two), (second, three) in product(_cells(2, 3), firsts, seconds):
            size = move(padded, length, count, np.array([kind, first, second]), proposal)
            there = states[tuple(proposal[:size].tolist())]
            found.append((here, there, one * two * three, correction(length, size, most, count)))
    columns = [np.array(own) for own in zip(*found, strict=True)]
    return Moves(*columns)


def _lists(count: int, most: int) -> list[State]:
    return _few(own for size in range(most + 1) for own in permutations(range(count), size))


def _padded(states: Sequence[State], most: int) -> Ints:
    return np.array([own + (-1,) * (most - len(own)) for own in states], dtype=np.int64).reshape(len(states), most)


def _cells(*counts: int) -> list[tuple[float, float]]:
    """Middle and width of the parts of [0, 1] between all multiples of 1 / count."""
    ends = np.unique([place / count for count in counts if count > 0 for place in range(count + 1)] or [0.0, 1.0])
    return [(float(low + high) / 2, float(high - low)) for low, high in pairwise(ends)]


# Trees


@log_weights.register
def _(walk: TreeWalk) -> Floats:
    return np.asarray(walk.weight / STEPS * _masses(walk.table, _trees(walk.literals, walk), walk.classes))


@log_weights.register
def _(walk: PairWalk) -> Floats:
    firsts, seconds = (_trees(own, walk) for own in (walk.first_literals, walk.second_literals))
    joint = np.stack([_masses(walk.table, seconds, own) for own in firsts])
    scores = pair_scores(_masses(walk.table, firsts, walk.classes)[:, None], joint, walk.max_rows)
    return np.asarray(walk.weight / STEPS * scores).ravel()


@starts.register(TreeWalk)
@starts.register(PairWalk)
def _(walk: TreeWalk | PairWalk) -> Floats:
    sizes = _sizes(walk)
    found = np.zeros(sizes)
    for state in np.ndindex(*sizes):
        trees = walk.start(FixedUniforms([(own + 0.5) / size for own, size in zip(state, sizes, strict=True)]))
        found[tuple(np.concatenate(trees).tolist())] += 1 / found.size
    return found.ravel()


@proposals.register(TreeWalk)
@proposals.register(PairWalk)
def _(walk: TreeWalk | PairWalk) -> Moves:
    """Any node, any split: each state has as many ways to leave it as to come to it."""
    sizes = _sizes(walk)
    states = np.arange(np.prod(sizes)).reshape(sizes)
    here, there, chances = [], [], []
    for node, size in enumerate(sizes):
        for split in range(size):
            here.append(states.ravel())
            there.append(np.broadcast_to(states.take([split], axis=node), sizes).ravel())
            chances.append(np.full(states.size, 1 / (size * len(sizes))))
    return Moves(
        np.concatenate(here), np.concatenate(there), np.concatenate(chances), np.zeros(len(here) * states.size)
    )


def _sizes(walk: TreeWalk | PairWalk) -> State:
    """Number of splits that each inner node may have."""
    views = (walk.literals,) if isinstance(walk, TreeWalk) else (walk.first_literals, walk.second_literals)
    return tuple(len(own) for own in views for _ in range(2**walk.depth - 1))


def _trees(literals: Sets, walk: TreeWalk | PairWalk) -> list[Sets]:
    """The leaves of every complete tree."""
    states = _few(product(range(len(literals)), repeat=2**walk.depth - 1))
    return [leaf_sets(literals, np.array(own, dtype=np.int64)) for own in states]


def _masses(table: PrivateTable, trees: Sequence[Sets], classes: Sets) -> Ints:
    """Purity mass of each tree, in steps."""
    return np.asarray(purities(table.total(_counts, trees, classes)).sum(axis=1))


def _counts(partition: Partition, trees: Sequence[Sets], classes: Sets) -> Ints:
    """Kernel: records in the leaves of each tree, by class."""
    return np.stack([crossed(partition, own, classes) for own in trees])


def _few(states: Iterator[State]) -> list[State]:
    found: list[State] = []
    for state in states:
        if len(found) >= MOST_STATES:
            raise ValueError("this chain has too many states for a replay")
        found.append(state)
    return found
