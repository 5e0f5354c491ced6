"""Rule lists, as all who read them know the family."""

from __future__ import annotations

from typing import Final

from dpcore.models.rules.released.rule_list_derived import rebuilt_list
from dpcore.models.rules.released.rule_list_evidence import RuleListEvidence
from dpcore.models.rules.released.rule_list_model import RuleListModel
from dpcore.models.rules.released.rule_list_parameters import RuleListParameters
from dpcore.models.rules.released.rule_list_reading import read_list
from dpcore.released.family import ReleasedFamily

# Not thorough: it tells of a few conditions only, and which ones depends much on the others.
RULE_LIST: Final = ReleasedFamily(
    name="rule_list",
    title="Rule list",
    lead="A short list of IF / ELSE IF rules that predicts one column, learned privately.",
    parameters=RuleListParameters,
    model=RuleListModel,
    read=read_list,
    rebuilt=rebuilt_list,
    evidence=RuleListEvidence,
    rehearsed={"pool_size": 100_000, "mcmc_steps": 20_000},
)
