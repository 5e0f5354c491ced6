"""Parameters of an explainable boosting machine: public choices of the analyst."""

from __future__ import annotations

from decimal import Decimal
from typing import Literal, Self

from pydantic import Field, model_validator

from dpcore.domain.schemas.names import Name
from dpcore.released.parameters import Evaluate, Parameters

EBMMethod = Literal["all_bins", "random_splits"]


class EBMParameters(Parameters):
    """What model to fit and how. ``None`` leaves a choice to the method's own rule."""

    method: EBMMethod = Field(default="all_bins", title="How the shapes are learned")
    """all_bins asks for the noisy gradient of all groups of a column at once, in runs as long as the noise demands, and
    smooths what may be noise. random_splits is the published learner (Nori et al. 2021, Algorithm 1): small trees with
    random splits."""
    delta: Decimal | None = Field(default=None, gt=0, le=Decimal("0.01"), title="delta (allowance beyond epsilon)")
    """Charged beside epsilon, for example 1e-6. It must be far smaller than 1 divided by the number of people. Default:
    chosen from the public row limit."""
    max_bins: int | None = Field(default=None, ge=2, le=128, title="Most groups of a number")
    """Most groups that a numeric column is divided into, missing values not counted. Default: the method's own rule, 32
    for random splits."""
    epochs: int | None = Field(default=None, ge=1, le=1000, title="Rounds over all columns")
    """How often every column has its turn. Default: the method's own rule, 300 for random splits."""
    learning_rate: float | None = Field(default=None, gt=0, le=1, title="Learning rate")
    """How far one round moves a shape; with all bins at once, by how much the rounds before count less. Default: the
    method's own rule, 0.01 for random splits."""
    leaves: int = Field(default=3, ge=2, le=16, title="Groups per round", json_schema_extra={"only": "random_splits"})
    """How many groups, the leaves of a tree, a column is divided into at its turn."""
    bin_share: float | None = Field(default=None, ge=0.01, le=0.9, title="Share of epsilon for counting records")
    """Part of epsilon for counting the records in each group of each column. These noisy counts are shown below the
    shapes. The rest goes into the shapes themselves. Default: the method's own rule, 0.1 for random splits."""
    pairs: int = Field(default=0, ge=0, le=10, title="Pairs of columns", json_schema_extra={"only": "all_bins"})
    """How many pairs of columns may have a shape of their own, for effects that two columns have only together. They
    are chosen privately, which takes a part of epsilon. With 0, every column stands for itself and the model is easiest
    to read."""
    increasing: tuple[Name, ...] = Field(
        default=(), max_length=1000, title="Shapes that never fall", json_schema_extra={"only": "all_bins"}
    )
    """Columns in order, numbers above all, of which more never lowers the prediction. Say only what is known without
    the records: it costs nothing, and it takes noise out of the shape. These columns are in no pairs, which could undo
    it."""
    decreasing: tuple[Name, ...] = Field(
        default=(), max_length=1000, title="Shapes that never rise", json_schema_extra={"only": "all_bins"}
    )
    """Columns in order of which more never raises the prediction. They are in no pairs either."""
    replicates: int = Field(default=5, ge=1, le=10, title="Fits that are averaged")
    """They share epsilon. How far they lie apart shows how large the noise is: more of them give a steadier picture of
    it. At least 3; with random splits also 1, as published: the noise is then worked out from what each step adds, and
    chance in the splits is not included."""
    evaluate: Evaluate = True

    @model_validator(mode="after")
    def _consistent(self) -> Self:
        if self.method == "random_splits" and self.pairs:
            raise ValueError("the method 'random_splits' has no pairwise terms")
        if self.method == "random_splits" and (self.increasing or self.decreasing):
            raise ValueError("the method 'random_splits' has no shapes that only rise or only fall")
        if self.replicates == 2 or (self.replicates == 1 and self.method != "random_splits"):
            raise ValueError("average at least 3 fits, or make one fit with the method 'random_splits'")
        if twice := sorted(set(self.increasing) & set(self.decreasing)):
            raise ValueError(f"the shape of '{twice[0]}' cannot both never fall and never rise")
        return self
