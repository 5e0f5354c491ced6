"""The runner: which cells are measured, what is kept in a file, and what is said of methods without figures."""

from __future__ import annotations

from collections.abc import Mapping
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from benchmarks import __main__ as program
from benchmarks.declared import LeftOutError, Quick, Suite
from benchmarks.results import VARIANT, Cell, Layout, Result, Stored
from benchmarks.runner import Choice, Kept, attempted, cells, run
from benchmarks.suites import SUITES, budgets, find
from dpcore.errors import RequestError

ASKED: list[Cell] = []


def _measure(cell: Cell, options: Mapping[str, Any]) -> dict[str, Any]:
    ASKED.append(cell)
    if cell.method == "slow" and options["longest"] < 100:
        raise LeftOutError("not finished in 75 s", within=options["longest"])
    if cell.method == "absent":
        raise LeftOutError("it could not be installed")
    if cell.data == "nowhere":
        raise LeftOutError("name its folder", everything=True)
    if cell.method == "refuses" and cell.epsilon == 0.1:
        raise RequestError("too small")
    return {"figure": (cell.epsilon or 10) + cell.seed, "seconds": 1.0, "words": ["not a number"]}


SUITE = Suite(
    "toy",
    _measure,
    ("one", "two", "nowhere"),
    ("ours", "slow", "absent", "refuses", "plain"),
    [Layout(metrics=("figure",))],
    (0.1, 1.0),
    seeds=3,
    plain=("plain",),
    once=("plain",),
    programs={"absent": "apart"},
    quick=Quick(data=("one",), epsilons=(1.0,), seeds=5),
    published=(Result("one", "paper", 1.0, "figure", 9.0), Result("two", "paper", 1.0, "figure", 9.0)),
    options={"longest": 75.0},
)


@pytest.fixture(autouse=True)
def _nothing_asked() -> None:
    ASKED.clear()


def test_cells_are_the_grid_with_every_cell_once_before_any_twice() -> None:
    found = list(cells(SUITE, Choice(data=["one"], methods=["ours", "plain"])))
    assert found[:3] == [Cell("one", "plain", None, 0), Cell("one", "ours", 0.1, 0), Cell("one", "ours", 1.0, 0)]
    assert [cell.seed for cell in found] == [0, 0, 0, 1, 1, 2, 2], "without noise or splits once is enough"


def test_a_choice_narrows_the_grid() -> None:
    quick = list(cells(SUITE, Choice(quick=True)))
    assert {cell.data for cell in quick} == {"one"}
    assert {cell.epsilon for cell in quick} == {None, 1.0}
    assert max(cell.seed for cell in quick) == 2, "never more seeds than in earnest"
    assert "absent" not in {cell.method for cell in cells(SUITE, Choice(rivals=False))}
    assert {cell.epsilon for cell in cells(SUITE, Choice(epsilons=[4.0], seeds=1))} == {None, 4.0}
    several = replace(SUITE, data=("adult", "adult, 3 %", "cms, 5 rows", "cms, 6 rows"))
    assert {cell.data for cell in cells(several, Choice(data=["adult"]))} == {"adult"}
    assert {cell.data for cell in cells(several, Choice(data=["cms"]))} == {"cms, 5 rows", "cms, 6 rows"}
    skipping = replace(SUITE, skip=lambda cell: cell.data != "two")
    assert {cell.data for cell in cells(skipping, Choice())} == {"two"}


def test_what_cannot_be_measured_is_said_once_and_not_tried_again() -> None:
    found = run(SUITE, Choice(methods=["ours", "slow", "absent", "refuses"]))
    assert [(cell.data, cell.epsilon, cell.seed) for cell in ASKED if cell.method == "slow"] == [
        ("one", 0.1, 0),
        ("two", 0.1, 0),
    ]
    assert sum(cell.data == "nowhere" for cell in ASKED) == 1
    assert sum(cell.method == "refuses" for cell in ASKED) == 2 * 2 * 3, "it may run at another epsilon"
    assert "No figures of nowhere: name its folder" in found.notes
    assert "No figures of one, slow at ε = 0.1 and above: not finished in 75 s" in found.notes
    assert sum("did not run: too small" in note for note in found.notes) == 2
    results = {(own.data, own.method, own.epsilon): own for own in found.results if own.metric == "figure"}
    assert (results["one", "ours", 1.0].value, results["one", "ours", 1.0].n) == (2.0, 3)
    assert ("one", "refuses", 1.0) in results
    assert ("one", "refuses", 0.1) not in results


def test_published_figures_stand_beside_the_same_data_and_epsilon_alone() -> None:
    at_one = run(SUITE, Choice(data=["one"], methods=["ours"]))
    assert [own.data for own in at_one.results if own.method == "paper"] == ["one"]
    elsewhere = run(SUITE, Choice(data=["one"], methods=["ours"], epsilons=[0.1]))
    assert not any(own.method == "paper" for own in elsewhere.results)


