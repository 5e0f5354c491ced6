"""A decision tree as a diagram: boxes from left to right, estimates at the right."""

from __future__ import annotations

import textwrap
from collections.abc import Iterable, Sequence
from decimal import Decimal

import plotly.graph_objects as go

from dpcore.domain.conditions import pretty
from dpcore.models.trees.released.tree_model import TreeModel
from dpcore.models.trees.released.tree_reading import group_numbers
from dpcore.numerals import percent
from dpcore.plots.shapes import areas, bar_piece, lines, rectangle, stripe, texts
from dpcore.plots.style import FAINT, INK, SOFT, WIDTH, colour, glyph, lay_out, safe, shorten
from dpcore.plots.trees.tree_layout import HEADER, PANEL, STRIPE, Box, Point, TreeLayout, readable_levels
from dpcore.released.noisy_counts import TOO_FEW, are_nobody, is_told, told_share, why_apart

_GROUND, _DIM = "#ffffff", "#f1f5f7"
_BAND, _EDGE = "#8fc3d2", "#0f6e84"
_TRUTH, _LINE = "#c4622d", "#6f8f9b"
#: With more classes than this, a box tells only its most frequent ones.
_MANY = 6
#: Pixels of a diagram that is short.
_SHORT_HEIGHT = 560


def tree_figure(
    tree: TreeModel,
    target: str,
    *,
    unfold: bool = False,
    levels: int | None = None,
    outline: bool = False,
    path: Sequence[int] = (),
    shown: int | None = None,
    truth: Sequence[Sequence[int]] | None = None,
    sheet: int | None = None,
) -> go.Figure:
    """The tree from left to right, with noisy class bars and an interval per group.

    Parameters
    ----------
    unfold : bool
        Whether to show what pruning folded away.
    levels : int or None
        Splits to show, one below the other; ``None`` shows all.
    outline : bool
        One row per node, indented: for deep trees and narrow screens.
    path : sequence of int
        Nodes that a case passes, to be highlighted.
    shown : int or None
        Class whose chance stands at the right; ``None``: the second of two, else the predicted.
    truth : sequence of sequence of int or None
        True counts per node and class; for public records only.
    sheet : int or None
        Pixels between the margins of the paper that it is for; ``None`` for a page.

    Returns
    -------
    plotly figure whose axes are pixels; ``layout.meta`` holds the least readable width.
    """
    layout = TreeLayout(tree, unfold, levels, outline, sheet)
    if shown is None and len(tree.classes) == 2:
        shown = 1
    figure = go.Figure()
    drawing = _Drawing(tree, target, layout, tuple(path), shown, truth)
    for trace in drawing.traces():
        figure.add_trace(trace)
    axis = {"visible": False, "fixedrange": True}
    lay_out(
        figure,
        {"range": [0, layout.width], **axis},
        {"range": [layout.height, 0], **axis},
        height=layout.height,
        margin={"l": 0, "r": 0, "t": 0, "b": 0},
        showlegend=False,
        hovermode="closest",
        hoverdistance=30,
        dragmode=False,
        meta={"width": layout.width},
    )
    return figure


def branches_width(
    tree: TreeModel, *, unfold: bool = False, levels: int | None = None, sheet: int | None = None
) -> int:
    """Pixels that the diagram needs if it is not an outline."""
    return TreeLayout(tree, unfold, levels, sheet=sheet).width


def tree_sheet_figure(tree: TreeModel, target: str, short: bool) -> go.Figure:
    """The tree on a sheet of paper: an outline if its branches are too wide; ``short``: not too high for a page."""
    levels = _short_levels(tree) if short else readable_levels(tree)
    wide = branches_width(tree, levels=levels, sheet=WIDTH) > WIDTH
    return tree_figure(tree, target, levels=levels, outline=wide, sheet=WIDTH)


def tree_sheet_alt(tree: TreeModel, target: str, _short: bool) -> str:
    """The diagram in words."""
    return tree_alt(tree, target)


