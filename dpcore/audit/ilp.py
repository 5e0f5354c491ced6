"""Audits of whole runs of relational rules: from the uploaded tables to the released theory.

How an audit works: :mod:`dpcore.audit.bounds`. Input 1 has one person more, with many child
rows. Three audits look at which clause was chosen: by report noisy max, level by level, and where
rows belong to rows. One looks at the noisy counts.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Mapping, Sequence
from contextlib import AbstractContextManager, nullcontext
from dataclasses import dataclass, field, replace
from decimal import Decimal
from typing import ClassVar, Final

import numpy as np
import pandas as pd

from dpcore.arrays import Ints, Words
from dpcore.audit.bounds import Audit, AuditedMechanism, likelihood_events, replaced
from dpcore.data.building.ingest import frame_chunks, ingest
from dpcore.data.partition import ChildRecords
from dpcore.data.table import PrivateTable
from dpcore.domain.schemas.schema import Schema
from dpcore.learning import count_budget
from dpcore.learning.learner import Run
from dpcore.models.ilp.language.nested_conditions import single
from dpcore.models.ilp.learning import selection
from dpcore.models.ilp.learning.ilp_learner import ILPLearner
from dpcore.models.ilp.released.ilp_model import ILPModel
from dpcore.privacy.mechanisms import GeometricMechanism, NoisyMax
from dpcore.privacy.randomness import SecureRandom

_EPSILON: Final = Decimal(1)
#: Whole runs are slow: few of the trials asked for.
_SHARE: Final = 0.04
#: Rows of the person who is added, half of which ingestion must drop.
_ROWS: Final = 8
_KINDS: Final = tuple("abcdefghijkl")
#: People who are not ill, their stays in the order of time, and results of tests.
_NOT_ILL: Final = 16
_STAYS: Final = ("planned", "urgent")
_TESTS: Final = ("low", "high")
#: Broken versions add so much less noise, for so few runs to tell.
_LESS_NOISE: Final = 8
_FAR_LESS_NOISE: Final = 16
#: What is broken in a run, for as long as it lasts.
Break = Callable[[], AbstractContextManager[object]]


def _child(name: str, most: int, column: str, categories: Sequence[str], **links: str) -> dict[str, object]:
    """A further table with one column, and so many rows a person."""
    columns = [{"name": column, "type": "categorical", "categories": list(categories)}]
    return {"name": name, "max_rows_per_person": most, "columns": columns, **links}


def _schema(*children: dict[str, object]) -> Schema:
    return Schema.from_mapping(
        {
            "name": "audit",
            "max_rows": 64,
            "holdout_percent": 0,
            "privacy_unit": {"column": "person"},
            "columns": [{"name": "ill", "type": "boolean"}],
            "children": list(children),
        }
    )


def _events() -> Schema:
    return _schema(_child("event", _ROWS // 2, "kind", _KINDS))


def _stays_with_tests() -> Schema:
    return _schema(
        _child("stay", len(_STAYS), "kind", _STAYS, row_key="number", keep="first", order_by="day"),
        _child("test", _ROWS // 2, "result", _TESTS, parent="stay", parent_key="of"),
    )


@dataclass(frozen=True)
class _Runs(ABC):
    """Ingestion and whole runs. One person is not ill and has an event of the first kind.

    The person added is ill and has events of the last kind alone.
    """

    broken: Break = field(default=nullcontext)
    """Breaks the engine while runs last."""
    chosen: ClassVar[Mapping[str, object]]

    def __call__(self, side: int, trials: int) -> Ints:
        """Return coded outputs of so many runs."""
        learner, source = ILPLearner(), SecureRandom()
        # One table serves all runs: nothing random of it reaches the output.
        table = self._table(side, source)
        wanted = {"clauses": 1, "max_literals": 1, "length_prior": False, **self.chosen}
        plan = learner.plan(table.schema, "ill", _EPSILON, wanted)
        with self.broken():
            runs = (learner.run(Run(table, plan, source)) for _ in range(trials))
            return np.array([self._label(model) for model in runs], dtype=np.int64)

    def _table(self, side: int, source: SecureRandom) -> PrivateTable:
        """The records of an input, as ingestion leaves them."""
        people = pd.DataFrame([("p", "no"), ("q", "yes")][: 1 + side], columns=["person", "ill"])
        events = pd.DataFrame([("p", _KINDS[0]), *[("q", _KINDS[-1])] * _ROWS * side], columns=["person", "kind"])
        return ingest(frame_chunks(people), _events(), source, {"event": frame_chunks(events)})

    @abstractmethod
    def _label(self, model: ILPModel) -> int:
        """Code of a released theory."""


class ClauseChoiceRuns(_Runs):
    """Which clause report noisy max chooses."""

    chosen: ClassVar[Mapping[str, object]] = {"count_share": "0.01"}

    def _label(self, model: ILPModel) -> int:
        """Number of the kind that the clause asks for, from 2; 1 for any event, 0 for nothing."""
        (clause,) = model.clauses
        if not clause.variables:
            return 0
        atoms = clause.variables[0].atoms
        return 2 + atoms[0].cells[0] if atoms else 1


class LevelRuns(ClauseChoiceRuns):
    """Which clause the relevance-aware reduction chooses, when no subtree has to go."""

    chosen: ClassVar[Mapping[str, object]] = {
        "count_share": "0.01",
        "method": "relevance_aware",
        "criterion": "share",
        "min_share": 0,
    }


class ClauseCountRuns(_Runs):
    """Noisy positives whom the one clause there is covers, and whom none does."""

    chosen: ClassVar[Mapping[str, object]] = {"count_share": "0.99", "literals": (f"event: kind = {_KINDS[-1]}",)}

    def _label(self, model: ILPModel) -> int:
        """Whether anybody ill seems to be in some group.

        Two-sided geometric noise tells no more about a count that is 0 or 1.
        """
        return int(sum(group.noisy_counts[1] > 0 for group in model.groups))


class NestedChoiceRuns(_Runs):
    """Which clause report noisy max chooses about rows that belong to rows.

    Everybody has a planned stay and then an urgent one, with tests of one kind. Some people are not ill and were tested
    in the planned one. The person added is ill and was tested in the urgent one, more often than ingestion keeps.
    """

    chosen: ClassVar[Mapping[str, object]] = {
        "count_share": "0.01",
        "max_literals": 2,
        "max_variables": 1,
        "quantifiers": ("exists", "within"),
    }

    def _table(self, side: int, source: SecureRandom) -> PrivateTable:
        """The records of an input, as ingestion leaves them."""
        names = [f"p{number}" for number in range(_NOT_ILL)]
        people = pd.DataFrame([*((name, "no") for name in names), *[("q", "yes")] * side], columns=["person", "ill"])
        stays = [(name, place, kind) for name in people["person"] for place, kind in enumerate(_STAYS)]
        tests = [(name, 0, _TESTS[0]) for name in names] + [("q", 1, _TESTS[1])] * _ROWS * side
        rows = {
            "stay": pd.DataFrame(stays, columns=["person", "day", "kind"]).assign(number=lambda own: own["day"]),
            "test": pd.DataFrame(tests, columns=["person", "of", "result"]),
        }
        chunks = {name: frame_chunks(frame) for name, frame in rows.items()}
        return ingest(frame_chunks(people), _stays_with_tests(), source, chunks)

    def _label(self, model: ILPModel) -> int:
        """Which of the kinds of stays and results the clause asks for, if any, as one number."""
        asked: set[tuple[str, int]] = set()
        for variable in model.clauses[0].variables:
            asked |= {(own.column, own.cells[0]) for own in single(variable.atoms) if own.column}
        known = [(column, cell) for column in ("kind", "result") for cell in range(2)]
        return sum(2**place for place, own in enumerate(known) if own in asked)


def _less_noise_in_choice() -> AbstractContextManager[None]:
    def build(sensitivity: int, epsilon: Decimal, monotone: bool) -> NoisyMax:
        return NoisyMax(sensitivity, _LESS_NOISE * epsilon, monotone)

    return replaced(selection, "NoisyMax", build)


def _each_count_alone() -> AbstractContextManager[None]:
    """The mistake to avoid: noise for one clause on each of many."""

    def build(sensitivity: int, epsilon: Decimal) -> GeometricMechanism:  # noqa: ARG001
        return GeometricMechanism(1, _FAR_LESS_NOISE * epsilon)

    return replaced(count_budget, "GeometricMechanism", build)


def _less_noise_on_counts() -> AbstractContextManager[None]:
    def build(sensitivity: int, epsilon: Decimal) -> GeometricMechanism:
        return GeometricMechanism(sensitivity, _LESS_NOISE * epsilon)

    return replaced(count_budget, "GeometricMechanism", build)


def links_of_anybody() -> AbstractContextManager[None]:
    """The mistake to avoid: a row belongs to the last slot to which one in its place does, whoever's that is."""
    belonging = ChildRecords.belonging

    def mixed(own: ChildRecords, parents: int) -> Words:
        assert own.links is not None
        links = np.broadcast_to(own.links.max(axis=1, keepdims=True), own.links.shape)
        return belonging(ChildRecords(own.table, own.codes, own.rows, links), parents)

    return replaced(ChildRecords, "belonging", mixed)


