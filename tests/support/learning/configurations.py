"""Random configurations of every family: schema, people, learner, target, parameters, epsilon.

Everything is a function of a ``random.Random``, so a seed repeats it. Parameters are read off
the pydantic models, so that a new one is drawn without being named here; a configuration is
valid by itself, but a plan may still refuse it in one sentence.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from decimal import Decimal
from itertools import combinations
from random import Random
from typing import Any

import numpy as np
import pytest
from hypothesis import strategies as st
from pydantic import BaseModel, ValidationError

from dpcore.data.partition import ChildRecords
from dpcore.data.table import PrivateTable
from dpcore.domain.columns import NumericColumn
from dpcore.domain.conditions import cell_conditions, cut_text, threshold_conditions
from dpcore.domain.hierarchies import levels_above
from dpcore.domain.schemas.schema import Schema
from dpcore.errors import FrostglassError
from dpcore.models.ilp.language.atoms import bottom_atoms
from dpcore.models.registry import LEARNERS
from dpcore.released.parameters import Parameter, parameters_of
from dpcore.released.plan import RunPlan
from tests.support.workspaces.fake_learner import real_learners

#: Largest values that keep one run short.
MOST = {
    "pool_size": 40,
    "mcmc_steps": 1_010,
    "steps": 1_010,
    "epochs": 6,
    "trees": 4,
    "max_antecedents": 40,
    "starts": 3,
    "rounds": 2,
    "max_rules": 12,
    "list_length": 8,
    "replicates": 4,
    "pairs": 3,
    "clauses": 4,
}
#: What tells the methods of a family apart.
_CHOICE = dict.fromkeys(real_learners(), "method") | {"rule_list": "sampler"}
#: Every family with every method, for ``pytest.mark.parametrize(("family", "way"), WAYS)``.
WAYS = [
    pytest.param(family, {choice: way}, id=f"{family}-{way}")
    for family, choice in _CHOICE.items()
    for way in parameters_of(LEARNERS[family].parameters)[choice].choices
]
#: The same for what methods of a family have in common: all but the first of each are slow.
ONE_WAY_EACH = [
    pytest.param(*each.values, id=each.id, marks=[] if each.values[0] != before.values[0] else [pytest.mark.slow])
    for before, each in zip([pytest.param(""), *WAYS], WAYS, strict=False)
]
#: Chance that a parameter stays at its default, unless that takes long.
_DEFAULT = 0.4
#: Rows of one table at most: they are drawn one by one.
_MOST_PEOPLE = 2000
#: How people of a table are alike.
SHAPES = ("any", "any", "any", "one class", "missing", "same", "clamped", "linked")


@dataclass(frozen=True)
class Person:
    """One person.

    Attributes
    ----------
    rows : tuple of tuple of int
        Cell codes of each row of the main table, in schema order.
    numbers : tuple of tuple of float
        Values of the numeric columns of each row; NaN where missing.
    holdout : bool
    children : tuple of tuple of tuple of int
        Cell codes of each row, for every child table.
    links : tuple of tuple of int
        For every child table whose rows belong to rows of another, which of these each belongs to.
    """

    rows: tuple[tuple[int, ...], ...]
    numbers: tuple[tuple[float, ...], ...]
    holdout: bool
    children: tuple[tuple[tuple[int, ...], ...], ...] = ()
    links: tuple[tuple[int, ...], ...] = ()


@dataclass(frozen=True)
class Configuration:
    """What may be asked of a learner; ``target`` is empty for one that predicts nothing."""

    family: str
    schema: Schema
    target: str
    parameters: dict[str, Any]
    epsilon: Decimal


def draw_configuration(random: Random, family: str, epsilon: Decimal | None = None, **fixed: Any) -> Configuration:
    """A random configuration of one family; ``fixed`` parameters are not drawn."""
    schema = draw_schema(random, children=family == "ilp")
    target = _draw_target(random, family, schema)
    parameters = draw_parameters(random, family, schema, target, fixed)
    chosen = draw_epsilon(random) if epsilon is None else epsilon
    return Configuration(family, schema, target, parameters, chosen)


def draw_epsilon(random: Random) -> Decimal:
    """An epsilon of any size, often one that is of use."""
    if random.random() < 0.1:
        return Decimal(random.choice(["0.000000001", "0.000000002", "0.000000017", "1000"]))
    power = random.uniform(-9, 3) if random.random() < 0.6 else random.uniform(-2, 1)
    digits = round(10**power * 10**9)
    return Decimal(min(max(digits, 1), 10**12)).scaleb(-9)


# Schemas


def draw_schema(random: Random, *, children: bool = False) -> Schema:
    """A schema of two to ten columns, at least one of them fit to be predicted."""
    names = [f"c{place}" for place in range(random.choice([1, 2, 2, 2, 3, 3, 4, 5, 9]))]
    columns = [_draw_column(random, name) for name in names]
    columns.insert(random.randint(0, len(columns)), _draw_target_column(random))
    for column in columns:
        side = random.choice(["left", "right", None])
        if side is not None:
            column["view"] = side
    content: dict[str, Any] = {
        "name": "drawn",
        "max_rows": random.choice([1, 2, 3, 10, 63, 64, 65, 130, 300, 300, 2000, 50_000]),
        "holdout_percent": random.choice([0, 0, 1, 20, 50]),
        "columns": columns,
    }
    related = children and random.random() < 0.7
    if related or random.random() < 0.7:
        rows = 1 if related else random.randint(1, 5)
        content["privacy_unit"] = {"column": "who", "max_rows_per_person": rows}
    if related:
        content["children"] = drawn = [_draw_child(random, place) for place in range(random.randint(1, 2))]
        if len(drawn) == 2 and random.random() < 0.8:
            drawn[0] |= {"row_key": "number"}
            drawn[1] |= {"parent": "child0", "parent_key": "of"}
    return Schema.from_mapping(content)


def _draw_target_column(random: Random) -> dict[str, Any]:
    kind = random.choice(["boolean", "categorical", "number"])
    if kind == "boolean":
        return {"name": "goal", "type": "boolean"}
    if kind == "categorical":
        labels = [f"g{code}" for code in range(random.choice([2, 2, 3, 3, 3, 5, 5, 50]))]
        return {"name": "goal", "type": "categorical", "categories": labels}
    return _draw_number(random, "goal", least_bins=2)


def _draw_child(random: Random, place: int) -> dict[str, Any]:
    columns = [_draw_column(random, f"d{number}") for number in range(random.randint(1, 2))]
    return {
        "name": f"child{place}",
        "max_rows_per_person": random.choice([1, 2, 4]),
        "columns": columns,
        **random.choice([{}, {"keep": "last", "order_by": "when"}, {"keep": "first", "order_by": "when"}]),
    }


def _draw_column(random: Random, name: str) -> dict[str, Any]:
    kind = random.choice(["boolean", "categorical", "ordinal", "number", "number"])
    if kind == "boolean":
        return {"name": name, "type": kind}
    if kind == "number":
        return _draw_number(random, name)
    labels = [f"v{code}" for code in range(random.choice([1, 2, 2, 3, 3, 4, 9, 40]))]
    return {"name": name, "type": kind, "categories": labels}


def _draw_number(random: Random, name: str, least_bins: int = 1) -> dict[str, Any]:
    column: dict[str, Any] = {"name": name, "type": random.choice(["integer", "real"])}
    if column["type"] == "integer":
        lower = random.choice([0, -7, 10**9])
        column |= {"lower": lower, "upper": lower + random.choice([20, 100, 10**6])}
    else:
        bounds = [(0.0, 1.0), (-3.5, 40.0), (-1e6, 1e9), (0.0, 1e-9), (-8e307, 8e307)]
        column |= dict(zip(("lower", "upper"), random.choice(bounds), strict=True))
    return column | {"bins": max(least_bins, random.choice([1, 2, 3, 5, 9]))}


def _draw_target(random: Random, family: str, schema: Schema) -> str:
    if not LEARNERS[family].targeted:
        return ""
    fit = [column.name for column in schema if len(column.classes) >= 2]
    return "goal" if random.random() < 0.7 else random.choice(fit)


# Parameters


def choices(model: type[BaseModel]) -> list[str]:
    """Parameters that are one of some words."""
    return [name for name, own in parameters_of(model).items() if own.choices]


def beyond_bounds(model: type[BaseModel]) -> list[tuple[str, Any]]:
    """Parameters, each with the first number beyond one of its bounds."""
    return [
        (name, value)
        for name, own in model.model_fields.items()
        for bound in own.metadata
        for value in (
            *([bound.ge - 1] if hasattr(bound, "ge") else []),
            *([bound.gt] if hasattr(bound, "gt") else []),
            *([bound.le + 1] if hasattr(bound, "le") else []),
            *([bound.lt] if hasattr(bound, "lt") else []),
        )
    ]


def counts(own: Mapping[str, Parameter], chosen: Mapping[str, Any], name: str) -> bool:
    """Whether a parameter counts beside what is chosen of the others, as its field says."""
    only = set(own[name].only)
    deciding = [other for other, parameter in own.items() if only & set(parameter.choices)]
    return not only or any(
        only.intersection(_as_many(own[other], chosen.get(other, own[other].default))) and counts(own, chosen, other)
        for other in deciding
    )


def _as_many(parameter: Parameter, value: Any) -> Sequence[Any]:
    return (value or ()) if parameter.many else (value,)


def draw_parameters(
    random: Random, family: str, schema: Schema, target: str, fixed: dict[str, Any] | None = None
) -> dict[str, Any]:
    """Parameters that the family's pydantic model accepts."""
    model = LEARNERS[family].parameters
    while True:
        drawn = _draw_fields(random, model) | _draw_public(random, family, schema, target)
        drawn |= fixed or {}
        own = parameters_of(model)
        drawn = {name: value for name, value in drawn.items() if counts(own, drawn, name)}
        try:
            model.model_validate(drawn)
        except ValidationError:
            continue
        return drawn


