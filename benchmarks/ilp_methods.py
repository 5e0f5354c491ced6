"""The ways to learn relational rules that the suite compares."""

from __future__ import annotations

from collections.abc import Mapping
from decimal import Decimal
from typing import Any

from dpcore.data.table import PrivateTable
from dpcore.learning.learner import Run
from dpcore.models.ilp.released.ilp_model import ILPModel
from dpcore.models.registry import get_learner
from dpcore.privacy.randomness import SecureRandom

HOUSE, DEFAULTS = "house", "house, 20% for counts"
NO_PRIOR, STRICT = "house, no prior", "house, others count twice"
RELEVANCE, SHARE = "relevance-aware", "relevance-aware, by share"
NAIVE, NON_PRIVATE = "naive", "not private"
UNTOLD, ALIKE, EQUAL = "house, no weight told", "house, sides alike", "house, all weigh the same"
ROWS_ALONE, NON_PRIVATE_ROWS = "house, rows that exist", "not private, rows that exist"
METHODS: dict[str, Mapping[str, Any]] = {
    HOUSE: {"method": "noisy_max"},
    NO_PRIOR: {"method": "noisy_max", "length_prior": False},
    STRICT: {"method": "noisy_max", "negative_weight": 2},
    DEFAULTS: {"method": "noisy_max", "count_share": "0.2"},
    RELEVANCE: {"method": "relevance_aware", "criterion": "best"},
    SHARE: {"method": "relevance_aware", "criterion": "share"},
    NAIVE: {"method": "naive"},
    NON_PRIVATE: {"method": "noisy_max", "length_prior": False},
}
#: The same without what more may be said of rows.
ROWS: dict[str, Mapping[str, Any]] = {
    ROWS_ALONE: {"method": "noisy_max", "quantifiers": ("exists",)},
    NON_PRIVATE_ROWS: {**METHODS[NON_PRIVATE], "quantifiers": ("exists",)},
}
#: Where nobody says how rare a value is, whatever weight others are given: by default, always by noisy counts, never.
RARE: dict[str, Mapping[str, Any]] = {
    UNTOLD: {"method": "noisy_max", "positive_weight": 1},
    ALIKE: {"method": "noisy_max", "weigh_alike": True, "positive_weight": 1},
    EQUAL: {"method": "noisy_max", "weigh_alike": False, "positive_weight": 1},
}
#: The published methods with a criterion of deletion; the paper leaves it open.
REDUCTIONS = (RELEVANCE, SHARE)
EPSILON = Decimal(1)
#: So large that noise changes no count: the engine takes none larger.
_NO_NOISE = Decimal(1000)


def fitted(
    table: PrivateTable,
    method: str,
    settings: Mapping[str, Any],
    epsilon: Decimal = EPSILON,
) -> ILPModel:
    """The theory of one run on all records, with noise from the secure source."""
    learner = get_learner("ilp")
    [target] = table.schema.targets
    chosen = {"evaluate": False, **settings, **(METHODS | ROWS | RARE).get(method, {})}
    spent = _NO_NOISE if method in {NON_PRIVATE, NON_PRIVATE_ROWS} else epsilon
    plan = learner.plan(table.schema, target, spent, chosen)
    model: Any = learner.run(Run(table, plan, SecureRandom()))
    return model
