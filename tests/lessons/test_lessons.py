"""What the lessons say is true: chances, odds, costs, and attacks that succeed or fail."""

from __future__ import annotations

import itertools
import math
from decimal import Decimal

import numpy as np
import pytest

from dpcore.demo.stroke import make_stroke
from dpcore.errors import BudgetError
from dpcore.lessons import (
    AGES,
    COUNTS,
    GROUP,
    PEOPLE,
    Averages,
    Shares,
    ToyBudget,
    answered,
    averages,
    both_ways,
    ceiling,
    difference_attack,
    margin,
    membership_attack,
    neighbours,
    noise_chance,
    noisy_answers,
    reconstruction_attack,
    secrets,
    shares,
    toy_cap,
    worst_odds,
)
from dpcore.lessons.noise import noisy_vector
from dpcore.plots.lessons.lessons import (
    answers_alt,
    answers_figure,
    averages_alt,
    averages_figure,
    neighbours_alt,
    neighbours_figure,
)
from dpcore.privacy.budgets import gaussian_delta
from dpcore.privacy.filters import largest_rho
from tests.support.rows import for_each

EPSILONS = [Decimal(text) for text in ("0.1", "0.5", "1", "2")]
COUNTED = next(place for place, one in enumerate(GROUP) if one.counted)
NOT_COUNTED = next(place for place, one in enumerate(GROUP) if not one.counted)


def difference_of_geometrics(noise: int, epsilon: Decimal) -> float:
    """Oracle: P(G - H = noise) for two independent geometric variables, summed term by term."""
    decay = math.exp(-float(epsilon))
    terms = ((1 - decay) * decay ** (other + abs(noise)) * (1 - decay) * decay**other for other in range(2000))
    return math.fsum(terms)


# Noise


def test_the_fixed_counts_are_those_of_the_public_data():
    frame = make_stroke().frame
    age, yes = (
        frame["age"],
        {
            name: frame[name].fillna(False).astype(bool)
            for name in ("hypertension", "prior_tia", "atrial_fibrillation", "stroke_within_year")
        },
    )
    groups = [
        yes["hypertension"],
        yes["prior_tia"],
        (age > 80) & yes["atrial_fibrillation"] & yes["prior_tia"],
        (frame["systolic_bp"] > 200).fillna(False).astype(bool),
        (age <= 30) & yes["stroke_within_year"],
    ]
    people = [len(set(frame.loc[group, "patient_id"])) for group in groups]
    assert [count.people for count in COUNTS] == people


def test_the_fixed_groups_of_age_are_those_of_the_public_data():
    ages = make_stroke().frame.groupby("patient_id")["age"].min()
    found = np.searchsorted(AGES, ages, side="left")
    assert np.bincount(found, minlength=len(PEOPLE)).tolist() == list(PEOPLE)


@for_each("questions", [1, 2, 7, len(AGES)])
def test_both_ways_of_asking_answer_the_same_questions_within_their_margins(questions):
    draws = [both_ways(questions, Decimal("0.1"), draw) for draw in range(200)]
    first = draws[0]
    assert len(set(first.ages)) == questions
    assert first.ages == tuple(sorted(first.ages))
    assert first.truths == tuple(
        sum(people for age, people in zip((*AGES, 200), PEOPLE, strict=True) if age > asked) for asked in first.ages
    )
    alone = np.abs(np.array([draw.alone for draw in draws]) - first.truths)
    added = np.abs(np.array([draw.added for draw in draws]) - first.truths)
    assert 0.9 < np.mean(alone <= first.alone_margin) < 0.99
    assert 0.9 < np.mean(added <= first.added_margins) < 0.99
    better = max(first.added_margins) < first.alone_margin
    assert better == (questions > 1)


@for_each("epsilon", EPSILONS)
def test_chances_of_noise_are_those_of_a_difference_of_geometric_variables(epsilon):
    for noise in (-7, -1, 0, 1, 2, 30):
        expected = difference_of_geometrics(noise, epsilon)
        assert noise_chance(noise, epsilon) == pytest.approx(expected, rel=1e-9)


@for_each("epsilon", EPSILONS)
def test_the_margin_is_the_smallest_that_holds_95_percent(epsilon):
    reach = margin(epsilon)

    def within(most: int) -> float:
        return sum(difference_of_geometrics(noise, epsilon) for noise in range(-most, most + 1))

    assert within(reach) >= 0.95 > within(reach - 1)


def test_answers_differ_from_draw_to_draw_and_can_be_repeated():
    first = noisy_answers(100, Decimal("0.1"), range(1, 21))
    assert first == noisy_answers(100, Decimal("0.1"), range(1, 21))
    assert len(set(first)) > 10
    assert first[3:5] == noisy_answers(100, Decimal("0.1"), [4, 5])


