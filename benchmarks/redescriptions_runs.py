"""The methods that the suite of redescriptions compares, and what one run of each yields."""

from __future__ import annotations

import time
from collections.abc import Mapping
from dataclasses import dataclass
from decimal import Decimal
from typing import Any, Self

import numpy as np

from benchmarks.redescriptions_data import CMS, TwoViews
from benchmarks.redescriptions_greedy import greedy_model
from dpcore.arrays import Flags, Floats
from dpcore.learning.learner import Run as LearnerRun
from dpcore.models.redescriptions.released.extraction import Constraints
from dpcore.models.redescriptions.released.reading import exact_agreement
from dpcore.models.redescriptions.released.redescription_model import RedescriptionModel
from dpcore.models.redescriptions.released.redescription_set import Redescription
from dpcore.models.registry import get_learner
from dpcore.privacy.randomness import SecureRandom

HOUSE, LOOKAHEAD, GREEDY = "exact pairs", "exact lookahead", "greedy, not private"
EXPM, MCMC, PAIR = "AltExpM, 4 starts", "AltMCMC, 4 starts", "MCMCTreePair"
EXPM_ROUNDS, MCMC_ROUNDS = "AltExpM, 4 rounds", "AltMCMC, 4 rounds"
#: Parameters of the published methods: trees of depth 4, four starts or four rounds.
PUBLISHED: dict[str, Mapping[str, Any]] = {
    EXPM: {"method": "alt_expm", "depth": 4, "starts": 4, "rounds": 1},
    EXPM_ROUNDS: {"method": "alt_expm", "depth": 4, "starts": 1, "rounds": 4},
    MCMC: {"method": "alt_mcmc", "depth": 4, "starts": 4, "rounds": 1},
    MCMC_ROUNDS: {"method": "alt_mcmc", "depth": 4, "starts": 1, "rounds": 4},
    PAIR: {"method": "mcmc_tree_pair", "depth": 4, "starts": 4, "tree_share": 0.1},
    "MCMCTreePair, balanced": {"method": "mcmc_tree_pair", "depth": 4, "starts": 4, "tree_share": 0.5},
    "MCMCTreePair, pool": {"method": "mcmc_tree_pair", "depth": 4, "starts": 4, "tree_share": 0.1, "sampler": "pool"},
    "MCMCTreePair, sensitivity 1": {
        "method": "mcmc_tree_pair",
        "depth": 4,
        "starts": 4,
        "tree_share": 0.1,
        "sensitivity": "published",
    },
}
#: Parameters of our methods; the rest stays at the house defaults.
PRIVATE: dict[str, Mapping[str, Any]] = {
    HOUSE: {},
    LOOKAHEAD: {"method": "lookahead"},
    **PUBLISHED,
}

USUAL, AS_PUBLISHED = "as usual", "all three: as published"
#: How a release is read; all but the first on one data set only.
READINGS: dict[str, Constraints] = {
    USUAL: Constraints(),
    "no floor above chance": Constraints(min_above_chance=0),
    "p-values for sampling alone": Constraints(noise_aware=False),
    "judged by the Jaccard index": Constraints(score="jaccard"),
    AS_PUBLISHED: Constraints(min_above_chance=0, noise_aware=False, score="jaccard"),
}
_READ_AGAIN = {HOUSE: tuple(READINGS), **dict.fromkeys((EXPM, MCMC, PAIR), (USUAL, AS_PUBLISHED))}
_READ_AGAIN_AT = (1.0, 0.1)
#: A planted redescription is recovered if, on both sides, its people and those of one that was
#: found have at least this Jaccard index.
RECOVERED = 0.8


@dataclass(frozen=True)
class Reading:
    """Redescriptions of one release, beside the truth: arrays of shape (n_found,).

    Attributes
    ----------
    noisy, exact : array
        Jaccard indices.
    p_value : array
        Exact.
    support : array
        Noisy.
    held : bool array
        Whether the interval of the Jaccard index holds the exact one.
    suggested : int
        Support below which the reader is told to prune.
    """

    noisy: Floats
    exact: Floats
    p_value: Floats
    support: Floats
    held: Flags
    suggested: int

    @classmethod
    def of(cls, model: RedescriptionModel, data: TwoViews, constraints: Constraints) -> Self:
        """Read a release of public data."""
        said = model.extract(data.schema, constraints)
        exact = exact_agreement([data.counts(pair) for pair in model.pairs], said.found)
        low, high = np.array([item.interval for item in said.found]).reshape(-1, 2).T
        true = np.array([item.jaccard for item in exact], dtype=np.float64)
        return cls(
            noisy=np.array([item.jaccard for item in said.found], dtype=np.float64),
            exact=true,
            p_value=np.array([item.p_value for item in exact], dtype=np.float64),
            support=np.array([item.support for item in said.found], dtype=np.float64),
            held=(low <= true) & (true <= high),
            suggested=said.suggested_support,
        )

    def kept(self, support: float | None = None) -> Flags:
        """Those with at least this noisy support; ``None``: the suggested one."""
        return self.support >= (self.suggested if support is None else support)


@dataclass(frozen=True)
class Run:
    """One run of one method.

    Attributes
    ----------
    epsilon : float or None
        ``None`` without privacy.
    seconds : float
        Of planning, running and the first reading.
    readings : mapping
        By the names in :data:`READINGS`.
    recovered : int
        Planted redescriptions that are among those kept at the suggested support.
    """

    method: str
    epsilon: float | None
    seconds: float
    readings: Mapping[str, Reading]
    recovered: int


def run_once(data: TwoViews, method: str, epsilon: float | None) -> Run:
    """Run a method, with noise from the secure source, and look at what it says."""
    model, seconds = released(data, method, epsilon)
    again = data.name == CMS and epsilon in _READ_AGAIN_AT
    names = _READ_AGAIN.get(method, (USUAL,)) if again else (USUAL,)
    readings = {name: Reading.of(model, data, READINGS[name]) for name in names}
    return Run(method, epsilon, seconds, readings, recovered(model, data))


def released(data: TwoViews, method: str, epsilon: float | None) -> tuple[RedescriptionModel, float]:
    """What a method releases, and the seconds until it can be read."""
    learner = get_learner("redescriptions")
    start = time.perf_counter()
    if epsilon is None:
        model = greedy_model(data)
    else:
        plan = learner.plan(data.schema, "", Decimal(repr(epsilon)), PRIVATE[method])
        model = learner.run(LearnerRun(data.table, plan, SecureRandom()))  # type: ignore[assignment]
    model.extract(data.schema)
    return model, time.perf_counter() - start


def recovered(model: RedescriptionModel, data: TwoViews) -> int:
    """How many planted redescriptions are kept at the suggested support."""
    if not data.planted:
        return 0
    said = model.extract(data.schema)
    sides = [_members(model, data, item) for item in said.pruned(said.suggested_support)]
    return sum(any(item.agreement(data.frame, *side) >= RECOVERED for side in sides) for item in data.planted)


def _members(model: RedescriptionModel, data: TwoViews, item: Redescription) -> tuple[Flags, Flags]:
    """People for whom the left side holds, and the right side."""
    pair = model.pairs[item.pair]
    return (
        np.isin(data.leaves(pair.left), item.left_leaves),
        np.isin(data.leaves(pair.right), item.right_leaves),
    )
