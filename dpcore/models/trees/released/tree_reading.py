"""What trees and forests say: sentences, groups at the end, nodes, columns that are used."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Final

from dpcore.domain.conditions import pretty
from dpcore.models.trees.released.column_use import ColumnUse
from dpcore.models.trees.released.forest_model import ForestModel
from dpcore.models.trees.released.tree_model import TreeModel
from dpcore.numerals import percent, whole
from dpcore.privacy.budgets import plain_epsilon
from dpcore.released.blocks import (
    FEW_ROWS,
    Block,
    Bullets,
    Cell,
    Doubt,
    Figure,
    Group,
    Groups,
    Inner,
    Table,
    count_cell,
)
from dpcore.released.release import Release

#: Rows of a table of groups or nodes on a page; the downloads hold all.
MOST_GROUPS: Final = 200


def read_tree(release: Release, model: TreeModel, short: bool) -> Iterator[Block]:
    """Every group as a sentence, the diagram, the groups, and in full every node."""
    numbers = group_numbers(model)
    said = dict(zip(model.finals, map(pretty, model.reading(release.target)), strict=True))
    yield Bullets.of(*(f"Group {number}. {said[place]}" for place, number in numbers.items()))
    yield Figure("tree_sheet", "The tree", (model, release.target, short))
    yield tree_groups(release, model)
    if not short:
        yield nodes_table(model)


def read_forest(release: Release, model: ForestModel, short: bool) -> Iterator[Block]:
    """What the trees say together, the columns that they look at, and in full their groups."""
    yield Bullets.of(*map(pretty, model.reading(release.target)))
    used = model.columns_used()
    if used:
        yield Figure("columns_used", "What the columns tell", (used,))
    if short:  # The figure tells it; no group of a single tree is a finding.
        return
    if used:
        yield use_table(used)
    groups = [own for number, tree in enumerate(model.trees, 1) for own in _ends(tree, f"Tree {number}, ")]
    shown = len(model.classes) - 1
    yield Groups(
        "Groups at the end of each tree", "Group", tuple(groups), release.target, model.classes, shown, FEW_ROWS
    )


def tree_groups(release: Release, model: TreeModel, shown: int | None = None) -> Groups:
    """The groups at the end of a tree, the largest first."""
    caption = "Groups at the end of the tree, the largest first, numbered as in the diagram"
    groups = sorted(_ends(model), key=lambda group: -sum(group.numbers.noisy_counts))
    code = len(model.classes) - 1 if shown is None else shown
    return Groups(caption, "Group", tuple(groups), release.target, model.classes, code)


def _ends(model: TreeModel, before: str = "") -> Iterator[Group]:
    """Groups where the records of a tree stop, in the order of its diagram."""
    for place, number in group_numbers(model).items():
        node, told = model.nodes[place], tuple(map(pretty, model.bracketed(place))) or ("everyone",)
        yield Group(f"{before}{number}.", f"{number}", told, node, node.count_margin, place, node.label)


def nodes_table(model: TreeModel) -> Table:
    """Every node that records reach, with its noisy counts."""
    head = ["Node", *(f"Noisy count: {label}" for label in model.classes)]
    rows: list[list[Cell]] = [
        [_node(model, place), *(count_cell(count, model.nodes[place].count_margin) for count in counts)]
        for place in _outline(model, 0)
        for counts in [model.nodes[place].noisy_counts]
    ]
    return Table.of("Every node of the tree", head, rows)


def budget_table(model: TreeModel) -> Table:
    """What every node cost, and what the way to it cost in all."""
    order = list(_outline(model, 0, folded=True))
    here = [_spent_here(model, place) for place in order]
    ways = [f"ε {plain_epsilon(model.path_spent(place))}" for place in order]
    margins = (f"±{whole(model.nodes[place].count_margin)}, 95%" for place in order)
    nodes = (_node(model, place) for place in order)
    head = ("Node", "Spent here", "Spent on the way here, in all", "Noise on a count")
    caption = f"No path through the tree spends more than ε {plain_epsilon(model.budget)}"
    return Table.of(caption, head, zip(nodes, here, ways, margins, strict=True), MOST_GROUPS)


def _node(model: TreeModel, place: int) -> Inner:
    node = model.nodes[place]
    return Inner(pretty(node.text) + (" (records stop here)" if node.final else ""), model.depth(place))


def _outline(model: TreeModel, position: int, *, folded: bool = False) -> Iterator[int]:
    """Nodes from one on, each before its children; those below where records stop only if ``folded``."""
    yield position
    node = model.nodes[position]
    for child in node.children if folded or not node.final else ():
        yield from _outline(model, child, folded=folded)


def _spent_here(model: TreeModel, position: int) -> str:
    """What a node cost."""
    here = model.nodes[position].spent
    return f"ε {plain_epsilon(here)}" if here else "nothing"


def use_table(used: Sequence[ColumnUse]) -> Table:
    """How much the questions of a forest about each column tell."""
    rows = [
        (use.column, percent(use.told), percent(use.by_chance), "yes" if use.clear else Doubt("no")) for use in used
    ]
    head = ("Column", "Share of the differences", "By chance up to", "More than chance")
    return Table.of("What the columns tell, most first", head, rows)


def rows_in_order(tree: TreeModel, *, unfold: bool = False, levels: int | None = None) -> tuple[int, ...]:
    """Nodes that end a row of the diagram, top to bottom.

    Without ``unfold`` these are the nodes where records stop; with it, collapsed nodes show
    what is below them. ``levels`` cuts the tree below so many splits.
    """
    rows: list[int] = []
    stack = [(0, 0)]
    while stack:
        position, depth = stack.pop()
        node = tree.nodes[position]
        ends = not node.children if unfold else node.final
        if ends or depth == levels:
            rows.append(position)
        else:
            stack.extend((child, depth + 1) for child in reversed(node.children))
    return tuple(rows)


def group_numbers(tree: TreeModel) -> dict[int, int]:
    """Number of each node where records stop, from 1, in the order of the diagram."""
    return {position: number for number, position in enumerate(rows_in_order(tree), start=1)}
