"""The page of lessons: each asks before it tells; every control; no real budget touched."""

from __future__ import annotations

import math
import re
from decimal import Decimal

import pytest

from dpcore.lessons import (
    COUNTS,
    RISK_BEFORE,
    STAYS,
    answered,
    averages,
    both_ways,
    calibrated,
    ceiling,
    coin_epsilon,
    difference_attack,
    estimate_margin,
    margin,
    reconstruction_attack,
    shares,
    shown_chance,
    worst_odds,
)
from dpcore.privacy.budgets import percent
from pages.components.kit.markup import text
from pages.components.lessons import course
from pages.components.lessons.topics import budget, delta
from pages.components.visitor import access
from tests.support.pages.page_tools import checked, open_page, press, words
from tests.support.pages.ward_runs import add_ward
from tests.support.texts import lacking

TITLES = [lesson.title for lesson in course.LESSONS]


@pytest.fixture
def learn():
    return open_page("learn")


def opened(app, title):
    """A lesson, after a look without a guess."""
    app.selectbox(key="lesson").set_value(title).run()
    while skips := [one for one in app.button if str(one.key).endswith("-skip")]:
        skips[0].click().run()
    return checked(app)


def slide(app, key, value):
    return checked(app.select_slider(key=key).set_value(value).run())


def charts(app):
    """What the pictures say to those who cannot see them."""
    return [str(item.proto.alt) for item in app.get("plotly_chart")]


def chart(app, start):
    [found] = [alt for alt in charts(app) if start in alt]
    return found


def compared(app):
    """Guess and truth, as they stand beside each other; several if the lesson asks twice."""
    return re.findall(r"Your guess</small><b>(.*?)</b>.*?The truth</small><b>(.*?)</b>", words(app), re.DOTALL)


# The course


def test_a_guess_stands_beside_the_truth_and_the_course_remembers_it(learn):
    learn.selectbox(key="lesson").set_value("Noise and counts").run()
    learn.slider(key="guess-noise").set_value(70).run()
    press(learn, key="guess-noise-sure")
    assert compared(learn) == [("±70 people", f"±{margin(Decimal('0.1'))} people")]
    assert "1 of 13 answers seen" in words(learn)
    press(learn, key="lesson-next")
    assert not compared(learn)
    press(learn, key="lesson-back")
    assert compared(learn) == [("±70 people", "±30 people")]
    press(learn, key="lesson-restart")
    assert [item.value for item in learn.subheader] == ["Everybody at once"]
    assert "0 of 13 answers seen" in words(learn)


def test_the_truths_are_what_the_engine_computes(learn):
    half, tenth = Decimal("0.5"), Decimal("0.1")
    first = reconstruction_attack(40, Decimal(1), 1)
    truths = {
        "Everybody at once": [f"{first.right(first.exact)}", f"{first.right(first.private)}"],
        "Two counts, one person": [f"{difference_attack(0, half, 50, 1).right}"],
        "Noise and counts": [f"±{margin(tenth)} people"],
        "Sensitivity": ["365 days"],
        "Neighbours": [f"{math.exp(0.5):.2f} times"],
        "The definition": [f"{20 * math.exp(0.5):.0f}%"],
        "Epsilon as odds": [shown_chance(worst_odds(0.1, half).highest)],
        "Who is in the data?": [f"{ceiling(half):.0%}"],
        "A coin for everybody": ["70 people"],
        "Composition and the budget": [f"{answered(budget.CAP, half)} questions"],
        "What delta is": [delta.MORE],
        "Many questions, one measurement": [f"±{max(both_ways(15, tenth, 1).added_margins)} patients"],
        "What privacy does not prevent": ["20.0%"],
    }
    assert list(truths) == TITLES[:-1]
    for title, shown in truths.items():
        assert [truth for _, truth in compared(opened(learn, title))] == shown, title


