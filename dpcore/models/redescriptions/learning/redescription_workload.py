"""How much a run of redescriptions has to do, from its plan. Figures as measured by ``benchmarks costs``."""

from __future__ import annotations

from dpcore.learning.exact_draws.joint_counts import exact_words
from dpcore.learning.workload import table_bytes, words_of
from dpcore.models.redescriptions.learning.plans import (
    RedescriptionSettings,
    candidate_limits,
    literals_of,
    most_classes,
    tree_blocks,
)
from dpcore.released.plan import RunPlan
from dpcore.released.workload import Work, Workload

#: Words of the same price as a candidate beside its words, and in every search.
_COMPARED, _SEARCHED = 450.0, 45.0
#: Words of the same price as a word of a leaf of a tree that is tried: by a chain, and in a pool.
_CHAIN, _POOL = 1.0, 2.0
#: Calls of a step of a chain, of a pair of the pool, of a tree, and of each of its nodes.
_STEP, _TRIED, _TREE, _NODE = 0.2, 0.05, 5.0, 3.0


def redescription_workload(plan: RunPlan) -> Workload:
    """All work of redescriptions."""
    chosen: RedescriptionSettings = plan.parameters
    trees = chosen.starts * (2 if chosen.together else chosen.rounds + 1)
    sizes = [len(literals_of(plan.schema, own, chosen)) for own in (chosen.left, chosen.right)]
    words = words_of(plan.schema)
    memory = table_bytes(plan.schema) + 8.0 * sum(sizes) * words
    steps = {}
    if chosen.method == "exact_pairs":
        left, right = candidate_limits(plan.schema, chosen)
        candidates = float(left * right)
        steps["comparing conditions"] = Work(words=candidates * (words + _COMPARED), calls=50)
        growing = Work(words=chosen.starts * candidates * _SEARCHED, calls=3 * _TREE * trees)
        memory += 12 * candidates
    else:
        growing = _trees(plan, chosen, trees, sizes)
    steps["growing trees"] = growing
    return Workload(steps, memory)


def _trees(plan: RunPlan, chosen: RedescriptionSettings, trees: int, sizes: list[int]) -> Work:
    """Work of the methods that grow one tree after another, or try many."""
    words, classes, leaves = words_of(plan.schema), most_classes(plan.schema, chosen), 2**chosen.depth
    if chosen.method in {"lookahead", "alt_expm"}:
        blocks = tree_blocks(plan.schema, chosen)
        each = sum(exact_words(blocks, size, classes, words) for size in sizes) / 2
        starts = chosen.starts * sizes[0] * sizes[1] * words
        return Work(words=trees * each + starts, calls=trees * (_TREE + _NODE * leaves))
    pool = chosen.method == "mcmc_tree_pair" and chosen.sampler == "pool"
    tries = chosen.starts * (chosen.pool_size if pool else chosen.steps)
    tries *= 1 if chosen.together else chosen.rounds + 1
    each = (_POOL if pool else _CHAIN) * words * leaves * (classes + (leaves if chosen.together else 0))
    return Work(words=tries * each, calls=tries * (_TRIED if pool else _STEP) + _TREE * trees)
