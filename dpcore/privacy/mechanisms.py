"""The only door by which a number leaves the data: OpenDP's exact discrete mechanisms.

Each mechanism is built for a sensitivity and a budget, asks OpenDP for the loss that its
noise really achieves, and refuses to exist if that is more than what was asked. The source of
randomness draws: exactly, unless it is seeded, which is for public data only.
"""

from __future__ import annotations

import math
from abc import ABC, abstractmethod
from collections.abc import Callable
from dataclasses import dataclass, field
from decimal import Decimal
from fractions import Fraction
from functools import cache, lru_cache, partial
from types import ModuleType
from typing import Any, ClassVar, Literal

import numpy as np

from dpcore.arrays import Floats, Ints
from dpcore.cores import in_threads
from dpcore.errors import BudgetError
from dpcore.privacy.budgets import FINE_SCALE, float_below
from dpcore.privacy.randomness import Choice, Noise, RandomSource

#: Draws of noise for which a further core is worth it.
_MANY_DRAWS = 128
#: Sums below this, with noise of at most this scale, stay within 64 bits.
_LARGEST_SUM, _WIDEST_SCALE = 2**62, 2.0**52


@cache
def _opendp() -> ModuleType:
    """Load OpenDP on first use, and of it what is asked here: its prelude takes more than a second."""
    import opendp.domains
    import opendp.measurements
    import opendp.measures
    import opendp.metrics
    import opendp.mod

    opendp.mod.enable_features("contrib")
    return opendp


def _fit_scale(scale: float, loss: Callable[[float], float], budget: float) -> float:
    """Smallest float at or just above ``scale`` whose loss does not exceed ``budget``."""
    for _ in range(64):
        if loss(scale) <= budget:
            return scale
        scale = math.nextafter(scale, math.inf) * (1 + 2**-50)
    raise BudgetError("No noise scale meets this budget: use a larger epsilon.")


class _AdditiveNoise(ABC):
    """Independent noise of one scale on every entry of an integer array."""

    scale: float
    _law: ClassVar[Literal["geometric", "gaussian"]]

    @staticmethod
    @abstractmethod
    def _build(scale: float, thread: int = 0) -> Any:
        """OpenDP's measurement at a scale, for a thread."""

    @classmethod
    @lru_cache(maxsize=1024)
    def _loss(cls, scale: float, distance: int) -> float:
        """What OpenDP states, which takes as long as many draws."""
        return float(cls._build(scale).map(distance))

    def privacy_map(self, distance: int) -> float:
        """Loss on arrays at ``distance``, in the mechanism's own metric and measure."""
        return self._loss(self.scale, distance)

    def release(self, values: Ints, randomness: RandomSource) -> Ints:
        """Return ``values`` with noise added to each entry; any shape."""
        return self.release_each(values.reshape(1, -1), randomness).reshape(values.shape)

    def release_each(self, values: Ints, randomness: RandomSource) -> Ints:
        """The same for each row of a table of values, one after the other."""
        noise = Noise(self._law, self.scale, self._promise, self._exact)
        return randomness.add(noise, np.ascontiguousarray(values, dtype=np.int64))

    @property
    @abstractmethod
    def _promise(self) -> float:
        """Cost at the sensitivity that it was built for: epsilon, or mu of Gaussian DP."""

    def _exact(self, values: Ints) -> Ints:
        noisy = np.empty(len(values), dtype=np.int64)

        def draw(mine: Ints) -> None:
            # Entries are independent, whoever draws them; each thread has a measurement of its own.
            measurement = self._build(self.scale, int(mine[:1].sum()))
            noisy[mine] = measurement(values[mine].tolist())

        in_threads(draw, len(values), _MANY_DRAWS)
        return noisy


