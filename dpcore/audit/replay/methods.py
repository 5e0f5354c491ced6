"""Every method of every family, with parameters to draw from and what it asks of a schema."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Final
from zlib import crc32

import numpy as np

from dpcore.audit.replay.replayed_tables import SchemaShape
from dpcore.privacy.randomness import public_generator
from dpcore.released.parameters import LEAST_STEPS

Choices = Mapping[str, tuple[object, ...]]
_ON_OR_OFF: Final = (True, False)
#: All cut points of the schema, or one of a column that many schemas have.
_CUTS: Final = ((), ("x0: 2",))
#: Small ones, large ones, and such as no share divides evenly.
_EPSILONS: Final = ("0.05", "0.3", "1", "2.777777777", "10", "200")
#: For which the fewest steps that a chain may have suffice on tables as small as these.
_MILD: Final = ("0.02", "0.05", "0.077777777", "0.1")
#: So large that a certificate of epsilon at delta is not much above the loss.
_DELTA: Final = "0.001"


@dataclass(frozen=True)
class ReplayMethod:
    """One way to learn."""

    family: str
    """Name of the learner."""
    name: str
    shape: SchemaShape
    choices: Choices = field(default_factory=dict)
    """Values of each parameter to draw from; those not named keep their defaults."""
    delta: str = "0"
    """That an account gives to a run. If it is not 0, only runs are replayed that compose."""
    epsilons: tuple[str, ...] = _EPSILONS
    """To draw from."""

    def generator(self, seed: int) -> np.random.Generator:
        """What is drawn for a seed, which other methods do not change."""
        return public_generator(seed << 32 | crc32(f"{self.family}, {self.name}".encode()))


#: Of rule lists that are compared as a whole.
_OF_WHOLE_LISTS: Final = ("pool_size", "max_rules", "list_length", "selection_alpha")
_RULES: Final[Choices] = {
    "sampler": ("pool",),
    "max_antecedent_length": (1, 2),
    "max_antecedents": (3, 12, 40),
    "numeric_literals": ("thresholds", "intervals"),
    "reserved_literals": _ON_OR_OFF,
    "pool_size": (50, 300),
    "max_rules": (1, 3, 8),
    "list_length": (0.5, 2.0),
    "selection_alpha": ("house", "same"),
    "shares": (None, {"estimates": 1000}, {"list": 1000}, {"antecedents": 1000}),
    "evaluate": _ON_OR_OFF,
    "cut_points": _CUTS,
}
_CHAIN: Final[Choices] = {
    **_RULES,
    "sampler": ("mcmc",),
    "mcmc_steps": (LEAST_STEPS,),
    "max_antecedents": (3, 8),
    "max_rules": (1, 3),
}
_GIVEN: Final[Choices] = {
    **_CHAIN,
    "given": (("x0 = yes",), ("x0 = no", "x0 = (missing)"), ("x0 = (missing)",)),
    "cut_points": ((),),
}
_BLOCKS: Final[Choices] = {
    **{name: values for name, values in _RULES.items() if name not in _OF_WHOLE_LISTS},
    "sampler": ("lookahead",),
    "max_antecedent_length": (None, 1, 2),
    "rules": (None, 1, 2, 3, 6),
}
_MINED: Final[Choices] = {
    "antecedents": ("dp_fim",),
    "max_antecedent_length": (1, 2, 3),
    "min_support": (0.0, 0.05, 0.9),
}
_CRITERIA: Final = ("error", "gini", "information_gain", "matsushita")
_TREES: Final[Choices] = {
    "criterion": _CRITERIA,
    "depth": (1, 2, 4),
    "threshold": (0.0, 0.01, 0.5),
    "spend_rest": _ON_OR_OFF,
    "prune": (None, True, False),
    "evaluate": _ON_OR_OFF,
    "cut_points": _CUTS,
}
_FIXED_DEPTH: Final = ("sulq_id3", "diffp_id3", "diffp_c45")
_LOOKAHEAD: Final[Choices] = {
    "criterion": ("balanced", "error", "gini"),
    "blocks": ((1,), (2,), (3,), (1, 1), (2, 1)),
    "leaf_share": (None, 0.05, 0.5),
    "reserved_splits": _ON_OR_OFF,
    "prune": _ON_OR_OFF,
    "evaluate": _ON_OR_OFF,
    "cut_points": _CUTS,
}
_FORESTS: Final[Choices] = {
    **{name: values for name, values in _TREES.items() if name != "prune"},
    "sharing": ("parts", "split"),
    "trees": (1, 3, 6),
    "attributes": (None, 1, 2),
}
_MACHINES: Final[Choices] = {
    "delta": ("0.001", "0.00001"),
    "epochs": (1, 4, 9),
    "learning_rate": (None, 0.5),
    "max_bins": (None, 4),
    "bin_share": (None, 0.02, 0.5),
    "replicates": (3, 4),
    "evaluate": _ON_OR_OFF,
}
_DIRECTED: Final[Choices] = {**_MACHINES, "increasing": ((), ("x0",))}
_SPLITS: Final[Choices] = {**_MACHINES, "method": ("random_splits",), "leaves": (2, 3), "replicates": (1, 3)}
_PAIRS: Final[Choices] = {**_MACHINES, "pairs": (1, 2)}
_SIDES: Final[Choices] = {
    "starts": (None, 1, 2),
    "tree_share": (None, 0.01, 0.8),
    "margins": (None, True, False),
    "reserved_splits": _ON_OR_OFF,
}
_TURNS: Final[Choices] = {**_SIDES, "depth": (1, 2), "rounds": (1, 2)}
_TOGETHER: Final[Choices] = {
    **_SIDES,
    "method": ("mcmc_tree_pair",),
    "depth": (1,),
    "sensitivity": ("proved", "published"),
}
_POOL: Final[Choices] = {**_TOGETHER, "sampler": ("pool",), "pool_size": (20, 100), "depth": (1, 2, 3)}
_CLAUSES: Final[Choices] = {
    "max_literals": (1, 2, 3),
    "max_variables": (0, 1, 2),
    "negation": _ON_OR_OFF,
    "quantifiers": (None, ("exists", "counts"), ("exists", "counts", "order", "alike"), ("exists", "within", "counts")),
    "most_counted": (2, 5),
    "clauses": (1, 2, 3),
    "positive_weight": (1, 3),
    "negative_weight": (1, 2),
    "strict_first": (None, True, False),
    "weigh_alike": (None, True, False),
    "count_share": ("0.2", "0.01", "0.995"),
    "length_prior": _ON_OR_OFF,
    "criterion": ("best", "share"),
    "reserved_literals": _ON_OR_OFF,
    "evaluate": _ON_OR_OFF,
}
_TABLES: Final[Choices] = {
    "pairs": (0, 1, 2),
    "by": (None, "left0", "right0"),
    "crosstabs": ((), ("left0 by right0",)),
    "columns": (None, ("left0", "right0")),
}
_FOUND: Final[Choices] = {"pairs": (1, 2)}
_NESTED: Final[Choices] = {
    "codes": ((), ("codes",)),
    "finer": (("number",),),
    "by": (None, "left0", "codes"),
    "columns": (None, ("codes", "left0", "number")),
    "pairs": (0, 1),
}
_FEW: Final = SchemaShape(features=(1, 3))
_TWO: Final = SchemaShape("two classes", (1, 3))
_NUMBERS: Final = SchemaShape("numbers", (1, 3))
_VIEWS: Final = SchemaShape("", (1, 2))
_LOOKS: Final = SchemaShape("", (1, 2), children=True)
_LEVELS: Final = SchemaShape("", (1, 2), levels=True)
_RELATIONS: Final = SchemaShape(features=(1, 2), children=True, nested=True)


def _of(choices: Choices, **fixed: object) -> Choices:
    return {**choices, **{name: (value,) for name, value in fixed.items()}}


METHODS: Final[tuple[ReplayMethod, ...]] = (
    ReplayMethod("rule_list", "pool", SchemaShape(), _RULES),
    ReplayMethod("rule_list", "blocks", SchemaShape(), _BLOCKS),
    ReplayMethod("rule_list", "mined conditions", SchemaShape(), {**_RULES, **_MINED}),
    ReplayMethod("rule_list", "mined conditions, blocks", SchemaShape(), {**_BLOCKS, **_MINED}),
    ReplayMethod("rule_list", "chain", _FEW, _CHAIN, epsilons=_MILD),
    ReplayMethod("rule_list", "chain as published", _FEW, _of(_CHAIN, tempered_prior=True), epsilons=_MILD),
    ReplayMethod("tree", "lookahead", SchemaShape(), _of(_LOOKAHEAD, method="lookahead")),
    ReplayMethod("rule_list", "pool, composing", SchemaShape(), _RULES, _DELTA),
    ReplayMethod("rule_list", "blocks, composing", SchemaShape(), _BLOCKS, _DELTA),
    ReplayMethod("rule_list", "mined conditions, composing", SchemaShape(), {**_RULES, **_MINED}, _DELTA),
    ReplayMethod("rule_list", "mined conditions, blocks, composing", SchemaShape(), {**_BLOCKS, **_MINED}, _DELTA),
    ReplayMethod("rule_list", "chain, given conditions", _FEW, _GIVEN, epsilons=_MILD),
    ReplayMethod("tree", "lookahead, composing", SchemaShape(), _of(_LOOKAHEAD, method="lookahead"), _DELTA),
    *(
        ReplayMethod("tree", f"adiffp, {own}", SchemaShape(), _of(_TREES, method="adiffp", criterion=own))
        for own in _CRITERIA
    ),
    ReplayMethod("tree", "diffp_id3", SchemaShape(), _of(_TREES, method="diffp_id3")),
    ReplayMethod("tree", "diffp_c45", SchemaShape(), _of(_TREES, method="diffp_c45")),
    ReplayMethod("tree", "sulq_id3", SchemaShape(), _of(_TREES, method="sulq_id3")),
    *(
        ReplayMethod("forest", f"{name}, {how}", SchemaShape(), _of(_FORESTS, method=name, sharing=how))
        for name in ("rfdiffp", "random_trees")
        for how in ("parts", "split")
    ),
    ReplayMethod("tree", "adiffp, composing", SchemaShape(), _of(_TREES, method="adiffp"), _DELTA),
    ReplayMethod("tree", "fixed depth, composing", SchemaShape(), {**_TREES, "method": _FIXED_DEPTH}, _DELTA),
    *(
        ReplayMethod("forest", f"{name}, composing", SchemaShape(), _of(_FORESTS, method=name), _DELTA)
        for name in ("rfdiffp", "random_trees")
    ),
    ReplayMethod("ebm", "all bins, two classes", _TWO, _DIRECTED),
    ReplayMethod("ebm", "all bins, classes", _FEW, _MACHINES),
    ReplayMethod("ebm", "all bins, numbers", _NUMBERS, _DIRECTED),
    ReplayMethod("ebm", "pairs, classes", SchemaShape(features=(2, 3)), _PAIRS),
    ReplayMethod("ebm", "pairs, numbers", SchemaShape("numbers", (2, 3)), _PAIRS),
    ReplayMethod("ebm", "random splits, classes", _FEW, _SPLITS),
    ReplayMethod("ebm", "random splits, numbers", _NUMBERS, _SPLITS),
    ReplayMethod("ebm", "pairs, composing", SchemaShape("numbers", (2, 3)), _of(_PAIRS, delta=None), _DELTA),
    ReplayMethod("ebm", "random splits, composing", _FEW, _of(_SPLITS, delta=None), _DELTA),
    ReplayMethod("redescriptions", "exact_pairs", _VIEWS, _of(_SIDES, method="exact_pairs")),
    ReplayMethod("redescriptions", "lookahead", _VIEWS, _of(_TURNS, method="lookahead")),
    ReplayMethod("redescriptions", "alt_expm", _VIEWS, _of(_TURNS, method="alt_expm")),
    ReplayMethod("redescriptions", "exact_pairs, composing", _VIEWS, _of(_SIDES, method="exact_pairs"), _DELTA),
    ReplayMethod("redescriptions", "lookahead in turns, composing", _VIEWS, _of(_TURNS, method="lookahead"), _DELTA),
    ReplayMethod("redescriptions", "alt_expm, composing", _VIEWS, _of(_TURNS, method="alt_expm"), _DELTA),
    ReplayMethod(
        "redescriptions", "alt_mcmc", _VIEWS, _of(_TURNS, method="alt_mcmc", steps=LEAST_STEPS), epsilons=_MILD
    ),
    ReplayMethod("redescriptions", "mcmc_tree_pair, chain", _VIEWS, _of(_TOGETHER, steps=LEAST_STEPS), epsilons=_MILD),
    ReplayMethod("redescriptions", "mcmc_tree_pair, pool", _VIEWS, _POOL),
    ReplayMethod("redescriptions", "mcmc_tree_pair, pool, composing", _VIEWS, _POOL, _DELTA),
    ReplayMethod("ilp", "noisy_max, composing", _RELATIONS, _of(_CLAUSES, method="noisy_max"), _DELTA),
    *(
        ReplayMethod("ilp", method, _RELATIONS, _of(_CLAUSES, method=method))
        for method in ("noisy_max", "naive", "relevance_aware")
    ),
    *(
        ReplayMethod("ilp", f"{method}, composing", _RELATIONS, _of(_CLAUSES, method=method), _DELTA)
        for method in ("naive", "relevance_aware")
    ),
    ReplayMethod("summaries", "weighted", _LOOKS, _of(_TABLES, method="weighted")),
    ReplayMethod("summaries", "equal", _LOOKS, _of(_TABLES, method="equal")),
    ReplayMethod("summaries", "pairs found", _LOOKS, _FOUND),
    ReplayMethod("summaries", "pairs for records", _LOOKS, {"records": (True,)}),
    ReplayMethod("summaries", "with a delta", _LOOKS, {**_TABLES, "delta": (_DELTA, "0.00001")}),
    ReplayMethod("summaries", "pairs found with a delta", _LOOKS, {**_FOUND, "delta": (_DELTA,)}),
    ReplayMethod("summaries", "tables, composing", _LOOKS, {**_TABLES, "method": ("weighted", "equal")}, _DELTA),
    ReplayMethod("summaries", "pairs found, composing", _LOOKS, _FOUND, _DELTA),
    ReplayMethod("summaries", "pairs for records, composing", _LOOKS, {"records": (True,)}, _DELTA),
    ReplayMethod("summaries", "groups and finer cells", _LEVELS, _NESTED),
    ReplayMethod("summaries", "groups and finer cells with a delta", _LEVELS, {**_NESTED, "delta": (_DELTA,)}),
    ReplayMethod("summaries", "groups and finer cells, composing", _LEVELS, _NESTED, _DELTA),
)
