"""Audits of whole runs that mine redescriptions: from the uploaded rows to the released tables.

How an audit works: :mod:`dpcore.audit.bounds`. A run chooses conditions and counts people. One
audit spends nearly everything on the counts, the others on one way each to choose; in all of
them the people are such that one more of them shows best.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager, contextmanager, nullcontext
from dataclasses import dataclass, field, replace
from decimal import Decimal
from typing import ClassVar, Final

import numpy as np
import pandas as pd

from dpcore.arrays import Ints
from dpcore.audit.bounds import Audit, AuditedMechanism, likelihood_events, replaced
from dpcore.data.building.ingest import frame_chunks, ingest
from dpcore.domain.schemas.schema import Schema
from dpcore.learning.learner import Run
from dpcore.models.redescriptions.learning import pool, starts
from dpcore.models.redescriptions.learning import redescription_learner as engine
from dpcore.models.redescriptions.learning.exact_pairs import pair_weight
from dpcore.models.redescriptions.learning.plans import per_block
from dpcore.models.redescriptions.learning.redescription_learner import RedescriptionLearner
from dpcore.models.redescriptions.learning.redescription_queries import LEVERAGE, PAIR_SCORE
from dpcore.models.redescriptions.released.redescription_model import RedescriptionModel
from dpcore.models.redescriptions.released.tree_pair import TreePair
from dpcore.privacy.mechanisms import GeometricMechanism
from dpcore.privacy.randomness import RandomSource, SecureRandom
from dpcore.privacy.sensitivity import Sensitivity

_EPSILON: Final = Decimal(1)
#: Rows of the person who is added, all but one of which ingestion must drop.
_ROWS: Final = 10
#: Whole runs are slow: few of the trials asked for.
_SHARE: Final = 0.03
#: Broken versions add so much less noise, or draw with so many times the weight, for so few
#: runs to tell: a choice shows less of its budget than a count does.
_LESS_NOISE: Final = 8
_MORE_WEIGHT: Final = 32
#: Two yes/no columns on either side.
_COLUMNS: Final = {"x": "left", "u": "left", "y": "right", "v": "right"}
#: What is broken in a run, for as long as it lasts.
Break = Callable[[], AbstractContextManager[object]]
#: How many people give these answers (1 is yes) in the columns.
_Crowd = Mapping[tuple[int, int, int, int], int]
_Chosen = Mapping[str, object]


def _schema(rows_per_person: int) -> Schema:
    columns = [{"name": name, "type": "boolean", "view": view} for name, view in _COLUMNS.items()]
    return Schema.from_mapping(
        {
            "name": "audit",
            "max_rows": 64,
            "privacy_unit": {"column": "person", "max_rows_per_person": rows_per_person},
            "columns": columns,
        }
    )


@dataclass(frozen=True)
class _Runs(ABC):
    """Ingestion and whole runs; input 1 has one person more."""

    rows_per_person: int = 1
    """Rows that ingestion keeps; the run is told that it is 1."""
    broken: Break = field(default=nullcontext)
    """Breaks the engine while runs last."""
    chosen: ClassVar[_Chosen]
    crowd: ClassVar[_Crowd]
    added: ClassVar[tuple[int, int, int, int]]

    def __call__(self, side: int, trials: int) -> Ints:
        """Return coded outputs of so many runs."""
        learner, source = RedescriptionLearner(), SecureRandom()
        plan = learner.plan(_schema(1), "", _EPSILON, {"starts": 1, **self.chosen})
        # One table serves all runs: nothing random of it reaches the output.
        schema = _schema(self.rows_per_person)
        table = ingest(frame_chunks(self._frame(side)), schema, source)
        with self.broken():
            runs = (learner.run(Run(table, plan, source)) for _ in range(trials))
            return np.array([self._label(_only_pair(model)) for model in runs], dtype=np.int64)

    def _frame(self, side: int) -> pd.DataFrame:
        answers = [person for person, count in self.crowd.items() for _ in range(count)]
        rows = [(number, *person) for number, person in enumerate(answers)]
        rows += [(len(answers), *self.added)] * (_ROWS * side)
        return pd.DataFrame(rows, columns=["person", *_COLUMNS])

    @abstractmethod
    def _label(self, pair: TreePair) -> int:
        """Code of a released pair of trees."""


class PairCountRuns(_Runs):
    """Runs that count twice. One person says yes everywhere, all others no."""

    chosen: ClassVar[_Chosen] = {"method": "exact_pairs", "margins": True, "tree_share": 0.1}
    crowd: ClassVar[_Crowd] = {(0, 0, 0, 0): 12}
    added = (1, 1, 1, 1)

    def _label(self, pair: TreePair) -> int:
        """Whether anybody seems to be in the first leaves, in the table and on the left alone.

        Two-sided geometric noise tells no more about a count that is 0 or 1.
        """
        assert pair.noisy_left is not None
        return 2 * (pair.noisy_counts[0][0] > 0) + (pair.noisy_left[0] > 0)


class PairChoiceRuns(_Runs):
    """Runs of which only the choice of conditions is looked at."""

    def _label(self, pair: TreePair) -> int:
        """Code the target, and the columns of both trees."""
        targets = [name for name in _COLUMNS if name in pair.target.split(" ")]
        names = [split.column for tree in (pair.left, pair.right) for split in tree.splits]
        code = 1 + list(_COLUMNS).index(targets[0]) if targets else 0
        for name in names:
            code = len(_COLUMNS) * code + list(_COLUMNS).index(name)
        return code


class PairRuns(PairChoiceRuns):
    """Two conditions on either side, drawn together."""

    chosen: ClassVar[_Chosen] = {"method": "exact_pairs", "tree_share": 0.99}
    crowd: ClassVar[_Crowd] = {(0, 1, 0, 1): 2, (1, 0, 0, 0): 3, (1, 1, 1, 0): 3}
    added = (0, 0, 1, 1)


class LinkedRuns(PairChoiceRuns):
    """A start where the views go together, and a tree on either side."""

    chosen: ClassVar[_Chosen] = {"method": "lookahead", "depth": 1, "tree_share": 0.99}
    crowd: ClassVar[_Crowd] = {(0, 0, 0, 1): 6, (1, 0, 0, 0): 5, (1, 0, 0, 1): 15}
    added = (0, 1, 1, 0)


class PoolRuns(PairChoiceRuns):
    """A pair of trees out of a pool of random pairs."""

    chosen: ClassVar[_Chosen] = {
        "method": "mcmc_tree_pair",
        "sampler": "pool",
        "pool_size": 64,
        "depth": 1,
        "tree_share": 0.99,
        "margins": False,
    }
    crowd: ClassVar[_Crowd] = {(0, 0, 1, 1): 7, (0, 1, 0, 1): 8, (0, 1, 1, 1): 6}
    added = (1, 0, 0, 0)


def _only_pair(model: RedescriptionModel) -> TreePair:
    (pair,) = model.pairs
    return pair


@contextmanager
def _less_noise() -> Iterator[None]:
    """Divide the noise on all counts."""
    release = GeometricMechanism.release

    def quieter(mechanism: GeometricMechanism, values: Ints, source: RandomSource) -> Ints:
        noise: Ints = release(mechanism, values, source) - values
        return np.asarray(values + np.trunc(noise / _LESS_NOISE).astype(np.int64))

    with replaced(GeometricMechanism, "release", quieter):
        yield


@contextmanager
def _exact_leaves() -> Iterator[None]:
    """Count the left leaves without noise, as if they followed from the noisy table."""
    release = GeometricMechanism.release

    def partly(mechanism: GeometricMechanism, values: Ints, source: RandomSource) -> Ints:
        return values if values.ndim == 1 else release(mechanism, values, source)

    with replaced(GeometricMechanism, "release", partly):
        yield


def _heavy_pairs() -> AbstractContextManager[None]:
    def heavier(epsilon: Decimal, *public: int) -> object:
        return pair_weight(_MORE_WEIGHT * epsilon, *public)

    return replaced(engine, "pair_weight", heavier)


def _heavy_trees() -> AbstractContextManager[None]:
    def heavier(epsilon: Decimal, blocks: tuple[int, ...]) -> Decimal:
        return _MORE_WEIGHT * per_block(epsilon, blocks)

    return replaced(engine, "per_block", heavier)


def _heavy_start() -> AbstractContextManager[None]:
    return replaced(starts, "LEVERAGE", _smaller(LEVERAGE))


def _heavy_pool() -> AbstractContextManager[None]:
    return replaced(pool, "PAIR_SCORE", _smaller(PAIR_SCORE))


def _smaller(sensitivity: Sensitivity) -> Sensitivity:
    return replace(sensitivity, value=sensitivity.value // _MORE_WEIGHT)


def count_audit() -> Audit:
    """Noisy tables of a whole run."""
    sound = PairCountRuns()
    controls: dict[str, AuditedMechanism] = {
        f"noise divided by {_LESS_NOISE}": replace(sound, broken=_less_noise),
        "left leaves counted without noise": replace(sound, broken=_exact_leaves),
        "contribution bound removed": replace(sound, rows_per_person=_ROWS),
    }
    return Audit("redescriptions, tables of a whole run", sound, likelihood_events, controls, share=_SHARE)


def _choice_audit(name: str, sound: _Runs, broken: Mapping[str, Break], share: float = _SHARE) -> Audit:
    controls = {
        f"{what} with {_MORE_WEIGHT} times the weight": replace(sound, broken=heavy) for what, heavy in broken.items()
    }
    return Audit(f"redescriptions, {name}", sound, likelihood_events, dict(controls), share=share)


def pair_audit() -> Audit:
    """Conditions drawn together on both sides."""
    return _choice_audit("exact pairs", PairRuns(), {"pairs drawn": _heavy_pairs})


def linked_audit() -> Audit:
    """Start, and exact trees that alternate between the sides."""
    broken = {"start chosen": _heavy_start, "trees drawn": _heavy_trees}
    return _choice_audit("exact lookahead", LinkedRuns(), broken)


def pool_audit() -> Audit:
    """Pair of trees out of a pool: it shows less of its budget, and is quicker."""
    broken = {"pair chosen": _heavy_pool}
    return _choice_audit("pool of random pairs", PoolRuns(), broken, 2 * _SHARE)


AUDITS: Sequence[Callable[[], Audit]] = (count_audit, pair_audit, linked_audit, pool_audit)
