"""Hospital patients come back as the planted theory says, whichever of their rows are kept."""

from __future__ import annotations

import numpy as np
import pytest

from dpcore.data.building.ingest import frame_chunks, ingest
from dpcore.demo.hospital import PATIENTS, PLANTED, make_hospital
from dpcore.demo.theories import PlantedClause, Unit
from dpcore.privacy.randomness import SeededRandom
from tests.oracles.theories_oracle import every_record
from tests.support.rows import for_each

#: Six standard errors: a correct generator leaves this band with probability below 1e-8.
STANDARD_ERRORS = 6
BLOOD, PAIN = ("warfarin", "apixaban"), ("ibuprofen", "diclofenac")
PLAIN = [
    ([], [("prescription", [("drug", "in", drugs)], False) for drugs in (BLOOD, PAIN)]),
    (
        [],
        [
            ("diagnosis", [("code", "in", ("N17", "N18"))], False),
            ("measurement", [("test", "=", "creatinine"), ("result", "=", "high")], False),
        ],
    ),
    (
        [("age", ">", 75)],
        [
            (
                "diagnosis",
                [("code", "in", ("I21", "I25", "I48", "I50")), ("status", "=", "acute")],
                False,
            )
        ],
    ),
]


@pytest.fixture(scope="module")
def demo():
    return make_hospital()


@pytest.fixture(scope="module")
def table(demo):
    children = {name: [rows] for name, rows in demo.children.items()}
    return ingest(frame_chunks(demo.frame), demo.schema, SeededRandom(1), children)


def test_theory_is_read_alike_by_a_naive_oracle(demo):
    some = demo.frame[:4000]
    rows = {name: table[table["patient_id"].isin(some["patient_id"])] for name, table in demo.children.items()}
    wanted = every_record(PLAIN, some, "patient_id", rows)
    assert 1000 < sum(wanted) < 3000
    assert PLANTED.holds(demo.frame, demo.children)[:4000].tolist() == wanted


def test_patients_come_back_with_the_planted_chances(demo):
    held = PLANTED.holds(demo.frame, demo.children)
    back = demo.frame["readmitted"].to_numpy()
    assert len(back) == PATIENTS
    assert 0.25 < back.mean() < 0.45
    for flags, chance in ((held, 0.75), (~held, 0.10)):
        error = np.sqrt(chance * (1 - chance) / flags.sum())
        assert abs(back[flags].mean() - chance) < STANDARD_ERRORS * error
    for clause in PLANTED.clauses:
        covered = clause.holds(demo.frame, "patient_id", demo.children)
        error = np.sqrt(0.75 * 0.25 / covered.sum())
        assert abs(back[covered].mean() - 0.75) < STANDARD_ERRORS * error


def parts(clause):
    """Clauses that leave out one condition of a clause, or all but one unit or condition."""
    for position in range(len(clause.conditions)):
        kept = clause.conditions[:position] + clause.conditions[position + 1 :]
        yield PlantedClause(kept, clause.units)
    for place, unit in enumerate(clause.units):
        others = clause.units[:place] + clause.units[place + 1 :]
        yield PlantedClause(clause.conditions, others)
        for position in range(len(unit.conditions)):
            rest = unit.conditions[:position] + unit.conditions[position + 1 :]
            yield PlantedClause(clause.conditions, (*others, Unit(unit.table, rest)))


@for_each("clause", PLANTED.clauses)
def test_clauses_are_common_and_better_than_what_leaves_a_condition_out(demo, clause):
    back = demo.frame["readmitted"].to_numpy()

    def gain(held):
        return (2 * back[held].astype(int) - 1).sum() / len(back)

    covered = clause.holds(demo.frame, "patient_id", demo.children)
    assert covered.mean() > 0.06
    assert len(list(parts(clause))) >= 3
    for part in parts(clause):
        held = part.holds(demo.frame, "patient_id", demo.children)
        assert gain(held) < gain(covered) - 0.01
        assert back[held].mean() < 0.65


def test_what_is_kept_of_a_patient_decides_nothing(demo, table):
    kept = table.public_frame()
    kept["patient_id"] = np.arange(len(kept))
    children = {}
    for child in demo.schema.children:
        rows, owner = table.public_child(child.name)
        children[child.name] = rows.assign(patient_id=owner)
    for clause in PLANTED.clauses:
        before = clause.holds(demo.frame, "patient_id", demo.children).sum()
        assert clause.holds(kept, "patient_id", children).sum() == before