def _short_levels(tree: TreeModel) -> int:
    """Most levels of splits whose diagram is short; at least 1."""
    levels = readable_levels(tree)
    while levels > 1:
        outline = branches_width(tree, levels=levels, sheet=WIDTH) > WIDTH
        if TreeLayout(tree, deepest=levels, outline=outline, sheet=WIDTH).height <= _SHORT_HEIGHT:
            break
        levels -= 1
    return levels


def tree_alt(tree: TreeModel, target: str) -> str:
    """The diagram in words: every sentence of the tree, in the order of its rows."""
    numbers = group_numbers(tree)
    sentences = dict(zip(tree.finals, tree.reading(target), strict=True))
    told = (f"Group {number}: {sentences[position]}" for position, number in numbers.items())
    return " ".join([f"Decision tree with {len(numbers)} groups at the end.", *_ends(tree, target, numbers), *told])


def _ends(tree: TreeModel, target: str, numbers: dict[int, int]) -> list[str]:
    """The groups with the highest and the lowest chance of the class that is shown, unless noise hides it."""
    told = [place for place in numbers if is_told(tree.nodes[place], 1, tree.nodes[place].count_margin)]
    if len(tree.classes) > 2 or len(told) < 2:
        return []
    low, high = (end(told, key=lambda place: tree.nodes[place].estimates[1]) for end in (min, max))
    highest, lowest = (percent(tree.nodes[place].estimates[1]) for place in (high, low))
    return [
        f"Group {numbers[high]} has the highest noisy chance of {target} = {tree.classes[1]} ({highest}), "
        f"group {numbers[low]} the lowest ({lowest})."
    ]


