"""The suite of redescriptions: what is true of them, and what is pooled over runs."""

from __future__ import annotations

from dataclasses import replace
from decimal import Decimal
from typing import Any

import numpy as np
import pandas as pd
import pytest

from benchmarks.redescriptions_greedy import greedy_model
from benchmarks.results import Cell, Line
from benchmarks.suites import redescriptions as red
from dpcore.arrays import Array
from dpcore.demo.truth import PlantedRedescription, Query, when
from dpcore.domain.columns import NumericColumn
from dpcore.domain.schemas.schema import Schema
from dpcore.models.redescriptions.released.redescription_model import RedescriptionModel
from dpcore.models.registry import get_learner
from tests.benchmarks.conftest import SCHEMAS
from tests.support.results.small_redescriptions import LEFT, RIGHT, SCHEMA, small_pairs, two_sided_people


@pytest.fixture(scope="module")
def people() -> red.TwoViews:
    """Invented people, with one planted redescription that is there and one that is not."""
    left, right = Query((when("diabetes_2008 = yes"),)), Query((when("metformin = yes"),))
    there = PlantedRedescription("illness", left, right, 0.9, 0.95)
    absent = replace(there, right=Query((when("insulin = yes"),)))
    frame = two_sided_people().replace({"yes": True, "no": False})
    return red.TwoViews.of("people", frame, SCHEMA, (there, absent))


def test_true_counts_are_those_of_the_engine(people: red.TwoViews) -> None:
    model = small_pairs()
    for pair, table in zip(model.pairs, model.exact_tables(people.frame, SCHEMA), strict=True):
        assert (people.counts(pair) == table).all()
        assert people.counts(pair).sum() == len(people.frame)


def _splits(frame: pd.DataFrame, names: tuple[str, ...]) -> dict[str, Array]:
    """All conditions of a view, from the raw values."""
    found = {}
    for name in names:
        column, values = SCHEMA.column(name), frame[name]
        if isinstance(column, NumericColumn):
            found |= {f"{name} <= {edge:g}": values <= edge for edge in column.inner_edges}
        elif len(column.classes) == 2:
            found[f"{name} = yes"] = values.astype(bool)
        else:
            found |= {f"{name} = {cell}": values == cell for cell in column.classes}
    return {text: np.asarray(holds) for text, holds in found.items()}


def _purity(holds: Array, classes: Array) -> float:
    """Sum over both branches and all classes of count² / size."""
    branches = [classes[branch] for branch in (holds, ~holds)]
    return sum((np.unique(own, return_counts=True)[1] ** 2).sum() / max(len(own), 1) for own in branches)


def test_without_privacy_every_choice_is_the_best_one(people: red.TwoViews) -> None:
    """Each start is the pair of conditions farthest from independent, each split the purest."""
    model = greedy_model(people.table, depth=1, starts=2)
    views = {"left": _splits(people.frame, LEFT), "right": _splits(people.frame, RIGHT)}
    used: set[str] = set()
    for number, pair in enumerate(model.pairs):
        free = {
            side: {text: holds for text, holds in items.items() if text.split(" ")[0] not in used}
            for side, items in views.items()
        }
        gaps = {
            (a, b): abs((left & right).mean() - left.mean() * right.mean())
            for a, left in free["left"].items()
            for b, right in free["right"].items()
        }
        start = dict(zip(("left", "right"), max(gaps, key=gaps.__getitem__), strict=True))
        used |= {text.split(" ")[0] for text in start.values()}
        first, second = ("left", "right") if number % 2 == 0 else ("right", "left")
        assert pair.target == start[second]
        classes = views[second][start[second]]
        trees = {"left": pair.left, "right": pair.right}
        for side in (first, second):
            best = max(_purity(holds, classes) for holds in views[side].values())
            chosen = views[side][trees[side].splits[0].text(SCHEMA)]
            assert _purity(chosen, classes) == pytest.approx(best, abs=0.1)
            classes = chosen
        assert (np.array(pair.noisy_counts) == people.counts(pair)).all()
    assert len(used) == 4


