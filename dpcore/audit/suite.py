"""The audits of this engine: every mechanism, and whole fits of five families.

Forests, first looks and facts that are learned stand on the same mechanisms. Runs of forests and first looks are
replayed (:mod:`dpcore.audit.replay`), which is sharper, and so are those of all others; learning of facts is
compared on neighbouring tables by its own tests (``docs/privacy/learned.md``).

How an audit works: :mod:`dpcore.audit.bounds`.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from decimal import Decimal

import numpy as np

from dpcore.arrays import Ints
from dpcore.audit.bounds import CONFIDENCE, Audit, AuditedMechanism, AuditResult, likelihood_events, threshold_events
from dpcore.audit.ebm import ebm_audit, ebm_outlier_audit
from dpcore.audit.fits import adaptive_tree_audit, lookahead_tree_audit, rule_list_audit
from dpcore.audit.ilp import AUDITS as ILP_AUDITS
from dpcore.audit.redescriptions import AUDITS as REDESCRIPTION_AUDITS
from dpcore.privacy.budgets import calibrate_fine_gaussian, calibrate_gaussian, discrete_gaussian_epsilon
from dpcore.privacy.mechanisms import (
    ExponentialMechanism,
    FineGaussian,
    GaussianMechanism,
    GeometricMechanism,
    NoisyMax,
    ThresholdMechanism,
)
from dpcore.privacy.randomness import SecureRandom

#: Runs of one audit, both halves, on each of the two inputs.
TRIALS = 20_000
_EPSILON = Decimal(1)
_DELTA = 0.05


#: What one person adds to a sum on a fine grid, and how many of its steps are told apart.
_FINE, _COARSE = 2**24, 2**21


def _noise(
    mechanism: GeometricMechanism | GaussianMechanism | FineGaussian | ThresholdMechanism, change: int = 1
) -> AuditedMechanism:
    """A count to which one person adds ``change``, released with noise."""

    def draw(side: int, trials: int) -> Ints:
        return mechanism.release(np.full(trials, side * change, dtype=np.int64), SecureRandom())

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


def fine_gaussian_audit() -> Audit:
    """Discrete Gaussian noise on a fine grid, of which many steps are told as one."""
    mu = calibrate_fine_gaussian(_EPSILON, _DELTA, 1)

    def runs(mu: float) -> AuditedMechanism:
        draw = _noise(FineGaussian(_FINE, mu), _FINE)
        return lambda side, trials: draw(side, trials) // _COARSE

    controls = {"noise halved": runs(2 * mu)}
    return Audit("Gaussian noise on a fine grid", runs(mu), threshold_events, controls, delta=_DELTA, share=0.6)


#: Budget of the counts of texts: so little that the noise is wide, and a threshold can nearly have its delta.
_RHO_OF_TEXTS = 0.005


def threshold_audit() -> Audit:
    """A text that nobody has listed, and one person alone has: shown with a chance of delta at most."""
    sound = ThresholdMechanism(1, _RHO_OF_TEXTS, _DELTA)
    controls = {
        "shown four times as often": _noise(ThresholdMechanism(1, _RHO_OF_TEXTS, 4 * _DELTA)),
        "six rows counted as one": _noise(sound, 6),
    }
    return Audit(
        "texts above a threshold", _noise(sound), threshold_events, controls, epsilon=0.0, delta=_DELTA, share=0.6
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
        "exponential mechanism", runs(_EPSILON), likelihood_events, {"exponent doubled": runs(2 * _EPSILON)}, share=0.6
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


#: One of each mechanism by itself.
MECHANISM_AUDITS: Sequence[Callable[[], Audit]] = (
    geometric_audit,
    gaussian_audit,
    fine_gaussian_audit,
    threshold_audit,
    exponential_audit,
    noisy_max_audit,
)
AUDITS: Sequence[Callable[[], Audit]] = (
    *MECHANISM_AUDITS,
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
