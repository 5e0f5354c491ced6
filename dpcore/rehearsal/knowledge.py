"""What releases reveal about the records: sizes of groups. Post-processing: costs nothing.

Everything here is read off releases, which are public: nothing sees a stored record.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any

import numpy as np
from numpy.typing import NDArray

from dpcore.models.ebm.released.model import EBMModel, Term
from dpcore.models.ilp.released.model import ILPModel
from dpcore.models.redescriptions.released.model import RedescriptionModel
from dpcore.models.redescriptions.released.tree_pair import TreePair
from dpcore.models.released import parse_model
from dpcore.models.rules.released.model import RuleListModel
from dpcore.models.trees.released.forest_model import ForestModel
from dpcore.models.trees.released.model import TreeModel
from dpcore.rehearsal.records import Codes, Floats, Records
from dpcore.released.release import Release

#: A 95 % margin of two-sided geometric noise, in standard deviations.
_MARGIN = 2.1


@dataclass(frozen=True)
class Groups:
    """Groups that divide the records among them, and noisy numbers of those in each.

    Attributes
    ----------
    place : callable
        Group of each of some records: shape (n_rows,).
    counts : array of shape (n_groups,)
        May be negative.
    error : float
        Standard deviation of the noise on each of them.
    """

    place: Callable[[Records], Codes]
    counts: Floats
    error: float

    @property
    def shares(self) -> Floats:
        """Share of the records in each group: not negative, summing to 1."""
        return without_negatives(self.counts)


@dataclass(frozen=True)
class Knowledge:
    """What one release reveals of the sizes of groups.

    Attributes
    ----------
    rows : float
        Records of all parts together, with noise.
    """

    release: Release
    model: Any
    groups: tuple[Groups, ...]
    rows: float

    @property
    def number(self) -> bool:
        """Whether its model predicts a number."""
        return isinstance(self.model, EBMModel) and self.model.task == "regression"


def without_negatives(counts: Floats) -> Floats:
    """The nearest shares that sum to 1: every count is lowered alike, and cut off at 0."""
    total = max(float(counts.sum()), 1.0)
    falling = np.sort(counts)[::-1]
    excess = (np.cumsum(falling) - total) / np.arange(1, len(counts) + 1)
    last = int(np.flatnonzero(falling > excess)[-1])
    return np.asarray(np.maximum(counts - excess[last], 0.0) / total)


def read(release: Release) -> Knowledge:
    """Read the groups off a release of any family."""
    model = parse_model(release)
    groups = tuple(_groups(model))
    totals = [float(group.counts.sum()) for group in groups]
    rows = float(np.median(totals)) if totals else 0.0
    if isinstance(model, ForestModel) and model.sharing == "parts":
        rows = float(np.sum(totals))
    if release.parameters.get("evaluate", False):
        rows /= 1 - release.domain.holdout_percent / 100
    return Knowledge(release, model, groups, rows)


def _groups(model: Any) -> Iterator[Groups]:
    if isinstance(model, RuleListModel):
        yield _by_class(partial(_rule, model), model.rules, model.count_margin)
    elif isinstance(model, ILPModel):
        yield _by_class(partial(_clause, model), model.groups, model.count_margin)
    elif isinstance(model, TreeModel):
        yield _of_tree(model)
    elif isinstance(model, ForestModel):
        yield from (_of_tree(tree) for tree in model.trees)
    elif isinstance(model, EBMModel):
        for term in model.terms:
            counts = np.asarray(term.noisy_counts, dtype=np.float64)
            yield Groups(partial(_bin, term), counts, float(max(term.count_errors)))
    elif isinstance(model, RedescriptionModel):
        for pair in model.pairs:
            counts = np.asarray(pair.noisy_counts, dtype=np.float64).ravel()
            yield Groups(partial(_leaves, pair), counts, 1.5 * pair.count_scale)


def _by_class(place: Callable[[Records], Codes], groups: Sequence[Any], margin: int) -> Groups:
    """Groups that were counted class by class."""
    counts = np.array([group.noisy_counts for group in groups], dtype=np.float64)
    return Groups(place, counts.sum(axis=1), float(np.sqrt(counts.shape[1])) * margin / _MARGIN)


def _of_tree(tree: TreeModel) -> Groups:
    nodes = [tree.nodes[position] for position in tree.finals]
    return _by_class(partial(_leaf, tree), nodes, tree.count_margin)


def _rule(model: RuleListModel, records: Records) -> Codes:
    first = np.full(records.rows, len(model.rules) - 1, dtype=np.int64)
    for position in range(len(model.rules) - 2, -1, -1):
        holds = np.ones(records.rows, dtype=np.bool_)
        for item in model.rules[position].conditions:
            codes = records.cells(item.column)
            holds &= (codes >= item.first) & (codes <= item.last)
        first[holds] = position
    return first


def _clause(model: ILPModel, records: Records) -> Codes:
    return records.clauses(model)


def _node(tree: TreeModel, records: Records) -> Codes:
    return tree.apply_codes({name: records.cells(name) for name in tree.columns()}, records.rows)


def _leaf(tree: TreeModel, records: Records) -> Codes:
    return np.searchsorted(np.asarray(tree.finals), _node(tree, records))


def _bin(term: Term, records: Records) -> Codes:
    codes = np.zeros(records.rows, dtype=np.int64)
    for axis in term.axes:
        codes = codes * len(axis) + records.bins(axis)
    return codes


def _leaves(pair: TreePair, records: Records) -> Codes:
    frame, schema = records.main, records.schema
    left, right = pair.left.apply(frame, schema), pair.right.apply(frame, schema)
    return np.asarray(left * pair.right.leaf_count + right)


def scores(model: EBMModel, records: Records) -> Floats:
    """Sum of the intercept and the terms: shape (n_rows, n_outputs)."""
    total = np.tile(np.asarray(model.intercept, dtype=np.float64), (records.rows, 1))
    for term in model.terms:
        total += np.asarray(term.scores)[_bin(term, records)]
    return total


def columns_of(model: Any) -> set[str]:
    """Columns of the main table that the groups of a model are made of."""
    if isinstance(model, RuleListModel):
        return {item.column for rule in model.rules for item in rule.conditions}
    if isinstance(model, ILPModel):
        return {atom.column for clause in model.clauses for atom in clause.atoms}
    if isinstance(model, RedescriptionModel):
        sides = [tree for pair in model.pairs for tree in (pair.left, pair.right)]
        return {split.column for tree in sides for split in tree.splits}
    return set(model.columns())


def predicted(model: Any, records: Records) -> NDArray[Any]:
    """What a model predicts: codes of classes, or numbers."""
    if isinstance(model, TreeModel):
        return np.array([node.label for node in model.nodes])[_node(model, records)]
    if isinstance(model, ILPModel):
        return np.asarray(model.labels)[_clause(model, records)]
    if isinstance(model, EBMModel) and model.task == "regression":
        assert model.bounds is not None
        return np.clip(scores(model, records)[:, 0], *model.bounds)
    return np.asarray(probabilities(model, records).argmax(axis=1))


def probabilities(model: Any, records: Records) -> Floats:
    """Released class probabilities of each record: shape (n_rows, n_classes)."""
    if isinstance(model, EBMModel):
        return model.probabilities(scores(model, records))
    if isinstance(model, TreeModel):
        return np.array([node.estimates for node in model.nodes])[_node(model, records)]
    if isinstance(model, ForestModel):
        codes = {name: records.cells(name) for name in model.columns()}
        return np.asarray(model.votes_of_codes(codes, records.rows) / len(model.trees))
    if isinstance(model, ILPModel):
        return np.array([g.estimates for g in model.groups])[_clause(model, records)]
    return np.array([rule.estimates for rule in model.rules])[_rule(model, records)]
