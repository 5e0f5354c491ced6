"""The page of lessons: every control, the refusals of the toy budgets, no real budget touched."""

from __future__ import annotations

import math
import re
from decimal import Decimal

import pytest

from dpcore.demo.stroke import make_stroke
from dpcore.lessons import (
    COUNTS,
    averages,
    both_ways,
    costs,
    difference_attack,
    margin,
    membership_attack,
    noisy_answers,
    secrets,
    shown_chance,
    toy_cap,
    worst_odds,
)
from dpcore.privacy.budgets import format_epsilon
from pages.components.kit.texts import text
from pages.components.lessons import attacks, budget, neighbours, noise, odds
from pages.components.visitor import access
from tests.support.page_tools import add_ward, button, checked, open_page, words

ATTACKS = ("Two counts, one difference", "Who is in the data?", "Everybody at once")


@pytest.fixture
def learn():
    return open_page("learn")


def slide(app, key, value):
    app.select_slider(key=key).set_value(value).run()
    return checked(app)


def press(app, key):
    app.button(key=key).click().run()
    return checked(app)


def charts(app):
    """What the pictures say to those who cannot see them."""
    return [str(item.proto.alt) for item in app.get("plotly_chart")]


def chart(app, start):
    [found] = [alt for alt in charts(app) if start in alt]
    return found


def test_the_page_is_free_and_needs_no_data_set(learn):
    said = words(learn)
    assert "Nothing on this page touches a real budget" in said
    titles = [item.value for item in learn.subheader]
    assert titles == [
        "Noise and counts",
        "Neighbours",
        "Epsilon as odds",
        "Composition and the budget",
        "Many questions, one measurement",
        "What goes wrong without noise",
        "Teacher's sandbox",
    ]
    assert len(charts(learn)) == 6
    assert all(charts(learn))


def test_every_lesson_ends_with_a_question_and_its_answer(learn):
    asked = [item.label for item in learn.expander if item.label.startswith("**Question.**")]
    assert len(asked) == 7
    for expander in learn.expander:
        if expander.label in asked:
            [answer] = expander.markdown
            assert len(answer.value) > 40


@pytest.mark.parametrize(
    "name",
    ["noise", "neighbours", "odds", "budget", "histogram", "difference", "membership", "reconstruction", "sandbox"],
)
def test_questions_are_a_question_and_an_answer(name):
    question, _, answer = text(f"lesson_{name}_question").partition("\n\n")
    assert question.endswith("?")
    assert answer


def test_figures_told_in_the_texts_are_right():
    """What the engine computes, at the places where a text prints it."""
    tenth, counted = Decimal("0.1"), costs(toy_cap(budget.CAP), Decimal("0.1"), 100)
    margins = averages([0] * 100, tenth).margins
    assert counted.spent[19] == 2
    assert counted.composed[99] / counted.composed[24] == pytest.approx(2, rel=0.1)
    assert margin(Decimal(1)) == 3
    told = {
        "noise": (f"±{margin(Decimal('0.1'))}", f"than {4 + margin(Decimal('0.1'))} people"),
        "budget": (
            f"±{margin(Decimal(2))} (95%)",
            f"±{margins[19]:.0f}",
            f"cost about ε = {counted.spent[99]:.1f}, and their average is within ±{margins[99]:.0f},",
        ),
        "histogram": (
            f"alone with ε = 0.1 is within ±{margin(tenth)} (95%)",
            f"from 15 groups it is within ±{both_ways(15, tenth, 1).added_margins[0]}.",
        ),
        "odds": (
            f"most {math.exp(0.5):.2f}",
            f"up to {math.ceil(math.exp(5))}",
            f"{shown_chance(worst_odds(0.1, Decimal('0.5')).highest)}, or "
            f"{shown_chance(worst_odds(0.1, Decimal('0.5')).lowest)}",
            f"become {worst_odds(0.1, Decimal(5)).highest:.0%}",
        ),
    }
    for name, figures in told.items():
        for shown in figures:
            assert shown in text(f"lesson_{name}_question")
    assert f"true count of {COUNTS[2].people}." in text("lesson_budget")


def test_nothing_on_the_page_reaches_a_ledger():
    dataset_id = add_ward()
    app = open_page("learn")
    press(app, "lesson-noise-again-1")
    press(app, "lesson-sandbox-ask")
    balance = access.service().balance(dataset_id)
    assert balance.left == balance.cap
    assert not [e for e in access.service().ledger_entries(dataset_id) if e.kind == "reserve"]
    assert not access.service().runs(dataset_id)


# Lesson 1


def test_asking_again_gives_another_answer(learn):
    expected = noisy_answers(28, Decimal("0.1"), range(1, 23))
    assert f"Latest: {expected[0]}" in chart(learn, "1 noisy answer;")
    press(learn, "lesson-noise-again-1")
    assert f"Latest: {_shown(expected[1])}" in chart(learn, "2 noisy answers")
    press(learn, "lesson-noise-again-20")
    assert f"Latest: {_shown(expected[21])}" in chart(learn, "22 noisy answers")


