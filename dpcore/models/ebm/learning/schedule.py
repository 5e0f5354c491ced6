"""The house rule: how long and how fast to learn, from public inputs only.

Chosen on Adult, California housing and synthetic sets, then checked on telco churn, wine quality
and elevators: see ``docs/decisions/0005-shape-functions.md``.
"""

from __future__ import annotations

import math

from dpcore.models.ebm.released.parameters import EBMParameters

#: Published values (Nori et al. 2021, section 4).
_PUBLISHED = {"epochs": 300, "learning_rate": 0.01, "max_bins": 32, "bin_share": 0.1}
_BIN_SHARE = 0.15
_FEW_BINS, _MANY_BINS = 32, 64
#: Epochs for classes and for numbers. For classes the noise of an iterate also bends the
#: logistic function, more so the longer it runs.
_EPOCHS_CLASSES, _EPOCHS_NUMBERS = 12, 24
#: Precision above which the rate grows with its root, and range of the rate.
_PRECISE, _SLOW, _FAST = 30.0, 0.3, 0.7
#: Precision above which numeric features get many bins.
_VERY_PRECISE = 100.0
#: Share of the epochs whose iterates are left out of the average.
_BURN_IN = 0.3


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
    rate = min(max(_SLOW * math.sqrt(precise / _PRECISE), _SLOW), _FAST)
    rule = {
        "epochs": _EPOCHS_NUMBERS if numbers else _EPOCHS_CLASSES,
        "learning_rate": round(rate, 3),
        "max_bins": _MANY_BINS if precise > _VERY_PRECISE else _FEW_BINS,
        "bin_share": _BIN_SHARE,
    }
    return _filled(parameters, rule)


def _filled(parameters: EBMParameters, rule: dict[str, float]) -> EBMSettings:
    return EBMSettings(**(rule | parameters.model_dump(exclude_none=True)))


def burn_in(epochs: int) -> int:
    """Epochs whose iterates are left out of the average."""
    return int(epochs * _BURN_IN)
