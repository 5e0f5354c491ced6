"""What a guarantee is: budgets as exact decimals, splits that sum to the whole, accounting.

Everything here is arithmetic on public numbers; no record is ever seen by this module.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from decimal import ROUND_CEILING, ROUND_DOWN, ROUND_FLOOR, Decimal, InvalidOperation
from fractions import Fraction
from statistics import NormalDist
from typing import Final, Literal

import numpy as np

from dpcore.errors import BudgetError
from dpcore.numerals import small

#: The smallest step of an epsilon. Budgets are whole multiples of it.
EPSILON_STEP = Decimal("0.000000001")
#: No budget above this is accepted: it would promise nothing.
EPSILON_LIMIT = Decimal(1000)
#: Epsilons that are proposed, from the least.
USUAL_EPSILONS = ("0.01", "0.02", "0.05", "0.1", "0.2", "0.3", "0.5", "0.7", "1", "1.5", "2", "3", "5", "10")

#: Largest delta that is chosen for a user.
_DELTA_LIMIT = Decimal("0.00001")
#: Least scale, in grid steps, of discrete Gaussian noise that is accounted for as Gaussian DP.
FINE_SCALE = 2**20
#: Largest share of an epsilon that may pay for the difference between the two.
_SLACK_SHARE = 0.1
#: Decimals of an epsilon, where people read it.
_PLACES: Final = 4
#: Digits after a comma that may part thousands.
_OF_A_THOUSAND: Final = 3

Definition = Literal["pure", "approximate"]


def parse_epsilon(value: object) -> Decimal:
    """Return ``value`` as an exact positive epsilon.

    Parameters
    ----------
    value : Decimal, int, float or str
        A float is read by its shortest decimal form, so ``0.1`` means one tenth.

    Raises
    ------
    BudgetError
        If it is not a number, not finite, not positive, above :data:`EPSILON_LIMIT` or finer
        than :data:`EPSILON_STEP`.
    """
    if isinstance(value, bool):
        raise BudgetError("Epsilon must be a number, for example 0.5.")
    try:
        epsilon = value if isinstance(value, Decimal) else Decimal(_digits(value))
    except (InvalidOperation, ValueError):
        raise BudgetError("Epsilon must be a number, for example 0.5.") from None
    if not epsilon.is_finite():
        raise BudgetError("Epsilon must be a finite number, for example 0.5.")
    if epsilon <= 0:
        raise BudgetError("Epsilon must be above 0: with no budget nothing can be released.")
    if epsilon > EPSILON_LIMIT:
        raise BudgetError(f"Epsilon must be at most {EPSILON_LIMIT}: a larger one promises nothing.")
    if epsilon != epsilon.quantize(EPSILON_STEP, rounding=ROUND_DOWN):
        raise BudgetError("Epsilon must have at most 9 decimal places.")
    return epsilon.quantize(EPSILON_STEP)


def parse_limit(value: object) -> Decimal:
    """Return ``value`` as the limit of one analyst: an epsilon, or 0 for none at all.

    Raises
    ------
    BudgetError
        As :func:`parse_epsilon`, but for 0.
    """
    sign = _sign(value)
    if sign < 0:
        raise BudgetError("A limit must be 0 or more.")
    return parse_epsilon(value) if sign else Decimal(0)


def _sign(value: object) -> int:
    """Sign of a number; 1 for what is none, so that :func:`parse_epsilon` says what is wrong."""
    try:
        return 1 if isinstance(value, bool) else int(Decimal(_digits(value)).compare(Decimal(0)))
    except (InvalidOperation, ValueError):
        return 1


def _digits(value: object) -> str:
    text = str(value).strip()
    if "_" in text:  # Decimal would read 1_0 as ten.
        raise ValueError
    whole, comma, part = text.partition(",")
    # 0,5 can be nothing but a half; 1,000 may be one or a thousand.
    if comma and part.isdecimal() and (whole in {"", "0"} or (whole.isdecimal() and len(part) != _OF_A_THOUSAND)):
        return f"{whole}.{part}"
    return text


def format_epsilon(epsilon: Decimal, *, places: int = _PLACES, up: bool = True) -> str:
    """Show an epsilon with at most ``places`` decimals: costs rounded up, what is left down."""
    if not epsilon.is_finite():
        return "∞"
    rounding = ROUND_CEILING if up else ROUND_FLOOR
    shown = epsilon.quantize(Decimal(1).scaleb(-places), rounding=rounding).normalize()
    text = f"{shown:f}"
    decimals = len(text.partition(".")[2])
    return text if decimals >= 2 else f"{shown:.2f}"


def percent(share: Decimal, *, up: bool = True) -> str:
    """A share of a budget in percent, to four decimals: what is taken rounded up, what is left down."""
    if not share.is_finite():
        return "∞ %"
    rounding = ROUND_CEILING if up else ROUND_FLOOR
    return f"{exact_amount((100 * share).quantize(Decimal('0.0001'), rounding=rounding))} %"


def plain_epsilon(epsilon: Decimal) -> str:
    """An epsilon to its last digit, as one types it."""
    return format_epsilon(epsilon, places=-int(EPSILON_STEP.log10()))


def exact_amount(amount: Decimal) -> str:
    """An epsilon or delta to its last digit, without zeros behind it."""
    return f"{amount.normalize():f}" if amount else "0"


def at_delta(delta: Decimal) -> str:
    """The delta that belongs to an epsilon, to its last digit; nothing if it is 0."""
    return f" at δ = {small(delta)}" if delta else ""


@dataclass(frozen=True)
class BudgetSplit:
    """One budget divided into named parts that sum to the whole, exactly.

    Attributes
    ----------
    total : Decimal
        The budget that was divided.
    parts : Mapping[str, Decimal]
        Non-negative parts. Their sum is ``total``.
    """

    total: Decimal
    parts: Mapping[str, Decimal]

    def __post_init__(self) -> None:
        if any(not part.is_finite() or part < 0 for part in self.parts.values()):
            raise BudgetError("A budget cannot be split into negative parts.")
        if sum(self.parts.values(), Decimal(0)) != self.total:
            raise BudgetError("The parts of a budget must sum to the whole.")

    @classmethod
    def by_weights(cls, total: Decimal, weights: Mapping[str, Decimal | int]) -> BudgetSplit:
        """Split ``total`` in proportion to ``weights``; rounding remainders go to the last part.

        Raises
        ------
        BudgetError
            If a weight is negative, all are zero, or a part that has weight would be empty.
        """
        exact = {name: Decimal(weight) for name, weight in weights.items()}
        whole = sum(exact.values(), Decimal(0))
        if not whole.is_finite() or whole <= 0 or any(weight < 0 for weight in exact.values()):
            raise BudgetError("The shares of a budget must be positive.")
        parts = {
            name: (total * weight / whole).quantize(EPSILON_STEP, rounding=ROUND_DOWN) for name, weight in exact.items()
        }
        last = [name for name, weight in exact.items() if weight > 0][-1]
        parts[last] += total - sum(parts.values(), Decimal(0))
        if any(parts[name] <= 0 for name, weight in exact.items() if weight > 0):
            raise BudgetError("This epsilon is too small to be split over the steps of a run.")
        return cls(total, parts)

    def __getitem__(self, name: str) -> Decimal:
        return self.parts[name]


def first_share(left: Decimal, weights: Sequence[float]) -> Decimal:
    """What the first of some steps gets of the budget that is left for all of them.

    In proportion to the ``weights``, rounded down, so that every step has at least one
    :data:`EPSILON_STEP`; a step that is the last takes all.

    Raises
    ------
    BudgetError
        If there is not one :data:`EPSILON_STEP` for each.
    """
    spare = left - EPSILON_STEP * len(weights)
    if spare < 0:
        raise BudgetError("This epsilon is too small to be split over the steps of a run.")
    if len(weights) == 1:
        return left
    return EPSILON_STEP + part_below(spare, weights)


def part_below(left: Decimal, weights: Sequence[float]) -> Decimal:
    """The first part of a budget divided in proportion to ``weights``, rounded down; may be 0."""
    part = left * Decimal(weights[0]) / Decimal(math.fsum(weights))
    return part.quantize(EPSILON_STEP, rounding=ROUND_DOWN)


def parse_delta(value: object) -> Decimal:
    """A delta as an exact number; a float is read by its shortest decimal form.

    Raises
    ------
    BudgetError
        If it is not a number from 0 to below 1.
    """
    try:
        delta = value if isinstance(value, Decimal) else Decimal(_digits(value))
    except (InvalidOperation, ValueError):
        raise BudgetError("Delta must be a number, for example 0.000001.") from None
    if not (delta.is_finite() and 0 <= delta < 1):
        raise BudgetError("Delta must be at least 0 and below 1.")
    return delta


def default_delta(max_rows: int) -> Decimal:
    """Delta for a data set of at most ``max_rows`` rows: a power of ten, at most 0.00001.

    The largest that is at most 1 / (10 max_rows): a mechanism that publishes a random record
    with probability delta is (0, delta)-DP, so delta must stay well below one in max_rows.
    """
    return min(_DELTA_LIMIT, largest_delta(max_rows))


def largest_delta(max_rows: int) -> Decimal:
    """Largest power of ten that is at most 1 / (10 max_rows)."""
    return Decimal(1).scaleb(-len(str(10 * max_rows - 1)))


def row_epsilon(epsilon: Decimal, rows_per_person: int) -> Decimal:
    """Epsilon of row-level mechanisms so that a person with several rows gets ``epsilon``.

    Group privacy: removing a person removes at most ``rows_per_person`` rows one by one, so
    ``rows_per_person`` times the row-level loss bounds the person-level loss.
    """
    share = (epsilon / rows_per_person).quantize(EPSILON_STEP, rounding=ROUND_DOWN)
    if share <= 0:
        raise BudgetError("This epsilon is too small for the rows that a person may have.")
    return share


def geometric_tail(scale: float, confidence: float) -> int:
    """Smallest ``t`` with P(|noise| <= t) >= ``confidence`` for two-sided geometric noise.

    ``scale`` is that of the discrete Laplace distribution, P(k) proportional to
    exp(-|k| / scale).
    """
    if scale <= 0:
        return 0
    tail = (1.0 - confidence) * (1.0 + math.exp(-1.0 / scale)) / 2.0
    return max(0, math.ceil(-scale * math.log(tail) - 1.0 - 1e-12))


def gaussian_tail(deviation: float, confidence: float) -> int:
    """A ``t`` with P(|noise| <= t) >= ``confidence`` for Gaussian noise, discrete or continuous.

    A sum of discrete ones has it too, of the root of the sum of their squared deviations.
    """
    return math.ceil(NormalDist().inv_cdf((1 + confidence) / 2) * deviation)


def _root(function: Callable[[float], float], low: float, high: float, xtol: float) -> float:
    """Zero of a function between two ends. SciPy's solvers are slow to import: on first use."""
    from scipy.optimize import brentq

    return float(brentq(function, low, high, xtol=xtol))


