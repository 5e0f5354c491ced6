"""Where the nodes of a tree stand, from left to right, in two styles."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from itertools import accumulate
from typing import Final

from dpcore.domain.conditions import pretty
from dpcore.models.trees.released.tree_model import TreeModel
from dpcore.models.trees.released.tree_reading import rows_in_order
from dpcore.plots.wrapping import fits, wide, wrapped

Point = tuple[float, float]

_LINE: Final = 17
#: Least and most pixels of a line in a box, if more are not to be had for nothing; steps between them.
_LEAST, _MOST, _STEP = 76, 180, 6
_MOST_LINES, _MOST_LINES_OUTLINED = 2, 6
#: Letters on paper are so much wider than those of pages.
_ON_PAPER: Final = 1.1
#: Boxes grow for the sake of their texts while branches are no wider than this, which fits beside the menu.
WIDE: Final = 830
#: The same for an outline, in a window of 800 pixels.
NARROW: Final = 540
_BETWEEN: Final = 12
#: Rows of a diagram that can still be taken in.
MOST_ROWS: Final = 64
#: Widths of the coloured stripe of a box, of the gaps between levels, of the right panel.
STRIPE: Final = 20
GAP: Final = 26
INDENT: Final = 18
PANEL: Final = 232
HEADER: Final = 44
_PADDING: Final = 9
_BAR: Final = 7


@dataclass(frozen=True)
class Box:
    """Rectangle of one node, in pixels from the top left; ``lines`` is its wrapped text."""

    left: float
    top: float
    width: float
    height: float
    lines: tuple[str, ...]

    @property
    def right(self) -> float:
        """Right edge."""
        return self.left + self.width

    @property
    def middle(self) -> float:
        """Height of its centre line."""
        return self.top + self.height / 2

    @property
    def bottom(self) -> float:
        """Lower edge."""
        return self.top + self.height

    @property
    def bar(self) -> tuple[float, float]:
        """Top and bottom of the class bar inside."""
        bottom = self.bottom - 5
        return bottom - _BAR, bottom


def readable_levels(tree: TreeModel, *, unfold: bool = False) -> int:
    """Most levels of splits whose diagram has at most :data:`MOST_ROWS` rows; at least 1."""
    deepest = max(tree.depth(row) for row in rows_in_order(tree, unfold=unfold))
    for levels in range(deepest, 1, -1):
        if len(rows_in_order(tree, unfold=unfold, levels=levels)) <= MOST_ROWS:
            return levels
    return min(deepest, 1)


@dataclass(frozen=True)
class TreeLayout:
    """Places of all shown nodes."""

    tree: TreeModel
    unfold: bool = False
    deepest: int | None = None
    outline: bool = False
    """One row per node, indented by its depth: narrow and long. Otherwise one row per node without shown children, and
    a column per level."""
    sheet: int | None = None
    """Pixels between the margins of the paper that it is for; ``None`` for a page."""

    @cached_property
    def rows(self) -> tuple[int, ...]:
        """Nodes without shown children, top to bottom."""
        return rows_in_order(self.tree, unfold=self.unfold, levels=self.deepest)

    @cached_property
    def shown(self) -> tuple[int, ...]:
        """Every shown node, top to bottom; parents before their children."""
        return tuple(dict.fromkeys(p for row in self.rows for p in self.tree.path(row)))

    @cached_property
    def _childless(self) -> frozenset[int]:
        return frozenset(self.rows)

    def below(self, position: int) -> tuple[int, ...]:
        """Shown children of a node."""
        return () if position in self._childless else self.tree.nodes[position].children

    def stop(self, position: int) -> int:
        """Node where records on the way to a shown node stop."""
        path = self.tree.path(position)
        return next((p for p in path if self.tree.nodes[p].collapsed), position)

    @cached_property
    def _line(self) -> float:
        """Pixels of a line in a box: no less than its condition needs, and all that the longest one can use."""
        texts = [pretty(self.tree.nodes[p].text) for p in self.shown]
        least: float = _LEAST
        if not self.outline:
            tried = range(_LEAST, _MOST, _STEP)
            least = next((own for own in tried if all(fits(t, own / self._letter, _MOST_LINES) for t in texts)), _MOST)
        return max(least, min(max(map(wide, texts)) * self._letter, self._room))

    @property
    def _room(self) -> float:
        """Pixels that a line may have without making the diagram too wide."""
        if self.outline:
            return NARROW - self._beside - self._deepest * INDENT - STRIPE - _PADDING
        free = (self.sheet or WIDE) - self._beside - self.root_width
        return free / max(self._deepest, 1) - GAP - STRIPE - _PADDING

    @property
    def _letter(self) -> float:
        """How wide letters are beside those of pages."""
        return 1.0 if self.sheet is None else _ON_PAPER

    @cached_property
    def box_width(self) -> float:
        """Width of a box."""
        return STRIPE + _PADDING + self._line

    @cached_property
    def step(self) -> float:
        """Distance of the left edges of two levels."""
        return INDENT if self.outline else self.box_width + GAP

    @cached_property
    def root_width(self) -> float:
        """Width of the root's box: its text is short."""
        return self.box_width if self.outline else STRIPE + _PADDING + _LEAST

    def _left(self, depth: int) -> float:
        """Left edge of the boxes of a level."""
        return 2 + depth * self.step - (self.box_width - self.root_width if depth else 0)

    @cached_property
    def panel_left(self) -> float:
        """Left edge of the panel with the estimates."""
        levels = self._deepest
        return self._left(levels) + (self.box_width if levels else self.root_width) + GAP

    @cached_property
    def _deepest(self) -> int:
        """Levels of splits that are shown."""
        return max(self.tree.depth(position) for position in self.rows)

    @property
    def _beside(self) -> int:
        """What the width holds beside boxes and levels."""
        return 2 + GAP + PANEL + 8

    @property
    def width(self) -> int:
        """Least width at which the diagram can be read."""
        return round(self.panel_left + PANEL + 8)

    @cached_property
    def _slots(self) -> dict[int, float]:
        """Height of each row; the rows of an outline differ, others stand evenly."""
        heights = {p: _height(len(self._lines(p))) + _BETWEEN for p in self.shown}
        if self.outline:
            return heights
        return dict.fromkeys(self.rows, max(heights.values()))

    @property
    def height(self) -> int:
        """Height of the diagram."""
        return round(HEADER + sum(self._slots.values()) + 8)

    @cached_property
    def boxes(self) -> dict[int, Box]:
        """Rectangle of every shown node."""
        ends = accumulate(self._slots.values(), initial=float(HEADER))
        middles = {row: end + slot / 2 for (row, slot), end in zip(self._slots.items(), ends, strict=False)}
        for position in reversed(self.shown):
            if position not in middles:
                below = self.below(position)
                middles[position] = (middles[below[0]] + middles[below[-1]]) / 2
        return {position: self._box(position, middles[position]) for position in self.shown}

    def link(self, parent: int, child: int) -> list[Point]:
        """Corners of the line between two boxes."""
        above, below = self.boxes[parent], self.boxes[child]
        if self.outline:
            turn = above.left + STRIPE / 2
            return [(turn, above.bottom), (turn, below.middle), (below.left, below.middle)]
        turn = (above.right + below.left) / 2
        return [(above.right, above.middle), (turn, above.middle), (turn, below.middle), (below.left, below.middle)]

    def _box(self, position: int, middle: float) -> Box:
        lines = self._lines(position)
        height = _height(len(lines))
        width = self.box_width if position else self.root_width
        left = self._left(self.tree.depth(position))
        return Box(left, middle - height / 2, width, height, lines)

    def _lines(self, position: int) -> tuple[str, ...]:
        most = _MOST_LINES_OUTLINED if self.outline else _MOST_LINES
        return wrapped(pretty(self.tree.nodes[position].text), self._line / self._letter, most)


def _height(lines: int) -> float:
    return 5 + _LINE * max(lines, 1) + 3 + _BAR + 5
