"""The audits of this engine: every mechanism, and whole fits of the learners.

How an audit works: :mod:`dpcore.audit.bounds`.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from decimal import Decimal

import numpy as np

from dpcore.arrays import Ints
from dpcore.audit.bounds import (
    CONFIDENCE,
    Audit,
    AuditedMechanism,
    likelihood_events,
    threshold_events,
)
from dpcore.audit.bounds import AuditResult as AuditResult
from dpcore.audit.ebm import ebm_audit, ebm_outlier_audit
from dpcore.audit.fits import adaptive_tree_audit, lookahead_tree_audit, rule_list_audit
from dpcore.audit.ilp import AUDITS as ILP_AUDITS
from dpcore.audit.redescriptions import AUDITS as REDESCRIPTION_AUDITS
from dpcore.privacy.budgets import calibrate_gaussian, discrete_gaussian_epsilon
from dpcore.privacy.mechanisms import (
    ExponentialMechanism,
    GaussianMechanism,
    GeometricMechanism,
    NoisyMax,
)
from dpcore.privacy.randomness import SecureRandom

#: Runs of one audit, both halves, on each of the two inputs.
TRIALS = 20_000
_EPSILON = Decimal(1)
_DELTA = 0.05


def _noise(mechanism: GeometricMechanism | GaussianMechanism) -> AuditedMechanism:
    """A count that one person changes by 1, released with noise."""

    def draw(side: int, trials: int) -> Ints:
        return mechanism.release(np.full(trials, side, dtype=np.int64), SecureRandom())

    return draw


def geometric_audit() -> Audit:
    """Two-sided geometric noise on a count."""
    return Audit(
        "geometric noise",
        _noise(GeometricMechanism(1, _EPSILON)),
        threshold_events,
        {"noise halved": _noise(GeometricMechanism(1, 2 * _EPSILON))},
    )


def gaussian_audit() -> Audit:
    """Discrete Gaussian noise on a count; the claim is computed from its exact distribution."""
    rho = calibrate_gaussian(float(_EPSILON), _DELTA) ** 2 / 2
    sound = GaussianMechanism(1, rho)
    return Audit(
        "discrete Gaussian noise",
        _noise(sound),
        threshold_events,
        {"noise halved": _noise(GaussianMechanism(1, 4 * rho))},
        epsilon=discrete_gaussian_epsilon(sound.scale, _DELTA),
        delta=_DELTA,
    )


#: Candidates of the selection audits; those that a person favours, or does not, are few.
_CANDIDATES, _FAVOURED = 20, 2
_SENSITIVITY = 1000


def _selection(select: Callable[[Ints, SecureRandom], int], favoured: int, others: int) -> AuditedMechanism:
    """All candidates alike on input 0; on input 1 they move by what is given."""
    scores = np.zeros((2, _CANDIDATES), dtype=np.int64)
    scores[1, :_FAVOURED] = favoured
    scores[1, _FAVOURED:] = others

    def draw(side: int, trials: int) -> Ints:
        source = SecureRandom()
        return np.array([select(scores[side], source) for _ in range(trials)], dtype=np.int64)

    return draw


def exponential_audit() -> Audit:
    """The exponential mechanism on monotone scores: most fall by the sensitivity, few do not."""

    def runs(epsilon: Decimal) -> AuditedMechanism:
        mechanism = ExponentialMechanism(_SENSITIVITY, epsilon, monotone=True)
        return _selection(mechanism.select, 0, -_SENSITIVITY)

    return Audit(
        "exponential mechanism",
        runs(_EPSILON),
        likelihood_events,
        {"exponent doubled": runs(2 * _EPSILON)},
        share=0.6,
    )


def noisy_max_audit() -> Audit:
    """Report noisy max on general scores: few rise by the sensitivity while the others fall."""

    def runs(*, monotone: bool) -> AuditedMechanism:
        mechanism = NoisyMax(_SENSITIVITY, _EPSILON, monotone=monotone)
        return _selection(mechanism.select, _SENSITIVITY, -_SENSITIVITY)

    return Audit(
        "report noisy max",
        runs(monotone=False),
        likelihood_events,
        {"general scores treated as monotone": runs(monotone=True)},
        share=0.6,
    )


AUDITS: Sequence[Callable[[], Audit]] = (
    geometric_audit,
    gaussian_audit,
    exponential_audit,
    noisy_max_audit,
    rule_list_audit,
    lookahead_tree_audit,
    adaptive_tree_audit,
    ebm_audit,
    ebm_outlier_audit,
    *REDESCRIPTION_AUDITS,
    *ILP_AUDITS,
)


def run_audits(trials: int = TRIALS, confidence: float = CONFIDENCE) -> list[AuditResult]:
    """Run every audit; fewer than 10,000 trials may not suffice to catch the controls."""
    return [make().run(trials, confidence) for make in AUDITS]
