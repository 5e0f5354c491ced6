"""Figures of shapes, importances and cases: everything that was released is there."""

from __future__ import annotations

import re
from functools import cache
from itertools import pairwise

import numpy as np
import pytest

from dpcore.domain.columns import IntegerColumn, RealColumn
from dpcore.domain.schemas.schema import Schema
from dpcore.models.ebm.released.axis import Axis
from dpcore.models.ebm.released.ebm_words import EBMWords
from dpcore.plots.ebm.ebm import importance_alt, importance_figure, shape_alt, shape_figure
from dpcore.plots.ebm.ebm_bars import MOST_BARS
from dpcore.plots.ebm.ebm_case import MOST_STEPS, case_alt, case_figure, case_steps
from dpcore.plots.ebm.ebm_numbers import spans
from dpcore.plots.ticks import nice_ticks
from dpcore.released.evaluation import Z95
from tests.support.results.small_ebm import SCHEMA, TARGETS, small_ebm, term
from tests.support.tables.small_tables import ward
from tests.support.texts import lacking

CASE = {"age": 70, "glucose": 6.0, "<i>ward</i>": "D"}


def words(task: str = "binary", **more: bool) -> EBMWords:
    return EBMWords(small_ebm(task, **more), SCHEMA, TARGETS[task])


def outputs(told: EBMWords) -> list[int]:
    return list(range(len(told.model.outputs)))


def shape(told: EBMWords, place: int, truth=None):
    return shape_figure(told, told.model.terms[place], outputs(told), truth)


def trace(figure, name):
    return next(item for item in figure.data if item.name == name)


# Numeric columns


def test_steps_stand_on_the_axis_of_the_numbers_themselves():
    told = words()
    line = trace(shape(told, 1), "died = yes")
    assert list(line.x) == [2, 5.5, 5.5, 7, 7, 11, 11, 30]
    scores = [score[0] for score in told.model.terms[1].scores[:-1]]
    assert list(line.y) == pytest.approx(np.repeat(scores, 2))


def test_whole_numbers_get_half_a_unit_on_either_side():
    column = IntegerColumn(name="points", lower=0, upper=42, edges=(0, 4))
    assert spans(Axis.numeric(column, (0, 4)), column) == [(-0.5, 0.5), (0.5, 4.5), (4.5, 42.5)]


def test_a_group_of_a_single_real_number_can_be_seen():
    column = RealColumn(name="dose", lower=0, upper=10, edges=(0, 4))
    (low, high), *_ = spans(Axis.numeric(column, (0, 4)), column)
    assert low < high == 0


def test_the_band_is_the_interval_of_the_noise():
    told = words()
    figure, item = shape(told, 1), told.model.terms[1]
    band = trace(figure, "noise of died = yes")
    steps = 2 * (len(item.scores) - 1)
    upper, lower = np.array(band.y[:steps]), np.array(band.y[steps:][::-1])
    scores = np.repeat([score[0] for score in item.scores[:-1]], 2)
    assert upper == pytest.approx(scores + Z95 * 0.1)
    assert lower == pytest.approx(scores - Z95 * 0.1)


def test_missing_values_stand_apart_at_the_right_with_their_noise():
    told = words()
    figure = shape(told, 1)
    mark = trace(figure, "missing")
    assert mark.x[0] > 30
    assert mark.y[0] == told.model.terms[1].scores[-1][0]
    assert mark.error_y.array[0] == pytest.approx(Z95 * 0.1)
    assert figure.layout.xaxis.ticktext[-1] == "missing"
    assert trace(figure, "missing records").text == ("−7",)


def test_records_are_drawn_per_unit_below_on_the_same_axis():
    told = words()
    figure, item = shape(told, 1), told.model.terms[1]
    bars = trace(figure, "noisy records")
    assert figure.layout.xaxis.matches == "x2"
    assert np.multiply(bars.y, bars.width) == pytest.approx(item.noisy_counts[:3])
    assert np.multiply(bars.error_y.array, bars.width) == pytest.approx(Z95 * 6)


