"""What single suites measure and conclude, where a fault could mislead: truth, accuracy, intervals, budgets, goals."""

from __future__ import annotations

import math
import os
from decimal import Decimal
from itertools import combinations
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import numpy as np
import pandas as pd
import pytest

from benchmarks.datasets import FOLDER_VARIABLE, BenchData
from benchmarks.problems import problem
from benchmarks.results import Cell, Line, Result
from benchmarks.suites import after_looks, budgets, ebm, growth, ilp, looks, records, rehearsal, scale
from dpcore import DPSummary
from dpcore.domain.columns import NumericColumn
from dpcore.domain.schemas.schema import Schema
from dpcore.models.ilp.language.ilp_parameters import ILPParameters
from dpcore.models.ilp.language.lattice import build_lattice
from dpcore.models.registry import get_learner
from dpcore.privacy.budgets import gaussian_delta
from dpcore.privacy.losses import NOTHING, total_loss
from dpcore.privacy.mechanisms import ExponentialMechanism, FineGaussian, GeometricMechanism, NoisyMax
from dpcore.privacy.randomness import SeededRandom
from dpcore.released.evidence import Records
from tests.benchmarks.conftest import SCHEMAS, forget, rows_of
from tests.support.workspaces.fake_learner import real_learners

needs_data = pytest.mark.skipif(FOLDER_VARIABLE not in os.environ, reason="needs the benchmark data")


# Relational rules


@pytest.mark.parametrize("name", [ilp.THREE, ilp.TWO])
def test_without_noise_a_concept_is_learned(name: str) -> None:
    cell = Cell(f"{name}, 1,000 trains", ilp.PLAIN, None, 0)
    assert ilp._measure(cell, {}) == {ilp._ACCURACY: 1.0}


def test_accuracy_is_that_of_the_predictions_on_the_tables() -> None:
    concept = ilp.CONCEPTS[ilp.TWO]
    drawn = ilp.draw(concept, 300, "a test")
    tables = {"train": drawn.frame, **drawn.children}
    east = (drawn.frame["direction"] == "east").to_numpy()
    for method in (ilp.HOUSE, ilp.NAIVE):
        model = ilp.learned(drawn.table, {**concept.settings, **ilp.METHODS[method]}, 1.0)
        for kept in ((True, True), (False, True), (True, False), (False, False)):
            groups = [
                group.model_copy(update={"kept": keep})
                for group, keep in zip(model.groups, (*kept, False), strict=True)
            ]
            changed = model.model_copy(update={"groups": tuple(groups)})
            right = (changed.predict(tables, drawn.table.schema) == 1) == east
            assert ilp.accuracy(changed, drawn.table) == pytest.approx(right.mean())


@pytest.mark.parametrize("method", ilp.METHODS)
def test_every_method_has_the_language_and_the_count_share_of_the_others(method: str) -> None:
    for concept in ilp.CONCEPTS.values():
        schema, given = concept.schema(1_000), {**concept.settings, **ilp.METHODS[method]}
        plan: Any = get_learner("ilp").plan(schema, "direction", Decimal(1), given)
        assert plan.split.parts["estimates"] == Decimal("0.2" if "20%" in method else "0.05")
        lattices = [
            build_lattice(schema, "direction", ILPParameters.model_validate(own)) for own in (given, concept.settings)
        ]
        assert len(lattices[0]) == len(lattices[1])
        assert lattices[0].lengths.max() == concept.max_literals


def _accuracies(**methods: list[float]) -> dict[tuple[str, str], Result]:
    """What is concluded from accuracies at 100, 1,000 and 2,000 trains."""
    names = {"house": ilp.HOUSE, "relevance": ilp.RELEVANCE, "naive": ilp.NAIVE}
    results = [
        Result(f"{ilp.TWO}, {size:,} trains", names[name], 1.0, ilp._ACCURACY, value, 0.01, 10)
        for name, values in methods.items()
        for size, value in zip((100, 1_000, 2_000), values, strict=True)
    ]
    return {(own.method, own.metric): own for own in ilp.conclude([], results)}


