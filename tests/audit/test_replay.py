"""Real runs on neighbouring tables: the loss stays within the certificate, and reaches it."""

import gc
import os
import warnings
from dataclasses import replace
from itertools import permutations, product

import numpy as np
import pytest
from typer.testing import CliRunner

from dpcore.audit import replay as package
from dpcore.audit.replay import run
from dpcore.audit.replay import walks as walks_module
from dpcore.audit.replay.compare import CONVERGED
from dpcore.audit.replay.methods import METHODS
from dpcore.audit.replay.probabilities import softmax_logs
from dpcore.audit.replay.replayed_tables import SchemaShape, random_neighbours, random_schema
from dpcore.audit.replay.run import replay_method, replay_random, replays
from dpcore.audit.replay.tape import Recording
from dpcore.audit.replay.walks import log_weights, settled
from dpcore.audit.replay.witnesses import WITNESSES
from dpcore.commands import app
from dpcore.data.packing import unpack
from dpcore.learning.learner import Run
from dpcore.models.registry import get_learner
from dpcore.models.summaries.learning.accounting import Noise
from dpcore.privacy.randomness import public_generator
from dpcore.released.plan import UNCONDITIONAL
from dpcore.released.release import make_release
from tests.oracles import redescriptions_oracle, rules_oracle
from tests.support.learning.mutants import MUTANTS
from tests.support.workspaces.fake_learner import real_learners

IDS = [f"{method.family}: {method.name}" for method in METHODS]


@pytest.mark.parametrize("method", METHODS, ids=IDS)
def test_no_run_tells_more_than_its_certificate(method):
    summary = replay_method(method, range(3))
    assert not summary.violations
    assert summary.attained > 0.2 or summary.evaluated > 0.2


@pytest.mark.slow
@pytest.mark.parametrize("method", METHODS, ids=IDS)
def test_no_run_tells_more_than_its_certificate_long_form(method):
    summary = replay_method(method, range(10_000, 10_300))
    assert not summary.violations
    # A composing run spends rho on counts and on a choice, which no random table shows whole.
    assert summary.attained > (0.99 if method.delta == "0" else 0.6)
    evaluates = "evaluate" in get_learner(method.family).parameters.model_fields
    assert (summary.evaluated > 0.99) == evaluates


def test_every_family_and_every_way_to_learn_is_replayed():
    assert {method.family for method in METHODS} == set(real_learners())
    for name, field in (
        ("tree", "method"),
        ("forest", "method"),
        ("ebm", "method"),
        ("redescriptions", "method"),
        ("ilp", "method"),
        ("summaries", "method"),
    ):
        known = get_learner(name).parameters.model_fields[field].annotation.__args__
        drawn = {own.choices.get(field, (None,))[0] for own in METHODS if own.family == name}
        default = get_learner(name).parameters.model_fields[field].default
        assert {own or default for own in drawn} == set(known)


def test_every_way_to_learn_is_replayed_in_the_form_that_composes():
    """But for chains, which have none."""

    def ways(methods):
        found = set()
        for own in methods:
            known = get_learner(own.family).parameters.model_fields
            fields = [name for name in ("method", "sampler", "antecedents", "records") if name in known]
            values = product(*(own.choices.get(name, (known[name].default,)) for name in fields))
            found |= {(own.family, *chosen) for chosen in values}
        return found

    certain = [own for own in METHODS if run._random_plan(own.generator(0), own).guarantee == UNCONDITIONAL]
    assert ways(own for own in certain if own.delta != "0") == ways(certain)


def test_a_witness_belongs_to_a_method():
    known = {(method.family, method.name) for method in METHODS}
    assert {(own.family, own.method) for own in WITNESSES} <= known


@pytest.mark.parametrize(
    ("method", "share"),
    [
        ("pool", 0.92),
        ("diffp_id3", 0.999),
        ("diffp_c45", 0.999),
        ("adiffp, information_gain", 0.99),
        ("lookahead", 0.79),
        ("alt_expm", 0.95),
        ("alt_mcmc", 0.98),
        ("pairs, classes", 0.85),
        ("exact_pairs", 0.999),
        ("mcmc_tree_pair, pool", 0.96),
        ("noisy_max, composing", 0.92),
        ("fixed depth, composing", 0.98),
        ("pool, composing", 0.85),
        ("mcmc_tree_pair, chain", 0.96),
        ("naive", 0.99),
        ("relevance_aware", 0.99),
    ],
)
def test_witnesses_show_what_they_were_made_for(method, share):
    outcomes = [outcome for witness in WITNESSES if witness.method == method for outcome in run.replay_witness(witness)]
    assert max(outcome.attained for outcome in outcomes) > share
    assert not any(outcome.violation for outcome in outcomes)


