"""The benchmark of runs within a budget."""

import os

import pytest

from benchmarks import budget, budget_errors
from benchmarks.budget import CAP, run, table
from benchmarks.datasets import FOLDER_VARIABLE, BenchData, load
from benchmarks.report import PAGE, section
from dpcore.models.registry import LEARNERS
from dpcore.privacy.losses import NOTHING, total_loss
from tests.support.workspaces.fake_learner import real_learners

needs_data = pytest.mark.skipif(FOLDER_VARIABLE not in os.environ, reason="needs the benchmark data")


def test_no_family_has_fewer_runs_than_by_adding():
    records = list(run([0.5, 1.0]))
    assert {record.method for record in records} == set(LEARNERS)
    assert all(record.mean >= record.reference for record in records)


def test_small_runs_of_every_family_gain():
    assert all(record.mean > record.reference for record in run([0.1]))


def test_the_page_has_the_runs_that_fit_today(monkeypatch: pytest.MonkeyPatch):
    """It is arithmetic, so what is written must be what is computed."""
    monkeypatch.setattr(budget, "LEARNERS", real_learners())
    today = section("python -m benchmarks budget", [table(list(run(None)))])
    assert today in PAGE.read_text(encoding="utf-8"), "run python -m benchmarks budget --write"


@pytest.fixture
def few(monkeypatch: pytest.MonkeyPatch) -> BenchData:
    """The first records of Adult alone."""
    adult = load(budget_errors.DATA)
    monkeypatch.setattr(budget_errors, "TRAIN", 1000)
    monkeypatch.setattr(budget_errors, "load", lambda _: BenchData(adult.name, adult.frame[:2000], adult.schema))
    return adult


@needs_data
def test_as_many_runs_as_are_compared_fit_before_and_after(few: BenchData) -> None:
    for name in budget_errors.FAMILIES:
        for count in (10, 100):
            added, composed = (plan(few, name, count) for plan in (budget_errors._added, budget_errors._composed))
            assert added.epsilon * count <= CAP.epsilon
            assert CAP.accepts(total_loss([added.loss] * count))
            assert CAP.accepts(total_loss([composed.loss] * count))
            assert CAP.fitting(NOTHING, composed.loss) < 1.1 * count


@needs_data
def test_errors_of_few_records_have_a_line_for_each_family(few: BenchData) -> None:
    records = list(budget_errors.run((10,), quick=True))
    assert [record.method for record in records[::2]] == list(budget_errors.FAMILIES)
    assert all(0 < record.mean < 0.6 for record in records)
    assert 2 * budget_errors.table(records).row_count == len(records)