def test_counts_below_zero_are_shown_and_told_apart():
    figure = shape(words(), 1)
    below = trace(figure, "below 0")
    assert below.y[0] < 0
    assert below.marker.pattern.shape == "/"
    assert trace(figure, "counts below 0").text == ("−4",)


def test_narrow_groups_below_zero_get_a_sign_instead_of_a_number():
    item = term([Axis.numeric(SCHEMA.column("glucose"), (28, 29))])
    crowded = item.model_copy(update={"noisy_counts": (50, -3, -4, 2)})
    assert trace(shape_figure(words(), crowded, [0]), "counts below 0").text == ("▾", "▾")


def test_pointing_anywhere_tells_group_score_odds_and_count():
    told = words()
    figure, item = shape(told, 1), told.model.terms[1]
    hover = trace(figure, "details")
    assert [x - width / 2 for x, width in zip(hover.x[:4], hover.width[:4], strict=True)] == [2, 5.5, 7, 11]
    for text, name, (score,), count in zip(
        hover.hovertext, told.bins(item), item.scores, item.noisy_counts, strict=True
    ):
        assert not lacking(text, f"<b>glucose: {name}</b>", f"odds × {np.exp(score):.2f}")
        assert f"noisy count {count} ±12, 95%".replace("-", "−") in text


def test_classes_differ_by_dash_and_symbol_not_only_by_colour():
    told = words("multiclass")
    figure = shape(told, 0)
    lines = list(figure.select_traces({"mode": "lines+markers"}))
    assert len(lines) == 3
    assert len({line.line.dash for line in lines}) == 3
    assert len({line.marker.symbol for line in lines}) == 3
    assert [line.name for line in lines] == ["goes = home", "goes = care", "goes = &lt;b&gt;died&lt;/b&gt;"]


@pytest.mark.parametrize("place", [1, 2])
def test_noise_of_a_group_that_is_nearly_empty_does_not_flatten_the_others(place):
    told = words()
    item = told.model.terms[place]
    loud = item.model_copy(update={"errors": (*item.errors[:-1], (1000.0,))})
    figure = shape_figure(told, loud, [0])
    low, high = (figure.layout.yaxis if place == 1 else figure.layout.xaxis).range
    filled = [score[0] for score in item.scores[:3]]
    assert low < min(filled) - Z95 * 0.1
    assert max(filled) + Z95 * 0.1 < high
    assert high - low < 5


# Columns of categories


def test_categories_are_bars_with_whiskers_and_counts_beside_them():
    told = words()
    figure, item = shape(told, 2), told.model.terms[2]
    bars = trace(figure, "died = yes")
    assert list(bars.x) == [score[0] for score in item.scores]
    assert bars.error_x.array == pytest.approx([Z95 * 0.1] * 5)
    counts = trace(figure, "noisy records")
    assert list(counts.x) == list(item.noisy_counts)
    assert [text.strip() for text in trace(figure, "counts").text[-2:]] == ["−4 ±12", "−7 ±12"]
    assert counts.marker.pattern.shape[-2:] == ("/", "/")
    assert figure.layout.yaxis.ticklabelstandoff > 0, "a whisker cut off at the edge does not reach a name"
    assert figure.layout.yaxis.ticktext == ("&lt;b&gt;A&lt;/b&gt;", "B &amp; C", "D", "other", "missing")


def test_counts_beside_categories_have_room_for_their_noise():
    told = words()
    faint, crowded = (
        told.model.terms[2].model_copy(update={"noisy_counts": (most, 2967, -6, 112, 0), "count_errors": (224.5,) * 5})
        for most in (168, 1_687_100)
    )
    shown = [shape_figure(told, item, [0]) for item in (faint, crowded)]
    assert [text.strip() for text in trace(shown[1], "counts").text[:3]] == ["1,687,100 ±440", "2,967 ±440", "−6 ±440"]
    assert shown[0].layout.margin.r < shown[1].layout.margin.r
    hover = trace(shown[1], "noisy records").hovertext[2]
    assert "noisy count −6 ±440, 95%" in hover


