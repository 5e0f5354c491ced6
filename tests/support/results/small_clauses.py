"""Releases of relational rules with clauses and counts that are known."""

from __future__ import annotations

from decimal import Decimal
from typing import Any, Final

from dpcore.domain.schemas.schema import Schema
from dpcore.models.ilp.language.atoms import bottom_atoms
from dpcore.models.ilp.language.clause import Clause, Variable
from dpcore.models.ilp.released.ilp_model import ILPModel
from dpcore.models.registry import get_learner
from dpcore.released.release import Release, make_release
from tests.support.tables.small_trains import SCHEMA, TARGET

ATOMS: Final = {atom.text(SCHEMA): atom for atom in bottom_atoms(SCHEMA, TARGET)}


def a_car(*conditions: str) -> Variable:
    return Variable(table="car", atoms=tuple(ATOMS[f"car: {text}"] for text in conditions))


KEPT: Final = Clause(variables=(a_car("length = short", "weight > 3.5"),))
DROPPED: Final = Clause(atoms=(ATOMS["year <= 1950"],))
BOTH: Final = ((KEPT, (40, 310), True), (DROPPED, (77, 60), False), (None, (500, -4), False))


def release_of(
    *groups: tuple[Clause | None, tuple[int, int], bool],
    schema: Schema = SCHEMA,
    target: str = TARGET,
    parameters: Any = None,
    **more: Any,
) -> Release:
    """A release with these clauses, noisy counts and whether they predict."""
    plan = get_learner("ilp").plan(schema, target, Decimal(1), parameters or {})
    model = ILPModel.model_validate(
        {
            "classes": ["west", "east"] if target == TARGET else ["no", "yes"],
            "positive": 1,
            "count_margin": 12,
            "clause_count": 345,
            "evaluation": None,
            "groups": [
                {
                    "clause": clause and clause.model_dump(),
                    "noisy_counts": counts,
                    "estimates": [0.25, 0.75],
                    "intervals": [[0.2, 0.3], [0.7, 0.8]],
                    "kept": kept,
                }
                for clause, counts, kept in groups
            ],
        }
    )
    return make_release("ilp", plan, model, secure=True, **{"dataset_name": "small_trains", **more})


def release_of_one(variable: Variable, schema: Schema) -> Release:
    """A release whose one clause has one variable."""
    clause = Clause(variables=(variable,))
    return release_of((clause, (9, 90), True), (None, (9, 90), False), schema=schema, target="ill")