def _draw_fields(random: Random, model: type[BaseModel]) -> dict[str, Any]:
    """Values of the fields whose type says all that is needed."""
    drawn = {}
    for name, own in parameters_of(model).items():
        usual, most = own.default, MOST.get(name, math.inf)
        costly = isinstance(usual, int | float) and usual > most
        if not costly and random.random() < _DEFAULT and not (usual is None and name in MOST):
            continue
        make = _maker(own, most)
        if make is not None:
            drawn[name] = make(random)
    return drawn


def _maker(own: Parameter, most: float) -> Callable[[Random], Any] | None:
    """How to draw a value of a parameter; ``None`` if it must come from the schema."""
    kind = own.kind
    if own.many or kind is str:
        return None
    if own.choices:
        return lambda random: random.choice(own.choices)
    if kind is bool:
        return lambda random: random.random() < 0.5
    if issubclass(kind, BaseModel):
        return lambda random: _draw_fields(random, kind)
    low, high = _bounds(own)
    return lambda random: _draw_size(random, kind, low, min(high, most))


def _bounds(own: Parameter) -> tuple[float, float]:
    """Least and largest value of a parameter; open ends are moved in a little."""
    ends = {"ge": -math.inf, "gt": -math.inf, "le": math.inf, "lt": math.inf} | own.limits
    ends = {name: float(end) for name, end in ends.items()}
    return max(ends["ge"], ends["gt"] + 1e-9), min(ends["le"], ends["lt"] - 1e-9)


