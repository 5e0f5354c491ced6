"""What a run costs: shares of one budget, and draws that a row may touch."""

from __future__ import annotations

import math
from decimal import Decimal
from itertools import pairwise, product

import pytest

from dpcore.errors import BudgetError
from dpcore.models.ebm.learning import accounting
from dpcore.models.ebm.learning.accounting import (
    CHOICE,
    PAIRS,
    SIZES,
    check_budget,
    choice_epsilon,
    cost_of,
    histogram_mechanism,
    output_count,
    pair_count_mechanism,
    pair_residual_mechanism,
    residual_mechanism,
    resolve,
    size_epochs,
    size_mechanism,
)
from dpcore.models.ebm.learning.grid import COUNT_STEPS
from dpcore.models.ebm.learning.kernels import PAIR_STEPS, RESIDUAL_STEPS
from dpcore.models.ebm.released.ebm_parameters import EBMParameters
from dpcore.privacy.bounded_range import Selections
from dpcore.privacy.budgets import calibrate_fine_gaussian, gaussian_delta
from tests.support.learning import ebm_cases as cases
from tests.support.rows import for_each

DELTA = Decimal("0.00001")
CHOICES = [
    {},
    {"pairs": 3},
    {"method": "random_splits"},
    {"epochs": 1, "replicates": 3},
    {"epochs": 7, "bin_share": 0.9, "pairs": 1},
    {"epochs": 3, "pairs": 6},
]


def cost(target="ill", epsilon="1", delta=DELTA, rows_per_person=1, **chosen):
    domain = cases.schema(target=target, rows_per_person=rows_per_person)
    given = EBMParameters(**chosen)
    return domain, cost_of(domain, target, Decimal(epsilon), delta, given)


def mechanisms(domain, own, target):
    """Every (mechanism, number of releases, entries of a release that a row touches)."""
    outputs, features = output_count(domain, target), len(domain.columns) - 1
    yield histogram_mechanism(own, domain), 1, features + 1
    yield residual_mechanism(own, domain, target), own.parameters.epochs * features, outputs * own.parameters.replicates
    if SIZES in own.split.parts:
        yield size_mechanism(own), len(size_epochs(own.parameters)), 1
    if pairs := own.parameters.pairs:
        yield pair_count_mechanism(own), 1, pairs
        yield (
            pair_residual_mechanism(own, domain, target),
            own.parameters.epochs * pairs,
            outputs * own.parameters.replicates,
        )


@pytest.mark.crossed
@pytest.mark.parametrize("target", ["ill", "stage", "stay"])
@pytest.mark.parametrize("chosen", CHOICES)
@pytest.mark.parametrize("rows_per_person", [1, 7])
def test_all_steps_together_keep_epsilon_and_delta(target, chosen, rows_per_person):
    for epsilon in ("0.3", "1", "3.000000001", "40"):
        domain, own = cost(target, epsilon, rows_per_person=rows_per_person, **chosen)
        assert sum(own.split.parts.values()) == own.split.total == Decimal(epsilon)
        spent = [
            (count * (mechanism.sensitivity / mechanism.scale) ** 2, count * touched)
            for mechanism, count, touched in mechanisms(domain, own, target)
        ]
        squares, draws = (math.fsum(column) for column in zip(*spent, strict=True))
        assert squares <= own.mu**2 * (1 + 1e-12)
        assert squares >= own.mu**2 * (1 - 1e-6), "nothing is left lying about"
        profile = gaussian_delta
        if choice := own.split.parts.get(CHOICE):
            profile = Selections(float(choice / chosen["pairs"]), chosen["pairs"]).delta
        person = own.mu * rows_per_person
        assert draws <= accounting._draws(own.parameters, len(domain.columns) - 1, output_count(domain, target))
        allowed = calibrate_fine_gaussian(Decimal(epsilon), DELTA, int(draws) * rows_per_person, profile)
        assert person <= allowed * (1 + 1e-9)
        assert profile(person, float(epsilon)) <= float(DELTA)
        assert person >= 0.99 * allowed


@for_each("rows_per_person", [1, 3, 1000])
def test_choices_of_pairs_cost_their_share(rows_per_person):
    _, own = cost(pairs=4, epsilon="2", rows_per_person=rows_per_person)
    assert 4 * rows_per_person * choice_epsilon(own) <= own.split[CHOICE]
    assert own.split[CHOICE] == Decimal("0.2")


@for_each("rows_per_person", [1, 5])
@for_each("pairs", [1, 3, 5])
def test_pairs_are_chosen_for_much_less_than_by_adding_up(pairs, rows_per_person):
    """Against the same split with the choice taken off epsilon first: 5 to 10 % less noise."""
    for epsilon in ("0.1", "1", "8"):
        domain, own = cost("ill", epsilon, pairs=pairs, rows_per_person=rows_per_person)
        draws = rows_per_person * accounting._draws(own.parameters, len(domain.columns) - 1, 1)
        gaussian = Decimal(epsilon) - own.split[CHOICE]
        added = calibrate_fine_gaussian(gaussian, DELTA, draws)
        whole = calibrate_fine_gaussian(Decimal(epsilon), DELTA, draws)
        assert 1.04 * added < rows_per_person * own.mu < whole


