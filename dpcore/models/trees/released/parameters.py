"""Parameters of tree and forest runs: public choices of the analyst."""

from __future__ import annotations

from typing import Annotated, Final, Literal, Self

from pydantic import Field, model_validator

from dpcore.frozen import FrozenParameters

Criterion = Literal["error", "gini", "information_gain", "matsushita"]
TreeMethod = Literal["lookahead", "adiffp", "diffp_id3", "diffp_c45", "sulq_id3"]
ForestMethod = Literal["rfdiffp", "random_trees"]
Sharing = Literal["parts", "split"]

#: Methods that prune unless told otherwise.
PRUNES: Final = frozenset({"lookahead", "adiffp", "diffp_c45", "rfdiffp"})


class TreeParameters(FrozenParameters):
    """What tree to fit and how.

    Attributes
    ----------
    method : str
        ``lookahead`` draws whole blocks of a tree, labels included, exactly from the
        exponential mechanism. ``adiffp`` is the adaptive learner of Borhan (2018, Algorithm 1).
        ``diffp_id3`` and ``diffp_c45`` spend the same on every level (Friedman, Schuster 2010),
        the second with pruning; ``sulq_id3`` chooses by noisy counts (Blum et al. 2005).
    criterion : str
        What a good split is. ``lookahead`` knows ``error`` and ``gini``.
    blocks : tuple of int or None
        ``lookahead``: depth of each block, from the root down. ``None`` is the house rule.
    leaf_share : float or None
        ``lookahead``: share of the budget for the noisy class counts of the leaves, which are
        for reading; labels are drawn with the tree. ``None`` is the house rule.
    depth : int
        Levels of splits of the methods that fix it in advance.
    threshold : float
        ``adiffp``: t of Algorithm 1.
    spend_rest : bool
        ``adiffp``: a leaf's counts take all that its path has left, not one step of it.
    reserved_splits : bool
        ``lookahead``: also split on ``(missing)`` and ``(other)``.
    prune : bool or None
        Fold, at no cost, what the noisy counts do not support: error-based pruning (C4.5); for
        ``lookahead`` splits whose sides predict the same class and differ by no more than
        noise. ``None``: as the method was published, and yes for ``lookahead``.
    evaluate : bool
        Train on the training part and evaluate on the hold-out part, at no extra cost.
    """

    method: TreeMethod = "lookahead"
    criterion: Criterion = "error"
    blocks: Annotated[tuple[Annotated[int, Field(ge=1, le=3)], ...], Field(max_length=3)] | None = (
        None
    )
    leaf_share: float | None = Field(default=None, ge=0.01, le=0.99)
    depth: int = Field(default=5, ge=1, le=8)
    threshold: float = Field(default=0.01, ge=0, le=1000)
    spend_rest: bool = True
    reserved_splits: bool = False
    prune: bool | None = None
    evaluate: bool = True

    @model_validator(mode="after")
    def _consistent(self) -> Self:
        if self.method == "lookahead" and self.criterion not in {"error", "gini"}:
            raise ValueError("the method 'lookahead' supports the criteria 'error' and 'gini'")
        if self.blocks is not None and not self.blocks:
            raise ValueError("give at least one block, or none for the house rule")
        return self

    @property
    def prunes(self) -> bool:
        """Whether the tree is pruned."""
        return self.method in PRUNES if self.prune is None else self.prune


class ForestParameters(FrozenParameters):
    """What forest to fit and how.

    Attributes
    ----------
    method : str
        ``rfdiffp`` grows adaptive trees on random attributes (Borhan 2018, Algorithm 2).
        ``random_trees`` grows trees at random and spends everything on their leaves
        (Jagannathan et al. 2012).
    sharing : {"parts", "split"}
        Each tree on its own random part of the records with the whole budget, or each tree on
        all records with its part of the budget. A bootstrap, as published, is not sound: one
        record may count many times.
    trees : int
        Number of trees.
    depth : int
        ``random_trees``: levels of splits.
    attributes : int or None
        ``rfdiffp``: most attributes drawn at a node; their number is drawn too. ``None`` is
        log2(number of attributes) + 1.
    criterion, threshold, spend_rest, prune, evaluate
        As in :class:`TreeParameters`. ``spend_rest=False`` is Algorithm 2 as published: with
        ``sharing="split"`` a tree then passes on to the next one what it did not need.
    """

    method: ForestMethod = "rfdiffp"
    criterion: Criterion = "gini"
    sharing: Sharing = "parts"
    trees: int = Field(default=10, ge=1, le=100)
    depth: int = Field(default=5, ge=1, le=8)
    attributes: int | None = Field(default=None, ge=1, le=10_000)
    threshold: float = Field(default=0.01, ge=0, le=1000)
    spend_rest: bool = True
    prune: bool | None = None
    evaluate: bool = True

    @property
    def prunes(self) -> bool:
        """Whether the trees are pruned."""
        return self.method in PRUNES if self.prune is None else self.prune
