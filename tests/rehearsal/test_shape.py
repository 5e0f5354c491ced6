"""Invented records that fit what earlier releases revealed."""

import ast
from decimal import Decimal
from pathlib import Path
from types import SimpleNamespace

import numpy as np
import pandas as pd
import pytest

import dpcore.rehearsal
from dpcore.data.building.ingest import frame_chunks, ingest
from dpcore.learning.learner import Run
from dpcore.models.registry import get_learner
from dpcore.models.released import parse_model
from dpcore.privacy.budgets import geometric_tail
from dpcore.privacy.randomness import SeededRandom, public_generator
from dpcore.rehearsal import Rehearsal, rehearse, shape_of, usable
from dpcore.rehearsal.marginals import tilted, uniform
from dpcore.rehearsal.running import invented_table
from dpcore.rehearsal.shape import eased, fitted_to
from dpcore.rehearsal.teacher import measured_groups
from dpcore.released.evaluation import confusion_of, evaluate
from dpcore.released.evidence import Groups, Records, between, without_negatives
from dpcore.released.release import make_release
from tests.support.results.shaped_records import ROWS, SCHEMA, people, released, shaped
from tests.support.tables import small_trains
from tests.support.tables.nested_relations import draw_patients, nested_schema


def share(frame, condition="ill == 'yes'"):
    return len(frame.query(condition)) / len(frame)


@pytest.mark.parametrize("kind", ["tree", "ebm", pytest.param("forest", marks=pytest.mark.slow)])
def test_the_target_follows_as_in_the_real_records(kind):
    real = people()
    # Random trees of a few questions hardly ask about two given columns together.
    chosen = {"method": "rfdiffp", "sharing": "parts"} if kind == "forest" else {}
    shape = shape_of(SCHEMA, "ill", [released(kind, **chosen)])
    assert shape.rows == pytest.approx(ROWS, rel=0.05)
    frame, _ = shape.draw(20_000, 5)
    assert share(frame) == pytest.approx(share(real), abs=0.06)
    group = "a == 'yes' and n > 9"
    for part in (group, f"not ({group})"):
        gap = share(frame.query(part)) - share(real.query(part))
        assert abs(gap) < 0.19, (kind, part, gap)
    schema_alone, _ = shape_of(SCHEMA, "ill").draw(20_000, 5)
    assert share(real.query(group)) - share(schema_alone.query(group)) > 0.15


@pytest.mark.parametrize("kind", ["tree", "ebm", "rule_list"])
def test_a_rehearsal_comes_as_close_as_the_real_run(kind):
    """Within 5 points, on average, of real runs of the same request, on people set aside."""
    releases = [released(kind, epsilon=2, seed=seed) for seed in (2, 3)]
    learner = get_learner(kind)
    plan = learner.plan(SCHEMA, "ill", Decimal(2), {})
    rehearsed = [rehearse(learner, SCHEMA, plan, releases=[own]) for own in releases]
    assert accuracy(rehearsed) == pytest.approx(accuracy(releases), abs=0.05)


def accuracy(releases):
    return sum(own.model["evaluation"]["accuracy"]["value"] for own in releases) / len(releases)


def test_people_set_aside_are_like_the_others():
    """One stream of chance that drew records and tossed the coins would part them."""
    invented = invented_table(shaped("tree"), 1)
    train, aside = invented.public_frame("train"), invented.public_frame("holdout")
    for condition in ("ill == 'yes'", "n > 9", "a == 'yes'"):
        assert share(train, condition) == pytest.approx(share(aside, condition), abs=0.07)


def test_columns_that_a_machine_knows_agree_with_each_other():
    """Those of the real people do; drawn one by one, they would not."""
    frame, _ = shaped("ebm").draw(20_000, 5)
    large, small = frame.query("n > 30"), frame.query("n < 8")
    assert share(large, "b == 'x'") > share(small, "b == 'x'") + 0.08


