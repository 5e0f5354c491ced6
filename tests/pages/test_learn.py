"""The page of lessons: each asks before it tells; every control; no real budget touched."""

from __future__ import annotations

import math
import re
from decimal import Decimal

import pytest

from dpcore.demo.stroke import make_stroke
from dpcore.lessons import (
    COUNTS,
    RISK_BEFORE,
    STAYS,
    averages,
    both_ways,
    calibrated,
    ceiling,
    coin_epsilon,
    costs,
    difference_attack,
    estimate_margin,
    margin,
    membership_attack,
    noisy_answers,
    reconstruction_attack,
    secrets,
    shown_chance,
    toy_cap,
    worst_odds,
)
from dpcore.privacy.budgets import format_epsilon
from pages.components.kit.texts import text
from pages.components.lessons import course
from pages.components.lessons.topics import budget, coin, delta, difference, membership, neighbours, noise, odds
from pages.components.visitor import access
from tests.support.page_tools import ROOT, add_ward, checked, open_page, words

TITLES = [lesson.title for lesson in course.LESSONS]
ASKED = [lesson for lesson in course.LESSONS if lesson.guess]


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


def compared(app):
    """Guess and truth, as they stand beside each other; several if the lesson asks twice."""
    return re.findall(r"Your guess</small><b>(.*?)</b>.*?The truth</small><b>(.*?)</b>", words(app), re.DOTALL)


# The course


def test_the_page_is_free_and_needs_no_data_set(learn):
    assert "Nothing here touches a real budget" in words(learn)
    assert [item.value for item in learn.subheader] == ["Everybody at once"]
    assert TITLES[0] == "Everybody at once"
    assert TITLES[-1] == "Sandbox"


@pytest.mark.parametrize("lesson", ASKED, ids=lambda lesson: lesson.guess)
def test_each_lesson_asks_before_it_tells(learn, lesson):
    learn.selectbox(key="lesson").set_value(lesson.title).run()
    assert [item.value for item in checked(learn).subheader] == [lesson.title]
    assert not charts(learn)
    assert not compared(learn)
    assert text(f"lesson_{lesson.guess}_truth") not in words(learn)
    assert "answers seen" in words(learn)
    press(opened(learn, lesson.title), "lesson-restart")
    opened(learn, lesson.title)
    assert len(charts(learn)) == 1
    assert all(charts(learn))
    assert text(f"lesson_{lesson.guess}_truth") in words(learn)
    asked = [item for item in learn.expander if item.label.startswith("**Question.**")]
    assert len(asked) == 1
    assert len(asked[0].markdown[0].value) > 40
    [sources] = [item for item in learn.expander if item.label == "Sources"]
    assert len(sources.markdown[0].value) > 40


def test_every_source_of_a_lesson_is_listed_in_the_documentation():
    listed = " ".join((ROOT / "docs" / "sources.md").read_text(encoding="utf-8").split())
    cited = {source for lesson in course.LESSONS for source in lesson.sources}
    assert [source for source in cited if source not in listed] == []


def test_a_guess_stands_beside_the_truth_and_the_course_remembers_it(learn):
    learn.selectbox(key="lesson").set_value("Noise and counts").run()
    learn.slider(key="guess-noise").set_value(70).run()
    press(learn, "guess-noise-sure")
    assert compared(learn) == [("±70 people", f"±{margin(Decimal('0.1'))} people")]
    assert "1 of 13 answers seen" in words(learn)
    press(learn, "lesson-next")
    assert not compared(learn)
    press(learn, "lesson-back")
    assert compared(learn) == [("±70 people", "±30 people")]
    press(learn, "lesson-restart")
    assert [item.value for item in learn.subheader] == ["Everybody at once"]
    assert "0 of 13 answers seen" in words(learn)


