"""Whole runs of relational rules, as black boxes."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

import pytest

from dpcore.audit.bounds import Audit
from dpcore.audit.ilp import AUDITS, NestedChoiceRuns, choice_audit, count_audit, level_audit, nested_audit
from dpcore.learning import count_budget
from dpcore.models.ilp.learning import selection


@pytest.mark.parametrize(
    ("make", "control", "trials"),
    [
        (choice_audit, "noise divided by 8", 3800),
        pytest.param(nested_audit, "rows belong to rows of anybody", 12_000, marks=pytest.mark.slow),
        pytest.param(level_audit, "noise for one clause, divided by 16", 12_000, marks=pytest.mark.slow),
        pytest.param(count_audit, "noise divided by 8", 5000, marks=pytest.mark.slow),
    ],
)
def test_audits_of_whole_runs(make: Callable[[], Audit], control: str, trials: int) -> None:
    """One control each; all of them in the long form, see ``tests/audit/test_suite.py``.

    What level by level shows of a budget drowns in the noise for so many clauses.
    """
    audit = make()
    result = replace(audit, controls={control: audit.controls[control]}).run(trials)
    assert result.holds, result
    assert result.caught, result


def test_clauses_of_the_audit_are_about_rows_of_rows() -> None:
    """One of the stay's kinds and one of the test's results, of one stay, is a code of its own."""
    assert set(NestedChoiceRuns()(0, 60)) & {5, 6, 9, 10}


def test_a_row_of_anybody_is_what_an_audit_would_see() -> None:
    """Whose tests belong to which stay moves what is chosen of people who stay."""
    broken = nested_audit().controls["rows belong to rows of anybody"]
    planned_low = 5
    assert planned_low not in broken(0, 40)
    assert planned_low in broken(1, 150)


def test_an_audit_leaves_the_engine_as_it_was() -> None:
    before = selection.NoisyMax, count_budget.GeometricMechanism
    for make in AUDITS:
        for broken in make().controls.values():
            broken(1, 1)
    assert before == (selection.NoisyMax, count_budget.GeometricMechanism)
