"""The released tree: what a reader sees and predicts with."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from decimal import Decimal
from typing import Final

import numpy as np
import pandas as pd

from dpcore.arrays import Array, Floats, Ints
from dpcore.domain.encoding import encode_columns
from dpcore.domain.schemas.schema import Schema
from dpcore.frozen import FrozenModel
from dpcore.models.trees.released.splits import Split, path_texts
from dpcore.released.cases import possible_cells
from dpcore.released.evaluation import Evaluation
from dpcore.released.noisy_counts import told_chance

ROOT_TEXT = "everyone"
#: No tree grows beyond this: multi-way splits of small, noisy nodes would hardly ever end.
MAX_NODES = 500
#: Dirichlet weight of each class in the estimates.
ALPHA: Final = 1.0


class TreeNode(FrozenModel):
    """One node of a released tree."""

    parent: int | None
    """Position of the parent in the tree's nodes; ``None`` for the root."""
    text: str = ROOT_TEXT
    """Condition under which the parent sends records here."""
    conditions: tuple[str, ...] = ()
    """What holds for all records here, one condition for each column that was asked on the way; empty for the root, and
    in releases of earlier versions."""
    split: Split | None
    """``None`` for a leaf."""
    children: tuple[int, ...]
    """Positions of the children, one per branch of ``split``."""
    collapsed: bool = False
    """Pruning made this node a leaf: records stop here, what is below is shown folded."""
    noisy_total: int | None = None
    """Records that reach the node, with noise, if they were counted on their own."""
    noisy_counts: tuple[int, ...]
    """Records per class that reach the node, with noise; may be negative. For a node with children the sum over its
    leaves."""
    count_margin: int
    """Noise on each of ``noisy_counts`` stays within plus or minus this, with 95 % confidence."""
    estimates: tuple[float, ...]
    """Class probabilities, summing to 1."""
    intervals: tuple[tuple[float, float], ...]
    """95 % interval of each estimate for the noise alone."""
    label: int
    """Class predicted here."""
    spent: Decimal
    """Budget per person spent at this node on those who reach it."""

    @property
    def final(self) -> bool:
        """Whether records stop here."""
        return self.collapsed or not self.children