@pytest.mark.parametrize("seed", range(30))
def test_neighbours_differ_in_one_person(seed):
    rng = np.random.default_rng(seed)
    schema = random_schema(rng, SchemaShape(children=bool(seed % 2)))
    without, person = random_neighbours(rng, schema)
    more = len(person.holdout) - len(without.holdout)
    assert 1 <= more <= schema.privacy_unit.max_rows_per_person
    assert len(person.holdout) <= schema.max_rows
    assert len(set(person.holdout[-more:].tolist())) == 1
    first, second = (rows.table(schema).partitions[0] for rows in (without, person))
    others = len(without.holdout)
    assert np.array_equal(first.codes[:, :others], second.codes[:, :others])
    assert np.array_equal(first.numbers[:, :others], second.numbers[:, :others], equal_nan=True)


def test_neighbours_differ_in_rows_that_belong_to_rows():
    """A nested row of every person belongs to a row of the same person that is there, and one person's come or go."""
    nested = moved = 0
    for seed in range(40):
        rng = np.random.default_rng(seed)
        schema = random_schema(rng, SchemaShape(children=True, nested=True))
        inner = [child for child in schema.children if child.parent is not None]
        first, second = (rows.table(schema).partitions[0] for rows in random_neighbours(rng, schema))
        for child in inner:
            for part in (first, second):
                held = np.stack([unpack(slot, part.rows) for slot in part.children[child.name].rows])
                above = np.stack([unpack(slot, part.rows) for slot in part.children[child.parent].rows])
                links = part.children[child.name].links
                assert np.take_along_axis(above, links.astype(np.int64), axis=0)[held].all()
            before, after = (part.children[child.name] for part in (first, second))
            others = len(first.present)
            assert np.array_equal(before.links[:, :others], after.links[:, :others])
            moved += int(np.bitwise_count(before.rows ^ after.rows).sum() > 0)
            nested += 1
    assert nested > 5
    assert moved > 2


def test_mechanisms_that_are_built_for_a_person_are_held_to_that(monkeypatch):
    """Tables as if a person had one row, of k, at a k-th of their budget: the certificate alone is kept."""
    fitted = Noise._fitted
    monkeypatch.setattr(Noise, "_fitted", lambda noise, share: fitted(replace(noise, rows=1), share / noise.rows))
    (method,) = [own for own in METHODS if (own.family, own.name) == ("summaries", "equal")]
    said = {own.violation for _, own, _ in replays(method, (0, 18))}
    assert {"", "a mechanism costs 2.0000 times what it was built for"} <= said
    assert not any("the certificate claims" in violation for violation in said)


def test_what_only_the_first_run_of_a_process_says_tells_of_nobody(monkeypatch):
    """Something is loaded, or compiled: a third run shows that it does not come from the records."""
    learner = type(get_learner("rule_list"))
    whole, said = learner.run, []

    def loading(own, one):
        if not said:
            said.append(True)
            warnings.warn("loading", stacklevel=1)
        return whole(own, one)

    monkeypatch.setattr(learner, "run", loading)
    assert not replay_random(METHODS[0], 0)[0].violation
    assert said


def test_what_others_left_behind_is_cleared_away_in_no_run(monkeypatch, tmp_path):
    """Be it in the second run, which no third one repeats."""

    class Left:
        def __init__(self):
            self.own = self

        def __del__(self):
            (tmp_path / "removed with it").touch()

    learner, runs = type(get_learner("rule_list")), []
    whole = learner.run

    def amid(own, one):
        if len(runs) == 1:
            Left()
        runs.append([[] for _ in range(3 * gc.get_threshold()[0])])
        return whole(own, one)

    monkeypatch.setattr(learner, "run", amid)
    assert not replay_random(METHODS[0], 0)[0].violation
    assert len(runs) == 2


@pytest.mark.parametrize(
    ("leak", "channel"),
    [
        ("a warning", "warnings"),
        ("a log record", "log"),
        ("output", "output"),
        ("a printed line", "output"),
        ("a file", "files"),
        ("the environment", "environment"),
    ],
)
def test_a_leak_is_told_with_its_channel(leak, channel):
    before = dict(os.environ)
    (mutant,) = [own for own in MUTANTS if own.name == f"{leak} tells of records"]
    with mutant.broken():
        assert replay_random(METHODS[0], 0)[0].violation == f"a run tells of records by its {channel}"
    assert dict(os.environ) == before


