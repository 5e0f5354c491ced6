"""A pair of trees: its questions as an outline, its noisy counts as a heat map."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import plotly.graph_objects as go

from dpcore.domain.conditions import pretty
from dpcore.domain.counted import Noun
from dpcore.domain.schemas.schema import Schema
from dpcore.models.redescriptions.released.redescription_set import Redescription
from dpcore.models.redescriptions.released.tree_pair import Tree, TreePair
from dpcore.models.trees.released.splits import split_on
from dpcore.numerals import whole
from dpcore.plots.style import INK, lay_out

#: Leaves of a side up to which every count is written into the map.
_MOST_WRITTEN = 8
_SIDES = {"left": "L", "right": "R"}


@dataclass(frozen=True)
class OutlineLine:
    """One line of a tree's outline."""

    depth: int
    """How far it is set in, from 0."""
    text: str
    """Condition of a branch."""
    leaf: str
    """Name of the leaf that it leads to, such as ``L3``; empty for an inner branch."""
    reached: bool
    """Whether any record can come here."""


def leaf_name(tree: Tree, leaf: int) -> str:
    """Name of a leaf: side and number, from 1."""
    return f"{_SIDES[tree.view]}{leaf + 1}"


def outline(tree: Tree, schema: Schema) -> list[OutlineLine]:
    """Branches of a tree from top to bottom, leaves in order."""
    reached = [box is not None for box in tree.boxes(schema)]
    return list(_below(tree, schema, 0, 0, reached))


def _below(tree: Tree, schema: Schema, node: int, depth: int, reached: list[bool]) -> Iterator[OutlineLine]:
    split = split_on(tree.splits[node], schema.column(tree.splits[node].column))
    for branch in (0, 1):
        child = 2 * node + 1 + branch
        text = pretty(split.text(branch, schema))
        if child < len(tree.splits):
            yield OutlineLine(depth, text, "", True)
            yield from _below(tree, schema, child, depth + 1, reached)
        else:
            leaf = child - len(tree.splits)
            yield OutlineLine(depth, text, leaf_name(tree, leaf), reached[leaf])


def pair_figure(pair: TreePair, counted: Noun, chosen: Redescription | None = None) -> go.Figure:
    """Noisy people in each pair of leaves; those that the chosen redescription joins are framed."""
    names = [[leaf_name(tree, leaf) for leaf in range(tree.leaf_count)] for tree in (pair.left, pair.right)]
    counts = [list(row) for row in pair.noisy_counts]
    written = max(len(side) for side in names) <= _MOST_WRITTEN
    figure = go.Figure(
        go.Heatmap(
            z=counts,
            x=names[1],
            y=names[0],
            colorscale=[[0, "#f4fafc"], [1, "#0b5d70"]],
            zmin=0,
            xgap=2,
            ygap=2,
            texttemplate="%{text}" if written else None,
            text=[[whole(count) for count in row] for row in counts],
            hovertemplate=f"%{{y}} and %{{x}}: %{{text}} {counted.several} (noisy)<extra></extra>",
            colorbar={"title": {"text": f"noisy<br>{counted.several}"}, "thickness": 14, "tickformat": ",d"},
        )
    )
    axis = {"fixedrange": True, "showgrid": False}
    lay_out(
        figure,
        {"title": "groups of the right tree", **axis},
        {"title": "groups of the left tree", "autorange": "reversed", "automargin": True, **axis},
        height=150 + max(26, 44 - 2 * len(names[0])) * len(names[0]),
        margin={"l": 10, "r": 10, "t": 10, "b": 50},
        dragmode=False,
        shapes=_frames(chosen),
    )
    return figure


def _frames(chosen: Redescription | None) -> list[dict[str, object]]:
    if chosen is None:
        return []
    line = {"color": INK, "width": 3}
    return [
        {"type": "rect", "x0": right - 0.5, "x1": right + 0.5, "y0": left - 0.5, "y1": left + 0.5, "line": line}
        for left in chosen.left_leaves
        for right in chosen.right_leaves
    ]


def pair_alt(pair: TreePair, counted: Noun) -> str:
    """The heat map in words; the table below holds every count."""
    counts = [(count, left, right) for left, row in enumerate(pair.noisy_counts) for right, count in enumerate(row)]
    largest = sorted(counts, reverse=True)[:3]
    told = ", ".join(
        f"{leaf_name(pair.left, left)} and {leaf_name(pair.right, right)}: {whole(count)}"
        for count, left, right in largest
    )
    all_of_them = f"Noisy {counted.several} in each of {len(counts)} pairs of groups"
    return f"{all_of_them}. The largest: {told}. The table below holds all."
