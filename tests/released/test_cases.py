"""A case with values that are not known: what may hold is what holds for some completion."""

from __future__ import annotations

from itertools import product

import numpy as np

from dpcore.domain.conditions import Condition
from dpcore.released.cases import first_possible, possible_cells
from dpcore.released.evidence import Records
from tests.support.rows import for_each
from tests.support.tables.small_tables import ward
from tests.support.workspaces.fake_learner import small_frame, small_schema

SCHEMA = ward(
    {"name": "age", "type": "integer", "lower": 0, "upper": 100, "edges": [30, 60]},
    {"name": "sex", "type": "categorical", "categories": ["f", "m"]},
    {"name": "ill", "type": "boolean", "target": True},
    name="cases",
    max_rows=10,
)
COLUMNS = ("age", "sex", "ill")
SIZES = {name: len(SCHEMA.column(name).cells) for name in COLUMNS}


def test_a_known_value_has_one_cell_and_another_any():
    cells = possible_cells({"age": 45, "sex": None}, SCHEMA, ["age", "sex", "age"])
    assert {name: sorted(own) for name, own in cells.items()} == {"age": [1], "sex": list(range(SIZES["sex"]))}
    missing = SCHEMA.column("age").cells.index("(missing)")
    assert possible_cells({"age": ""}, SCHEMA, ["age"])["age"] == {missing}
    assert len(possible_cells({"age": float("nan")}, SCHEMA, ["age"])["age"]) == SIZES["age"]
    assert possible_cells({"age": 3}, SCHEMA, []) == {}


def first(rules, case):
    return next((i for i, rule in enumerate(rules) if all(c.holds(case[c.column]) for c in rule)), None)


@for_each("seed", range(40))
def test_exactly_the_rules_that_come_first_for_some_completion_are_possible(seed):
    draw = np.random.default_rng(seed)

    def condition():
        name = str(draw.choice(COLUMNS))
        low, high = sorted(int(x) for x in draw.integers(0, SIZES[name], 2))
        return Condition(column=name, first=low, last=high)

    rules = [[condition() for _ in range(draw.integers(1, 4))] for _ in range(6)] + [[]]
    box = {name: frozenset(draw.choice(SIZES[name], draw.integers(1, SIZES[name] + 1)).tolist()) for name in COLUMNS}
    completions = (dict(zip(COLUMNS, cells, strict=True)) for cells in product(*(box[name] for name in COLUMNS)))
    assert first_possible(box, rules) == tuple(sorted({first(rules, case) for case in completions}))


def test_codes_are_those_of_the_model_that_asks_also_when_others_are_gone() -> None:
    schema = small_schema()
    records = Records(schema, {schema.entity: small_frame()})
    found = [records.once(object(), lambda n=n: np.array([n])) for n in range(5)]
    assert np.concatenate(found).tolist() == [0, 1, 2, 3, 4]
