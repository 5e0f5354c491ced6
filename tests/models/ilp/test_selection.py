"""Choosing a clause: chances, what neighbours see, and the two published reductions."""

from __future__ import annotations

from decimal import Decimal

import numpy as np
import pytest

from dpcore.learning import count_budget
from dpcore.learning.count_budget import CountBudget
from dpcore.models.ilp.language.ilp_parameters import ILPParameters, ILPSettings
from dpcore.models.ilp.language.lattice import Lattice, build_lattice
from dpcore.models.ilp.language.overlap_bounds import overlap_bounds
from dpcore.models.ilp.learning.selection import GRID, naive, noisy_max, prior_offsets, relevance_aware, select_clause
from dpcore.privacy.budgets import EPSILON_STEP
from dpcore.privacy.mechanisms import GeometricMechanism, NoisyMax
from dpcore.privacy.randomness import SecureRandom, SeededRandom
from tests.oracles.mechanisms_oracle import FALSE_ALARM, chi_square
from tests.oracles.mechanisms_oracle import permute_and_flip_probabilities as chances
from tests.support.rows import for_each
from tests.support.tables.small_relations import TARGET, small_schema

LITERALS = ("sex = f", "age > 30", "drug: kind = a", "test: ward = yes")


def lattice_of(**chosen: object) -> tuple[Lattice, ILPParameters]:
    parameters = ILPParameters.model_validate({"literals": LITERALS, "max_literals": 2, **chosen})
    return build_lattice(small_schema(), TARGET, parameters), parameters


@pytest.mark.heavy
@pytest.mark.parametrize(("draws", "most"), [(800, (2, 1)), pytest.param(4000, (2, 3), marks=pytest.mark.slow)])
def test_noisy_max_draws_with_the_chances_of_permute_and_flip(draws: int, most: tuple[int, int]) -> None:
    """Counts up to ``most``; with few draws smaller ones, so that no clause is too rare to be tested."""
    lattice, parameters = lattice_of()
    counts = np.stack([np.arange(len(lattice)) % (largest + 1) for largest in most], axis=1)
    epsilon = Decimal("1.5")
    alike = np.bincount(lattice.lengths)[lattice.lengths]
    scores = counts[:, 1] - counts[:, 0] - np.log(alike) / 1.5
    expected = chances(list(scores), 1 / 1.5)
    assert expected.sum() == pytest.approx(1)
    source = SecureRandom()
    drawn = [noisy_max(lattice, counts, parameters, epsilon, source) for _ in range(draws)]
    seen = np.bincount(drawn, minlength=len(lattice))
    assert chi_square(seen, expected * draws) > FALSE_ALARM
    wrong = chances(list(counts[:, 1] - counts[:, 0]), 1 / 1.5)
    assert chi_square(seen, wrong * draws) < FALSE_ALARM


@pytest.mark.crossed
@pytest.mark.parametrize("prior", [True, False])
@pytest.mark.parametrize("weights", [(1, 2), (3, 1), (1, 1)])
def test_neighbours_see_a_clause_with_chances_within_the_budget(weights: tuple[int, int], prior: bool) -> None:
    """Exact chances on both sides, for a positive and for a negative who comes."""
    lattice, _ = lattice_of()
    epsilon, generator = 0.8, np.random.default_rng(4)
    scale = NoisyMax(GRID * max(weights), Decimal("0.8"), monotone=True).scale / GRID
    assert scale == pytest.approx(max(weights) / epsilon)
    offsets = prior_offsets(lattice.strata, scale * GRID) / GRID if prior else 0
    worst = 0.0
    for _ in range(10):
        counts = generator.integers(0, 4, (len(lattice), 2))
        covered = generator.random(len(lattice)) < generator.random()
        for side in (0, 1):
            after = counts.copy()
            after[covered, side] += 1
            one, two = (
                chances(list(float(weights[1]) * c[:, 1] - weights[0] * c[:, 0] + offsets), scale)
                for c in (counts, after)
            )
            worst = max(worst, float(np.abs(np.log(one / two)).max()))
    assert 0.5 * epsilon < worst <= epsilon + 1e-6


def test_the_prior_gives_every_length_the_same_weight() -> None:
    lengths = np.array([0, 1, 1, 1, 2, 2])
    weights = np.exp(prior_offsets(lengths, 1000.0) / 1000.0)
    assert weights[0] == pytest.approx(weights[1:4].sum(), rel=1e-2)
    assert weights[4:].sum() == pytest.approx(weights[0], rel=1e-2)


