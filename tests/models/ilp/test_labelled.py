"""A theory in the words of people, where a custodian gave columns labels: the same clauses, readable in every form."""

from __future__ import annotations

from copy import deepcopy
from decimal import Decimal
from typing import Any

import numpy as np

from dpcore.domain.encoding import encode_columns
from dpcore.domain.schemas.schema import Schema
from dpcore.models.ilp.language.clause import Clause, Variable
from dpcore.models.ilp.released.example import made_up_case
from dpcore.models.readable import readable
from dpcore.models.registry import LEARNERS
from dpcore.models.released import parse_model
from dpcore.released.release import Release, make_release
from tests.support.results.small_theories import theory_of
from tests.support.tables.small_relations import SCHEMA, TARGET

LABELS = {"age": "Age", "kind": "Kind of drug", "dose": "Dose", "value": "Measured value"}
ALIKE = Clause(variables=(Variable(table="drug", alike="kind"),))


def labelled(**tests: Any) -> Schema:
    """The small relational schema with labels and a unit, ``tests`` said of its table of tests."""
    content = deepcopy(SCHEMA)
    for table in (content, *content["children"]):
        for column in table["columns"]:
            column["label"] = LABELS.get(column["name"], "")
    content["columns"][1]["unit"] = "years"
    content["children"][1] |= tests
    return Schema.from_mapping(content)


def release_of(schema: Schema, *clauses: Clause) -> Release:
    model = theory_of(*clauses)
    return make_release("ilp", LEARNERS["ilp"].plan(schema, TARGET, Decimal(4), {}), model, secure=True)


def test_a_value_that_rows_share_is_of_the_column_by_its_label() -> None:
    shown = readable(release_of(labelled(), ALIKE))
    model = parse_model(shown)
    assert model.clauses[0].variables[0].alike == "Kind of drug"
    assert model.to_frame(shown.domain, shown.target)["clause"].tolist() == [1, "none"]
    case = made_up_case(model.clauses[0], shown.domain, shown.target)
    assert case["drug"]["Kind of drug"].duplicated().any()
    assert model.possible_groups(case, shown.domain) == (0,)


def test_made_up_rows_are_in_the_order_of_a_labelled_column() -> None:
    schema = labelled(keep="first", order_by="value")
    clause = Clause(variables=(Variable(table="test", least=3),))
    shown = readable(release_of(schema, clause))
    child = shown.domain.children[1]
    assert child.order_by == "Measured value"
    for seed in range(10):
        rows = made_up_case(clause, shown.domain, shown.target, seed)["test"]
        assert (np.diff(encode_columns(rows, child, ["Measured value"])["Measured value"]) >= 0).all()
        assert rows.columns.tolist() == ["patient_id", "Measured value", "ward"]
