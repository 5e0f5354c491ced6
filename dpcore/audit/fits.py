"""Audits of whole fits: from the uploaded rows to the released model.

How an audit works: :mod:`dpcore.audit.bounds`. The two inputs differ in one person. Broken
versions are told to spend more than is claimed, or let that person keep ten rows.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from decimal import Decimal
from typing import Any, ClassVar, Final

import numpy as np
import pandas as pd

from dpcore.arrays import Ints
from dpcore.audit.bounds import Audit, AuditedMechanism, likelihood_events
from dpcore.data.building.ingest import frame_chunks, ingest
from dpcore.domain.schemas.schema import Schema
from dpcore.learning.learner import Learner, Run
from dpcore.models.rules.learning.rule_list_learner import RuleListLearner
from dpcore.models.rules.released.rule_list_model import RuleListModel
from dpcore.models.trees.learning.tree_learner import TreeLearner
from dpcore.models.trees.released.tree_model import TreeModel, TreeNode
from dpcore.privacy.randomness import SecureRandom

_EPSILON: Final = Decimal(1)
#: Rows of the fifth person, all but one of which ingestion must drop.
_ROWS: Final = 10
#: Whole fits are slow: a tenth of the trials asked for.
_SHARE: Final = 0.1


def _toy_schema(rows_per_person: int) -> Schema:
    return Schema.from_mapping(
        {
            "name": "audit",
            "max_rows": 16,
            "privacy_unit": {"column": "person", "max_rows_per_person": rows_per_person},
            "columns": [
                {"name": "x", "type": "boolean"},
                {"name": "y", "type": "boolean", "target": True},
                {"name": "z", "type": "boolean"},
            ],
        }
    )


#: x and y of four people with a row each.
_People = tuple[tuple[str, str], ...]
_FEW_ILL: Final[_People] = (("no", "no"), ("no", "no"), ("no", "yes"), ("yes", "no"))
#: Nothing speaks for a split or a label, so that a fifth person's say is heard best.
_EVEN: Final[_People] = (("no", "no"), ("no", "yes"), ("yes", "no"), ("yes", "yes"))


def _toy_frame(people: _People, side: int) -> pd.DataFrame:
    """Four people; on input 1 a fifth with ten rows, alike."""
    rows = [(person, *answers) for person, answers in enumerate(people)]
    rows += [(5, "yes", "yes")] * (_ROWS * side)
    return pd.DataFrame(rows, columns=["person", "x", "y"]).assign(z="no")


@dataclass(frozen=True)
class _Fits(ABC):
    """Ingestion and whole fits; input 1 has one person more."""

    chosen: Mapping[str, object] = field(default_factory=dict)
    """Parameters of the learner."""
    epsilon: Decimal = _EPSILON
    """Budget that the fit is told to spend."""
    rows_per_person: int = 1
    """Rows that ingestion keeps; the fit is told that it is 1."""
    people: ClassVar[_People] = _EVEN

    def __call__(self, side: int, trials: int) -> Ints:
        """Return coded outputs of so many fits."""
        learner, source = self._learner(), SecureRandom()
        plan = learner.plan(_toy_schema(1), "y", self.epsilon, {**self.chosen, "evaluate": False})
        # One table serves all fits: without evaluation nothing random of it reaches the output.
        schema = _toy_schema(self.rows_per_person)
        table = ingest(frame_chunks(_toy_frame(self.people, side)), schema, source)
        fits = (learner.run(Run(table, plan, source)) for _ in range(trials))
        return np.array([self._label(model) for model in fits], dtype=np.int64)

    @abstractmethod
    def _learner(self) -> Learner:
        """What is audited."""

    @abstractmethod
    def _label(self, model: Any) -> int:
        """Code of a released model."""

    def broken(self, times: int) -> dict[str, AuditedMechanism]:
        """What every audit of a whole fit must catch."""
        return {
            f"budget spent {times} times": replace(self, epsilon=times * self.epsilon),
            "contribution bound removed": replace(self, rows_per_person=_ROWS),
        }


class RuleListRuns(_Fits):
    """Whole fits of a rule list."""

    people = _FEW_ILL

    def _learner(self) -> Learner:
        return RuleListLearner()

    def _label(self, model: RuleListModel) -> int:
        """Code the number of rules and the first rule's noisy count of class yes."""
        return 100 * len(model.rules) + min(10, max(-5, model.rules[0].noisy_counts[1]))


def rule_list_audit() -> Audit:
    """Whole fit of a rule list."""
    sound = RuleListRuns(
        {
            "antecedents": "given",
            "given": ("x = yes",),
            "rules": 1,
            "pool_size": 16,
            "shares": {"list": 1, "estimates": 9},
        }
    )
    return Audit("rule list, whole fit", sound, likelihood_events, sound.broken(4), share=_SHARE)


class _TreeRuns(_Fits):
    """Whole fits of a tree."""

    def _learner(self) -> Learner:
        return TreeLearner()


class LookaheadRuns(_TreeRuns):
    """Whole fits of an exact lookahead tree."""

    def _label(self, model: TreeModel) -> int:
        """Code the split, and label and noisy count of class yes where the fifth person stops."""
        stop = _stop_of_fifth(model)
        return 100 * _root_column(model) + 10 * stop.label + _clip(stop.noisy_counts[1], 0, 3)


class AdaptiveRuns(_TreeRuns):
    """Whole fits of an adaptive tree."""

    def _label(self, model: TreeModel) -> int:
        """Code the split, whether the root's noisy count is 5 or more, and the count of yes."""
        large = (model.nodes[0].noisy_total or 0) >= 5
        count = _clip(_stop_of_fifth(model).noisy_counts[1], 0, 5)
        return 100 * _root_column(model) + 10 * large + count


def _root_column(model: TreeModel) -> int:
    split = model.nodes[0].split
    return {"x": 1, "z": 2}[split.column] if split else 0


def _clip(count: int, low: int, high: int) -> int:
    return min(high, max(low, count))


def _stop_of_fifth(model: TreeModel) -> TreeNode:
    codes = {"x": np.array([1]), "z": np.array([0])}
    return model.nodes[int(model.apply_codes(codes, 1)[0])]


#: Broken trees spend so many times their budget: a tree shows less of it than a count does.
_TIMES: Final = 8
#: Row-level budgets of the exact tree: most of it for the block, splits and labels.
_BLOCK, _LEAVES = Decimal("0.9"), Decimal("0.1")


def _lookahead_runs(block: Decimal) -> LookaheadRuns:
    share = float(_LEAVES / (block + _LEAVES))
    chosen = {"criterion": "error", "blocks": (1,), "leaf_share": share, "prune": False}
    return LookaheadRuns(chosen, block + _LEAVES)


def lookahead_tree_audit() -> Audit:
    """Whole fit of an exact lookahead tree of one block."""
    sound = _lookahead_runs(_BLOCK)
    heavy = {f"block drawn with {_TIMES} times the weight": _lookahead_runs(_TIMES * _BLOCK)}
    return Audit(
        "exact lookahead tree, whole fit", sound, likelihood_events, {**sound.broken(_TIMES), **heavy}, share=_SHARE
    )


def adaptive_tree_audit() -> Audit:
    """Whole fit of an adaptive (ADiffP) tree: count, selection and class counts on each path."""
    sound = AdaptiveRuns({"method": "adiffp", "prune": False})
    return Audit("adaptive tree, whole fit", sound, likelihood_events, sound.broken(_TIMES), share=_SHARE)
