"""How much a run of a rule list has to do, from its plan. Figures as measured by ``benchmarks costs``."""

from __future__ import annotations

from typing import Final

from dpcore.data.building.division import partition_count
from dpcore.data.queries import LogLikelihood
from dpcore.domain.schemas.schema import Schema
from dpcore.learning.workload import rows_alone, table_bytes, words_of
from dpcore.models.rules.learning.blocks import block_count
from dpcore.models.rules.learning.samplers import PARTS, counted_bytes, list_bytes
from dpcore.models.rules.released.rule_list_parameters import RuleListParameters
from dpcore.released.plan import RunPlan
from dpcore.released.workload import Work, Workload

#: Words of the same price as a word of a rule of a list, and what a rule takes beside its words.
_WORD, _RULE = 3.0, 45.0
#: Calls of drawing a list, of scoring it, of a step of the chain, and of an itemset that is mined.
_DRAW, _SCORE, _STEP, _ITEMSET = 0.0065, 0.012, 0.4, 1.5
#: Words of the same price as a word of a pair of rules, and what a pair takes beside its words, for each class.
_BLOCK_WORD, _PAIR = 2.5, 800.0
_COUNTING: Final = 150.0


def rule_list_workload(plan: RunPlan) -> Workload:
    """All work of a rule list."""
    parameters: RuleListParameters = plan.parameters
    words, cores = words_of(plan.schema), rows_alone(plan.schema)
    conditions = parameters.conditions
    mined = parameters.antecedents == "dp_fim"
    preparing = Work(
        words=2 * conditions * words * parameters.longest,
        calls=10 + (_ITEMSET * conditions if mined else 0),
        cores=cores,
    )
    steps = {"preparing conditions": preparing}
    classes = max(1, len(plan.classes) - 1)
    if parameters.sampler == "lookahead":
        blocks = block_count(parameters.rules)
        pair = len(plan.classes) * (_BLOCK_WORD * words + _PAIR)
        choosing = Work(words=blocks * conditions**2 / 2 * pair, calls=blocks, cores=cores)
    elif parameters.sampler == "pool":
        lists, rules = parameters.pool_size, min(parameters.max_rules, parameters.list_length)
        steps["drawing candidate lists"] = Work(calls=_DRAW * lists)
        choosing = Work(words=lists * (rules * (_WORD * classes * words + _RULE)), calls=_SCORE * lists, cores=cores)
    else:
        tried = parameters.mcmc_steps
        rule = _WORD * classes * words + _RULE
        choosing = Work(words=tried * parameters.max_rules * rule, calls=_STEP * tried * cores, cores=cores)
    steps["choosing a list"] = choosing
    steps["counting with noise"] = Work(words=4 * words * parameters.most_rules * classes, calls=_COUNTING)
    kept = _kept_bytes(parameters, len(plan.classes), plan.schema)
    return Workload(steps, table_bytes(plan.schema) + 16 * conditions * words + kept)


def _kept_bytes(parameters: RuleListParameters, classes: int, schema: Schema) -> int:
    """What compares whole lists keeps: tables of likelihoods, the pool, and the counts of some of its lists."""
    if parameters.sampler == "lookahead":
        return 0
    tables = LogLikelihood.room(classes, schema.max_rows)
    if parameters.sampler == "mcmc":
        return tables
    lists, rules = parameters.pool_size, parameters.most_rules
    counts = counted_bytes(-(-lists // PARTS), rules, classes, partition_count(schema.max_rows))
    return tables + lists * list_bytes(rules) + 2 * counts
