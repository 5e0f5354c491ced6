"""What a released list says of groups whose noisy counts add up to nobody."""

from decimal import Decimal
from types import SimpleNamespace

import pytest

from dpcore.domain.conditions import Condition
from dpcore.models.rules.learning.rule_list_learner import RuleListLearner
from dpcore.models.rules.released.rule_list_model import Rule, RuleListModel
from dpcore.models.rules.released.rule_list_reading import rule_groups
from dpcore.plots.rule_list import rule_list_figure
from dpcore.released.noisy_counts import TOO_NOISY, is_told, why_apart
from dpcore.released.release import make_release
from pages.components.families.shared import blocks
from tests.support.tables.small_tables import schema_of

ILL = {"name": "ill", "type": "boolean", "target": True}


def _reading(*counts, interval=(0.6, 0.8)):
    rule = Rule(
        conditions=(), text="everyone else", noisy_counts=counts, estimates=(0.29, 0.71), intervals=(interval,) * 2
    )
    model = RuleListModel(classes=("no", "yes"), rules=(rule,), count_margin=9, antecedent_count=1, evaluation=None)
    return model.reading("ill")[0]


def test_everyone_else_is_told_of_only_after_a_rule():
    schema = schema_of([{"name": "age", "type": "integer", "lower": 0, "upper": 100, "bins": 2}, ILL])
    shares = {"noisy_counts": (40, 90), "estimates": (0.29, 0.71), "intervals": ((0.2, 0.4), (0.6, 0.8))}
    facts = {"classes": ("no", "yes"), "count_margin": 9, "antecedent_count": 1, "evaluation": None}
    old = Condition(column="age", first=1, last=1)
    for conditions, start in (((), "For everyone: "), ((old,), "If age > 50: ")):
        rules = [Rule(conditions=items, text="", **shares) for items in ([conditions, ()] if conditions else [()])]
        model = RuleListModel(rules=tuple(rules), **facts).worded(schema)
        first, *others = model.reading("ill")
        assert first.startswith(start)
        assert [sentence.startswith("For everyone else: ") for sentence in others] == [True] * len(others)
        assert model.to_frame()["condition"].tolist() == (["age > 50", "everyone else"] if conditions else ["everyone"])


def test_no_chance_is_told_that_noise_hides():
    told = _reading(4, 9, interval=(0.02, 0.97))
    assert told.endswith("is too noisy to tell: anything from 2.0% to 97% fits.")
    assert "71%" not in told
    few = _reading(4, 5, interval=(0.0, 0.47))
    assert few.endswith("is too noisy to tell: anything from 0.0% to 47% fits."), "no more than the noise on one count"
    assert "71%" not in few


@pytest.mark.crossed
@pytest.mark.parametrize("interval", [(0.0, 0.47), (0.0, 0.5), (0.0, 0.51), (0.6, 0.8)])
@pytest.mark.parametrize("counts", [(4, 9), (4, 6), (4, 5), (0, 0), (-9, 4)])
def test_words_table_chart_and_plain_text_agree_on_what_noise_hides(counts, interval):
    rule = Rule(
        conditions=(), text="everyone else", noisy_counts=counts, estimates=(0.29, 0.71), intervals=(interval,) * 2
    )
    model = RuleListModel(classes=("no", "yes"), rules=(rule,), count_margin=9, antecedent_count=1, evaluation=None)
    told = is_told(rule, 1, 9)
    assert ("about 71%" in model.reading("ill")[0]) == told
    assert ("<b>" in blocks.estimate(rule, 1, 9)) == told
    marks = [mark.marker.symbol for mark in chart([counts], [interval]).data if mark.y]
    assert ("circle" in marks) == told
    line = rule_groups(SimpleNamespace(target="ill", domain=None), model).table.texts[0][1]
    assert ("71%" in line and TOO_NOISY not in line) == told


def test_a_chance_that_its_counts_seem_to_contradict_says_why():
    own = {"text": "", "conditions": (), "estimates": (0.29, 0.71), "intervals": ((0.1, 0.4), (0.6, 0.8))}
    assert why_apart(Rule(noisy_counts=(29, 71), **own), 1) == ""
    assert why_apart(Rule(noisy_counts=(30, 66), **own), 1) == "", "nearly their share"
    assert why_apart(Rule(noisy_counts=(-13, 4), **own), 1) == "", "of nobody no chance is told"
    assert why_apart(Rule(noisy_counts=(12, 28), **own), 0) == ""
    assert "counts alone say 30%" in why_apart(Rule(noisy_counts=(28, 12), **own), 1)
    assert "counts alone say 0.0%" in why_apart(Rule(noisy_counts=(28, -3), **own), 1)


def test_a_chance_by_which_another_class_is_the_most_likely_one_says_why():
    """Only of the two that change places: of a third one nothing seems to be wrong."""
    own = {"text": "", "conditions": (), "intervals": ((0.1, 0.6), (0.1, 0.6), (0.1, 0.2))}
    rule = Rule(noisy_counts=(43, 45, 12), estimates=(0.45, 0.43, 0.12), **own)
    assert "counts alone say 43%" in why_apart(rule, 0)
    assert "counts alone say 45%" in why_apart(rule, 1)
    assert why_apart(rule, 2) == ""


def chart(counts, intervals):
    """Chart of a list whose rules have these noisy counts and intervals."""
    rules = [
        Rule(conditions=(), text=str(place), noisy_counts=own, estimates=(0.29, 0.71), intervals=((0, 1), interval))
        for place, (own, interval) in enumerate(zip(counts, intervals, strict=True))
    ]
    model = RuleListModel(classes=("no", "yes"), rules=rules, count_margin=9, antecedent_count=1, evaluation=None)
    plan = RuleListLearner().plan(schema_of([{"name": "x", "type": "boolean"}, ILL], 1000), "ill", Decimal(1), {})
    return rule_list_figure(make_release("rule_list", plan, model, secure=True, dataset_id="in-memory"))
