import threading
from decimal import Decimal

import numpy as np
import pytest

from dpcore.domain.columns import BooleanColumn, NumericColumn
from dpcore.domain.schemas.schema import Schema
from dpcore.models.redescriptions.learning import exact_pairs
from dpcore.models.registry import LEARNERS, get_learner
from dpcore.models.released import parse_model
from dpcore.rehearsal import rehearse, synthetic_tables, warm_up
from dpcore.rehearsal.running import invented_table, shape_for
from tests.support.workspaces.fake_learner import FakePairLearner, small_schema

KINDS = (
    {"type": "boolean"},
    {"type": "integer", "lower": 20, "upper": 100, "bins": 8},
    {"type": "categorical", "categories": ["north", "east", "south"]},
    {"type": "ordinal", "categories": ["low", "middle", "high"]},
    {"type": "real", "lower": -1, "upper": 1, "bins": 4},
)
LEFT, RIGHT = [f"left {n}" for n in range(5)], [f"right {n}" for n in range(4)]


def two_views(**more):
    """Two views of a few columns of every kind, and two columns in neither."""
    names = [*LEFT, *RIGHT, "other", "number"]
    columns = [
        {"name": name, "view": name.split()[0] if " " in name else None, **KINDS[n % len(KINDS)]}
        for n, name in enumerate(names)
    ]
    return Schema.from_mapping({"name": "pairs", "max_rows": 4000, "columns": columns, **more})


def link(frame, one, other):
    """Spearman's rank correlation; labels stand in the order of the schema."""
    schema = two_views()
    ranks = []
    for name in (one, other):
        column, values = schema.column(name), frame[name]
        codes = values if isinstance(column, NumericColumn) else values.map(list(column.cells).index)
        ranks.append(codes.astype(float).rank())
    return float(np.corrcoef(ranks)[0, 1])


def test_without_a_target_each_view_tells_of_the_other():
    """Columns that follow one level agree; all others do so by chance only: 4 / sqrt(4000)."""
    frame, _ = synthetic_tables(two_views(), "", 4000, 1, (LEFT, RIGHT))
    for i, one in enumerate(LEFT):
        for j, other in enumerate(RIGHT):
            if i % 3 == j % 3:
                assert link(frame, one, other) > 0.4, (one, other)
            else:
                assert abs(link(frame, one, other)) < 0.064, (one, other)
    for name in ("other", "number"):
        assert max(abs(link(frame, name, known)) for known in (*LEFT, *RIGHT)) < 0.064


def test_numbers_of_a_person_s_rows_are_invented_too():
    """Though every invented person has one row."""
    stays = {"name": "stays", "type": "integer", "lower": 1, "upper": 20, "edges": [1, 5, 10], "summary": "count"}
    late = {"name": "late", "type": "boolean", "summary": "last"}
    unit = {"column": "who", "order_by": "day"}
    content = {"name": "d", "max_rows": 400, "privacy_unit": unit, "columns": [{**late, "target": True}, stays]}
    schema, learner = Schema.from_mapping(content), get_learner("tree")
    shape = shape_for(learner, schema, learner.plan(schema, "late", Decimal(1), {}), [])
    table = invented_table(shape, 1)
    assert set(np.concatenate([own.codes[1] for own in table.partitions])) >= {1, 2, 3}
    assert set(table.public_frame()["late"]) == {"no", "yes"}


def test_views_of_one_column_follow_the_same_level():
    frame, _ = synthetic_tables(two_views(), "", 4000, 1, (LEFT[:1], RIGHT[-1:]))
    assert link(frame, LEFT[0], RIGHT[-1]) > 0.4
    assert abs(link(frame, LEFT[0], RIGHT[0])) < 0.064


@pytest.mark.parametrize("by_default", [True, False])
@pytest.mark.parametrize("name", sorted(set(LEARNERS) - {"fake"}))
def test_every_learner_can_be_warmed_up(name, by_default):
    warm_up(LEARNERS[name], by_default=by_default)


def test_few_pairs_and_many_are_compared_by_the_same_code():
    """Otherwise what was compiled for a tiny run would not be what the first real one needs."""
    learner, schema = get_learner("redescriptions"), two_views()
    for left in (LEFT[:1], LEFT):
        rehearse(learner, schema, learner.plan(schema, "", Decimal(1), {"left": left, "right": RIGHT[:2]}))
    assert len(exact_pairs._agree.signatures) == 1


def test_other_methods_are_warmed_up_when_asked_for(monkeypatch):
    seen = watched(monkeypatch, get_learner("rule_list"))
    warm_up(get_learner("rule_list"))
    assert [parameters.sampler for _, parameters in seen] == ["lookahead"]
    warm_up(get_learner("rule_list"), by_default=False)
    assert {parameters.sampler for _, parameters in seen} == {"lookahead", "pool", "mcmc"}