def test_what_is_kept_is_not_measured_again(tmp_path: Path) -> None:
    choice = Choice(data=["one"], methods=["ours", "slow"], seeds=2, kept=tmp_path / "cells.jsonl")
    first = run(SUITE, choice)
    asked = list(ASKED)
    again = run(SUITE, choice)
    assert asked == ASKED
    assert again == first
    run(SUITE, replace(choice, seeds=3))
    assert ASKED[len(asked) :] == [Cell("one", "ours", 0.1, 2), Cell("one", "ours", 1.0, 2)]
    run(SUITE, replace(choice, quick=True))
    assert ASKED[-1].seed < 2, "a short form measures its own"
    choice.options = {"rows": 7}
    run(SUITE, choice)
    assert ASKED[-len(asked) :] == asked, "with other numbers of things, too"
    run(replace(SUITE, name="other"), choice)
    assert ASKED[-len(asked) :] == asked, "and so does another suite"


def test_what_was_not_finished_is_tried_again_with_more_time(tmp_path: Path) -> None:
    choice = Choice(data=["one"], methods=["slow"], epsilons=[1.0], seeds=1, kept=tmp_path / "cells.jsonl")
    for longest, asked in ((75.0, 1), (75.0, 1), (200.0, 2), (200.0, 2)):
        found = run(SUITE, replace(choice, options={"longest": longest}))
        assert len(ASKED) == asked
        assert bool(found.notes) == (longest < 100)


def test_a_line_that_was_cut_off_takes_no_other_with_it(tmp_path: Path) -> None:
    path = tmp_path / "cells.jsonl"
    kept = Kept(path, SUITE, {"quick": False})
    for seed in (0, 1):
        kept.keep(Cell("one", "ours", 1.0, seed), {"figure": 1.0})
    path.write_text(path.read_text()[:-5])
    kept.keep(Cell("one", "ours", 1.0, 2), {"figure": 1.0})
    assert [cell.seed for cell in kept.lines()] == [0, 2]


def test_nothing_begins_after_the_minutes() -> None:
    assert run(SUITE, Choice(minutes=0)).results == []
    assert ASKED == []


def test_what_is_prepared_is_told_to_every_cell() -> None:
    @contextmanager
    def prepared(options: dict[str, Any]) -> Any:
        yield {"longest": options["longest"] + 100}

    assert run(replace(SUITE, prepare=prepared), Choice(methods=["slow"], data=["one"], seeds=1)).results


def test_processes_side_by_side_and_fresh_ones_find_the_same() -> None:
    suite, choice = find("budget"), Choice(methods=["Tree", "Forest"])
    alone = run(suite, choice)
    assert run(suite, replace(choice, workers=2)).results == alone.results
    cell = Cell("stroke", "Tree", 1.0, 0)
    assert attempted(replace(suite, fresh=True), cell, {}) == suite.measure(cell, {})


def test_why_something_was_left_out_comes_back_from_a_fresh_process(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("FROSTGLASS_BENCH_DATA", raising=False)
    found = attempted(replace(find("costs"), fresh=True), Cell("cms", "redescriptions, as it comes", None, 0), {})
    assert isinstance(found, LeftOutError)
    assert (found.everything, "FROSTGLASS_BENCH_DATA" in str(found)) == (True, True)


@pytest.mark.parametrize("option", ["--data", "--method", "--epsilon", "--such"])
def test_what_a_suite_has_not_got_is_refused(option: str, capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit) as left:
        program.main(["budget", option, "nothing"])
    assert left.value.code == 2


def test_a_choice_without_cells_is_refused() -> None:
    with pytest.raises(SystemExit) as left:
        program.main(["costs", "--data", "cms", "--method", "tree, as it comes"])
    assert left.value.code == 2


def test_suites_are_listed(capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit):
        program.main([])
    printed = capsys.readouterr().out
    assert all(f"    {name} " in printed for name in SUITES)


def test_a_suite_prints_its_tables_and_writes_its_results(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path = tmp_path / "budget.json"
    program.main(["budget", "--method", "Tree", "--epsilon", "1", "--epsilon", "0.1", "--json", str(path)])
    assert "Share of a budget of ε = 5" in " ".join(capsys.readouterr().out.split())
    stored = Stored.read(path)
    [told] = stored.runs
    assert told["command"] == "python -m benchmarks budget --method Tree --epsilon 1.0 --epsilon 0.1"
    assert {own.metric for _, own in stored.results} == {budgets.SHARE, budgets.RUNS, budgets.NOISE, budgets.PURE}


def test_the_command_that_is_told_holds_no_path() -> None:
    given = {"quick": True, "data": ["adult", "one clause of six"], "seeds": 2, "no_rivals": False}
    given |= {"kept": Path("/home/somebody/cells"), "folder": "/home/somebody", "workers": 2, "json": Path("x")}
    assert program.command_of("scale", given) == (
        'python -m benchmarks scale --quick --data adult --data "one clause of six" '
        "--seeds 2 --kept KEPT --folder FOLDER"
    )


def test_variants_have_one_name() -> None:
    for name in SUITES:
        for method in find(name).methods:
            assert method.count(VARIANT) == method.endswith("]")
