"""From two runs with the same outputs to the privacy loss, and what a certificate may claim."""

from __future__ import annotations

import math
from collections.abc import Iterable
from dataclasses import dataclass, field
from functools import cached_property
from typing import Final

import numpy as np

from dpcore.arrays import Floats, Ints
from dpcore.audit.replay.probabilities import Draw, choice_logs, divergence_rho
from dpcore.audit.replay.tape import RunEvent
from dpcore.audit.replay.walks import StationaryState, settled
from dpcore.privacy.bounded_range import Selections, gaussian_deltas
from dpcore.privacy.randomness import Choice, Noise

#: Rounding of the comparison itself, relative to an epsilon or delta.
ROUNDING: Final = 1e-9
#: Sums of losses are put on a grid of so many cells, if there are more than that.
_MOST_LOSSES: Final = 5_000
#: Losses of a smaller chance are not looked at.
_NEVER: Final = 1e-18
#: Discrete Gaussian noise of a smaller scale is compared value by value, up to so many scales.
_COARSE, _REACH = 64.0, 12.0

#: Possible losses, and the probability of each on the first table.
Spectrum = tuple[Floats, Floats]


@dataclass
class Loss:
    """Privacy loss between two tables, along the outputs of one run."""

    pure: float = 0.0
    """Sum over noise and over choices of the largest loss that any of their outputs has. Each is charged to the budget
    as a mechanism of its own."""
    drawn: float = 0.0
    """Sum of the losses of the outputs, over draws that belong to larger mechanisms, such as the splits of a tree that
    is drawn whole."""
    reach: float = 0.0
    """Largest size of that sum at any time, had the last draw had any other output."""
    mu_squared: float = 0.0
    """Sum of (distance / scale)^2 over Gaussian noise."""
    fine_mu_squared: float = 0.0
    """The part of it that is of a fine scale, where it is compared as continuous noise is."""
    coarse: list[Spectrum] = field(default_factory=list)
    """Losses, with their probabilities, of other Gaussian noise."""
    noise: float = 0.0
    choices: list[tuple[Floats, Floats]] = field(default_factory=list)
    """Log-probabilities of all outputs of the choices, on the first and the second table."""
    kept: float = 0.0
    """Largest loss of a single mechanism, as a share of what it promises to a row, or to a person."""
    rho: float = 0.0
    """Loss in zero-concentrated DP: of Gaussian and of two-sided geometric noise; of choices and of larger mechanisms
    by the Rényi divergence of their outputs, as far as these are known."""
    stages: list[float] = field(default_factory=list)
    """Largest size of the loss within each larger mechanism: in all draws between two ticks of progress."""
    walks: list[tuple[StationaryState, StationaryState]] = field(default_factory=list)
    """Markov chains. All other attributes take them for selections from their limits."""
    _stage: list[Draw] = field(default_factory=list)

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
                    pair = settled(first.given, second.given)
                    loss._add_whole(pair[0].limit, pair[1].limit)
                    loss.walks.append(pair)
                case ("progress", *_):
                    loss._end_stage()
        loss._end_stage()
        return loss

    def _end_stage(self) -> None:
        if self._stage:
            drawn, reach = 0.0, 0.0
            for first, second, output in self._stage:
                reach = max(reach, float(np.abs(drawn + first - second).max()))
                drawn += float(first[output] - second[output])
            self.rho += divergence_rho(self._stage)
            self.stages.append(reach)
        self._stage = []

    def _add_noise(self, noise: Noise, moved: Ints) -> None:
        distances = np.abs(moved).astype(np.float64) / noise.scale
        if noise.law == "gaussian":
            cost = float(np.linalg.norm(distances))
            self.mu_squared += cost**2
            self.rho += cost**2 / 2
            if noise.scale < _COARSE:
                self.coarse += [_gaussian_losses(int(own), noise.scale) for own in moved[moved != 0]]
            else:
                self.fine_mu_squared += cost**2
        else:
            cost = float(distances.sum())
            self.noise += cost
            self.pure += cost
            self.rho += _pure_rho(cost)
        self.kept = max(self.kept, cost / noise.promise)

    def _add_choice(self, choice: Choice, first: RunEvent, second: RunEvent) -> None:
        if np.array_equal(first.given, second.given):
            return
        logs = choice_logs(choice, first.given), choice_logs(choice, second.given)
        if choice.promise is not None:
            cost = self._add_whole(*logs)
            self.rho += divergence_rho([(*logs, first.output)])
            self.kept = max(self.kept, cost / choice.promise)
            return
        own = logs[0] - logs[1]
        self._stage.append((*logs, first.output))
        self.reach = max(self.reach, float(np.abs(self.drawn + own).max()))
        self.drawn += float(own[first.output])

    def _add_whole(self, first: Floats, second: Floats) -> float:
        cost = float(np.abs(first - second).max())
        self.pure += cost
        self.choices.append((first, second))
        return cost

    @property
    def epsilon(self) -> float:
        """Loss of pure mechanisms."""
        return self.pure + self.reach

    @property
    def distance(self) -> float:
        """How far last states of chains are from their limits, in total variation, all chains together."""
        return sum(max(one.distance, two.distance) for one, two in self.walks)

    def walked(self, epsilon: float) -> float:
        """Largest delta, at an epsilon, that a chain has after its steps."""
        ways = ((one.arrived, two.arrived) for pair in self.walks for one, two in (pair, pair[::-1]))
        return max((float(np.maximum(p - math.exp(epsilon) * q, 0.0).sum()) for p, q in ways), default=0.0)

    def delta(self, epsilon: float) -> float:
        """Delta at an epsilon of all steps together, Gaussian ones among them.

        Of the two directions the larger. Exact: the losses of choices and of coarse noise are
        finite in number, and that of fine Gaussian noise given one of them has a formula. Of
        stages, that of the worst mechanism of their range.
        """
        mu, left = math.sqrt(self.fine_mu_squared), epsilon - self.noise
        return max(float(weights @ _excesses(mu, left - losses)) for losses, weights in self._spectra)

    @cached_property
    def _spectra(self) -> tuple[Spectrum, Spectrum]:
        """Losses of all choices and coarse noise together, in either direction.

        Noise is symmetric: it has the same losses in both, as has the worst mechanism of a range.
        """
        both = [*self.coarse, *(Selections(reach, 1).losses for reach in self.stages)]
        ways = [(first - second, np.exp(first)) for first, second in self.choices]
        back = [(second - first, np.exp(second)) for first, second in self.choices]
        return _together([*both, *ways]), _together([*both, *back])

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