def test_noise_has_the_stated_chances():
    """Seeded: 20,000 draws, each frequent value within five standard deviations."""
    epsilon, draws = Decimal("0.5"), 20_000
    noise = noisy_vector(np.zeros(draws, dtype=np.int64), 1, epsilon, 3)
    for value in range(-4, 5):
        chance = difference_of_geometrics(value, epsilon)
        spread = math.sqrt(draws * chance * (1 - chance))
        assert abs((noise == value).sum() - draws * chance) < 5 * spread


# Neighbours


@pytest.mark.crossed
@pytest.mark.parametrize("epsilon", EPSILONS)
@pytest.mark.parametrize("person", range(len(GROUP)))
def test_one_person_changes_no_chance_by_more_than_the_factor(person, epsilon):
    pair = neighbours(person, epsilon)
    assert pair.count == sum(one.counted for one in GROUP)
    rest = [one for place, one in enumerate(GROUP) if place != person]
    assert pair.count_without == sum(one.counted for one in rest)
    factor = math.exp(float(epsilon)) if GROUP[person].counted else 1.0
    assert pair.largest_ratio == pytest.approx(factor, rel=1e-9)
    assert 0.97 < sum(pair.present) <= 1
    assert 0.97 < sum(pair.absent) <= 1
    for answer, chance in zip(pair.answers, pair.present, strict=True):
        expected = difference_of_geometrics(answer - pair.count, epsilon)
        assert chance == pytest.approx(expected, rel=1e-9)


# Odds


@for_each("epsilon", EPSILONS)
@for_each("before", [0.01, 0.1, 0.5, 0.9])
def test_the_worst_answer_teaches_what_the_odds_say(before, epsilon):
    """Bayes' rule over every likely answer of the two neighbours."""
    pair = neighbours(COUNTED, epsilon)
    after = [
        before * here / (before * here + (1 - before) * there)
        for here, there in zip(pair.present, pair.absent, strict=True)
    ]
    odds = worst_odds(before, epsilon)
    assert odds.highest == pytest.approx(max(after), rel=1e-9)
    assert odds.lowest == pytest.approx(min(after), rel=1e-9)


# Composition


def test_more_answers_narrow_the_average():
    found = averages(COUNTS[2], toy_cap(Decimal(5)), Decimal("0.1"), 50, 1)
    assert all(later < sooner for sooner, later in itertools.pairwise(found.margins))
    assert abs(found.means[-1] - 123) <= found.margins[-1]


@for_each(("epsilon", "fit"), [("0.1", 1455), ("0.5", 70), ("2", 5)])
def test_a_budget_ends_the_questions_where_an_account_does(epsilon, fit):
    cap = toy_cap(Decimal(5))
    assert answered(cap, Decimal(epsilon)) == fit
    assert len(averages(COUNTS[0], cap, Decimal(epsilon), 100, 1).means) == min(100, fit)
    taken = shares(cap, Decimal(epsilon), 100)
    assert taken.composed[min(100, fit) - 1] <= 1
    assert fit >= 100 or taken.composed[fit] > 1
    assert taken.added[-1] == 100 * Decimal(epsilon) / 5


def exact_delta(rho: float, questions: int, bound: float) -> float:
    """Oracle: what Gaussian noise on so many answers together tells."""
    return gaussian_delta(math.sqrt(2 * rho * questions), bound)


@for_each("epsilon", ["0.05", "0.5", "1"])
def test_as_many_answers_as_fit_keep_the_promise_of_the_budget(epsilon):
    cap = toy_cap(Decimal(5))
    rho = float(largest_rho(Decimal(epsilon), cap.run_delta))
    fit = answered(cap, Decimal(epsilon))
    assert exact_delta(rho, fit, 5) <= 1e-6 < exact_delta(rho, 2 * fit, 5)


# Attacks


def test_the_difference_of_exact_counts_is_the_secret_of_everybody():
    found = [difference_attack(person, Decimal(1), 1, 1).exact for person in range(30)]
    assert tuple(map(bool, found)) == secrets()


@pytest.mark.parametrize(("epsilon", "least", "most"), [("0.1", 0.4, 0.6), ("50", 0.99, 1.0)])
def test_the_difference_of_noisy_counts_tells_little_unless_epsilon_is_huge(epsilon, least, most):
    """Seeded: both kinds of secret, 5,000 attempts each."""
    kinds = [secrets().index(secret) for secret in (True, False)]
    right = sum(difference_attack(person, Decimal(epsilon), 5000, 9).right for person in kinds)
    assert least <= right / 10_000 <= most


def test_both_counts_of_a_difference_share_one_budget():
    """Everybody else is in both counts, so each of the two gets noise of scale 2 / epsilon."""
    found = difference_attack(0, Decimal("0.5"), 40_000, 2)
    half = Decimal("0.25")
    one = sum(n * n * difference_of_geometrics(n, half) for n in range(-200, 201))
    assert np.var(found.noisy) == pytest.approx(2 * one, rel=0.05)


