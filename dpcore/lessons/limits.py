"""What privacy does not prevent: a study teaches about everybody, also about those who are not in it."""

from __future__ import annotations

from dataclasses import dataclass
from decimal import Decimal

import numpy as np

from dpcore.lessons.noise import noisy_vector

#: Shares in the invented population: smokers, and who falls ill among smokers and among others.
SMOKERS, RISK, RISK_OF_OTHERS = 0.25, 0.2, 0.02
#: Risk of somebody of whom nobody knows whether smoking matters.
RISK_BEFORE = SMOKERS * RISK + (1 - SMOKERS) * RISK_OF_OTHERS


@dataclass(frozen=True)
class Study:
    """Risks that a private study states."""

    people: int
    """People in the study, with Ann."""
    risk: float
    risk_without: float
    """``risk``, ``risk_without``: noisy risk of smokers, with Ann in the study and without her; between 0 and 1."""
    risk_of_others: float
    """Noisy risk of those who do not smoke."""


def study(people: int, epsilon: Decimal, draw: int) -> Study:
    """Count smokers and others, ill and well, with noise; once with Ann, once without.

    Ann smokes and is well. Each person is in one of the four groups, so one person changes all
    four counts together by at most 1. Both studies get the same noise: only Ann makes a difference.

    Parameters
    ----------
    people : int
        People in the study.
    epsilon : Decimal
        Budget of the four counts together.
    draw : int
        Names the noise.
    """
    smokers = round(SMOKERS * people)
    others = people - smokers
    ill, ill_others = round(RISK * smokers), round(RISK_OF_OTHERS * others)
    counts = np.array([ill, smokers - ill, ill_others, others - ill_others])
    with_ann, without_ann = (
        noisy_vector(counts - np.array([0, away, 0, 0]), 1, epsilon, draw).tolist() for away in (0, 1)
    )
    return Study(people, _risk(*with_ann[:2]), _risk(*without_ann[:2]), _risk(*with_ann[2:]))


def _risk(ill: int, well: int) -> float:
    """Share of the ill among noisy counts; none, if noise leaves nobody."""
    ill, well = max(0, ill), max(0, well)
    return ill / max(1, ill + well)