def test_the_views_of_the_plan_are_those_that_are_rehearsed(monkeypatch):
    learner, schema = FakePairLearner(), two_views()
    seen = watched(monkeypatch, learner)
    plan = learner.plan(schema, "", Decimal(1), {"left": LEFT[:2], "right": RIGHT[:2]})
    assert rehearse(learner, schema, plan).target == ""
    [(frame, _)] = seen
    assert link(frame, LEFT[0], RIGHT[0]) > 0.4
    assert link(frame, LEFT[1], RIGHT[1]) > 0.4
    assert abs(link(frame, LEFT[2], RIGHT[2])) < 0.064


def test_bounds_beyond_64_bits_can_be_rehearsed():
    columns = [
        {"name": "n", "type": "integer", "lower": -(10**20), "upper": 10**20, "bins": 4},
        {"name": "y", "type": "boolean", "target": True},
    ]
    schema = Schema.from_mapping({"name": "wide", "max_rows": 50, "columns": columns})
    drawn = synthetic_tables(schema, "y", 50, seed=1)[0]["n"]
    assert drawn.between(-1e20, 1e20).all()
    assert (drawn == drawn.round()).all()


def watched(monkeypatch, learner):
    """What each later run of a learner is given: its records and its parameters.

    Runs of other threads are none of them: what a page began to rehearse may still go on after its test.
    """
    seen, run, own = [], type(learner).run, threading.get_ident()

    def watch(self, one):
        if threading.get_ident() == own:
            seen.append((one.table.public_frame(), one.plan.parameters))
        return run(self, one)

    monkeypatch.setattr(type(learner), "run", watch)
    return seen


def test_a_rehearsal_does_a_limited_amount_of_work(monkeypatch):
    learner, schema = get_learner("rule_list"), small_schema()
    seen = watched(monkeypatch, learner)
    for chosen in ({"pool_size": 5_000_000}, {"sampler": "mcmc", "mcmc_steps": 1_000_000}, {}):
        rehearse(learner, schema, learner.plan(schema, "ill", Decimal(1), chosen))
    assert [kept.pool_size for _, kept in seen] == [100_000] * 3
    assert [kept.mcmc_steps for _, kept in seen] == [5_000, 20_000, 5_000]


def test_a_rehearsal_walks_a_limited_number_of_steps(monkeypatch):
    learner, schema = get_learner("redescriptions"), two_views(max_rows=100)
    seen = watched(monkeypatch, learner)
    chain = {"method": "alt_mcmc", "depth": 1, "starts": 1}
    pool = {"method": "mcmc_tree_pair", "sampler": "pool", "depth": 1, "starts": 1}
    for chosen in (chain | {"steps": 100_000}, pool | {"pool_size": 100_000}, {}):
        rehearse(learner, schema, learner.plan(schema, "", Decimal(1), chosen))
    assert [kept.steps for _, kept in seen] == [10_000] * 3
    assert [kept.pool_size for _, kept in seen] == [20_000] * 3
    assert {(kept.left, kept.right) for _, kept in seen} == {(tuple(LEFT), tuple(RIGHT))}


@pytest.mark.parametrize(
    "method",
    ["exact_pairs", "lookahead", "alt_expm", pytest.param("alt_mcmc", marks=pytest.mark.slow), "mcmc_tree_pair"],
)
def test_there_is_something_to_find_without_a_target(method):
    learner, schema = get_learner("redescriptions"), two_views()
    release = rehearse(learner, schema, learner.plan(schema, "", Decimal(5), {"method": method, "steps": 3000}))
    assert not release.certificate.private
    found = parse_model(release).extract(schema).found
    assert max(item.jaccard for item in found) > 0.6


@pytest.mark.parametrize("name", ["rule_list", "tree", "forest", "ebm"])
def test_a_run_is_rehearsed_in_its_own_form(name):
    schema = Schema(
        name="toy",
        max_rows=300,
        columns=(BooleanColumn(name="a"), BooleanColumn(name="b"), BooleanColumn(name="y", target=True)),
    )
    learner, epsilon = LEARNERS[name], Decimal("0.3")
    plan = learner.plan(schema, "y", epsilon, {}, Decimal("1e-7"))
    assert (plan.delta, plan.epsilon) == (Decimal("1e-7"), epsilon)
    card = rehearse(learner, schema, plan).certificate
    assert (card.epsilon, card.delta, card.rho) == (plan.epsilon, plan.delta, plan.loss.rho)
    assert rehearse(learner, schema, learner.plan(schema, "y", epsilon, {})).certificate.epsilon == epsilon