def _draw_size(random: Random, kind: type, low: float, high: float) -> Any:
    """A number between two ends, often one of them; small ones as likely as large ones."""
    ends = random.random()
    if ends < 0.3:
        value = low if ends < 0.15 else high
    elif kind is int or random.random() < 0.5:
        value = random.uniform(low, high)
    else:
        value = low + (high - low) * 10 ** random.uniform(-6, 0)
    if kind is int:
        return round(value)
    return round(value, 9) if kind is float else Decimal(repr(round(value, 9)))


def _draw_public(random: Random, family: str, schema: Schema, target: str) -> dict[str, Any]:
    """Parameters that refer to the schema, and those that no bound describes."""
    drawn: dict[str, Any] = {}
    if family == "rule_list":
        drawn["antecedents"] = random.choice(["public", "dp_fim", "given"])
        if drawn["antecedents"] == "given":
            drawn["given"] = _draw_conditions(random, schema, target)
            drawn["antecedents"] = "given" if drawn["given"] else "public"
        if random.random() < 0.3:
            classes = len(schema.column(target).classes)
            drawn["alpha"] = tuple(random.choice([1e-6, 0.5, 1.0, 1e6]) for _ in range(classes))
    if "cut_points" in LEARNERS[family].parameters.model_fields and drawn.get("antecedents") != "given":
        drawn["cut_points"] = _draw_cuts(random, schema)
    if family == "tree" and random.random() < 0.6:
        drawn["blocks"] = tuple(random.randint(1, 2) for _ in range(random.randint(1, 3)))
    if family == "ebm" and random.random() < 0.5:
        drawn["delta"] = Decimal(random.choice(["1e-300", "1e-30", "1e-9", "0.00001", "0.01"]))
    if LEARNERS[family].family.views:
        drawn |= _draw_views(random, schema)
        if drawn.get("depth", 4) > 3:
            drawn["depth"] = None
    if family == "summaries":
        drawn |= _draw_tables(random, schema)
    if family == "ilp":
        atoms = [atom.text(schema) for atom in bottom_atoms(schema, target)]
        if atoms:
            drawn["literals"] = tuple(random.sample(atoms, min(len(atoms), random.randint(1, 6))))
        drawn["max_literals"] = random.randint(1, 3)
        drawn["max_variables"] = random.randint(0, 2)
        said = random.sample(("counts", "order", "alike", "within"), random.randint(0, 4))
        drawn["quantifiers"] = random.choice([None, ("exists", *said)])
        if random.random() < 0.3:
            drawn["positive"] = random.choice(schema.column(target).classes)
    return drawn