def test_what_is_not_asked_has_no_share():
    """Sizes before epochs that there are; and no choice where all pairs are learned."""
    assert SIZES not in cost("stay", epochs=2)[1].split.parts
    for epochs, queries in ((3, 1), (4, 1), (5, 2), (8, 2), (9, 3), (24, 3)):
        _, own = cost("stay", epochs=epochs)
        assert len(size_epochs(own.parameters)) == queries
        asked = queries * (size_mechanism(own).sensitivity / size_mechanism(own).scale) ** 2
        assert asked == pytest.approx(own.part(SIZES) ** 2, rel=1e-9)
    _, own = cost("ill", pairs=6)
    assert CHOICE not in own.split.parts
    assert own.mu == pytest.approx(cost("ill")[1].mu, rel=1e-3)
    assert own.split[PAIRS] > 0


def test_a_share_never_grows_by_rounding():
    for epsilon, chosen in product(("0.1", "0.777777777", "9"), CHOICES):
        _, own = cost("stay", epsilon, **chosen)
        steps = [step for step in own.split.parts if step != CHOICE]
        assert math.fsum(own.part(step) ** 2 for step in steps) <= own.mu**2 * (1 + 1e-15)
        for step, count in product(steps, (1, 3, 1000)):
            assert count * own.part(step, count) ** 2 <= own.part(step) ** 2 * (1 + 1e-15)


def test_sensitivities_of_the_mechanisms_by_hand():
    domain, own = cost("stage", pairs=3)
    steps = COUNT_STEPS
    assert histogram_mechanism(own, domain).sensitivity == math.isqrt(5 * steps**2 - 1) + 1
    assert pair_count_mechanism(own).sensitivity == math.isqrt(3 * steps**2 - 1) + 1
    several = math.isqrt(5 * (math.isqrt(2 * RESIDUAL_STEPS**2 - 1) + 3) ** 2 - 1) + 1
    assert residual_mechanism(own, domain, "stage").sensitivity == several
    assert pair_residual_mechanism(own, domain, "stage").sensitivity == several
    domain, own = cost("stay", pairs=3)
    assert size_mechanism(own).sensitivity == steps
    assert residual_mechanism(own, domain, "stay").sensitivity == math.isqrt(5 * RESIDUAL_STEPS**2 - 1) + 1
    assert PAIR_STEPS < RESIDUAL_STEPS


@for_each(
    ("epsilon", "delta", "rows_per_person", "chosen"),
    [
        ("0.003314226", DELTA, 1000, {"pairs": 6}),
        ("0.000050055", Decimal("1e-12"), 1, {"pairs": 6, "epochs": 1000, "replicates": 3}),
        ("0.00003", Decimal("1e-15"), 1, {"epochs": 1000}),
    ],
)
def test_a_budget_that_some_later_step_could_not_use_is_refused_at_once(epsilon, delta, rows_per_person, chosen):
    """The noise of one pair's sums needs a wider scale than that of one column's."""
    domain, own = cost("ill", epsilon, delta, rows_per_person, **chosen)
    with pytest.raises(BudgetError, match="This epsilon is too small for so many noisy sums"):
        check_budget(own, domain, "ill")


OPEN = ("max_bins", "epochs", "learning_rate", "bin_share")


def resolved(parameters=None, **changes):
    given = {"numbers": False, "max_rows": 10_000, "mu": 0.3, "features": 10, **changes}
    return resolve(parameters or EBMParameters(), **given)


@for_each("method", ["all_bins", "random_splits"])
@for_each("numbers", [True, False])
def test_nothing_stays_open_and_what_is_chosen_stays(method, numbers):
    filled = resolved(EBMParameters(method=method), numbers=numbers)
    assert all(getattr(filled, name) is not None for name in OPEN)
    assert EBMParameters(**filled.model_dump()).model_dump() == filled.model_dump()
    mine = EBMParameters(method=method, max_bins=5, epochs=7, learning_rate=0.123, bin_share=0.4)
    assert resolved(mine, numbers=numbers).model_dump() == mine.model_dump()


def test_published_values_of_random_splits():
    """Nori et al. (2021), section 4; they do not depend on the data set."""
    for rows in (10, 10**8):
        filled = resolved(EBMParameters(method="random_splits"), max_rows=rows)
        values = [getattr(filled, name) for name in OPEN]
        assert values == [32, 300, 0.01, 0.1]


def test_more_precision_learns_faster_and_with_more_bins():
    filled = [resolved(max_rows=10**power) for power in range(1, 9)]
    for before, after in pairwise(filled):
        assert before.learning_rate <= after.learning_rate
        assert before.max_bins <= after.max_bins
    assert (filled[0].learning_rate, filled[-1].learning_rate) == (0.02, 0.7)
    assert (filled[0].max_bins, filled[-1].max_bins) == (16, 64)


@for_each("mu", [1e-9, 1.0, 1e3])
@for_each("rows", [1, 10**8])
@for_each("features", [1, 999])
def test_the_rule_holds_in_the_corners(mu, rows, features):
    filled = resolved(mu=mu, max_rows=rows, features=features)
    assert EBMParameters(**filled.model_dump()).model_dump() == filled.model_dump()
