"""Which rows of a case a clause speaks of."""

from __future__ import annotations

import pandas as pd

from dpcore.domain.schemas.schema import Schema
from dpcore.models.ilp.language.atoms import Atom
from dpcore.models.ilp.language.clause import Clause, Variable
from dpcore.models.ilp.released.fulfilled import fulfilling_rows
from tests.support.rows import for_each

SCHEMA = Schema.from_mapping(
    {
        "name": "stays",
        "entity": "person",
        "max_rows": 100,
        "privacy_unit": {"column": "id", "max_rows_per_person": 1},
        "columns": [{"name": "ill", "type": "boolean", "target": True}],
        "children": [
            {
                "name": "stay",
                "key": "id",
                "max_rows_per_person": 5,
                "columns": [{"name": "ward", "type": "categorical", "categories": ["a", "b", "c"]}],
            }
        ],
    }
)
TABLES = {"stay": pd.DataFrame({"ward": ["a", "b", "a", None, "c", "b"]})}


def ward(*cells: int) -> tuple[Atom, ...]:
    return (Atom(table="stay", column="ward", cells=cells),)


@for_each(
    ("variable", "rows"),
    [
        (Variable(table="stay", atoms=ward(0)), [0, 2]),
        (Variable(table="stay", atoms=ward(0), least=2), [0, 2]),
        (Variable(table="stay"), [0, 1, 2, 3, 4, 5]),
        (Variable(table="stay", atoms=ward(1), row="last"), [5]),
        (Variable(table="stay", atoms=ward(1), row="first"), []),
        (Variable(table="stay", alike="ward"), [0, 1, 2, 5]),
        (Variable(table="stay", alike="ward", atoms=ward(1, 2)), [1, 5]),
        (Variable(table="stay", atoms=ward(0), later=ward(2)), [0, 2, 4]),
        (Variable(table="stay", atoms=ward(2), later=ward(0)), []),
    ],
)
def test_rows_that_a_clause_speaks_of_are_marked(variable, rows):
    found = fulfilling_rows(Clause(variables=(variable,)), SCHEMA, TABLES)["stay"]
    assert found.nonzero()[0].tolist() == rows
