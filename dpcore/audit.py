"""Black-box audits: a lower bound on the epsilon that a mechanism really has.

A mechanism is run many times on two neighbouring inputs. On one half of the runs an event is
chosen that tells the two inputs apart; on the other half its probabilities are bounded with
Clopper and Pearson's exact intervals. If the lower bound exceeds the epsilon that is claimed,
the claim is false, up to the stated confidence. Every audit also runs on broken versions of
its mechanism, its positive controls, and must catch them: an audit that catches nothing
proves nothing.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from decimal import Decimal
from typing import Protocol

import numpy as np
import pandas as pd
from numpy.typing import NDArray
from scipy.stats import beta

from dpcore.ingest import frame_chunks, ingest
from dpcore.mechanisms import (
    ExponentialMechanism,
    GaussianMechanism,
    GeometricMechanism,
    NoisyMax,
)
from dpcore.plan import RunPlan, no_progress
from dpcore.privacy import calibrate_gaussian, discrete_gaussian_epsilon
from dpcore.randomness import SecureRandom
from dpcore.rules.learner import RuleListLearner
from dpcore.rules.model import RuleListModel
from dpcore.schema import Schema

Outputs = NDArray[np.int64]
Hits = NDArray[np.bool_]
#: Chance that a bound is right, for each audit and each control.
CONFIDENCE = 1 - 1e-6
#: Runs of one audit, both halves, on each of the two inputs.
TRIALS = 20_000
_EPSILON = Decimal(1)
_DELTA = 0.05


class Mechanism(Protocol):
    """What is audited: many independent outputs on one of two neighbouring inputs."""

    def __call__(self, side: int, trials: int) -> Outputs:
        """Return ``trials`` outputs, coded as integers, on input 0 or 1."""
        ...


class Event(Protocol):
    """A set of outputs."""

    def __call__(self, outputs: Outputs) -> Hits:
        """Tell for each output whether it is in the set."""
        ...


#: Candidate events, made from the outputs on both inputs that are set aside for choosing.
EventFamily = Callable[[Outputs, Outputs], Iterator[Event]]


@dataclass(frozen=True)
class AtLeast:
    """Outputs that are ``bound`` or more; or, with ``negated``, the others."""

    bound: int
    negated: bool = False

    def __call__(self, outputs: Outputs) -> Hits:
        """Tell for each output whether it is in the set."""
        return np.asarray((outputs >= self.bound) ^ self.negated)


@dataclass(frozen=True)
class OneOf:
    """Outputs in a finite set."""

    labels: tuple[int, ...]

    def __call__(self, outputs: Outputs) -> Hits:
        """Tell for each output whether it is in the set."""
        return np.isin(outputs, self.labels)


def threshold_events(first: Outputs, second: Outputs) -> Iterator[Event]:
    """Both sides of every threshold between outputs: for noisy numbers."""
    for bound in np.unique(np.concatenate([first, second])):
        yield AtLeast(int(bound))
        yield AtLeast(int(bound), negated=True)


def likelihood_events(first: Outputs, second: Outputs) -> Iterator[Event]:
    """Sets of the outputs most typical of one input: for selections and whole releases."""
    labels, places = np.unique(np.concatenate([first, second]), return_inverse=True)
    ones = np.bincount(places[: len(first)], minlength=len(labels))
    twos = np.bincount(places[len(first) :], minlength=len(labels))
    ranked = labels[np.argsort((ones + 1.0) / (twos + 1.0))].tolist()
    for size in range(1, len(ranked)):
        yield OneOf(tuple(ranked[:size]))
        yield OneOf(tuple(ranked[size:]))


def ratio_bound(more: int, less: int, trials: int, confidence: float, delta: float) -> float:
    """Lower bound on epsilon from an event's hits on both inputs (Clopper, Pearson 1934).

    If P(event | one) <= e^epsilon P(event | other) + delta, then epsilon is at least
    log((P(event | one) - delta) / P(event | other)).

    ``more`` and ``less`` are its hits, of ``trials``, on the input that favours it and on the
    other; both intervals hold together with probability ``confidence``.
    """
    tail = (1 - confidence) / 2
    low = beta.ppf(tail, more, trials - more + 1) if more > 0 else 0.0
    high = beta.ppf(1 - tail, less + 1, trials - less) if less < trials else 1.0
    return math.log((low - delta) / high) if low - delta > high else 0.0


def epsilon_lower_bound(
    mechanism: Mechanism,
    events: EventFamily,
    *,
    trials: int,
    confidence: float = CONFIDENCE,
    delta: float = 0.0,
) -> float:
    """Certify a lower bound on a mechanism's epsilon, at a given delta.

    The mechanism is run ``trials`` times on each input. Half of the runs choose one of the
    ``events``, half certify it. The true epsilon is at least the bound returned with
    probability ``confidence``, whatever the mechanism is.
    """
    outputs = [mechanism(side, trials) for side in (0, 1)]
    half = trials // 2
    best, chosen = -1.0, (AtLeast(0), 0)
    for event in events(outputs[0][:half], outputs[1][:half]):
        hits = [int(event(output[:half]).sum()) for output in outputs]
        for side in (0, 1):
            bound = ratio_bound(hits[side], hits[1 - side], half, confidence, delta)
            if bound > best:
                best, chosen = bound, (event, side)  # type: ignore[assignment]
    event, side = chosen
    hits = [int(event(output[half:]).sum()) for output in outputs]
    return ratio_bound(hits[side], hits[1 - side], trials - half, confidence, delta)


@dataclass(frozen=True)
class AuditResult:
    """Outcome of one audit.

    Attributes
    ----------
    epsilon, delta : float
        What the mechanism claims.
    lower_bound : float
        What its runs prove at least.
    controls : Mapping[str, float]
        Lower bound for each broken version, by what was broken.
    """

    name: str
    epsilon: float
    delta: float
    lower_bound: float
    controls: Mapping[str, float]
    trials: int
    confidence: float

    @property
    def holds(self) -> bool:
        """Whether the runs are consistent with the claim."""
        return self.lower_bound <= self.epsilon

    @property
    def caught(self) -> bool:
        """Whether every broken version was found out."""
        return all(bound > self.epsilon for bound in self.controls.values())

    @property
    def passed(self) -> bool:
        """Whether the claim stands and the audit has shown its teeth."""
        return self.holds and self.caught


@dataclass(frozen=True)
class Audit:
    """A mechanism on its worst pair of inputs, with broken versions of it.

    Attributes
    ----------
    share : float
        Part of the trials asked for that this audit needs; slower mechanisms use fewer.
    """

    name: str
    mechanism: Mechanism
    events: EventFamily
    controls: Mapping[str, Mechanism]
    epsilon: float = float(_EPSILON)
    delta: float = 0.0
    share: float = 1.0

    def run(self, trials: int, confidence: float = CONFIDENCE) -> AuditResult:
        """Audit the mechanism and its controls."""
        runs = max(100, int(trials * self.share))
        bound, *controls = (
            epsilon_lower_bound(
                mechanism, self.events, trials=runs, confidence=confidence, delta=self.delta
            )
            for mechanism in (self.mechanism, *self.controls.values())
        )
        broken = dict(zip(self.controls, controls, strict=True))
        return AuditResult(self.name, self.epsilon, self.delta, bound, broken, runs, confidence)


def _noise(mechanism: GeometricMechanism | GaussianMechanism) -> Mechanism:
    """A count that one person changes by 1, released with noise."""

    def draw(side: int, trials: int) -> Outputs:
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


def _selection(
    select: Callable[[NDArray[np.int64], SecureRandom], int], favoured: int, others: int
) -> Mechanism:
    """All candidates alike on input 0; on input 1 they move by what is given."""
    scores = np.zeros((2, _CANDIDATES), dtype=np.int64)
    scores[1, :_FAVOURED] = favoured
    scores[1, _FAVOURED:] = others

    def draw(side: int, trials: int) -> Outputs:
        source = SecureRandom()
        return np.array([select(scores[side], source) for _ in range(trials)], dtype=np.int64)

    return draw


def exponential_audit() -> Audit:
    """The exponential mechanism on monotone scores: most fall by the sensitivity, few do not."""

    def runs(epsilon: Decimal) -> Mechanism:
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

    def runs(*, monotone: bool) -> Mechanism:
        mechanism = NoisyMax(_SENSITIVITY, _EPSILON, monotone=monotone)
        return _selection(mechanism.select, _SENSITIVITY, -_SENSITIVITY)

    return Audit(
        "report noisy max",
        runs(monotone=False),
        likelihood_events,
        {"general scores treated as monotone": runs(monotone=True)},
        share=0.6,
    )


def _toy_schema(rows_per_person: int) -> Schema:
    return Schema.from_mapping(
        {
            "name": "audit",
            "max_rows": 16,
            "privacy_unit": {"column": "person", "max_rows_per_person": rows_per_person},
            "columns": [
                {"name": "x", "type": "boolean"},
                {"name": "y", "type": "boolean", "target": True},
            ],
        }
    )


def _toy_frame(side: int) -> pd.DataFrame:
    """Four people with a row each; on input 1 a fifth with five rows, alike."""
    rows = [(1, "no", "no"), (2, "no", "no"), (3, "no", "yes"), (4, "yes", "no")]
    rows += [(5, "yes", "yes")] * (5 * side)
    return pd.DataFrame(rows, columns=["person", "x", "y"])


@dataclass(frozen=True)
class RuleListRuns:
    """Ingestion and whole fits of a rule list; input 1 has one person more.

    Attributes
    ----------
    epsilon : Decimal
        Budget that the fit is told to spend.
    rows_per_person : int
        Rows that ingestion keeps; the fit is told that it is 1.
    """

    epsilon: Decimal = _EPSILON
    rows_per_person: int = 1

    def __call__(self, side: int, trials: int) -> Outputs:
        """Return coded outputs: the list, and its noisy count of the fifth person's kind."""
        learner, source = RuleListLearner(), SecureRandom()
        plan, schema = self._plan(learner), _toy_schema(self.rows_per_person)
        # One table serves all fits: without evaluation nothing random of it reaches the output.
        table = ingest(frame_chunks(_toy_frame(side)), schema, source)
        fits = (learner.run(table, plan, source, no_progress) for _ in range(trials))
        return np.array([_label(model) for model in fits], dtype=np.int64)

    def _plan(self, learner: RuleListLearner) -> RunPlan:
        chosen = {
            "antecedents": "given",
            "given": ("x = yes",),
            "max_rules": 1,
            "pool_size": 16,
            "shares": {"list": 1, "estimates": 9},
            "evaluate": False,
        }
        return learner.plan(_toy_schema(1), "y", self.epsilon, chosen)


def _label(model: RuleListModel) -> int:
    """Code the number of rules and the first rule's noisy count of class yes."""
    return 100 * len(model.rules) + min(10, max(-5, model.rules[0].noisy_counts[1]))


def rule_list_audit() -> Audit:
    """Whole fit of a rule list, from the uploaded rows to the released model."""
    return Audit(
        "rule list, whole fit",
        RuleListRuns(),
        likelihood_events,
        {
            "budget spent four times": RuleListRuns(epsilon=4 * _EPSILON),
            "contribution bound removed": RuleListRuns(rows_per_person=5),
        },
        share=0.1,
    )


AUDITS: Sequence[Callable[[], Audit]] = (
    geometric_audit,
    gaussian_audit,
    exponential_audit,
    noisy_max_audit,
    rule_list_audit,
)


def run_audits(trials: int = TRIALS, confidence: float = CONFIDENCE) -> list[AuditResult]:
    """Run every audit; fewer than 10,000 trials may not suffice to catch the controls."""
    return [make().run(trials, confidence) for make in AUDITS]
