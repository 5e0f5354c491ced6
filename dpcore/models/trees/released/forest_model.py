"""The released forest: trees that vote."""

from __future__ import annotations

from collections.abc import Mapping
from decimal import Decimal
from typing import Literal

import numpy as np
import pandas as pd

from dpcore.arrays import Array, Floats, Ints
from dpcore.domain.encoding import encode_columns
from dpcore.domain.schema import Schema
from dpcore.frozen import FrozenModel
from dpcore.models.trees.released.model import TreeModel
from dpcore.released.evaluation import Evaluation


class ForestModel(FrozenModel):
    """Trees of which each casts one vote.

    Attributes
    ----------
    sharing : {"parts", "split"}
        Whether the trees saw disjoint parts of the records, each with the whole budget, or all
        records, each with its part of the budget.
    budget : Decimal
        Budget per person of the whole forest.
    """

    classes: tuple[str, ...]
    trees: tuple[TreeModel, ...]
    sharing: Literal["parts", "split"]
    budget: Decimal
    evaluation: Evaluation | None = None

    def worded(self, schema: Schema) -> ForestModel:
        """The same forest, its conditions told in the words of a schema."""
        return self.model_copy(update={"trees": tuple(tree.worded(schema) for tree in self.trees)})

    @property
    def count_margin(self) -> int:
        """Largest noise margin of a count in a leaf of any tree."""
        return max(tree.count_margin for tree in self.trees)

    def columns(self) -> tuple[str, ...]:
        """Columns that some tree looks at."""
        return tuple(dict.fromkeys(name for tree in self.trees for name in tree.columns()))

    def votes(self, frame: pd.DataFrame, schema: Schema) -> Ints:
        """Votes of the trees: shape (n_rows, n_classes), rows summing to the number of trees."""
        return self.votes_of_codes(encode_columns(frame, schema, self.columns()), len(frame))

    def votes_of_codes(self, codes: Mapping[str, Array], rows: int) -> Ints:
        """Votes from the cell codes of the columns."""
        votes = np.zeros((rows, len(self.classes)), dtype=np.int64)
        everyone = np.arange(rows)
        for tree in self.trees:
            labels = np.array([node.label for node in tree.nodes])
            votes[everyone, labels[tree.apply_codes(codes, rows)]] += 1
        return votes

    def predict(self, frame: pd.DataFrame, schema: Schema) -> Ints:
        """Class code with the most votes; the first of those that tie."""
        return np.asarray(self.votes(frame, schema).argmax(axis=1))

    def predict_proba(self, frame: pd.DataFrame, schema: Schema) -> Floats:
        """Share of the votes per class: shape (n_rows, n_classes)."""
        return np.asarray(self.votes(frame, schema) / len(self.trees))

    def possible_ballots(self, values: Mapping[str, object], schema: Schema) -> tuple[tuple[int, ...], ...]:
        """Classes that each tree may vote for, for one typed-in case; what is absent is not known."""
        ends = ((tree, tree.possible_finals(values, schema)) for tree in self.trees)
        return tuple(tuple(sorted({tree.nodes[place].label for place in places})) for tree, places in ends)

    def groups(self, votes: Ints) -> Ints:
        """Group of each row for the evaluation, see :meth:`group_estimates`."""
        return np.asarray(votes[:, 1] if len(self.classes) == 2 else votes.argmax(axis=1))

    def group_estimates(self) -> tuple[Floats, Ints]:
        """Vote shares and predicted class of each group.

        Two classes: one group per number of votes for the second, 0 to the number of trees.
        More: one group per predicted class.
        """
        if len(self.classes) > 2:
            return np.eye(len(self.classes)), np.arange(len(self.classes))
        share = np.arange(len(self.trees) + 1) / len(self.trees)
        return np.stack([1 - share, share], axis=1), (share > 0.5).astype(np.int64)

    def count_records(self, frame: pd.DataFrame, schema: Schema, target: str) -> tuple[tuple[int, ...], ...]:
        """Exact records per group and class, without noise. For public records only."""
        codes = encode_columns(frame, schema, [target])[target]
        known = codes < len(self.classes)
        groups = self.groups(self.votes(frame, schema))
        counts = np.zeros((len(self.group_estimates()[1]), len(self.classes)), dtype=np.int64)
        np.add.at(counts, (groups[known], codes[known]), 1)
        return tuple(tuple(int(count) for count in row) for row in counts)

    def attribute_use(self) -> dict[str, float]:
        """Share of all splits that look at each column, each split weighted by 1 / 2^depth.

        A split near the root speaks for more people, so it counts for more. Sums to 1 unless
        no tree has a split. Largest first.
        """
        weights: dict[str, float] = {}
        for tree in self.trees:
            for column, weight in _split_weights(tree):
                weights[column] = weights.get(column, 0.0) + weight
        whole = sum(weights.values())
        ranked = sorted(weights.items(), key=lambda item: (-item[1], item[0]))
        return {column: weight / whole for column, weight in ranked}

    def to_frame(self) -> pd.DataFrame:
        """Table twin: the nodes of all trees, every number labelled noisy."""
        frames = [tree.to_frame().assign(tree=i + 1) for i, tree in enumerate(self.trees)]
        whole = pd.concat(frames, ignore_index=True)
        return whole[["tree", *(name for name in whole.columns if name != "tree")]]

    def reading(self, target: str) -> list[str]:
        """The forest in plain sentences."""
        use = ", ".join(f"{name} ({share:.0%})" for name, share in self.attribute_use().items())
        leaves = sum(len(tree.finals) for tree in self.trees)
        return [
            f"{len(self.trees)} trees vote on {target}; together they end in {leaves} groups.",
            f"They look at: {use}." if use else "No tree splits: all people get the same vote.",
        ]


def _split_weights(tree: TreeModel) -> list[tuple[str, float]]:
    reached = {position for final in tree.finals for position in tree.path(final)[:-1]}
    return [
        (node.split.column, 0.5 ** tree.depth(position))
        for position, node in enumerate(tree.nodes)
        if node.split is not None and position in reached
    ]
