"""What the lessons show: noise, neighbours, odds, budgets and attacks, on public numbers only.

Nothing here sees a data set that somebody uploaded, and nothing here touches a ledger. Noise comes
from the engine's own mechanisms: in lessons with a seed, so that everybody sees the same; in a class
room from the system's source, so that everybody's is another.
"""

from __future__ import annotations

from dpcore.lessons.attacks import (
    Difference,
    MembershipAttack,
    Reconstruction,
    ceiling,
    difference_attack,
    membership_attack,
    reconstruction_attack,
    secrets,
)
from dpcore.lessons.coin import Survey, Toss, coin_epsilon, estimate, estimate_margin, survey, toss
from dpcore.lessons.composition import Averages, Shares, answered, averages, shares
from dpcore.lessons.definition import SetChances, set_chances
from dpcore.lessons.delta import DeltaExample, calibrated
from dpcore.lessons.histogram import AGES, PEOPLE, BothWays, both_ways
from dpcore.lessons.limits import RISK, RISK_BEFORE, Study, study
from dpcore.lessons.neighbours import GROUP, Neighbours, Person, neighbours
from dpcore.lessons.noise import COUNTS, PublicCount, margin, noise_chance, noisy_answers
from dpcore.lessons.odds import Odds, shown_chance, worst_odds
from dpcore.lessons.pooled_answers import ClassAnswer, PooledAnswers, class_cost, pool_answers
from dpcore.lessons.sensitivity import LONGEST_STAY, STAYS, ClampedTotal, clamped_total
from dpcore.lessons.toy import ToyAnswer, ToyBudget, toy_cap

__all__ = [
    "AGES",
    "COUNTS",
    "GROUP",
    "LONGEST_STAY",
    "PEOPLE",
    "RISK",
    "RISK_BEFORE",
    "STAYS",
    "Averages",
    "BothWays",
    "ClampedTotal",
    "ClassAnswer",
    "DeltaExample",
    "Difference",
    "MembershipAttack",
    "Neighbours",
    "Odds",
    "Person",
    "PooledAnswers",
    "PublicCount",
    "Reconstruction",
    "SetChances",
    "Shares",
    "Study",
    "Survey",
    "Toss",
    "ToyAnswer",
    "ToyBudget",
    "answered",
    "averages",
    "both_ways",
    "calibrated",
    "ceiling",
    "clamped_total",
    "class_cost",
    "coin_epsilon",
    "difference_attack",
    "estimate",
    "estimate_margin",
    "margin",
    "membership_attack",
    "neighbours",
    "noise_chance",
    "noisy_answers",
    "pool_answers",
    "reconstruction_attack",
    "secrets",
    "set_chances",
    "shares",
    "shown_chance",
    "study",
    "survey",
    "toss",
    "toy_cap",
    "worst_odds",
]
