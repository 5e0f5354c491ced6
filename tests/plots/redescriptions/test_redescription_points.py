"""Figures of redescriptions: everything that was found is there, and told apart without colour."""

from __future__ import annotations

import dataclasses
import math
import re
from itertools import pairwise

import numpy as np
import pytest

from dpcore.domain.counted import PEOPLE
from dpcore.models.redescriptions.released.reading import Exact, agreement_margins, exact_agreement, sentence, sentences
from dpcore.models.redescriptions.released.redescription_set import RedescriptionSet
from dpcore.models.redescriptions.released.tree_pair import TreePair
from dpcore.numerals import hundredths, whole
from dpcore.plots.redescriptions.redescription_points import redescriptions_alt, redescriptions_figure, support_steps
from dpcore.plots.redescriptions.redescriptions_agreement import agreement_alt, agreement_figure
from dpcore.plots.redescriptions.redescriptions_moved import moved_figure, reading_styles, threshold_styles
from dpcore.plots.redescriptions.redescriptions_pair import leaf_name, outline, pair_alt, pair_figure
from dpcore.plots.redescriptions.redescriptions_truth import truth_figure, truth_histogram
from tests.support.results.small_redescriptions import (
    SCHEMA,
    SEVERAL,
    literal,
    small_pairs,
    tree,
    tree_pair,
    two_sided_people,
)
from tests.support.texts import lacking

MODEL = small_pairs()
FOUND = MODEL.extract(SCHEMA)
#: Some are kept and some are not.
THRESHOLD = 2000
KEPT = [item for item in FOUND.found if item.whole_support >= THRESHOLD]
ASIDE = [item for item in FOUND.found if item.whole_support < THRESHOLD]
TABLES = MODEL.exact_tables(two_sided_people(), SCHEMA)


def trace(figure, start):
    return next(item for item in figure.data if item.name.startswith(start))


def names(figure):
    return [item.name for item in figure.data]


def places(item):
    return list(zip(item.x, item.y, strict=True))


def many(count: int) -> RedescriptionSet:
    """So many that differ in their support alone."""
    first = FOUND.found[0]
    items = tuple(dataclasses.replace(first, support=10.0 + place) for place in range(count))
    return dataclasses.replace(FOUND, found=items)


# All of them


def test_there_is_something_to_see():
    assert KEPT
    assert ASIDE


def test_every_redescription_is_one_point_at_its_support_and_jaccard_index():
    figure = redescriptions_figure(FOUND, THRESHOLD)
    for start, items in (("kept", KEPT), ("set aside", ASIDE)):
        points = trace(figure, start)
        assert places(points) == [(item.whole_support, item.jaccard) for item in items]
        assert [FOUND.found[place] for place in points.customdata] == items
        assert points.name == f"{start} ({len(items)})"


def test_what_is_shown_as_the_threshold_is_kept_everywhere():
    """30 is not below 30, though the noisy number behind it is 29.7: in tables, texts, figures."""
    item = dataclasses.replace(FOUND.found[0], support=29.7)
    found = dataclasses.replace(FOUND, found=(item,), suggested_support=30)
    assert (found.pruned(30), found.pruned(31)) == ((item,), ())
    for threshold, kind in ((30, "kept"), (31, "set aside")):
        assert trace(redescriptions_figure(found, threshold), kind).x.tolist() == [30]
        counted = f"{'1' if kind == 'kept' else '0'} have a noisy support of {threshold} or more"
        assert counted in redescriptions_alt(found, threshold)
        exact = [Exact(30, 0, 0, 1.0, 0.0)]
        assert [one.name for one in truth_figure(found.found, exact, threshold).data if kind in one.name]
    assert "Below the suggested support" not in sentences(found, [item], 1).sentences[0]
    css = threshold_styles(found, "a-points", "a-support", str)
    assert [one.name for one in hidden_at(30, css, moved_figure(found))] == ["set aside"]


def test_what_is_set_aside_can_be_left_out():
    figure = redescriptions_figure(FOUND, THRESHOLD, aside=False)
    assert not any(name.startswith("set aside") for name in names(figure))
    low = 10 ** figure.layout.xaxis.range[0]
    assert low > FOUND.suggested_support / 2
    assert len(trace(figure, "kept").x) == len(KEPT)


