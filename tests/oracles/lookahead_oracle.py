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
    trees = list(itertools.product(range(len(prior)), repeat=2**depth - 1))
    logs = {
        splits: sum(
            log_weight(counts, utility, weight) for counts in leaf_counts(features, labels, classes, splits, depth)
        )
        + sum(math.log(prior[split]) for split in splits)
        for splits in trees
    }
    top = max(logs.values())
    whole = top + math.log(sum(math.exp(value - top) for value in logs.values()))
    return {splits: value - whole for splits, value in logs.items()}


def probabilities(features, labels, classes, prior, depth, utility, weight):
    """Probability of every outcome: splits, with the labels of the leaves if drawn."""
    logs = all_log_probabilities(features, labels, classes, prior, depth, utility, weight)
    return {outcome: math.exp(value) for outcome, value in logs.items()}


def all_log_probabilities(features, labels, classes, prior, depth, utility, weight):
    """Log-probability of every outcome: splits, with the labels of the leaves if drawn."""
    trees = log_probabilities(features, labels, classes, prior, depth, utility, weight)
    if utility != "labelled":
        return trees
    outcomes = {}
    for splits, log in trees.items():
        counts = leaf_counts(features, labels, classes, splits, depth)
        shares = []
        for leaf in counts:
            top = max(leaf)
            whole = sum(math.exp(weight * (n - top)) for n in leaf)
            shares.append([weight * (n - top) - math.log(whole) for n in leaf])
        for drawn in itertools.product(range(classes), repeat=2**depth):
            outcomes[splits, drawn] = log + sum(s[c] for s, c in zip(shares, drawn, strict=True))
    return outcomes


def root_log_weights(features, labels, classes, log_prior, depth, utility, weight):
    """Log of the summed weight of all trees with each split at the root, in mpmath numbers."""
    import mpmath

    def value(rows, left):
        if left == 0:
            counts = [sum(1 for r in rows if labels[r] == c) for c in range(classes)]
            if utility == "labelled":
                return mpmath.fsum(mpmath.exp(weight * n) for n in counts) / classes
            if utility == "correct":
                return mpmath.exp(weight * max(counts))
            size = len(rows)
            purity = 256 * sum(n * n for n in counts) // size if size else 0
            return mpmath.exp(weight * purity)
        return mpmath.fsum(mpmath.exp(float(log_prior[s])) * split(rows, s, left) for s in range(features.shape[1]))

    def split(rows, s, left):
        holds = [r for r in rows if features[r, s]]
        fails = [r for r in rows if not features[r, s]]
        return value(holds, left - 1) * value(fails, left - 1)

    everyone = list(range(len(labels)))
    return [mpmath.log(split(everyone, s, depth)) + float(log_prior[s]) for s in range(features.shape[1])]
