"""The table of a rule list: rules that the noise hides are folded, and all are there."""

from __future__ import annotations

from decimal import Decimal

from dpcore.domain.conditions import Condition
from dpcore.models.registry import get_learner
from dpcore.models.rules.released.rule_list_model import Rule, RuleListModel, rule_text
from dpcore.released.release import make_release
from tests.support.pages.family_pages import by_hand
from tests.support.pages.ward_runs import SCHEMA

CLEAR, WIDE = ((0.2, 0.3), (0.7, 0.8)), ((0.0, 1.0), (0.0, 1.0))


def rule(cell: int | None, counts: tuple[int, int], intervals: tuple[tuple[float, float], ...]) -> Rule:
    conditions = () if cell is None else (Condition(column="age", first=cell, last=cell),)
    return Rule(
        conditions=conditions,
        text=rule_text(conditions, SCHEMA, 1),
        noisy_counts=counts,
        estimates=(0.25, 0.75),
        intervals=intervals,
    )


def test_rules_that_the_noise_hides_are_folded_together(monkeypatch) -> None:
    rules = (
        rule(0, (400, 1500), CLEAR),
        rule(1, (6, 14), WIDE),
        rule(2, (-9, 4), WIDE),
        rule(3, (300, 900), CLEAR),
        rule(None, (3, 1), WIDE),
    )
    model = RuleListModel(classes=("no", "yes"), rules=rules, count_margin=28, antecedent_count=9, evaluation=None)
    plan = get_learner("rule_list").plan(SCHEMA, "died", Decimal(1), {})
    app = by_hand(monkeypatch, make_release("rule_list", plan, model, secure=True))
    [table] = [str(item.value) for item in app.get("html") if "Rules, from the top" in str(item.value)]
    assert table.count("<details>") == 1
    opening = table.index("<summary>Rules 2 to 3: too noisy to tell</summary>")
    inside, after = table[opening:].split("</details>")
    assert inside.count("ELSE IF") == 2
    assert "too few records to estimate" in inside
    assert after.count("ELSE IF") == 1
    assert "Everyone else" in after, "the last line is never folded"
    assert "<span>1,500</span> ±28" in table
    assert "counts alone say 25%" in after, "the chance of the last line is 75%"
    assert "counts alone say 79%" not in table
    assert table.count("<b>75%</b>") == 2, "only what the noise does not hide stands out"
    assert table.count('<div class="fg-estimate">75% ') == table.count("too noisy to tell</div>") == 2
