"""The released rule list: what a reader sees and predicts with."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np
import pandas as pd

from dpcore.arrays import Floats, Ints
from dpcore.domain.conditions import Condition
from dpcore.domain.encoding import encode_columns
from dpcore.domain.schemas.schema import Schema
from dpcore.frozen import FrozenModel
from dpcore.released.cases import first_possible, possible_cells
from dpcore.released.evaluation import Evaluation
from dpcore.released.noisy_counts import told_chance

#: Who the default rule is for: after other rules, and alone.
_DEFAULT, _ALONE = "everyone else", "everyone"


def rule_text(conditions: Sequence[Condition], schema: Schema, position: int) -> str:
    """Conditions of the rule at a position of its list, which must all hold, in words."""
    words = " and ".join(condition.text(schema) for condition in conditions)
    return words or (_DEFAULT if position else _ALONE)


class Rule(FrozenModel):
    """One rule: its conditions, noisy counts and class probabilities."""

    conditions: tuple[Condition, ...]
    """All must hold. Empty for the default rule."""
    text: str
    noisy_counts: tuple[int, ...]
    """Training records per class that reach and satisfy the rule, with noise; may be negative."""
    estimates: tuple[float, ...]
    """Class probabilities, summing to 1."""
    intervals: tuple[tuple[float, float], ...]
    """95 % interval of each estimate for the noise alone."""


class RuleListModel(FrozenModel):
    """A rule list; the last rule is the default one."""

    classes: tuple[str, ...]
    rules: tuple[Rule, ...]
    count_margin: int
    """Noise on each training count stays within plus or minus this, with 95 % confidence."""
    antecedent_count: int
    """How many antecedents the list could choose from."""
    evaluation: Evaluation | None

    def worded(self, schema: Schema) -> RuleListModel:
        """The same list, its conditions told in the words of a schema."""
        told = (
            rule.model_copy(update={"text": rule_text(rule.conditions, schema, position)})
            for position, rule in enumerate(self.rules)
        )
        return self.model_copy(update={"rules": tuple(told)})

    def predict_rules(self, frame: pd.DataFrame, schema: Schema) -> Ints:
        """Position of the first rule each row satisfies. Absent columns count as missing."""
        used = {item.column for rule in self.rules for item in rule.conditions}
        codes = encode_columns(frame, schema, used)
        first = np.full(len(frame), len(self.rules) - 1, dtype=np.int64)
        for position in range(len(self.rules) - 2, -1, -1):
            holds = np.ones(len(frame), dtype=bool)
            for item in self.rules[position].conditions:
                holds &= (codes[item.column] >= item.first) & (codes[item.column] <= item.last)
            first[holds] = position
        return first

    def count_records(self, frame: pd.DataFrame, schema: Schema, target: str) -> tuple[tuple[int, ...], ...]:
        """Exact records per rule and class, without noise. For public records only."""
        codes = encode_columns(frame, schema, [target])[target]
        known = codes < len(self.classes)
        counts = np.zeros((len(self.rules), len(self.classes)), dtype=np.int64)
        np.add.at(counts, (self.predict_rules(frame, schema)[known], codes[known]), 1)
        return tuple(tuple(int(count) for count in row) for row in counts)

    def predict(self, frame: pd.DataFrame, schema: Schema) -> Ints:
        """Most probable class code of each row."""
        return np.asarray(self.predict_proba(frame, schema).argmax(axis=1))

    def predict_proba(self, frame: pd.DataFrame, schema: Schema) -> Floats:
        """Class probabilities of each row: shape (n_rows, n_classes)."""
        estimates = np.array([rule.estimates for rule in self.rules])
        return np.asarray(estimates[self.predict_rules(frame, schema)])

    def possible_rules(self, values: Mapping[str, object], schema: Schema) -> tuple[int, ...]:
        """Positions of the rules that one typed-in case may fall under; what is absent is not known."""
        used = (item.column for rule in self.rules for item in rule.conditions)
        return first_possible(possible_cells(values, schema, used), [rule.conditions for rule in self.rules])

    def reading(self, target: str) -> list[str]:
        """The list in plain sentences, one per rule."""
        return [self._sentence(position, target) for position in range(len(self.rules))]

    def _sentence(self, position: int, target: str) -> str:
        rule = self.rules[position]
        best = int(np.argmax(rule.estimates)) if len(self.classes) > 2 else 1
        opening = "If" if position == 0 else "Otherwise, if"
        who = f"{opening} {rule.text}" if rule.conditions else f"For {_DEFAULT if position else _ALONE}"
        chance = f"{who}: the chance of {target} = {self.classes[best]} is"
        return f"{chance} {told_chance(rule, best, self.count_margin)}."

    def to_frame(self) -> pd.DataFrame:
        """Table twin of the list: one row per rule, every number labelled noisy."""
        rows: list[dict[str, object]] = []
        for position, rule in enumerate(self.rules):
            row: dict[str, object] = {"rule": position + 1, "condition": rule.text}
            for code, label in enumerate(self.classes):
                row[f"noisy estimate: {label}"] = rule.estimates[code]
                row[f"from: {label}"], row[f"to: {label}"] = rule.intervals[code]
                row[f"noisy count: {label}"] = rule.noisy_counts[code]
            rows.append(row)
        return pd.DataFrame(rows)
