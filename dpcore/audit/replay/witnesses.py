"""Pairs of neighbours made to show as much as a method ever shows.

Random tables seldom hold the one person whom every question turns on. These do: with them, a
method reaches its certificate, or comes as near to it as it can.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Final

import numpy as np

from dpcore.audit.replay.replayed_tables import Rows
from dpcore.domain.schemas.schema import Schema
from dpcore.models.released import get_family
from dpcore.released.parameters import LEAST_STEPS

_Answers = tuple[Any, ...]
_Crowd = Mapping[Any, int]


@dataclass(frozen=True)
class Witness:
    """A method with its parameters, many people, and one more."""

    family: str
    method: str
    chosen: Mapping[str, object]
    """Parameters."""
    crowd: _Crowd
    """How many people have these cells in the columns of :data:`SCHEMAS`."""
    person: _Answers
    """Cells of the person who is added."""
    epsilon: str = "200"
    """So large that the output that shows most is nearly certain on one of the tables; or small, if rho is to be shown.
    """
    delta: str = "0"
    """That an account gives to a run that composes."""

    @property
    def schema(self) -> Schema:
        """Yes/no columns, half of them on either side or the last one to be predicted."""
        count = len(self.person)
        columns: list[dict[str, object]] = [{"name": f"x{place}", "type": "boolean"} for place in range(count)]
        if not get_family(self.family).targeted:
            for place, column in enumerate(columns):
                column["view"] = "left" if 2 * place < count else "right"
        else:
            columns[-1]["target"] = True
        rows = sum(self.crowd.values()) + 1
        return Schema.from_mapping({"name": "witness", "max_rows": rows, "holdout_percent": 0, "columns": columns})

    def rows(self) -> tuple[Rows, Rows]:
        """Rows without and with the person."""
        others = [answers for answers, count in self.crowd.items() for _ in range(count)]
        return _rows(others, len(self.person)), _rows([*others, self.person], len(self.person))


def _rows(people: list[_Answers], columns: int) -> Rows:
    codes = np.array(people, dtype=np.int64).reshape(len(people), columns).T
    return Rows(list(codes), [], [], np.zeros(len(people), dtype=np.bool_), {})


@dataclass(frozen=True)
class NestedWitness(Witness):
    """People with two tables of yes/no rows, of which those of the second belong to rows of the first.

    The cells of a person are a class, and the rows of both tables: cells of the first, and of the second cells with
    the place of the row to which each belongs.
    """

    @property
    def schema(self) -> Schema:
        """Relations of which clauses may chain both tables."""
        column = {"name": "x", "type": "boolean"}
        outer = {"name": "stay", "row_key": "number", "max_rows_per_person": _STAYS, "columns": [column]}
        inner = {"name": "lab", "parent": "stay", "parent_key": "of", "max_rows_per_person": _LABS, "columns": [column]}
        return Schema.from_mapping(
            {
                "name": "witness",
                "max_rows": sum(self.crowd.values()) + 1,
                "holdout_percent": 0,
                "privacy_unit": {"column": "person"},
                "columns": [{"name": "y", "type": "boolean", "target": True}],
                "children": [outer, inner],
            }
        )

    def rows(self) -> tuple[Rows, Rows]:
        """Rows without and with the person."""
        others = [answers for answers, count in self.crowd.items() for _ in range(count)]
        return _related(others), _related([*others, self.person])


def _related(people: list[_Answers]) -> Rows:
    stays, labs = (np.full((1, slots, len(people)), -1, dtype=np.int64) for slots in (_STAYS, _LABS))
    links = np.zeros((_LABS, len(people)), dtype=np.int64)
    for place, (_, outer, inner) in enumerate(people):
        stays[0, : len(outer), place] = outer
        for slot, (cell, link) in enumerate(inner):
            labs[0, slot, place], links[slot, place] = cell, link
    classes = np.array([answers[0] for answers in people], dtype=np.int64)
    slots = {"stay": stays, "lab": labs}
    return Rows([classes], [], [], np.zeros(len(people), dtype=np.bool_), slots, {"lab": links})


#: Rows of a person in the tables of a :class:`NestedWitness`.
_STAYS: Final = 2
_LABS: Final = 3
#: One clause, on which nearly all is spent.
_CLAUSE: Final = {
    "clauses": 1,
    "length_prior": False,
    "criterion": "share",
    "min_share": 0,
    "count_share": "0.01",
    "evaluate": False,
}
_CHAINED: Final = _CLAUSE | {
    "literals": ("stay: x = yes", "lab: x = yes"),
    "quantifiers": ("exists", "within"),
    "max_literals": 2,
    "max_variables": 1,
}
_CHOICE: Final = {"starts": 1, "depth": 1, "tree_share": 0.99, "margins": False}
#: The first column tells the classes apart; the second speaks against it.
_TOLD: Final[_Crowd] = {(0, 1, 0): 60, (0, 0, 0): 40, (1, 1, 1): 40, (1, 0, 1): 60}

WITNESSES: Final[tuple[Witness, ...]] = (
    # Without the person all lists explain the classes equally well.
    Witness(
        "rule_list",
        "pool",
        {"sampler": "pool", "pool_size": 200, "shares": {"list": 1000}, "selection_alpha": "same", "evaluate": False},
        {(0, 0, 0): 9999},
        (1, 0, 1),
    ),
    Witness("tree", "diffp_id3", {"method": "diffp_id3", "criterion": "error", "depth": 1}, _TOLD, (1, 1, 1)),
    Witness("tree", "diffp_c45", {"method": "diffp_c45", "criterion": "error", "depth": 1}, _TOLD, (1, 1, 1)),
    # With the person the list with the one condition is as probable as the one without: no step is refused.
    Witness(
        "rule_list",
        "chain, given conditions",
        {
            "sampler": "mcmc",
            "mcmc_steps": 5_000,
            "given": ("x0 = yes",),
            "max_rules": 1,
            "list_length": 0.9841430512594006,
            "selection_alpha": "same",
            "shares": {"list": 1000},
            "evaluate": False,
        },
        {(0, 0): 30},
        (1, 1),
        "0.02",
    ),
    # A choice costs most rho if half of its outputs get more probable, and half of them less.
    Witness(
        "rule_list",
        "pool, composing",
        {
            "sampler": "pool",
            "pool_size": 2,
            "given": ("x0 = yes",),
            "max_rules": 1,
            "list_length": 1,
            "shares": {"list": 1000},
            "selection_alpha": "same",
            "evaluate": False,
        },
        {(0, 0): 9999},
        (1, 1),
        "0.3",
        "0.001",
    ),
    Witness(
        "ilp",
        "noisy_max, composing",
        {**_CLAUSE, "method": "noisy_max", "literals": ("x0 = yes", "x1 = yes"), "max_literals": 1, "max_variables": 0},
        {(0, 0, 0): 30, (0, 0, 1): 30},
        (1, 0, 1),
        "0.3",
        "0.001",
    ),
    # Without the person both splits lose alike; she stands apart in one of them.
    Witness(
        "tree",
        "fixed depth, composing",
        {"method": "diffp_id3", "criterion": "error", "depth": 1},
        {(0, 0, 0): 31, (0, 0, 1): 30},
        (1, 0, 1),
        "0.3",
        "0.001",
    ),
    # One split takes the person out of a pure table, the others do not; columns enough for a test.
    Witness(
        "tree",
        "adiffp, information_gain",
        {"method": "adiffp", "criterion": "information_gain"},
        {(0, 0, 0, 0, 0): 100},
        (1, 0, 0, 0, 1),
    ),
    # One literal on either side goes with the other a little less, and others much more.
    Witness(
        "redescriptions",
        "lookahead",
        {**_CHOICE, "method": "lookahead"},
        {(0, 1, 1, 0): 100, (1, 1, 1, 0): 100, (1, 1, 0, 0): 30},
        (0, 0, 0, 1),
    ),
    # Whatever the first tree splits on, the second can still tell the person from the others.
    *(
        Witness(
            "redescriptions",
            method,
            {**_CHOICE, "method": method, "steps": LEAST_STEPS},
            {(0, 0, 0, 0): 2000, (0, 1, 0, 0): 50},
            (1, 1, 1, 0),
        )
        for method in ("lookahead", "alt_expm", "alt_mcmc")
    ),
    # The person adds to the residuals of one pair of columns, and takes away from those of another;
    # with so little epsilon, single columns tell nothing.
    Witness(
        "ebm",
        "pairs, classes",
        {"pairs": 1, "epochs": 1, "learning_rate": 0.01, "replicates": 3},
        {(1, 1, 0, 1): 50, (1, 0, 1, 0): 500, (0, 0, 0, 0): 500},
        (1, 1, 1, 1),
        "0.5",
    ),
    # Found by search: the best pair of conditions loses the person, and one far behind wins her.
    Witness(
        "redescriptions",
        "exact_pairs",
        {**_CHOICE, "method": "exact_pairs", "depth": 2},
        {(0, 0, 0, 0): 10, (1, 0, 0, 1): 3, (0, 1, 0, 1): 10, (0, 0, 1, 0): 30},
        (0, 1, 1, 1),
    ),
    *(
        Witness(
            "redescriptions",
            f"mcmc_tree_pair, {sampler}",
            {**_CHOICE, "method": "mcmc_tree_pair", "sampler": sampler, "pool_size": 64, "steps": LEAST_STEPS},
            {(1, 0, 0, 1): 30, (0, 1, 1, 1): 30, (0, 1, 1, 0): 3, (1, 0, 0, 0): 10},
            (0, 0, 1, 1),
        )
        for sampler in ("pool", "chain")
    ),
    # The person satisfies every clause; the others both conditions, but not on one stay.
    *(
        NestedWitness("ilp", name, {**_CHAINED, "method": name}, {(1, (0, 1), ((1, 0),)): 30}, (1, (0, 1), ((1, 1),)))
        for name in ("noisy_max", "naive", "relevance_aware")
    ),
)
