"""What of a released rule list follows from its conditions and noisy counts."""

from __future__ import annotations

from typing import Final

from dpcore.domain.conditions import parse_conjunction
from dpcore.models.rules.released.rule_list_model import RuleListModel, rule_text
from dpcore.models.rules.released.rule_list_parameters import RuleListParameters
from dpcore.released.derived import (
    check_certificate,
    check_classes,
    check_conditions,
    check_shares,
    demand,
    rebuilt_evaluation,
    rebuilt_groups,
)
from dpcore.released.release import Release

#: How the parts compose if conditions are mined.
PASSED_ON: Final = "the parts add up; what mining does not need of 'antecedents' goes to 'list' and 'estimates'"


def rebuilt_list(release: Release, model: RuleListModel) -> RuleListModel:
    """The list with every text and number that follows from the rest."""
    chosen = RuleListParameters.model_validate(release.parameters)
    _check_sizes(release, model, chosen)
    mined = chosen.antecedents == "dp_fim"
    check_certificate(release, chosen.sampler, PASSED_ON if mined else "", chain=chosen.sampler == "mcmc")
    steps = ["estimates", "antecedents"] if mined else ["estimates"]
    alpha = chosen.alpha or (1.0,) * len(model.classes)
    pulled = chosen.alpha is None and chosen.sampler == "lookahead"
    margin, numbers = rebuilt_groups(release, model.rules, model.count_margin, steps, alpha, estimated=not pulled)
    rules = tuple(
        rule.model_copy(update={**own, "text": rule_text(rule.conditions, release.domain, position)})
        for position, (rule, own) in enumerate(zip(model.rules, numbers, strict=True))
    )
    evaluation = rebuilt_evaluation(release, model.evaluation, [rule.estimates for rule in model.rules])
    return model.model_copy(update={"rules": rules, "count_margin": margin, "evaluation": evaluation})


def _check_sizes(release: Release, model: RuleListModel, chosen: RuleListParameters) -> None:
    check_classes(release, model.classes)
    classes, rules = len(model.classes), model.rules
    demand(0 < len(rules) <= chosen.most_rules + 1)
    demand(0 < len(rules) - 1 <= model.antecedent_count <= max(chosen.conditions, 1) or len(rules) == 1)
    demand(0 <= model.antecedent_count <= chosen.conditions)
    for text in chosen.given:
        parse_conjunction(text, release.domain)
    longest = max((text.count(" and ") + 1 for text in chosen.given), default=chosen.longest)
    demand(not rules[-1].conditions and all(0 < len(rule.conditions) <= longest for rule in rules[:-1]))
    for rule in rules:
        check_conditions(release, rule.conditions)
        demand(len(rule.noisy_counts) == len(rule.intervals) == classes)
    check_shares((rule.estimates for rule in rules), classes)
