"""From two runs with the same outputs to the privacy loss, and what a certificate may claim."""

from __future__ import annotations

import math
from collections.abc import Iterable
from dataclasses import dataclass, field
from typing import Final

import numpy as np

from dpcore.arrays import Floats, Ints
from dpcore.audit.replay.probabilities import choice_logs, softmax_logs
from dpcore.audit.replay.tape import RunEvent
from dpcore.audit.replay.walks import log_weights
from dpcore.privacy.budgets import gaussian_delta
from dpcore.privacy.randomness import Choice, Noise

#: Rounding of the comparison itself, relative to an epsilon or delta.
ROUNDING: Final = 1e-9
#: Losses of choices in between Gaussian steps are put on so fine a grid, if there are many.
_MOST_LOSSES, _FINE = 5_000, 2.0**-20


@dataclass
class Loss:
    """Privacy loss between two tables, along the outputs of one run.

    Attributes
    ----------
    pure : float
        Sum over noise and over choices of the largest loss that any of their outputs has. Each
        is charged to the budget as a mechanism of its own.
    drawn : float
        Sum of the losses of the outputs, over draws that belong to larger mechanisms, such as
        the splits of a tree that is drawn whole.
    reach : float
        Largest size of that sum at any time, had the last draw had any other output.
    mu_squared : float
        Sum of (distance / scale)^2 over Gaussian noise.
    choices : list of (array, array)
        Log-probabilities of all outputs of the choices, on the first and the second table.
    kept : float
        Largest loss of a single mechanism, as a share of what it promises to a row.
    """

    pure: float = 0.0
    drawn: float = 0.0
    reach: float = 0.0
    mu_squared: float = 0.0
    noise: float = 0.0
    choices: list[tuple[Floats, Floats]] = field(default_factory=list)
    kept: float = 0.0

    @classmethod
    def along(cls, events: Iterable[tuple[RunEvent, RunEvent]]) -> Loss:
        """Loss of all events, those of the first table before those of the second."""
        loss = cls()
        for first, second in events:
            match first.what:
                case ("noise", noise, _):
                    loss._add_noise(noise, first.given - second.given)
                case ("choice", choice, _):
                    loss._add_choice(choice, first, second)
                case ("walk", _):
                    logs = [softmax_logs(log_weights(own.given)) for own in (first, second)]
                    loss._add_whole(logs[0], logs[1])
        return loss

    def _add_noise(self, noise: Noise, moved: Ints) -> None:
        distances = np.abs(moved).astype(np.float64) / noise.scale
        if noise.law == "gaussian":
            cost = float(np.linalg.norm(distances))
            self.mu_squared += cost**2
        else:
            cost = float(distances.sum())
            self.noise += cost
            self.pure += cost
        self.kept = max(self.kept, cost / noise.promise)

    def _add_choice(self, choice: Choice, first: RunEvent, second: RunEvent) -> None:
        if np.array_equal(first.given, second.given):
            return
        logs = [choice_logs(choice, own.given) for own in (first, second)]
        if choice.promise is not None:
            cost = self._add_whole(logs[0], logs[1])
            self.kept = max(self.kept, cost / choice.promise)
            return
        losses = self.drawn + logs[0] - logs[1]
        self.reach = max(self.reach, float(np.abs(losses).max()))
        self.drawn = float(losses[first.output])

    def _add_whole(self, first: Floats, second: Floats) -> float:
        cost = float(np.abs(first - second).max())
        self.pure += cost
        self.choices.append((first, second))
        return cost

    @property
    def epsilon(self) -> float:
        """Loss of pure mechanisms."""
        return self.pure + self.reach

    def delta(self, epsilon: float) -> float:
        """Delta at an epsilon of all steps together, Gaussian ones among them.

        Of the two directions the larger. Exact: the losses of choices are finite in number, and
        that of Gaussian noise given one of them has a formula.
        """
        mu, sure = math.sqrt(self.mu_squared), self.noise + self.reach
        directions = (self.choices, [(second, first) for first, second in self.choices])
        return max(_delta(mu, epsilon - sure, choices) for choices in directions)

    def epsilon_at(self, delta: float) -> float:
        """Smallest epsilon that holds at a delta, by bisection."""
        if self.mu_squared == 0:
            return self.epsilon
        low, high = 0.0, 1.0
        while self.delta(high) > delta:
            low, high = high, 2 * high
        for _ in range(40):
            middle = (low + high) / 2
            low, high = (middle, high) if self.delta(middle) > delta else (low, middle)
        return high

    def holds(self, epsilon: float, delta: float) -> bool:
        """Whether a claim covers this loss."""
        if self.mu_squared == 0:
            return bool(self.epsilon <= epsilon * (1 + ROUNDING))
        return self.delta(epsilon) <= delta * (1 + 1e-6)


def _delta(mu: float, epsilon: float, choices: Iterable[tuple[Floats, Floats]]) -> float:
    """Sum over the losses of choices, by their probability, of what Gaussian noise adds."""
    losses, weights = np.zeros(1), np.ones(1)
    for first, second in choices:
        losses = np.add.outer(losses, first - second).ravel()
        weights = np.multiply.outer(weights, np.exp(first)).ravel()
        if len(losses) > _MOST_LOSSES:
            losses, weights = _on_grid(losses, weights)
    return float(sum(w * gaussian_delta(mu, epsilon - x) for x, w in zip(losses, weights, strict=True)))


def _on_grid(losses: Floats, weights: Floats) -> tuple[Floats, Floats]:
    """Put together losses that are nearly the same, never above what they are."""
    steps, places = np.unique(np.floor(losses / _FINE).astype(np.int64), return_inverse=True)
    return np.asarray(steps * _FINE), np.bincount(places, weights=weights).astype(np.float64)