@pytest.mark.parametrize("threshold", [0, 10, FOUND.suggested_support, THRESHOLD, 100_000])
def test_points_and_thresholds_lie_inside_the_axes(threshold):
    figure = redescriptions_figure(FOUND, threshold)
    low, high = (10**end for end in figure.layout.xaxis.range)
    bottom, top = figure.layout.yaxis.range
    assert all(low < item.support < high for item in FOUND.found)
    assert all(bottom <= item.jaccard < top for item in FOUND.found)
    assert all(low < mark < high for mark in (FOUND.suggested_support, threshold) if mark)
    shown = [low <= tick <= high for tick in figure.layout.xaxis.tickvals]
    assert sum(shown) >= 2


def test_thresholds_are_marked_and_named():
    figure = redescriptions_figure(FOUND, THRESHOLD)
    assert set(trace(figure, "kept from").x) == {THRESHOLD}
    assert set(trace(figure, "suggested").x) == {FOUND.suggested_support}
    assert trace(figure, "kept from").line.dash != trace(figure, "suggested").line.dash
    assert trace(figure, "kept from").name == "kept from 2,000 on"
    at_suggested = redescriptions_figure(FOUND, FOUND.suggested_support)
    assert trace(at_suggested, "kept from").name.endswith("on (suggested)")
    assert not any(name.startswith("suggested") for name in names(at_suggested))
    assert not any(name.startswith("kept from") for name in names(redescriptions_figure(FOUND, 0)))


def parts(figure, name):
    """Traces of one kind, in the order in which they stand in the page."""
    return [one for one in figure.data if one.name == name]


def joined(figure, name, what="x"):
    return [value for one in parts(figure, name) for value in getattr(one, what)]


@pytest.mark.parametrize("found", [FOUND, many(3000)], ids=["few", "many"])
def test_the_moved_figure_holds_every_point_as_kept_and_as_set_aside(found):
    figure = moved_figure(found)
    supports = sorted(item.whole_support for item in found.found)
    assert joined(figure, "ring") == joined(figure, "set aside") == joined(figure, "kept") == supports
    assert joined(figure, "ring", "y") == joined(figure, "set aside", "y") == joined(figure, "kept", "y")
    assert "set aside" not in names(moved_figure(found, aside=False))
    for name in ("set aside", "kept"):
        assert [one.showlegend for one in parts(figure, name)] == [True] + [False] * (len(parts(figure, name)) - 1)
    low, high = (10**end for end in figure.layout.xaxis.range)
    assert all(low < support < high for support in (*supports, found.suggested_support))
    [line] = figure.layout.shapes
    assert (line.x0, line.x1) == pytest.approx((low, high))


def test_what_is_parted_is_parted_by_the_slider():
    steps = support_steps(many(3000))
    ends = [(part.x[0], part.x[-1]) for part in parts(moved_figure(many(3000)), "ring")]
    assert 1 < len(ends) <= len(steps) + 1
    for (_, before), (after, _) in pairwise(ends):
        assert any(before < step <= after for step in steps)


def test_the_pointer_meets_one_point_of_each_and_only_what_is_marked_has_a_ring():
    for aside in (True, False):
        figure = moved_figure(FOUND, aside=aside)
        rings, others = parts(figure, "ring"), [one for one in figure.data if one.name != "ring"]
        assert figure.data[: len(rings)] == tuple(rings)
        assert [FOUND.found[place].whole_support for place in joined(figure, "ring", "customdata")] == joined(
            figure, "ring"
        )
        assert {one.hoverinfo for one in others} == {"skip"}
        assert all(one.text is None and one.customdata is None for one in others)
        for one in rings:
            assert "Click to read it." in one.hovertemplate
            assert one.unselected.marker.opacity < one.marker.opacity < 0.01 < one.selected.marker.opacity
        for points in (one for one in others if one.mode == "markers"):
            assert points.selected.marker.opacity == points.unselected.marker.opacity == points.marker.opacity