@dataclass(frozen=True)
class GeometricMechanism(_AdditiveNoise):
    """Two-sided geometric (discrete Laplace) noise on integers. Pure epsilon-DP.

    Parameters
    ----------
    sensitivity : int
        Largest L1 change of the whole vector between neighbours.
    epsilon : Decimal
        Budget of the whole vector.

    Raises
    ------
    BudgetError
        If no noise scale meets the budget.
    """

    sensitivity: int
    epsilon: Decimal
    scale: float = field(init=False)
    _law = "geometric"

    def __post_init__(self) -> None:
        budget = float_below(self.epsilon)
        start = self.sensitivity / budget
        scale = _fit_scale(start, lambda s: self._loss(s, self.sensitivity), budget)
        object.__setattr__(self, "scale", scale)

    @property
    def _promise(self) -> float:
        return float(self.epsilon)

    @staticmethod
    @lru_cache(maxsize=256)
    def _build(scale: float, thread: int = 0) -> Any:  # noqa: ARG004
        dp = _opendp()
        space = dp.domains.vector_domain(dp.domains.atom_domain(T="i64")), dp.metrics.l1_distance(T="i64")
        return dp.measurements.make_laplace(*space, scale=scale)


class _DiscreteGaussian(_AdditiveNoise):
    """Discrete Gaussian noise: P(k) proportional to exp(-k**2 / (2 scale**2))."""

    rho: float
    _law = "gaussian"

    @property
    def _promise(self) -> float:
        return math.sqrt(2 * self.rho)

    @staticmethod
    @lru_cache(maxsize=256)
    def _build(scale: float, thread: int = 0) -> Any:  # noqa: ARG004
        dp = _opendp()
        space = dp.domains.vector_domain(dp.domains.atom_domain(T="i64")), dp.metrics.l2_distance(T="i64")
        return dp.measurements.make_gaussian(*space, scale=scale)

    @classmethod
    def _scale_for(cls, sensitivity: int, rho: float) -> float:
        """Smallest scale for which OpenDP certifies rho-zCDP."""
        start = sensitivity / math.sqrt(2 * rho)
        return _fit_scale(start, lambda s: cls._loss(s, sensitivity), rho)


@dataclass(frozen=True)
class GaussianMechanism(_DiscreteGaussian):
    """Discrete Gaussian noise on integers. rho-zCDP, but not mu-Gaussian-DP.

    The (epsilon, delta) of Gaussian DP is not an upper bound for discrete noise: see
    :func:`dpcore.privacy.budgets.discrete_gaussian_delta`. On a fine grid it nearly is:
    :class:`FineGaussian`.

    Parameters
    ----------
    sensitivity : int
        Largest L2 change of the whole vector between neighbours; if several ``entries`` change, of each of them.
    rho : float
        Budget of zero-concentrated DP of the whole vector.
    entries : int
        Most entries that change: the whole vector then changes by their root times as much.
    """

    sensitivity: int
    rho: float
    entries: int = 1
    scale: float = field(init=False)

    def __post_init__(self) -> None:
        if not (self.rho > 0 and math.isfinite(self.rho)):
            raise BudgetError("The budget of Gaussian noise must be a positive, finite number.")
        # What one entry may cost: all of them together cost the sum.
        each = float_below(Fraction(self.rho) / self.entries)
        object.__setattr__(self, "scale", self._scale_for(self.sensitivity, each))


