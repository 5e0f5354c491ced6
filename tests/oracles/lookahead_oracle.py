"""Every binary tree of a small depth, by brute force over records. Imports nothing of dpcore."""

import itertools
import math
from collections import Counter


def leaf_of(row, splits, depth):
    """Leaf, from the left, that a record reaches; splits are in heap order."""
    node = 0
    for _ in range(depth):
        node = 2 * node + (1 if row[splits[node]] else 2)
    return node - (2**depth - 1)


def leaf_counts(features, labels, classes, splits, depth):
    """Records per class in each leaf."""
    counts = [Counter() for _ in range(2**depth)]
    for row, label in zip(features, labels, strict=True):
        counts[leaf_of(row, splits, depth)][int(label)] += 1
    return [[leaf[c] for c in range(classes)] for leaf in counts]


def log_weight(counts, utility, weight):
    """Log of the mean over labels of exp(weight x utility), or weight x utility, of one leaf."""
    if utility == "labelled":
        return math.log(sum(math.exp(weight * n) for n in counts) / len(counts))
    if utility == "correct":
        return weight * max(counts)
    size = sum(counts)
    return weight * (256 * sum(n * n for n in counts) // size if size else 0)


def log_probabilities(features, labels, classes, prior, depth, utility, weight):
    """Log-probability of every assignment of splits to the inner nodes of a complete tree."""
    trees = list(itertools.product(range(len(features[0])), repeat=2**depth - 1))
    logs = {
        splits: sum(
            log_weight(counts, utility, weight)
            for counts in leaf_counts(features, labels, classes, splits, depth)
        )
        + sum(math.log(prior[split]) for split in splits)
        for splits in trees
    }
    top = max(logs.values())
    whole = top + math.log(sum(math.exp(value - top) for value in logs.values()))
    return {splits: value - whole for splits, value in logs.items()}
