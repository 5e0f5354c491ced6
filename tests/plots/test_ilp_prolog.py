"""The Prolog file of a theory: it runs, and its sample facts are covered by the clauses they were made for."""

from __future__ import annotations

import re
import shutil
import subprocess
from pathlib import Path

import pytest

from dpcore.plots.ilp_prolog import prolog_file
from tests.plots.test_ilp import BOTH, DROPPED, KEPT, release_of

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


@pytest.mark.skipif(shutil.which("swipl") is None, reason="SWI-Prolog is not installed here")
def test_it_runs_and_the_made_up_cases_are_found(tmp_path: Path) -> None:
    told, complaints = ran(prolog_file(release_of(*BOTH_KEPT)), tmp_path, "direction(Who, east)")
    assert complaints == ""
    assert set(told.split()) == {"case_1", "case_2"}


@pytest.mark.skipif(shutil.which("swipl") is None, reason="SWI-Prolog is not installed here")
def test_what_does_not_predict_finds_nobody(tmp_path: Path) -> None:
    told, complaints = ran(prolog_file(release_of(*BOTH)), tmp_path, "direction(Who, east)")
    assert complaints == ""
    assert "case_1" in told.split()