@dataclass(frozen=True)
class ThresholdMechanism(_DiscreteGaussian):
    """Counts of values that nobody has listed: those that are large enough, with Gaussian noise.

    A value that one person alone has is released with a chance of at most ``delta``; but for that
    the counts are rho-zCDP. OpenDP states both, for a person in up to ``rows`` counts, with up to
    ``rows`` in each. Its delta is that of continuous noise, which discrete noise may exceed, but never by more
    than a threshold lower by 1 would: that one is held to ``delta``. Proof: ``docs/privacy/learned.md``.

    Parameters
    ----------
    rows : int
        Rows of one person, at most.
    rho : float
        Budget of zero-concentrated DP of the whole vector.
    delta : float
        Chance that it does not hold.
    """

    rows: int
    rho: float
    delta: float
    scale: float = field(init=False)
    threshold: int = field(init=False)

    def __post_init__(self) -> None:
        if not (self.rho > 0 and 0 < self.delta < 1):
            raise BudgetError("Categories are learned with a rho and a delta above 0.")
        object.__setattr__(self, "scale", self._scale_for(self.rows, self.rho))
        object.__setattr__(self, "threshold", self._smallest_threshold())

    def _smallest_threshold(self) -> int:
        """Smallest threshold that keeps rho and delta."""
        low, high = self.rows, self.rows + 1
        while not self._keeps(high):
            low, high = high, 2 * high
        while high - low > 1:
            middle = (low + high) // 2
            low, high = (low, middle) if self._keeps(middle) else (middle, high)
        return high

    def _keeps(self, threshold: int) -> bool:
        try:
            rho, delta = self._selector(threshold - 1).map((self.rows, self.rows, self.rows))
        except _opendp().mod.OpenDPException:  # So low a threshold hides nobody.
            return False
        return bool(rho <= self.rho and delta <= self.delta)

    def _selector(self, threshold: int) -> Any:
        dp = _opendp()
        domain = dp.domains.map_domain(dp.domains.atom_domain(T="i64"), dp.domains.atom_domain(T="i64"))
        metric = dp.metrics.l02inf_distance(dp.metrics.absolute_distance(T="i64"))
        return dp.measurements.make_gaussian_threshold(domain, metric, scale=self.scale, threshold=threshold)

    def release_each(self, values: Ints, randomness: RandomSource) -> Ints:
        """Noisy counts of what is released, and 0 for all else; what nobody has is not."""
        noisy = super().release_each(values, randomness)
        return np.where((values > 0) & (noisy >= self.threshold), noisy, 0)

    def _exact(self, values: Ints) -> Ints:
        kept = self._selector(self.threshold)({i: int(value) for i, value in enumerate(values) if value > 0})
        noisy = np.zeros(len(values), dtype=np.int64)
        noisy[list(kept)] = list(kept.values())
        return noisy


@dataclass(frozen=True)
class FineGaussian(_DiscreteGaussian):
    """Discrete Gaussian noise on sums over a fine grid, accounted for by Gaussian DP.

    Steps whose mu**2 sum to that of :func:`dpcore.privacy.budgets.calibrate_fine_gaussian` keep its
    epsilon and delta together. Proof: ``docs/privacy/gaussian.md``.

    Parameters
    ----------
    sensitivity : int
        Largest L2 change of the whole vector between neighbours, in grid steps.
    mu : float
        Bound on sensitivity / scale.

    Raises
    ------
    BudgetError
        If the grid is too coarse, so that the scale is below
        :data:`~dpcore.privacy.budgets.FINE_SCALE` steps, or too fine for 64-bit integers.
    """

    sensitivity: int
    mu: float
    scale: float = field(init=False)

    def __post_init__(self) -> None:
        if not (self.mu > 0 and math.isfinite(self.mu) and self.sensitivity > 0):
            raise BudgetError("Gaussian noise needs a positive sensitivity and a positive budget.")
        start = self.sensitivity / self.mu
        if start < FINE_SCALE:
            raise BudgetError("This grid is too coarse for Gaussian noise: use a finer one.")
        if start > _WIDEST_SCALE:
            raise BudgetError("This grid is too fine for Gaussian noise: use a coarser one.")
        # The product is rounded to nearest: one step down is a budget not above mu**2 / 2.
        rho = math.nextafter(self.mu**2, 0.0) / 2
        object.__setattr__(self, "scale", self._scale_for(self.sensitivity, rho))

    @property
    def _promise(self) -> float:
        return self.mu

    def release_each(self, values: Ints, randomness: RandomSource) -> Ints:
        """Return ``values`` with noise added to each entry, row by row.

        Raises
        ------
        BudgetError
            If a value is not below 2**62 in size. The grid must be chosen from public bounds
            so that this cannot happen.
        """
        if not np.all((values > -_LARGEST_SUM) & (values < _LARGEST_SUM)):
            raise BudgetError("This grid is too fine for Gaussian noise: use a coarser one.")
        return super().release_each(values, randomness)


