"""Broken engines: a replay that catches nothing proves nothing."""

import pytest

from dpcore.audit.replay.methods import METHODS
from dpcore.audit.replay.run import replays
from dpcore.privacy.mechanisms import GeometricMechanism
from tests.support.learning.mutants import MUTANTS
from tests.support.rows import for_each

#: A mutant that so many random configurations do not show is not caught.
SEEDS = 200
#: Seeds that have shown what few others do: they are tried first. They do not change as methods are added.
FOUND = {
    ("what is said of rows holds for nobody", "relevance_aware"): 276,
    ("likelihood of a chain", "chain"): 149,
    ("trained on everybody", "all bins, classes"): 82,
    ("rows of a person ignored", "alt_mcmc"): 6,
    ("rows of a person ignored", "blocks, composing"): 22,
    ("rows of a person ignored by machines", "pairs, classes"): 11,
    ("rows of a person ignored", "mined conditions, blocks, composing"): 40,
    ("rows of a person ignored", "exact_pairs, composing"): 67,
    ("rows of a person ignored", "lookahead in turns, composing"): 49,
    ("rows of a person ignored", "alt_expm, composing"): 9,
    ("rows of a person ignored", "mcmc_tree_pair, pool, composing"): 84,
    ("rows of a person ignored by Gaussian counts", "naive, composing"): 25,
    ("choice of a pair of columns", "pairs, composing"): 75,
    ("monotone choice of a pair of columns", "pairs, composing"): 75,
    ("selections of twice the epsilon", "pairs, composing"): 170,
    ("selections of twice the epsilon", "mined conditions, composing"): 80,
    ("selections of twice the epsilon", "mcmc_tree_pair, pool, composing"): 98,
    ("trees and pairs drawn whole", "alt_expm, composing"): 30,
}


@pytest.mark.parametrize("mutant", MUTANTS, ids=lambda mutant: mutant.name)
def test_a_broken_engine_is_caught_in_every_method_where_it_bites(mutant):
    sought = [method for method in METHODS if (method.family, method.name) in mutant.bites]
    assert len(sought) == len(mutant.bites) > 0
    with mutant.broken():
        missed = [
            f"{method.family}, {method.name}"
            for method in sought
            for seeds in [[FOUND.get((mutant.name, method.name), 0), *range(SEEDS)]]
            if not any(outcome.violation for _, outcome, _ in replays(method, seeds))
        ]
    assert missed == []


@for_each("fault", ["rows of a person ignored", "noise halved", "noise halved after it was drawn", "no noise"])
def test_what_concerns_all_methods_is_sought_in_all(fault):
    """Rows of a person are forgotten in other places by machines, Gaussian counts and first looks."""
    names = {fault} | {f"{fault} by {kind}" for kind in ("machines", "Gaussian counts", "first looks")}
    sought = {bite for mutant in MUTANTS if mutant.name in names for bite in mutant.bites}
    assert sought == {(method.family, method.name) for method in METHODS}


def test_a_mutant_leaves_the_engine_as_it_was():
    method = METHODS[0]
    before = [outcome for _, outcome, _ in replays(method, range(3))]
    for mutant in MUTANTS:
        with mutant.broken():
            pass
    assert "release" not in vars(GeometricMechanism), "what is inherited stays so, or the next mutant has no bite"
    assert [outcome for _, outcome, _ in replays(method, range(3))] == before