def test_the_way_through_the_course_leads_to_every_lesson(learn):
    seen = [learn.subheader[0].value]
    while any(one.key == "lesson-next" for one in learn.button):
        press(learn, key="lesson-next")
        seen.append(learn.subheader[0].value)
    assert seen[:-1] == TITLES[:-1]
    assert seen[-1] == "Teacher's sandbox"


def test_figures_told_in_the_texts_are_right():
    """What the engine computes, at the places where a text prints it."""
    tenth, half = Decimal("0.1"), Decimal("0.5")
    taken = shares(budget.CAP, tenth, 20).composed[-1], shares(budget.CAP, Decimal("0.49"), 1).composed[0]
    exact = [averages(COUNTS[2], budget.CAP, *asked, 1).margins[-1] for asked in ((tenth, 20), (Decimal("0.49"), 1))]
    assert exact[0] == pytest.approx(exact[1], rel=0.05)
    assert [f"{100 * share:.1f}" for share in taken] == ["1.4", "1.4"]
    assert 1 / shares(budget.CAP, half, 1).added[0] == 10
    assert shares(budget.CAP, Decimal(5), 1).composed[0] == pytest.approx(Decimal(1), abs=Decimal("0.001"))
    assert margin(Decimal(1)) == 3
    gaussian = calibrated(1.0, 1e-5)
    trusted = margin(Decimal(f"{coin_epsilon(0.5):.6f}"))
    told = {
        "noise_question": (f"±{margin(Decimal('0.1'))}", f"than {4 + margin(Decimal('0.1'))} people"),
        "noise_guess": (f"{COUNTS[3].people} patients have",),
        "budget_truth": (f"lets {answered(budget.CAP, half)} in",),
        "budget_costs": (f"**Why {answered(budget.CAP, half)} fit.**",),
        "histogram_question": (
            f"alone with ε = 0.1 is within ±{margin(tenth)} (95%)",
            f"from 15 groups it is within ±{both_ways(15, tenth, 1).added_margins[0]}.",
        ),
        "histogram_guess": (f"±{both_ways(15, tenth, 1).alone_margin} patients",),
        "odds_question": (
            f"most {math.exp(0.5):.2f}",
            f"up to {math.ceil(math.exp(5))}",
            f"{shown_chance(worst_odds(0.1, Decimal('0.5')).highest)}, or "
            f"{shown_chance(worst_odds(0.1, Decimal('0.5')).lowest)}",
            f"become {worst_odds(0.1, Decimal(5)).highest:.0%}",
        ),
        "odds_truth": (f"here {math.exp(0.5):.2f}",),
        "neighbours_truth": (f"that is {math.exp(0.5):.2f}",),
        "definition_truth": (f"e^0.5 = {math.exp(0.5):.2f}, which is {20 * math.exp(0.5):.0f}%",),
        "sensitivity_guess": (f"{len(STAYS)} invented patients", f"about {sum(STAYS) / len(STAYS):.0f}"),
        "coin_truth": (f"ε = {coin_epsilon(0.5):.2f}",),
        "coin_question": (f"±{estimate_margin(1000, 0.5)}, the office ±{trusted}",),
        "delta_truth": (
            f"About {gaussian.exceeded / gaussian.delta:.0f} times",
            f"chance of {gaussian.exceeded:.3%}, where δ is {gaussian.delta:.3%}",
        ),
        "limits": (f"average risk, {RISK_BEFORE:.1%}",),
    }
    for name, figures in told.items():
        for shown in figures:
            assert shown in text(f"lesson_{name}"), name
    assert f"true count of {COUNTS[2].people}." in text("lesson_budget")


def test_nothing_on_the_page_reaches_a_ledger():
    dataset_id = add_ward()
    app = open_page("learn")
    press(opened(app, "Noise and counts"), key="lesson-noise-again-1")
    press(opened(app, "Sandbox"), key="lesson-sandbox-ask")
    balance = access.service().balance(dataset_id)
    assert balance.left == 1
    assert not [e for e in access.service().ledger_entries(dataset_id) if e.kind == "reserve"]
    assert not access.service().runs(dataset_id)


