"""Relational rules over tables whose rows belong to rows of other tables."""

from __future__ import annotations

from typing import Any

import pandas as pd

from dpcore.data.ingest import ingest
from dpcore.domain.schema import Schema
from dpcore.models.ilp.language.atoms import Atom
from dpcore.models.ilp.language.clause import Clause, Variable
from dpcore.models.ilp.learning.coverage import clause_vector
from dpcore.models.ilp.released.model import CoveredGroup, ILPModel
from dpcore.privacy.randomness import SeededRandom
from dpcore.rehearsal.synthetic import synthetic_tables

SCHEMA = Schema.from_mapping(
    {
        "name": "clinic",
        "entity": "patient",
        "max_rows": 64,
        "privacy_unit": {"column": "who"},
        "columns": [{"name": "died", "type": "boolean", "target": True}],
        "children": [
            {
                "name": "stay",
                "row_key": "stay_id",
                "max_rows_per_person": 3,
                "columns": [{"name": "kind", "type": "categorical", "categories": ["planned", "emergency"]}],
            },
            {
                "name": "lab",
                "parent": "stay",
                "parent_key": "of",
                "max_rows_per_person": 9,
                "columns": [{"name": "value", "type": "integer", "lower": 0, "upper": 9, "edges": [4]}],
            },
        ],
    }
)
HIGH = Atom(table="lab", column="value", cells=(1,))


def model_of(clause: Clause) -> ILPModel:
    group: dict[str, Any] = {"noisy_counts": (1, 1), "estimates": (0.5, 0.5), "intervals": ((0.0, 1.0),) * 2}
    groups = (CoveredGroup(clause=clause, kept=True, **group), CoveredGroup(clause=None, kept=False, **group))
    return ILPModel(classes=("no", "yes"), positive=1, groups=groups, count_margin=1, clause_count=2, evaluation=None)


def test_rows_that_belong_to_no_row_count_neither_in_learning_nor_in_prediction() -> None:
    main = pd.DataFrame({"who": [1, 2, 3], "died": ["yes", "no", "no"]})
    tables = {
        "stay": pd.DataFrame({"who": [1, 2], "stay_id": [7, 7], "kind": "planned"}),
        "lab": pd.DataFrame({"who": [1, 2, 3, 2], "of": [7, 8, 7, None], "value": 9}),
    }
    clause = Clause(variables=(Variable(table="lab", atoms=(HIGH,)),))
    [part] = ingest([main], SCHEMA, SeededRandom(0), {name: [frame] for name, frame in tables.items()}).partitions
    assert sum(int(word).bit_count() for word in clause_vector(part, clause)) == 1
    model = model_of(clause)
    assert model.first_clause({"patient": main, **tables}, SCHEMA).tolist() == [0, 1, 1]
    # Where keys of rows are not given, as of one case, nobody knows what belongs to what.
    unlinked = {"stay": tables["stay"].drop(columns="stay_id"), "lab": tables["lab"]}
    assert model.first_clause({"patient": main, **unlinked}, SCHEMA).tolist() == [0, 0, 0]


def test_invented_tables_can_be_taken_in() -> None:
    frame, children = synthetic_tables(SCHEMA, "died", 30, 1)
    table = ingest([frame], SCHEMA, SeededRandom(0), {name: [rows] for name, rows in children.items()})
    _, owners = table.public_child("lab")
    assert len(owners) > 0