def test_without_noise_what_is_read_is_the_truth(people: red.TwoViews) -> None:
    found = red.measured(people, red.GREEDY, None)
    own = found["readings"][red.USUAL]
    assert len(own["noisy"]) > 0
    assert own["noisy"] == pytest.approx(own["exact"])
    assert all(own["held"])
    assert own["suggested"] == 1
    assert max(own["p"]) < 0.01
    assert found["planted recovered"] == 1
    nothing = RedescriptionModel(left_columns=LEFT, right_columns=RIGHT, pairs=())
    assert red.recovered(nothing, people) == 0


def test_the_truth_beside_a_redescription_is_that_of_its_people(people: red.TwoViews) -> None:
    model = red.fitted(people.table, "redescriptions", 1).model
    said, own = model.extract(SCHEMA), red.reading(model, people, red.READINGS[red.USUAL])
    assert len(own["noisy"]) == len(said.found) > 0
    for place, item in enumerate(said.found):
        pair = model.pairs[item.pair]
        left = np.isin(pair.left.apply(people.frame, SCHEMA), item.left_leaves)
        right = np.isin(pair.right.apply(people.frame, SCHEMA), item.right_leaves)
        assert own["exact"][place] == pytest.approx((left & right).sum() / (left | right).sum())
        assert own["held"][place] == (item.interval[0] <= own["exact"][place] <= item.interval[1])
    assert np.abs(np.subtract(own["noisy"], own["exact"])).mean() < 0.1


@pytest.mark.parametrize("name", red.PAPER_SUPPORT)
def test_every_method_may_run_at_every_epsilon(name: str) -> None:
    learner, schema = get_learner("redescriptions"), Schema.from_file(SCHEMAS / f"{name}.yaml")
    for method, chosen in red.METHODS.items():
        for epsilon in red.REDESCRIPTIONS.epsilons:
            plan: Any = learner.plan(schema, "", Decimal(repr(epsilon)), chosen)
            if method not in (red.HOUSE, red.LOOKAHEAD):
                assert (plan.parameters.depth, plan.parameters.starts * plan.parameters.rounds) == (4, 4)
                assert plan.parameters.margins


def _reading(exact: list[float], noisy: list[float], support: list[float]) -> dict[str, Any]:
    held = [place % 2 == 0 for place in range(len(exact))]
    p = np.linspace(0, 0.02, len(exact)).tolist()
    return {"exact": exact, "noisy": noisy, "support": support, "held": held, "p": p, "suggested": 100}


def test_figures_are_pooled_over_runs_and_pruned_by_noisy_support() -> None:
    one, none = _reading([0.5, 0.7, 0.9], [0.6, 0.7, 0.5], [200, 100, 99]), _reading([0.1], [0.8], [10])
    found = red.pooled([one, none])
    assert (found["found"], found["kept"], found["runs of which nothing is kept"]) == (2, 1, 1)
    assert [found[name] for name in ("first quartile", red.MEDIAN, "third quartile")] == pytest.approx(
        [0.55, 0.6, 0.65]
    )
    assert found[red.ERROR] == pytest.approx(0.05)
    assert (found[red.SHARE], found["coverage of 95 % intervals"]) == (0.5, 0.5)
    assert red.pooled([one, none], 0)["exact"] == pytest.approx(0.55)
    assert red.MEDIAN not in red.pooled([none])


def test_the_greedy_search_is_taken_from_the_same_support_on() -> None:
    usual = {red.USUAL: _reading([0.6], [0.63], [2000])}
    best = {red.USUAL: {**_reading([0.8, 0.1], [0.8, 0.1], [500, 99]), "suggested": 1}}
    cells = [Cell("cms", red.HOUSE, 1.0, seed) for seed in (0, 1)]
    lines = [Line(cell, {"readings": usual}) for cell in cells]
    lines.append(Line(Cell("cms", red.GREEDY, None, 0), {"readings": best}))
    found = {(own.method, own.metric): own for own in red._conclude(lines, [])}
    assert found[red.HOUSE, red.RATIO].value == pytest.approx(0.75)
    assert found[red.HOUSE, red.MEDIAN].n == 2
    assert found[red.HOUSE, "kept, the paper's support"].value == 1
