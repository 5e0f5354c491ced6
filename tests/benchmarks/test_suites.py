"""Every suite in its quickest form, on small invented data: each measures finite figures, and its tables show them."""

from __future__ import annotations

import math
import os
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest

from benchmarks.results import Cell, Line
from benchmarks.runner import concluded
from benchmarks.suites import SUITES, app, budgets, find, growth, records, rehearsal, scale, storage
from dpcore.data.building import division

#: Data and epsilon of one cell for each method of a suite; ``None``: without epsilon.
GRID: dict[str, tuple[str, float | None]] = {
    "rules": ("titanic", 1.0),
    "rule-counts": ("mushroom", 1.0),
    "trees": ("nursery", 10.0),
    "trees-chances": ("titanic", 1.0),
    "ebm": ("wine_quality", 100.0),
    "ebm-coverage": ("heart, 303 rows", 4.0),
    "redescriptions": ("npas", 1.0),
    "ilp": ("one clause of three, 100 trains", 1.0),
    "ilp-data": ("trains10", 10.0),
    "records": ("heart, 303 rows", 4.0),
    "persons": ("last row, summaries", 8.0),
    "summaries": ("titanic", 1.0),
    "associations": ("titanic", 4.0),
    "cuts": ("telco_churn, 32 even cells", 4.0),
    "invented": ("titanic", 1.0),
    "invented-models": ("telco_churn", 4.0),
    "learned": ("20 columns", 1.0),
    "budget": ("stroke", 1.0),
    "budget-errors": ("adult, 10 runs", None),
    "unspent": ("titanic", 1.0),
    "rehearsal": ("titanic", 0.5),
    "costs": ("telco_churn", None),
}
#: Of suites with many methods, those that are tried; what takes long is smaller.
METHODS: dict[str, list[str]] = {
    "records": ["tree", "PrivaTree, budget divided among columns", "tree, not private"],
    "redescriptions": ["exact pairs", "greedy, not private"],
    "cuts": ["tree, cut points of a first look", "tree, all cut points"],
    "rehearsal": ["tree after schema alone", "tree after a tree, ε 0.5", "tree after a first look, ε 1"],
    "costs": ["tree, as it comes", "ebm, as it comes"],
    "ebm": ["all bins", "constant"],
}


@pytest.fixture
def shorter(monkeypatch: pytest.MonkeyPatch) -> None:
    """What takes long, made small."""
    monkeypatch.setattr(records, "PEOPLE", 2000)
    monkeypatch.setattr(budgets, "ROWS", 2000)
    monkeypatch.setattr(budgets, "TRAIN", 200)
    monkeypatch.setattr(rehearsal, "FRESH_ROWS", 200)
    monkeypatch.setattr("benchmarks.suites.rules.SETTINGS", {"titanic": (200, 28, 3, 1000)})


def measured(name: str, cells: list[Cell], options: Mapping[str, Any] | None = None) -> list[Line]:
    """Lines of some cells in the short form."""
    suite = find(name)
    return [Line(cell, suite.measure(cell, {**suite.options, "quick": True, **(options or {})})) for cell in cells]


@pytest.mark.parametrize("name", GRID)
@pytest.mark.usefixtures("small", "shorter")
def test_every_method_of_a_grid_is_measured_and_shown(name: str) -> None:
    suite, (data, epsilon) = find(name), GRID[name]
    plain = set(suite.plain) if suite.epsilons else set(suite.methods)
    methods = [own for own in METHODS.get(name, suite.methods) if own not in suite.programs]
    grid = [Cell(data, method, None if method in plain else epsilon, 0) for method in methods]
    lines = measured(name, [cell for cell in grid if not suite.skip(cell)])
    assert lines
    for line in lines:
        numbers = [value for value in line.figures.values() if isinstance(value, (int, float))]
        assert numbers
        assert all(math.isfinite(value) for value in numbers if not math.isnan(value)), line
    shown = [table for layout in suite.layouts if (table := layout.table(concluded(suite, lines)))]
    told = " ".join(str((table.heads, table.rows)) for table in shown)
    assert len(methods) == 1 or all(line.cell.method.partition(" [")[0] in told for line in lines)


def test_every_suite_is_tried() -> None:
    elsewhere = {"growth", "scale", "clusters", "ledger", "intake", "app", "app-reading", "app-first-look"}
    assert set(GRID) | elsewhere == set(SUITES)