# Noise


# Neighbours and odds


# Composition


def test_the_budget_of_the_fourth_lesson_refuses_when_it_is_empty(learn):
    """By adding alone it would have refused after 10 questions."""
    opened(learn, "Composition and the budget")
    assert not learn.warning
    learn.slider(key="lesson-budget-questions").set_value(100).run()
    [refusal] = [item.value for item in checked(learn).warning]
    assert refusal == f"Question {answered(budget.CAP, Decimal('0.5')) + 1} does not fit."
    assert "average of 70 noisy answers" in chart(learn, "The average of")
    slide(learn, "lesson-budget-epsilon", "0.2")
    assert not learn.warning
    slide(learn, "lesson-budget-epsilon", "2")
    assert f"Question {answered(budget.CAP, Decimal(2)) + 1} does not fit." in learn.warning[0].value


def test_each_epsilon_of_the_fourth_lesson_is_added_and_composed(learn):
    opened(learn, "Composition and the budget")
    learn.slider(key="lesson-budget-questions").set_value(40).run()
    for stop in budget.STOPS:
        slide(learn, "lesson-budget-epsilon", stop)
        asked, taken = min(40, answered(budget.CAP, Decimal(stop))), shares(budget.CAP, Decimal(stop), 100)
        added, composed = (percent(ways[asked - 1]) for ways in (taken.added, taken.composed))
        said = words(learn)
        assert f"{asked} answers take <b>{composed}</b> of the budget; added, they would take <b>{added}</b>." in said
        ends = (
            f"{percent(taken.added[-1])} if their epsilons were added, {percent(taken.composed[-1])} as it is counted"
        )
        assert ends in chart(learn, "The average of")
        assert re.search(rf">{asked}</t[hd]><td>[\d.]+</td><td>±[\d.]+</td><td>{added}</td><td>{composed}</td>", said)
        last = "not asked" if asked == 40 else "refused"
        assert re.search(rf">{asked + 1}</t[hd]><td>{last}</td><td></td>", said)
    assert "δ is not the chance that the factor e^ε is exceeded" in said


# One histogram, and attacks


def test_reconstruction_follows_its_two_controls(learn):
    opened(learn, "Everybody at once")
    told = {}
    for counts, stop in ((160, "500"), (40, "1"), (10, "1")):
        slide(learn, "lesson-reconstruction-counts", counts)
        slide(learn, "lesson-reconstruction-epsilon", stop)
        alt = chart(learn, "The secret of 30 invented people")
        found = re.search(r"(\d+) guesses are right, from noisy counts (\d+)", alt)
        told[counts] = tuple(map(int, found.groups()))
    assert told[160] == (30, 30)
    assert told[40][0] == 30
    assert told[40][1] < 25
    assert told[10][0] < 30


# The added lessons


# Sandbox


def test_the_sandbox_spends_refuses_and_is_reset(learn):
    opened(learn, "Sandbox")
    assert "Nothing asked yet" in words(learn)
    for _ in range(5):
        press(learn, key="lesson-sandbox-ask")
    assert 'aria-label="Spent 100 %; Left 0 %"' in words(learn)
    assert not learn.warning
    press(learn, key="lesson-sandbox-ask")
    assert "Refused" in learn.warning[0].value
    assert _sandbox_rows(learn) == 5
    press(learn, key="lesson-sandbox-reset")
    assert not learn.warning
    assert not lacking(words(learn), 'aria-label="Spent 0 %; Left 100 %"', "Nothing asked yet")


def _sandbox_table(app):
    return next(str(item.value) for item in app.get("html") if "Noisy answers, each" in item.value)


def _sandbox_rows(app):
    return _sandbox_table(app).count("<tr") - 1
