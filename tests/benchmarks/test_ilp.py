"""The parts of the benchmark of relational rules that could mislead: truth, sizes, goals."""

from __future__ import annotations

import math
from decimal import Decimal
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest
from typer.testing import CliRunner

from benchmarks import ilp, ilp_facts, ilp_speed, ilp_trains
from benchmarks.__main__ import app
from benchmarks.datasets import FOLDER_VARIABLE
from benchmarks.ilp_methods import (
    DEFAULTS,
    HOUSE,
    METHODS,
    NAIVE,
    NON_PRIVATE,
    REDUCTIONS,
    RELEVANCE,
    SHARE,
    fitted,
)
from benchmarks.ilp_results import BARS, LEAD, RATIO, REACHED, Results
from benchmarks.ilp_tables import parts, speed_table, write_figure
from benchmarks.ilp_trains import CONCEPTS, GROWING, SIX, THREE, TWO, Score
from benchmarks.records import Record
from benchmarks.report import text
from dpcore.models.ilp.language.atoms import bottom_atoms
from dpcore.models.ilp.language.ilp_parameters import ILPParameters
from dpcore.models.ilp.language.lattice import build_lattice
from dpcore.models.registry import get_learner

_ALL = {**CONCEPTS, **GROWING}


def exists(cars: pd.DataFrame, key: str, **wanted: Any) -> set[Any]:
    """Trains with a car that has all these values; a tuple allows several."""
    fits = np.ones(len(cars), dtype=bool)
    for column, value in wanted.items():
        fits &= cars[column].isin(value if isinstance(value, tuple) else (value,)).to_numpy()
    return set(cars.loc[fits, key])


@pytest.mark.parametrize("name", _ALL)
def test_half_of_the_trains_satisfy_a_concept_and_the_language_has_twelve_conditions(
    name: str,
) -> None:
    concept = _ALL[name]
    drawn = ilp_trains.draw(concept, 200, "a test")
    assert (drawn.frame["direction"] == "east").sum() == 100
    texts = [atom.text(drawn.table.schema) for atom in bottom_atoms(drawn.table.schema, "direction")]
    assert len(texts) == 13
    assert texts[0] == "car: any"
    assert drawn.table.schema.max_rows == 200


def test_what_makes_a_train_go_east() -> None:
    closed = ("flat", "jagged", "peaked", "arc")
    for name in (THREE, SIX, TWO):
        drawn = ilp_trains.draw(CONCEPTS[name], 300, "a test")
        cars = drawn.children["car"]
        first = exists(cars, "train_id", length="short", roof=closed, load="triangle")
        second = exists(cars, "train_id", length="long", double_sided=True, load="circle")
        east = {THREE: first, SIX: first & second, TWO: first | second}[name]
        found = drawn.frame.loc[drawn.frame["direction"] == "east", "train_id"]
        assert set(found) == east, name


def test_one_drawing_is_not_another() -> None:
    concept = CONCEPTS[THREE]
    one, again, other = (ilp_trains.draw(concept, 50, name).frame for name in (0, 0, 1))
    assert one.equals(again)
    assert not one.equals(other)
    assert ilp_trains.guess(concept) == pytest.approx(0.5)


@pytest.mark.parametrize("name", [THREE, TWO])
def test_without_noise_a_concept_is_learned(name: str) -> None:
    concept = CONCEPTS[name]
    [score] = ilp_trains.scores(concept, 1_000, 0, [NON_PRIVATE], 1)
    assert score == Score(NON_PRIVATE, 1_000, 0, 1.0)


def test_accuracy_is_that_of_the_predictions_on_the_tables() -> None:
    concept = CONCEPTS[TWO]
    drawn = ilp_trains.draw(concept, 300, "a test")
    tables = {"train": drawn.frame, **drawn.children}
    east = (drawn.frame["direction"] == "east").to_numpy()
    for method in (HOUSE, NAIVE):
        model = fitted(drawn.table, method, concept.settings)
        for kept in ((True, True), (False, True), (True, False), (False, False)):
            groups = [
                group.model_copy(update={"kept": keep})
                for group, keep in zip(model.groups, (*kept, False), strict=True)
            ]
            changed = model.model_copy(update={"groups": tuple(groups)})
            right = (changed.predict(tables, drawn.table.schema) == 1) == east
            assert ilp_trains.accuracy(changed, drawn.table) == pytest.approx(right.mean())


