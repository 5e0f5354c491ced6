"""Redescriptions of a table of counts by plain enumeration.

See section 4.5 of Mihelčić and Miettinen (2023). A side is a disjunction of at most k leaves and
negated leaves. Slow and readable; imports nothing that it checks.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from itertools import combinations

import numpy as np
from scipy.integrate import quad

Table = Sequence[Sequence[float]]


@dataclass(frozen=True)
class Found:
    """A redescription with its numbers."""

    left: frozenset[int]
    right: frozenset[int]
    both: float
    left_only: float
    right_only: float
    jaccard: float
    chance: float


def sides(leaves: int, most: int) -> set[frozenset[int]]:
    """Sets of leaves that some disjunction of leaves and negated leaves describes."""
    everything = frozenset(range(leaves))
    simple = [frozenset({leaf}) for leaf in range(leaves)]
    simple += [everything - {leaf} for leaf in range(leaves)]
    joined = {frozenset().union(*some) for size in range(1, most + 1) for some in combinations(simple, size)}
    return {side for side in joined if side and side != everything}


def all_redescriptions(table: Table, most: int) -> list[Found]:
    """Every pair of a left and a right side."""
    height, width = len(table), len(table[0])
    people = max(1.0, sum(map(sum, table)))
    found = []
    for left in sides(height, most):
        for right in sides(width, most):
            both = sum(table[i][j] for i in left for j in right)
            only_left = sum(table[i][j] for i in left for j in range(width) if j not in right)
            only_right = sum(table[i][j] for i in range(height) for j in right if i not in left)
            either = both + only_left + only_right
            expected = (both + only_left) * (both + only_right) / people
            whole = (both + only_left) + (both + only_right) - expected
            found.append(
                Found(
                    left,
                    right,
                    both,
                    only_left,
                    only_right,
                    both / either if either > 1e-9 else 0.0,
                    expected / whole if whole > 1e-9 else 0.0,
                )
            )
    return found


def allowed(
    table: Table,
    most: int,
    *,
    min_support: float,
    max_support: float,
    min_jaccard: float,
    min_above_chance: float,
    max_p: float,
    p_value: Callable[[Found], float],
) -> list[Found]:
    """Those that satisfy all constraints."""
    people = max(1.0, sum(map(sum, table)))
    return [
        item
        for item in all_redescriptions(table, most)
        if max(min_support, 1e-9) <= item.both <= max_support * people
        and item.jaccard >= min_jaccard
        and item.jaccard >= item.chance + min_above_chance
        and p_value(item) <= max_p
    ]


def settled(found: Sequence[Found], min_gain: float, score: Callable[[Found], float]) -> list[Found]:
    """Those that adding a leaf improves by less than ``min_gain``, and losing one costs so much."""
    scores = {(item.left, item.right): score(item) for item in found}
    gain = max(min_gain, 1e-6)

    def stays(item: Found) -> bool:
        for left, right in scores:
            change_left, change_right = left ^ item.left, right ^ item.right
            if len(change_left) + len(change_right) != 1:
                continue
            more = change_left <= left and change_right <= right
            difference = scores[left, right] - scores[item.left, item.right]
            if difference >= gain if more else difference > -gain:
                return False
        return True

    return [item for item in found if stays(item)]


def binomial_p_value(item: Found, people: float) -> float:
    """Chance of at least so many people on both sides if the sides were independent."""
    trials, both = max(1, round(people)), round(item.both)
    chance = (item.both + item.left_only) * (item.both + item.right_only) / people**2
    if not 0 < chance < 1:
        return float(both <= (trials if chance >= 1 else 0))

    def log_choices(k: int) -> float:
        return math.lgamma(trials + 1) - math.lgamma(k + 1) - math.lgamma(trials - k + 1)

    return math.fsum(
        math.exp(log_choices(k) + k * math.log(chance) + (trials - k) * math.log1p(-chance))
        for k in range(both, trials + 1)
    )


def noisy_p_value(
    both: float,
    shares: tuple[float, float],
    inside: tuple[int, int],
    leaves: tuple[int, int],
    people: int,
    scale: float,
) -> float:
    """Chance that binomial people and two-sided geometric noise exceed what is expected so far.

    Inversion of the characteristic function (Gil-Pelaez), as an integral.
    """
    chance, ratio = shares[0] * shares[1], math.exp(-1 / scale)
    weights = [
        (a * b, times * others)
        for a, times in ((1 - shares[0], inside[0]), (shares[0], leaves[0] - inside[0]))
        for b, others in ((1 - shares[1], inside[1]), (shares[1], leaves[1] - inside[1]))
    ]

    def characteristic(t: float) -> complex:
        value = (1 - chance + chance * np.exp(1j * t)) ** people * np.exp(-1j * t * people * chance)
        for weight, times in weights:
            noise = (1 - ratio) ** 2 / (1 - 2 * ratio * math.cos(weight * t) + ratio**2)
            value *= noise**times
        return complex(value)

    excess = both - 0.5 - people * chance

    def wave(t: float) -> float:
        return float((characteristic(t) * np.exp(-1j * t * excess)).imag / t)

    area, _ = quad(wave, 1e-9, 60 / scale if scale > 1 else 60, limit=2000)
    return 0.5 + area / math.pi


def jaccard_error(left: int, right: int, table: Table, deviation: float, draws: int) -> float:
    """Standard deviation of the Jaccard index of the first leaves under independent noise."""
    noise = np.random.default_rng(0).normal(0, deviation, (draws, len(table), len(table[0])))
    noisy = np.asarray(table) + noise
    both = noisy[:, :left, :right].sum(axis=(1, 2))
    either = noisy[:, :left].sum(axis=(1, 2)) + noisy[:, :, :right].sum(axis=(1, 2)) - both
    return float(np.std(both / either))
