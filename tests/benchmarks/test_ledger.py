"""The benchmark of the ledger runs, and sees a reservation that is missing."""

from __future__ import annotations

from pathlib import Path

import pytest

from benchmarks import ledger


def test_reservations_of_a_crowd_are_timed_though_some_are_killed(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(ledger, "_SECONDS", (0.0, 1.0))
    records = list(ledger.run(processes=4, quick=True))
    assert [record.metric for record in records] == ["seconds, median", "seconds, 99 %", "seconds, worst"]
    assert 0 < records[0].mean <= records[1].mean <= records[2].mean
    assert records[0].data == "sqlite, 4 processes"


def test_a_reservation_that_was_answered_must_be_in_the_ledger(tmp_path: Path) -> None:
    url = f"sqlite:///{tmp_path / 'frostglass.db'}"
    dataset = ledger._add_dataset(tmp_path, url)
    ledger._check(tmp_path, url, dataset, 0, 4)
    with pytest.raises(RuntimeError, match="does not hold the reservations"):
        ledger._check(tmp_path, url, dataset, 1, 4)
