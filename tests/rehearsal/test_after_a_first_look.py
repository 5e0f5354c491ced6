"""After a first look, rehearsals of other families come close to the real run."""

from __future__ import annotations

from decimal import Decimal

import numpy as np
import pandas as pd
import pytest

from dpcore.data.building.ingest import frame_chunks, ingest
from dpcore.learning.learner import Run
from dpcore.models.registry import LEARNERS
from dpcore.models.released import parse_model
from dpcore.privacy.randomness import SeededRandom
from dpcore.rehearsal import forecast_quality, shape_of
from dpcore.rehearsal.running import rehearse, shape_for
from dpcore.rehearsal.trust import close_from
from dpcore.released.evidence import Records
from dpcore.released.release import make_release
from tests.support.tables import small_trains
from tests.support.tables.small_tables import ward

SCHEMA = ward(
    {"name": "age", "type": "integer", "lower": 20, "upper": 100, "bins": 8},
    {"name": "smoker", "type": "boolean"},
    {"name": "ward", "type": "categorical", "categories": ["a", "b", "c", "d"]},
    {"name": "sex", "type": "categorical", "categories": ["f", "m"]},
    {"name": "ill", "type": "boolean", "target": True},
    max_rows=6000,
    holdout_percent=30,
)


def records(rows: int = 5000) -> pd.DataFrame:
    draw = np.random.default_rng(4)
    age, smoker = draw.integers(20, 101, rows), draw.random(rows) < 0.2
    chance = 0.08 + 0.35 * (age > 70) + 0.3 * smoker
    return pd.DataFrame(
        {
            "age": age,
            "smoker": np.where(smoker, "yes", "no"),
            "ward": draw.choice(["a", "b", "c", "d"], rows, p=[0.7, 0.2, 0.08, 0.02]),
            "sex": draw.choice(["f", "m"], rows),
            "ill": np.where(draw.random(rows) < chance, "yes", "no"),
        }
    )


@pytest.fixture(scope="module")
def table():
    return ingest(frame_chunks(records()), SCHEMA, SeededRandom(0))


@pytest.fixture(scope="module")
def look(table):
    return release_of("summaries", "", table, by="ill", pairs=3)


def release_of(family, target, table, seed=2, **parameters):
    learner = LEARNERS[family]
    plan = learner.plan(SCHEMA, target, Decimal(1), parameters, Decimal("0.000001"))
    return make_release(family, plan, learner.run(Run(table, plan, SeededRandom(seed))), secure=True)


def accuracy(release):
    return parse_model(release).evaluation.accuracy.value


@pytest.mark.parametrize(
    ("family", "parameters"),
    [
        ("tree", {}),
        ("rule_list", {"pool_size": 3000}),
        ("forest", {"trees": 5}),
        ("ebm", {"epochs": 30}),
    ],
)
def test_a_rehearsal_comes_close_to_the_real_run(family, parameters, table, look):
    """Within 5 points of real runs, on average."""
    real = [release_of(family, "ill", table, seed, evaluate=True, **parameters) for seed in (2, 3, 4)]
    learner = LEARNERS[family]
    plan = learner.plan(SCHEMA, "ill", Decimal(1), {"evaluate": True, **parameters}, Decimal("0.000001"))
    rehearsed = rehearse(learner, SCHEMA, plan, releases=[look])
    assert rehearsed.shaped_by == (look.id,)
    assert accuracy(rehearsed) == pytest.approx(sum(map(accuracy, real)) / len(real), abs=0.05)


def test_what_follows_pairs_says_so_and_is_never_said_to_be_close(table, look):
    """Not even beside a result from which alone a rehearsal is said to be close."""
    learner, tree = LEARNERS["tree"], release_of("tree", "ill", table)
    assert close_from(shape_of(SCHEMA, "ill", [tree]), learner.family)
    made = forecast_quality(
        learner,
        SCHEMA,
        "ill",
        {"blocks": (1,)},
        releases=[look, tree],
        epsilons=[Decimal(1)],
        repeats=(1, 1),
        progress=lambda *_: None,
    )
    assert (made.paired, made.ceiling is not None, made.close_from) == (True, True, None)


