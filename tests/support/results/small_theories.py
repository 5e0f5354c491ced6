"""Theories made by hand: any, and some about small trains."""

from __future__ import annotations

from decimal import Decimal
from typing import Any

from dpcore.domain.schemas.schema import Schema
from dpcore.models.ilp.language.atoms import bottom_atoms
from dpcore.models.ilp.language.clause import Clause, Variable
from dpcore.models.ilp.released.ilp_model import CoveredGroup, ILPModel
from dpcore.models.registry import get_learner
from dpcore.released.release import Release, make_release
from tests.support.tables.small_trains import SCHEMA, TARGET


def theory_of(*clauses: Clause, predicting: int = 9) -> ILPModel:
    """A theory with these clauses, of which the first so many predict."""
    shared: dict[str, Any] = {"noisy_counts": (3, 9), "estimates": (0.25, 0.75), "intervals": ((0.1, 0.4), (0.6, 0.9))}
    groups = [CoveredGroup(clause=clause, kept=place < predicting, **shared) for place, clause in enumerate(clauses)]
    return ILPModel(
        classes=("no", "yes"),
        positive=1,
        count_margin=4,
        clause_count=99,
        evaluation=None,
        groups=(*groups, CoveredGroup(clause=None, kept=False, **shared)),
    )


def release_of_one(variable: Variable, schema: Schema) -> Release:
    """A release whose one clause has one variable."""
    plan = get_learner("ilp").plan(schema, schema.targets[0], Decimal(1), {})
    kept, rest = theory_of(Clause(variables=(variable,))).groups
    numbers = {"noisy_counts": (9, 90), "estimates": (0.1, 0.9), "intervals": ((0.0, 0.2), (0.8, 1.0))}
    groups = tuple(group.model_copy(update=numbers) for group in (kept, rest))
    model = theory_of().model_copy(update={"groups": groups, "count_margin": 12, "clause_count": 9})
    return make_release("ilp", plan, model, secure=True, dataset_name="patients")


ATOMS = {atom.text(SCHEMA): atom for atom in bottom_atoms(SCHEMA, TARGET)}


def a_car(*conditions: str) -> Variable:
    """A car of which all of this holds."""
    return Variable(table="car", atoms=tuple(ATOMS[f"car: {text}"] for text in conditions))


KEPT = Clause(variables=(a_car("length = short", "weight > 3.5"),))
DROPPED = Clause(atoms=(ATOMS["year <= 1950"],))


def release_of(
    *groups: tuple[Clause | None, tuple[int, int], bool], schema: Schema = SCHEMA, parameters: Any = None, **more: Any
) -> Release:
    """A release with these clauses, noisy counts and whether they predict."""
    plan = get_learner("ilp").plan(schema, TARGET, Decimal(1), parameters or {})
    model = ILPModel.model_validate(
        {
            "classes": ["west", "east"],
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


BOTH = ((KEPT, (40, 310), True), (DROPPED, (77, 60), False), (None, (500, -4), False))