@pytest.mark.parametrize("method", METHODS)
def test_every_method_has_the_language_and_the_count_share_of_the_others(method: str) -> None:
    learner = get_learner("ilp")
    for concept in _ALL.values():
        schema = concept.schema(1_000)
        given = {**concept.settings, **METHODS[method]}
        plan: Any = learner.plan(schema, "direction", Decimal(1), given)
        assert plan.split.parts["estimates"] == Decimal("0.2" if method == DEFAULTS else "0.05")
        chosen = ILPParameters.model_validate(given)
        lattice = build_lattice(schema, "direction", chosen)
        plain = ILPParameters.model_validate(concept.settings)
        assert len(lattice) == len(build_lattice(schema, "direction", plain))
        assert lattice.lengths.max() == concept.max_literals


def _results(house: list[float], relevance: list[float], naive: list[float]) -> Results:
    """Accuracies at 100, 1,000 and 2,000 trains: two training sets, two fits to each."""
    found = Results(TWO, (100, 1_000, 2_000), 0.5)
    given = {HOUSE: house, RELEVANCE: relevance, SHARE: [0.5] * 3, NAIVE: naive, NON_PRIVATE: [1.0] * 3}
    for method, means in given.items():
        for size, mean in zip(found.sizes, means, strict=True):
            found.add(Score(method, size, number, mean + step) for number in (0, 1) for step in (-0.01, 0.01))
    return found


def test_sizes_at_which_a_concept_is_learned() -> None:
    found = _results([0.95, 0.9, 1.0], [0.5, 0.6, 0.96], [0.5, 0.5, 0.94])
    assert found.accuracy(HOUSE, 100) == (pytest.approx(0.95), pytest.approx(0.0))
    assert [found.reached(method) for method in (HOUSE, RELEVANCE, SHARE, NAIVE)] == [100, 2_000, None, None]
    assert found.ratio() == (20.0, False)
    assert found.error_reduction(RELEVANCE, 1_000) == pytest.approx(0.2)
    assert found.error_reduction(NON_PRIVATE, 100) == pytest.approx(1.0)


def test_a_method_that_never_learned_gives_a_bound_or_nothing() -> None:
    assert _results([0.99] * 3, [0.9] * 3, [0.5] * 3).ratio() == (20.0, True)
    ratio = _results([0.9] * 3, [0.99] * 3, [0.5] * 3).ratio()
    assert ratio is not None
    assert math.isnan(ratio[0])
    assert not BARS[0].holds(ratio[0])
    only = Results(TWO, (100,), 0.5)
    only.add([Score(HOUSE, 100, 0, 1.0)])
    assert (only.ratio(), only.worst_lead()) == (None, None)


def test_a_lead_is_measured_in_standard_errors() -> None:
    above = _results([1.0] * 3, [0.6, 0.7, 0.8], [0.5, 0.7, 0.8])
    assert above.worst_lead() == 0
    below = _results([1.0] * 3, [0.6, 0.7, 0.8], [0.5, 0.72, 0.8])
    # Of four fits ±.01: each mean has the error .01 / sqrt(3), their difference sqrt(2) of it.
    assert below.worst_lead() == pytest.approx(-0.02 / (0.01 * math.sqrt(2 / 3)))
    assert BARS[1].holds(-2.9)
    assert not BARS[1].holds(-3.1)


def test_goals_are_marked() -> None:
    printed = text(parts([_results([0.99] * 3, [0.6, 0.7, 0.8], [0.5, 0.9, 0.8])]))
    goals = printed.split("Goals")[1]
    assert [goals.count(word) for word in ("reached│", "MISSED ")] == [1, 1]
    assert "> 20.0" in printed
    assert "99.0 ± 0.0" in printed
    assert "> 2,000" in printed


def test_clauses_are_shown_by_the_errors_they_avoid() -> None:
    found = [Results(name, (250,), 0.5) for name in GROWING]
    for place, one in enumerate(found):
        one.add([Score(HOUSE, 250, 0, 1.0 - 0.05 * place)])
    printed = text(parts(found))
    assert "error reduction at 250 trains" in " ".join(printed.split())
    assert "│6 clauses│  50.0│" in printed
    assert "Goals" not in printed


