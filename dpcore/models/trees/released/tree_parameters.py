"""Parameters of tree and forest runs: public choices of the analyst."""

from __future__ import annotations

from typing import Annotated, Any, Final, Literal, Self

from pydantic import Field, model_validator

from dpcore.released.parameters import CutPoints, CutsFrom, Evaluate, Parameters

Criterion = Literal["error", "gini", "information_gain", "matsushita"]
#: Of trees: ``balanced`` is known to exact lookahead alone.
TreeCriterion = Literal["balanced", "error", "gini", "information_gain", "matsushita"]
TreeMethod = Literal["lookahead", "adiffp", "diffp_id3", "diffp_c45", "sulq_id3"]
ForestMethod = Literal["rfdiffp", "random_trees"]
Sharing = Literal["parts", "split"]

#: Methods that prune unless told otherwise.
PRUNES: Final = frozenset({"lookahead", "adiffp", "diffp_c45", "rfdiffp"})


#: Criteria that exact lookahead knows.
EXACT_CRITERIA: Final = ("balanced", "gini", "error")
Blocks = Annotated[tuple[Annotated[int, Field(ge=1, le=3)], ...], Field(max_length=3)]
Threshold = Annotated[
    float,
    Field(
        ge=0,
        le=1000,
        title="Threshold t",
        description="Decides how much a question may cost. With a small value more questions get "
        "the larger share. 0.01 is the published value.",
        json_schema_extra={"only": "adiffp, rfdiffp"},
    ),
]
SpendRest = Annotated[
    bool,
    Field(
        title="Spend the rest at the end",
        description="The counts at the end of a path take all that the path has left. This makes "
        "them less noisy and costs nothing more. In a forest that splits the budget, the rest "
        "otherwise goes to the next tree, as published.",
        json_schema_extra={"only": "adiffp, rfdiffp"},
    ),
]
Prune = Annotated[
    bool | None,
    Field(
        title="Fold what may be noise",
        description="Where the noisy counts do not show that a further division means anything, it "
        "is folded: records stop before it. This costs no epsilon. Folded parts stay in the result "
        "and can be shown. The noise of a folded group is that of its parts together, so it is "
        "larger. Default: as recommended or published for the method.",
    ),
]
_CRITERION: Final = "Predict the label, or separate the chances"
_CRITERIA: Final = (
    "To predict the label, questions are chosen that leave the fewest mistakes (error): where an outcome is rare, "
    "that may be none at all. To separate the chances, questions are chosen that bring groups with different "
    "chances apart, even if the same class is the likeliest in all of them (gini; information_gain and matsushita "
    "by other measures)."
)


class TreeParameters(Parameters):
    """What tree to fit and how."""

    method: TreeMethod = Field(default="lookahead", title="How the tree is grown")
    """lookahead draws whole blocks of questions, predictions included, exactly. adiffp adapts what it spends as it
    grows (Borhan 2018, Algorithm 1). diffp_id3 and diffp_c45 spend the same on every level (Friedman and Schuster
    2010), the second with pruning; sulq_id3 chooses by noisy counts (Blum et al. 2005)."""
    criterion: TreeCriterion = Field(
        default="balanced",
        title=_CRITERION,
        description=f"{_CRITERIA} Exact lookahead knows error, gini and, which is its default, balanced: the fewest "
        "mistakes where the largest class counts no more than the second, so that two classes weigh alike, which "
        "tells most where an outcome is rare. The other methods take gini in its place.",
    )
    blocks: Blocks | None = Field(
        default=None, title="Questions drawn at once", json_schema_extra={"only": "lookahead"}
    )
    """How many questions in a row are drawn together, block after block: '3, then 2' draws three levels of questions at
    once, and then two more below each end. More levels need more epsilon and more people. Default: chosen from epsilon
    and the public row limit."""
    leaf_share: float | None = Field(
        default=None,
        ge=0.01,
        le=0.99,
        title="Share of epsilon for the noisy counts",
        json_schema_extra={"only": "lookahead"},
    )
    """The counts of the groups are for reading: predictions are drawn with the questions. Default: chosen from epsilon
    and the schema."""
    depth: int = Field(
        default=5, ge=1, le=8, title="Questions in a row", json_schema_extra={"only": "diffp_id3, diffp_c45, sulq_id3"}
    )
    """How many questions are asked one after another."""
    threshold: Threshold = 0.01
    spend_rest: SpendRest = True
    reserved_splits: bool = Field(
        default=False, title="Ask for 'missing', 'other'", json_schema_extra={"only": "lookahead"}
    )
    """Questions may also ask for missing and other values."""
    prune: Prune = None
    cut_points: CutPoints = ()
    cuts_from: CutsFrom = ""
    evaluate: Evaluate = True

    @model_validator(mode="before")
    @classmethod
    def _of_its_method(cls, content: Any) -> object:
        """Other methods than exact lookahead, which do not know the default, take gini in its place."""
        own = isinstance(content, dict) and content.get("method", "lookahead") != "lookahead"
        return (
            {**content, "criterion": "gini"} if own and content.get("criterion", "balanced") == "balanced" else content
        )

    @model_validator(mode="after")
    def _consistent(self) -> Self:
        if self.method == "lookahead" and self.criterion not in EXACT_CRITERIA:
            raise ValueError("the method 'lookahead' supports the criteria 'balanced', 'error' and 'gini'")
        if self.blocks is not None and not self.blocks:
            raise ValueError("give at least one block, or none for the house rule")
        return self

    @property
    def prunes(self) -> bool:
        """Whether the tree is pruned."""
        return self.method in PRUNES if self.prune is None else self.prune


class ForestParameters(Parameters):
    """What forest to fit and how."""

    method: ForestMethod = Field(default="random_trees", title="How the trees are grown")
    """random_trees draws every question at random and spends everything on the counts (Jagannathan et al. 2012).
    rfdiffp grows adaptive trees on random columns (Borhan 2018, Algorithm 2)."""
    criterion: Criterion = Field(
        default="gini", title=_CRITERION, description=_CRITERIA, json_schema_extra={"only": "rfdiffp"}
    )
    sharing: Sharing = Field(default="split", title="How the trees share")
    """Every tree sees all people and gets its part of epsilon (split); or other people, divided at random, and the
    whole of epsilon (parts). A bootstrap, as published, is not sound: one record may count many times."""
    trees: int | None = Field(default=None, ge=1, le=100, title="Number of trees")
    """The mean of their chances is the chance that is told. Default: chosen from epsilon and the public row limit: ten,
    or fewer where ten would each get too little to tell groups from noise."""
    depth: int = Field(default=3, ge=1, le=8, title="Questions in a row", json_schema_extra={"only": "random_trees"})
    """How many questions every tree asks one after another."""
    attributes: int | None = Field(
        default=None, ge=1, le=10_000, title="Most columns drawn per question", json_schema_extra={"only": "rfdiffp"}
    )
    """Most columns that are drawn for a question; how many is drawn, too. Default: log2(number of columns) + 1."""
    threshold: Threshold = 0.01
    spend_rest: SpendRest = True
    prune: Prune = None
    cut_points: CutPoints = ()
    cuts_from: CutsFrom = ""
    evaluate: Evaluate = True

    @property
    def prunes(self) -> bool:
        """Whether the trees are pruned."""
        return self.method in PRUNES if self.prune is None else self.prune


class ForestSettings(ForestParameters):
    """What the analyst asked of a forest, with what the house rule makes of the rest."""

    trees: int