def test_numbers_are_spread_around_the_prediction():
    release = released("ebm", target="size")
    shape = shape_of(SCHEMA, "size", [release], number=True)
    frame, _ = shape.draw(20_000, 5)
    real = people()
    for a in ("yes", "no"):
        mine, theirs = frame[frame.a == a]["size"], real[real.a == a]["size"]
        assert mine.mean() == pytest.approx(theirs.mean(), abs=0.4)
        assert mine.std() == pytest.approx(theirs.std(), abs=0.4)


def test_a_release_about_another_target_shapes_the_columns_alone():
    release = released("tree")
    shape = shape_of(SCHEMA, "size", [release])
    assert len(shape.used) == 1
    assert shape.teacher is None
    frame, _ = shape.draw(20_000, 5)
    model = parse_model(release)
    reached = model.apply(frame, SCHEMA)
    total = sum(sum(model.nodes[leaf].noisy_counts) for leaf in model.finals)
    for leaf in model.finals:
        known = max(0, sum(model.nodes[leaf].noisy_counts)) / total
        assert np.mean(reached == leaf) == pytest.approx(known, abs=0.03)
    # The invented effect: the first columns still tell of the target.
    assert np.corrcoef(frame.n, frame["size"])[0, 1] > 0.2


def test_the_best_release_about_the_target_teaches():
    good, poor = released("tree", epsilon=5), released("tree", epsilon="0.001")
    for order in ([good, poor], [poor, good]):
        shape = shape_of(SCHEMA, "ill", order)
        assert shape.teacher.knowledge.release.id == good.id
        assert set(shape.used) == {good.id, poor.id}


def test_releases_about_other_schemas_are_left_alone():
    other = SCHEMA.model_copy(update={"max_rows": 9000})
    release = released("tree")
    assert usable(SCHEMA, [release]) == [release]
    assert usable(other, [release]) == []
    assert shape_of(other, "ill", [release]).used == ()


def test_the_rehearsal_names_what_shaped_it():
    release, learner = released("rule_list", pool_size=500), get_learner("tree")
    plan = learner.plan(SCHEMA, "ill", Decimal(1), {})
    shaped = rehearse(learner, SCHEMA, plan, releases=[release])
    assert isinstance(shaped, Rehearsal)
    assert shaped.shaped_by == (release.id,)
    assert not shaped.certificate.private
    assert "shaped_by" not in shaped.to_json()
    assert rehearse(learner, SCHEMA, plan).shaped_by == ()


def test_further_tables_keep_their_rows_with_their_owners():
    schema = small_trains.SCHEMA
    learner = get_learner("ilp")
    tables = small_trains.trains(800)
    main, child = tables[schema.entity], schema.children[0]
    further = {c.name: frame_chunks(tables[c.name]) for c in schema.children}
    trains = ingest(frame_chunks(main), schema, SeededRandom(1), further)
    plan = learner.plan(schema, small_trains.TARGET, Decimal(10), {})
    model = learner.run(Run(trains, plan, SeededRandom(2)))
    release = make_release("ilp", plan, model, secure=False)
    shape = shape_of(schema, small_trains.TARGET, [release])
    frame, children = shape.draw(3000, 5)
    key = schema.privacy_unit.column
    assert frame[key].tolist() == list(range(3000))
    owners = children[child.name][schema.key_of(child)]
    assert set(owners) <= set(range(3000))
    assert owners.value_counts().max() <= child.max_rows_per_person
    rehearsed = rehearse(learner, schema, plan, releases=[release])
    assert rehearsed.shaped_by == (release.id,)


