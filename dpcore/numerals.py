"""How numbers are written for readers: one way for pages, reports, plots and the command line.

Costs of runs are not here: what a run spends is rounded up (`dpcore.privacy.budgets.format_epsilon`).
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from decimal import Decimal
from itertools import accumulate, pairwise

#: Shares this close to 0 or 1 are 0 or 1 but for floating point.
_EXACT = 1e-9
#: The least share that is written as a number; below it, and as close to 1, words say so.
_LEAST = 0.0005
_DIGITS = 3
#: The least delta that is written without a power of ten.
_LEAST_DELTA = Decimal("0.001")
_RAISED = str.maketrans("0123456789", "⁰¹²³⁴⁵⁶⁷⁸⁹")


def minus(text: str) -> str:
    """A number with a proper minus sign."""
    return text.replace("-", "−")


def whole(number: float) -> str:
    """A count, also a noisy one: ``12,340``, ``−3``."""
    text = f"{number:,}" if isinstance(number, int) else f"{number:,.0f}"
    return "0" if text == "-0" else minus(text)


def percent(share: float) -> str:
    """A share or a chance, never rounded to none or all: ``42%``, ``3.1%``, ``99.7%``, ``below 0.1%``.

    Whole percent, one decimal below 10% and from 99.5% on. Words stand for what is closer to 0 or 1, as
    a ``<`` would be read as markup.
    """
    if _EXACT < share < _LEAST:
        return "below 0.1%"
    if 1 - _LEAST < share < 1 - _EXACT:
        return "above 99.9%"
    if share < 0.0995 or 0.995 <= share < 1 - _EXACT:
        return tenths(share)
    return f"{100 * share:.0f}%"


def tenths(share: float) -> str:
    """A share with one decimal, where small differences matter: ``81.4%``."""
    text = f"{100 * share:.1f}%"
    return "0.0%" if text == "-0.0%" else minus(text)


def percents(shares: Sequence[float]) -> list[str]:
    """Different shares, with as many decimals as it takes to tell them apart.

    As `percent` writes them, if that does it. Shares that differ by less than 1e-8 may read the same.
    """
    told = [percent(share) for share in shares]
    for decimals in range(1, 7):
        if len(set(told)) == len(set(shares)):
            break
        told = [f"{100 * share:.{decimals}f}%" for share in shares]
    return told


def adding_up(shares: Sequence[float]) -> list[str]:
    """Shares of one whole as they add up to it: differences of rounded sums, all with as many decimals.

    With more of these until none of them reads 0, but for shares of less than 1e-6.
    """
    for decimals in range(1 if min(shares) < 0.0995 else 0, 5):
        sums = [round(100 * share, decimals) for share in accumulate(shares, initial=0.0)]
        told = [f"{after - before:.{decimals}f}%" for before, after in pairwise(sums)]
        if all(float(share.rstrip("%")) for share in told):
            break
    return told


def within(margin: float) -> str:
    """A margin of a share, at least 0.1%: ``±2.3%``."""
    return f"±{percent(max(margin, 2 * _LEAST))}"


def hundredths(index: float) -> str:
    """An AUC, a Jaccard index or another figure around 0 to 1 that is no share: ``0.81``."""
    text = f"{index:.2f}"
    return "0.00" if text == "-0.00" else minus(text)


def score(value: float, measure: str) -> str:
    """How good a model is, by the name of what was measured: accuracies with one decimal, for comparing them."""
    if measure == "accuracy":
        return tenths(value)
    return hundredths(value) if measure in ("AUC", "Jaccard index") else measured(value)


def measured(value: float) -> str:
    """A number of any size, such as an error, with three digits and no power of ten: ``0.0123``, ``12,300``."""
    if not value or not math.isfinite(value):
        return f"{value:g}"
    decimals = _DIGITS - 1 - math.floor(math.log10(abs(value)))
    rounded = round(value, decimals)
    if decimals <= 0:
        return whole(rounded)
    text = f"{rounded:,.{decimals}f}"
    return minus(text.rstrip("0").rstrip("."))


def tiny(digits: str, power: int) -> str:
    """A number below 1 as digits times a power of ten: ``1.2 · 10⁻⁹``."""
    return f"{digits} · 10⁻{str(power).translate(_RAISED)}"


def small(delta: Decimal) -> str:
    """A delta to its last digit: ``0.01``, ``5 · 10⁻⁸``, ``10⁻⁶``."""
    if not 0 < delta < _LEAST_DELTA:
        return f"{delta.normalize():f}" if delta else "0"
    power = -delta.adjusted()
    digits = f"{delta.scaleb(power).normalize():f}"
    return tiny(digits, power).removeprefix("1 · ")
