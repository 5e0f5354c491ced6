"""Ways to break the engine for a while."""

from __future__ import annotations

import logging
import os
import sys
import tempfile
import warnings
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, ExitStack, contextmanager
from dataclasses import replace
from fractions import Fraction
from importlib import import_module
from pathlib import Path
from typing import Any

import numpy as np

from dpcore.audit.bounds import replaced
from dpcore.data.partition import Partition
from dpcore.learning import chains
from dpcore.learning.count_budget import CountBudget
from dpcore.learning.exact_draws.lookahead import ExactWeight
from dpcore.learning.learner import Run
from dpcore.models.ebm.learning import accounting as machines
from dpcore.models.ebm.learning import fit as machine_fit
from dpcore.models.ilp.language import overlap_bounds
from dpcore.models.ilp.learning import ilp_learner
from dpcore.models.rules.learning import rule_list_learner, samplers
from dpcore.models.summaries.learning.accounting import Noise
from dpcore.models.trees.learning import greedy, path_form
from dpcore.privacy import budgets, losses, mechanisms
from dpcore.privacy.mechanisms import FineGaussian, _AdditiveNoise
from dpcore.released.plan import RunPlan

Broken = AbstractContextManager[Any]
Break = Callable[[Any, str], Broken]
_SELECTION, _ACCEPTANCE = losses.selection_epsilon, chains.acceptance
_SQUARES = {Fraction(1, rows**2) for rows in range(2, 6)}


def _louder(kind: type[Any], *chosen: Any, times: int = 2, **named: Any) -> Any:
    """A mechanism of so many times the budget, that promises it once."""
    budget = {mechanisms.FineGaussian: "mu", mechanisms.GaussianMechanism: "rho"}.get(kind, "epsilon")
    sensitivity, amount, *rest = chosen
    built = kind(sensitivity, (times**2 if budget == "rho" else times) * amount, *rest, **named)
    object.__setattr__(built, budget, amount)
    return built


@contextmanager
def fresh() -> Iterator[None]:
    """Nothing that was built before is used, nor afterwards what was built meanwhile."""
    cached = (path_form._noise, path_form._selection, overlap_bounds.overlap_bounds)
    for own in cached:
        own.cache_clear()
    try:
        yield
    finally:
        for own in cached:
            own.cache_clear()


@contextmanager
def everywhere(function: Any, value: Any) -> Iterator[None]:
    """Put a function in the place of another, wherever it was imported."""
    with fresh(), ExitStack() as stack:
        for module in [own for name, own in sys.modules.items() if name.startswith("dpcore")]:
            for name, own in list(vars(module).items()):
                if own is function:
                    stack.enter_context(replaced(module, name, value))
        yield


def at(place: str) -> Any:
    """A module below ``dpcore``."""
    return import_module(f"dpcore.{place}")


# What a line of the table of mutants may say that is done to a name of a module.


def budget_times(factor: int) -> Break:
    """Mechanisms of a kind spend so many times what they say; twice is half the sensitivity."""

    @contextmanager
    def broken(module: Any, name: str) -> Iterator[None]:
        kind = getattr(module, name)
        with fresh(), replaced(module, name, lambda *public, **named: _louder(kind, *public, times=factor, **named)):
            yield

    return broken


def question_times(factor: int) -> Break:
    """So many times the budget of one question of a boosting machine."""

    def broken(module: Any, name: str) -> Broken:
        build = getattr(module, name)

        def louder(*public: Any) -> Any:
            own = build(*public)
            return _louder(FineGaussian, own.sensitivity, own.mu, times=factor)

        return replaced(module, name, louder)

    return broken


def weight_times(factor: int) -> Break:
    """So many times the weight of a walk."""

    def broken(module: Any, name: str) -> Broken:
        kind = getattr(module, name)

        def heavier(*own: Any) -> Any:
            walk = kind(*own)
            return replace(walk, weight=factor * walk.weight)

        return replaced(module, name, heavier)

    return broken


def worth_times(factor: int) -> Break:
    """Records that weigh so many times what the weight of the draw was made for."""

    def broken(module: Any, name: str) -> Broken:
        worth = getattr(module, name)
        return replaced(module, name, lambda counts: factor * worth(counts))

    return broken


