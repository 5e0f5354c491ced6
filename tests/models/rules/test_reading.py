"""What a released list says of groups whose noisy counts add up to nobody."""

from dpcore.models.rules.released.model import Rule, RuleListModel


def _reading(*counts):
    rule = Rule(
        conditions=(), text="everyone else", noisy_counts=counts, estimates=(0.29, 0.71), intervals=((0, 1),) * 2
    )
    model = RuleListModel(classes=("no", "yes"), rules=(rule,), count_margin=9, antecedent_count=1, evaluation=None)
    return model.reading("ill")[0]


def test_no_chance_is_told_of_nobody():
    assert "71%" not in _reading(-17, 4)
    assert "too few people" in _reading(-17, 4)
    assert "71%" in _reading(4, 9)
