"""Honest quality of a released regression model on the hold-out part, from noisy counts."""

from __future__ import annotations

import math

import numpy as np

from dpcore.arrays import Floats, Ints
from dpcore.frozen import FrozenModel
from dpcore.privacy.budgets import geometric_tail
from dpcore.privacy.even_pace import counts_between
from dpcore.privacy.randomness import SeededRandom
from dpcore.released.evaluation import FEW, REDRAWS, Z95, Figure
from dpcore.released.noisy_counts import geometric_deviation

#: Groups of errors: four for each halving, down to 1/360 of the range of the target. Taking a
#: group for its middle then changes an RMSE by about 1 %.
_PER_HALVING, _GROUPS = 4, 35
#: What noise hardly ever adds up to: in standard deviations of its sum, and in one group.
_CLEAR, _RARE = 4.0, 0.9999
#: A figure whose noise margin is a larger share of it says nothing.
_LARGEST_MARGIN = 0.5


class RegressionEvaluation(FrozenModel):
    """Quality on records that the model was not fitted to, in units of the target.

    Attributes
    ----------
    error_edges : tuple of float, shape (n_groups + 1,)
        Groups of the absolute error: group i holds error_edges[i] <= error < error_edges[i + 1],
        the last one also its upper end.
    noisy_errors : tuple of int, shape (n_groups,)
        Hold-out records per group, with noise.
    rmse : Figure or None
        Root mean squared error; ``None`` if noise drowns the counts, or they may be of fewer than five people.
    constant_rmse : Figure or None
        The same for a model that predicts the intercept for everyone.
    count_margin : int
        Noise on each count stays within plus or minus this, with 95 % confidence.
    """

    error_edges: tuple[float, ...]
    noisy_errors: tuple[int, ...]
    rmse: Figure | None
    constant_rmse: Figure | None
    count_margin: int


def error_edges(bounds: tuple[float, float]) -> Floats:
    """Groups of absolute errors for a target with public bounds: shape (n_groups + 1,)."""
    steps = np.arange(1 - _GROUPS, 1) / _PER_HALVING
    return np.concatenate([[0.0], (bounds[1] - bounds[0]) * 2.0**steps])


def count_errors(errors: Floats, edges: Floats) -> Ints:
    """Records per group of absolute errors; NaN is not a record. A record is in one group."""
    return counts_between(edges[1:-1], np.abs(errors), ~np.isnan(errors), "right")


def evaluate_errors(
    edges: Floats,
    noisy_errors: Ints,
    noisy_constant_errors: Ints,
    scale: float,
    count_margin: int,
    rows_per_person: int = 1,
) -> RegressionEvaluation:
    """Derive both RMSEs from noisy hold-out counts. Post-processing.

    Parameters
    ----------
    edges : array of shape (n_groups + 1,)
        See :func:`error_edges`.
    noisy_errors, noisy_constant_errors : arrays of shape (n_groups,)
        Records per group of the absolute error of the model and of a constant, with two-sided
        geometric noise of ``scale``.
    rows_per_person : int
        Most records of one person.
    """
    return RegressionEvaluation(
        error_edges=tuple(float(edge) for edge in edges),
        noisy_errors=tuple(int(count) for count in noisy_errors),
        rmse=_figure(noisy_errors, edges, scale, rows_per_person),
        constant_rmse=_figure(noisy_constant_errors, edges, scale, rows_per_person),
        count_margin=count_margin,
    )


def _figure(noisy: Ints, edges: Floats, scale: float, rows_per_person: int) -> Figure | None:
    squares = _squares(edges)
    smooth = smooth_tail(noisy, squares, scale)
    total, value = float(smooth.sum()), _rmse(smooth, squares)
    if math.isnan(value) or total < max(
        FEW * rows_per_person, _CLEAR * geometric_deviation(scale) * math.sqrt(len(noisy))
    ):
        return None
    noise = SeededRandom(0).geometric_noise(scale, REDRAWS * len(noisy))
    redraws = noisy + noise.reshape(REDRAWS, len(noisy))
    values = np.array([_rmse(smooth_tail(one, squares, scale), squares) for one in redraws])
    off = np.nan_to_num(np.abs(values - value), nan=math.inf)
    margin = float(np.sort(off)[math.ceil(0.95 * len(off)) - 1])
    if margin > _LARGEST_MARGIN * value:
        return None
    # Delta method: the variance of a mean of squares, through its square root. Errors differ within a group too.
    within = np.diff(edges**2) ** 2 / 12
    variance = max(0.0, float(squares**2 @ smooth) / total - value**4) + float(within @ smooth) / total
    # Errors of one person may be all alike: as many people are counted on as the records may be of at least.
    sampling = Z95 * math.sqrt(variance / (total / rows_per_person - 1)) / (2 * value)
    return Figure(value=value, noise_margin=margin, sampling_margin=sampling)


def smooth_tail(noisy: Ints, squares: Floats, scale: float) -> Floats:
    """Counts of errors with the noise taken out of the tail: shape (n_groups,).

    One person with a huge error adds as much to the sum of squares as hundreds with a usual
    one, and so does one unit of noise. All groups up to the last that adds clearly more to the
    sum of squares than noise does are kept as they are. From there on a group adds no less
    than 0, and no more than the group before it: isotonic regression.

    Parameters
    ----------
    squares : array of shape (n_groups,)
        Squared error that stands for each group, ascending.
    scale : float
        Scale of the two-sided geometric noise on each count.
    """
    from scipy.optimize import isotonic_regression

    kept = _clear_groups(noisy, squares, scale)
    smooth = noisy.astype(np.float64)
    if kept < len(noisy):
        size = squares[kept:]
        fit = isotonic_regression(smooth[kept:] * size, weights=size**-2, increasing=False)
        smooth[kept:] = np.maximum(fit.x, 0.0) / size
    return smooth


def _clear_groups(noisy: Ints, squares: Floats, scale: float) -> int:
    """Fewest groups beyond which no run of groups adds more than noise may."""
    sums = np.concatenate([[0.0], np.cumsum(squares * noisy)])
    spreads = np.concatenate([[0.0], np.cumsum(squares**2)])
    added = sums[None, :] - sums[:, None]
    spread = np.sqrt(np.maximum(spreads[None, :] - spreads[:, None], 0.0))
    one_group = geometric_tail(scale, _RARE) * np.concatenate([[0.0], squares])
    limit = np.maximum(_CLEAR * geometric_deviation(scale) * spread, one_group[None, :])
    quiet = np.all((added <= limit) | np.tri(len(sums), dtype=bool), axis=1)
    return int(np.argmax(quiet))


def _squares(edges: Floats) -> Floats:
    """Squared error that stands for each group: exact for a density that falls by the square."""
    squares = np.asarray(edges[:-1] * edges[1:])
    squares[0] = edges[1] ** 2 / 3
    return squares


def _rmse(counts: Floats, squares: Floats) -> float:
    total, added = counts.sum(), squares @ counts
    return math.sqrt(added / total) if total > 0 and added > 0 else math.nan
