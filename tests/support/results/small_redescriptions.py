"""Redescriptions made by hand, for what shows and reads them."""

from __future__ import annotations

from collections.abc import Sequence
from decimal import Decimal

import numpy as np
import pandas as pd

from dpcore.arrays import Ints
from dpcore.domain.conditions import Condition
from dpcore.domain.schemas.schema import Schema
from dpcore.models.redescriptions.released.redescription_model import RedescriptionModel
from dpcore.models.redescriptions.released.redescription_parameters import RedescriptionParameters
from dpcore.models.redescriptions.released.tree_pair import Tree, TreePair
from dpcore.privacy.budgets import BudgetSplit
from dpcore.released.plan import RunPlan
from dpcore.released.release import Release, make_release
from tests.support.tables.small_tables import ward

LEFT = ("diabetes_2008", "diabetes_2009", "<i>ward</i>", "age")
RIGHT = ("metformin", "insulin", "glucose")
SCHEMA = ward(
    {"name": "diabetes_2008", "type": "boolean", "view": "left"},
    {"name": "diabetes_2009", "type": "boolean", "view": "left"},
    {"name": "<i>ward</i>", "type": "categorical", "view": "left", "categories": ["<b>A</b>", "B & C", "D"]},
    {"name": "age", "type": "integer", "lower": 20, "upper": 100, "bins": 8, "unit": "years", "view": "left"},
    {"name": "metformin", "type": "boolean", "view": "right"},
    {"name": "insulin", "type": "boolean", "view": "right"},
    {
        "name": "glucose",
        "type": "real",
        "lower": 2,
        "upper": 30,
        "edges": [5.5, 7, 11],
        "unit": "mmol/L",
        "view": "right",
    },
    name="two sides",
    max_rows=5000,
)
#: The same where a person may have several rows.
SEVERAL = Schema.from_mapping(
    SCHEMA.model_dump(mode="json") | {"privacy_unit": {"column": "who", "max_rows_per_person": 3}}
)
#: People of the hand-made tables.
PEOPLE = 4000
SCALE = 2.0


def literal(column: str, first: int, last: int | None = None) -> Condition:
    """A condition on the cells of a column; ``yes`` of a yes/no column is cell 1."""
    return Condition(column=column, first=first, last=first if last is None else last)


ILL = literal("diabetes_2008", 1)
ILL_LATER = literal("diabetes_2009", 1)
WARD = literal("<i>ward</i>", 0)
YOUNG = literal("age", 0, 3)
TREATED = literal("metformin", 1)
INSULIN = literal("insulin", 1)
LOW_SUGAR = literal("glucose", 0, 1)


def tree(view: str, *splits: Condition) -> Tree:
    """A tree of 1 or 3 questions, the first at the root."""
    return Tree(view=view, splits=splits)  # type: ignore[arg-type]


def tree_pair(
    left: Tree, right: Tree, counts: Sequence[Sequence[int]], scale: float = SCALE, start: int = 0
) -> TreePair:
    """A pair with these noisy counts."""
    return TreePair(
        start=start,
        round=0,
        target=f"start {start + 1}",
        left=left,
        right=right,
        noisy_counts=tuple(map(tuple, counts)),
        count_scale=scale,
    )


def small_pairs() -> RedescriptionModel:
    """Two pairs of trees: the ill are treated; the old on a ward have high sugar, less clearly."""
    first = tree_pair(
        tree("left", ILL, ILL_LATER, ILL_LATER),
        tree("right", TREATED, INSULIN, INSULIN),
        [[310, 290, 12, 9], [150, 140, 20, 30], [180, 160, 25, 22], [20, -4, 31, 2605]],
    )
    second = tree_pair(
        tree("left", WARD, YOUNG, YOUNG),
        tree("right", LOW_SUGAR, INSULIN, INSULIN),
        [[11, 5, 90, 60], [14, 9, 420, 330], [600, 550, 70, 33], [700, 690, 210, 208]],
        start=1,
    )
    return RedescriptionModel(left_columns=LEFT, right_columns=RIGHT, pairs=(first, second))


