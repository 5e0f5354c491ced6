"""Rule lists done slowly and plainly: no bit vectors, no tables, no imports of the engine."""

import itertools
import math

import numpy as np
from scipy.special import gammaln


def holds(row, itemset):
    """A row is a sequence of cell codes; an itemset is a list of (column, first, last)."""
    return all(first <= row[column] <= last for column, first, last in itemset)


def capture_counts(rows, labels, rules, classes):
    """Rows per rule and class; each row goes to the first rule that holds, else to the last."""
    counts = [[0] * classes for _ in range(len(rules) + 1)]
    for row, label in zip(rows, labels, strict=True):
        if label >= classes:
            continue
        place = next((i for i, rule in enumerate(rules) if holds(row, rule)), len(rules))
        counts[place][label] += 1
    return np.array(counts)


def supports(rows, labels, itemsets, classes):
    """Rows with a declared class in each itemset."""
    return np.array(
        [
            sum(holds(row, items) for row, label in zip(rows, labels, strict=True) if label < classes)
            for items in itemsets
        ]
    )


def log_likelihood(counts, alpha):
    """Dirichlet-multinomial log-likelihood of capture counts, normalised to 0 for no rows."""
    alpha = np.asarray(alpha, dtype=float)
    total = 0.0
    for row in counts:
        total += sum(gammaln(n + a) - gammaln(a) for n, a in zip(row, alpha, strict=True))
        total -= gammaln(sum(row) + alpha.sum()) - gammaln(alpha.sum())
    return float(total)


def prior(sizes, list_length, rule_length, max_rules):
    """Probability of every ordered list of distinct antecedents (Letham et al. 2015)."""
    longest = min(max_rules, len(sizes))
    lengths = [list_length**m / math.factorial(m) for m in range(longest + 1)]
    result = {}
    for m in range(longest + 1):
        for members in itertools.permutations(range(len(sizes)), m):
            result[members] = lengths[m] / sum(lengths) * _members(members, sizes, rule_length)
    return result


def _members(members, sizes, rule_length):
    probability = 1.0
    left = list(range(len(sizes)))
    for member in members:
        weights = {size: rule_length**size / math.factorial(size) for size in {sizes[i] for i in left}}
        same = [i for i in left if sizes[i] == sizes[member]]
        probability *= weights[sizes[member]] / sum(weights.values()) / len(same)
        left.remove(member)
    return probability


def proposals(state, antecedents, longest):
    """Exact proposal distribution: swap, add or delete, uniform among the possible kinds."""
    kinds = []
    if len(state) >= 2:
        swaps = []
        for i, j in itertools.permutations(range(len(state)), 2):
            swapped = list(state)
            swapped[i], swapped[j] = swapped[j], swapped[i]
            swaps.append(tuple(swapped))
        kinds.append(swaps)
    if len(state) < longest:
        kinds.append(
            [
                (*state[:place], new, *state[place:])
                for new in range(antecedents)
                if new not in state
                for place in range(len(state) + 1)
            ]
        )
    if state:
        kinds.append([state[:i] + state[i + 1 :] for i in range(len(state))])
    result = {}
    for kind in kinds:
        for proposal in kind:
            result[proposal] = result.get(proposal, 0.0) + 1 / len(kinds) / len(kind)
    return result


def metropolis_matrix(target, antecedents, longest):
    """Transition matrix of the lazy Metropolis-Hastings chain, states in the order of ``target``."""
    places = {state: i for i, state in enumerate(target)}
    moves = {state: proposals(state, antecedents, longest) for state in target}
    matrix = np.zeros((len(target), len(target)))
    for state, i in places.items():
        for proposal, chance in moves[state].items():
            odds = target[proposal] * moves[proposal][state] / (target[state] * chance)
            matrix[i, places[proposal]] += chance * min(1.0, odds) / 2
        matrix[i, i] += 1 - matrix[i].sum()
    return matrix


def accuracy(labels, predictions):
    return float(np.mean(np.asarray(labels) == np.asarray(predictions)))


def auc(labels, scores):
    """Chance that a positive outranks a negative, ties counted half."""
    positives = [s for y, s in zip(labels, scores, strict=True) if y == 1]
    negatives = [s for y, s in zip(labels, scores, strict=True) if y == 0]
    wins = [(p > n) + 0.5 * (p == n) for p in positives for n in negatives]
    return float(np.mean(wins))
