"""The page of figures is what its results and texts make, and every figure comes from a command."""

from __future__ import annotations

import shlex

import pytest

from benchmarks.__main__ import parser_of
from benchmarks.page import PAGE, TABLES, page
from benchmarks.results import FOLDER, Stored
from benchmarks.runner import Choice, cells, run
from benchmarks.suites import SUITES, budgets, find
from tests.support.workspaces.fake_learner import real_learners


def test_the_page_is_what_the_generator_makes() -> None:
    assert page() == PAGE.read_text(encoding="utf-8"), "run python -m benchmarks docs"


@pytest.mark.parametrize("name", SUITES)
def test_every_suite_has_a_text_and_its_results_come_from_commands_that_it_understands(name: str) -> None:
    text = (FOLDER / f"{name}.md").read_text(encoding="utf-8")
    assert text.startswith("## ")
    assert text.count(TABLES) == 1
    suite, stored = find(name), Stored.read(FOLDER / f"{name}.json")
    for place, told in enumerate(stored.runs):
        program, command = told["command"].split(f" {name}")[0], shlex.split(told["command"])[4:]
        assert program == "python -m benchmarks"
        given = parser_of(suite).parse_args(command)
        chosen = list(cells(suite, Choice(given.data, given.method, given.epsilon, given.seeds, given.quick)))
        measured = [own for at, own in stored.results if at == place and own.n]
        assert chosen
        assert {own.epsilon for own in measured} <= {cell.epsilon for cell in chosen} | {None}


def test_only_suites_have_results() -> None:
    assert {path.stem for path in FOLDER.iterdir()} - {"page"} <= set(SUITES)


def test_the_page_has_the_runs_that_fit_today(monkeypatch: pytest.MonkeyPatch) -> None:
    """It is arithmetic, so what is written must be what is computed."""
    names = {learner.title: name for name, learner in real_learners().items()}
    monkeypatch.setattr(budgets, "FAMILY_NAMES", names)
    today = {own.key: own.value for own in run(find("budget"), Choice(methods=list(names))).results}
    assert today == {own.key: own.value for _, own in Stored.read(FOLDER / "budget.json").results}


def test_runs_cost_the_same_in_every_family_fit_more_often_than_by_adding_and_are_sharper_than_pure_ones() -> None:
    suite = find("budget")
    for epsilon in (0.1, 0.59852, 1.7603):
        found = [suite.measure(own, {}) for own in cells(suite, Choice(epsilons=[epsilon]))]
        assert len(found) == len(real_learners())
        assert len({own[budgets.SHARE] for own in found}) == 1
        assert all(own[budgets.RUNS] > float(budgets.CAP.epsilon) // epsilon for own in found)
        assert all(own[budgets.NOISE] < own[budgets.PURE] for own in found if budgets.PURE in own)