def test_sizes_at_which_a_concept_is_learned() -> None:
    found = _accuracies(house=[0.95, 0.9, 1.0], relevance=[0.5, 0.6, 0.96], naive=[0.5, 0.5, 0.94])
    assert [found[method, ilp.REACHED].value for method in (ilp.HOUSE, ilp.RELEVANCE)] == [100, 2_000]
    assert (ilp.NAIVE, ilp.REACHED) not in found
    assert (found[ilp.HOUSE, ilp.TIMES].value, found[ilp.HOUSE, ilp.TIMES].mark) == (20, "")
    assert found[ilp.RELEVANCE, ilp.LEAD].value == 0


def test_a_method_that_never_learned_gives_a_bound_or_nothing() -> None:
    bound = _accuracies(house=[0.99] * 3, relevance=[0.9] * 3)[ilp.HOUSE, ilp.TIMES]
    assert (bound.value, bound.mark) == (20, "or more")
    assert (ilp.HOUSE, ilp.TIMES) not in _accuracies(house=[0.9] * 3, relevance=[0.99] * 3)
    lead = _accuracies(relevance=[0.6, 0.7, 0.8], naive=[0.5, 0.72, 0.8])[ilp.RELEVANCE, ilp.LEAD]
    assert lead.value == pytest.approx(-0.02 / (0.01 * math.sqrt(2)))


def test_clauses_are_shown_by_the_errors_they_avoid() -> None:
    results = [Result("more clauses: 2, 250 trains", ilp.HOUSE, 1.0, ilp._ACCURACY, 0.9, 0.01, 10)]
    [found] = ilp.conclude([], results)
    assert (found.data, found.metric, found.value) == ("250 trains", "more clauses: 2", pytest.approx(0.8))


@needs_data
def test_rules_rank_other_beneficiaries_better_than_chance() -> None:
    forget()
    assert ilp._measure_data(Cell("earlier years: heart disease", ilp.ALIKE, 1.0, 0), {})["AUC"] > 0.65
    assert ilp._measure_data(Cell("bongard", ilp.PLAIN, None, 0), {})["accuracy"] > 0.9


# Boosting machines


def test_the_papers_figures_have_one_shape_and_improve_with_epsilon() -> None:
    for name, (figures, spreads, step) in ebm.PUBLISHED.items():
        assert len(figures) == len(spreads) == len(ebm.EBM.epsilons) + 1
        assert list(figures) == sorted(figures, reverse=figures[0] > figures[-1]), name
        assert all(round(figure / step, 6).is_integer() for figure in figures), name


@pytest.mark.parametrize(("gap", "mark"), [(0.0053, "="), (0.0055, "+"), (-0.0055, "-")])
def test_the_papers_method_departs_beyond_two_standard_errors_of_the_difference(gap: float, mark: str) -> None:
    """Two standard errors are 2 sqrt(.001² + .00224²) = .0049, and .0005 for the rounding."""
    found = ebm.beside_paper(Result("adult", ebm.PAPER_MODE, 1.0, "AUC", 0.883 + gap, 0.001, 2))
    assert (found.mark, found.value) == (mark, pytest.approx(gap))
    lower = ebm.beside_paper(Result("california_housing", ebm.PAPER_MODE, 1.0, "RMSE", 70_000, 1.0, 2))
    assert (lower.mark, lower.value) == ("+", 5843)


@needs_data
def test_bands_are_held_against_the_same_run_without_noise(monkeypatch: pytest.MonkeyPatch) -> None:
    forget()
    cell = Cell("heart, 303 rows", ebm.HOUSE, 1.0, 0)
    assert 0.9 < ebm._measure_coverage(cell, {})["coverage"] <= 1
    monkeypatch.setattr(ebm, "Z95", 0.05)
    assert ebm._measure_coverage(cell, {})["coverage"] < 0.3


