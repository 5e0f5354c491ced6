"""Parameters of a redescription run: public choices of the analyst."""

from __future__ import annotations

from typing import Annotated, Final, Literal, Self

from pydantic import Field, model_validator

from dpcore.domain.columns import Name
from dpcore.frozen import FrozenParameters

RedescriptionMethod = Literal["exact_pairs", "lookahead", "alt_expm", "alt_mcmc", "mcmc_tree_pair"]
PairSampler = Literal["chain", "pool"]
PairSensitivity = Literal["proved", "published"]
Columns = Annotated[tuple[Name, ...], Field(min_length=1, max_length=1000)]

#: Depth of the trees and number of starts of the published methods (Mihelčić and Miettinen 2023,
#: Table 6).
PUBLISHED_DEPTH: Final = 4
PUBLISHED_STARTS: Final = 4


class RedescriptionParameters(FrozenParameters):
    """What pairs of trees to draw and how.

    Attributes
    ----------
    method : str
        ``exact_pairs`` draws two conditions on either side together, exactly.
        ``lookahead`` alternates between the views with trees drawn whole and exactly.
        ``alt_expm`` and ``alt_mcmc`` alternate with trees drawn split by split and by a Markov
        chain (Mihelčić and Miettinen 2023, Algorithms 1 to 3). ``mcmc_tree_pair`` draws both trees
        of a pair together (Algorithms 4 and 5).
    left, right : tuple of str or None
        Columns of each view. ``None``: those that the schema puts there.
    depth : int or None
        Levels of splits of every tree. ``None``: 2 for the house methods, ``exact_pairs`` (which
        knows no other) and ``lookahead``; 4 for the others.
    starts : int or None
        Searches (InTr). ``None``: a rule for the house methods, 4 for the others.
    rounds : int
        Alternations of one search (RMIter). ``exact_pairs`` and ``mcmc_tree_pair`` have none.
    tree_share : float or None
        Share of the budget that chooses trees, the rest counts people (omega of Algorithm 4).
        ``None``: a rule for the house methods; equal parts for every tree and every count
        as published for ``alt_expm`` and ``alt_mcmc``; 0.1 for ``mcmc_tree_pair``.
    margins : bool or None
        Spend half of each count on the leaves of the left tree alone (Algorithm 6). ``None``:
        as published, and no for the house methods.
    sampler : {"chain", "pool"}
        ``mcmc_tree_pair``: a Markov chain, or an exact choice from a pool of random pairs.
    steps : int
        Steps of each Markov chain (MCIter), fixed in advance.
    pool_size : int
        Pairs in the pool.
    sensitivity : {"proved", "published"}
        ``mcmc_tree_pair``: 1.5 / max_rows, or the much larger 1 of the paper's Lemma 1.
    reserved_splits : bool
        Also split on ``(missing)`` and ``(other)``.
    """

    method: RedescriptionMethod = "exact_pairs"
    left: Columns | None = None
    right: Columns | None = None
    depth: int | None = Field(default=None, ge=1, le=4)
    starts: int | None = Field(default=None, ge=1, le=20)
    rounds: int = Field(default=1, ge=1, le=10)
    tree_share: float | None = Field(default=None, ge=0.01, le=0.99)
    margins: bool | None = None
    sampler: PairSampler = "chain"
    steps: int = Field(default=10_000, ge=1, le=1_000_000)
    pool_size: int = Field(default=20_000, ge=1, le=1_000_000)
    sensitivity: PairSensitivity = "proved"
    reserved_splits: bool = False

    @model_validator(mode="after")
    def _consistent(self) -> Self:
        both = set(self.left or ()) & set(self.right or ())
        if both:
            raise ValueError(f"the column '{min(both)}' cannot be in both views")
        if self.method == "exact_pairs" and self.depth not in (None, 2):
            raise ValueError("the method 'exact_pairs' has trees of depth 2: leave the depth out")
        if self.together and self.rounds > 1:
            raise ValueError(f"the method '{self.method}' has no rounds: leave them at 1")
        for view in (self.left, self.right):
            if view is not None and len(set(view)) < len(view):
                raise ValueError("name each column of a view once")
        return self

    @property
    def house(self) -> bool:
        """Whether this is one of the engine's own methods."""
        return self.method in {"exact_pairs", "lookahead"}

    @property
    def together(self) -> bool:
        """Whether both trees of a pair are drawn at once."""
        return self.method in {"exact_pairs", "mcmc_tree_pair"}

    @property
    def uses_chain(self) -> bool:
        """Whether the guarantee rests on a Markov chain having converged."""
        return self.method == "alt_mcmc" or (
            self.method == "mcmc_tree_pair" and self.sampler == "chain"
        )