def _draw_cuts(random: Random, schema: Schema) -> tuple[str, ...]:
    """Some cut points of some columns of numbers; often none are chosen."""
    chosen = []
    for column in schema:
        cuts = range(len(column.classes) - 1)
        if isinstance(column, NumericColumn) and cuts and random.random() < 0.4:
            chosen.append(cut_text(column, sorted(random.sample(cuts, random.randint(1, len(cuts))))))
    return tuple(chosen)


def _draw_conditions(random: Random, schema: Schema, target: str) -> tuple[str, ...]:
    literals = []
    for column in schema:
        if column.name != target:
            items = threshold_conditions(column, reserved=False) if column.ordered else []
            items = [*items, *cell_conditions(column, reserved=True)]
            literals += [item.text(schema) for item in items]
    wanted = random.randint(1, 8)
    return tuple(dict.fromkeys(random.choice(literals) for _ in range(wanted))) if literals else ()


def _draw_views(random: Random, schema: Schema) -> dict[str, Any]:
    names = [column.name for column in schema]
    if random.random() < 0.1 or len(names) < 2:
        return {}
    random.shuffle(names)
    cut = random.randint(1, len(names) - 1)
    return {"left": tuple(names[:cut]), "right": tuple(names[cut:])}


def _draw_tables(random: Random, schema: Schema) -> dict[str, Any]:
    """Columns of a first look, groups, and crosstabs of them."""
    names = [column.name for column in schema]
    looked_at = random.sample(names, random.randint(1, len(names))) if random.random() < 0.3 else names
    drawn: dict[str, Any] = {} if looked_at is names else {"columns": tuple(looked_at)}
    if random.random() < 0.4:
        drawn["by"] = random.choice(looked_at)
    if random.random() < 0.3:
        drawn["delta"] = Decimal(random.choice(["1e-300", "1e-30", "1e-9", "0.00001", "0.01"]))
    drawn["codes"] = tuple(name for name in looked_at if levels_above(schema.column(name)) and random.random() < 0.5)
    numbers = [name for name in looked_at if isinstance(schema.column(name), NumericColumn)]
    drawn["finer"] = tuple(name for name in numbers if random.random() < 0.2)
    pairs = list(combinations(sorted(looked_at), 2))
    drawn["crosstabs"] = tuple(
        " by ".join(pair) for pair in random.sample(pairs, min(len(pairs), random.randint(0, 2)))
    )
    return drawn


# People


def draw_people(random: Random, schema: Schema, target: str = "", shape: str | None = None) -> list[Person]:
    """People that fit into a table of a schema: none, one, a few, or as many as there is room.

    Parameters
    ----------
    shape : str or None
        One of :data:`SHAPES`; drawn if ``None``.
    """
    shape = random.choice(SHAPES) if shape is None else shape
    size = random.choice(["none", "one", "few", "full", "full"])
    room = {"none": 0, "one": 1, "few": min(9, schema.max_rows), "full": schema.max_rows}[size]
    room = min(room, _MOST_PEOPLE)
    holdout = random.choice([0.0, 1.0, 0.2, 0.5]) if schema.holdout_percent else 0.0
    people: list[Person] = []
    first = draw_person(random, schema, target, shape)
    while room > 0:
        person = first if shape == "same" else draw_person(random, schema, target, shape)
        kept = min(len(person.rows), room)
        people.append(
            replace(
                person,
                rows=person.rows[:kept],
                numbers=person.numbers[:kept],
                holdout=random.random() < holdout,
            )
        )
        room -= kept
    return people


