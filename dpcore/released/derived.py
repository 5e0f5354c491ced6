"""What of a release follows from the rest of it, computed again: a file that contradicts itself is not taken.

A family says with ``rebuilt`` how its model follows from its conditions and noisy counts, the schema, the parameters
and the certificate. What is only known to lie within limits is moved into these, so that one comparison is enough.
"""

from __future__ import annotations

import math
import re
from collections.abc import Callable, Iterable, Sequence
from decimal import Decimal
from typing import Final

import numpy as np
from numpy.typing import ArrayLike

from dpcore.arrays import Floats, Ints
from dpcore.domain.conditions import Condition
from dpcore.privacy.budgets import EPSILON_STEP, BudgetSplit, gaussian_tail, geometric_tail, row_epsilon
from dpcore.privacy.filters import largest_rho, smallest_epsilon
from dpcore.privacy.losses import RHO_STEP, pure_rho
from dpcore.released.evaluation import Evaluation, Figure, evaluate
from dpcore.released.noisy_counts import Numbers, noise_intervals, point_estimates, sum_tail
from dpcore.released.plan import EVALUATION, composed_words
from dpcore.released.regression_evaluation import RegressionEvaluation, error_edges, evaluate_errors
from dpcore.released.release import Certificate, Release

#: Numbers that differ by less were computed on another machine.
_CLOSE: Final = 1e-9
#: Noise beyond so many 95 % margins, and one record more, has a chance below 1e-15.
_FAR: Final = 12
#: Range of noise scales: beyond it no count is told.
_NARROWEST, _WIDEST = 1e-4, 1e15
_HALVINGS: Final = 70
_EXACT: Final = 1e-7
_ROUNDED: Final = 3 * EPSILON_STEP


class ContradictionError(ValueError):
    """What a release says in one place does not agree with what it says in another."""


def demand(holds: bool) -> None:
    """Raise :class:`ContradictionError` unless something holds."""
    if not holds:
        raise ContradictionError("a release contradicts itself")


def agree(given: object, rebuilt: object) -> bool:
    """Whether two JSON values are the same, but for the last digits of numbers that are not whole."""
    if isinstance(given, dict) and isinstance(rebuilt, dict):
        return given.keys() == rebuilt.keys() and all(agree(value, rebuilt[key]) for key, value in given.items())
    if isinstance(given, list | tuple) and isinstance(rebuilt, list | tuple):
        return len(given) == len(rebuilt) and all(map(agree, given, rebuilt))
    if isinstance(given, float) and isinstance(rebuilt, float):
        return math.isclose(given, rebuilt, rel_tol=_CLOSE, abs_tol=_CLOSE)
    return bool(given == rebuilt)


def within(given: ArrayLike, low: ArrayLike, high: ArrayLike) -> Floats:
    """Numbers moved between two limits."""
    return np.clip(np.asarray(given, dtype=np.float64), low, high)


def pairs_of(rows: Floats) -> tuple[tuple[float, float], ...]:
    """Ends of intervals from an array of shape (n, 2)."""
    return tuple((float(low), float(high)) for low, high in rows)


def check_certificate(release: Release, sampler: str, composition: str = "", *, chain: bool = False) -> None:
    """Demand that a certificate names what was run, and a promise that it keeps.

    Parameters
    ----------
    composition : str
        How the parts compose, unless the run is made to be composed by rho.
    chain : bool
        Whether the sampler has to converge.
    """
    card = release.certificate
    demand(card.sampler == sampler)
    _check_rho(card)
    demand(card.guarantee in {"none", "conditional on convergence" if chain else "unconditional"})
    if card.composition == composition:
        return
    demand(card.rho is not None and card.delta > 0 and card.composition == composed_words(card.rho))
    if card.asked is None:
        demand(card.rho == largest_rho(card.epsilon, card.delta))
    else:  # Versions that made a run by the rho of a pure one.
        least = smallest_epsilon(card.rho or Decimal(0), card.delta)
        demand(card.epsilon == max([least, *card.parallel_split.values()]))


def _check_rho(card: Certificate) -> None:
    """Demand a rho that is no less than what people set aside lose, and of a pure run no more than any has."""
    if card.rho is None:
        return
    aside = max((pure_rho(share) for share in card.parallel_split.values()), default=Decimal(0))
    demand(card.rho > 0 and aside <= card.rho and (card.delta > 0 or card.rho <= pure_rho(card.epsilon)))


def stated_mu(card: Certificate) -> str:
    """The bound in Gaussian DP that a certificate names."""
    words = re.search(r"mu = ([0-9.e+-]{1,20}) per", card.composition)
    return f"{float(words[1]):.4g}" if words else ""


def check_counts(counts: Iterable[float], margin: float, most: int) -> None:
    """Demand that noisy counts are those of 0 to ``most`` records, with noise of this 95 % margin."""
    far = _FAR * (margin + 1)
    demand(all(-far <= count <= most + far for count in counts))


