"""Figures of trees and forests: everything that was released is there, and nothing else."""

from __future__ import annotations

import itertools

import pytest

from dpcore.domain.conditions import pretty
from dpcore.models.trees.released.tree_reading import group_numbers, rows_in_order
from dpcore.plots.methods import EpsilonCurve, methods_alt, methods_figure
from dpcore.plots.trees.forest import votes_alt, votes_figure
from dpcore.plots.trees.tree import tree_alt, tree_figure
from dpcore.plots.trees.tree_layout import MOST_ROWS, NARROW, TreeLayout, readable_levels
from dpcore.released.noisy_counts import TOO_FEW, why_apart
from tests.support.results.small_trees import full_tree
from tests.support.texts import lacking


def trace(figure, name):
    return next(item for item in figure.data if item.name == name)


def drawn(figure):
    """Nodes that carry details, so that have a box."""
    return set(trace(figure, "details").customdata)


def pieces(item):
    """Outlines of a trace that holds many, as lists of points."""
    points = list(zip(item.x, item.y, strict=True))
    groups = itertools.groupby(points, key=lambda point: point[0] is None)
    return [list(group) for apart, group in groups if not apart]


@pytest.mark.crossed
@pytest.mark.parametrize("outline", [False, True])
@pytest.mark.parametrize("depth", [0, 1, 3, 6])
def test_every_group_has_a_row_with_its_prediction_and_chance(depth, outline):
    tree = full_tree(depth)
    figure = tree_figure(tree, "died", outline=outline)
    assert set(tree.finals) <= drawn(figure)
    predictions = trace(figure, "predictions")
    assert len(predictions.text) == len(set(predictions.y)) == len(tree.finals) == 2**depth
    for position, number in group_numbers(tree).items():
        label = tree.classes[tree.nodes[position].label]
        assert predictions.text[number - 1].startswith(f"<b>{number}:</b>")
        assert predictions.text[number - 1].endswith(label)
    assert len(pieces(trace(figure, "intervals"))) == len(tree.finals)


@pytest.mark.parametrize("outline", [False, True])
def test_folded_parts_are_hidden_until_they_are_wanted(outline):
    tree = full_tree(4, folded_at=2)
    below = {
        position
        for position in range(len(tree.nodes))
        if any(tree.nodes[p].collapsed for p in tree.path(position)[:-1])
    }
    assert below
    figure = tree_figure(tree, "died", outline=outline)
    assert drawn(figure) == set(range(len(tree.nodes))) - below
    unfolded = tree_figure(tree, "died", unfold=True, outline=outline)
    assert drawn(unfolded) == set(range(len(tree.nodes)))
    assert len(pieces(trace(unfolded, "folded boxes"))) == len(below)
    inside = [text for text in trace(unfolded, "predictions").text if text.startswith("<i>in ")]
    assert len(inside) == sum(not tree.nodes[p].children for p in below)


@pytest.mark.parametrize("outline", [False, True])
@pytest.mark.parametrize("unfold", [False, True])
def test_no_two_boxes_meet_and_all_lie_inside(outline, unfold):
    layout = TreeLayout(full_tree(5, folded_at=3), unfold, outline=outline)
    boxes = list(layout.boxes.values())
    assert len(boxes) == len(layout.shown)
    for one, other in itertools.combinations(boxes, 2):
        beside = one.right < other.left or other.right < one.left
        assert beside or one.bottom < other.top or other.bottom < one.top
    assert all(box.left >= 0 and box.right < layout.panel_left for box in boxes)
    assert all(box.top >= 0 and box.bottom <= layout.height for box in boxes)


@pytest.mark.parametrize("depth", [0, 1, 3, 5])
def test_an_outline_keeps_to_a_narrow_window_and_cuts_no_condition(depth, monkeypatch):
    monkeypatch.setattr("dpcore.plots.trees.tree_layout.pretty", "systolic pressure at admission {}".format)
    layout = TreeLayout(full_tree(depth), outline=True)
    assert layout.width <= NARROW
    assert not any("…" in line for box in layout.boxes.values() for line in box.lines)


def test_class_bars_show_the_shares_and_fill_their_boxes():
    tree = full_tree(2, target="ward")
    figure = tree_figure(tree, "ward")
    bars = [pieces(trace(figure, f"share {code}")) for code in range(3)]
    widths = [[p[1][0] - p[0][0] for p in per_class] for per_class in bars]
    layout = TreeLayout(tree)
    for place, position in enumerate(layout.shown):
        whole = sum(width[place] for width in widths)
        shares = [width[place] / whole for width in widths]
        assert shares == pytest.approx(tree.nodes[position].estimates)
        assert whole < layout.boxes[position].width


def test_the_way_of_a_case_is_marked_and_nothing_else():
    tree = full_tree(3)
    path = tree.path(tree.finals[-1])
    figure = tree_figure(tree, "died", path=path)
    assert len(pieces(trace(figure, "path"))) == 3
    assert len(pieces(trace(figure, "connectors"))) == 14 - 3
    assert len(pieces(trace(figure, "boxes on the path"))) == 4
    assert "path" not in {item.name for item in tree_figure(tree, "died").data}


def test_details_tell_counts_with_their_noise_and_the_budget():
    tree = full_tree(2)
    details = trace(tree_figure(tree, "died"), "details")
    told = dict(zip(details.customdata, details.hovertext, strict=True))
    for position, node in enumerate(tree.nodes):
        for count in node.noisy_counts:
            written = str(count).replace("-", "−")
            assert f"noisy count {written} ±{node.count_margin}," in told[position]
        assert f"in all: ε {tree.path_spent(position).normalize():f}" in told[position]
        assert pretty(tree.condition(position)) in told[position].replace("<br>", " ")


