"""One replay: a learner on a table and on its neighbour."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Final

from pydantic import BaseModel

from dpcore.audit.replay.loss import ROUNDING, Loss
from dpcore.audit.replay.surroundings import Surroundings
from dpcore.audit.replay.tape import DepartureError, Forced, Recording, pairs
from dpcore.data.table import PrivateTable
from dpcore.learning.learner import Learner, Run
from dpcore.released.plan import RunPlan
from dpcore.released.release import Certificate, make_release

#: Total variation distance from its limit at which a chain counts as converged.
CONVERGED: Final = 1e-6


@dataclass(frozen=True)
class Replayed:
    """Outcome of one replay."""

    attained: float
    """Loss as a share of the epsilon that the certificate claims; of a run that composes by rho, as a share of that, if
    it is more."""
    violation: str = ""
    """What is wrong, for a developer; empty if nothing is."""
    distance: float = 0.0
    """How far the last states of its Markov chains are from their limits."""


def replay(
    learner: Learner, plan: RunPlan, first: PrivateTable, second: PrivateTable, seed: int, *, wild: bool = False
) -> Replayed:
    """Run on the first table, then on the second with all outputs forced, and compare.

    Parameters
    ----------
    wild : bool
        See :class:`dpcore.audit.replay.tape.Recording`.
    """
    recorded = Recording(seed, wild=wild)
    around = Surroundings(), Surroundings()
    try:
        with around[0].watched():
            model = learner.run(Run(first, plan, recorded, recorded.tick))
        with around[1].watched():
            again, forced = _forced(learner, plan, second, recorded)
        if around[0].differ(around[1]):  # Perhaps something was loaded or compiled that stays so: once more.
            around = Surroundings(), around[1]
            with around[0].watched():
                _forced(learner, plan, first, recorded)
    except DepartureError as departure:
        return Replayed(math.inf, str(departure))
    except Exception as error:  # noqa: BLE001 - whatever it is, the budget would be lost
        return Replayed(math.inf, f"a run failed: {error!r}")
    if model.model_dump_json() != again.model_dump_json():
        return Replayed(math.inf, "the release differs though every mechanism's output agrees")
    if channels := around[0].differ(around[1]):
        return Replayed(math.inf, f"a run tells of records by its {channels}")
    certificate = make_release(learner.name, plan, model, secure=recorded.secure).certificate
    loss = Loss.along(pairs(recorded.events, forced.events))
    rows = 1 if learner.built_for_people else plan.schema.privacy_unit.max_rows_per_person
    judged = _judged(loss, certificate, rows)
    if loss.walks:
        return _walked(judged, loss, certificate)
    return judged if plan.rho is None else _composed(judged, loss.rho, plan)


def _forced(learner: Learner, plan: RunPlan, table: PrivateTable, recorded: Recording) -> tuple[BaseModel, Forced]:
    """A run with all outputs of another, to the end."""
    forced = Forced(recorded.events)
    model = learner.run(Run(table, plan, forced, forced.tick))
    forced.finish()
    return model, forced


def _judged(loss: Loss, certificate: Certificate, rows: int) -> Replayed:
    """Hold a loss against what was promised to a person, who has so many of the rows that mechanisms are built for."""
    epsilon, delta = float(certificate.epsilon), float(certificate.delta)
    attained, kept = loss.epsilon_at(delta) / epsilon, loss.kept / rows
    violation = ""
    if not loss.holds(epsilon, delta):
        violation = f"the loss is {attained:.4f} times what the certificate claims"
    elif kept > 1 + ROUNDING:
        violation = f"a mechanism costs {kept:.4f} times what it was built for"
    return Replayed(attained, violation)


def _walked(judged: Replayed, loss: Loss, certificate: Certificate) -> Replayed:
    """Hold Markov chains to the condition of their certificate: that they have converged."""
    violation = (
        f"after all steps a chain is {loss.distance:.2g} from its limit, and its last state has "
        f"a delta of {loss.walked(float(certificate.epsilon)):.2g}"
        if loss.distance > CONVERGED
        else ""
    )
    return Replayed(judged.attained, judged.violation or violation, loss.distance)


def _composed(judged: Replayed, rho: float, plan: RunPlan) -> Replayed:
    """Hold the loss in zero-concentrated DP against what an account is charged for the run."""
    share = rho / float(plan.loss.rho)
    violation = f"the run costs {share:.4f} times the rho that it is charged for" if share > 1 + ROUNDING else ""
    return Replayed(max(judged.attained, share) if plan.composed else judged.attained, judged.violation or violation)