def check_shares(rows: Iterable[Sequence[float]], classes: int) -> None:
    """Demand that each row holds a probability for each class."""
    for row in rows:
        demand(len(row) == classes and all(0 <= share <= 1 for share in row) and abs(sum(row) - 1) < _CLOSE)


def check_classes(release: Release, classes: Sequence[str]) -> None:
    """Demand that classes are those of the target."""
    demand(tuple(classes) == tuple(release.domain.column(release.target).classes))


def check_conditions(release: Release, conditions: Iterable[Condition], columns: Iterable[str] | None = None) -> None:
    """Demand that conditions are ranges of cells of the schema, and of columns that may be asked for."""
    allowed = {column.name for column in release.domain if column.name != release.target}
    allowed &= allowed if columns is None else set(columns)
    for item in conditions:
        demand(item.column in allowed)
        demand(0 <= item.first <= item.last < len(release.domain.column(item.column).cells))


def is_gaussian(card: Certificate) -> bool:
    """Whether the counts of a run that selects and counts have Gaussian noise: if it is made to be composed."""
    return card.delta > 0


def count_scales(release: Release, step: str, *further: str) -> tuple[float, float]:
    """Least and largest scale of the noise on counts that one row moves by one: those of a step of the budget.

    Parameters
    ----------
    further : str
        Steps of which some budget, or all, may have been passed on to it.
    """
    card, rows = release.certificate, release.domain.privacy_unit.max_rows_per_person
    own = card.budget_split[step]
    most = own + sum((card.budget_split.get(name, Decimal(0)) for name in further), Decimal(0))
    if is_gaussian(card):
        demand(card.rho is not None)
        # Shares of rho are written as epsilons; they, the rho and its parts for one row were rounded to their steps.
        rho, rounded, step_of_row = float(card.rho or 0), _ROUNDED * rows, 2 * float(RHO_STEP) * rows**2
        most_rho = rho * float((most + rounded) / card.epsilon) + step_of_row
        own_rho = max(rho * float((own - rounded) / card.epsilon) - step_of_row, float(RHO_STEP) / 10_000)
        low, high = (rows / math.sqrt(2 * part) for part in (most_rho, own_rho))
    else:
        low, high = (1 / float(row_epsilon(part, rows)) for part in (most, own))
    return low * (1 - _EXACT), high * (1 + _EXACT)


def scales_of_margin(margin: int, *, gaussian: bool) -> tuple[float, float]:
    """Least and largest scale of the noise on one count that stays within ``margin`` at 95 %."""
    tail: Callable[[float, float], int] = gaussian_tail if gaussian else geometric_tail
    return _crossing(tail, margin - 1) * (1 - _EXACT), _crossing(tail, margin) * (1 + _EXACT)


def _crossing(tail: Callable[[float, float], int], margin: int) -> float:
    """Scale up to which a tail does not exceed a margin."""
    low, high = math.log(_NARROWEST), math.log(_WIDEST)
    for _ in range(_HALVINGS):
        middle = (low + high) / 2
        low, high = (middle, high) if tail(math.exp(middle), 0.95) <= margin else (low, middle)
    return math.exp(low)


def margin_within(given: int, scales: tuple[float, float], terms: int = 1, *, gaussian: bool) -> int:
    """A 95 % margin moved between those of the least and the largest scale."""
    low, high = (sum_tail(scale, terms, 0.95, gaussian=gaussian) for scale in scales)
    return min(max(given, low), high)


def intervals_within(
    given: Sequence[tuple[float, float]],
    counts: Sequence[int],
    estimates: Sequence[float],
    alpha: Sequence[float],
    scales: tuple[float, float],
    *,
    gaussian: bool,
) -> tuple[tuple[float, float], ...]:
    """Intervals of the shares of one group, moved between those of the least and the largest scale.

    They hold the estimates, wherever these were drawn to.
    """
    narrow, wide = (noise_intervals(np.array([counts]), alpha, scale, gaussian=gaussian)[0] for scale in scales)
    own = np.asarray(estimates)
    lows = within([low for low, _ in given], np.minimum(wide[:, 0], own), np.minimum(narrow[:, 0], own))
    highs = within([high for _, high in given], np.maximum(narrow[:, 1], own), np.maximum(wide[:, 1], own))
    return pairs_of(np.stack([lows, highs], axis=-1))