def test_without_pairs_of_the_target_the_invented_effect_stays(table):
    plain = release_of("summaries", "", table)
    learner = LEARNERS["tree"]
    plan = learner.plan(SCHEMA, "ill", Decimal(1), {})
    rehearsed = rehearse(learner, SCHEMA, plan, releases=[plain])
    assert len(parse_model(rehearsed).nodes) > 1


def test_a_number_follows_all_of_its_pairs_together():
    """Two columns add up to the target: one after another along pairs, records would follow them less closely."""
    schema = ward(
        *[
            {"name": name, "type": "integer", "lower": 0, "upper": 10, "bins": 5, "target": name == "y"}
            for name in "aby"
        ],
        name="sum",
        max_rows=6000,
    )
    draw = np.random.default_rng(5)
    one, other = draw.integers(0, 11, (2, 5000))
    frame = pd.DataFrame({"a": one, "b": other, "y": (one + other) // 2})
    learner = LEARNERS["summaries"]
    plan = learner.plan(schema, "", Decimal(2), {"by": "y", "crosstabs": ("a by b",)}, Decimal("0.000001"))
    model = learner.run(Run(ingest(frame_chunks(frame), schema, SeededRandom(0)), plan, SeededRandom(1)))
    told = learner.family.evidence(model).invented(schema, "y", 20_000, 3)
    away = told["y"] - (told["a"] + told["b"]) / 2  # Missing where noise has left somebody.
    assert np.sqrt(np.nanmean(away**2)) < 1.2


def test_the_noise_of_pairs_is_not_followed():
    """Columns that have nothing to do with each other: what noise makes of their pairs is no structure."""
    draw = np.random.default_rng(6)
    frame = records(1500).assign(ill=np.where(draw.random(1500) < 0.3, "yes", "no"))
    table = ingest(frame_chunks(frame), SCHEMA, SeededRandom(0))
    learner = LEARNERS["summaries"]
    plan = learner.plan(SCHEMA, "", Decimal("0.1"), {"by": "ill"}, Decimal("0.000001"))
    model = learner.run(Run(table, plan, SeededRandom(1)))
    invented = learner.family.evidence(model).invented(SCHEMA, "ill", 20_000, 3)
    told = Records(SCHEMA, {SCHEMA.entity: pd.DataFrame(invented)})
    groups = [one for one in learner.family.evidence(model).groups() if one.bins is None]
    assert len(groups) < len(model.pairs)
    for group in groups:
        found = np.bincount(group.place(told), minlength=len(group.counts)) / told.rows
        assert np.abs(found - group.shares).sum() < 0.1


def test_what_further_tables_tell_stays_invented():
    """A first look counts none of their columns: a target that followed its pairs alone would leave no rule to find."""
    schema, tables = small_trains.SCHEMA, small_trains.trains()
    further = {child.name: frame_chunks(tables[child.name]) for child in schema.children}
    table = ingest(frame_chunks(tables[schema.entity]), schema, SeededRandom(0), further)
    learner, rules = LEARNERS["summaries"], LEARNERS["ilp"]
    plan = learner.plan(schema, "", Decimal(2), {"by": small_trains.TARGET}, Decimal("0.000001"))
    look = make_release("summaries", plan, learner.run(Run(table, plan, SeededRandom(1))), secure=True)
    plan = rules.plan(schema, small_trains.TARGET, Decimal(2), {})
    shape = shape_for(rules, schema, plan, [look])
    assert (shape.used, shape.paired, close_from(shape, rules.family)) == ((look.id,), False, None)
    frame, children = shape.draw(20_000, 5)
    target = small_trains.TARGET
    east, real = (main[target].eq("east") for main in (frame, tables[schema.entity]))
    assert east.mean() == pytest.approx(real.mean(), abs=0.02)
    cars = children["car"]
    short = frame["train_id"].isin(cars["train_id"][cars["length"] == "short"])
    assert abs(east[short].mean() - east[~short].mean()) > 0.1
    # What asks the main table alone follows all of its pairs.
    tree = LEARNERS["tree"]
    assert shape_for(tree, schema, tree.plan(schema, target, Decimal(2), {}), [look]).paired