def test_of_many_categories_the_fullest_are_drawn():
    categories = [f"c{i}" for i in range(100)]
    schema = ward(
        {"name": "town", "type": "categorical", "categories": categories},
        {"name": "died", "type": "boolean", "target": True},
        name="many",
        max_rows=10,
    )
    item = term([Axis.categories(schema.column("town"))], seed=3)
    model = small_ebm().model_copy(update={"terms": (item,)})
    counts = trace(shape_figure(EBMWords(model, schema, "died"), item, [0]), "noisy records").x
    assert sorted(counts) == sorted(item.noisy_counts)[-MOST_BARS:]


# Pairs


def test_a_pair_shows_every_cell_with_a_number_where_it_stands_out():
    told = words()
    item = told.model.terms[3]
    figure = shape(told, 3)
    [cells] = [found for found in figure.data if found.type == "heatmap"]
    assert np.ravel(cells.z) == pytest.approx([score[0] for score in item.scores])
    assert cells.zmin == -cells.zmax
    numbers = trace(figure, "numbers")
    for text, (score,), count in zip(numbers.text, item.scores, item.noisy_counts, strict=True):
        clear = abs(score) > Z95 * 0.1 and count > Z95 * 6
        assert text == (told.amount(score) if clear else "·")
    assert abs(item.scores[-1][0]) > Z95 * 0.1  # A dot for the count alone.
    told_first = np.ravel(cells.hovertext)[0]
    assert not lacking(told_first, "age 20 to 40, &lt;i&gt;ward&lt;/i&gt;", "odds × ", "noisy count", "noise alone")
    places = np.array([numbers.x, numbers.y]).T.tolist()
    assert places[:6] == [[0, 0], [1, 0], [2, 0], [3, 0], [4, 0], [0, 1]]


def test_a_pair_of_several_classes_shows_the_one_that_is_asked_for():
    told = words("multiclass")
    item = told.model.terms[3]
    [cells] = [c for c in shape_figure(told, item, [2]).data if c.type == "heatmap"]
    assert np.ravel(cells.z) == pytest.approx([score[2] for score in item.scores])


# True counts


@pytest.mark.parametrize("place", [0, 2, 3])
def test_true_counts_are_shown_only_if_they_are_given(place):
    told = words()
    item = told.model.terms[place]
    truth = list(range(1000, 1000 + len(item.scores)))
    with_truth, without = shape(told, place, truth).to_json(), shape(told, place).to_json()
    assert "true count 1,000" in with_truth
    assert "true" not in without.replace(":true", "")


def test_true_records_are_marked_per_unit():
    told = words()
    marks = trace(shape(told, 1, [35, 15, 40, 190, 3]), "true records")
    assert marks.y == pytest.approx((10, 10, 10, 10))
    assert "(true 3)" in trace(shape(told, 1, [35, 15, 40, 190, 3]), "missing records").text[0]


# Importances


def test_importances_are_ranked_and_those_within_the_noise_are_hatched():
    told = words()
    figure = importance_figure(told, 15)
    bars = trace(figure, "importance")
    assert list(bars.x) == sorted(bars.x, reverse=True)
    ranked = told.model.ranked()
    assert bars.marker.pattern.shape == tuple("" if item.clear else "/" for item in ranked)
    texts = trace(figure, "amounts").text
    assert [text.endswith("within the noise") for text in texts] == [not item.clear for item in ranked]
    alone = trace(figure, "what noise alone would give").x
    assert alone == pytest.approx([0.1 * np.sqrt(2 / np.pi)] * 4)


def test_a_column_that_nothing_would_make_stand_out_has_no_mark():
    model = small_ebm()
    known, *others = model.ranked()
    some = model.model_copy(update={"terms": (known.model_copy(update={"threshold": 0.7}), *others)})
    mark = trace(importance_figure(EBMWords(some, SCHEMA, TARGETS["binary"]), 15), "needed to stand out")
    assert (list(mark.x), list(mark.y)) == ([0.7], [0])