def rebuilt_numbers(
    release: Release,
    group: Numbers,
    margin: int,
    scales: tuple[float, float],
    alpha: Sequence[float],
    *,
    estimated: bool = True,
) -> dict[str, object]:
    """Shares and intervals of a rule, a clause or a node, from noisy counts of this margin and of these scales.

    Parameters
    ----------
    estimated : bool
        Whether its shares follow from its counts alone; else they are taken as they are.
    """
    counts, gaussian = group.noisy_counts, is_gaussian(release.certificate)
    check_counts(counts, margin, release.domain.max_rows)
    shares = point_estimates(np.array([counts]), alpha)[0].tolist() if estimated else group.estimates
    ends = intervals_within(group.intervals, counts, shares, alpha, scales, gaussian=gaussian)
    return {"estimates": tuple(shares), "intervals": ends}


def rebuilt_groups(
    release: Release,
    groups: Iterable[Numbers],
    given: int,
    steps: Sequence[str],
    alpha: Sequence[float],
    *,
    estimated: bool = True,
) -> tuple[int, list[dict[str, object]]]:
    """The 95 % margin of counts that one step of the budget bought, and what follows for each rule or clause from it.

    Parameters
    ----------
    given : int
        The margin that the model states.
    steps : sequence of str
        The step, and those of which some budget may have been passed on to it: see :func:`count_scales`.
    estimated : bool
        See :func:`rebuilt_numbers`.
    """
    scales = count_scales(release, *steps)
    margin = margin_within(given, scales, gaussian=is_gaussian(release.certificate))
    return margin, [rebuilt_numbers(release, one, margin, scales, alpha, estimated=estimated) for one in groups]


def rebuilt_evaluation(
    release: Release, given: Evaluation | None, estimates: ArrayLike | None = None, labels: Ints | None = None
) -> Evaluation | None:
    """Quality on people set aside, from the noisy counts of its groups.

    Parameters
    ----------
    estimates, labels : arrays of shape (n_groups, n_classes) and (n_groups,), optional
        Of the released model, where they follow from it.
    """
    share = release.certificate.parallel_split.get(EVALUATION)
    demand((given is None) == (share is None))
    if given is None or share is None:
        return None
    classes = len(given.noisy_confusion)
    demand(classes == len(release.domain.column(release.target).classes))
    demand(given.rows_per_person in {1, release.domain.privacy_unit.max_rows_per_person})
    scale = _row_scale(release, share)
    margin = geometric_tail(scale, 0.95)
    if not given.group_counts:  # Earlier versions released their sums alone.
        return _summed(release, given, margin)
    check_shares(given.group_estimates, classes)
    check_counts((count for row in given.group_counts for count in row), margin, release.domain.max_rows)
    if estimates is not None:
        demand(agree(np.asarray(estimates).tolist(), [list(row) for row in given.group_estimates]))
    counts, chances = np.array(given.group_counts), np.array(given.group_estimates)
    rows = given.rows_per_person
    return evaluate(counts, chances, scale, margin, labels, given.group_limits, rows)


def _row_scale(release: Release, share: Decimal) -> float:
    return 1 / float(row_epsilon(share, release.domain.privacy_unit.max_rows_per_person))


def _summed(release: Release, given: Evaluation, margin: int) -> Evaluation:
    """Of a table of confusion alone: its accuracy, and an AUC that may be."""
    confusion = np.array(given.noisy_confusion)
    most = release.domain.max_rows
    demand(all(abs(count) <= most + _FAR * most * (margin + 1) for count in confusion.ravel().tolist()))
    for figure in (given.accuracy, given.auc):
        demand(figure is None or all(0 <= part <= 1 for part in _parts(figure)))
    if given.accuracy is not None:
        demand(agree(given.accuracy.value, float(np.clip(np.trace(confusion) / max(1, confusion.sum()), 0.0, 1.0))))
    return given.model_copy(update={"count_margin": margin})


def _parts(figure: Figure) -> tuple[float, ...]:
    return figure.value, figure.noise_margin, figure.sampling_margin, figure.above


def rebuilt_errors(
    release: Release, given: RegressionEvaluation | None, bounds: tuple[float, float]
) -> RegressionEvaluation | None:
    """The same for a target of numbers, from noisy counts of errors."""
    share = release.certificate.parallel_split.get(EVALUATION)
    demand((given is None) == (share is None))
    if given is None or share is None:
        return None
    unit, edges = release.domain.privacy_unit.max_rows_per_person, error_edges(bounds)
    half = BudgetSplit.by_weights(row_epsilon(share, unit), {"model": 1, "constant": 1})["model"]
    scale = 1 / float(half)
    margin = geometric_tail(scale, 0.95)
    check_counts(given.noisy_errors, margin, release.domain.max_rows)
    counts = np.array(given.noisy_errors)
    rebuilt = evaluate_errors(edges, counts, counts, scale, margin, unit)
    if given.constant_rmse is not None:
        widest = bounds[1] - bounds[0]
        demand(all(0 <= part <= _FAR * widest for part in _parts(given.constant_rmse)))
    return rebuilt.model_copy(update={"constant_rmse": given.constant_rmse})
