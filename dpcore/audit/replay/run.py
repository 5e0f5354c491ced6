"""Many replays of every method, and what they say together."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from decimal import Decimal
from typing import Final

import numpy as np

from dpcore.audit.replay.compare import Replayed, replay
from dpcore.audit.replay.methods import METHODS, ReplayMethod
from dpcore.audit.replay.replayed_tables import random_neighbours, random_schema
from dpcore.audit.replay.witnesses import WITNESSES, Witness
from dpcore.domain.schemas.schema import Schema
from dpcore.errors import BudgetError, RequestError
from dpcore.models.registry import get_learner
from dpcore.released.plan import RunPlan

#: A method may refuse what is drawn for it; so many draws in a row it does not refuse.
_TRIES: Final = 200
#: Outputs that a witness is replayed with.
_OUTPUTS: Final = 4


@dataclass(frozen=True)
class Summary:
    """Replays of one method."""

    method: ReplayMethod
    configurations: int
    attained: float
    """Largest loss as a share of what the certificate claims, of a person learned from."""
    evaluated: float
    """The same of a person set aside, whom the evaluation alone sees; 0 if there was none."""
    violations: tuple[str, ...]
    """What is wrong, each with the seed that repeats it."""
    distance: float
    """Largest distance of the last states of Markov chains from their limits."""


def replay_all(count: int, seed: int = 0, family: str = "") -> Iterator[Summary]:
    """Replay about ``count`` random configurations, as many of each method.

    Parameters
    ----------
    family : str
        Name of one learner; empty for all.
    """
    chosen = [method for method in METHODS if family in ("", method.family)]
    each = max(1, -(-count // len(chosen)))
    for method in chosen:
        yield replay_method(method, range(seed, seed + each))


def replay_method(method: ReplayMethod, seeds: Sequence[int]) -> Summary:
    """Replay the witnesses of a method, and one random configuration for each seed."""
    outcomes = list(replays(method, seeds))
    return Summary(
        method,
        len(outcomes),
        max((own.attained for _, own, aside in outcomes if not aside), default=0.0),
        max((own.attained for _, own, aside in outcomes if aside), default=0.0),
        tuple(f"{what}: {own.violation}" for what, own, _ in outcomes if own.violation),
        max(own.distance for _, own, _ in outcomes),
    )


def replays(method: ReplayMethod, seeds: Sequence[int]) -> Iterator[tuple[str, Replayed, bool]]:
    """Each replay of a method: what repeats it, its outcome, and whether the person was set aside.

    Witnesses come first.
    """
    for number, witness in enumerate(WITNESSES):
        if (witness.family, witness.method) == (method.family, method.name):
            yield from ((f"witness {number}", own, False) for own in replay_witness(witness))
    for seed in seeds:
        yield f"seed {seed}", *replay_random(method, seed)


def replay_witness(witness: Witness) -> Iterator[Replayed]:
    """Replay a witness with several outputs, either table first."""
    learner, schema = get_learner(witness.family), witness.schema
    public = Decimal(witness.epsilon), dict(witness.chosen), Decimal(witness.delta)
    plan = learner.plan(schema, _target(schema), *public)
    tables = [rows.table(schema) for rows in witness.rows()]
    for seed in range(_OUTPUTS):
        for first, second in (tables, tables[::-1]):
            yield replay(learner, plan, first, second, seed, wild=True)


def replay_random(method: ReplayMethod, seed: int) -> tuple[Replayed, bool]:
    """Replay the configuration of a method that belongs to a seed.

    Returns
    -------
    (Replayed, bool)
        And whether the person that the tables differ in was set aside for the evaluation.
    """
    rng = method.generator(seed)
    plan = _random_plan(rng, method)
    rows = random_neighbours(rng, plan.schema)
    aside = bool(plan.parallel) and bool(rows[1].holdout[-1])
    first, second = (rows[place].table(plan.schema) for place in rng.permutation(2))
    wild, run = bool(rng.random() < 0.5), int(rng.integers(2**60))
    return replay(get_learner(method.family), plan, first, second, run, wild=wild), aside


def _random_plan(rng: np.random.Generator, method: ReplayMethod) -> RunPlan:
    """A plan that the learner accepts: some combinations it refuses, before it sees a record."""
    learner = get_learner(method.family)
    for _ in range(_TRIES):
        schema = random_schema(rng, method.shape)
        epsilon = Decimal(str(rng.choice(method.epsilons)))
        chosen = {name: values[int(rng.integers(len(values)))] for name, values in method.choices.items()}
        try:
            plan = learner.plan(schema, _target(schema), epsilon, chosen, Decimal(method.delta))
        except (RequestError, BudgetError):
            continue
        if plan.composed or method.delta == "0":
            return plan
    raise AssertionError(f"no random configuration of {method.name} is accepted")


def _target(schema: Schema) -> str:
    return schema.targets[0] if schema.targets else ""