def hidden_at(step, css, figure):
    """Traces that a style sheet hides at a step of the slider, by the ranges that it names."""
    [rule] = [line for line in css.splitlines() if f'aria-valuetext="{step}"' in line and ".trace" in line]
    assert rule.endswith("{ visibility: hidden; }")
    ranges = [(int(a), int(b)) for a, b in re.findall(r"trace:nth-child\(n\+(\d+)\):nth-child\(-n\+(\d+)\)", rule)]
    assert len(ranges) == 2
    return [one for place, one in enumerate(figure.data, 1) if any(a <= place <= b for a, b in ranges)]


@pytest.mark.crossed
@pytest.mark.parametrize("aside", [True, False])
@pytest.mark.parametrize("found", [FOUND, many(300)], ids=["few", "many"])
def test_every_step_of_the_slider_hides_just_those_below_it(found, aside):
    figure = moved_figure(found, aside=aside)
    css = threshold_styles(found, "a-points", "a-support", str, aside=aside)
    for step in support_steps(found):
        hidden = hidden_at(step, css, figure)
        seen = {
            name: [x for one in parts(figure, name) if not any(one is other for other in hidden) for x in one.x]
            for name in ("kept", "set aside", "ring")
        }
        supports = sorted(item.whole_support for item in found.found)
        enough = [support for support in supports if support >= step]
        assert seen["kept"] == enough
        assert seen["set aside"] == ([support for support in supports if support < step] if aside else [])
        assert seen["ring"] == (supports if aside else enough)


def test_the_legend_shows_lines_as_lines_and_what_is_set_aside_only_where_something_is():
    figure = moved_figure(FOUND)
    [line] = parts(figure, "kept from here on")
    assert (line.mode, line.line.dash) == ("lines", "solid")
    assert min(line.x) > 10 ** figure.layout.xaxis.range[1], "the line that is seen is the shape, which can be moved"
    assert not any(shape.showlegend for shape in figure.layout.shapes)
    assert parts(figure, "set aside")[0].legendrank > 1000, "last, so that no gap is left"
    css = threshold_styles(FOUND, "a-points", "a-support", str)
    for step in support_steps(FOUND):
        gone = f'aria-valuetext="{step}"]) ~ .st-key-a-points .legend .traces:last-child' in css
        assert gone == all(item.whole_support >= step for item in FOUND.found)
    assert ".legend" not in threshold_styles(FOUND, "a-points", "a-support", str, aside=False)
    assert not any(name.startswith("set aside") for name in names(redescriptions_figure(FOUND, 0)))


def test_what_is_not_shown_is_covered_from_the_pointer():
    wanted = {"aside": False}
    line, cover = moved_figure(FOUND, **wanted).layout.shapes
    assert (cover.x0, cover.x1) == (line.x0, line.x1)
    css = threshold_styles(FOUND, "a-points", "a-support", str, **wanted)
    assert "pointer-events: all" in css
    for step in support_steps(FOUND):
        _, line_at, cover_at = [line for line in css.splitlines() if f'aria-valuetext="{step}"' in line]
        moved, covered = (float(rule.partition("translateX(")[2].partition("%")[0]) for rule in (line_at, cover_at))
        assert covered == pytest.approx(moved - 100)
    assert "pointer-events" not in threshold_styles(FOUND, "a-points", "a-support", str)


def test_the_line_is_hidden_where_it_would_stand_at_the_edge():
    css = threshold_styles(FOUND, "a-points", "a-support", str)
    low = 10 ** moved_figure(FOUND).layout.xaxis.range[0]
    for step in support_steps(FOUND):
        [_, line] = [line for line in css.splitlines() if f'aria-valuetext="{step}"' in line]
        assert ("visibility" not in line) == (step > low)


def test_intervals_of_the_moved_figure_are_those_of_the_noise():
    figure = moved_figure(FOUND)
    items = [FOUND.found[place] for place in joined(figure, "ring", "customdata")]
    ends = [
        (y - below, y + above)
        for one in parts(figure, "kept")
        for y, below, above in zip(one.y, one.error_y.arrayminus, one.error_y.array, strict=True)
    ]
    assert np.ravel(ends) == pytest.approx(np.ravel([item.interval for item in items]))