@pytest.mark.crossed
@pytest.mark.parametrize("positive", range(1, 8))
@pytest.mark.parametrize("negative", range(1, 5))
@pytest.mark.parametrize("clauses", [1, 2, 5])
def test_strict_clauses_come_first_with_no_more_noise(positive: int, negative: int, clauses: int) -> None:
    """A negative never comes to weigh more than a positive, which is what noise is counted in."""
    asked = ILPParameters(positive_weight=positive, negative_weight=negative, clauses=clauses, strict_first=True)
    found = [asked.weights_of(place) for place in range(clauses)]
    shares = [others / own for others, own in found]
    if positive <= negative or clauses == 1:
        assert found == [asked.weights] * clauses
    else:
        assert all(max(weights) == weights[1] for weights in found)
        assert shares == sorted(shares, reverse=True)
        assert shares[0] > negative / positive > shares[-1]
    plain = asked.model_copy(update={"strict_first": False})
    assert [plain.weights_of(place) for place in range(clauses)] == [asked.weights] * clauses


@for_each("method", ["noisy_max", "naive", "relevance_aware"])
def test_the_first_clause_is_the_stricter_one(method: str) -> None:
    """Of one that covers many, a fifth of them described, and one that covers few, all of them described."""
    counts = np.zeros((len(lattice_of()[0]), 2), dtype=np.int64)
    counts[0] = counts[1] = 40_000, 10_000
    counts[2] = 0, 3_000
    chosen = []
    for strict in (True, False):
        lattice, parameters = lattice_of(
            method=method, positive_weight=6, clauses=2, strict_first=strict, criterion="share", min_share=0.0
        )
        choice = select_clause(lattice, counts, parameters, 100_000, Decimal(100), SeededRandom(1))
        chosen.append(choice.place)
    assert chosen[0] == 2
    assert chosen[1] in (0, 1)


def test_what_was_released_before_there_was_a_choice_was_learned_without() -> None:
    settings = ILPSettings.model_validate({"positive": "yes", "positive_weight": 5})
    assert settings.weights_of(0) == settings.weights


def test_naive_noise_is_for_all_clauses_together(monkeypatch: pytest.MonkeyPatch) -> None:
    lattice, _ = lattice_of()
    asked = watch(monkeypatch)
    counts = np.zeros((len(lattice), 2), dtype=np.int64)
    counts[3, 1] = 10**6
    assert naive(lattice, counts, (1, 1), CountBudget(Decimal(1)), SeededRandom(1)) == 3
    most = overlap_bounds(lattice).most(np.arange(len(lattice)))
    assert asked == [(most, Decimal(1), 2 * len(lattice))]


def test_relevance_aware_pays_for_what_is_left_of_each_level(monkeypatch: pytest.MonkeyPatch) -> None:
    """One condition is so good that nothing else is worth adding to but it."""
    lattice, parameters = lattice_of(method="relevance_aware")
    best = next(
        place
        for place in np.flatnonzero(lattice.lengths == 1)
        if lattice.clause(int(place)).atoms and lattice.clause(int(place)).atoms[0].column == "sex"
    )
    counts = np.zeros((len(lattice), 2), dtype=np.int64)
    counts[0] = 10**7, 10**6
    counts[best] = 0, 10**6
    asked = watch(monkeypatch)
    choice = relevance_aware(lattice, counts, parameters, 10, CountBudget(Decimal(3)), SeededRandom(1))
    assert choice == (best, Decimal(1)), "the share of the last level, of which nothing is left"
    assert [distance for distance, _, _ in asked] == [1, 4]
    assert sum(epsilon for _, epsilon, _ in asked) == Decimal(2)


def test_a_level_takes_the_shares_of_those_below_it_that_are_dead_already(monkeypatch: pytest.MonkeyPatch) -> None:
    """Nobody is positive, so that no condition is worth counting: the root has been paid for."""
    lattice, parameters = lattice_of(method="relevance_aware", max_literals=3)
    counts = np.zeros((len(lattice), 2), dtype=np.int64)
    counts[:, 0] = 10**6
    alone = int(np.flatnonzero(lattice.lengths == 1)[0])
    counts[0, 1] = counts[alone, 1] = 10**7
    parameters = parameters.model_copy(update={"criterion": "share", "min_share": 0.5})
    asked = watch(monkeypatch)
    choice = relevance_aware(lattice, counts, parameters, 10**7, CountBudget(Decimal(4)), SeededRandom(1))
    levels = sum(lattice.lengths == 1)
    assert [distance for distance, _, _ in asked] == [1, levels]
    assert [epsilon for _, epsilon, _ in asked] == [1, 1]
    assert choice == (0, 2) or choice == (alone, 2)


