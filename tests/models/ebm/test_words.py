"""A machine in words: names of groups, amounts with their noise, sentences, the score table."""

from __future__ import annotations

import math
import re

import numpy as np
import pandas as pd
import pytest

from dpcore.models.ebm.released.ebm_model import COLUMNS, score_table
from dpcore.models.ebm.released.ebm_words import EBMWords, bin_names, factor
from tests.support.results.small_ebm import AGE, SCHEMA, TARGETS, small_ebm
from tests.support.rows import for_each

CASE = {"age": 70, "glucose": 6.0, "<i>ward</i>": "D"}


def words(task: str = "binary", **more: bool) -> EBMWords:
    return EBMWords(small_ebm(task, **more), SCHEMA, TARGETS[task])


# Names of groups


def test_every_whole_number_is_in_the_group_that_is_named_after_it():
    column = SCHEMA.column("age")
    names = bin_names(AGE, column)
    values = pd.Series(range(20, 101))
    for value, code in zip(values, AGE.codes(column, values), strict=True):
        low, high = map(int, names[code].split(" to "))
        assert low <= value <= high


# Amounts


def test_log_odds_are_also_told_as_a_factor():
    assert words().told(math.log(2), 0.1) == "+0.69 (odds × 2.00; noise alone +0.50 to +0.89)"
    assert words("regression").told(-1, 0.1) == "−1.00 (noise alone −1.20 to −0.80)"


@for_each("score", [-500.0, -5.0, 0.0, 3.0, 500.0])
def test_a_factor_is_short_at_any_score(score):
    assert len(factor(score)) < 20
    assert "inf" not in factor(score)


# Sentences


def test_the_highest_and_lowest_groups_are_told_with_their_noise():
    item = words().model.terms[0]
    scores = [score[0] for score in item.scores]
    known = range(3)  # The last two hold next to nobody.
    best, worst = max(known, key=scores.__getitem__), min(known, key=scores.__getitem__)
    sentence = words().sentence(item)
    names = words().bins(item)
    assert f"highest for {names[best]} (× {math.exp(scores[best]):.2f}" in sentence
    assert scores[worst] > 0
    assert "lowest" not in sentence
    assert names[4] not in sentence


def test_each_class_is_told_the_group_that_speaks_most_for_it():
    told = words("multiclass")
    item = told.model.terms[1]
    sentence = told.sentence(item)
    for output, name in enumerate(told.model.classes):
        scores = [score[output] for score in item.scores[:3]]
        best = max(range(3), key=scores.__getitem__)
        amount = f"for {name} ({told.amount(scores[best])} ±0.20)"
        assert (amount in sentence) == (scores[best] > 0.196)
    assert sentence.startswith("glucose: above 5.5 to 7 speaks most for care (")


def test_a_term_within_the_noise_is_told_as_such_and_nothing_else():
    for item in words(flat=True).model.terms:
        assert "may be noise or chance" in words(flat=True).sentence(item)
    reading = words(flat=True).reading()
    assert len(reading) == 2
    assert reading[1].startswith("These may be noise or chance")


@for_each("task", TARGETS)
def test_every_term_is_read_once(task):
    reading = "\n".join(words(task).reading())
    for item in words(task).model.terms:
        assert len(re.findall(rf"^{re.escape(item.name)}:|[:,] {re.escape(item.name)}[.,]", reading, re.MULTILINE)) == 1


# One case


@for_each("task", TARGETS)
def test_the_sum_of_a_case_is_what_the_model_predicts(task):
    told, frame = words(task), pd.DataFrame([CASE])
    parts = told.model.explain(CASE, SCHEMA)
    scores, errors = told.total(parts)
    assert scores == pytest.approx(told.model.scores(frame, SCHEMA)[0])
    assert (errors > max(max(part.error) for part in parts)).all()
    [predicted] = told.model.predict(frame, SCHEMA)
    named = told.number(predicted) if task == "regression" else told.model.classes[predicted]
    assert told.prediction_title(parts).endswith(f"= {named}")


@pytest.mark.parametrize("task", ["binary", "multiclass"])
def test_the_range_of_a_chance_holds_it_and_grows_with_the_noise(task):
    told = words(task)
    parts = told.model.explain(CASE, SCHEMA)
    noisier = [type(p)(p.name, p.label, p.score, tuple(3 * e for e in p.error)) for p in parts]
    chances = told.model.predict_proba(pd.DataFrame([CASE]), SCHEMA)[0]
    for output, chance in enumerate(chances[-len(told.model.outputs) :]):
        widths = []
        for case in (parts, noisier):
            sentence = told.prediction(case, output)
            middle, low, high = (float(x) / 100 for x in re.findall(r"([\d.]+)%", sentence))
            assert low < middle < high
            assert middle == pytest.approx(chance, abs=0.006)
            widths.append(high - low)
        assert widths[1] > 1.5 * widths[0]


@for_each("task", TARGETS)
def test_what_is_not_known_adds_nothing_and_is_said(task):
    told = words(task)
    model, nothing = told.model, told.model.explain({"age": None}, SCHEMA)
    assert told.total(nothing)[0].tolist() == list(model.intercept)
    assert told.doubts(nothing, 0) == "Nothing is known of this case: this is what holds for everyone."
    some = model.explain({"age": CASE["age"]}, SCHEMA)
    alone = next(part for part in model.explain(CASE, SCHEMA) if part.name == "age")
    assert [part for part in some if any(part.score)] == [alone]
    assert told.doubts(some, 0).startswith(f"{len(some) - 1} of {len(some)} parts need what is not known")
    assert told.doubts(model.explain(CASE, SCHEMA), 0) == ""
    noisy = [type(part)(part.name, part.label, part.score, tuple(99.0 for _ in part.error)) for part in some]
    assert "this is next to a guess" in told.doubts(noisy, 0)


def test_a_number_is_clipped_to_its_bounds():
    told = words("regression")
    high = told.model.model_copy(update={"intercept": (90.0,)})
    parts = high.explain(CASE, SCHEMA)
    told = EBMWords(high, SCHEMA, "stay")
    assert told.prediction_title(parts).endswith("= 60.0 days")
    assert "kept within the bounds" in told.prediction(parts, 0)
    inside = words("regression")
    assert "kept" not in inside.prediction(inside.model.explain(CASE, SCHEMA), 0)


# Score table


@for_each("task", TARGETS)
def test_the_score_table_holds_every_number_once(task):
    model = small_ebm(task)
    table = score_table(model)
    assert tuple(table.columns) == COLUMNS
    bins = sum(len(item.scores) for item in model.terms) + 1
    assert len(table) == bins * len(model.outputs)
    for item in model.terms:
        part = table[table["term"] == item.name]
        assert part["score"].to_numpy() == pytest.approx(np.ravel(item.scores))
        assert part["noisy count"].iloc[:: len(model.outputs)].tolist() == list(item.noisy_counts)


def test_predictions_follow_from_the_score_table_alone():
    model = small_ebm(pair=False)
    table = score_table(model)
    total = table.loc[table["term"] == "intercept", "score"].sum()
    for name, value in CASE.items():
        part = table[table["term"] == name]
        if name == "<i>ward</i>":
            total += part.loc[part["category"] == value, "score"].sum()
        else:
            inside = (pd.to_numeric(part["lower"]) < value) & (value <= pd.to_numeric(part["upper"]))
            total += part.loc[inside, "score"].sum()
    assert total == pytest.approx(model.scores(pd.DataFrame([CASE]), SCHEMA)[0, 0])