# One case


def test_the_waterfall_starts_at_the_intercept_and_ends_at_the_prediction():
    told = words()
    steps = case_steps(told, told.model.explain(CASE, SCHEMA))
    assert steps[0].end == told.model.intercept[0]
    for before, after in pairwise(steps[:-1]):
        assert after.start == pytest.approx(before.end)
    assert steps[-1].end == pytest.approx(steps[-2].end)
    sizes = [abs(step.change) for step in steps[1:-1]]
    assert sizes == sorted(sizes, reverse=True)


def test_many_small_parts_are_one_step():
    model = small_ebm(pair=False)
    columns = [{"name": f"x{i}", "type": "real", "lower": 0, "upper": 1, "edges": [0.5]} for i in range(14)]
    columns.append({"name": "died", "type": "boolean", "target": True})
    schema = Schema.from_mapping({"name": "wide", "max_rows": 10, "columns": columns})
    terms = tuple(term([Axis.numeric(schema.column(f"x{i}"), (0.5,))], seed=i, size=1 + i) for i in range(14))
    model = model.model_copy(update={"terms": terms})
    told = EBMWords(model, schema, "died")
    case = {f"x{i}": 0.2 for i in range(14)}
    steps = case_steps(told, model.explain(case, schema))
    assert len(steps) == MOST_STEPS + 3
    assert steps[-2].name == "all 4 others"
    assert steps[-2].end == pytest.approx(steps[-1].end)
    eleven = model.model_copy(update={"terms": terms[:11]})
    told = EBMWords(eleven, schema, "died")
    assert not any("others" in s.name for s in case_steps(told, eleven.explain(case, schema)))
    assert [step.name for step in case_steps(told, eleven.explain({"x3": 0.2}, schema))][1:-1] == ["x3: 0 to 0.5"]


def test_each_class_has_a_waterfall_of_its_own():
    told = words("multiclass")
    parts = told.model.explain(CASE, SCHEMA)
    ends = [case_steps(told, parts, output)[-1].end for output in range(3)]
    assert ends == pytest.approx(told.total(parts)[0].tolist())


# Every figure


@cache
def everything(task: str, *, flat: bool):
    told = words(task, flat=flat)
    parts = told.model.explain(CASE, SCHEMA)
    return [
        (importance_figure(told, 15), importance_alt(told, 15)),
        *((shape_figure(told, item, outputs(told)), shape_alt(told, item, outputs(told))) for item in told.model.terms),
        *((case_figure(told, parts, output), case_alt(told, parts, output)) for output in outputs(told)),
    ]


@pytest.mark.crossed
@pytest.mark.parametrize("flat", [False, True])
@pytest.mark.parametrize("task", TARGETS)
def test_no_text_of_the_schema_becomes_markup_in_a_figure(task, flat):
    for figure, _ in everything(task, flat=flat):
        assert not re.search(r"<i>|<b>(A|died)", figure.to_json().replace("\\u003c", "<"))


@pytest.mark.parametrize("task", TARGETS)
def test_every_figure_is_told_in_words(task):
    told = words(task)
    for _, alt in everything(task, flat=False):
        assert len(alt) > 60
    alt = shape_alt(told, told.model.terms[0], outputs(told))
    for name in told.bins(told.model.terms[0]):
        assert f"{name}: " in alt
    assert all(item.name in importance_alt(told, 15) for item in told.model.terms)


@pytest.mark.parametrize(("low", "high"), [(0, 1), (-3.2, 4.7), (1e-6, 3e-6), (-2e5, 7e6), (19.5, 100.5)])
def test_ticks_are_round_and_inside(low, high):
    ticks = nice_ticks(low, high)
    assert 3 <= len(ticks) <= 9
    assert low - 1e-9 <= ticks[0]
    assert ticks[-1] <= high + 1e-9
    assert all(len(f"{tick:g}") <= 8 for tick in ticks)
    assert np.diff(ticks) == pytest.approx(ticks[1] - ticks[0])