def test_rows_that_belong_to_rows_still_do_in_records_that_follow_a_theory():
    schema = nested_schema(max_rows=400)
    learner = get_learner("ilp")
    chosen = {"quantifiers": ["exists", "within", "counts"], "max_variables": 1, "evaluate": False}
    plan = learner.plan(schema, "ill", Decimal(20), chosen)
    model = learner.run(Run(draw_patients(100, 9).table(schema), plan, SeededRandom(4)))
    assert any(variable.nested for clause in model.clauses for variable in clause.variables)
    release = make_release("ilp", plan, model, secure=False)
    frame, children = shape_of(schema, "ill", [release]).draw(500, 5)
    kept = set(zip(children["stay"]["id"], children["stay"]["stay_id"], strict=True))
    assert len(children["lab"]) > 0
    assert set(zip(children["lab"]["id"], children["lab"]["of"], strict=True)) <= kept
    assert len(set(model.first_clause({"patient": frame, **children}, schema.invented()).tolist())) > 1
    assert rehearse(learner, schema, plan, releases=[release]).shaped_by == (release.id,)


def test_weights_give_every_group_its_share():
    draw = np.random.default_rng(1)
    one, two = draw.integers(0, 3, 5000), draw.integers(0, 2, 5000)
    groups = [
        Groups(lambda _: one, np.array([70.0, 20.0, 10.0]), 1.0),
        Groups(lambda _: two, np.array([-3.0, 60.0]), 1.0),
    ]
    records = Records(SCHEMA, {SCHEMA.entity: pd.DataFrame({"a": ["yes"] * 5000})})
    weights = fitted_to(groups, records)
    assert weights.sum() == pytest.approx(1)
    assert [weights[one == i].sum() for i in range(3)] == pytest.approx([0.7, 0.2, 0.1], abs=1e-6)
    assert weights[two == 0].sum() == pytest.approx(0, abs=1e-6)


def test_tables_that_contradict_each_other_leave_the_target_as_it_was_counted():
    """All noisy tables cannot be met at once: within their noise they need not be, but for those of the target."""
    draw = np.random.default_rng(2)
    codes = {name: draw.integers(0, 2, 5000) for name in "abct"}

    def pair(one, other, counts):
        return Groups(lambda _: 2 * codes[one] + codes[other], np.array(counts), 30.0, columns=(one, other))

    wanted = [480.0, 20.0, 20.0, 480.0]
    alike = [320.0, 180.0, 180.0, 320.0]
    contradictions = [[300.0, 230.0, 200.0, 270.0], [270.0, 200.0, 230.0, 300.0], [230.0, 270.0, 270.0, 230.0]]
    groups = [pair("a", "t", wanted), *(pair("a", "b", counts) for counts in contradictions), pair("b", "t", alike)]
    records = Records(SCHEMA, {SCHEMA.entity: pd.DataFrame({"a": ["yes"] * 5000})})

    def shares(weights, one, other):
        return np.bincount(2 * codes[one] + codes[other], weights, 4)

    soft = eased(groups, records, "t")
    assert soft.sum() == pytest.approx(1)
    assert shares(soft, "a", "t") == pytest.approx(np.array(wanted) / 1000, abs=0.01)
    assert shares(soft, "b", "t") == pytest.approx(np.array(alike) / 1000, abs=0.01)

    def worst(weights):
        return np.abs(shares(weights, "a", "t") - np.array(wanted) / 1000).max()

    assert worst(soft) < worst(fitted_to(groups, records)) / 2


def test_what_noise_explains_is_left_alone():
    groups = [Groups(lambda _: np.arange(10) % 2, np.array([52.0, 48.0]), 3.0, columns=("a",))]
    records = Records(SCHEMA, {SCHEMA.entity: pd.DataFrame({"a": ["yes"] * 10})})
    assert eased(groups, records, "t") == pytest.approx(np.full(10, 0.1))
    assert eased(groups, records, "a")[:2] == pytest.approx([0.104, 0.096])