def ringed(css, figure):
    """Place of the redescription that a selector in a rule names, by the numbers of trace and point."""
    [(part, number)] = set(re.findall(r"\.trace:nth-child\((\d+)\) \.point:nth-child\((\d+)\)", css))
    return figure.data[int(part) - 1].customdata[int(number) - 1]


@pytest.mark.parametrize("aside", [True, False])
def test_the_one_that_is_read_is_ringed_and_shows_its_interval(aside):
    figure = moved_figure(FOUND, aside=aside)
    for place, item in enumerate(FOUND.found):
        [shown, ring] = reading_styles(FOUND, item, "a-points", intervals=False).splitlines()
        assert ringed(ring, figure) == place
        from_end, number = map(
            int, re.search(r":not\(\.trace:nth-last-child\((\d+)\) \.errorbar:nth-child\((\d+)\)", shown).groups()
        )
        part = figure.data[-from_end]
        assert (part.name, part.x[number - 1], part.y[number - 1]) == ("kept", item.whole_support, item.jaccard)
        assert "errorbar" not in reading_styles(FOUND, item, "a-points", intervals=True)
    assert ".point" not in reading_styles(FOUND, None, "a-points", intervals=False)
    assert ".errorbar:not(:not(*)) { visibility: hidden; }" in reading_styles(FOUND, None, "a-points", intervals=False)


def test_a_ring_of_a_click_goes_once_another_one_is_chosen():
    figure = moved_figure(FOUND)
    first, second = FOUND.found[:2]
    css = reading_styles(FOUND, second, "a-points", clicked=first, intervals=True)
    [gone, held, ring] = css.splitlines()
    assert (ringed(gone, figure), ringed(held, figure), ringed(ring, figure)) == (0, 0, 1)
    assert "opacity: 0 !important" in gone
    # Its part is told unless another point is clicked, and with that the first one is no longer marked.
    part, _ = re.search(r"\.trace:nth-child\((\d+)\) \.point:nth-child\((\d+)\)", ring).groups()
    assert held.endswith(f'[style^="opacity: 0;"])) .trace:nth-child({part}) {{ --ring: 0.95; }}')
    assert "opacity: var(--ring, 0) !important" in ring
    clicked = reading_styles(FOUND, second, "a-points", clicked=second, intervals=True)
    assert clicked == reading_styles(FOUND, second, "a-points", intervals=True)


def test_pointing_at_one_tells_its_conditions_as_text():
    points = trace(redescriptions_figure(FOUND, 0), "kept")
    items = [FOUND.found[place] for place in points.customdata]
    assert all(f"noisy support {whole(item.support)}" in text for item, text in zip(items, points.text, strict=True))
    assert all(f"index {hundredths(item.jaccard)}<br>" in text for item, text in zip(items, points.text, strict=True))
    told = "".join(points.text)
    assert not lacking(told, "neither metformin nor insulin on record", "&lt;i&gt;ward&lt;/i&gt;")
    assert "<i>" not in told


def test_thousands_are_drawn_without_the_graphics_card():
    lots = many(3000)
    figure = redescriptions_figure(lots, 100)
    assert {one.type for one in figure.data} == {"scatter"}
    assert len(trace(figure, "kept").x) + len(trace(figure, "set aside").x) == len(lots.found)


def test_words_in_a_figure_of_thousands_stay_few():
    points = trace(redescriptions_figure(many(3000), 0), "kept")
    assert 0 < sum("⇔" in text for text in points.text) <= 500


@pytest.mark.parametrize(("low", "degree"), [(0.35, "partly"), (0.6, "mostly"), (0.85, "nearly")])
def test_the_alternative_text_calls_the_best_no_more_alike_than_its_sentence_does(low, degree):
    best = dataclasses.replace(KEPT[0], interval=(low, 0.9))
    told = redescriptions_alt(dataclasses.replace(FOUND, found=(best, *KEPT[1:])), THRESHOLD)
    assert told.startswith(f"The best one kept says that these are {degree} the same people: ")
    assert f": {degree} the same people as those with " in sentence(best, PEOPLE)


