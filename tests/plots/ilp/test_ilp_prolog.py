"""The Prolog file of a theory: it runs, and its sample facts are covered by the clauses they were made for."""

from __future__ import annotations

import re
import subprocess
from pathlib import Path
from typing import Any

import pytest

from dpcore.models.ilp.language.atoms import Atom
from dpcore.models.ilp.language.clause import Variable
from dpcore.models.ilp.language.nested_conditions import NestedCondition
from dpcore.plots.ilp.ilp_prolog import prolog_file
from tests.support.results.prolog_programs import needs_prolog
from tests.support.results.small_clauses import BOTH, DROPPED, KEPT, release_of, release_of_one
from tests.support.tables.nested_relations import nested_schema
from tests.support.tables.small_relations import TARGET, ordered_schema

BOTH_KEPT = ((KEPT, (40, 310), True), (DROPPED, (7, 160), True), (None, (500, -4), False))


def ran(text: str, folder: Path, question: str) -> tuple[str, str]:
    """What SWI-Prolog prints for a question, and what it complains about."""
    file = folder / "theory.pl"
    file.write_text(text, encoding="utf-8")
    goal = f"forall({question}, (print(Who), nl))"
    done = subprocess.run(
        ["swipl", "-q", "-g", goal, "-t", "halt", str(file)], capture_output=True, text=True, timeout=60, check=False
    )
    return done.stdout, done.stderr


def test_facts_stand_for_one_case_of_each_clause() -> None:
    text = prolog_file(release_of(*BOTH_KEPT))
    assert len(re.findall(r"^train\(case_\d+\)\.$", text, re.MULTILINE)) == 2
    assert re.search(r"^length\(case_1_car_\d, short\)\.$", text, re.MULTILINE)
    assert re.search(r"^weight_above\(case_1_car_\d, 3\.5\)\.$", text, re.MULTILINE)
    assert "year_up_to(case_2, 1950)." in text
    assert "length(_, _)" in text, "it is made free before"


def test_facts_hold_no_more_than_their_rows_do() -> None:
    text = prolog_file(release_of(*BOTH_KEPT))
    heavy = set(re.findall(r"^weight_above\((\w+), 3\.5\)", text, re.MULTILINE))
    weights = {row: float(weight) for row, weight in re.findall(r"^weight\((\w+), ([\d.]+)\)", text, re.MULTILINE)}
    assert heavy
    assert heavy == {row for row, weight in weights.items() if weight > 3.5}


@needs_prolog
def test_it_runs_and_the_made_up_cases_are_found(tmp_path: Path) -> None:
    told, complaints = ran(prolog_file(release_of(*BOTH_KEPT)), tmp_path, "direction(Who, east)")
    assert complaints == ""
    assert set(told.split()) == {"case_1", "case_2"}


@needs_prolog
def test_what_does_not_predict_finds_nobody(tmp_path: Path) -> None:
    told, complaints = ran(prolog_file(release_of(*BOTH)), tmp_path, "direction(Who, east)")
    assert complaints == ""
    assert "case_1" in told.split()


def _kind(cell: int) -> tuple[Atom, ...]:
    return (Atom(table="drug", column="kind", cells=(cell,)),)


@needs_prolog
@pytest.mark.parametrize(
    "variable",
    [
        Variable(table="drug", atoms=_kind(0), row="last"),
        Variable(table="drug", atoms=_kind(0), later=_kind(1)),
        Variable(table="drug", atoms=_kind(0), least=2),
        Variable(table="drug", least=2),
        Variable(table="drug", alike="kind"),
    ],
)
def test_cases_of_what_is_said_of_several_rows_are_found(tmp_path: Path, variable: Variable) -> None:
    told, complaints = ran(prolog_file(release_of_one(variable, ordered_schema())), tmp_path, f"{TARGET}(Who, yes)")
    assert complaints == ""
    assert set(told.split()) == {"case_1"}  # Once for each way to choose the rows.


def _with_high(least: int = 1) -> NestedCondition:
    high = Atom(table="lab", column="value", cells=(1,))
    return NestedCondition(table="stay", inner="lab", atoms=(high,), least=least)


@needs_prolog
@pytest.mark.parametrize(
    "said",
    [
        {"atoms": (Atom(table="stay", column="kind", cells=(1,)), _with_high())},
        {"atoms": (_with_high(2),)},
        {"atoms": (_with_high(),), "least": 2},
        {"atoms": (_with_high(),), "row": "first"},
        {"atoms": (_with_high(),), "later": (NestedCondition(table="stay", inner="drug", least=2),)},
    ],
)
def test_cases_of_rows_that_belong_to_rows_are_found(tmp_path: Path, said: dict[str, Any]) -> None:
    text = prolog_file(release_of_one(Variable(table="stay", **said), nested_schema()))
    assert re.search(r"^stay_has_lab\(case_1_stay_\d, case_1_lab_\d\)\.$", text, re.MULTILINE)
    told, complaints = ran(text, tmp_path, f"{TARGET}(Who, yes)")
    assert complaints == ""
    assert set(told.split()) == {"case_1"}