def gaussian_delta(mu: float, epsilon: float) -> float:
    """Delta of a mu-Gaussian-DP mechanism at ``epsilon`` (Balle and Wang 2018, Theorem 8).

    An upper bound by a few units in the last place of the terms, which may nearly cancel.
    """
    from scipy.special import log_ndtr

    if mu <= 0:
        return 0.0
    first = float(log_ndtr(mu / 2 - epsilon / mu))
    second = float(epsilon + log_ndtr(-mu / 2 - epsilon / mu))
    rounding = 1e-15 * (1 - first + 2 * epsilon - second)
    return min(1.0, max(0.0, math.exp(first) * (1 + rounding) - math.exp(second)))


def discrete_gaussian_delta(scale: float, epsilon: float, shift: int = 1) -> float:
    """Exact delta at ``epsilon`` of discrete Gaussian noise on one integer that moves by ``shift``.

    The formula of the continuous Gaussian is not an upper bound for it: for a scale of 0.65 and
    epsilon 8 it is short by a factor of 3.
    """
    reach = math.ceil(40 * scale) + shift
    support = np.arange(-reach, reach + 1, dtype=np.float64)
    here = np.exp(-(support**2) / (2 * scale**2))
    there = np.exp(-((support - shift) ** 2) / (2 * scale**2))
    return float(np.maximum(there - math.exp(epsilon) * here, 0.0).sum() / here.sum())


