"""The benchmark of runs within a budget."""

from benchmarks.budget import run
from dpcore.models.registry import LEARNERS


def test_no_family_has_fewer_runs_than_by_adding():
    records = list(run([0.5, 1.0]))
    assert {record.method for record in records} == set(LEARNERS)
    assert all(record.mean >= record.reference for record in records)


def test_small_runs_of_every_family_gain():
    assert all(record.mean > record.reference for record in run([0.1]))
