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
from collections.abc import Callable, Iterator, Mapping
from contextlib import AbstractContextManager
from dataclasses import dataclass
from typing import Any, Final, Protocol
from unittest import mock

import numpy as np
from scipy.stats import beta

from dpcore.arrays import Flags, Ints

#: Chance that a bound is right, for each audit and each control.
CONFIDENCE: Final = 1 - 1e-6


class AuditedMechanism(Protocol):
    """What is audited: many independent outputs on one of two neighbouring inputs."""

    def __call__(self, side: int, trials: int) -> Ints:
        """Return ``trials`` outputs, coded as integers, on input 0 or 1."""
        ...


class Event(Protocol):
    """A set of outputs."""

    def __call__(self, outputs: Ints) -> Flags:
        """Tell for each output whether it is in the set."""
        ...


#: Candidate events, made from the outputs on both inputs that are set aside for choosing.
EventFamily = Callable[[Ints, Ints], Iterator[Event]]


@dataclass(frozen=True)
class AtLeast:
    """Outputs that are ``bound`` or more; or, with ``negated``, the others."""

    bound: int
    negated: bool = False

    def __call__(self, outputs: Ints) -> Flags:
        """Tell for each output whether it is in the set."""
        return np.asarray((outputs >= self.bound) ^ self.negated)


@dataclass(frozen=True)
class OneOf:
    """Outputs in a finite set."""

    labels: tuple[int, ...]

    def __call__(self, outputs: Ints) -> Flags:
        """Tell for each output whether it is in the set."""
        return np.isin(outputs, self.labels)


def threshold_events(first: Ints, second: Ints) -> Iterator[Event]:
    """Both sides of every threshold between outputs: for noisy numbers."""
    for bound in np.unique(np.concatenate([first, second])):
        yield AtLeast(int(bound))
        yield AtLeast(int(bound), negated=True)


def likelihood_events(first: Ints, second: Ints) -> Iterator[Event]:
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
    mechanism: AuditedMechanism, events: EventFamily, *, trials: int, confidence: float = CONFIDENCE, delta: float = 0.0
) -> float:
    """Certify a lower bound on a mechanism's epsilon, at a given delta.

    The mechanism is run ``trials`` times on each input. Half of the runs choose one of the
    ``events``, half certify it. The true epsilon is at least the bound returned with
    probability ``confidence``, whatever the mechanism is.
    """
    outputs = [mechanism(side, trials) for side in (0, 1)]
    half = trials // 2
    best = -1.0
    chosen: tuple[Event, int] = (AtLeast(0), 0)
    for event in events(outputs[0][:half], outputs[1][:half]):
        hits = [int(event(output[:half]).sum()) for output in outputs]
        for side in (0, 1):
            bound = ratio_bound(hits[side], hits[1 - side], half, confidence, delta)
            if bound > best:
                best, chosen = bound, (event, side)
    event, side = chosen
    hits = [int(event(output[half:]).sum()) for output in outputs]
    return ratio_bound(hits[side], hits[1 - side], trials - half, confidence, delta)


@dataclass(frozen=True)
class AuditResult:
    """Outcome of one audit."""

    name: str
    epsilon: float
    delta: float
    """``epsilon``, ``delta``: what the mechanism claims."""
    lower_bound: float
    """What its runs prove at least."""
    controls: Mapping[str, float]
    """Lower bound for each broken version, by what was broken."""
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

    @property
    def verdict(self) -> str:
        """What came of it, in words; that a broken version was not found out says nothing against the claim."""
        if not self.holds:
            return "FAILED"
        return "passed" if self.caught else "too few trials to judge"


@dataclass(frozen=True)
class Audit:
    """A mechanism on its worst pair of inputs, with broken versions of it."""

    name: str
    mechanism: AuditedMechanism
    events: EventFamily
    controls: Mapping[str, AuditedMechanism]
    epsilon: float = 1.0
    delta: float = 0.0
    share: float = 1.0
    """Part of the trials asked for that this audit needs; slower mechanisms use fewer."""

    def run(self, trials: int, confidence: float = CONFIDENCE) -> AuditResult:
        """Audit the mechanism and its controls."""
        runs = max(100, int(trials * self.share))
        bound, *controls = (
            epsilon_lower_bound(mechanism, self.events, trials=runs, confidence=confidence, delta=self.delta)
            for mechanism in (self.mechanism, *self.controls.values())
        )
        broken = dict(zip(self.controls, controls, strict=True))
        return AuditResult(self.name, self.epsilon, self.delta, bound, broken, runs, confidence)


def replaced(owner: object, name: str, value: object) -> AbstractContextManager[Any]:
    """Break something for a while: put ``value`` in the place of an attribute, own or inherited."""
    return mock.patch.object(owner, name, value)
