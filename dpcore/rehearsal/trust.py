"""How close an accuracy on invented records comes to that of the private run, as measured.

The figures come from ``python -m benchmarks rehearsal`` (``docs/rehearsals.md``).
"""

from __future__ import annotations

from decimal import ROUND_CEILING, Context, Decimal
from typing import Final

from dpcore.models.released import family_of
from dpcore.privacy.filters import smallest_epsilon
from dpcore.rehearsal.shape import Shape
from dpcore.rehearsal.teacher import quality
from dpcore.released.family import ReleasedFamily

#: An earlier quality must be known this well: noise margin of an accuracy, or share of an RMSE.
_KNOWN: Final = 0.05
#: Least epsilon of a run, as a share of the epsilon of the earlier one.
_LEAST_SHARE: Final = Decimal("0.2")
#: Least product of epsilon and records: below it, one run differs much from the next.
_LEAST_SIGNAL: Final = Decimal(200)

_TWO_DIGITS: Final = Context(prec=2, rounding=ROUND_CEILING)


def close_from(shape: Shape, family: ReleasedFamily, delta: Decimal = Decimal(0)) -> Decimal | None:
    """Smallest epsilon from which a rehearsal is close to the private run; None if at none.

    Parameters
    ----------
    delta : Decimal
        That of the run. The rule was measured of pure runs; one that composes must be as exact.
    """
    teacher = shape.teacher
    if teacher is None or shape.paired:  # How close both together come was not measured.
        return None
    release, figure = teacher.knowledge.release, quality(teacher.knowledge.model)
    if figure is None or not (family.thorough and family_of(release).thorough):
        return None
    scale = figure.value if teacher.number else 1.0
    if max(figure.noise_margin, figure.above) > _KNOWN * scale:
        return None
    signal = _TWO_DIGITS.divide(_LEAST_SIGNAL, Decimal(shape.rows))
    share = release.certificate.epsilon * _LEAST_SHARE
    return max(share if release.certificate.delta else _as_exact(share, delta), _as_exact(signal, delta))


def _as_exact(epsilon: Decimal, delta: Decimal) -> Decimal:
    """Epsilon of a run whose Gaussian noise, of variance 1/(2 rho), is no wider than geometric noise of ``epsilon``."""
    return _TWO_DIGITS.plus(smallest_epsilon(epsilon**2 / 4, delta)) if delta else epsilon
