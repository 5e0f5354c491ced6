"""Parameters of an explainable boosting machine: public choices of the analyst."""

from __future__ import annotations

from decimal import Decimal
from typing import Literal, Self

from pydantic import Field, model_validator

from dpcore.frozen import FrozenParameters

EBMMethod = Literal["all_bins", "random_splits"]


class EBMParameters(FrozenParameters):
    """What model to fit and how. ``None`` leaves a choice to the method's own rule.

    Attributes
    ----------
    method : str
        ``all_bins`` asks for the noisy gradient of every bin of a feature at once and shrinks
        what may be noise. ``random_splits`` is the published learner (Nori et al. 2021,
        Algorithm 1): trees of a few leaves with random splits.
    delta : Decimal or None
        Delta of the guarantee. ``None`` is :func:`dpcore.privacy.budgets.default_delta` of
        ``max_rows``.
    max_bins : int or None
        Most bins of a numeric feature, the bin of missing values not counted. ``random_splits``:
        32 if ``None``.
    epochs : int or None
        Rounds over all features. ``random_splits``: 300 if ``None``.
    learning_rate : float or None
        ``random_splits``: 0.01 if ``None``.
    leaves : int
        ``random_splits``: leaves of each tree.
    bin_share : float or None
        Share of the budget for the noisy histograms that give bins and densities.
        ``random_splits``: 0.1 if ``None``.
    pairs : int
        ``all_bins``: number of pairwise terms, chosen privately.
    replicates : int
        Independent fits of the same schedule that share the budget. Their mean is the model and
        their spread gives the noise bands.
    evaluate : bool
        Train on the training part and evaluate on the hold-out part, at no extra cost.
    """

    method: EBMMethod = "all_bins"
    delta: Decimal | None = Field(default=None, gt=0, le=Decimal("0.01"))
    max_bins: int | None = Field(default=None, ge=2, le=128)
    epochs: int | None = Field(default=None, ge=1, le=1000)
    learning_rate: float | None = Field(default=None, gt=0, le=1)
    leaves: int = Field(default=3, ge=2, le=16)
    bin_share: float | None = Field(default=None, ge=0.01, le=0.9)
    pairs: int = Field(default=0, ge=0, le=10)
    replicates: int = Field(default=5, ge=3, le=10)
    evaluate: bool = True

    @model_validator(mode="after")
    def _consistent(self) -> Self:
        if self.method == "random_splits" and self.pairs:
            raise ValueError("the method 'random_splits' has no pairwise terms")
        return self