def test_the_oldest_dots_leave_the_picture(learn):
    for _ in range(6):
        press(learn, "lesson-noise-again-20")
    assert "100 noisy answers" in chart(learn, "noisy answers, from")


def test_each_epsilon_of_the_first_lesson_has_its_margin(learn):
    for stop in noise.STOPS:
        slide(learn, "lesson-noise-epsilon", stop)
        [told] = re.findall(r"95% margin: <b>±([\d,]+)</b>", words(learn))
        # About log(20) / epsilon: whole numbers are coarse, so up to 1.5 beside it.
        assert abs(int(told.replace(",", "")) - math.log(20) / float(stop)) < 1.5


def test_small_counts_drown_and_large_ones_do_not(learn):
    app = slide(learn, "lesson-noise-epsilon", "0.1")
    table = words(app)
    assert re.search(r"9,521</td><td>±30</td><td>±0\.3%</td><td>clear", table)
    assert re.search(r">5</td><td>±30</td><td>±600%</td><td>drowned in noise", table)


def test_another_count_can_be_asked(learn):
    learn.selectbox(key="lesson-noise-count").select_index(0).run()
    assert "Exact answer: 9,521" in chart(checked(learn), "1 noisy answer;")


# Lessons 2 and 3


def test_each_epsilon_of_the_second_lesson_has_its_factor(learn):
    for stop in neighbours.STOPS:
        slide(learn, "lesson-neighbours-epsilon", stop)
        assert f"factor of {math.exp(float(stop)):.2f}" in chart(learn, "with this person")


def test_a_person_who_is_not_counted_changes_nothing(learn):
    learn.selectbox(key="lesson-neighbours-person").select_index(1).run()
    assert "every answer has the same chance" in chart(checked(learn), "Chances of noisy answers")


def test_each_epsilon_of_the_third_lesson_is_told_as_odds(learn):
    highest = {
        "0.01": "10%",
        "0.1": "11%",
        "0.2": "12%",
        "0.5": "15%",
        "1": "23%",
        "2": "45%",
        "3": "69%",
        "5": "94.3%",
        "10": "above 99.9%",
    }
    assert tuple(highest) == odds.STOPS
    for stop, shown in highest.items():
        slide(learn, "lesson-odds-epsilon", stop)
        assert chart(learn, "before the answer gives").endswith(f"and {shown} after it.")
    assert "that a given person is in the data by a factor" in words(learn)


def test_any_chance_may_be_held_before(learn):
    for before in (1, 50, 99):
        learn.slider(key="lesson-odds-before").set_value(before).run()
        assert f"Before: <b>{before}%</b>" in words(checked(learn))


# Lesson 4


def test_the_budget_of_the_fourth_lesson_refuses_when_it_is_empty(learn):
    """By adding alone it would have refused after 50 questions."""
    assert not learn.warning
    learn.slider(key="lesson-budget-questions").set_value(100).run()
    [refusal] = [item.value for item in checked(learn).warning]
    assert "91 of 100 questions were answered" in refusal
    assert re.search(r"costs ε 0\.10, but ε 0\.0\d+ is left for one question", refusal)
    assert "average of 91 noisy answers" in chart(learn, "The average of")
    slide(learn, "lesson-budget-epsilon", "0.05")
    assert not learn.warning
    slide(learn, "lesson-budget-epsilon", "0.5")
    assert "10 of 100" in learn.warning[0].value


def test_each_epsilon_of_the_fourth_lesson_is_added_and_composed(learn):
    for stop in budget.STOPS:
        slide(learn, "lesson-budget-epsilon", stop)
        counted = costs(toy_cap(budget.CAP), Decimal(stop), 100)
        told = "Adding costs less for all"
        if counted.crossing:
            told = f"Composing costs less from question {counted.crossing} on"
        assert told in chart(learn, "The average of")
    learn.slider(key="lesson-budget-questions").set_value(40).run()
    slide(learn, "lesson-budget-epsilon", "0.1")
    composed = format_epsilon(costs(toy_cap(budget.CAP), Decimal("0.1"), 40).composed[-1])
    said = words(learn)
    assert f"40 answers: ε <b>4.00</b> added, ε <b>{composed}</b> composed" in said
    assert f"The smaller counts: ε <b>{composed}</b>" in said
    assert "δ is not the chance that the factor e^ε is exceeded" in said
    assert re.search(r">24</t[hd]><td>[\d.]+</td><td>±[\d.]+</td><td>2.40</td><td>2.3\d+</td>", said)
    assert re.search(r">41</t[hd]><td>not asked</td><td></td><td>4.10</td>", said)


def test_what_is_left_is_shown(learn):
    learn.slider(key="lesson-budget-questions").set_value(1).run()
    slide(learn, "lesson-budget-epsilon", "0.5")
    assert 'aria-label="Spent ε 0.50; Left for one question ε 4.50"' in words(learn)


def test_other_noise_gives_another_average(learn):
    before = chart(learn, "The average of")
    press(learn, "lesson-budget-again-1")
    assert chart(learn, "The average of") != before