class _Drawing:
    def __init__(
        self,
        tree: TreeModel,
        target: str,
        layout: TreeLayout,
        path: tuple[int, ...],
        shown: int | None,
        truth: Sequence[Sequence[int]] | None,
    ) -> None:
        self._tree, self._target, self._layout = tree, target, layout
        self._path, self._shown, self._truth = path, shown, truth
        self._numbers = group_numbers(tree)

    def traces(self) -> Iterable[go.Scatter]:
        """Everything, from the back to the front."""
        yield self._leaders()
        yield from self._connectors()
        yield from self._boxes()
        yield from self._class_bars()
        yield from self._box_texts()
        yield from self._panel()
        yield self._hover()

    # Connectors

    def _connectors(self) -> Iterable[go.Scatter]:
        path, link = self._path, self._layout.link
        links = [(p, child) for p in self._layout.shown for child in self._layout.below(p)]
        plain = [link(a, b) for a, b in links if b not in path]
        marked = [link(a, b) for a, b in links if b in path]
        yield lines("connectors", plain, _LINE, 1.5)
        if marked:
            yield lines("path", marked, INK, 4)

    def _leaders(self) -> go.Scatter:
        boxes, end = self._layout.boxes, self._layout.panel_left - 8
        leaders = [[(boxes[row].right + 3, boxes[row].middle), (end, boxes[row].middle)] for row in self._layout.rows]
        return lines("leaders", leaders, FAINT, 1, dash="dot")

    # Boxes

    def _boxes(self) -> Iterable[go.Scatter]:
        folded = {p for p in self._layout.shown if self._layout.stop(p) != p}
        for name, members, dash in (("boxes", False, "solid"), ("folded boxes", True, "dot")):
            chosen = [p for p in self._layout.shown if (p in folded) == members]
            yield from self._outlines(name, chosen, dash)
        for code in self._labels():
            chosen = [p for p in self._layout.shown if self._tree.nodes[p].label == code]
            stripes = [rectangle(stripe(self._layout.boxes[p])) for p in chosen]
            yield areas(f"stripe {code}", stripes, colour(code), colour(code), 0.5)

    def _outlines(self, name: str, chosen: Sequence[int], dash: str) -> Iterable[go.Scatter]:
        boxes = self._layout.boxes
        for marked in (False, True):
            frames = [rectangle(boxes[p]) for p in chosen if (p in self._path) == marked]
            if frames:
                fill = _DIM if dash == "dot" else _GROUND
                line, width = (INK, 3.0) if marked else (_LINE, 1.0)
                yield areas(name + (" on the path" if marked else ""), frames, fill, line, width, dash=dash)

    def _labels(self) -> list[int]:
        return sorted({self._tree.nodes[p].label for p in self._layout.shown})

    def _class_bars(self) -> Iterable[go.Scatter]:
        """One bar per box, divided by the noisy shares of the classes."""
        for code in range(len(self._tree.classes)):
            pieces = []
            for position in self._layout.shown:
                estimates = self._tree.nodes[position].estimates
                start = sum(estimates[:code])
                piece = bar_piece(self._layout.boxes[position], start, estimates[code])
                pieces.append(rectangle(piece))
            yield areas(f"share {code}", pieces, colour(code), _GROUND, 1)

    def _box_texts(self) -> Iterable[go.Scatter]:
        boxes = [self._layout.boxes[p] for p in self._layout.shown]
        yield texts(
            "conditions",
            [(box.left + STRIPE + 3, box.top + 7) for box in boxes],
            ["<br>".join(safe(line) for line in box.lines) for box in boxes],
            "bottom right",
            INK,
            13,
        )
        labels = [self._tree.nodes[p].label for p in self._layout.shown]
        yield texts(
            "symbols",
            [(box.left + STRIPE / 2, box.middle) for box in boxes],
            [glyph(label) for label in labels],
            "middle center",
            _GROUND,
            13,
        )

    # Panel

    def _panel(self) -> Iterable[go.Scatter]:
        left, rows = self._layout.panel_left, self._layout.rows
        middles = [self._layout.boxes[row].middle for row in rows]
        right = left + PANEL
        yield texts("heading", [(left, HEADER - 26)], ["Group: prediction"], "middle right", SOFT, 13)
        yield texts("heading", [(right, HEADER - 26)], [self._chance_heading()], "middle left", SOFT, 13)
        yield texts(
            "predictions",
            [(left, y - 11) for y in middles],
            [self._prediction(row) for row in rows],
            "middle right",
            INK,
            13,
        )
        yield texts(
            "chances", [(right, y - 11) for y in middles], [self._chance(row) for row in rows], "middle left", INK, 13
        )
        scales = [rectangle(Box(left, y, PANEL, 12, ())) for y in middles]
        yield areas("scales", scales, "#e8f2f5", FAINT, 1)
        people = [row for row in rows if not are_nobody(self._tree.nodes[row].noisy_counts)]
        yield areas("intervals", [self._interval(row) for row in people], _BAND, _EDGE, 1)
        points = [
            rectangle(Box(self._at(self._estimate(row)) - 2, self._layout.boxes[row].middle - 2, 4, 16, ()))
            for row in people
        ]
        yield areas("estimates", points, INK, INK, 0.5)
        if self._truth is not None:
            yield self._true_marks(self._truth)

    def _chance_heading(self) -> str:
        if self._shown is None:
            return "noisy chance of it"
        return f"noisy chance of {safe(shorten(self._tree.classes[self._shown], 14))}"

    def _code(self, position: int) -> int:
        return self._tree.nodes[position].label if self._shown is None else self._shown

    def _estimate(self, position: int) -> float:
        return self._tree.nodes[position].estimates[self._code(position)]

    def _at(self, share: float) -> float:
        return self._layout.panel_left + PANEL * share

    def _interval(self, position: int) -> list[Point]:
        low, high = self._tree.nodes[position].intervals[self._code(position)]
        top = self._layout.boxes[position].middle + 2
        return rectangle(Box(self._at(low), top, PANEL * (high - low), 8, ()))

    def _prediction(self, position: int) -> str:
        stop = self._layout.stop(position)
        label = self._tree.nodes[stop].label
        if (inside := self._cut(position)) > 1:
            return f"<i>{inside} groups below</i>"
        name = f"{glyph(label)} {safe(shorten(self._tree.classes[label], 12))}"
        if stop != position:
            return f"<i>in {self._numbers[stop]}: {name}</i>"
        return f"<b>{self._numbers[position]}:</b> {name}"

    def _cut(self, position: int) -> int:
        """Groups below a node whose children are not shown."""
        if self._layout.stop(position) != position:
            return 0
        return sum(position in self._tree.path(final) for final in self._numbers)

    def _chance(self, position: int) -> str:
        node = self._tree.nodes[position]
        if are_nobody(node.noisy_counts):
            return TOO_FEW
        low, high = node.intervals[self._code(position)]
        clear = is_told(node, self._code(position), node.count_margin)
        chance = percent(self._estimate(position))
        return f"{f'<b>{chance}</b>' if clear else f'≈ {chance}'} ({percent(low)} to {percent(high)})"

    def _true_marks(self, truth: Sequence[Sequence[int]]) -> go.Scatter:
        known = [row for row in self._layout.rows if sum(truth[row])]
        return go.Scatter(
            name="true values",
            x=[self._at(truth[row][self._code(row)] / sum(truth[row])) for row in known],
            y=[self._layout.boxes[row].middle + 6 for row in known],
            mode="markers",
            marker={"symbol": "diamond", "size": 12, "color": _GROUND, "line": {"color": _TRUTH, "width": 2.5}},
            hoverinfo="skip",
        )

    # Hover

    def _hover(self) -> go.Scatter:
        """Invisible marks over each box and its row in the panel; they carry the details."""
        places: list[tuple[float, float, int]] = []
        for position, box in self._layout.boxes.items():
            steps = (0.1, 0.3, 0.5, 0.7, 0.9)
            places += [(box.left + box.width * s, box.middle, position) for s in steps]
            if position in self._layout.rows:
                places += [(self._at(s), box.middle, position) for s in steps]
        details = {position: self.details(position) for position in self._layout.shown}
        return go.Scatter(
            name="details",
            x=[x for x, _, _ in places],
            y=[y for _, y, _ in places],
            mode="markers",
            marker={"size": 30, "symbol": "square", "opacity": 0},
            customdata=[position for _, _, position in places],
            hovertext=[details[position] for _, _, position in places],
            hovertemplate="%{hovertext}<extra></extra>",
        )

    def details(self, position: int) -> str:
        """What the hover label of a node says."""
        tree, node = self._tree, self._tree.nodes[position]
        condition = textwrap.wrap(pretty(tree.condition(position)), 60)
        told = ["<b>" + "<br>".join(safe(line) for line in condition) + "</b>"]
        ranked = sorted(range(len(tree.classes)), key=lambda code: -node.estimates[code])
        told += [self._class_line(position, code) for code in sorted(ranked[:_MANY])]
        if len(ranked) > _MANY:
            told.append(f"and {len(ranked) - _MANY} more values")
        told += textwrap.wrap(why_apart(node, self._code(position)), 60)
        if node.noisy_total is not None:
            told.append(f"noisy count of all: {_signed(node.noisy_total)}")
        told.append(
            f"budget spent here: {_budget(node.spent)}, on the way here in all: {_budget(tree.path_spent(position))}"
        )
        return "<br>".join(told + self._fold_line(position))

    def _class_line(self, position: int, code: int) -> str:
        node, label = self._tree.nodes[position], self._tree.classes[code]
        share = told_share(node, code, node.count_margin)
        line = (
            f"{glyph(code)} {safe(shorten(label, 24))}: noisy count "
            f"{_signed(node.noisy_counts[code])} ±{node.count_margin}, noisy share {share}"
        )
        if self._truth is not None:
            line += f", true count {self._truth[position][code]}"
        return line

    def _fold_line(self, position: int) -> list[str]:
        stop = self._layout.stop(position)
        if stop != position:
            return [f"folded: its records belong to group {self._numbers[stop]}"]
        if self._tree.nodes[position].collapsed:
            return ["records stop here; a further division is folded: it may be noise"]
        return []


def _budget(epsilon: Decimal) -> str:
    return f"ε {epsilon.normalize():f}" if epsilon else "nothing"


def _signed(count: int) -> str:
    return str(count).replace("-", "−")
