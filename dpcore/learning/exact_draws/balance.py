"""Classes that weigh alike, in blocks of a tree: class counts and a draw share the budget of each.

A question that leaves fewer mistakes among records of equal weight may not exist where an outcome is
rare. So a block first buys the class counts of its node, and a record of the largest class then weighs the
less the more noisy records that class has beside the second: two classes together weigh alike, and every question
that brings groups with different chances apart leaves fewer weighted mistakes. Of more classes those behind the
second stay as rare as they are: were every class to count as little as the rarest, all records together would hardly
count beside the noise, which the weight of one record sets. Weights are whole numbers made of noisy
counts, so that they cost nothing more, and mistakes so weighted stay a monotone integer utility.
Proof: ``docs/privacy/trees.md``, "Classes that weigh alike".
"""

from __future__ import annotations

from decimal import ROUND_FLOOR, Decimal
from functools import lru_cache
from typing import Final

import numpy as np

from dpcore.arrays import Floats, Ints
from dpcore.privacy.budgets import EPSILON_STEP
from dpcore.privacy.losses import largest_epsilon, pure_rho, selection_rho

#: Share of a block's budget that buys the class counts of its node.
COUNTS_SHARE: Final = Decimal("0.2")
#: A drawn class is expected to be so many times as frequent, against each other one, as in the whole node.
_LIFT: Final = 2.0


def divided(epsilon: Decimal) -> tuple[Decimal, Decimal]:
    """Parts of a block's budget: that of the class counts, and that of the draw. Rounded down."""
    parts = (epsilon * COUNTS_SHARE, epsilon * (1 - COUNTS_SHARE))
    counts, draw = (part.quantize(EPSILON_STEP, rounding=ROUND_FLOOR) for part in parts)
    return counts, draw


def undivided(draw: Decimal) -> Decimal:
    """Budget of a block with such a draw."""
    return draw / (1 - COUNTS_SHARE)


def block_rho(epsilon: Decimal, slack: Decimal = Decimal(0)) -> Decimal:
    """Rho of a block that costs a person epsilon: of its class counts, and of its draw with so much slack."""
    counts, draw = divided(epsilon)
    return pure_rho(counts) + selection_rho(draw + 2 * slack)


@lru_cache(maxsize=1024)
def draw_of(rho: Decimal) -> Decimal:
    """Largest draw of a block for which, with its class counts, rho pays; without any slack."""
    return divided(largest_epsilon(block_rho, rho))[1]


def expected_shares(counts: Floats, label: Ints | int) -> Floats:
    """Class shares that a leaf, or each of several, is expected to have because ``label`` was drawn for it.

    Parameters
    ----------
    counts : array of shape (n_classes,) or (n_leaves, n_classes)
    label : int or array of shape (n_leaves,)
    """
    lifted = counts * np.where(np.arange(counts.shape[-1]) == np.asarray(label)[..., None], _LIFT, 1.0)
    return np.asarray(lifted / lifted.sum(axis=-1, keepdims=True))


def pulled_shares(noisy: Ints, expected: Floats, deviation: Floats | float) -> Floats:
    """Class shares of groups: those of their noisy counts, pulled the more to the expected ones the noisier they are.

    Each is the mean of two normal guesses, weighted by how sure they are: the share itself lies within about
    q (1 - q) of the expected q, and noise and sampling make the counts' share uncertain.

    Parameters
    ----------
    noisy : array of shape (n_groups, n_classes)
    expected : array of shape (n_groups, n_classes) or (n_classes,)
    deviation : float or array of shape (n_groups,)
        Standard deviation of the noise on a count.

    Returns
    -------
    array of shape (n_groups, n_classes), positive, rows summing to 1
    """
    known = np.maximum(noisy, 0)
    whole = np.maximum(1.0, known.sum(axis=1))
    # Squares of Python's floats: those of arrays may differ in the last bit, and models are stored with all of theirs.
    noise = np.array([[own**2] for own in (deviation / whole).tolist()])
    whole, chance = whole[:, None], expected * (1 - expected)
    doubt = noise + chance / whole
    pull = doubt / (doubt + chance**2)
    shares = pull * expected + (1 - pull) * known / whole
    return np.asarray(shares / shares.sum(axis=1, keepdims=True))


#: Weight of a record of every class but the largest.
FULL_WEIGHT: Final = 4096
#: Records of the expected shares that are added to noisy class counts, in scales of their noise.
_LENT: Final = 2.0


def posterior_counts(noisy: Ints, scale: float, above: Floats | None) -> Floats:
    """Positive class counts of some records, from noisy ones and what a larger part of them lets expect.

    Parameters
    ----------
    noisy : array of shape (n_classes,)
    scale : float
        Of the two-sided geometric noise.
    above : array of shape (n_classes,) or None
        Class shares of that larger part, if there is one, or even ones; they count as so many records as the noise.
    """
    shares = np.full(len(noisy), 1 / len(noisy)) if above is None else above
    return np.maximum(noisy, 0) + (_LENT * scale + 1) * shares


def weigh_classes(counts: Floats) -> Ints:
    """Weight of a record of each class: :data:`FULL_WEIGHT`, and less in the largest: as much as the second."""
    second = float(np.sort(counts)[-2])
    return np.asarray(np.maximum(1, np.floor(FULL_WEIGHT * np.minimum(1.0, second / counts))), dtype=np.int64)