@dataclass(frozen=True)
class _Selection(ABC):
    """Choose one index of an integer score vector. Pure epsilon-DP.

    Parameters
    ----------
    sensitivity : int
        Largest change of any score between neighbours.
    epsilon : Decimal
        Budget of the selection.
    monotone : bool
        Whether adding a record moves all scores in the same direction. The scale is
        ``sensitivity / epsilon`` if so, and twice that if not.
    """

    sensitivity: int
    epsilon: Decimal
    monotone: bool
    scale: float = field(init=False)
    _law: ClassVar[Literal["gumbel", "exponential"]]
    #: Measure in which OpenDP builds its sampler.
    _measure: ClassVar[str]

    def __post_init__(self) -> None:
        budget = float_below(self.epsilon)
        start = self.sensitivity * (1 if self.monotone else 2) / budget
        scale = _fit_scale(start, lambda s: self._loss(s, self.monotone, self.sensitivity), budget)
        object.__setattr__(self, "scale", scale)

    @classmethod
    @lru_cache(maxsize=1024)
    def _loss(cls, scale: float, monotone: bool, distance: int) -> float:
        """Epsilon of both noises: both are calibrated as OpenDP's exponential noise is."""
        return float(cls._build(scale, monotone, "max_divergence").map(distance))

    @staticmethod
    @lru_cache(maxsize=256)
    def _build(scale: float, monotone: bool, measure: str) -> Any:
        dp = _opendp()
        metric = dp.metrics.linf_distance(T="i64", monotonic=monotone)
        return dp.measurements.make_noisy_max(
            dp.domains.vector_domain(dp.domains.atom_domain(T="i64")), metric, getattr(dp.measures, measure)(), scale
        )

    def privacy_map(self, distance: int) -> float:
        """Epsilon spent on score vectors at L-infinity distance ``distance``."""
        return self._loss(self.scale, self.monotone, distance)

    def select(self, scores: Ints, randomness: RandomSource) -> int:
        """Return the chosen index of a non-empty score vector."""
        choice = Choice(self._law, self.scale, float(self.epsilon), self._exact)
        return int(randomness.choose(choice, np.asarray(scores, dtype=np.int64)[None])[0])

    def _exact(self, scores: Ints) -> int:
        return int(self._build(self.scale, self.monotone, self._measure)(scores))


class ExponentialMechanism(_Selection):
    """Index i with probability proportional to exp(score_i / scale) (McSherry, Talwar 2007).

    Sampled exactly by OpenDP's noisy max with Gumbel noise.
    """

    _law = "gumbel"
    _measure = "zero_concentrated_divergence"


class NoisyMax(_Selection):
    """Report noisy max with exponential noise: permute-and-flip (McKenna, Sheldon 2020)."""

    _law = "exponential"
    _measure = "max_divergence"


def weighted_draws(scale: float, randomness: RandomSource) -> Callable[[Ints], Ints]:
    """Draws from rows of integer scores: index i with probability proportional to exp(score_i / scale).

    By exact Gumbel noise, each row by itself. A building block, not a mechanism: it is calibrated to no budget. What
    it costs is for the caller to prove.
    """

    def exact(scores: Ints) -> int:
        return int(_Selection._build(scale, True, "zero_concentrated_divergence")(scores))

    return partial(randomness.choose, Choice("gumbel", scale, None, exact))


def round_utility(utilities: Floats, sensitivity: float, step: float, error: float = 0.0) -> tuple[Ints, int]:
    """Put real-valued utilities on an integer grid, with a sensitivity that stays true.

    Parameters
    ----------
    utilities : array of float
        Computed utilities, each within ``error`` of its exact value.
    sensitivity : float
        Largest change of an exact utility between neighbours.
    step : float
        Grid step.

    Returns
    -------
    (array of int64, int)
        Utilities and sensitivity in units of ``step``. Flooring two numbers at distance t
        leaves integers at distance at most floor(t / step) + 1. Monotonicity is **not**
        preserved if ``error`` is above 0: use the general mechanism then.
    """
    # Unlike a quotient that is rounded and then floored, this is exact below the limit.
    with np.errstate(invalid="ignore"):
        scaled = np.floor_divide(utilities, step)
    if not np.all(np.abs(scaled) < 2.0**50):
        raise BudgetError("The grid step is too fine for utilities of this size.")
    reach = Fraction(sensitivity) + 2 * Fraction(error)
    return scaled.astype(np.int64), math.floor(reach / Fraction(step)) + 1