def choice_audit() -> Audit:
    """The clause that report noisy max chooses."""
    controls: dict[str, AuditedMechanism] = {
        f"noise divided by {_LESS_NOISE}": replace(ClauseChoiceRuns(), broken=_less_noise_in_choice)
    }
    return Audit("relational rules, noisy max", ClauseChoiceRuns(), likelihood_events, controls, share=2 * _SHARE)


def nested_audit() -> Audit:
    """The clause about rows that belong to rows."""
    controls: dict[str, AuditedMechanism] = {
        f"noise divided by {_LESS_NOISE}": replace(NestedChoiceRuns(), broken=_less_noise_in_choice),
        "rows belong to rows of anybody": replace(NestedChoiceRuns(), broken=links_of_anybody),
    }
    return Audit("relational rules, rows of rows", NestedChoiceRuns(), likelihood_events, controls, share=2 * _SHARE)


def level_audit() -> Audit:
    """The clause that the relevance-aware reduction chooses."""
    controls: dict[str, AuditedMechanism] = {
        f"noise for one clause, divided by {_FAR_LESS_NOISE}": replace(LevelRuns(), broken=_each_count_alone)
    }
    return Audit("relational rules, level by level", LevelRuns(), likelihood_events, controls, share=_SHARE)


def count_audit() -> Audit:
    """Noisy counts of a whole run."""
    controls: dict[str, AuditedMechanism] = {
        f"noise divided by {_LESS_NOISE}": replace(ClauseCountRuns(), broken=_less_noise_on_counts)
    }
    return Audit("relational rules, counts", ClauseCountRuns(), likelihood_events, controls, share=_SHARE)


AUDITS: Sequence[Callable[[], Audit]] = (choice_audit, nested_audit, level_audit, count_audit)