def _together(parts: Iterable[Spectrum]) -> Spectrum:
    """Sums of independent losses, with their probabilities."""
    losses, weights = np.zeros(1), np.ones(1)
    for more, chances in parts:
        losses = np.add.outer(losses, more).ravel()
        weights = np.multiply.outer(weights, chances).ravel()
        if len(losses) > _MOST_LOSSES:
            losses, weights = _on_grid(losses, weights)
    return losses, weights


def _excesses(mu: float, epsilons: Floats) -> Floats:
    """Delta of Gaussian noise at many epsilons; without noise that of a loss of nothing."""
    return gaussian_deltas(mu, epsilons) if mu > 0 else np.asarray(-np.expm1(np.minimum(epsilons, 0.0)))


def _gaussian_losses(distance: int, scale: float) -> Spectrum:
    """Losses of discrete Gaussian noise z on a count that moves: (2 z d + d^2) / (2 scale^2)."""
    reach = math.ceil(_REACH * scale) + abs(distance)
    noise = np.arange(-reach, reach + 1, dtype=np.float64)
    weights = np.exp(-(noise**2) / (2 * scale**2))
    return (2 * noise * distance + distance**2) / (2 * scale**2), weights / weights.sum()


def _pure_rho(loss: float) -> float:
    return loss * math.tanh(loss / 2)


def _on_grid(losses: Floats, weights: Floats) -> tuple[Floats, Floats]:
    """Put together losses that are nearly the same, never above what they are."""
    kept = weights > _NEVER
    losses, weights = losses[kept], weights[kept]
    least, step = losses.min(), np.ptp(losses) / _MOST_LOSSES
    if step == 0:  # Choices that no record moves.
        return losses[:1], weights.sum(keepdims=True)
    places = np.floor((losses - least) / step).astype(np.int64)
    sums = np.bincount(places, weights=weights).astype(np.float64)
    return np.asarray(least + step * np.arange(len(sums))), sums