def monotone(module: Any, name: str) -> Broken:
    """The factor of scores that all move one way, where they do not."""
    kind = getattr(module, name)
    return replaced(module, name, lambda *own, **_: kind(*own[:2], True))


def one_for_all(module: Any, name: str) -> Broken:
    """Noise on many counts as if a person were in one of them."""
    whole = getattr(module, name)
    return replaced(module, name, lambda *public: replace(whole(*public), value=1))


def permuted(module: Any, name: str) -> Broken:
    """Permute-and-flip, billed as a bounded range."""
    return replaced(module, name, mechanisms.NoisyMax)


# What needs words of its own.


def rows_ignored() -> Broken:
    """The budget of a person is taken for that of a row."""
    return everywhere(budgets.row_epsilon, lambda epsilon, _: epsilon)


@contextmanager
def rows_ignored_by_gaussian_counts() -> Iterator[None]:
    """The rho of a person is taken for that of a row."""
    of = CountBudget.of

    def whole(plan: RunPlan, step: str) -> CountBudget:
        budget, rows = of(plan, step), plan.schema.privacy_unit.max_rows_per_person
        return replace(budget, amount=rows**2 * budget.amount) if budget.gaussian else budget

    row_rho = property(lambda plan: plan.composed and float(plan.composed.counts))
    with replaced(RunPlan, "row_rho", row_rho), replaced(CountBudget, "of", staticmethod(whole)):
        yield


def rows_ignored_by_machines() -> Broken:
    """The bound of a person is taken for that of a row."""
    part = machines.gaussian_part

    def whole(mu: float, share: Any) -> float:
        person = isinstance(share, Fraction) and share.numerator == 1 and share in _SQUARES
        return mu if person else part(mu, share)

    return replaced(machines, "gaussian_part", whole)


def twice_the_epsilon() -> Broken:
    """A rho pays for selections of twice the epsilon."""
    return everywhere(losses.selection_epsilon, lambda rho: 2 * _SELECTION(rho))


@contextmanager
def half_scale() -> Iterator[None]:
    """Every scale of noise is half of what is needed."""
    fit = mechanisms._fit_scale
    with fresh(), replaced(mechanisms, "_fit_scale", lambda *public: fit(*public) / 2):
        yield


def half_afterwards() -> Broken:
    """Noise is drawn as it should be, and halved before anybody sees it."""
    release = _AdditiveNoise.release_each

    def quieter(own: Any, values: Any, source: Any) -> Any:
        noise = release(own, values, source) - values
        return values + noise // 2

    return replaced(_AdditiveNoise, "release_each", quieter)


def no_noise() -> Broken:
    """Counts are released as they are."""
    return replaced(_AdditiveNoise, "release_each", lambda own, values, source: values)


def everybody_in(part: str) -> Callable[[], Broken]:
    """A part of the records is taken to be all of them."""

    def broken() -> Broken:
        members = Partition.members

        def wider(own: Partition, wanted: str) -> Any:
            return members(own, "all" if wanted == part else wanted)  # type: ignore[arg-type]

        return replaced(Partition, "members", wider)

    return broken


def heavy_weight() -> Broken:
    """Twice the weight: half the reach of a record over what is drawn whole."""
    within = ExactWeight.within.__func__  # type: ignore[attr-defined]

    def heavier(cls: Any, *public: Any, **named: Any) -> ExactWeight:
        weight = within(cls, *public, **named)
        return replace(weight, numerator=2 * weight.numerator)

    return replaced(ExactWeight, "within", classmethod(heavier))


@contextmanager
def periodic() -> Iterator[None]:
    """Rule lists walk as they once did: from the first condition, and never stay on purpose."""

    def first(own: Any, _: Any) -> Any:
        return np.array([0, *[-1] * (own.prior.max_rules - 1)]), 1

    with (
        everywhere(chains.acceptance, lambda odds: 2 * _ACCEPTANCE(odds)),
        replaced(samplers.ListWalk, "start", first),
    ):
        yield


