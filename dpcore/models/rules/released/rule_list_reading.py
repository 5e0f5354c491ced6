"""What a rule list says: its rules as sentences, as bars and with their people."""

from __future__ import annotations

from collections.abc import Iterator

from dpcore.domain.conditions import pretty
from dpcore.models.rules.released.rule_list_model import Rule, RuleListModel
from dpcore.released.blocks import Block, Bullets, Figure, Group, Groups
from dpcore.released.release import Release


def read_list(release: Release, model: RuleListModel, _short: bool) -> Iterator[Block]:
    """Every rule as a sentence, its chance as a bar, and its people."""
    yield Bullets.of(*map(pretty, model.reading(release.target)))
    yield Figure("rule_list", "Rule by rule", (release,))
    yield rule_groups(release, model)


def rule_groups(release: Release, model: RuleListModel, shown: int | None = None) -> Groups:
    """Whom each rule is for, and everybody else."""
    caption = "Rules, from the top: the first that fits decides"
    groups = tuple(_group(release, model, place, rule) for place, rule in enumerate(model.rules))
    code = len(model.classes) - 1 if shown is None else shown
    return Groups(caption, "Rule", groups, release.target, model.classes, code, remainder=True)


def _group(release: Release, model: RuleListModel, place: int, rule: Rule) -> Group:
    word = "" if not rule.conditions else "ELSE IF" if place else "IF"
    told = tuple(pretty(item.text(release.domain)) for item in rule.conditions)
    who = told or (("Everyone else" if place else "Everyone"),)
    return Group(f"{place + 1}. {word}".strip(), word, who, rule, model.count_margin, place)
