"""The released forest: trees whose chances are averaged."""

from __future__ import annotations

from collections.abc import Mapping
from decimal import Decimal
from operator import not_
from typing import Literal

import numpy as np
import pandas as pd
from pydantic import Field

from dpcore.arrays import Array, Floats, Ints
from dpcore.domain.encoding import encode_columns
from dpcore.domain.schemas.schema import Schema
from dpcore.frozen import FrozenModel
from dpcore.models.trees.released.chance_groups import group_chances, group_labels, groups_of, mean_chances
from dpcore.models.trees.released.column_use import ColumnUse, columns_used, use_sentence
from dpcore.models.trees.released.tree_model import TreeModel
from dpcore.released.evaluation import Evaluation


class ForestModel(FrozenModel):
    """Trees whose chances are averaged."""

    classes: tuple[str, ...]
    trees: tuple[TreeModel, ...]
    sharing: Literal["parts", "split"]
    """Whether the trees saw disjoint parts of the records, each with the whole budget, or all records, each with its
    part of the budget."""
    budget: Decimal
    """Budget per person of the whole forest."""
    cuts: tuple[float, ...] = ()
    """Chances between the groups of the evaluation, ascending: see :func:`~.chance_groups.groups_of`. Empty in releases
    of earlier versions, which were evaluated by the votes of their trees."""
    rows_per_person: int = Field(default=1, ge=1)
    """Most records of one person: what chance alone would tell. 1 in releases of earlier versions."""
    gaussian: bool = Field(default=False, exclude_if=not_)
    """Whether the noise on its counts is Gaussian; absent if not."""
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

    def chances_of_codes(self, codes: Mapping[str, Array], rows: int) -> Floats:
        """Chances from the cell codes of the columns: shape (rows, n_classes), rows summing to 1."""
        return mean_chances(self.trees, codes, rows)

    def predict(self, frame: pd.DataFrame, schema: Schema) -> Ints:
        """Code of the likeliest class; the first of those that tie."""
        return np.asarray(self.predict_proba(frame, schema).argmax(axis=1))

    def predict_proba(self, frame: pd.DataFrame, schema: Schema) -> Floats:
        """Mean of the trees' class chances: shape (n_rows, n_classes)."""
        return self.chances_of_codes(encode_columns(frame, schema, self.columns()), len(frame))

    def possible_chances(self, values: Mapping[str, object], schema: Schema) -> Floats:
        """Least and largest mean chance of each class, for one typed-in case: shape (2, n_classes).

        What is absent is not known. Trees are taken one by one, so that what is possible lies within.
        """
        ends = []
        for tree in self.trees:
            told = np.array([tree.nodes[place].estimates for place in tree.possible_finals(values, schema)])
            ends.append((told.min(axis=0), told.max(axis=0)))
        return np.asarray(np.mean(ends, axis=0))

    def possible_ballots(self, values: Mapping[str, object], schema: Schema) -> tuple[tuple[int, ...], ...]:
        """Classes that each tree may predict, for one typed-in case; what is absent is not known."""
        ends = ((tree, tree.possible_finals(values, schema)) for tree in self.trees)
        return tuple(tuple(sorted({tree.nodes[place].label for place in places})) for tree, places in ends)

    def groups(self, chances: Floats) -> Ints:
        """Group of each row for the evaluation."""
        return groups_of(chances, self.cuts)

    def group_estimates(self) -> tuple[Floats, Ints]:
        """Chances and predicted class of each group."""
        return group_chances(self.trees, self.cuts), group_labels(len(self.classes), self.cuts)

    def count_records(self, frame: pd.DataFrame, schema: Schema, target: str) -> tuple[tuple[int, ...], ...]:
        """Exact records per group and class, without noise. For public records only."""
        codes = encode_columns(frame, schema, [target])[target]
        known = codes < len(self.classes)
        groups = self.groups(self.predict_proba(frame, schema))
        counts = np.zeros((len(group_labels(len(self.classes), self.cuts)), len(self.classes)), dtype=np.int64)
        np.add.at(counts, (groups[known], codes[known]), 1)
        return tuple(tuple(int(count) for count in row) for row in counts)

    def columns_used(self) -> tuple[ColumnUse, ...]:
        """Columns that some tree asks about, with what they tell and what they would tell by chance."""
        return columns_used(self.trees, self.rows_per_person, gaussian=self.gaussian)

    def to_frame(self) -> pd.DataFrame:
        """Table twin: the nodes of all trees, every number labelled noisy."""
        frames = [tree.to_frame().assign(tree=i + 1) for i, tree in enumerate(self.trees)]
        whole = pd.concat(frames, ignore_index=True)
        return whole[["tree", *(name for name in whole.columns if name != "tree")]]

    def reading(self, target: str) -> list[str]:
        """The forest in plain sentences."""
        used, leaves = self.columns_used(), sum(len(tree.finals) for tree in self.trees)
        return [
            f"{len(self.trees)} trees tell chances of {target}, and their mean counts; they end in {leaves} groups.",
            use_sentence(used) if used else "No tree splits: all records have the same estimated chance.",
        ]