# First looks and invented records


def truth_of(sizes: list[int], rows: int = 400) -> looks.Truth:
    """Columns with so many categories, besides the cells of other and missing values."""
    columns = [
        {"name": f"c{place}", "type": "categorical", "categories": [f"v{code}" for code in range(size)]}
        for place, size in enumerate(sizes)
    ]
    schema = Schema.from_mapping({"name": "made", "max_rows": rows, "columns": columns})
    draw = np.random.default_rng(3)
    drawn = {f"c{place}": [f"v{code}" for code in draw.integers(0, size, rows)] for place, size in enumerate(sizes)}
    return looks.Truth.of(BenchData("made", pd.DataFrame(drawn), schema))


def test_columns_alike_are_told_best_by_equal_parts() -> None:
    found = looks.limits(truth_of([4, 4, 4]), 0.5)
    assert found[looks.PURE] == pytest.approx(3 / 0.5)
    # The mean size of Gaussian noise is its deviation times the root of 2/pi.
    mu = np.sqrt(3) * np.sqrt(2 / np.pi) / found[looks.WITH_DELTA]
    assert gaussian_delta(mu, 0.5) == pytest.approx(looks.DELTA)
    rho = (np.sqrt(3) * np.sqrt(2 / np.pi) / found[looks.BY_ZCDP]) ** 2 / 2
    assert rho + 2 * np.sqrt(rho * -np.log(looks.DELTA)) == pytest.approx(0.5)


def test_columns_of_other_sizes_gain_by_unequal_parts() -> None:
    found = looks.limits(truth_of([2, 30]), 1)
    assert found[looks.PURE] == pytest.approx((2 + np.sqrt(32)) ** 2 / 36)
    assert found[looks.PURE] < found[looks.HISTOGRAMS] == 2


def test_intervals_of_crosstabs_hold_for_their_own_records_alone() -> None:
    own, others = truth_of([2, 3]), truth_of([2, 3], rows=800)
    pairs = list(combinations(range(2), 2))
    look = DPSummary(epsilon=2, schema=own.data.schema, crosstabs=("c0 by c1",), random_state=1).fit(own.data.frame)
    assert min(looks.held_crosstabs(own, pairs, look.model_)) > 0.8
    # Of 20 cells 14 are those of other and missing values, which are empty here and there.
    assert looks.held_crosstabs(others, pairs, look.model_)[0] == pytest.approx(14 / 20)