# Lesson 5


def test_more_questions_cost_more_one_by_one_than_from_one_histogram(learn):
    assert "within 449 of the truth; added up from one histogram, within 30 to 108" in chart(learn, "15 questions")
    learn.slider(key="lesson-histogram-questions").set_value(1).run()
    assert "within 30 of the truth; added up from one histogram, within 30." in chart(checked(learn), "1 question.")
    slide(learn, "lesson-histogram-epsilon", "1")
    assert "within 3 of the truth" in chart(learn, "1 question.")


def test_asked_again_the_histogram_is_another(learn):
    before = words(learn)
    press(learn, "lesson-histogram-again-1")
    assert words(learn) != before


def test_every_attack_can_be_repeated(learn):
    for attack in ATTACKS:
        learn.radio(key="lesson-attacks-which").set_value(attack).run()
        before = charts(checked(learn))
        button(learn, "Attack again").click().run()
        assert charts(checked(learn)) != before


def test_the_difference_attack_says_how_often_it_was_right(learn):
    learn.selectbox(key="lesson-attacks-difference-person").select_index(3)
    for stop in attacks.STOPS:
        slide(learn, "lesson-attacks-difference-epsilon", stop)
        found = difference_attack(3, Decimal(stop), 50, 1)
        assert f"<b>{found.right} of 50</b>" in words(learn)
    assert f"The secret is out: <b>{'yes' if secrets()[3] else 'no'}</b>" in words(learn)


def test_the_membership_attack_stands_beside_its_ceiling(learn):
    learn.radio(key="lesson-attacks-which").set_value(ATTACKS[1]).run()
    for stop in attacks.STOPS:
        slide(learn, "lesson-attacks-membership-epsilon", stop)
        found = membership_attack(Decimal(stop), 1000, 1)
        assert f"{found.private / 1000:.1%} from noisy" in chart(learn, "guesses")
        assert "100.0% are right from exact" in chart(learn, "guesses")


def test_reconstruction_follows_its_two_controls(learn):
    learn.radio(key="lesson-attacks-which").set_value(ATTACKS[2]).run()
    told = {}
    for counts, stop in ((160, "500"), (40, "1"), (10, "1")):
        slide(learn, "lesson-attacks-reconstruction-counts", counts)
        slide(learn, "lesson-attacks-reconstruction-epsilon", stop)
        alt = chart(learn, "The secret of 30 invented people")
        found = re.search(r"(\d+) guesses are right, from noisy counts (\d+)", alt)
        told[counts] = tuple(map(int, found.groups()))
    assert told[160] == (30, 30)
    assert told[40][0] == 30
    assert told[40][1] < 25
    assert told[10][0] < 30


# Sandbox


def test_the_sandbox_spends_refuses_and_is_reset(learn):
    assert "Nothing asked yet" in words(learn)
    for _ in range(5):
        press(learn, "lesson-sandbox-ask")
    assert 'aria-label="Spent ε 1.00; Left for one question ε 0.00"' in words(learn)
    assert not learn.warning
    press(learn, "lesson-sandbox-ask")
    assert "Refused" in learn.warning[0].value
    assert _sandbox_rows(learn) == 5
    press(learn, "lesson-sandbox-reset")
    assert not learn.warning
    assert 'aria-label="Spent ε 0.00; Left for one question ε 1.00"' in words(learn)
    assert "Nothing asked yet" in words(learn)


def test_a_smaller_question_still_fits_after_a_refusal(learn):
    slide(learn, "lesson-sandbox-epsilon", "2")
    press(learn, "lesson-sandbox-ask")
    assert "costs ε 2.00, but ε 1.00 is left" in learn.warning[0].value
    slide(learn, "lesson-sandbox-epsilon", "0.05")
    press(learn, "lesson-sandbox-ask")
    assert not learn.warning
    assert _sandbox_rows(learn) == 1


def test_another_toy_budget_starts_again(learn):
    press(learn, "lesson-sandbox-ask")
    learn.segmented_control(key="lesson-sandbox-cap").set_value("5").run()
    assert 'aria-label="Spent ε 0.00; Left for one question ε 5.00"' in words(checked(learn))


def test_the_truth_is_shown_on_request(learn):
    learn.selectbox(key="lesson-sandbox-count").select_index(2).run()
    press(learn, "lesson-sandbox-ask")
    assert "True count</th>" not in _sandbox_table(learn)
    learn.toggle(key="lesson-sandbox-truth").set_value(True).run()
    frame = make_stroke().frame
    people = frame[(frame["age"] > 80) & frame["atrial_fibrillation"] & frame["prior_tia"]]
    assert f"<td>{people['patient_id'].nunique()}</td>" in _sandbox_table(checked(learn))


def _sandbox_table(app):
    return next(str(item.value) for item in app.get("html") if "Noisy answers, each" in item.value)


def _sandbox_rows(app):
    return _sandbox_table(app).count("<tr") - 1


def _shown(number):
    return f"{number:,}".replace("-", "−")