class TreeModel(FrozenModel):
    """A decision tree; node 0 is the root and parents come before their children."""

    classes: tuple[str, ...]
    nodes: tuple[TreeNode, ...]
    budget: Decimal
    """Budget per person of the whole tree: no path from the root to a leaf spends more."""
    blocks: tuple[int, ...] = ()
    """Depth of each block of an exact lookahead tree; empty for the other methods."""
    evaluation: Evaluation | None = None

    def worded(self, schema: Schema) -> TreeModel:
        """The same tree, its conditions told in the words of a schema."""
        answers = [list[tuple[Split, int]]()] * len(self.nodes)
        for position, node in enumerate(self.nodes):
            for branch, child in enumerate(node.children):
                answers[child] = [*answers[position], *([] if node.split is None else [(node.split, branch)])]
        nodes = [
            node.model_copy(update={"text": text or node.text, "conditions": conditions})
            for node, (text, conditions) in zip(self.nodes, path_texts(answers, schema), strict=True)
        ]
        return self.model_copy(update={"nodes": tuple(nodes)})

    @property
    def finals(self) -> tuple[int, ...]:
        """Nodes where records stop, in node order."""
        shown = [0]
        for position in shown:
            if not self.nodes[position].final:
                shown.extend(self.nodes[position].children)
        return tuple(sorted(p for p in shown if self.nodes[p].final))

    @property
    def count_margin(self) -> int:
        """Largest noise margin of a count where records stop."""
        return max(self.nodes[position].count_margin for position in self.finals)

    def path(self, position: int) -> tuple[int, ...]:
        """Nodes from the root to one node, both included."""
        steps = [position]
        while (parent := self.nodes[steps[-1]].parent) is not None:
            steps.append(parent)
        return tuple(reversed(steps))

    def conditions(self, position: int) -> tuple[str, ...]:
        """All that holds at a node, each column told once; empty for the root.

        In releases of earlier versions, the answers on the way as they were given.
        """
        return self.nodes[position].conditions or tuple(self.nodes[p].text for p in self.path(position)[1:])

    def bracketed(self, position: int) -> tuple[str, ...]:
        """The same, to be joined by ``and``: those that hold an ``or`` are in brackets."""
        return tuple(f"({text})" if " or " in text else text for text in self.conditions(position))

    def condition(self, position: int) -> str:
        """All conditions of a node, joined by ``and``."""
        return " and ".join(self.bracketed(position)) or ROOT_TEXT

    def path_spent(self, position: int) -> Decimal:
        """Budget per person spent on the way to a node, the node included."""
        return sum((self.nodes[p].spent for p in self.path(position)), Decimal(0))

    def depth(self, position: int) -> int:
        """Number of splits above a node."""
        return len(self.path(position)) - 1

    def apply(self, frame: pd.DataFrame, schema: Schema) -> Ints:
        """Node where each row stops. Absent columns count as missing."""
        return self.apply_codes(encode_columns(frame, schema, self.columns()), len(frame))

    def apply_codes(self, codes: Mapping[str, Array], rows: int) -> Ints:
        """Node where each row stops, from the cell codes of the columns.

        Takes as many steps as the tree is deep, for every row.
        """
        names = self.columns()
        place = np.zeros(rows, dtype=np.int64)
        if not names:
            return place
        cells = np.stack([codes[name] for name in names])
        column, onward, deepest = self.steps(names)
        row = np.arange(rows)
        for _ in range(deepest):
            place = onward[place, cells[column[place], row]]
        return place

    def steps(self, names: tuple[str, ...]) -> tuple[Ints, Ints, int]:
        """Column looked at in each node, by its place in ``names``; where each of its cells leads; most steps."""
        inner = {position for final in self.finals for position in self.path(final)[:-1]}
        splits = {place: own for place in inner if (own := self.nodes[place].split) is not None}
        widest = max(len(split.branches) for split in splits.values())
        column = np.zeros(len(self.nodes), dtype=np.int64)
        onward = np.repeat(np.arange(len(self.nodes))[:, None], widest, axis=1)
        for position, split in splits.items():
            column[position] = names.index(split.column)
            children = np.asarray(self.nodes[position].children)
            onward[position, : len(split.branches)] = children[list(split.branches)]
        return column, onward, max(self.depth(position) for position in self.finals)

    def count_records(self, frame: pd.DataFrame, schema: Schema, target: str) -> tuple[tuple[int, ...], ...]:
        """Exact records per node and class, without noise. For public records only."""
        codes = encode_columns(frame, schema, [target])[target]
        known = codes < len(self.classes)
        counts = np.zeros((len(self.nodes), len(self.classes)), dtype=np.int64)
        np.add.at(counts, (self.apply(frame, schema)[known], codes[known]), 1)
        for position, node in reversed(tuple(enumerate(self.nodes))):
            if node.parent is not None:
                counts[node.parent] += counts[position]
        return tuple(tuple(int(count) for count in row) for row in counts)

    def predict(self, frame: pd.DataFrame, schema: Schema) -> Ints:
        """Predicted class code of each row."""
        labels = np.array([node.label for node in self.nodes])
        return np.asarray(labels[self.apply(frame, schema)])

    def predict_proba(self, frame: pd.DataFrame, schema: Schema) -> Floats:
        """Class probabilities of each row: shape (n_rows, n_classes)."""
        estimates = np.array([node.estimates for node in self.nodes])
        return np.asarray(estimates[self.apply(frame, schema)])

    def possible_finals(self, values: Mapping[str, object], schema: Schema) -> tuple[int, ...]:
        """Nodes where one typed-in case may stop, in node order; what is absent is not known."""
        found, ways = [], [(0, dict(possible_cells(values, schema, self.columns())))]
        while ways:
            position, cells = ways.pop()
            node = self.nodes[position]
            if node.final or node.split is None:
                found.append(position)
                continue
            branches, name = node.split.branches, node.split.column
            for branch, child in enumerate(node.children):
                here = frozenset(cell for cell in cells[name] if branches[cell] == branch)
                if here:
                    ways.append((child, {**cells, name: here}))
        return tuple(sorted(found))

    @property
    def labels(self) -> tuple[int, ...]:
        """Class predicted where records stop, in the order of :attr:`finals`."""
        return tuple(self.nodes[position].label for position in self.finals)

    def columns(self) -> tuple[str, ...]:
        """Columns that a prediction looks at, in the order of the nodes."""
        shown = [self.nodes[p] for final in self.finals for p in self.path(final)[:-1]]
        return tuple(dict.fromkeys(node.split.column for node in shown if node.split))

    def reading(self, target: str) -> list[str]:
        """The tree in plain sentences, one per place where records stop."""
        return [self._sentence(position, target) for position in self.finals]

    def _sentence(self, position: int, target: str) -> str:
        node = self.nodes[position]
        shown = node.label if len(self.classes) > 2 else 1
        condition = self.condition(position)
        who = "For everyone" if position == 0 else f"If {condition}"
        chance = f"{who}: predicted {target} = {self.classes[node.label]}. The chance of {self.classes[shown]} is"
        return f"{chance} {told_chance(node, shown, node.count_margin)}."

    def to_frame(self) -> pd.DataFrame:
        """Table twin of the tree: one row per node, every number labelled noisy."""
        return pd.DataFrame([self._row(position) for position in range(len(self.nodes))])

    def _row(self, position: int) -> dict[str, object]:
        node = self.nodes[position]
        row: dict[str, object] = {
            "node": position,
            "parent": node.parent,
            "depth": self.depth(position),
            "condition": self.condition(position),
            "stops here": node.final,
            "prediction": self.classes[node.label],
            "noisy total": node.noisy_total,
        }
        for code, label in enumerate(self.classes):
            row[f"noisy estimate: {label}"] = node.estimates[code]
            row[f"from: {label}"], row[f"to: {label}"] = node.intervals[code]
            row[f"noisy count: {label}"] = node.noisy_counts[code]
        row["epsilon at node"] = str(node.spent)
        row["epsilon on path"] = str(self.path_spent(position))
        return row


def supporting(counts: Ints, labels: Sequence[int]) -> Ints:
    """Nearest counts in which no class of a group exceeds its label: a drawn label is evidence too.

    Pools the label with the classes that exceed it, largest first (least squares).

    Parameters
    ----------
    counts : array of shape (n_groups, n_classes)
    """
    nearest = counts.copy()
    for own, label in zip(nearest, labels, strict=True):
        pooled = [label]
        for code in np.argsort(-own, kind="stable"):
            if code != label and own[code] > np.mean(own[pooled]):
                pooled.append(int(code))
        own[pooled] = round(float(np.mean(own[pooled])))
    return nearest
