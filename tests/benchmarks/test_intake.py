"""The rows of the benchmark of intake are what it says, and every case that is possible is measured."""

from __future__ import annotations

import os
from pathlib import Path

import pandas as pd
import pytest

from benchmarks import intake
from benchmarks.memory import TreePeak
from dpcore.intake.process.uploads import Incoming


def test_all_rows_fit_the_schema(tmp_path: Path) -> None:
    file = intake.generate(tmp_path, 500)
    assert 80 < file.stat().st_size / 500 < 120
    assert list(pd.read_csv(file).columns) == [column.name for column in intake.schema_of(500).columns]
    found = Incoming(file, intake.schema_of(500)).examine()
    assert [finding.lost for finding in found if finding.of_values] == [0] * 20


def test_every_case_is_measured(monkeypatch: pytest.MonkeyPatch) -> None:
    """The first in a process of its own, as all are in earnest; a process takes far longer to start than 1000 rows."""
    begin, begun = intake.in_fresh_process, list[str]()

    def started(module: str, case: str, folder: Path) -> dict[str, float]:
        begun.append(case)
        return begin(module, case, folder) if len(begun) == 1 else intake.measure(case, folder)

    monkeypatch.setattr(intake, "in_fresh_process", started)
    monkeypatch.setattr(intake, "QUICK_ROWS", 1000)
    records = list(intake.run(quick=True))
    assert {record.method for record in records} == set(list(intake.CASES)[: 4 if intake.POSTGRES in os.environ else 2])
    assert all(record.mean > 0 for record in records)


def test_memory_of_processes_counts_together() -> None:
    with TreePeak() as memory:
        held = b"x" * (64 << 20)
    assert memory.bytes > len(held) / 2