@pytest.mark.parametrize(
    ("schema", "noun", "whom"), [(SCHEMA, "people", "people for whom"), (SEVERAL, "records", "records for which")]
)
def test_figures_say_what_is_counted(schema, noun, whom):
    found = MODEL.extract(schema)
    for figure in (redescriptions_figure(found, THRESHOLD), moved_figure(found)):
        assert figure.layout.xaxis.title.text == f"noisy support: {whom} both sides hold"
    assert f"nearly the same {noun}: " in redescriptions_alt(found, THRESHOLD)
    item, counted = found.found[0], found.counted
    bar = agreement_figure(item, (5, 6, 7), counted, Exact(1300, 70, 50, 0.9, 0.0))
    assert bar.layout.xaxis.title.text == f"{whom} at least one side holds"
    assert bar.data[1].hovertext[1] == f"both: 1,300 {noun}"
    assert agreement_alt(item, (5, 6, 7), counted).startswith(f"Noisy {whom} at least one side holds")
    [drawn] = pair_figure(MODEL.pairs[0], counted).data
    assert drawn.hovertemplate == f"%{{y}} and %{{x}}: %{{text}} {noun} (noisy)<extra></extra>"
    assert drawn.colorbar.title.text == f"noisy<br>{noun}"
    assert pair_alt(MODEL.pairs[0], counted).startswith(f"Noisy {noun} in each of ")


def test_a_figure_without_any_is_empty():
    nothing = dataclasses.replace(FOUND, found=())
    figure = redescriptions_figure(nothing, 100)
    assert len(trace(figure, "kept").x) == 0
    assert "0 redescriptions" in redescriptions_alt(nothing, 100)


@pytest.mark.parametrize(("people", "suggested"), [(4000.0, 62), (1.0, 1), (90_000.0, 135), (50.0, 7000)])
def test_the_slider_runs_over_round_numbers_from_none_to_everybody(people, suggested):
    some = dataclasses.replace(FOUND, people=people, suggested_support=suggested)
    steps = support_steps(some)
    assert steps[0] == 0
    assert suggested in steps
    assert list(steps) == sorted(set(steps))
    assert steps[-1] <= max(people, suggested, 10)
    assert steps[-1] >= 0.75 * min(people, 10_000)
    round_ones = [step for step in steps if step not in (0, suggested)]
    assert all(step % 10 ** (math.floor(math.log10(step)) - 1) == 0 for step in round_ones if step > 9)
    assert len(steps) < 80


# One of them


def test_the_bar_has_three_parts_with_patterns_and_margins():
    item = FOUND.found[1]
    margins = agreement_margins(item, MODEL.pairs[item.pair], SCHEMA)
    figure = agreement_figure(item, margins, PEOPLE)
    assert [list(part.x) for part in figure.data] == [[item.left_only], [item.support], [item.right_only]]
    assert len({part.marker.pattern.shape for part in figure.data}) == 3
    for part, name, margin in zip(figure.data, ("left only", "both", "right only"), margins, strict=True):
        assert part.name.startswith(f"{name}: ")
        assert part.name.endswith(f" ±{margin}")
    told = agreement_alt(item, margins, PEOPLE)
    assert f"both: {item.support:,.0f} ±{margins[1]}" in told
    assert "True" not in told


def test_true_numbers_are_a_bar_of_their_own():
    item, exact = FOUND.found[1], Exact(1300, 70, 50, 0.9, 0.0)
    figure = agreement_figure(item, (5, 6, 7), PEOPLE, exact)
    assert [list(part.y) for part in figure.data] == [["noisy", "true"]] * 3
    assert [part.x[1] for part in figure.data] == [70, 1300, 50]
    assert "both: 1,300" in agreement_alt(item, (5, 6, 7), PEOPLE, exact)


# Beside the truth


def exact_ones(*p_values: float) -> list[Exact]:
    return [Exact(10, 5, 5, 0.3 + 0.1 * place, p) for place, p in enumerate(p_values)]


