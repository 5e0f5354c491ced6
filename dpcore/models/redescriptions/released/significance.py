"""How likely it is that two independent sides share so many people, noise included.

Mihelčić and Miettinen (2023) use a binomial distribution, as if the noisy counts were the true
ones. With few people, or many leaves, noise alone then passes for a connection far more often than
the p-value says. Here the noise is added to the binomial distribution. The tail of that sum has no
closed form; the saddlepoint approximation of Lugannani and Rice (1980) is close to it even far out,
where a normal distribution would be too light.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Final

import numpy as np

from dpcore.arrays import Flags, Floats, Ints

#: Steps of the root search; each at least halves the interval that holds the root.
_STEPS: Final = 50
#: Relative error of the root that is small enough: it enters the result squared, or nearly so.
_ROOT: Final = 1e-6
#: Below this the two terms of the approximation cancel, and the distribution is normal.
_CENTRE: Final = 1e-3
#: How far below the limit a bound must be to settle the matter.
_CLEAR: Final = 0.1


@dataclass(frozen=True)
class Sizes:
    """Noisy sizes of pairs of conditions: arrays of shape (n,)."""

    both: Floats
    """People for whom both sides hold."""
    shares: tuple[Floats, Floats]
    """Shares of all people for whom the left and the right side hold, from 0 to 1."""
    inside: tuple[Floats, Floats]
    """Leaves that each side joins."""

    @property
    def expected(self) -> Floats:
        """Share of all people for whom both hold if the sides are independent."""
        return self.shares[0] * self.shares[1]

    def take(self, places: Ints) -> Sizes:
        """Some of them."""
        return Sizes(
            self.both[places],
            (self.shares[0][places], self.shares[1][places]),
            (self.inside[0][places], self.inside[1][places]),
        )


def binomial_tail(least: Floats | Ints, trials: Ints | int, chance: Floats) -> Floats:
    """Chance of at least ``least`` successes: an incomplete beta function, of whole numbers.

    SciPy's ``binom.sf`` tells the same, but half a second of imports comes with it.
    """
    from scipy.special import betainc

    inside = np.clip(least, 1, trials)
    tail = betainc(inside, trials - inside + 1, chance)
    return np.where(least > trials, 0.0, np.where(least < 1, 1.0, tail))


@dataclass(frozen=True)
class Independence:
    """What is seen if the two sides of a redescription are independent."""

    people: float
    """Noisy number of people."""
    leaves: tuple[int, int]
    """Leaves of each tree, all pairs of which were counted."""
    scale: float
    """Scale of the two-sided geometric noise on each count, or the deviation of Gaussian noise; 0 ignores it, as
    published."""
    rows_per_person: int = 1
    """Most records of one person: as many as that may be all alike, so that the binomial distribution is one of so many
    fewer people."""
    gaussian: bool = False
    """Whether the noise is Gaussian."""

    def p_values(self, sizes: Sizes) -> Floats:
        """Chance that at least so many people satisfy both sides.

        Binomial; with noise, at least that of the sum of both.
        """
        chance = self._binomial(sizes)
        if self.scale > 0:
            chance = np.maximum(chance, _Excess(self, sizes).chance())
        return chance

    def significant(self, sizes: Sizes, most: float) -> Flags:
        """Whether :meth:`p_values` are at most ``most``. Bounds settle nearly all of them."""
        if most >= 1:
            return np.ones(len(sizes.both), dtype=bool)
        clear = _Excess(self, sizes).bound() <= _CLEAR * most
        doubtful = np.flatnonzero(~clear)
        if len(doubtful):
            doubtful = doubtful[self._binomial(sizes.take(doubtful)) <= most]
            clear[doubtful] = self.p_values(sizes.take(doubtful)) <= most
        return clear

    def _binomial(self, sizes: Sizes) -> Floats:
        trials = max(1, round(self.people / self.rows_per_person))
        return binomial_tail(np.rint(sizes.both / self.rows_per_person), trials, sizes.expected)


class _Excess:
    """People beyond those expected for whom both sides hold, noise included: is it so many?

    The noise on that number is, to first order, a sum over all pairs of leaves. Each weighs
    (1 if the side joins its leaf, else 0) less the side's share, left times right.
    """

    def __init__(self, model: Independence, sizes: Sizes) -> None:
        self._people, self._chance = model.people, np.clip(sizes.expected, 1e-12, 1 - 1e-9)
        self._each = model.rows_per_person
        self._ratio = 0.0 if model.gaussian or model.scale == 0 else float(np.exp(-1.0 / model.scale))
        self._variance = model.scale**2 if model.gaussian else 0.0
        left, right = (
            ((1 - share, inside), (share, total - inside))
            for share, inside, total in zip(sizes.shares, sizes.inside, model.leaves, strict=True)
        )
        self._groups = [(a * b, times * others) for a, times in left for b, others in right]
        heaviest = np.maximum.reduce([weight for weight, _ in self._groups])
        # Beyond this tilt the moments of the noise are infinite, unless it is Gaussian.
        self._limit = 1 / np.maximum(0.0 if model.gaussian else model.scale * heaviest, 1e-300)
        # People are whole: what is exceeded begins halfway to the number below.
        seen = sizes.both - 0.5 * self._each - self._people * self._chance
        self._seen, self._least = np.maximum(seen, 0.0), seen

    def chance(self) -> Floats:
        """Chance of at least what is seen."""
        from scipy.special import ndtr

        tilt = self._root()
        value, _, bend = self._cumulants(tilt)
        depth = np.sqrt(np.maximum(2 * (tilt * self._seen - value), 0.0))
        width = tilt * np.sqrt(bend)
        near = (depth < _CENTRE) | (width < _CENTRE)
        depth, width = np.where(near, 1.0, depth), np.where(near, 1.0, width)
        density = np.exp(-(depth**2) / 2) / math.sqrt(2 * math.pi)
        far = ndtr(-depth) + density * (1 / width - 1 / depth)
        middle = ndtr(-self._least / self._spread())
        return np.asarray(np.clip(np.where(near, middle, far), 0.0, 1.0))

    def bound(self) -> Floats:
        """At least that chance (Chernoff), from one tilt that is often near the best one."""
        share = np.clip(self._seen / self._people + self._chance, self._chance, 1 - 1e-10)
        alone = np.log(share * (1 - self._chance)) - np.log(self._chance * (1 - share))
        alone = alone / self._each
        tilt = np.minimum(np.minimum(alone, self._seen / self._spread() ** 2), 0.8 * self._limit)
        return np.asarray(np.exp(np.minimum(self._cumulants(tilt)[0] - tilt * self._seen, 0.0)))

    def _spread(self) -> Floats:
        return np.asarray(np.sqrt(self._cumulants(np.zeros_like(self._seen))[2]))

    def _root(self) -> Floats:
        """Tilt under which what is seen would be the mean: Newton steps, kept in an interval."""
        low = np.zeros_like(self._seen)
        high = np.minimum(self._limit * (1 - 1e-9), 50.0)
        tilt = np.minimum(self._seen / self._spread() ** 2, high / 2)
        for _ in range(_STEPS):
            _, slope, bend = self._cumulants(tilt)
            above = slope > self._seen
            low, high = np.where(above, low, tilt), np.where(above, tilt, high)
            step = tilt - (slope - self._seen) / bend
            inside = (step > low) & (step < high)
            after = np.where(inside, step, (low + high) / 2)
            if np.all(np.abs(after - tilt) <= _ROOT * after):
                break
            tilt = after
        return np.asarray(after)

    def _cumulants(self, tilt: Floats) -> tuple[Floats, Floats, Floats]:
        """Cumulant generating function of the excess, with both derivatives."""
        p, q = self._chance, self._ratio
        each = self._each
        odds = p * np.exp(np.minimum(each * tilt, 700.0))
        whole = 1 - p + odds
        value = self._people * (np.log(whole) / each - p * tilt)
        slope = self._people * (odds / whole - p)
        bend = self._people * each * odds * (1 - p) / whole**2
        for weight, times in self._groups if self._variance else ():
            spread = times * weight**2 * self._variance
            value, slope, bend = value + spread * tilt**2 / 2, slope + spread * tilt, bend + spread
        if q > 0:
            for weight, times in self._groups:
                rise = np.exp(weight * tilt)
                up, down = q * rise, q / rise
                value = value + times * (2 * np.log1p(-q) - np.log1p(-up) - np.log1p(-down))
                slope = slope + times * weight * (up / (1 - up) - down / (1 - down))
                bend = bend + times * weight**2 * (up / (1 - up) ** 2 + down / (1 - down) ** 2)
        return value, slope, bend