def test_true_values_are_drawn_only_if_they_are_given():
    tree = full_tree(2)
    counts = [(6, 2)] * 6 + [(0, 0)]
    figure = tree_figure(tree, "died", truth=counts)
    marks = trace(figure, "true values")
    assert len(marks.x) == 3
    assert "true count 6" in trace(figure, "details").hovertext[0]
    assert "true values" not in {item.name for item in tree_figure(tree, "died").data}
    assert "true" not in trace(tree_figure(tree, "died"), "details").hovertext[0]


def test_a_large_tree_is_cut_where_it_can_still_be_taken_in():
    columns = ("first", "second", "third", "fourth") * 2
    tree = full_tree(8, columns=columns)
    levels = readable_levels(tree)
    assert len(rows_in_order(tree, levels=levels)) <= MOST_ROWS
    assert len(rows_in_order(tree, levels=levels + 1)) > MOST_ROWS
    figure = tree_figure(tree, "died", levels=levels)
    assert set(trace(figure, "predictions").text) == {"<i>4 groups below</i>"}
    assert readable_levels(full_tree(0)) == 0


def test_names_are_shown_as_they_are_whatever_they_hold():
    tree = full_tree(1, target="ward")
    figure = tree_figure(tree, "ward", shown=0)
    texts = [text for item in figure.data for text in (item.text or ())]
    texts += trace(figure, "details").hovertext
    assert any("&lt;b&gt;A&lt;/b&gt;" in text for text in texts)
    assert not any("<b>A" in text for text in texts)


def test_a_group_of_nobody_has_a_row_but_no_chance():
    tree = full_tree(1)
    nobody = tree.finals[0]
    nodes = list(tree.nodes)
    nodes[nobody] = nodes[nobody].model_copy(update={"noisy_counts": tuple(-5 for _ in tree.classes)})
    tree = tree.model_copy(update={"nodes": tuple(nodes)})
    figure = tree_figure(tree, "died")
    assert list(trace(figure, "chances").text).count(TOO_FEW) == 1
    assert len(pieces(trace(figure, "scales"))) == 2
    assert len(pieces(trace(figure, "intervals"))) == len(pieces(trace(figure, "estimates"))) == 1
    details = trace(figure, "details")
    told = zip(details.customdata, details.hovertext, strict=True)
    assert all((TOO_FEW in text) == (place == nobody) for place, text in told)
    assert "highest" not in tree_alt(tree, "died"), "one group is left, which is not the highest of any"


def test_a_group_whose_chance_its_counts_seem_to_contradict_says_why():
    tree = full_tree(1)
    one, other = tree.finals
    nodes = list(tree.nodes)
    nodes[one] = nodes[one].model_copy(update={"noisy_counts": (28, 12), "estimates": (0.996, 0.004)})
    nodes[other] = nodes[other].model_copy(update={"noisy_counts": (30, 70), "estimates": (0.31, 0.69)})
    tree = tree.model_copy(update={"nodes": tuple(nodes)})
    details = trace(tree_figure(tree, "died"), "details")
    told = dict(zip(details.customdata, details.hovertext, strict=True))
    assert why_apart(nodes[one], 1) in told[one].replace("<br>", " ")
    assert "counts alone" not in told[other]


def test_votes_are_counted_and_told():
    classes = ("no", "yes", "maybe")
    figure = votes_figure(classes, ((1,), (1,), (0,), (1,)))
    [bars] = figure.data
    assert list(bars.x) == [1, 3, 0]
    assert votes_alt(classes, ((1,), (1,), (0,), (1,))) == "Predictions of 4 trees. no: 1, yes: 3, maybe: 0."
    left_open = ((1,), (0, 1), (0,), (0, 2))
    assert votes_alt(classes, left_open).endswith("no: 1, yes: 1, maybe: 0, depends on what is not known: 2.")
    assert list(votes_figure(classes, left_open).data[0].x) == [1, 1, 0, 2]


def test_methods_are_told_apart_without_colour():
    lines = [EpsilonCurve(name, (0.1, 1.0), (0.7, 0.8), (0.6, 0.8), (0.75, 0.8)) for name in ("one", "two")]
    figure = methods_figure(lines, 0.9)
    one, two = figure.data
    [ceiling] = figure.layout.shapes
    assert (ceiling.y0, ceiling.y1, ceiling.showlegend) == (0.9, 0.9, True)
    assert ceiling.line.dash not in {one.line.dash, two.line.dash}
    assert one.marker.symbol != two.marker.symbol
    assert one.line.dash != two.line.dash
    assert list(one.error_y.array) == pytest.approx([0.05, 0])
    alt = methods_alt(lines, 0.9)
    assert not lacking(alt, "two: 70.0% at epsilon 0.1, 80.0% at epsilon 1.", "not private: 90.0%")


def test_errors_of_methods_are_written_as_numbers():
    lines = [EpsilonCurve("one", (0.1, 1.0), (6.25, 4.0), (6.0, 4.0), (6.5, 4.1))]
    figure = methods_figure(lines, measure="RMSE")
    assert "RMSE" in figure.layout.yaxis.title.text
    assert "%" not in figure.layout.yaxis.tickformat
    assert methods_alt(lines, measure="RMSE") == ("RMSE on people set aside. one: 6.25 at epsilon 0.1, 4 at epsilon 1.")
