"""Parameters of a redescription run: public choices of the analyst."""

from __future__ import annotations

from typing import Annotated, Final, Literal, Self

from pydantic import Field, model_validator

from dpcore.domain.schemas.names import Name
from dpcore.released.parameters import LEAST_STEPS, Parameters

RedescriptionMethod = Literal["exact_pairs", "lookahead", "alt_expm", "alt_mcmc", "mcmc_tree_pair"]
PairSampler = Literal["chain", "pool"]
PairSensitivity = Literal["proved", "published"]
Columns = Annotated[tuple[Name, ...], Field(min_length=1, max_length=1000)]

#: Depth of the trees and number of starts of the published methods (Mihelčić and Miettinen 2023,
#: Table 6).
PUBLISHED_DEPTH: Final = 4
PUBLISHED_STARTS: Final = 4


class RedescriptionParameters(Parameters):
    """What pairs of trees to draw and how (Mihelčić and Miettinen 2023, where as published)."""

    method: RedescriptionMethod = Field(default="exact_pairs", title="How pairs of trees are chosen")
    """exact_pairs draws two conditions on either side together, exactly. lookahead alternates between the sides with
    trees drawn whole and exactly. alt_expm and alt_mcmc alternate with trees drawn question by question and by a random
    walk (Algorithms 1 to 3). mcmc_tree_pair draws both trees of a pair together (Algorithms 4 and 5)."""
    left: Columns | None = Field(default=None, title="Columns on the left")
    """Columns that conditions on the left may ask about. Default: those that the schema puts there."""
    right: Columns | None = Field(default=None, title="Columns on the right")
    """Columns that conditions on the right may ask about. Default: those that the schema puts there."""
    depth: int | None = Field(
        default=None,
        ge=1,
        le=4,
        title="Questions in a row",
        json_schema_extra={"only": "lookahead, alt_expm, alt_mcmc, mcmc_tree_pair"},
    )
    """How many questions every tree asks one after another. More of them tell people apart more finely, but each group
    becomes smaller and drowns in noise sooner. Default: 2, for the published methods 4."""
    starts: int | None = Field(default=None, ge=1, le=20, title="Searches")
    """Every search gives another pair of trees. More searches find more, but they share the same epsilon: each becomes
    noisier. Default: chosen from epsilon and the public row limit, for the published methods 4."""
    rounds: int = Field(
        default=1,
        ge=1,
        le=10,
        title="Times back and forth",
        json_schema_extra={"only": "lookahead, alt_expm, alt_mcmc"},
    )
    """One tree is grown, then one on the other side that finds the same groups of people, and so on. Each further turn
    gives another pair of trees and takes its part of epsilon."""
    tree_share: float | None = Field(default=None, ge=0.01, le=0.99, title="Share of epsilon for choosing the trees")
    """The rest of epsilon counts people. A larger share finds better trees; a smaller one makes the numbers less noisy.
    Default: chosen from epsilon and the public row limit, or as published."""
    margins: bool | None = Field(default=None, title="Count the left groups once more")
    """Uses half of what is left for counting on a second count of each group of the left tree, as published (Algorithm
    6). Default: for the published methods only."""
    sampler: PairSampler = Field(
        default="chain", title="How a pair is drawn", json_schema_extra={"only": "mcmc_tree_pair"}
    )
    """By a random walk (chain), whose guarantee holds only if it has run long enough, or by an exact choice from a pool
    of random pairs (pool)."""
    steps: int = Field(
        default=10_000,
        ge=1,
        le=1_000_000,
        title="Steps of the walk",
        json_schema_extra={"only": "alt_mcmc, chain", "least": LEAST_STEPS},
    )
    """How many steps each random walk has; fixed in advance."""
    pool_size: int = Field(
        default=20_000, ge=1, le=1_000_000, title="Pairs in the pool", json_schema_extra={"only": "pool"}
    )
    """How many random pairs of trees one is chosen from."""
    sensitivity: PairSensitivity = Field(
        default="proved", title="Scale of the noise on the choice", json_schema_extra={"only": "mcmc_tree_pair"}
    )
    """How much a single person could change the choice. The published value is far too careful: it protects no better,
    and little is found."""
    reserved_splits: bool = Field(default=False, title="Ask for 'missing', 'other'")
    """Questions may also ask for missing and other values."""

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
        return self.method == "alt_mcmc" or (self.method == "mcmc_tree_pair" and self.sampler == "chain")
