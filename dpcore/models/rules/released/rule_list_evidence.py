"""What a released rule list reveals of the records."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from dpcore.arrays import Floats, Ints
from dpcore.released.evidence import Evidence, Groups, Records, by_class


class RuleListEvidence(Evidence):
    """How many records each rule decides, and their classes."""

    def groups(self) -> Iterator[Groups]:
        """Records by the rule that decides."""
        yield by_class(self._rule, self.model.rules, self.model.count_margin)

    def columns(self) -> set[str]:
        """Columns of the conditions."""
        return {item.column for rule in self.model.rules for item in rule.conditions}

    def probabilities(self, records: Records) -> Floats:
        """Estimates of the rule that decides."""
        return np.array([rule.estimates for rule in self.model.rules])[self._rule(records)]

    def _rule(self, records: Records) -> Ints:
        rules = self.model.rules
        first = np.full(records.rows, len(rules) - 1, dtype=np.int64)
        for position in range(len(rules) - 2, -1, -1):
            holds = np.ones(records.rows, dtype=np.bool_)
            for item in rules[position].conditions:
                codes = records.cells(item.column)
                holds &= (codes >= item.first) & (codes <= item.last)
            first[holds] = position
        return first
