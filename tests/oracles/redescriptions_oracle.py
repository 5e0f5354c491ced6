"""Redescriptions by brute force over records, in exact fractions. Imports nothing of dpcore.

Records of a view are rows of truth values, one per split. A complete tree is the tuple of its
splits in heap order: who satisfies split i goes to node 2i + 1, the others to node 2i + 2.
"""

import itertools
import math
from fractions import Fraction

import numpy as np

#: Steps per record in which the engine's utilities are integers.
STEPS = 256


def leaf_of(row, splits):
    """Leaf, from the left, that one record reaches."""
    node = 0
    while node < len(splits):
        node = 2 * node + (1 if row[splits[node]] else 2)
    return node - len(splits)


def leaves_of(rows, splits):
    """Leaf of each record."""
    return [leaf_of(row, splits) for row in rows]


def table(first, second, shape):
    """How many records have each pair of values: a list of rows."""
    counts = [[0] * shape[1] for _ in range(shape[0])]
    for one, other in zip(first, second, strict=True):
        counts[one][other] += 1
    return counts


def leverage(left, right):
    """|both - left x right / n| of two lists of truth values, exactly; 0 without records."""
    n = len(left)
    both = sum(1 for a, b in zip(left, right, strict=True) if a and b)
    return abs(Fraction(both) - Fraction(sum(left) * sum(right), n)) if n else Fraction(0)


def purity(counts):
    """Sum over leaves of the sum over classes of count^2 / size, exactly."""
    return sum(
        (Fraction(sum(n * n for n in leaf), sum(leaf)) for leaf in counts if sum(leaf)),
        Fraction(0),
    )


def purity_steps(counts):
    """The same in whole steps, rounded down leaf by leaf."""
    return sum(STEPS * sum(n * n for n in leaf) // max(1, sum(leaf)) for leaf in counts)


def pair_score(first, second, max_rows):
    """(P1 + P1 P2 / max_rows) / 2 in steps, for purity masses in steps, exactly."""
    return (first + Fraction(first * second, STEPS * max_rows)) / 2


def tree_score(rows, labels, classes, splits):
    """Purity mass of a tree, in steps."""
    leaves = leaves_of(rows, splits)
    return purity_steps(table(leaves, labels, (len(splits) + 1, classes)))


def trees_score(sides, labels, classes, trees, max_rows):
    """Score of a pair of trees, in steps: the second is to tell the leaves of the first apart."""
    first, second = (leaves_of(rows, tree) for rows, tree in zip(sides, trees, strict=True))
    shape = (len(trees[1]) + 1, len(trees[0]) + 1)
    masses = (
        tree_score(sides[0], labels, classes, trees[0]),
        purity_steps(table(second, first, shape)),
    )
    return pair_score(*masses, max_rows)


def all_trees(splits, depth):
    """Every complete tree of a depth."""
    return list(itertools.product(range(splits), repeat=2**depth - 1))


def softmax(scores, weight):
    """Probabilities proportional to exp(weight x score)."""
    values = np.array([float(weight * score) for score in scores])
    powers = np.exp(values - values.max())
    return powers / powers.sum()


def stacked_log_probabilities(rows, labels, classes, splits, blocks, weights):
    """Log-probability of every tree of stacked blocks drawn by exp(weight x purity steps)."""
    return {
        tree: _stacked_log(rows, labels, classes, splits, tree, blocks, weights, 0)
        for tree in all_trees(splits, sum(blocks))
    }


def _stacked_log(rows, labels, classes, splits, tree, blocks, weights, root):
    """Log-probability of the blocks of a tree at and below a node, given the records there."""
    if not blocks:
        return 0.0
    depth = blocks[0]
    places = heap_below(root, depth)
    block = tuple(tree[place] for place in places)
    options = all_trees(splits, depth)
    scores = [tree_score(rows, labels, classes, option) for option in options]
    total = math.log(softmax(scores, weights[0])[options.index(block)])
    reached = leaves_of(rows, block)
    for leaf, below in enumerate(heap_bottom(root, depth)):
        here = [place for place, other in enumerate(reached) if other == leaf]
        total += _stacked_log(
            [rows[place] for place in here],
            [labels[place] for place in here],
            classes,
            splits,
            tree,
            blocks[1:],
            weights[1:],
            below,
        )
    return total


def heap_below(root, depth):
    """Places of the inner nodes of a block in the heap of the whole tree, in the block's order."""
    places = [root]
    for place in places:
        if len(places) < 2**depth - 1:
            places += [2 * place + 1, 2 * place + 2]
    return places


def heap_bottom(root, depth):
    """Places just below a block, from the left."""
    level = [root]
    for _ in range(depth):
        level = [child for place in level for child in (2 * place + 1, 2 * place + 2)]
    return level


def transition_matrix(states, options, scores, weight):
    """Lazy Metropolis chain: a node at random gets a split at random; symmetric proposals.

    ``options[i]`` is the number of splits that node i may get; ``weight`` is per step.
    """
    place = {state: i for i, state in enumerate(states)}
    matrix = np.zeros((len(states), len(states)))
    for state, i in place.items():
        for node, splits in enumerate(options):
            for split in range(splits):
                other = place[(*state[:node], split, *state[node + 1 :])]
                chance = 1 / (len(options) * splits)
                gain = float(weight * (scores[other] - scores[i]))
                taken = chance * math.exp(min(0.0, gain)) / 2
                matrix[i, other] += taken
                matrix[i, i] += chance - taken
    return matrix


def metropolis(state, proposals, options, score, weight):
    """Walk through given (node, split, chance) proposals, every score computed anew."""
    state = list(state)
    current = score(tuple(state))
    for node, choice, chance in proposals:
        before, state[node] = state[node], int(choice * options[node])
        new = score(tuple(state))
        if chance < math.exp(min(0.0, float(weight) * float(new - current))) / 2:
            current = new
        else:
            state[node] = before
    return tuple(state)


def agreement(left, right):
    """min(both, neither) - left only - right only of two lists of truth values."""
    pairs = list(zip(left, right, strict=True))
    both = sum(1 for a, b in pairs if a and b)
    neither = sum(1 for a, b in pairs if not a and not b)
    return min(both, neither) - (len(pairs) - both - neither)


def excess(left, right):
    """What two lists of truth values agree beyond chance, in records: 255.5 steps each, rounded down, of 1/256 each."""
    pairs = list(zip(left, right, strict=True))
    both, neither = (sum(1 for a, b in pairs if bool(a) is bool(b) is value) for value in (True, False))
    lefts = sum(1 for a, _ in pairs if a) - both
    rights = len(pairs) - both - neither - lefts
    if not pairs:
        return Fraction(0)
    beyond = Fraction(both * neither - lefts * rights, max(both, neither, lefts, rights))
    return Fraction(math.floor(Fraction(511, 2) * max(0, min(beyond, max(both, neither) - lefts - rights))), 256)


def said_of(one, other):
    """Everything that "and", "or" and "not" say of two lists of truth values, or of one of them."""
    values = [list(one), list(other)]
    for not_one, not_other in itertools.product((False, True), repeat=2):
        values.append([(a != not_one) and (b != not_other) for a, b in zip(one, other, strict=True)])
    return values + [[not value for value in said] for said in values]


def best_utility(utility, left, right):
    """Best utility of what can be said of two conditions on the left and two on the right."""
    return max(utility(a, b) for a in said_of(*left) for b in said_of(*right))
