"""Whether an analyst learns from Markov chains who is in a private data set.

One condition that a single person meets, and at most one rule: the chain moves between the list with the rule
and the one without. If it has not converged, or never does, where it ends tells whether the person is there.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import suppress
from decimal import Decimal
from hashlib import sha256
from pathlib import Path
from tempfile import TemporaryDirectory

import pandas as pd

from dpcore.attacks.result import AttackResult
from dpcore.domain.schemas.schema import Schema
from dpcore.errors import BudgetError
from dpcore.service import Service
from dpcore.workspace.database.database import default_url, open_database
from dpcore.workspace.ledger.ledger import Ledger
from dpcore.workspace.ledger.requests import RunRequest
from dpcore.workspace.people.users import User

_BUDGET, _DELTA, _EPSILON = Decimal(1), Decimal("1e-6"), Decimal("0.02")
_ANALYST = User("analyst@example.org", frozenset({"analyst"}))
_SCHEMA = {
    "name": "clinic",
    "max_rows": 500,
    "columns": [
        {"name": "ill", "type": "boolean", "target": True},
        {"name": "blood", "type": "categorical", "categories": ["usual", "rare"]},
        {"name": "place", "type": "categorical", "categories": ["town", "island"]},
    ],
}
_GIVEN = {"antecedents": "given", "given": ["blood = rare and place = island"], "max_rules": 1}
_SIDES = {"left": ["blood"], "right": ["place"], "depth": 1, "starts": 1}
#: Every way to a guarantee that rests on convergence.
_WAYS = (
    ("rule_list", _GIVEN | {"sampler": "mcmc"}),
    ("redescriptions", _SIDES | {"method": "alt_mcmc", "rounds": 1}),
    ("redescriptions", _SIDES | {"method": "mcmc_tree_pair"}),
)


def chain_attack(runs: int = 12, *, allowed: bool = False) -> AttackResult:
    """Ask for runs of every kind of chain, with the person and without.

    Parameters
    ----------
    runs : int
        Of each kind, in either world.
    allowed : bool
        Whether the custodian allows them: then the attack must be told from a failure.
    """
    accepted = {world: list(_world(world, runs, allowed)) for world in (False, True)}
    taken = [kept for results in accepted.values() for kept in results]
    seen = f"{len(taken)} of {2 * runs * len(_WAYS)} runs accepted"
    for world, told in ((False, "without"), (True, "with")):
        rules = [kept for kept in accepted[world] if kept is not None]
        seen += f"; rule kept {sum(rules)} of {len(rules)} times {told} the person" if rules else ""
    tried = f"{runs} runs of each of {len(_WAYS)} chains at ε = {_EPSILON} each, asked of service and ledger"
    return AttackResult("membership by Markov chains", tried, seen, bool(taken))


def _world(there: bool, runs: int, allowed: bool) -> Iterator[bool | None]:
    """For each run that was accepted, whether the rule was kept; ``None`` where there is none."""
    frame = pd.DataFrame({"ill": ["yes", "no"] * 30, "blood": ["usual", "rare"] * 30, "place": ["island", "town"] * 30})
    if there:
        frame.loc[len(frame)] = ["yes", "rare", "island"]
    with TemporaryDirectory() as folder, Service(Path(folder), workers=0) as service:
        dataset = service.add_dataset(frame, Schema.from_mapping(_SCHEMA), budget=_BUDGET, delta=_DELTA).id
        if allowed:
            service.allow_conditional(dataset, True, note="to see the attack")
        ledger = Ledger(open_database(default_url(Path(folder).resolve())))
        for algorithm, parameters in _WAYS:
            target = "ill" if algorithm == "rule_list" else ""
            request = RunRequest(
                dataset_id=dataset, algorithm=algorithm, target=target, epsilon=_EPSILON, parameters=parameters
            )
            for number in range(runs):
                yield from _ask(service.acting(_ANALYST), ledger, request, f"{parameters} {number}")


def _ask(analyst: Service, ledger: Ledger, request: RunRequest, nonce: str) -> Iterator[bool | None]:
    """Ask the service for a run and, if it refuses, the ledger behind it; nothing if both refuse."""
    nonce = sha256(nonce.encode()).hexdigest()
    try:
        found = analyst.run(analyst.submit(request, nonce)).release_id
    except BudgetError:
        loss = analyst.quote(request).plan.loss
        with suppress(BudgetError):
            ledger.reserve(request.dataset_id, _ANALYST.name, loss, nonce, "hash")
            yield None
        return
    rules = analyst.release(found).model.get("rules") if found else None
    yield None if rules is None else len(rules) > 1