@pytest.mark.parametrize(
    ("method", "rows"),
    [
        ("tree, a block of depth 3 over 120 splits", 6_400),
        ("ebm, 30 columns, regression", 2_000),
        ("redescriptions, exact lookahead", 1_000),
        ("ilp, lattice of up to 4, ten cars each", 200),
        ("ilp, fit of up to 3, ten cars each", 200),
    ],
)
@pytest.mark.usefixtures("small")
def test_growth_measures_whole_fits(method: str, rows: int) -> None:
    found = growth.grown(growth.JOBS[method], rows)
    assert min(found["seconds"], found["microseconds a row"]) > 0


def test_growth_counts_the_bytes_of_the_packed_data() -> None:
    _, size = growth.JOBS["tree, a block of depth 3 over 120 splits"].make(6_400)
    assert size == (120 + 2) * 100 * 8


@pytest.fixture
def register(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Two thousand people in three partitions, and a wide one."""
    monkeypatch.setattr(division, "PARTITION_ROWS", 700)
    scale.generate(tmp_path, 2000)
    scale.generate(tmp_path / "wide", 500, wide=True)
    return tmp_path


def test_everybody_in_the_register_is_there_once(register: Path) -> None:
    table = scale.PrivateTable.open(register)
    assert len(table.partitions) == 3
    assert table.total(scale.one_way).sum() == 2000 * 20
    assert 0.1 < (table.public_frame()[scale.TARGET] == "yes").mean() < 0.9
    assert scale.conjunctions(2000) > 120**3 / 6


def test_every_case_on_the_register_is_measured(register: Path) -> None:
    cells = [Cell("register", case, None, 0) for case in (*scale.GOALS, "reading", "reading from disk", "DuckDB")]
    lines = measured("scale", cells, {"folder": str(register), "rows": 2000})
    assert all(line.figures["seconds"] > 0 and line.figures["GiB of memory"] > 0 for line in lines)
    metrics = {own.metric for own in concluded(find("scale"), lines)}
    assert {"times one reading of all bits", "microseconds a conjunction"} <= metrics


def test_threads_answer_as_many_questions_as_are_counted(register: Path) -> None:
    [line] = measured("clusters", [Cell("register", "counts, threads", None, 0)], {"folder": str(register)})
    assert line.figures["questions"] == 1
    assert line.figures["bytes of an answer"] > 0


def test_reservations_of_a_crowd_are_timed_though_some_are_killed() -> None:
    [line] = measured("ledger", [Cell("reservations", "crowd", None, 0)], {"processes": 4, "seconds": 1.0})
    assert 0 < line.figures["seconds, median"] <= line.figures["seconds, 99 %"] <= line.figures["seconds, worst"]


def test_a_reservation_that_was_answered_must_be_in_the_ledger(tmp_path: Path) -> None:
    url = f"sqlite:///{tmp_path / 'frostglass.db'}"
    dataset = storage.add_dataset(tmp_path, url)
    storage.check(tmp_path, url, dataset, 0, 4)
    with pytest.raises(RuntimeError, match="does not hold the reservations"):
        storage.check(tmp_path, url, dataset, 1, 4)


def test_rows_that_come_in_are_measured_from_every_source() -> None:
    suite = find("intake")
    with suite.prepare({"quick": True, "rows": 1000}) as told:
        assert told is not None
        file = Path(told["folder"]) / "register.csv"
        assert 80 < file.stat().st_size / 1000 < 120
        found = storage.Incoming(file, storage.schema_of(1000)).examine()
        assert [finding.lost for finding in found if finding.of_values] == [0] * 20
        possible = list(storage.CASES)[: 4 if storage.POSTGRES in os.environ else 2]
        lines = measured("intake", [Cell("20 columns", case, None, 0) for case in possible], told)
    assert all(value > 0 for line in lines for value in line.figures.values())
    times = [own for own in concluded(suite, lines) if own.metric == "times the plain copy's time"]
    assert len(times) == len(possible) / 2


def test_memory_of_processes_counts_together() -> None:
    with storage.TreePeak() as memory:
        held = b"x" * (64 << 20)
    assert memory.bytes > len(held) / 2


@pytest.mark.browser
@pytest.mark.slow
def test_an_application_is_measured(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(app, "RESULTS", 20)
    suite = find("app")
    with suite.prepare({"quick": True}) as told:
        cells = [Cell("demonstration", "choose another epsilon", None, 0)]
        cells += [Cell("200 results", method, None, 0) for method in ("page Releases", "ledger, a page at a time")]
        lines = measured("app", cells, told)
    assert all(value > 0 for line in lines for metric, value in line.figures.items() if "files" not in metric)
