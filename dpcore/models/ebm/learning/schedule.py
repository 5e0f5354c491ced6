"""The house rule: how long and how fast to learn, from public inputs only.

Chosen on Adult, California housing and synthetic sets, then checked on telco churn, wine quality
and elevators: see ``docs/decisions/0005-shape-functions.md``.
"""

from __future__ import annotations

import math

from dpcore.models.ebm.released.ebm_parameters import EBMParameters

#: Published values (Nori et al. 2021, section 4).
_PUBLISHED = {"epochs": 300, "learning_rate": 0.01, "max_bins": 32, "bin_share": 0.1}
_BIN_SHARE = 0.15
#: Precision below and above which numeric features get other numbers of bins, and these.
_IMPRECISE, _VERY_PRECISE = 15.0, 100.0
_FEWEST_BINS, _FEW_BINS, _MANY_BINS = 16, 32, 64
#: Cells that are counted to find so few bins, or more: each cell has its noise.
_COARSE_CELLS, _FINE_CELLS = 64, 1024
#: Where noise hides most records, bins are rather of equal width: few people at the ends of a range
#: may tell most, and would share a bin with the many.
_EVEN = 0.75
#: Epochs for classes and for numbers. For classes the noise of an iterate also bends the
#: logistic function, more so the longer it runs.
_EPOCHS_CLASSES, _EPOCHS_NUMBERS = 12, 24
#: Rate per precision, and its range. Where noise is large, no noisy sum is forgotten; where it is
#: small, the shapes soon are elsewhere than when the first ones were asked for.
_RATE, _SLOW, _FAST = 0.005, 0.02, 0.7
#: Rate from which on iterates are averaged, and share of the epochs that are left out of it.
_AVERAGED, _BURN_IN = 0.25, 0.3


class EBMSettings(EBMParameters):
    """What the analyst asked for, with every choice made that was left open but delta."""

    max_bins: int
    epochs: int
    learning_rate: float
    bin_share: float


def precision(max_rows: int, mu: float, features: int) -> float:
    """Clips per standard deviation of noise on the mean residual of one bin of 32."""
    return max_rows * mu / (math.sqrt(features) * _FEW_BINS)


def resolve(parameters: EBMParameters, *, numbers: bool, max_rows: int, mu: float, features: int) -> EBMSettings:
    """Fill in what the analyst left open.

    Parameters
    ----------
    numbers : bool
        Whether the target is numeric.
    mu : float
        Gaussian-DP bound of the whole run per row.
    """
    if parameters.method == "random_splits":
        return _filled(parameters, _PUBLISHED)
    precise = precision(max_rows, mu, features)
    rate = min(max(_RATE * precise, _SLOW), _FAST)
    bins = _FEW_BINS if precise < _VERY_PRECISE else _MANY_BINS
    rule = {
        "epochs": _EPOCHS_NUMBERS if numbers else _EPOCHS_CLASSES,
        "learning_rate": round(rate, 3),
        "max_bins": _FEWEST_BINS if precise < _IMPRECISE else bins,
        "bin_share": _BIN_SHARE,
    }
    return _filled(parameters, rule)


def _filled(parameters: EBMParameters, rule: dict[str, float]) -> EBMSettings:
    return EBMSettings(**(rule | parameters.model_dump(exclude_none=True)))


def most_cells(max_bins: int) -> int:
    """Most cells of a numeric column that are counted to find its bins."""
    return _COARSE_CELLS if max_bins <= _FEWEST_BINS else _FINE_CELLS


def even_share(settings: EBMSettings) -> float:
    """Share of the records that count as spread evenly when bins are cut."""
    return _EVEN if settings.method == "all_bins" and settings.max_bins <= _FEWEST_BINS else 0.0


def averaged(settings: EBMSettings) -> bool:
    """Whether the result is the mean of the late iterates, and not the last one, which has gathered all."""
    return settings.method == "all_bins" and settings.learning_rate >= _AVERAGED


def burn_in(epochs: int) -> int:
    """Epochs whose iterates are left out of the average."""
    return int(epochs * _BURN_IN)