@contextmanager
def one_step() -> Iterator[None]:
    """Chains end after one step."""
    trees = at("models.redescriptions.learning.tree_chains")
    with ExitStack() as stack:
        for module, name in ((samplers, "ListWalk"), (trees, "TreeWalk"), (trees, "PairWalk")):
            kind = getattr(module, name)
            stack.enter_context(replaced(module, name, lambda *own, kind=kind: replace(kind(*own), steps=1)))
        yield


def half_delta_score() -> Broken:
    """Half the sensitivity of the lead of the best split."""
    score = greedy.delta_score

    def smaller(*public: Any) -> Any:
        ahead, sensitivity = score(*public)
        return ahead, replace(sensitivity, value=sensitivity.value // 2)

    return replaced(greedy, "delta_score", smaller)


def one_column() -> Broken:
    """Noise on the tables of all columns as if a record were in one cell of one of them."""

    def each(own: Any, tables: Any, amount: Any, source: Any) -> Any:
        return [own.noise(amount).release(table, source) for table in tables]

    return replaced(path_form.PathForm, "noisy", each)


def one_replicate() -> Broken:
    """Noise on the residual sums of all replicates as if one of them alone were asked for."""
    build = machines.residual_sensitivity
    return replaced(machines, "residual_sensitivity", lambda outputs, _: build(outputs, 1))


def one_of_a_turn() -> Broken:
    """Noise on the residual sums of all columns of a turn as if a row moved those of one of them."""
    build = machines.residual_mechanism

    def louder(cost: Any, schema: Any, target: str, columns: int = 1) -> Any:
        return FineGaussian(build(cost, schema, target).sensitivity, build(cost, schema, target, columns).mu)

    return replaced(machine_fit, "residual_mechanism", louder)


def mined_for_nothing() -> Broken:
    """All of the budget for mining is passed on, though it was spent."""
    later = rule_list_learner._later_budgets
    return replaced(
        rule_list_learner, "_later_budgets", lambda plan, _: later(plan, CountBudget.of(plan, "antecedents").amount)
    )


def chosen_for_nothing() -> Broken:
    """All of the budget for clauses is passed on, though it was spent."""
    choose = ilp_learner._choose_clauses

    def generous(run: Run, lattice: Any) -> Any:
        return choose(run, lattice)._replace(left=CountBudget.of(run.plan, ilp_learner.CLAUSES).amount)

    return replaced(ilp_learner, "_choose_clauses", generous)


def sides_for_nothing() -> Broken:
    """Numbers of both sides at the whole budget of the clauses, which then have it too."""

    def both(epsilon: Any, *, alike: bool) -> Any:
        return epsilon if alike else epsilon - epsilon, epsilon

    return replaced(ilp_learner, "divided", both)


@contextmanager
def rows_of_nobody(nested: bool) -> Iterator[None]:
    """Noise as if what is said of rows beyond that one exists, or asked of nested rows, held for nobody."""
    bound = overlap_bounds._of_rows

    def nobody(factors: Any, table: int, form: int, asked: Any, *rest: Any) -> int:
        nothing = any(not kind[0] for kind, _ in asked) if nested else form
        return 0 if nothing else bound(factors, table, form, asked, *rest)

    with fresh(), replaced(overlap_bounds, "_of_rows", nobody):
        yield


def whole_for_each_table() -> Broken:
    """Every table of a first look gets what all of them may spend together."""
    part = Noise._mechanism
    return replaced(Noise, "_mechanism", lambda own, share: part(own, min(Fraction(1), 4 * share)))


def levels_for_nothing() -> Broken:
    """Every level above or below the cells of a column is counted at the budget of the whole run."""
    return replaced(Noise, "level", lambda own, _axis, _place: own._mechanism(Fraction(1)))


def telling(tell: Callable[[Run, int], Any]) -> Callable[[], Broken]:
    """A learner that tells how many records there are."""

    def broken() -> Broken:
        learner = rule_list_learner.RuleListLearner
        run = learner.run

        def loud(own: Any, one: Run) -> Any:
            tell(one, sum(len(partition.present) for partition in one.table.partitions))
            return run(own, one)

        return replaced(learner, "run", loud)

    return broken


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
