"""The exact sampler against enumeration of every block."""

import itertools
import math
from decimal import Decimal

import numpy as np
import pytest
from scipy.stats import chisquare

from dpcore.bits import pack
from dpcore.errors import BudgetError
from dpcore.randomness import SecureRandom
from dpcore.trees.lookahead import ExactWeight, _path_to, _Problem, draw_block
from tests.oracles import lookahead_oracle
from tests.oracles.mechanisms_oracle import FALSE_ALARM

UTILITIES = ("labelled", "correct", "purity")


def records(rows, literals, classes, seed):
    generator = np.random.default_rng(seed)
    return generator.random((rows, literals)) < 0.5, generator.integers(0, classes, rows)


def packed(features, labels, classes):
    words = max(1, -(-len(labels) // 64))
    literals = np.stack([pack(features[:, i], words) for i in range(features.shape[1])])
    return literals, np.stack([pack(labels == c, words) for c in range(classes)])


def log_probability(problem, weight, splits):
    """Log-probability with which the sampler draws these splits, from its integer scores."""
    total = 0.0
    for place, split in enumerate(splits):
        scores = (
            weight.scores(*problem.candidates(_path_to(place, list(splits)))) / 2.0**weight.bits
        )
        total += scores[split] - scores.max() - math.log(np.exp(scores - scores.max()).sum())
    return total


@pytest.mark.parametrize("utility", UTILITIES)
@pytest.mark.parametrize(
    ("depth", "count", "classes"), [(1, 5, 3), (2, 4, 2), (2, 3, 3), (3, 3, 2)]
)
@pytest.mark.parametrize("epsilon", ["0.3", "4"])
def test_draws_have_the_enumerated_distribution(utility, depth, count, classes, epsilon):
    features, labels = records(40, count, classes, seed=depth + count)
    weight = ExactWeight.fit(utility, depth, Decimal(epsilon), 40, count, classes)
    prior = np.arange(1, count + 1) / sum(range(1, count + 1))
    vectors = packed(features, labels, classes)
    problem = _Problem(*vectors, np.log(prior), depth, utility, weight)
    exact = lookahead_oracle.log_probabilities(
        features, labels, classes, prior, depth, utility, weight.value
    )
    assert len(exact) == count ** (2**depth - 1)
    for splits, expected in exact.items():
        assert log_probability(problem, weight, splits) == pytest.approx(expected, abs=1e-8)
