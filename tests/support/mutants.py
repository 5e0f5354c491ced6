"""Ways to break the engine that a replay must find out, each with the methods where it bites."""

import logging
import os
import sys
import tempfile
import warnings
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, ExitStack, contextmanager
from dataclasses import dataclass, replace
from fractions import Fraction
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np

import dpcore.learning.holdout
import dpcore.models.ebm.learning.accounting
import dpcore.models.ebm.learning.fit
import dpcore.models.ebm.learning.holdout
import dpcore.models.ebm.learning.pairs
import dpcore.models.ilp.learning.ilp_learner
import dpcore.models.ilp.learning.selection
import dpcore.models.ilp.learning.weighing
import dpcore.models.redescriptions.learning.pool
import dpcore.models.redescriptions.learning.redescription_learner
import dpcore.models.redescriptions.learning.starts
import dpcore.models.redescriptions.learning.tree_chains
import dpcore.models.rules.learning.blocks
import dpcore.models.rules.learning.mining
import dpcore.models.rules.learning.rule_list_learner
import dpcore.models.rules.learning.samplers
import dpcore.models.summaries.learning.accounting
import dpcore.models.summaries.learning.summary_learner
import dpcore.models.trees.learning.driver
import dpcore.models.trees.learning.exact_tree
import dpcore.models.trees.learning.greedy
import dpcore.models.trees.learning.sulq
from dpcore.audit.bounds import replaced
from dpcore.audit.ilp import links_of_anybody
from dpcore.audit.replay.methods import METHODS
from dpcore.data.partition import Partition
from dpcore.learning import chains
from dpcore.learning.exact_draws.lookahead import ExactWeight
from dpcore.learning.learner import Run
from dpcore.models.ebm.learning import accounting
from dpcore.models.ilp.language import reach
from dpcore.privacy import budgets, losses, mechanisms
from dpcore.privacy.mechanisms import _AdditiveNoise
from dpcore.released.plan import RunPlan

ALL = tuple(method.name for method in METHODS)
TREES = ("diffp_id3", "diffp_c45", "sulq_id3")
ADIFFP = tuple(name for name in ALL if name.startswith("adiffp"))
FORESTS = tuple(method.name for method in METHODS if method.family == "forest")
GAUSSIAN_LEVELS = ("groups and finer cells with a delta", "groups and finer cells, composing")
GAUSSIAN_LOOKS = ("with a delta", "pairs found with a delta", "weighted, composing", *GAUSSIAN_LEVELS)
LEVELS = ("groups and finer cells", *GAUSSIAN_LEVELS)
LOOKS = ("weighted", "equal", "pairs found", "pairs for records", "groups and finer cells", *GAUSSIAN_LOOKS)
MACHINES = tuple(method.name for method in METHODS if method.family == "ebm")


@dataclass(frozen=True)
class Mutant:
    """What is broken, how, and the methods (family, name) in which a replay must see it."""

    name: str
    broken: Callable[[], AbstractContextManager[Any]]
    bites: tuple[tuple[str, str], ...]


def _methods(*names: str, family: str = "") -> tuple[tuple[str, str], ...]:
    return tuple((own.family, own.name) for own in METHODS if own.name in names and family in ("", own.family))


def _evaluated() -> tuple[tuple[str, str], ...]:
    """A method of each family that evaluates."""
    return (
        *_methods("pool", "blocks", "diffp_id3", "random_trees, parts", "all bins, classes", "noisy_max"),
        *_methods("lookahead", family="tree"),
    )


def _louder(kind: type[Any], *chosen: Any, **named: Any) -> Any:
    """A mechanism as if for half the sensitivity: twice the budget, and the promise of one."""
    budget = {mechanisms.FineGaussian: "mu", mechanisms.GaussianMechanism: "rho"}.get(kind, "epsilon")
    sensitivity, amount, *rest = chosen
    built = kind(sensitivity, (4 if budget == "rho" else 2) * amount, *rest, **named)
    object.__setattr__(built, budget, amount)
    return built


@contextmanager
def fresh() -> Iterator[None]:
    """Nothing that was built before is used, nor afterwards what was built meanwhile."""
    cached = (
        dpcore.models.trees.learning.driver.geometric,
        dpcore.models.trees.learning.greedy._selection,
    )
    for own in cached:
        own.cache_clear()
    try:
        yield
    finally:
        for own in cached:
            own.cache_clear()