def test_a_seed_repeats_its_replay():
    for method in METHODS[::7]:
        assert replay_random(method, 5) == replay_random(method, 5)


def test_a_release_made_with_a_tape_says_that_it_is_not_private():
    method = METHODS[0]
    plan = run._random_plan(public_generator(3), method)
    table = random_neighbours(public_generator(4), plan.schema)[1].table(plan.schema)
    tape = Recording(0)
    learner = get_learner(method.family)
    model = learner.run(Run(table, plan, tape, tape.tick))
    release = make_release(learner.name, plan, model, secure=tape.secure)
    assert not release.certificate.private


def test_the_command_fails_on_a_violation(monkeypatch):
    broken = package.compare.Replayed(2.0, "the loss is twice what is claimed")
    monkeypatch.setattr(run, "replay_random", lambda method, seed: (broken, False))
    done = CliRunner().invoke(app, ["audit", "--replay", "--configurations", "1", "--family", "forest"])
    assert done.exit_code == 1
    assert "seed 0: the loss is twice what is claimed" in done.output


def chains_of(family, name, seed=1):
    """Chains of a run on two neighbouring tables, as a replay sees them."""
    (method,) = [own for own in METHODS if (own.family, own.name) == (family, name)]
    rng = np.random.default_rng(seed)
    plan = run._random_plan(rng, method)
    found = []
    for rows in random_neighbours(rng, plan.schema):
        tape = Recording(0)
        get_learner(family).run(Run(rows.table(plan.schema), plan, tape))
        found.append(next(event.given for event in tape.events if event.what[0] == "walk"))
    return found


@pytest.mark.parametrize("seed", range(3))
@pytest.mark.parametrize("steps", [1, 2, 3, 50, 5_000])
def test_a_chain_is_where_powers_of_its_enumerated_matrix_say(steps, seed):
    walks = chains_of("rule_list", "chain", seed)
    prior = walks[0].prior
    count, longest = len(prior.sizes), prior.max_rules
    states = [own for size in range(longest + 1) for own in permutations(range(count), size)]
    start = np.exp([prior.log_probability(np.array(own, dtype=np.int64)) for own in states])
    for walk, found in zip(walks, settled(*(replace(own, steps=steps) for own in walks)), strict=True):
        target = dict(zip(states, np.exp(softmax_logs(log_weights(walk))), strict=True))
        matrix = rules_oracle.metropolis_matrix(target, count, longest)
        exact = start @ np.linalg.matrix_power(matrix, steps)
        np.testing.assert_allclose(found.arrived, exact, atol=1e-12)
        np.testing.assert_allclose(np.exp(found.limit), list(target.values()), atol=1e-12)
        assert found.distance < CONVERGED or steps < 5_000


@pytest.mark.parametrize("name", ["alt_mcmc", "mcmc_tree_pair, chain"])
@pytest.mark.parametrize("steps", [1, 2, 3, 50, 5_000])
def test_a_chain_over_trees_is_where_powers_of_its_enumerated_matrix_say(steps, name):
    walks = chains_of("redescriptions", name)
    options = walks_module._sizes(walks[0])
    states = list(product(*(range(size) for size in options)))
    start = np.full(len(states), 1 / len(states))
    for walk, found in zip(walks, settled(*(replace(own, steps=steps) for own in walks)), strict=True):
        matrix = redescriptions_oracle.transition_matrix(states, options, log_weights(walk), 1.0)
        exact = start @ np.linalg.matrix_power(matrix, steps)
        np.testing.assert_allclose(found.arrived, exact, atol=1e-12)


def test_a_witness_shows_a_chain_that_never_converges():
    """As chains once were: in even steps back to the start with the person, and anywhere without."""
    (witness,) = [own for own in WITNESSES if own.method == "chain, given conditions"]
    (mutant,) = [own for own in MUTANTS if own.name.startswith("periodic")]
    sound = list(run.replay_witness(witness))
    assert max(own.distance for own in sound) < 1e-12
    with mutant.broken():
        outcomes = list(run.replay_witness(witness))
    assert all("0.5 from its limit" in own.violation for own in outcomes)
    assert all("delta of 0.5" in own.violation for own in outcomes)