def test_noisy_stands_against_true_and_chance_has_its_own_shape():
    found, exact = FOUND.found[:4], exact_ones(1e-9, 0.01, 0.02, 0.5)
    threshold = sorted(item.support for item in found)[1]
    figure = truth_figure(found, exact, threshold)
    assert trace(figure, "noisy = true").x == trace(figure, "noisy = true").y == (0, 1)
    groups = {
        "kept, true p up to": [
            (true.jaccard, item.jaccard)
            for item, true in zip(found, exact, strict=True)
            if item.support >= threshold and true.p_value <= 0.01
        ],
        "kept, true p above": [
            (true.jaccard, item.jaccard)
            for item, true in zip(found, exact, strict=True)
            if item.support >= threshold and true.p_value > 0.01
        ],
        "set aside": [
            (true.jaccard, item.jaccard) for item, true in zip(found, exact, strict=True) if item.support < threshold
        ],
    }
    for start, wanted in groups.items():
        assert wanted
        assert places(trace(figure, start)) == wanted
    assert len({trace(figure, start).marker.symbol for start in groups}) == 3


def test_the_histogram_counts_every_one_once():
    exact = exact_agreement(TABLES, FOUND.found)
    figure = truth_histogram(FOUND.found, exact, THRESHOLD)
    assert sum(sum(part.y) for part in figure.data) == len(FOUND.found)
    counted = np.histogram([true.jaccard for true in exact], np.linspace(0, 1, 21))[0]
    assert list(np.sum([part.y for part in figure.data], axis=0)) == list(counted)
    assert figure.layout.barmode == "stack"


# Trees


def test_an_outline_names_every_leaf_once_in_order():
    for side in (MODEL.pairs[0].left, MODEL.pairs[1].right):
        lines = outline(side, SCHEMA)
        leaves = [line.leaf for line in lines if line.leaf]
        assert leaves == [leaf_name(side, leaf) for leaf in range(side.leaf_count)]
        assert len(lines) == 2 * len(side.splits)


def test_an_outline_says_how_one_gets_to_a_leaf():
    deep = tree("left", literal("diabetes_2008", 1), literal("age", 0, 3), literal("age", 0, 1))
    told = [(line.depth, line.text, line.leaf) for line in outline(deep, SCHEMA)]
    assert told == [
        (0, "diabetes_2008 = yes", ""),
        (1, "age ≤ 60", "L1"),
        (1, "age > 60 or missing", "L2"),
        (0, "diabetes_2008 is not yes", ""),
        (1, "age ≤ 40", "L3"),
        (1, "age > 40 or missing", "L4"),
    ]


def test_an_outline_tells_leaves_that_nobody_can_reach():
    twice = tree("right", *[literal("insulin", 1)] * 3)
    reached = [line.reached for line in outline(twice, SCHEMA) if line.leaf]
    assert reached == [True, False, False, True]


def test_the_map_shows_every_noisy_count():
    pair = MODEL.pairs[0]
    figure = pair_figure(pair, PEOPLE)
    [heat] = figure.data
    assert [list(row) for row in heat.z] == [list(row) for row in pair.noisy_counts]
    assert heat.text[3][1] == "−4"
    assert list(heat.y) == ["L1", "L2", "L3", "L4"]
    assert not figure.layout.shapes


def test_what_a_redescription_joins_is_framed_in_the_map():
    item = FOUND.found[1]
    figure = pair_figure(MODEL.pairs[item.pair], PEOPLE, item)
    centres = {((s.y0 + s.y1) / 2, (s.x0 + s.x1) / 2) for s in figure.layout.shapes}
    assert centres == {(left, right) for left in item.left_leaves for right in item.right_leaves}


def test_numbers_are_written_into_small_maps_only():
    def map_of(depth: int) -> TreePair:
        size = 2**depth
        sides = [
            tree(view, *[literal(column, 1)] * (size - 1))
            for view, column in (("left", "diabetes_2008"), ("right", "insulin"))
        ]
        return tree_pair(*sides, [[1] * size] * size)

    assert pair_figure(map_of(3), PEOPLE).data[0].texttemplate
    assert not pair_figure(map_of(4), PEOPLE).data[0].texttemplate
