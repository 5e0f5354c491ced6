"""How much a run of relational rules has to do, from its plan. Figures as measured by ``benchmarks costs``."""

from __future__ import annotations

from dpcore.learning.workload import table_bytes, words_of
from dpcore.models.ilp.language.ilp_parameters import ILPSettings
from dpcore.models.ilp.language.lattice import build_lattice
from dpcore.models.ilp.learning.folding import fold_work
from dpcore.models.ilp.learning.nesting import nested_slots, nested_work
from dpcore.released.plan import RunPlan
from dpcore.released.workload import Work, Workload

#: Words of the same price as a word of a clause, of a slot of a factor, and of an atom while it is read.
_CLAUSE, _SLOT, _ATOM = 8.0, 8.0, 300.0
#: Calls of a clause that is counted with noise, of one of the lattice, and of one that is chosen.
_COUNTED, _LISTED, _CHOSEN = 0.02, 0.015, 20.0


def ilp_workload(plan: RunPlan) -> Workload:
    """All work of relational rules."""
    parameters: ILPSettings = plan.parameters
    schema, words = plan.schema, words_of(plan.schema)
    lattice = build_lattice(schema, plan.target, parameters)
    factors = lattice.factors
    slots = dict(zip(factors.tables, factors.slots, strict=True))
    folded = fold_work(factors) + nested_work(lattice.atoms, slots)
    atoms = sum(slots[atom.table] for atom in lattice.conditions)
    held = sum(slots[atom.table] for atom in lattice.atoms) + nested_slots(lattice.atoms, slots)
    many = len(lattice) * parameters.clauses
    noisy = many if parameters.method != "noisy_max" else 0
    choosing = Work(
        words=words * (_CLAUSE * many + _SLOT * folded + _ATOM * atoms),
        draws=2 * noisy,
        calls=_COUNTED * noisy + _LISTED * many + _CHOSEN * parameters.clauses,
    )
    steps = {"choosing clauses": choosing, "counting with noise": Work(calls=130)}
    return Workload(steps, table_bytes(schema) + 8 * words * (2 * len(factors) + held) + 32 * len(lattice))
