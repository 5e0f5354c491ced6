"""What the lessons show: noise, neighbours, odds, budgets and attacks, on public numbers only.

Nothing here sees a data set that somebody uploaded, and nothing here touches a ledger. Noise
comes from the engine's own mechanisms with a seeded source: a demonstration, not a protection.
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
from dpcore.lessons.composition import Averages, Costs, averages, costs
from dpcore.lessons.histogram import AGES, PEOPLE, BothWays, both_ways
from dpcore.lessons.neighbours import GROUP, Neighbours, Person, neighbours
from dpcore.lessons.noise import COUNTS, PublicCount, margin, noise_chance, noisy_answers
from dpcore.lessons.odds import Odds, shown_chance, worst_odds
from dpcore.lessons.toy import ToyAnswer, ToyBudget, toy_cap

__all__ = [
    "AGES",
    "COUNTS",
    "GROUP",
    "PEOPLE",
    "Averages",
    "BothWays",
    "Costs",
    "Difference",
    "MembershipAttack",
    "Neighbours",
    "Odds",
    "Person",
    "PublicCount",
    "Reconstruction",
    "ToyAnswer",
    "ToyBudget",
    "averages",
    "both_ways",
    "ceiling",
    "costs",
    "difference_attack",
    "margin",
    "membership_attack",
    "neighbours",
    "noise_chance",
    "noisy_answers",
    "reconstruction_attack",
    "secrets",
    "shown_chance",
    "toy_cap",
    "worst_odds",
]
