"""Broken engines: a replay that catches nothing proves nothing."""

import pytest

from dpcore.audit.replay.methods import METHODS
from dpcore.audit.replay.run import replays
from dpcore.privacy.mechanisms import GeometricMechanism
from tests.support.mutants import MUTANTS

#: A mutant that so many random configurations do not show is not caught.
SEEDS = 200
#: Seeds that have shown what few others do: they are tried first. As methods are added, others may be quicker.
FOUND = {
    ("rows of a person ignored by machines", "ebm", "random splits, numbers"): 5,
    ("trained on everybody", "rule_list", "blocks"): 5,
    ("trained on everybody", "forest", "random_trees, parts"): 6,
    ("trained on everybody", "ebm", "all bins, classes"): 6,
    ("trained on everybody", "ilp", "noisy_max"): 14,
    ("trained on everybody", "tree", "lookahead"): 9,
    ("evaluated on everybody", "rule_list", "blocks"): 10,
    ("evaluated on everybody", "forest", "random_trees, parts"): 12,
    ("evaluated on everybody", "ebm", "all bins, classes"): 5,
    ("evaluated on everybody", "tree", "lookahead"): 13,
    ("what is said of rows holds for nobody", "ilp", "relevance_aware"): 300,
    ("selections of twice the epsilon", "rule_list", "pool, composing"): 49,
    ("selections of twice the epsilon", "ilp", "noisy_max, composing"): 9,
    ("rows of a person ignored by first looks", "summaries", "groups and finer cells, composing"): 6,
    ("choice of a pair of a first look", "summaries", "pairs found"): 5,
    ("monotone choice of a pair of a first look", "summaries", "pairs found"): 5,
    ("likelihood", "rule_list", "pool, composing"): 49,
    ("likelihood of a chain", "rule_list", "chain"): 321,
    ("groups set aside", "rule_list", "pool"): 11,
    ("groups set aside", "rule_list", "blocks"): 5,
    ("groups set aside", "forest", "random_trees, parts"): 6,
    ("groups set aside", "ebm", "all bins, classes"): 6,
    ("groups set aside", "ilp", "noisy_max"): 14,
    ("groups set aside", "tree", "lookahead"): 9,
    ("counts of a node", "forest", "random_trees, parts"): 4,
    ("split of a node", "tree", "adiffp, error"): 4,
    ("split of a node", "tree", "adiffp, matsushita"): 98,
    ("tables of all columns", "tree", "sulq_id3"): 6,
    ("weights of classes beyond their bound", "tree", "lookahead, composing"): 9,
    ("residual_mechanism of machines", "ebm", "random splits, classes"): 4,
    ("one column of a turn of machines", "ebm", "random splits, numbers"): 12,
}
PAIRS = [(mutant, *bite) for mutant in MUTANTS for bite in mutant.bites]


def _cases():
    """Every way to break the engine in each family where it bites, and every method at least once; the rest is slow.

    What breaks one method only comes last and is chosen first, so that few cases suffice.
    """
    cases, seen = [], set()
    for mutant, family, name in reversed(PAIRS):
        new = {(mutant.name, family), (family, name)} - seen
        seen |= new
        marks = [] if new else [pytest.mark.slow]
        cases.append(pytest.param(mutant, family, name, id=f"{mutant.name}: {family}, {name}", marks=marks))
    return cases[::-1]


@pytest.mark.parametrize(("mutant", "family", "name"), _cases())
def test_a_broken_engine_is_caught(mutant, family, name):
    (method,) = [own for own in METHODS if (own.family, own.name) == (family, name)]
    seeds = [FOUND.get((mutant.name, family, name), 0), *range(SEEDS)]
    with mutant.broken():
        assert any(outcome.violation for _, outcome, _ in replays(method, seeds))


@pytest.mark.parametrize(
    "fault", ["rows of a person ignored", "noise halved", "noise halved after it was drawn", "no noise"]
)
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
