"""Honest quality of a released regression model on the hold-out part, from noisy counts."""

from __future__ import annotations

import math

import numpy as np

from dpcore.arrays import Floats, Ints
from dpcore.frozen import FrozenModel
from dpcore.numerals import measured
from dpcore.privacy.budgets import geometric_tail
from dpcore.privacy.randomness import SeededRandom
from dpcore.released.evaluation import FEW, REDRAWS, Z95, Figure
from dpcore.released.noisy_counts import geometric_deviation

#: Groups of errors: four for each halving, down to 1/110,000 of the range of the target, as declared bounds
#: may be far wider than most values. Taking a group for its middle then changes an RMSE by about 1 %.
_PER_HALVING, _GROUPS = 4, 68
#: What noise hardly ever adds up to: in standard deviations of its sum, and in one group.
_CLEAR, _RARE = 4.0, 0.9999
#: A figure whose noise margin is a larger share of it says nothing, but that an error is at least so large.
_LARGEST_MARGIN = 0.5
#: If errors in the first group may add a larger share of the sum of squares, only what an error is below is told.
_FIRST_GROUP = 0.1


class RegressionEvaluation(FrozenModel):
    """Quality on records that the model was not fitted to, in units of the target."""

    error_edges: tuple[float, ...]
    """Shape (n_groups + 1,). Groups of the absolute error: group i holds error_edges[i] <= error < error_edges[i + 1],
    the last one also its upper end."""
    noisy_errors: tuple[int, ...]
    """Hold-out records per group, with noise: shape (n_groups,)."""
    rmse: Figure | None
    """Root mean squared error; ``None`` if noise drowns the counts, or they may be of fewer than five people. What few
    people with huge errors may add hides in the noise, so that this often reaches farther above than below."""
    constant_rmse: Figure | None
    """The same for a model that predicts the intercept for everyone."""
    count_margin: int
    """Noise on each count stays within plus or minus this, with 95 % confidence."""


def error_edges(bounds: tuple[float, float]) -> Floats:
    """Groups of absolute errors for a target with public bounds: shape (n_groups + 1,)."""
    steps = np.arange(1 - _GROUPS, 1) / _PER_HALVING
    return np.concatenate([[0.0], (bounds[1] - bounds[0]) * 2.0**steps])


def error_told(figure: Figure, unit: str = "") -> str:
    """A typical error, or what it is at least or below where noise leaves no more."""
    if figure.noise_margin >= figure.value:
        told = f"below {measured(figure.value + figure.above)}"
    elif hides_much(figure):
        told = f"at least {measured(figure.value - figure.noise_margin)}"
    else:
        told = measured(figure.value)
    return f"{told} {unit}".strip()


def hides_much(figure: Figure) -> bool:
    """Whether the noise may hide so much more of a typical error that only its least is told."""
    return figure.above > _LARGEST_MARGIN * figure.value


def noise_told(figure: Figure) -> str:
    """What the noise alone does to a typical error: ``±0.3`` or ``5.9 to 7.1``."""
    if figure.noise_above is None:
        return f"±{measured(figure.noise_margin)}"
    return f"{measured(figure.value - figure.noise_margin)} to {measured(figure.value + figure.above)}"


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
    sampling = _sampling_margin(smooth, edges, squares, rows_per_person)
    low, high = _ends(noisy, edges, squares, scale)
    if edges[1] ** 2 * float(smooth[0]) > _FIRST_GROUP * value**2 * total:
        return Figure(value=high, noise_margin=high, sampling_margin=sampling, noise_above=0.0)
    below, above = max(value - low, 0.0), max(high - value, 0.0)
    if below > _LARGEST_MARGIN * value:
        return None
    return Figure(value=value, noise_margin=below, sampling_margin=sampling, noise_above=above)


def _sampling_margin(smooth: Floats, edges: Floats, squares: Floats, rows_per_person: int) -> float:
    """By the delta method: the variance of a mean of squares, through its square root."""
    total, value = float(smooth.sum()), _rmse(smooth, squares)
    within = np.diff(edges**2) ** 2 / 12  # Errors differ within a group too.
    variance = max(0.0, float(squares**2 @ smooth) / total - value**4) + float(within @ smooth) / total
    # Errors of one person may be all alike: as many people are counted on as the records may be of at least.
    return Z95 * math.sqrt(variance / (total / rows_per_person - 1)) / (2 * value)


def _ends(noisy: Ints, edges: Floats, squares: Floats, scale: float) -> tuple[float, float]:
    """Ends of the 95 % interval of an RMSE for noise.

    Nothing is taken out of the tail for the upper end: what noise may hide there is in the interval. Errors of nobody
    add less than 0 to no sum, so that clear groups alone make the lower end. Errors in the first group may be anything
    up to its end.
    """
    noise = SeededRandom(0).geometric_noise(scale, REDRAWS * len(noisy)).reshape(REDRAWS, len(noisy))
    again = noisy - noise
    people = np.maximum(again.sum(axis=1), 1.0)
    kept = _clear_groups(noisy, squares, scale)
    least, most = squares.copy(), squares.copy()
    least[0], least[kept:], most[0] = 0.0, 0.0, edges[1] ** 2
    low, high = np.quantile(again @ least / people, 0.025), np.quantile(again @ most / people, 0.975)
    return math.sqrt(max(float(low), 0.0)), math.sqrt(max(float(high), 0.0))


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