@pytest.fixture(scope="module")
def three() -> looks.Truth:
    """Two columns that are the same, and one that has nothing to do with them."""
    columns = [{"name": name, "type": "boolean"} for name in "abt"]
    schema = Schema.from_mapping({"name": "three", "max_rows": 500, "columns": columns})
    same, other = (np.array(["yes", "no"])[np.arange(400) // often % 2] for often in (1, 2))
    return looks.Truth.of(BenchData("three", pd.DataFrame({"a": same, "b": same, "t": other}), schema))


def test_invented_records_are_off_where_they_differ(three: looks.Truth) -> None:
    assert set(after_looks.measures(three, three.matrix).values()) == {0}
    found = after_looks.measures(three, three.matrix[:, [0, 2, 2]])
    assert found[after_looks.COLUMNS] == 0
    # a with b and b with t are each half wrong; a with t is right.
    assert found[after_looks.VARIATION] == pytest.approx(1 / 3)


def test_a_first_look_follows_the_pair_and_histograms_do_not(three: looks.Truth) -> None:
    ways = (after_looks.first_look(records=True), after_looks.histograms)
    looked, alone = (after_looks.measures(three, way(three, 20.0))[after_looks.VARIATION] for way in ways)
    assert looked < alone / 2


# Budgets


@needs_data
def test_as_many_runs_as_are_compared_fit_before_and_after() -> None:
    forget()
    adult = problem("adult").data
    few = BenchData("adult", adult.frame[:2000], adult.schema.model_copy(update={"max_rows": 1000}))
    for name in budgets.FAMILIES:
        for count in (10, 100):
            before, after = (way(few, name, count) for way in (budgets.added, budgets.composed))
            assert before.epsilon * count <= budgets.CAP.epsilon
            assert budgets.CAP.accepts(total_loss([before.loss] * count))
            assert budgets.CAP.accepts(total_loss([after.loss] * count))
            assert budgets.CAP.fitting(NOTHING, after.loss) < 1.1 * count


def test_every_mechanism_that_answers_is_seen() -> None:
    source, counts = SeededRandom(1), np.arange(3)
    with budgets.watched() as spent:
        GeometricMechanism(1, Decimal("0.2")).release(counts, source)
        ExponentialMechanism(1, Decimal("0.3"), monotone=True).select(counts, source)
        NoisyMax(1, Decimal("0.1"), monotone=True).select(counts, source)
        FineGaussian(2**28, 0.5).release(counts, source)
    GeometricMechanism(1, Decimal(1)).release(counts, source)
    assert spent.pure == [Decimal("0.2"), Decimal("0.3"), Decimal("0.1")]
    assert spent.squares == [pytest.approx(0.25)]
    assert budgets.sequence_unspent(spent, 0.8) == pytest.approx(0.25)


def test_a_tree_leaves_the_mean_of_its_paths() -> None:
    def node(parent: int | None, spent: str, children: tuple[int, ...] = ()) -> SimpleNamespace:
        return SimpleNamespace(parent=parent, spent=Decimal(spent), children=children)

    nodes = [node(None, "0.4", (1, 2)), node(0, "0.6"), node(0, "0.2")]
    assert budgets.tree_unspent(SimpleNamespace(nodes=nodes, budget=Decimal(1))) == pytest.approx(0.2)


# Rehearsals


@pytest.fixture
def made_up(monkeypatch: pytest.MonkeyPatch) -> pd.DataFrame:
    """Four columns, of which the first and the third say the same."""
    columns: list[dict[str, Any]] = [{"name": name, "type": "boolean"} for name in "abct"]
    columns[-1]["target"] = True
    schema = Schema.from_mapping({"name": "four", "max_rows": 500, "columns": columns})
    same, *others = np.random.default_rng(1).choice(["yes", "no"], (3, 400))
    frame = pd.DataFrame({"a": same, "b": others[0], "c": same, "t": others[1]})
    monkeypatch.setattr(rehearsal, "load", lambda _name: BenchData("four", frame, schema))
    forget()
    return frame


@pytest.mark.parametrize("name", ["titanic", "titanic halves"])
def test_those_set_aside_are_others_than_those_a_run_sees(made_up: pd.DataFrame, name: str) -> None:
    own = rehearsal.real(name)
    stored = own.table.public_frame("all" if name in rehearsal.VIEWS else "train")
    assert 0 < own.aside.records.rows < 200
    assert len(stored) + own.aside.records.rows == 400
    assert not rehearsal.real(name, 1).aside.records.main.iloc[:5].equals(own.aside.records.main.iloc[:5])


def test_redescriptions_are_measured_exactly_on_other_people(made_up: pd.DataFrame) -> None:
    own = rehearsal.real("titanic halves")
    _, model = own.run("redescriptions", "50", 1)
    assert own.aside.of("redescriptions", model) == 1
    swapped = own.aside.records.main.assign(c=own.aside.records.main["b"].to_numpy())
    others = Records(own.schema, {own.schema.entity: swapped})
    assert rehearsal.Measure.on(own.aside.kind, own.target, others).of("redescriptions", model) < 0.7


def test_rehearsals_are_off_by_points_from_each_run_and_from_their_mean() -> None:
    told = {"rehearsed": 0.70, "point": 0.01}
    lines = [
        Line(Cell("titanic", f"tree after {known}", 0.5, seed), {**told, "private": value, "said to be close": close})
        for known, close in (("schema alone", 0), ("a tree, ε 0.5", 1), ("a first look, ε 1", 0))
        for seed, value in enumerate((0.60, 0.72))
    ]
    found = {(own.method, own.metric): own for own in rehearsal.conclude(lines, [])}
    assert found["schema alone", rehearsal.OFF[2]].value == pytest.approx(10)
    assert found["first look; mean of private runs", rehearsal.OFF[0]].value == pytest.approx(4)
    assert found["said to be close", rehearsal.OFF[3]].value == 0.5
    again = found["private run again", rehearsal.OFF[0]]
    assert (again.value, again.n) == (pytest.approx(12), 1), "one request, whatever the rehearsal sees"


# Costs, growth, people, scale


def test_a_forecast_is_right_within_its_factor() -> None:
    results = [
        Result("a", method, None, metric, value, n=1)
        for method, told, taken in (("fast", 9.0, 0.5), ("right", 0.6, 2.0), ("wrong", 2.5, 2.0))
        for metric, value in ((growth.TOLD, told), (growth.TAKEN, taken), (growth.MEMORY, told))
    ]
    found = {own.method: own.value for own in growth.told_rightly([], results)}
    assert found == {
        "share of runs over 1 s forecast within a factor of 2": 0.5,
        "memory, least": 0.6,
        "memory, most": 9.0,
    }


def test_cms_is_drawn_again_with_a_hundred_splits_on_either_side() -> None:
    schema = Schema.from_file(SCHEMAS / "cms.yaml")
    table = growth.cms_again(BenchData("cms", rows_of(schema, 50), schema), 3_000)
    assert sum(len(partition.present) for partition in table.partitions) == 3_000
    splits = {"left": 0, "right": 0}
    for column in table.schema:
        classes = 0 if isinstance(column, NumericColumn) else len(column.classes)
        splits[str(column.view)] += (1 if classes == 2 else classes) or len(column.cells) - 2
    assert splits == {"left": 102, "right": 96}


def test_every_train_has_ten_cars() -> None:
    schema, frames = growth.many_cars(30)
    assert len(frames["car"]) == 300
    assert frames["car"].groupby(str(schema.privacy_unit.column)).size().eq(10).all()


def test_people_come_again_in_order_of_dates() -> None:
    rows = records.admissions(500, 1)
    assert rows["who"].nunique() == 500
    assert rows.groupby("who").size().between(1, 9).all()
    assert rows["admitted"].is_monotonic_increasing
    assert rows.equals(records.admissions(500, 1))


@pytest.mark.parametrize("way", records.WAYS)
def test_every_way_predicts(way: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(records, "PEOPLE", 2000)
    assert 0.5 < records._measure_persons(Cell(way, "ebm", 8.0, 3), {})["AUC"] < 1


def test_clusters_are_compared_with_threads_of_the_same_turn() -> None:
    seconds = {"tree, threads": (1.0, 2.0), "tree, Dask x 2": (1.1, 2.6)}
    lines = [
        Line(Cell("register", method, None, seed), {"seconds": own[seed]})
        for method, own in seconds.items()
        for seed in (0, 1)
    ]
    [found] = scale._beside_threads(lines, [])
    assert (found.method, found.value, found.n) == ("tree, Dask x 2", pytest.approx(0.2), 2)


def test_every_family_has_a_name_in_the_table_of_runs() -> None:
    assert list(budgets.FAMILY_NAMES.values()) == list(real_learners())


def test_figures_on_the_page_of_rehearsals_have_their_command() -> None:
    text = (Path(__file__).parents[2] / "docs" / "rehearsals.md").read_text(encoding="utf-8")
    assert "`python -m benchmarks rehearsal`" in text