@for_each("epsilon", EPSILONS)
def test_the_ceiling_is_what_the_best_guess_between_neighbours_reaches(epsilon):
    """One half plus half the total variation distance of the two noisy counts."""
    chances = [difference_of_geometrics(n, epsilon) for n in range(-301, 302)]
    distance = sum(abs(after - before) for before, after in itertools.pairwise(chances))
    assert ceiling(epsilon) == pytest.approx(0.5 + distance / 4, rel=1e-9)


@for_each("epsilon", EPSILONS)
def test_membership_is_certain_from_exact_answers_and_bounded_from_noisy_ones(epsilon):
    """Seeded: 20,000 guesses, within five standard deviations of the ceiling."""
    guesses = 20_000
    found = membership_attack(epsilon, guesses, 4)
    assert found.exact == guesses
    best = math.exp(float(epsilon)) / (1 + math.exp(float(epsilon)))
    assert found.ceiling == pytest.approx(best)
    assert abs(found.private / guesses - best) < 5 * math.sqrt(best * (1 - best) / guesses)


def test_enough_exact_counts_give_everybody_away_and_few_do_not():
    for seed in range(20):
        many, few = (reconstruction_attack(counts, Decimal(1), seed) for counts in (40, 10))
        assert many.right(many.exact) == 30
        assert few.right(few.exact) < 30


def test_noisy_counts_give_nobody_away_unless_epsilon_is_huge():
    """Seeded: 40 attacks. Guesses are about as good as those of a coin."""
    private = [reconstruction_attack(40, Decimal(1), seed) for seed in range(40)]
    mean = sum(found.right(found.private) for found in private) / 40
    assert 13 < mean < 18
    careless = reconstruction_attack(40, Decimal(500), 1)
    assert careless.right(careless.private) == 30


# Toy budget


def test_a_toy_budget_is_spent_to_the_last_digit_and_then_refuses():
    budget = ToyBudget(toy_cap(Decimal(1)))
    for seed in range(10):
        budget = budget.ask(COUNTS[0], "0.1", seed)
    assert budget.left == 0
    with pytest.raises(BudgetError, match=r"costs ε 0\.10, but ε 0\.00 is left"):
        budget.ask(COUNTS[0], "0.1", 11)
    assert len(budget.answers) == 10
    assert budget.spent == 1


@for_each("epsilon", ["0", "-1", "much", "nan"])
def test_a_toy_budget_takes_no_nonsense(epsilon):
    with pytest.raises(BudgetError):
        ToyBudget(toy_cap(Decimal(1))).ask(COUNTS[0], epsilon, 1)


# Pictures


def trace(figure, name):
    [found] = [item for item in figure.data if item.name == name]
    return found


def test_the_dots_are_the_answers_and_the_axis_holds_zero():
    figure = answers_figure(28, [30, -4, 61], 30, "people")
    assert list(trace(figure, "noisy answers").x) == [30, -4]
    assert list(trace(figure, "latest noisy answer").x) == [61]
    assert list(trace(figure, "latest noisy answer").y) == [3]
    assert set(trace(figure, "95% of the answers").x) == {-2, 58}
    low, high = figure.layout.xaxis.range
    assert low < -4
    assert high > 61
    assert answers_alt(28, [30, -4, 61], 30) == (
        "3 noisy answers, from −4 to 61; 95% of such answers are within 30 of the exact one. "
        "Latest: 61. Exact answer: 28."
    )


def test_neighbours_are_drawn_with_their_factor():
    pair = neighbours(COUNTED, Decimal("0.5"))
    figure = neighbours_figure(pair)
    assert tuple(trace(figure, "with this person").y) == pair.present
    assert tuple(trace(figure, "without this person").y) == pair.absent
    assert "1.65" in figure.layout.annotations[0].text
    assert "1.65" in neighbours_alt(pair)
    same = neighbours(NOT_COUNTED, Decimal("0.5"))
    assert "same chance" in neighbours_figure(same).layout.annotations[0].text
    assert "same chance" in neighbours_alt(same)


def test_averages_stop_where_the_budget_ends_and_shares_go_on():
    found = Averages((120.0, 124.0), (30.0, 20.0))
    taken = Shares(tuple(map(Decimal, ("0.5", "1", "1.5"))), tuple(map(Decimal, ("0.4", "0.8", "1.2"))))
    figure = averages_figure(123, found, taken)
    assert tuple(trace(figure, "average so far").y) == found.means
    assert tuple(trace(figure, "if ε were added").y) == (0.5, 1.0, 1.5)
    assert tuple(trace(figure, "as it is counted").y) == (0.4, 0.8, 1.2)
    told = averages_alt(123, found, taken)
    assert "average of 2 noisy answers is 124.0" in told
    assert "of 3 questions: 150 % if their epsilons were added, 120 % as it is counted" in told