def draw_person(random: Random, schema: Schema, target: str = "", shape: str = "any") -> Person:
    """One person with one row or more, in the training part."""
    count = random.randint(1, schema.privacy_unit.max_rows_per_person)
    rows = [_draw_row(random, schema.columns, target, shape) for _ in range(count)]
    children: dict[str, tuple[tuple[int, ...], ...]] = {}
    for child in schema.children:  # Those whose rows belong to rows of another stand behind it.
        most = child.max_rows_per_person if child.parent is None or children[child.parent] else 0
        children[child.name] = tuple(
            _draw_row(random, child.columns, "", shape)[0] for _ in range(random.randint(0, most))
        )
    links = tuple(
        tuple(random.randrange(len(children[child.parent])) for _ in children[child.name]) if child.parent else ()
        for child in schema.children
    )
    codes, numbers = zip(*rows, strict=True)
    return Person(tuple(codes), tuple(numbers), holdout=False, children=tuple(children.values()), links=links)


def _draw_row(
    random: Random, columns: Sequence[Any], target: str, shape: str
) -> tuple[tuple[int, ...], tuple[float, ...]]:
    """Codes and numbers of one row."""
    codes, numbers = [], []
    hidden = random.random()
    for column in columns:
        cells = len(column.cells)
        code = int((hidden if shape == "linked" else random.random()) * cells)
        if shape == "missing":
            code = cells - 1
        elif shape == "clamped" and isinstance(column, NumericColumn):
            code = random.choice([0, cells - 2])
        if shape == "one class" and column.name == target:
            code = 0
        codes.append(code)
        if isinstance(column, NumericColumn):
            numbers.append(_number_in(random, column, code, at_ends=shape == "clamped"))
    return tuple(codes), tuple(numbers)


def _number_in(random: Random, column: Any, code: int, *, at_ends: bool) -> float:
    ends = [column.lower, *column.inner_edges, column.upper]
    if code == len(ends) - 1:
        return math.nan
    if at_ends:
        return float(column.lower if code == 0 else column.upper)
    share = random.random()
    return float(ends[code] * (1 - share) + ends[code + 1] * share)


def table_of(schema: Schema, people: Sequence[Person]) -> PrivateTable:
    """The table of some people, their rows one after another."""
    rows = [row for person in people for row in person.rows]
    codes = np.array(rows, dtype=np.uint16).reshape(len(rows), len(schema.columns)).T
    numeric = sum(isinstance(column, NumericColumn) for column in schema)
    values = [row for person in people for row in person.numbers]
    numbers = np.array(values, dtype=float).reshape(len(rows), numeric).T
    holdout = np.array([person.holdout for person in people for _ in person.rows], dtype=bool)
    children = [_child_of(schema, place, people) for place in range(len(schema.children))]
    return PrivateTable.build(schema, list(codes), list(numbers), holdout, children)


def _child_of(schema: Schema, place: int, people: Sequence[Person]) -> ChildRecords:
    child = schema.children[place]
    found = [
        (slot, record, row) for record, person in enumerate(people) for slot, row in enumerate(person.children[place])
    ]
    rows = np.array([row for _, _, row in found], dtype=np.uint16)
    codes = rows.reshape(len(found), len(child.columns)).T
    slots, records = (np.array([item[axis] for item in found], dtype=np.int64) for axis in (0, 1))
    linked = [people[record].links[place][slot] for slot, record, _ in found] if child.parent is not None else None
    links = None if linked is None else np.array(linked, dtype=np.int64)
    return ChildRecords.build(child, schema.max_rows, list(codes), slots, records, links)


FEW, MANY = 3, 400
seeds = st.integers(0, 2**63 - 1)


def accepted(drawn: Configuration) -> RunPlan | None:
    """The plan of a configuration; ``None`` if it is refused, which takes one sentence."""
    learner = LEARNERS[drawn.family]
    try:
        return learner.plan(drawn.schema, drawn.target, drawn.epsilon, drawn.parameters)
    except FrostglassError as error:
        refusal = str(error)
    assert refusal.endswith(".")
    assert "\n" not in refusal
    return None


def planned(random: Random, family: str, way: dict[str, Any]) -> tuple[Configuration, RunPlan]:
    """The first of random configurations that is accepted."""
    while True:
        drawn = draw_configuration(random, family, **way)
        plan = accepted(drawn)
        if plan is not None:
            return drawn, plan