def test_numbers_of_predicted_classes_have_the_noise_of_all_counts_that_they_add_up():
    scale, exact = 6.0, np.array([[400, 90], [30, 200], [50, 80], [10, 120]])
    estimates = np.array([[0.8, 0.2], [0.1, 0.9], [0.4, 0.6], [0.1, 0.9]])
    evaluation = evaluate(exact, estimates, scale, geometric_tail(scale, 0.95))
    knowledge = SimpleNamespace(model=SimpleNamespace(evaluation=evaluation), evidence=SimpleNamespace(predicted=None))
    (groups,) = measured_groups(knowledge)
    noise = np.reshape(SeededRandom(1).geometric_noise(scale, 2000 * exact.size), (-1, *exact.shape))
    told = [confusion_of(exact + one, estimates.argmax(axis=1)).sum(axis=0) for one in noise]
    assert groups.error == pytest.approx(np.std(told, axis=0), rel=0.08)
    assert groups.error[1] / groups.error[0] == pytest.approx(3**0.5), "three groups are predicted the second class"
    knowledge.model.evaluation = evaluation.model_copy(update={"group_counts": (), "group_estimates": ()})
    (earlier,) = measured_groups(knowledge)
    assert earlier.error == pytest.approx([groups.error[0]] * 2), "as if one group were predicted each"


def test_a_group_without_records_counts_for_nothing():
    groups = [Groups(lambda _: np.zeros(10, dtype=int), np.array([5.0, 5.0]), 1.0)]
    records = Records(SCHEMA, {SCHEMA.entity: pd.DataFrame({"a": ["yes"] * 10})})
    assert fitted_to(groups, records) == pytest.approx(np.full(10, 0.1))


def test_negative_counts_are_shared_out():
    """The nearest point with no negative part: no other one of a fine grid is nearer."""
    counts = np.array([6.0, 3.0, -1.0])
    found = without_negatives(counts) * counts.sum()
    steps = np.linspace(0, 8, 81)
    grid = np.array([(x, y, 8 - x - y) for x in steps for y in steps if x + y <= 8])
    best = grid[((grid - counts) ** 2).sum(axis=1).argmin()]
    assert found == pytest.approx(best, abs=0.1)
    assert without_negatives(np.array([-5.0, -6.0])).sum() == pytest.approx(1)


def test_tilting_keeps_the_marginal_shares():
    marginal = uniform(SCHEMA.column("b"))
    levels, pull = np.array([0.3, 0.7]), np.array([[0, 0, 0, 0, 0], [2.0, 0, -1, 0, 0]])
    table = tilted(marginal, levels, pull)
    assert levels @ table == pytest.approx(marginal.shares, abs=1e-6)
    ratio = np.log(table[1, :3] / table[0, :3])
    assert ratio - ratio[1] == pytest.approx([2, 0, -1], abs=1e-6)


@pytest.mark.parametrize(("low", "high"), [(0, 0.5), (3, 4), (3.5, 6), (0, 99)])
def test_whole_numbers_lie_in_their_bin(low, high):
    column, many, first = SCHEMA.column("n"), 2000, low == 0
    points = np.array([low, high] if first else [0, low, high])
    drawn = between(column, points, np.full(many, 0 if first else 1), public_generator(1))
    inside = {n for n in range(100) if low < n <= high or (low == 0 and n == 0)}
    assert set(drawn) == inside


def test_a_bin_of_the_lowest_number_alone_has_it_to_itself():
    column, cells = SCHEMA.column("n"), np.repeat([0, 1, 2], 500)
    drawn = between(column, np.array([0.0, 0.0, 4.0]), cells, public_generator(1))
    assert set(drawn[cells == 0]) == {0}
    assert set(drawn[cells == 1]) == {1, 2, 3, 4}
    assert np.isnan(drawn[cells == 2]).all()


def test_shapes_see_releases_and_schemas_only():
    """No module of the package but the one that runs learners may touch records."""
    folder = Path(dpcore.rehearsal.__file__).parent
    closed = {
        "dpcore.data.table",
        "dpcore.data.building.ingest",
        "dpcore.workspace.files.store",
        "dpcore.data.queries",
        "dpcore.service",
    }
    for path in folder.glob("*.py"):
        tree = ast.parse(path.read_text(encoding="utf-8"))
        names = {node.module for node in ast.walk(tree) if isinstance(node, ast.ImportFrom)}
        names |= {a.name for n in ast.walk(tree) if isinstance(n, ast.Import) for a in n.names}
        if path.name != "running.py":
            assert not names & closed, path.name
