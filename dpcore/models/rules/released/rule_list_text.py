"""Rule lists as plain text for a terminal."""

from __future__ import annotations

from dpcore.models.rules.released.rule_list_model import RuleListModel
from dpcore.released.noisy_counts import told_share
from dpcore.released.plain_text import text_table
from dpcore.released.release import Release


def rule_list_text(_: Release, model: RuleListModel) -> str:
    """One line per rule, in list order."""
    shown = range(len(model.classes)) if len(model.classes) > 2 else [1]
    head = ["", "condition"]
    head += [f"noisy {model.classes[code]}" for code in shown]
    head += [f"noisy counts ({', '.join(model.classes)})"]
    rows = []
    for position, rule in enumerate(model.rules):
        word = "IF" if position == 0 else "ELSE IF"
        row = [word if rule.conditions else "", rule.text]
        row += [told_share(rule, code, model.count_margin) for code in shown]
        rows.append([*row, ", ".join(str(count) for count in rule.noisy_counts)])
    return text_table(head, rows)