def test_figures_become_records() -> None:
    found = _results([0.95, 0.9, 1.0], [0.5, 0.6, 0.96], [0.5, 0.5, 0.94])
    records = {(r.data, r.method, r.metric): r for r in ilp.records([found])}
    shown = records[f"{TWO}, 1,000 trains", RELEVANCE, "accuracy on test trains"]
    assert (shown.mean, shown.reference, shown.n) == (pytest.approx(0.6), 0.5, 4)
    assert records[TWO, HOUSE, REACHED].mean == 100
    assert (TWO, NAIVE, REACHED) not in records
    assert (records[TWO, HOUSE, RATIO].mean, records[TWO, HOUSE, RATIO].reference) == (20.0, 10.0)
    assert records[TWO, RELEVANCE, LEAD].mean == 0


def test_the_figure_holds_every_method(tmp_path: Path) -> None:
    path = tmp_path / "figure.html"
    write_figure([_results([0.99] * 3, [0.9] * 3, [0.5] * 3)], path)
    page = path.read_text(encoding="utf-8")
    for method in (HOUSE, *REDUCTIONS, NAIVE, NON_PRIVATE, TWO):
        assert f'"{method}"' in page


def test_what_a_request_leaves_out() -> None:
    everything = ilp.Request()
    assert [concept.name for concept, _ in everything.concepts] == [*CONCEPTS, *GROWING]
    assert everything.concepts[0][1][-1] == 100_000
    assert (everything.sets, everything.chosen_methods) == (10, list(METHODS))
    assert everything.facts == list(ilp_facts.TASKS)
    one = ilp.Request(data=[SIX, "bongard"], methods=[NAIVE], quick=True)
    [(concept, sizes)] = one.concepts
    assert (concept.name, max(sizes), one.sets) == (SIX, 10_000, 2)
    assert one.chosen_methods == [NAIVE, NON_PRIVATE]
    assert (one.facts, one.wants(ilp.SPEED)) == (["bongard"], False)


def test_a_small_suite_runs_without_files(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(ilp, "_QUICK_SIZES", (60, 120))
    monkeypatch.setattr(ilp, "_PROCESSES", 1)
    target = tmp_path / "records.json"
    arguments = ["ilp", "--quick", "--data", THREE, "--data", "trains10", "--method", HOUSE]
    runner = CliRunner(env={FOLDER_VARIABLE: None})
    outcome = runner.invoke(app, [*arguments, "--json", str(target)])
    assert outcome.exit_code == 0, outcome.output
    assert "Left out: trains1000, trains10, bongard, alzheimer_toxic." in outcome.output
    found = pd.read_json(target)
    accuracies = found[found["metric"] == "accuracy on test trains"]
    assert len(accuracies) == 2 * 2
    assert set(found["method"]) == {HOUSE, NON_PRIVATE}
    assert set(accuracies["n"]) == {10}


@pytest.mark.parametrize("option", ["--data", "--method"])
def test_an_unknown_name_is_refused(option: str) -> None:
    outcome = CliRunner().invoke(app, ["ilp", option, "nothing such"])
    assert outcome.exit_code == 2


@pytest.mark.parametrize("whole", [True, False])
def test_what_a_speed_case_measures(whole: bool) -> None:
    settings = {"max_literals": 2}
    case = ilp_speed.Case("few", partial(ilp_speed._many_rows, 300), settings, whole=whole)
    schema, frames = case.make()
    assert len(frames["car"]) == 3_000
    table = ilp_speed._table(schema, frames)
    assert [int(np.bitwise_count(rows).sum()) for rows in table.partitions[0].children["car"].rows] == [300] * 10
    found = ilp_speed.measure(case)
    assert found["clauses"] == len(build_lattice(schema, "direction", ILPParameters.model_validate(settings)))
    assert len(found["seconds"]) == 3
    assert min(*found["seconds"], found["ingestion"], found["listing"]) > 0


def test_speeds_are_printed_with_their_goals() -> None:
    def record(name: str, metric: str, figure: float, goal: float | None = None) -> Record:
        return Record("ilp", name, HOUSE, 1.0, metric, figure, math.nan, 1, goal, "")

    records = []
    for name, seconds in (("fast", 1.5), ("slow", 61.0)):
        records += [
            record(name, ilp_speed.CLAUSES, 24_507),
            record(name, ilp_speed.INGESTION, 20),
            record(name, ilp_speed.LISTING, 0.1),
            record(name, ilp_speed.FIT, seconds, 60.0),
            record(name, ilp_speed.MEMORY, 148),
        ]
    printed = text([speed_table(records)])
    assert printed.count("24,507") == 2
    assert "reached" in printed.split("fast")[1].split("slow")[0]
    assert "MISSED" in printed.split("slow")[1]
