"""Text in boxes: no line is wider than its box, and none ends before it must."""

from __future__ import annotations

import itertools

import pytest

from dpcore.plots.trees.tree_layout import PANEL, STRIPE, WIDE, TreeLayout
from dpcore.plots.wrapping import fits, wide, wrapped
from tests.support.results.small_trees import full_tree

CONDITION = "age > 70 years or missing"


@pytest.mark.parametrize("room", [60, 80, 100, 140, 200])
def test_a_line_ends_only_where_the_next_word_does_not_fit(room):
    lines = wrapped(CONDITION, room, 9)
    assert " ".join(lines) == CONDITION
    assert max(map(wide, lines)) <= room
    for line, after in itertools.pairwise(lines):
        assert wide(f"{line} {after.split()[0]}") > room


def test_narrow_letters_take_less_room_than_broad_ones():
    assert wide("illicit") < wide("mammogram") / 2


def test_capitals_and_letters_as_wide_as_high_take_more_room():
    assert wide("STAY") > wide("stay")
    assert wide("病院") == 2 * wide("病") > 3 * wide("a")


def test_no_text_fits_anywhere():
    assert fits("", 10, 1)


def test_words_that_are_too_long_end_at_a_line_below_or_anywhere():
    assert wrapped("systolic_pressure ≤ 120", 70, 4) == ("systolic_", "pressure ≤", "120")
    assert "".join(wrapped("immunosuppression", 40, 9)) == "immunosuppression"
    assert not fits("immunosuppression", 40, 9)


def test_what_does_not_fit_is_left_out_and_said():
    assert wrapped(CONDITION, 60, 2) == ("age > 70", "years or …")
    assert not fits(CONDITION, 60, 2)


def test_boxes_grow_with_their_conditions_while_branches_fit_beside_the_menu(monkeypatch):
    roomy = TreeLayout(full_tree(2))
    assert all(len(box.lines) == 1 for box in roomy.boxes.values())
    assert roomy.width < WIDE, "no wider than its conditions need"
    monkeypatch.setattr("dpcore.plots.trees.tree_layout.pretty", "systolic pressure at admission {}".format)
    tight = TreeLayout(full_tree(2))
    assert tight.width == WIDE
    assert {len(box.lines) for box in tight.boxes.values()} == {2}
    for layout in (roomy, tight):
        assert all(max(map(wide, box.lines)) + STRIPE < box.width for box in list(layout.boxes.values())[1:])


def test_letters_are_wider_on_paper():
    tree = full_tree(1)
    assert TreeLayout(tree).box_width < TreeLayout(tree, sheet=680).box_width
    assert TreeLayout(full_tree(2), sheet=680).width <= 680
    assert TreeLayout(tree, sheet=PANEL).width > PANEL, "no box is narrower than its text needs"