def discrete_gaussian_epsilon(scale: float, delta: float) -> float:
    """Smallest epsilon of discrete Gaussian noise on a count at ``delta``, rounded up."""
    root = _root(lambda e: discrete_gaussian_delta(scale, e) - delta, 0.0, 100.0, xtol=1e-10)
    return root + 1e-9


#: Delta, by mu and epsilon: of what is mu-Gaussian-DP, perhaps with something else beside it.
Profile = Callable[[float, float], float]


def calibrate_gaussian(epsilon: float, delta: float, profile: Profile = gaussian_delta) -> float:
    """Largest mu whose Gaussian-DP guarantee implies (epsilon, delta), never on the unsafe side.

    Raises
    ------
    BudgetError
        If ``epsilon`` is not positive or ``delta`` is not strictly between 0 and 1.
    """
    if not (epsilon > 0 and 0 < delta < 1):
        raise BudgetError("Gaussian noise needs an epsilon above 0 and a delta between 0 and 1.")
    high = 1.0
    while profile(high, epsilon) < delta:
        high *= 2
    mu = _root(lambda m: profile(m, epsilon) - delta, 1e-12, high, xtol=1e-14)
    step = 1e-12
    while profile(mu, epsilon) > delta:
        mu, step = mu * (1 - step), min(0.5, 2 * step)
    return mu