@contextmanager
def halved(module: Any, name: str) -> Iterator[None]:
    """Half the sensitivity of every mechanism of a kind that a module builds."""
    with fresh(), replaced(module, name, partial(_louder, getattr(module, name))):
        yield


@contextmanager
def everywhere(function: Any, value: Any) -> Iterator[None]:
    """Put a function in the place of another, wherever it was imported."""
    with fresh(), ExitStack() as stack:
        for module in [own for name, own in sys.modules.items() if name.startswith("dpcore")]:
            for name, own in list(vars(module).items()):
                if own is function:
                    stack.enter_context(replaced(module, name, value))
        yield


def _whole(epsilon: Any, rows_per_person: int) -> Any:
    return epsilon


def _rows_ignored() -> AbstractContextManager[None]:
    return everywhere(budgets.row_epsilon, _whole)


def _rows_ignored_by_gaussian_counts() -> AbstractContextManager[None]:
    """The rho of a person is taken for that of a row."""
    return replaced(RunPlan, "row_rho", property(lambda plan: plan.composed and float(plan.composed.counts)))


@contextmanager
def _twice_the_epsilon() -> Iterator[None]:
    """A rho pays for selections of twice the epsilon."""
    with everywhere(losses.selection_epsilon, lambda rho: 2 * SELECTION(rho)):
        yield


def _rows_ignored_by_machines() -> AbstractContextManager[None]:
    """The bound of a person is taken for that of a row."""
    part = accounting.gaussian_part

    def whole(mu: float, share: Any) -> float:
        person = isinstance(share, Fraction) and share.numerator == 1 and share in SQUARES
        return mu if person else part(mu, share)

    return replaced(accounting, "gaussian_part", whole)


SELECTION = losses.selection_epsilon
ACCEPTANCE = chains.acceptance
SQUARES = {Fraction(1, rows**2) for rows in range(2, 6)}


@contextmanager
def _half_scale() -> Iterator[None]:
    fit = mechanisms._fit_scale
    with fresh(), replaced(mechanisms, "_fit_scale", lambda *public: fit(*public) / 2):
        yield


@contextmanager
def _half_afterwards() -> Iterator[None]:
    """Noise is drawn as it should be, and halved before anybody sees it."""
    release = _AdditiveNoise.release

    def quieter(own: Any, values: Any, source: Any) -> Any:
        noise = release(own, values, source) - values
        return values + noise // 2

    with replaced(_AdditiveNoise, "release", quieter):
        yield


def _no_noise() -> AbstractContextManager[None]:
    return replaced(_AdditiveNoise, "release", lambda own, values, source: values)


def _part_of_all(part: str) -> AbstractContextManager[None]:
    """A part of the records is taken to be all of them."""
    members = Partition.members

    def wider(own: Partition, wanted: str) -> Any:
        return members(own, "all" if wanted == part else wanted)  # type: ignore[arg-type]

    return replaced(Partition, "members", wider)


def _monotone(module: Any) -> AbstractContextManager[None]:
    """The factor of scores that all move one way, where they do not."""
    kind = module.ExponentialMechanism
    return replaced(module, "ExponentialMechanism", lambda *own, **_: kind(*own[:2], True))


@contextmanager
def _heavy_weight() -> Iterator[None]:
    """Twice the weight: half the reach of a record over what is drawn whole."""
    within = ExactWeight.within.__func__

    def heavier(cls: Any, *public: Any, **named: Any) -> ExactWeight:
        weight = within(cls, *public, **named)
        return replace(weight, numerator=2 * weight.numerator)

    with replaced(ExactWeight, "within", classmethod(heavier)):
        yield


def _heavy_walk(module: Any, name: str) -> AbstractContextManager[None]:
    kind = getattr(module, name)

    def heavier(*own: Any) -> Any:
        walk = kind(*own)
        return replace(walk, weight=2 * walk.weight)

    return replaced(module, name, heavier)


@contextmanager
def _periodic() -> Iterator[None]:
    """Rule lists walk as they once did: from the first condition, and never stay on purpose."""
    walk = dpcore.models.rules.learning.samplers.ListWalk

    def first(own: Any, _: Any) -> Any:
        return np.array([0, *[-1] * (own.prior.max_rules - 1)]), 1

    with everywhere(chains.acceptance, lambda odds: 2 * ACCEPTANCE(odds)), replaced(walk, "start", first):
        yield