def noisy_pairs() -> RedescriptionModel:
    """The same pairs of trees with so much noise that all that is found is below the suggested support."""
    model = small_pairs()
    pairs = tuple(pair.model_copy(update={"count_scale": 50 * SCALE}) for pair in model.pairs)
    return model.model_copy(update={"pairs": pairs})


def nothing_in_common() -> RedescriptionModel:
    """Both sides are independent, so nothing can be said."""
    pair = tree_pair(tree("left", ILL), tree("right", TREATED), [[1000, 1000], [1000, 1000]])
    return RedescriptionModel(left_columns=LEFT, right_columns=RIGHT, pairs=(pair,))


def two_sided_people(rows: int = 3000, seed: int = 0) -> pd.DataFrame:
    """Invented people: who is ill is treated, with few exceptions."""
    draw = np.random.default_rng(seed)
    ill = draw.random(rows) < 0.35
    treated = np.where(draw.random(rows) < 0.05, ~ill, ill)
    frame = pd.DataFrame(
        {
            "diabetes_2008": ill,
            "diabetes_2009": np.where(draw.random(rows) < 0.1, ~ill, ill),
            "<i>ward</i>": draw.choice(["<b>A</b>", "B & C", "D"], rows),
            "age": draw.integers(20, 101, rows),
            "metformin": treated,
            "insulin": draw.random(rows) < 0.2,
            "glucose": np.round(np.where(ill, 11, 5) + draw.normal(0, 1.5, rows), 1).clip(2, 30),
        }
    )
    booleans = frame.select_dtypes(bool).columns
    frame[booleans] = frame[booleans].replace({True: "yes", False: "no"})
    return frame


def many_columns(count: int = 24) -> Schema:
    """A schema with so many yes/no columns in each view."""
    names = [(f"{view}_{place}", view) for view in ("left", "right") for place in range(count)]
    columns = [{"name": name, "type": "boolean", "view": view} for name, view in names]
    return Schema.from_mapping({"name": "many", "max_rows": 100_000, "columns": columns})


def many_pairs(pairs: int, depth: int = 3, columns: int = 24, seed: int = 0) -> tuple[RedescriptionModel, Schema]:
    """Pairs of trees over different columns whose leaves mostly agree: a great deal to say."""
    draw, schema = np.random.default_rng(seed), many_columns(columns)
    made = tuple(
        tree_pair(
            _any_tree("left", depth, columns, draw),
            _any_tree("right", depth, columns, draw),
            _agreeing(2**depth, draw),
            scale=4.0,
            start=start,
        )
        for start in range(pairs)
    )
    return (
        RedescriptionModel(left_columns=schema.view("left"), right_columns=schema.view("right"), pairs=made),
        schema,
    )


def _any_tree(view: str, depth: int, columns: int, draw: np.random.Generator) -> Tree:
    """A tree that asks another column on every level."""
    asked = draw.permutation(columns)[:depth]
    splits = [literal(f"{view}_{asked[level]}", 1) for level in range(depth) for _ in range(2**level)]
    return tree(view, *splits)


def _agreeing(leaves: int, draw: np.random.Generator) -> list[list[int]]:
    """Counts that lie mostly on the diagonal, of very different size, with noise."""
    sizes = np.exp(draw.uniform(3, 9, leaves))
    agreeing = draw.uniform(0.5, 0.95, leaves)
    counts = np.outer(sizes * (1 - agreeing), np.full(leaves, 1 / leaves))
    counts += np.diag(sizes * agreeing)
    noise: Ints = draw.geometric(0.2, counts.shape) - draw.geometric(0.2, counts.shape)
    return (counts.astype(int) + noise).tolist()


def release_of(model: RedescriptionModel, schema: Schema = SCHEMA, dataset_id: str = "in-memory") -> Release:
    """A release that holds the model; its certificate says that its noise was seeded."""
    plan = RunPlan(
        schema=schema,
        target="",
        epsilon=Decimal(1),
        split=BudgetSplit.by_weights(Decimal(1), {"trees": 1, "estimates": 1}),
        parameters=RedescriptionParameters(left=model.left_columns, right=model.right_columns),
        guarantee="unconditional",
        sampler="lookahead",
        estimates_step="estimates",
    )
    return make_release("redescriptions", plan, model, secure=False, dataset_id=dataset_id)
