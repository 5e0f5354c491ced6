"""Broken engines: a replay that catches nothing proves nothing."""

import pytest

from dpcore.audit.replay.methods import METHODS
from dpcore.audit.replay.run import replays
from dpcore.privacy.mechanisms import GeometricMechanism
from tests.support.mutants import MUTANTS

#: A mutant that so many random configurations do not show is not caught.
SEEDS = 200
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
    with mutant.broken():
        assert any(outcome.violation for _, outcome, _ in replays(method, range(SEEDS)))


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
