"""The benchmark of unspent budgets: that it sees every mechanism, and every path of a tree."""

from decimal import Decimal
from types import SimpleNamespace

import numpy as np
import pytest

from benchmarks.unspent import sequence_unspent, tree_unspent, watched
from dpcore.privacy.mechanisms import (
    ExponentialMechanism,
    FineGaussian,
    GeometricMechanism,
    NoisyMax,
)
from dpcore.privacy.randomness import SeededRandom


def test_every_mechanism_that_answers_is_seen():
    source, counts = SeededRandom(1), np.arange(3)
    with watched() as spent:
        GeometricMechanism(1, Decimal("0.2")).release(counts, source)
        ExponentialMechanism(1, Decimal("0.3"), monotone=True).select(counts, source)
        NoisyMax(1, Decimal("0.1"), monotone=True).select(counts, source)
        FineGaussian(2**28, 0.5).release(counts, source)
    GeometricMechanism(1, Decimal(1)).release(counts, source)
    assert spent.pure == [Decimal("0.2"), Decimal("0.3"), Decimal("0.1")]
    assert spent.squares == [pytest.approx(0.25)]
    assert sequence_unspent(spent, 0.8) == pytest.approx(0.25)


def test_a_tree_leaves_the_mean_of_its_paths():
    def node(parent, spent, children=()):
        return SimpleNamespace(parent=parent, spent=Decimal(spent), children=children)

    nodes = [node(None, "0.4", (1, 2)), node(0, "0.6"), node(0, "0.2")]
    assert tree_unspent(SimpleNamespace(nodes=nodes, budget=Decimal(1))) == pytest.approx(0.2)