def test_who_wants_to_guess_nothing_sees_the_truth_too(learn):
    opened(learn, "Epsilon as odds")
    assert compared(learn) == [("none", "15%")]


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
        "Composition and the budget": ["91 questions"],
        "What delta is": [delta.MORE],
        "Many questions, one measurement": [f"±{max(both_ways(15, tenth, 1).added_margins)} patients"],
        "What privacy does not prevent": ["20.0%"],
    }
    assert list(truths) == TITLES[:-1]
    for title, shown in truths.items():
        assert [truth for _, truth in compared(opened(learn, title))] == shown, title


def test_a_choice_is_a_guess_only_once_it_is_made(learn):
    learn.selectbox(key="lesson").set_value("What delta is").run()
    assert learn.button(key="guess-delta-sure").disabled
    learn.radio(key="guess-delta").set_value(delta.SAME).run()
    press(learn, "guess-delta-sure")
    assert compared(learn) == [(delta.SAME, delta.MORE)]


def test_the_way_through_the_course_leads_to_every_lesson(learn):
    seen = [learn.subheader[0].value]
    while any(one.key == "lesson-next" for one in learn.button):
        press(learn, "lesson-next")
        seen.append(learn.subheader[0].value)
    assert seen[:-1] == TITLES[:-1]
    assert seen[-1] == "Teacher's sandbox"