@pytest.mark.parametrize("criterion", ["best", "share"])
def test_relevance_aware_never_needs_more_than_it_has(monkeypatch: pytest.MonkeyPatch, criterion: str) -> None:
    """Down to one step of epsilon for each level, whatever is drawn."""
    lattice, parameters = lattice_of(method="relevance_aware", max_literals=3, criterion=criterion, min_share=0.3)
    generator, asked = np.random.default_rng(3), watch(monkeypatch)
    for steps in [*range(4, 12), *(10**9 for _ in range(60))]:
        counts, budget = generator.integers(0, 9, (len(lattice), 2)), steps * EPSILON_STEP
        asked.clear()
        left = relevance_aware(
            lattice, counts, parameters, 10, CountBudget(budget), SeededRandom(int(counts.sum()))
        ).left
        assert left >= 0
        assert sum((epsilon for _, epsilon, _ in asked), left) == budget
        # A level that is counted at all has at least the share that it had by itself.
        assert min(epsilon for _, epsilon, _ in asked) >= budget / 4 - EPSILON_STEP
        if len(asked) == 4:
            assert left == 0


def test_relevance_aware_keeps_subtrees_that_may_still_win(monkeypatch: pytest.MonkeyPatch) -> None:
    lattice, parameters = lattice_of(method="relevance_aware")
    counts = np.full((len(lattice), 2), 10**6, dtype=np.int64)
    counts[lattice.lengths == 2, 0] = 0
    asked = watch(monkeypatch)
    chosen, left = relevance_aware(lattice, counts, parameters, 10, CountBudget(Decimal(3)), SeededRandom(1))
    assert left == 0
    assert lattice.lengths[chosen] == 2
    levels = np.bincount(lattice.lengths)
    assert [distance for distance, _, _ in asked] == levels.tolist()
    assert [epsilon for _, epsilon, _ in asked] == [Decimal(1)] * 3


def test_relevance_aware_by_share_deletes_what_few_positives_have(monkeypatch: pytest.MonkeyPatch) -> None:
    lattice, parameters = lattice_of(method="relevance_aware", criterion="share", min_share=0.5)
    counts = np.zeros((len(lattice), 2), dtype=np.int64)
    counts[0, 1] = 10**6
    frequent = np.flatnonzero(lattice.lengths == 1)[:2]
    counts[frequent, 1] = 10**6
    asked = watch(monkeypatch)
    relevance_aware(lattice, counts, parameters, 10**6, CountBudget(Decimal(3)), SeededRandom(1))
    assert [distance for distance, _, _ in asked] == [1, 4, 1]


def watch(monkeypatch: pytest.MonkeyPatch) -> list[tuple[int, Decimal, int]]:
    """Sensitivity, budget and number of counts of each noisy release."""
    asked: list[tuple[int, Decimal, int]] = []

    def build(sensitivity: int, epsilon: Decimal) -> GeometricMechanism:
        class Watched(GeometricMechanism):
            def release(self, values, randomness):  # type: ignore[no-untyped-def]
                asked.append((sensitivity, epsilon, values.size))
                return super().release(values, randomness)

        return Watched(sensitivity, epsilon)

    monkeypatch.setattr(count_budget, "GeometricMechanism", build)
    return asked


@for_each("method", ["noisy_max", "naive", "relevance_aware"])
def test_every_method_finds_a_clause_that_stands_out(method: str) -> None:
    lattice, parameters = lattice_of(method=method)
    counts = np.full((len(lattice), 2), 50_000, dtype=np.int64)
    counts[7, 0] = 0
    chosen = select_clause(lattice, counts, parameters, 10**5, Decimal(1), SeededRandom(3))
    assert chosen.place == 7
    assert chosen.left == 0 or method == "relevance_aware"


def test_the_prior_leaves_room_for_every_coverage():
    """However small epsilon is: scores of neighbours are as far apart as their coverages."""
    strata = np.repeat([0, 1], [5000, 1])
    offsets = prior_offsets(strata, GRID * 4_096_000 / 3e-9)
    largest = GRID * 4_096_000 * 10**8
    for offset in {int(offset) for offset in offsets}:
        assert abs(offset) + largest < 2**63
    assert offsets[-1] == 0 > offsets[0]
