"""Honest quality of a released regression model on the hold-out part, from noisy counts."""

from __future__ import annotations

from pydantic import BaseModel, ConfigDict

from dpcore.evaluation import Figure


class RegressionEvaluation(BaseModel):
    """Quality on records that the model was not fitted to, in units of the target.

    Attributes
    ----------
    error_edges : tuple of float, shape (n_groups + 1,)
        Groups of the absolute error: group i holds error_edges[i] <= error < error_edges[i + 1].
    noisy_errors : tuple of int, shape (n_groups,)
        Hold-out records per group, with noise.
    rmse : Figure or None
        Root mean squared error; ``None`` if noise drowns the counts.
    constant_rmse : Figure or None
        The same for a model that predicts the intercept for everyone.
    count_margin : int
        Noise on each count stays within plus or minus this, with 95 % confidence.
    """

    model_config = ConfigDict(frozen=True, extra="forbid")

    error_edges: tuple[float, ...]
    noisy_errors: tuple[int, ...]
    rmse: Figure | None
    constant_rmse: Figure | None
    count_margin: int