def calibrate_fine_gaussian(
    epsilon: Decimal | float,
    delta: Decimal | float,
    draws: int,
    profile: Profile = gaussian_delta,
) -> float:
    """Largest mu that is (epsilon, delta)-DP for discrete Gaussian noise of a fine scale.

    Discrete Gaussian noise is not mu-Gaussian-DP (see :func:`discrete_gaussian_delta`), but
    with a scale of at least :data:`FINE_SCALE` it is nearly rounded Gaussian noise, which is.
    What "nearly" costs is taken off epsilon and delta here. Proof: ``docs/privacy/gaussian.md``.

    Parameters
    ----------
    epsilon, delta : Decimal or float
        Guarantee of all draws together, at the level at which sensitivities are stated.
    draws : int
        Most noisy integers, over all steps, whose exact value one person changes.
    profile : callable
        Delta of the Gaussian steps together with others, if there are any.

    Returns
    -------
    float
        Bound on the root of the sum of (sensitivity / scale)**2 over all steps.

    Raises
    ------
    BudgetError
        If ``epsilon`` is not positive, ``delta`` is not strictly between 0 and 1, or epsilon
        is too small for so many draws.
    """
    target, excess = float_below(epsilon), float_below(delta)
    if not (target > 0 and 0 < excess < 1 and draws >= 1):
        raise BudgetError("Gaussian noise needs an epsilon above 0 and a delta between 0 and 1.")
    # Beyond this many scales, noise has probability below delta exp(-epsilon - 20) / draws.
    reach_squared = 1.001 * 2 * (target + math.log(draws) - math.log(excess) + 20)
    slack = 1.001 * draws * (1 + reach_squared) / (24 * FINE_SCALE**2)
    if slack > _SLACK_SHARE * target:
        raise BudgetError("This epsilon is too small for so many noisy sums: ask for fewer.")
    return calibrate_gaussian(math.nextafter(target - slack, 0.0), excess * (1 - 1e-8) * math.exp(-slack), profile)


def gaussian_part(mu: float, share: Decimal | Fraction) -> float:
    """Mu of a step that gets ``share`` of the square of ``mu``, rounded down.

    Gaussian DP composes by squares (Dong, Roth, Su 2019, Corollary 3.3), so steps whose shares
    sum to at most 1 are mu-Gaussian-DP together, exactly.
    """
    exact = Fraction(share) * Fraction(mu) ** 2
    part = mu * math.sqrt(float(share))
    while Fraction(part) ** 2 > exact:
        part = math.nextafter(part, 0.0)
    return part


def float_below(value: Decimal | Fraction | float) -> float:
    """Largest float that is not above an exact number."""
    number = float(value)
    if isinstance(value, float):
        return number
    exact = type(value)(number)
    return number if exact <= value else math.nextafter(number, -math.inf)


def odds_sentence(epsilon: Decimal, delta: Decimal) -> str:
    """Say what epsilon and delta mean as odds, for a reader who does not know the definition.

    With a delta, odds may change by more than e^epsilon, with a chance that may exceed delta. By
    more than twice e^epsilon they change with a chance of at most 3 delta, whichever of two
    neighbours is the truth: see ``docs/privacy/gaussian.md``.
    """
    factor = math.exp(min(float(epsilon), 50.0)) * (2 if delta else 1)
    rest = ""
    if factor < 100:
        bound = f"of at most {math.ceil(factor * 100) / 100:.2f}"
    elif factor < 1_000_000:
        bound = f"of at most {math.ceil(factor):,}"
    else:
        bound = "that may exceed a million, which promises next to nothing"
    if delta and factor < 1_000_000:
        chance = small(min(3 * delta, Decimal(1)))
        rest = f" (twice e^ε), except with a chance of at most {chance} (3 δ)"
    return (
        f"Whatever someone sees in this result, it changes their odds that a given person is "
        f"in the data by a factor {bound}{rest}."
    )


def delta_sentence(delta: Decimal) -> str:
    """Say what a delta means, in the definition's own terms."""
    return (
        "For any set of results, the probability with a person's records is at most e^ε times "
        f"the probability without them, plus δ = {small(delta)}, and the same the other way "
        "round. δ is not the chance that the factor e^ε is exceeded, which may be larger."
    )