@pytest.mark.parametrize("name", [lesson.guess for lesson in ASKED] + ["sandbox"])
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
    gaussian = calibrated(1.0, 1e-5)
    trusted = margin(Decimal(f"{coin_epsilon(0.5):.6f}"))
    told = {
        "noise_question": (f"±{margin(Decimal('0.1'))}", f"than {4 + margin(Decimal('0.1'))} people"),
        "noise_guess": (f"{COUNTS[3].people} patients have",),
        "budget_question": (
            f"±{margin(Decimal(2))} (95%)",
            f"±{margins[19]:.0f}",
            f"cost about ε = {counted.spent[99]:.1f}, and their average is within ±{margins[99]:.0f},",
        ),
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
    press(opened(app, "Noise and counts"), "lesson-noise-again-1")
    press(opened(app, "Sandbox"), "lesson-sandbox-ask")
    balance = access.service().balance(dataset_id)
    assert balance.left == balance.cap
    assert not [e for e in access.service().ledger_entries(dataset_id) if e.kind == "reserve"]
    assert not access.service().runs(dataset_id)


# Noise


def test_asking_again_gives_another_answer(learn):
    opened(learn, "Noise and counts")
    expected = noisy_answers(28, Decimal("0.1"), range(1, 23))
    assert f"Latest: {expected[0]}" in chart(learn, "1 noisy answer;")
    press(learn, "lesson-noise-again-1")
    assert f"Latest: {_shown(expected[1])}" in chart(learn, "2 noisy answers")
    press(learn, "lesson-noise-again-20")
    assert f"Latest: {_shown(expected[21])}" in chart(learn, "22 noisy answers")


def test_the_oldest_dots_leave_the_picture(learn):
    opened(learn, "Noise and counts")
    for _ in range(6):
        press(learn, "lesson-noise-again-20")
    assert "100 noisy answers" in chart(learn, "noisy answers, from")


def test_each_epsilon_of_the_first_lesson_has_its_margin(learn):
    opened(learn, "Noise and counts")
    for stop in noise.STOPS:
        slide(learn, "lesson-noise-epsilon", stop)
        [told] = re.findall(r"95% margin: <b>±([\d,]+)</b>", words(learn))
        # About log(20) / epsilon: whole numbers are coarse, so up to 1.5 beside it.
        assert abs(int(told.replace(",", "")) - math.log(20) / float(stop)) < 1.5


def test_small_counts_drown_and_large_ones_do_not(learn):
    opened(learn, "Noise and counts")
    app = slide(learn, "lesson-noise-epsilon", "0.1")
    table = words(app)
    assert re.search(r"9,521</td><td>±30</td><td>±0\.3%</td><td>clear", table)
    assert re.search(r">5</td><td>±30</td><td>±600%</td><td>drowned in noise", table)


def test_another_count_can_be_asked(learn):
    opened(learn, "Noise and counts")
    learn.selectbox(key="lesson-noise-count").select_index(0).run()
    assert "Exact answer: 9,521" in chart(checked(learn), "1 noisy answer;")


# Neighbours and odds


def test_each_epsilon_of_the_second_lesson_has_its_factor(learn):
    opened(learn, "Neighbours")
    for stop in neighbours.STOPS:
        slide(learn, "lesson-neighbours-epsilon", stop)
        assert f"factor of {math.exp(float(stop)):.2f}" in chart(learn, "with this person")


def test_a_person_who_is_not_counted_changes_nothing(learn):
    opened(learn, "Neighbours")
    learn.button_group(key="lesson-neighbours-person").set_value(1).run()
    taken = re.search(r'aria-label="Taken out".*?</section>', words(learn), re.DOTALL)
    assert taken is not None
    assert "Person 2" in taken.group()
    assert "regular" in taken.group()
    assert "every answer has the same chance" in chart(checked(learn), "Chances of noisy answers")


def test_each_epsilon_of_the_third_lesson_is_told_as_odds(learn):
    opened(learn, "Epsilon as odds")
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
    opened(learn, "Epsilon as odds")
    for before in (1, 50, 99):
        learn.slider(key="lesson-odds-before").set_value(before).run()
        assert f"Before: <b>{before}%</b>" in words(checked(learn))


# Composition


def test_the_budget_of_the_fourth_lesson_refuses_when_it_is_empty(learn):
    """By adding alone it would have refused after 50 questions."""
    opened(learn, "Composition and the budget")
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
    opened(learn, "Composition and the budget")
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
    opened(learn, "Composition and the budget")
    learn.slider(key="lesson-budget-questions").set_value(1).run()
    slide(learn, "lesson-budget-epsilon", "0.5")
    assert 'aria-label="Spent ε 0.50; Left for one question ε 4.50"' in words(learn)


def test_other_noise_gives_another_average(learn):
    opened(learn, "Composition and the budget")
    before = chart(learn, "The average of")
    press(learn, "lesson-budget-again-1")
    assert chart(learn, "The average of") != before


# One histogram, and attacks


def test_more_questions_cost_more_one_by_one_than_from_one_histogram(learn):
    opened(learn, "Many questions, one measurement")
    assert "within 449 of the truth; added up from one histogram, within 30 to 108" in chart(learn, "15 questions")
    learn.slider(key="lesson-histogram-questions").set_value(1).run()
    assert "within 30 of the truth; added up from one histogram, within 30." in chart(checked(learn), "1 question.")
    slide(learn, "lesson-histogram-epsilon", "1")
    assert "within 3 of the truth" in chart(learn, "1 question.")


def test_asked_again_the_histogram_is_another(learn):
    opened(learn, "Many questions, one measurement")
    before = words(learn)
    press(learn, "lesson-histogram-again-1")
    assert words(learn) != before


@pytest.mark.parametrize(
    ("title", "key"),
    [
        ("Everybody at once", "reconstruction"),
        ("Two counts, one person", "difference"),
        ("Who is in the data?", "membership"),
        ("Sensitivity", "sensitivity"),
        ("A coin for everybody", "coin"),
    ],
)
def test_every_draw_can_be_repeated(learn, title, key):
    before = words(opened(learn, title)), charts(learn)
    press(learn, f"lesson-{key}-again-1")
    assert (words(learn), charts(learn)) != before


def test_the_difference_attack_says_how_often_it_was_right(learn):
    opened(learn, "Two counts, one person")
    learn.selectbox(key="lesson-difference-person").select_index(3)
    for stop in difference.STOPS:
        slide(learn, "lesson-difference-epsilon", stop)
        found = difference_attack(3, Decimal(stop), 50, 1)
        assert f"<b>{found.right} of 50</b>" in words(learn)
    assert f"The secret is out: <b>{'yes' if secrets()[3] else 'no'}</b>" in words(learn)


def test_the_membership_attack_stands_beside_its_ceiling(learn):
    opened(learn, "Who is in the data?")
    for stop in membership.STOPS:
        slide(learn, "lesson-membership-epsilon", stop)
        found = membership_attack(Decimal(stop), 1000, 1)
        assert f"{found.private / 1000:.1%} from noisy" in chart(learn, "guesses")
        assert "100.0% are right from exact" in chart(learn, "guesses")


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


def test_a_limit_of_stays_is_marked_in_the_picture(learn):
    opened(learn, "Sensitivity")
    assert "at most 365 days of a stay are counted, 0 days are left out" in chart(learn, "If at most")
    slide(learn, "lesson-sensitivity-clamp", 40)
    assert "at most 40 days of a stay are counted, 160 days are left out" in chart(learn, "If at most")
    slide(learn, "lesson-sensitivity-epsilon", "0.05")
    assert " 10 days have the smallest error" in chart(learn, "If at most")
    slide(learn, "lesson-sensitivity-epsilon", "2")
    assert " 80 days have the smallest error" in chart(learn, "If at most")


def test_a_set_of_one_s_own_keeps_the_definition(learn):
    opened(learn, "The definition")
    assert "53.8% with this person and of 32.6% without: 1.65 times as much" in chart(learn, "An answer from")
    learn.slider(key="lesson-definition-set").set_value((-5, 3)).run()
    assert "0.61 times as much. No set has more than 1.65" in chart(checked(learn), "An answer from −5 to 3")
    learn.slider(key="lesson-definition-before").set_value(90).run()
    assert "gave a chance of 90%" in words(checked(learn))


def test_coins_are_tossed_and_a_survey_has_its_margin(learn):
    opened(learn, "A coin for everybody")
    assert "You say" not in words(learn)
    for number in (1, 2):
        press(learn, "lesson-coin-toss")
        assert f"Toss {number}." in words(learn)
    for honest in coin.HONEST:
        slide(learn, "lesson-coin-honest", honest)
        assert f"ε of each answer: <b>{coin_epsilon(honest):.2f}</b>" in words(learn)
        assert f"within {estimate_margin(1000, honest):,} of the exact one" in chart(learn, "noisy estimates")
    slide(learn, "lesson-coin-people", 100)
    assert "Exact estimate: 30" in chart(learn, "noisy estimates")


def test_delta_is_always_smaller_than_the_chance_to_exceed_the_factor(learn):
    opened(learn, "What delta is")
    assert "The area delta is 13%" in chart(learn, "Gaussian noise")
    for deviation in delta.DEVIATIONS:
        slide(learn, "lesson-delta-deviation", deviation)
        for epsilon in delta.EPSILONS:
            slide(learn, "lesson-delta-epsilon", epsilon)
            [times] = re.findall(r"<b>([\d,.]+) times δ</b>", words(learn))
            assert float(times.replace(",", "")) > 1


def test_the_insurer_learns_the_same_with_ann_and_without(learn):
    opened(learn, "What privacy does not prevent")
    assert "20.0% after it if Ann took part, 20.0% if she stayed out" in chart(learn, "Ann's risk")
    slide(learn, "lesson-limits-people", 100)
    slide(learn, "lesson-limits-epsilon", "0.1")
    assert "20.0% after it if Ann" not in chart(learn, "Ann's risk")


# Sandbox


def test_the_sandbox_spends_refuses_and_is_reset(learn):
    opened(learn, "Sandbox")
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
    opened(learn, "Sandbox")
    slide(learn, "lesson-sandbox-epsilon", "2")
    press(learn, "lesson-sandbox-ask")
    assert "costs ε 2.00, but ε 1.00 is left" in learn.warning[0].value
    slide(learn, "lesson-sandbox-epsilon", "0.05")
    press(learn, "lesson-sandbox-ask")
    assert not learn.warning
    assert _sandbox_rows(learn) == 1


def test_another_toy_budget_starts_again(learn):
    opened(learn, "Sandbox")
    press(learn, "lesson-sandbox-ask")
    learn.segmented_control(key="lesson-sandbox-cap").set_value("5").run()
    assert 'aria-label="Spent ε 0.00; Left for one question ε 5.00"' in words(checked(learn))


def test_the_truth_is_shown_on_request(learn):
    opened(learn, "Sandbox")
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