@contextmanager
def _one_step() -> Iterator[None]:
    """Chains end after one step."""
    with ExitStack() as stack:
        for module, name in (
            (dpcore.models.rules.learning.samplers, "ListWalk"),
            (dpcore.models.redescriptions.learning.tree_chains, "TreeWalk"),
            (dpcore.models.redescriptions.learning.tree_chains, "PairWalk"),
        ):
            kind = getattr(module, name)
            stack.enter_context(replaced(module, name, lambda *own, kind=kind: replace(kind(*own), steps=1)))
        yield


def _half_delta_score() -> AbstractContextManager[None]:
    greedy = dpcore.models.trees.learning.greedy
    score = greedy.delta_score

    def smaller(*public: Any) -> Any:
        ahead, sensitivity = score(*public)
        return ahead, replace(sensitivity, value=sensitivity.value // 2)

    return replaced(greedy, "delta_score", smaller)


def _one_column() -> AbstractContextManager[None]:
    """Noise on the tables of all columns as if a record were in one cell of one of them."""
    sulq = dpcore.models.trees.learning.sulq
    build = sulq.geometric
    return replaced(sulq, "geometric", lambda epsilon, _=1: build(epsilon))


@contextmanager
def _half_gaussian(name: str) -> Iterator[None]:
    """Half the noise of one question of a boosting machine."""
    build = getattr(dpcore.models.ebm.learning.fit, name)

    def louder(*public: Any) -> Any:
        own = build(*public)
        return _louder(mechanisms.FineGaussian, own.sensitivity, own.mu)

    with replaced(dpcore.models.ebm.learning.fit, name, louder):
        yield


def _heavy_classes(module: Any) -> AbstractContextManager[None]:
    """Records that weigh three times what the weight of the draw was made for."""
    worth = module.class_worth
    return replaced(module, "class_worth", lambda counts: 3 * worth(counts))


def _one_replicate() -> AbstractContextManager[None]:
    """Noise on the residual sums of all replicates as if one of them alone were asked for."""
    build = accounting.residual_sensitivity
    return replaced(accounting, "residual_sensitivity", lambda outputs, _: build(outputs, 1))


def _one_of_a_turn() -> AbstractContextManager[None]:
    """Noise on the residual sums of all columns of a turn as if a row moved those of one of them."""
    build = accounting.residual_mechanism

    def louder(cost: Any, schema: Any, target: str, columns: int = 1) -> Any:
        return mechanisms.FineGaussian(build(cost, schema, target).sensitivity, build(cost, schema, target, columns).mu)

    return replaced(dpcore.models.ebm.learning.fit, "residual_mechanism", louder)


def _people(run: Run) -> int:
    return sum(len(partition.present) for partition in run.table.partitions)


@contextmanager
def _telling(tell: Callable[[Run, int], Any]) -> Iterator[None]:
    """A learner that tells how many records there are."""
    learner = dpcore.models.rules.learning.rule_list_learner.RuleListLearner
    run = learner.run

    def telling(own: Any, one: Run) -> Any:
        tell(one, _people(one))
        return run(own, one)

    with replaced(learner, "run", telling):
        yield


def _into_a_file(_: Run, people: int) -> None:
    (Path(tempfile.gettempdir()) / "frostglass-people").write_text(str(people), encoding="utf-8")


#: Ways to tell how many records there are, beside the release.
LEAKS: dict[str, Callable[[Run, int], Any]] = {
    "progress tells of records": lambda run, people: run.progress("counting", people, run.schema.max_rows),
    "as many draws as records": lambda run, people: run.randomness.words(people),
    "a warning tells of records": lambda _, people: warnings.warn(f"{people} people", stacklevel=2),
    "a log record tells of records": lambda _, people: logging.getLogger("dpcore.models").debug("%d people", people),
    "output tells of records": lambda _, people: os.write(1, f"{people} people".encode()),
    "a printed line tells of records": lambda _, people: print(people, file=sys.stderr),
    "a file tells of records": _into_a_file,
    "the environment tells of records": lambda _, people: os.environ.update(PEOPLE=str(people)),
}


def _one_candidate(module: Any, name: str) -> AbstractContextManager[None]:
    """Noise on many counts as if a person were in one of them."""
    whole = getattr(module, name)
    return replaced(module, name, lambda *public: replace(whole(*public), value=1))


def _mined_for_nothing() -> AbstractContextManager[None]:
    """All of the budget for mining is passed on, though it was spent."""
    learner = dpcore.models.rules.learning.rule_list_learner
    later = learner._later_budgets
    spent = "antecedents"
    return replaced(learner, "_later_budgets", lambda plan, _: later(plan, plan.row_epsilon(spent)))


def _chosen_for_nothing() -> AbstractContextManager[None]:
    """All of the budget for clauses is passed on, though it was spent."""
    learner = dpcore.models.ilp.learning.ilp_learner
    choose = learner._choose_clauses

    def generous(run: Run, lattice: Any) -> Any:
        return choose(run, lattice)._replace(left=run.row_epsilon(learner.CLAUSES))

    return replaced(learner, "_choose_clauses", generous)


def _sides_for_nothing() -> AbstractContextManager[None]:
    """Numbers of both sides at the whole budget of the clauses, which then have it too."""
    learner = dpcore.models.ilp.learning.ilp_learner

    def both(epsilon: Any, *, alike: bool) -> Any:
        return epsilon if alike else epsilon - epsilon, epsilon

    return replaced(learner, "divided", both)


@contextmanager
def _said_of_rows_of_nobody() -> Iterator[None]:
    """Noise as if what is said of rows beyond that one exists were true of nobody."""
    bound = reach._of_rows

    def nobody(factors: Any, table: int, form: int, *rest: Any) -> int:
        return 0 if form else bound(factors, table, form, *rest)

    reach.reach_of.cache_clear()
    with replaced(reach, "_of_rows", nobody):
        yield
    reach.reach_of.cache_clear()


@contextmanager
def _nested_rows_of_nobody() -> Iterator[None]:
    """Noise as if what is asked of rows that belong to a row were true of nobody."""
    bound = reach._of_rows

    def nobody(factors: Any, table: int, form: int, asked: Any, *rest: Any) -> int:
        return 0 if any(not kind[0] for kind, _ in asked) else bound(factors, table, form, asked, *rest)

    reach.reach_of.cache_clear()
    with replaced(reach, "_of_rows", nobody):
        yield
    reach.reach_of.cache_clear()


def _whole_for_each_table() -> AbstractContextManager[None]:
    """Every table of a first look gets what all of them may spend together."""
    noise = dpcore.models.summaries.learning.accounting.Noise
    part = noise._mechanism
    return replaced(noise, "_mechanism", lambda own, share: part(own, min(Fraction(1), 4 * share)))


def _levels_for_nothing() -> AbstractContextManager[None]:
    """Every level above or below the cells of a column is counted at the budget of the whole run."""
    noise = dpcore.models.summaries.learning.accounting.Noise
    return replaced(noise, "level", lambda own, _axis, _place: own._mechanism(Fraction(1)))


GEOMETRIC, EXPONENTIAL = "GeometricMechanism", "ExponentialMechanism"
GAUSSIAN = "GaussianMechanism"
LISTS = ("pool, composing", "blocks, composing")
COMPOSING = (*LISTS, "lookahead, composing", "noisy_max, composing")
MUTANTS = (
    Mutant(
        "rows of a person ignored",
        _rows_ignored,
        tuple(own for own in _methods(*ALL) if own[0] not in ("ebm", "ilp", "summaries"))
        + _methods("noisy_max", "relevance_aware")
        + _methods("naive"),
    ),
    Mutant("rows of a person ignored by machines", _rows_ignored_by_machines, _methods(*MACHINES)),
    Mutant("noise halved", _half_scale, _methods(*ALL)),
    Mutant("noise halved after it was drawn", _half_afterwards, _methods(*ALL)),
    Mutant("no noise", _no_noise, _methods(*ALL)),
    Mutant("trained on everybody", partial(_part_of_all, "train"), _evaluated()),
    Mutant("evaluated on everybody", partial(_part_of_all, "holdout"), _evaluated()),
    *(Mutant(name, partial(_telling, tell), _methods("pool")) for name, tell in LEAKS.items()),
    Mutant(
        "one itemset",
        partial(_one_candidate, dpcore.models.rules.learning.mining, "itemset_sensitivity"),
        _methods("mined conditions"),
    ),
    Mutant(
        "one clause",
        partial(_one_candidate, dpcore.models.ilp.learning.selection, "counts_sensitivity"),
        _methods("naive", "relevance_aware"),
    ),
    Mutant("what is said of rows holds for nobody", _said_of_rows_of_nobody, _methods("relevance_aware")),
    Mutant("what rows have holds for nobody", _nested_rows_of_nobody, _methods("naive")),
    Mutant("links of anybody", links_of_anybody, _methods("noisy_max", "naive", "relevance_aware")),
    Mutant("mined for nothing", _mined_for_nothing, _methods("mined conditions")),
    Mutant("chosen for nothing", _chosen_for_nothing, _methods("relevance_aware")),
    Mutant("rows of a person ignored by Gaussian counts", _rows_ignored_by_gaussian_counts, _methods(*COMPOSING)),
    Mutant(
        "selections of twice the epsilon",
        _twice_the_epsilon,
        _methods("pool, composing", "lookahead, composing", "noisy_max, composing"),
    ),
    Mutant(
        "rows of a person ignored by first looks",
        partial(_one_candidate, dpcore.models.summaries.learning.accounting, "table_sensitivity"),
        _methods(*LOOKS),
    ),
    Mutant(
        "rows of a person ignored by the choice of a pair of a first look",
        partial(_one_candidate, dpcore.models.summaries.learning.accounting, "distance_sensitivity"),
        _methods("pairs found"),
    ),
    Mutant("each table of a first look at the budget of all", _whole_for_each_table, _methods(*LOOKS)),
    Mutant("each level of a column at the budget of all", _levels_for_nothing, _methods(*LEVELS)),
    # Half the sensitivity of each question.
    Mutant(
        "tables of a first look",
        partial(halved, dpcore.models.summaries.learning.accounting, GEOMETRIC),
        _methods("weighted", "equal", "pairs found", "groups and finer cells"),
    ),
    Mutant(
        "tables of a first look with a delta",
        partial(halved, dpcore.models.summaries.learning.accounting, "FineGaussian"),
        _methods(*GAUSSIAN_LOOKS),
    ),
    Mutant(
        "choice of a pair of a first look",
        partial(halved, dpcore.models.summaries.learning.accounting, EXPONENTIAL),
        _methods("pairs found"),
    ),
    Mutant(
        "monotone choice of a pair of a first look",
        partial(_monotone, dpcore.models.summaries.learning.accounting),
        _methods("pairs found"),
    ),
    Mutant(
        "Gaussian captures",
        partial(halved, dpcore.models.rules.learning.rule_list_learner, GAUSSIAN),
        _methods(*LISTS),
    ),
    Mutant(
        "Gaussian counts of an exact tree",
        partial(halved, dpcore.models.trees.learning.exact_tree, GAUSSIAN),
        _methods("lookahead, composing"),
    ),
    Mutant(
        "captures",
        partial(halved, dpcore.models.rules.learning.rule_list_learner, GEOMETRIC),
        _methods("pool", "chain", "blocks"),
    ),
    Mutant(
        "itemsets",
        partial(halved, dpcore.models.rules.learning.mining, GEOMETRIC),
        _methods("mined conditions"),
    ),
    Mutant(
        "likelihood",
        partial(halved, dpcore.models.rules.learning.samplers, EXPONENTIAL),
        _methods("pool", "pool, composing"),
    ),
    Mutant(
        "likelihood of a chain",
        partial(_heavy_walk, dpcore.models.rules.learning.samplers, "ListWalk"),
        _methods("chain"),
    ),
    Mutant("periodic chain from a fixed start", _periodic, _methods("chain, given conditions")),
    Mutant("chains of one step", _one_step, _methods("chain", "alt_mcmc", "mcmc_tree_pair, chain")),
    Mutant(
        "groups set aside",
        partial(halved, dpcore.learning.holdout, GEOMETRIC),
        _evaluated(),
    ),
    Mutant(
        "errors set aside",
        partial(halved, dpcore.models.ebm.learning.holdout, GEOMETRIC),
        _methods("all bins, numbers"),
    ),
    Mutant(
        "counts of a node",
        partial(halved, dpcore.models.trees.learning.driver, GEOMETRIC),
        _methods(*TREES, *ADIFFP, *FORESTS),
    ),
    Mutant(
        "split of a node",
        partial(halved, dpcore.models.trees.learning.greedy, EXPONENTIAL),
        _methods(*ADIFFP, "diffp_id3"),
    ),
    Mutant("delta score", _half_delta_score, _methods("adiffp, information_gain")),
    Mutant("tables of all columns", _one_column, _methods("sulq_id3")),
    Mutant(
        "counts of an exact tree",
        partial(halved, dpcore.models.trees.learning.exact_tree, GEOMETRIC),
        _methods("lookahead", family="tree"),
    ),
    Mutant(
        "class counts of a block of rules",
        partial(halved, dpcore.models.rules.learning.blocks, GEOMETRIC),
        _methods("blocks"),
    ),
    Mutant(
        "weights of classes beyond their bound",
        partial(_heavy_classes, dpcore.models.trees.learning.exact_tree),
        _methods("lookahead", "lookahead, composing", family="tree"),
    ),
    Mutant(
        "weights of classes in rules beyond their bound",
        partial(_heavy_classes, dpcore.models.rules.learning.blocks),
        _methods("blocks", "blocks, composing"),
    ),
    Mutant(
        "trees and pairs drawn whole",
        _heavy_weight,
        _methods("lookahead", "lookahead, composing", "exact_pairs", "alt_expm", "blocks"),
    ),
    *(
        Mutant(f"{name} of machines", partial(_half_gaussian, name), _methods(*where))
        for name, where in {
            "histogram_mechanism": ("all bins, classes", "random splits, numbers"),
            "residual_mechanism": ("all bins, numbers", "random splits, classes"),
            "size_mechanism": ("all bins, numbers",),
            "pair_count_mechanism": ("pairs, classes",),
            "pair_residual_mechanism": ("pairs, numbers",),
        }.items()
    ),
    Mutant("one replicate of machines", _one_replicate, _methods("all bins, two classes", "random splits, numbers")),
    Mutant("one column of a turn of machines", _one_of_a_turn, _methods("random splits, numbers")),
    Mutant(
        "choice of a pair of columns",
        partial(halved, dpcore.models.ebm.learning.pairs, EXPONENTIAL),
        _methods("pairs, classes"),
    ),
    Mutant(
        "monotone choice of a pair of columns",
        partial(_monotone, dpcore.models.ebm.learning.pairs),
        _methods("pairs, classes"),
    ),
    Mutant(
        "counts of a pair of trees",
        partial(halved, dpcore.models.redescriptions.learning.redescription_learner, GEOMETRIC),
        _methods("exact_pairs", "alt_mcmc"),
    ),
    Mutant(
        "start",
        partial(halved, dpcore.models.redescriptions.learning.starts, EXPONENTIAL),
        _methods("lookahead", family="redescriptions"),
    ),
    Mutant(
        "monotone start",
        partial(_monotone, dpcore.models.redescriptions.learning.starts),
        _methods("lookahead", family="redescriptions"),
    ),
    Mutant(
        "pool of pairs",
        partial(halved, dpcore.models.redescriptions.learning.pool, EXPONENTIAL),
        _methods("mcmc_tree_pair, pool"),
    ),
    Mutant(
        "monotone pool of pairs",
        partial(_monotone, dpcore.models.redescriptions.learning.pool),
        _methods("mcmc_tree_pair, pool"),
    ),
    Mutant(
        "tree of a chain",
        partial(_heavy_walk, dpcore.models.redescriptions.learning.tree_chains, "TreeWalk"),
        _methods("alt_mcmc"),
    ),
    Mutant(
        "pair of a chain",
        partial(_heavy_walk, dpcore.models.redescriptions.learning.tree_chains, "PairWalk"),
        _methods("mcmc_tree_pair, chain"),
    ),
    Mutant(
        "coverage",
        partial(halved, dpcore.models.ilp.learning.selection, "NoisyMax"),
        _methods("noisy_max"),
    ),
    Mutant(
        "coverage of runs that compose",
        partial(halved, dpcore.models.ilp.learning.selection, EXPONENTIAL),
        _methods("noisy_max, composing"),
    ),
    *(
        Mutant(
            f"permute-and-flip billed as a bounded range: {where}",
            partial(replaced, module, EXPONENTIAL, mechanisms.NoisyMax),
            _methods(where),
        )
        for where, module in (
            ("noisy_max, composing", dpcore.models.ilp.learning.selection),
            ("pool, composing", dpcore.models.rules.learning.samplers),
        )
    ),
    Mutant(
        "Gaussian captures of clauses",
        partial(halved, dpcore.models.ilp.learning.ilp_learner, GAUSSIAN),
        _methods("noisy_max, composing"),
    ),
    Mutant(
        "counts of a lattice",
        partial(halved, dpcore.models.ilp.learning.selection, GEOMETRIC),
        _methods("naive", "relevance_aware"),
    ),
    Mutant(
        "numbers of both sides",
        partial(halved, dpcore.models.ilp.learning.weighing, GEOMETRIC),
        _methods("noisy_max", "noisy_max, composing"),
    ),
    Mutant("both sides counted for nothing", _sides_for_nothing, _methods("noisy_max")),
    Mutant(
        "captures of clauses",
        partial(halved, dpcore.models.ilp.learning.ilp_learner, GEOMETRIC),
        _methods("noisy_max"),
    ),
)
