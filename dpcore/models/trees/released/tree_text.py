"""Trees and forests as plain text for a terminal."""

from __future__ import annotations

from dpcore.models.trees.released.forest_model import ForestModel
from dpcore.models.trees.released.tree_model import TreeModel
from dpcore.numerals import percent
from dpcore.released.noisy_counts import told_share
from dpcore.released.plain_text import text_table
from dpcore.released.release import Release


def tree_text(release: Release, model: TreeModel) -> str:
    """One line per node, indented by depth; what pruning folded is left out."""
    shown = {position for final in model.finals for position in model.path(final)}
    head = ["group", "predicted", "noisy counts", "noisy share of the prediction"]
    head[2] += f" ({', '.join(model.classes)})"
    lines = [position for position in _outline(model, 0) if position in shown]
    rows = []
    for position in lines:
        node = model.nodes[position]
        rows.append(
            [
                "  " * model.depth(position) + node.text,
                f"{release.target} = {model.classes[node.label]}" if node.final else "",
                ", ".join(str(count) for count in node.noisy_counts),
                told_share(node, node.label, node.count_margin) if node.final else "",
            ]
        )
    return text_table(head, rows)


def _outline(model: TreeModel, position: int) -> list[int]:
    """Nodes below one, each before its children."""
    below = (_outline(model, child) for child in model.nodes[position].children)
    return [position, *(deeper for branch in below for deeper in branch)]


def forest_text(release: Release, model: ForestModel) -> str:
    """What the trees say together, and the columns that they look at."""
    use = [[own.column, percent(own.told), percent(own.by_chance)] for own in model.columns_used()]
    table = text_table(["column", "tells", "by chance up to"], use)
    return "\n\n".join(["\n".join(model.reading(release.target)), table])
