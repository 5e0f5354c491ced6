"""The benchmark of people with several rows compares what it says."""

from __future__ import annotations

import pytest

from benchmarks import persons


def test_people_come_again_in_order_of_dates() -> None:
    rows = persons.admissions(500, 1)
    assert rows["who"].nunique() == 500
    assert rows.groupby("who").size().between(1, 9).all()
    assert rows["admitted"].is_monotonic_increasing
    assert rows.equals(persons.admissions(500, 1))


@pytest.mark.parametrize("way", persons.WAYS)
def test_every_way_predicts(way: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(persons, "PEOPLE", 2000)
    assert 0.5 < persons.area("ebm", way, 8.0, 3) < 1
